//! Texts that are not finished: which of their ids stay, whatever follows.
//!
//! A text is settled up to a place if what is before it and what is behind it, with whatever follows,
//! can be encoded one after the other. Such places are:
//!
//! - behind a special token that no longer one can replace;
//! - between words where the pattern has come to the end of one, or where no merge can join;
//! - inside a word, behind tokens that no further byte changes ([`Ways`]).
//!
//! All of them are places of the text as it was given: where preparation changes it, before a character
//! that is normalised by itself. With a pipeline only special tokens count, and words that are looked up
//! or marked as a whole, unknown characters that are one token together, and expressions that no
//! automaton matches have no places inside.

use std::borrow::Cow;

use super::context::Context;
use super::encoder::{Encoder, Given};
use super::prepare::{PrefixSpace, Preparation};
use super::search::{Begun, Ways};
use super::sink::Sink;
use crate::error::Result;
use crate::merges::Id;
use crate::normalize::{Form, begins_stable, last_stable};
use crate::pattern::Scanner;
use crate::pipeline::{Pipeline, Place};
use crate::specials::{Call, Phase};
use crate::spelling::{is_inside, length_from};
use crate::watch::Watch;

/// The beginning of a stretch, prepared, as far as nothing that follows changes it.
struct Known<'t> {
    given: &'t [u8],
    text: Cow<'t, [u8]>,
    /// What each byte stands for, unless it is itself.
    places: Option<Vec<Place>>,
    form: Option<Form>,
}

impl<'t> Known<'t> {
    fn new(given: &'t [u8], preparation: Preparation, watch: &Watch) -> Option<Self> {
        let form = Form::of(preparation.normalization);
        let given = form.map_or(given, |form| &given[..last_stable(given, form)]);
        let (text, places) = preparation.prepare_placed(given, watch).ok()?;
        Some(Self {
            given,
            text,
            places,
            form,
        })
    }

    /// The place of the given text before which exactly the first `at` bytes were made, if there is one
    /// and the text can be prepared in two parts there.
    fn place(&self, at: usize) -> Option<usize> {
        let place = match &self.places {
            None => at,
            Some(_) if at == self.text.len() => self.given.len(),
            Some(places) => {
                let place = places[at].0;
                (places[..at].last().is_none_or(|last| last.1 <= place)).then_some(place)?
            }
        };
        let rest = &self.given[place..];
        let is_whole = rest.first().is_none_or(|&byte| !is_inside(byte));
        let is_stable = |form| rest.is_empty() || begins_stable(rest, form);
        (place > 0 && is_whole && self.form.is_none_or(is_stable)).then_some(place)
    }
}

impl Encoder {
    /// Append the ids of a text between two places up to which the whole is settled.
    pub(crate) fn encode_between(
        &self,
        before: Context,
        text: &[u8],
        after: Context,
        call: &Call,
        ids: &mut Vec<Id>,
        watch: &Watch,
    ) -> Result<()> {
        let given = match after {
            Context::Word(_) => Given::Part(text, before),
            _ => Given::Rest(text, before),
        };
        self.desks.with(|desk| {
            self.encode_given(given, &call.finders, desk, &mut Sink::keeping(ids), watch)
        })
    }

    /// Append the ids of the text behind the last such place. `ways` are what it finds of the word at
    /// its beginning, for the next time.
    pub(crate) fn encode_behind(
        &self,
        before: Context,
        text: &[u8],
        ways: &mut Ways,
        call: &Call,
        ids: &mut Vec<Id>,
        watch: &Watch,
    ) -> Result<()> {
        let given = Given::Rest(text, before);
        self.desks.with(|desk| {
            if let Context::Word(_) = before {
                desk.scratch.begun = self.words.begun(text, ways);
            }
            let done =
                self.encode_given(given, &call.finders, desk, &mut Sink::keeping(ids), watch);
            desk.scratch.begun = Begun::default();
            done
        })
    }

    /// A late place, not 0, up to which a text that follows `context` is settled, and what is before
    /// the rest then. Where it finds one, it may find a later one in the rest. `ways` are what it found
    /// inside the word at the end, for the next time.
    pub(crate) fn settle(
        &self,
        context: Context,
        text: &[u8],
        ways: &mut Ways,
        call: &Call,
        watch: &Watch,
    ) -> Option<(usize, Context)> {
        if self.pipeline.as_ref().is_some_and(Pipeline::needs_places) {
            return None;
        }
        let (text, finders) = (whole_characters(text), &call.finders);
        let longest = self.specials.longest();
        // Behind it, all of each special token that may begin before it is known.
        let most = text.len().checked_sub(longest)?;
        let (end, next) = self
            .specials
            .last_settled(Phase::Given, text, most, finders);
        if let Some(end) = end {
            return Some((end, Context::Start));
        }
        if self.pipeline.is_some() {
            return None;
        }
        let most = if next < text.len() {
            next.checked_sub(longest)?
        } else {
            most
        };
        let mut preparation = context.prepare(self.preparation);
        let stretch = match context {
            Context::Start => preparation.with_prefix(&text[..next]),
            _ => Cow::Borrowed(&text[..next]),
        };
        let hidden = stretch.len() - next;
        let late = self
            .specials
            .last_settled(Phase::Late, &stretch, most + hidden, finders);
        if let Some(end) = late.0.filter(|&end| end > hidden) {
            return Some((end - hidden, Context::Special));
        }
        let most = if late.1 < stretch.len() {
            late.1.checked_sub(longest + hidden)?
        } else {
            most
        };
        if hidden > 0 {
            preparation.prefix_space = PrefixSpace::Always;
        }
        let known = Known::new(whole_characters(&text[..most]), preparation, watch)?;
        let place = |at: usize| {
            known
                .place(at)
                .filter(|&place| !self.specials.span(text, place))
        };
        self.settle_words(context, &known.text, ways, &place)
    }

    /// The same in a stretch that is prepared, as far as it is known; `place` gives the places of the
    /// text that can be settled.
    fn settle_words(
        &self,
        context: Context,
        known: &[u8],
        ways: &mut Ways,
        place: &dyn Fn(usize) -> Option<usize>,
    ) -> Option<(usize, Context)> {
        let last = |last_cut: &dyn Fn(&[u8]) -> Option<usize>| {
            let cuts = std::iter::successors(last_cut(known), |&cut| last_cut(&known[..cut]));
            cuts.into_iter().find(|&cut| place(cut).is_some())
        };
        if let Some(scanner) = self.pattern().scanner() {
            let cut = last(&|text| scanner.last_safe_cut(text));
            return self.settle_scanned(context, scanner, known, cut, ways, place);
        }
        match &self.joins {
            _ if self.pattern().cuts_texts() || self.fused().is_some() => None,
            Some(joins) => match last(&|text| joins.last_cut(text)) {
                Some(cut) => Some((place(cut)?, Context::Words)),
                None => Some((
                    self.settle_word(context, known, ways, place)?.1,
                    Context::Words,
                )),
            },
            None => {
                let settled = self.settle_word(context, known, ways, place)?;
                Some((settled.1, Context::Word(None)))
            }
        }
    }

    /// The same with a pattern that can be cut at `cut`: behind the last word that has ended, or inside
    /// the first word if it has not.
    fn settle_scanned(
        &self,
        context: Context,
        scanner: &Scanner,
        known: &[u8],
        cut: Option<usize>,
        ways: &mut Ways,
        place: &dyn Fn(usize) -> Option<usize>,
    ) -> Option<(usize, Context)> {
        let begun = match context {
            Context::Word(Some(state)) if cut.is_none() => state,
            _ => scanner.start_of_word(),
        };
        let (mut at, mut settled, mut state) = (cut.unwrap_or(0), cut.and_then(place), begun);
        // Up to where the text was read for the words before.
        let mut read = 0;
        let word = loop {
            let word = scanner.go_on(state, known, at);
            if !word.is_ended {
                break word;
            }
            // The words before are the same if the text ends here.
            let is_alone = scanner.end_of_word(state, &known[at..word.end]) == word.end - at;
            if is_alone && read <= word.end {
                settled = place(word.end).or(settled);
            }
            read = read.max(word.read);
            (at, state) = (word.end, scanner.start_of_word());
        };
        if let Some(settled) = settled {
            return Some((settled, Context::Words));
        }
        if at > 0 {
            return None;
        }
        let (end, place) = self.settle_word(context, &known[..word.end], ways, place)?;
        let state = scanner.state_behind(state, &known[..end]);
        Some((place, Context::Word(Some(state))))
    }

    /// A late place inside a word, of which this much is known, and that place in the text.
    fn settle_word(
        &self,
        context: Context,
        known: &[u8],
        ways: &mut Ways,
        place: &dyn Fn(usize) -> Option<usize>,
    ) -> Option<(usize, usize)> {
        if !matches!(context, Context::Word(_)) && self.words.may_be_whole(known.len()) {
            return None;
        }
        let mut ends = self.words.settled_ends(known, ways).into_iter();
        let (end, place) = ends.find_map(|end| Some((end, place(end)?)))?;
        ways.keep(known.len() - end, place);
        Some((end, place))
    }
}

/// A text without a last character that is not complete.
fn whole_characters(text: &[u8]) -> &[u8] {
    let is_first = |at: &usize| !is_inside(text[*at]);
    let first = (text.len().saturating_sub(4)..text.len())
        .rev()
        .find(is_first);
    match first {
        Some(first) if first + length_from(text[first]) > text.len() => &text[..first],
        _ => text,
    }
}
