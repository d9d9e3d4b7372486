//! Texts to ids: a text is cut at its special tokens, what is between them is prepared and cut into
//! words, and each word becomes its tokens, out of a cache if it was seen before.

use std::borrow::Cow;

use super::context::Context;
use super::cut_out::CutOut;
use super::desks::Desks;
use super::joins::Joins;
use super::prepare::{PrefixSpace, Preparation};
use super::run::{Desk, Run};
use super::sink::Sink;
use super::stretches::{Stretch, Stretches};
use super::words::{Unknown, Words};
use crate::error::Result;
use crate::merges::Id;
use crate::pattern::Pattern;
use crate::pipeline::{Pipeline, Prepared};
use crate::specials::{Call, Choice, Finders, Part, Special, Specials};
use crate::vocabulary::Vocabulary;
use crate::watch::Watch;

/// Encodes texts.
#[derive(Debug)]
pub struct Encoder {
    pub(super) words: Words,
    pattern: Pattern,
    pub(super) preparation: Preparation,
    pub(super) pipeline: Option<Pipeline>,
    /// All steps as they were given, if pattern and preparation cannot say them.
    steps: Option<String>,
    pub(super) specials: Specials,
    /// Without a pattern, where texts can be cut; `None` if they cannot.
    pub(super) joins: Option<Joins>,
    /// The special tokens that are only cut out of texts.
    pub(super) cut_out: CutOut,
    pub(crate) desks: Desks,
}

/// What happens to a text before its words are merged.
#[derive(Debug)]
pub(crate) struct Steps {
    pub(crate) pattern: Pattern,
    pub(crate) preparation: Preparation,
    /// All steps, if the two cannot do them; they are then empty.
    pub(crate) pipeline: Option<Pipeline>,
    /// All steps as they were given, if the two cannot say them.
    pub(crate) json: Option<String>,
}

/// A text that is encoded.
#[derive(Clone, Copy)]
pub(super) enum Given<'t> {
    Text(&'t [u8]),
    /// What follows another text.
    Rest(&'t [u8], Context),
    /// The same, up to a place inside its first word.
    Part(&'t [u8], Context),
    /// A word that was cut before.
    Word(&'t [u8]),
}

impl Encoder {
    /// An encoder of these parts. With `whole_words`, a word that is a token becomes that token,
    /// whatever its merges make of it; `unused` are tokens that are taken apart again.
    pub(crate) fn new(
        vocabulary: Vocabulary,
        unknown: Unknown,
        whole_words: bool,
        unused: Vec<Id>,
        steps: Steps,
        specials: Vec<Special>,
    ) -> Result<Self> {
        let Steps {
            pattern,
            preparation,
            pipeline,
            json,
        } = steps;
        let ids = vocabulary
            .numbers()
            .filter_map(|number| vocabulary.id(number));
        let largest = ids.chain(specials.iter().map(|special| special.id));
        let largest = largest.chain(unknown.ids().iter().copied()).max();
        let has_words = pattern.cuts_texts()
            || pipeline.as_ref().is_some_and(Pipeline::cuts_texts)
            || !unknown.is_local(&vocabulary);
        let words = Words::new(vocabulary, unknown, whole_words, unused);
        let has_words = has_words || words.looks_up_whole || words.vocabulary.marks_words();
        let mut encoder = Self {
            cut_out: CutOut::default(),
            joins: (!has_words).then(|| Joins::new(&words.vocabulary, false)),
            words,
            pattern,
            preparation,
            specials: Specials::new(specials, |special| {
                let is_late = match &pipeline {
                    Some(pipeline) => pipeline.is_sentencepiece(),
                    None => preparation.prefix_space == PrefixSpace::Once,
                };
                let is_late = special.always && is_late || special.search.normalized;
                is_late
                    .then(|| match &pipeline {
                        Some(steps) if !steps.is_sentencepiece() => steps.normalized(&special.text),
                        _ => Ok(special.text.clone()),
                    })
                    .transpose()
            })?,
            pipeline,
            steps: json,
            desks: Desks::new(largest.unwrap_or(0)),
        };
        encoder.cut_out = encoder.find_cut_out();
        let Self {
            cut_out, specials, ..
        } = &mut encoder;
        specials.imply(|special| cut_out.imply(special));
        Ok(encoder)
    }

    /// The tokens and their merges.
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.words.vocabulary
    }

    /// What becomes of a character that is no token.
    pub fn unknown(&self) -> &Unknown {
        &self.words.unknown
    }

    /// Whether some word becomes a token that its merges would not make.
    pub fn looks_up_whole_words(&self) -> bool {
        self.words.looks_up_whole
    }

    /// The tokens that are taken apart again.
    pub fn unused(&self) -> &[Id] {
        &self.words.unused.given
    }

    /// What cuts a text into words.
    pub fn pattern(&self) -> &Pattern {
        &self.pattern
    }

    /// What happens to a text first.
    pub fn preparation(&self) -> Preparation {
        self.preparation
    }

    /// The steps before merging as they were given, if preparation and pattern cannot say them.
    pub fn steps(&self) -> Option<&str> {
        self.steps.as_deref()
    }

    /// The steps before merging, if preparation and pattern cannot do them.
    pub fn pipeline(&self) -> Option<&Pipeline> {
        self.pipeline.as_ref()
    }

    /// The special tokens.
    pub fn specials(&self) -> &[Special] {
        self.specials.all()
    }

    /// The special tokens with the texts that are searched.
    pub(crate) fn searched(&self) -> impl Iterator<Item = (&Special, &str)> {
        self.specials.searched()
    }

    /// Whether some text would be encoded otherwise if merges of one rank came in the order of the
    /// list. True also where that is not known.
    pub fn ties_matter(&self) -> bool {
        self.words.ties_matter()
    }

    /// What a call asks for, ready for any number of texts.
    pub fn call(&self, choice: &Choice) -> Result<Call> {
        Ok(Call {
            finders: self.specials.finders(choice)?,
            frame: choice.frame.clone(),
            trims_spaces: choice.trims_spaces,
        })
    }

    /// The ids of a text.
    pub fn encode(&self, text: &[u8], call: &Call, watch: &Watch) -> Result<Vec<Id>> {
        let mut ids = Vec::new();
        let start = call.frame.open(&mut ids);
        let mut sink = Sink::keeping(&mut ids);
        self.desks.with(|desk| {
            self.encode_given(Given::Text(text), &call.finders, desk, &mut sink, watch)
        })?;
        call.frame.close(&mut ids, start);
        Ok(call.frame.fill_one(ids))
    }

    /// How many ids a text has.
    pub fn count(&self, text: &[u8], call: &Call, watch: &Watch) -> Result<usize> {
        let mut count = Sink::default();
        self.desks.with(|desk| {
            self.encode_given(Given::Text(text), &call.finders, desk, &mut count, watch)
        })?;
        Ok(call.frame.total(count.num_ids))
    }

    /// Call `use_ids` with the index and the ids of each word. The words were cut before: a pattern
    /// does not cut them again, and no space is put before them. Without a pattern a word is a text.
    pub(crate) fn for_each_ids(
        &self,
        words: &[&[u8]],
        watch: &Watch,
        mut use_ids: impl FnMut(usize, &[Id]) -> Result<()>,
    ) -> Result<()> {
        let finders = self.specials.finders(&Choice::default())?;
        let mut ids = Vec::new();
        self.desks.with(|desk| {
            for (index, word) in words.iter().enumerate() {
                ids.clear();
                let word = match self.pattern.spec() {
                    Some(_) => Given::Word(word),
                    None => Given::Text(word),
                };
                self.encode_given(word, &finders, desk, &mut Sink::keeping(&mut ids), watch)?;
                use_ids(index, &ids)?;
            }
            Ok(())
        })
    }

    /// An error if one of the texts holds a special token that is to be refused.
    pub(crate) fn check(&self, texts: &[&[u8]], refused: Vec<bool>, watch: &Watch) -> Result<()> {
        let finders = self.specials.finders(&Choice {
            refused,
            ..Choice::default()
        })?;
        texts.iter().try_for_each(|text| {
            watch.check()?;
            self.specials.check(text, &finders)
        })
    }

    /// Finds the stretches of texts.
    pub(super) fn stretches(&self) -> Stretches<'_> {
        Stretches(&self.specials)
    }

    pub(super) fn encode_given(
        &self,
        given: Given<'_>,
        finders: &Finders,
        desk: &mut Desk,
        sink: &mut Sink<'_>,
        watch: &Watch,
    ) -> Result<()> {
        let (text, context) = match given {
            Given::Text(text) => (text, Context::Start),
            Given::Rest(text, context) | Given::Part(text, context) => (text, context),
            Given::Word(word) => (word, Context::Words),
        };
        let preparation = match given {
            Given::Word(_) => self.preparation.without_prefix(),
            _ => self.preparation,
        };
        self.specials.check(text, finders)?;
        if let Some(pipeline) = &self.pipeline {
            return self.encode_by_steps(pipeline, text, finders, desk, sink, watch);
        }
        if let Some(joins) = &self.joins
            && !self.cut_out.ids.is_empty()
            && let Cow::Borrowed(text) = preparation.prepare(text)
        {
            return self.encode_cut(joins, text, finders, desk, sink, watch);
        }
        self.stretches().for_each_part(
            preparation,
            context,
            text,
            finders,
            |part, shift| match part {
                Part::Special(special, _) => {
                    sink.push_apart(&[special.id]);
                    Ok(())
                }
                Part::Ordinary(start, text) => {
                    sink.begin(self.fused());
                    let preparation = shift.context.prepare(preparation);
                    let prepared = preparation.prepare(text);
                    let run = Run {
                        encoder: &self.words,
                        text: &prepared,
                        start: 0,
                        desk,
                        sink,
                        watch,
                        result: Ok(()),
                    };
                    let (start, hidden) = (shift.start + start, preparation.hidden_bytes(text));
                    self.encode_prepared(given, shift.context, run)
                        .map_err(|error| error.moved(start, hidden))
                }
            },
        )
    }

    /// Encode a stretch that is prepared.
    fn encode_prepared(
        &self,
        given: Given<'_>,
        context: Context,
        mut run: Run<'_, '_>,
    ) -> Result<()> {
        let end = self.end_of_word(given, context, run.text);
        run.finish_word(end)?;
        let (text, watch) = (run.text, run.watch);
        let encoded = match (given, self.pattern.scanner(), &self.joins) {
            (Given::Part(..), ..) => Ok(()),
            (Given::Word(_), ..) => run.encode_one(),
            (_, Some(scanner), _) => run.encode_groups(scanner),
            (_, None, Some(joins)) => run.encode_joined(joins, &[]),
            (_, None, None) => {
                run.encode_singly(|use_word| self.pattern.for_each_word(text, watch, use_word))
            }
        };
        encoded.map_err(|error| error.moved(end, 0))
    }

    /// Where a word ends that began before a prepared text; 0 if none did.
    fn end_of_word(&self, given: Given<'_>, context: Context, text: &[u8]) -> usize {
        match (given, context, self.pattern.scanner()) {
            (Given::Part(..), ..) | (_, Context::Word(None), _) => text.len(),
            (_, Context::Word(Some(state)), Some(scanner)) => scanner.end_of_word(state, text),
            _ => 0,
        }
    }

    /// The same by a pipeline of steps.
    fn encode_by_steps(
        &self,
        pipeline: &Pipeline,
        text: &[u8],
        finders: &Finders,
        desk: &mut Desk,
        sink: &mut Sink<'_>,
        watch: &Watch,
    ) -> Result<()> {
        self.stretches()
            .for_each_stretch(pipeline, text, finders, false, watch, |stretch| {
                let prepared = match stretch {
                    Stretch::Special(id, ..) => {
                        sink.push_apart(&[id]);
                        return Ok(());
                    }
                    Stretch::Words(prepared) => prepared,
                };
                sink.begin(self.fused());
                let run = Run {
                    encoder: &self.words,
                    text: &prepared.text,
                    start: 0,
                    desk,
                    sink,
                    watch,
                    result: Ok(()),
                };
                match &self.joins {
                    Some(joins) => run.encode_joined(joins, &prepared.ends),
                    None => run.encode_singly(|use_word| {
                        self.for_each_prepared_word(&prepared, use_word);
                        Ok(())
                    }),
                }
            })
    }

    /// Call `use_word` with where each word that a pipeline prepared begins and ends; a text that it
    /// does not cut is cut where no merge can join.
    pub(super) fn for_each_prepared_word(
        &self,
        prepared: &Prepared,
        mut use_word: impl FnMut(usize, usize),
    ) {
        let mut start = 0;
        for &end in &prepared.ends {
            match &self.joins {
                Some(joins) => joins.for_each_part(&prepared.text[start..end], |from, to| {
                    use_word(start + from, start + to);
                }),
                None => use_word(start, end),
            }
            start = end;
        }
    }

    /// The unknown token, if neighbours are one wherever the text was cut: where nothing else cuts.
    pub(super) fn fused(&self) -> Option<Id> {
        match (&self.words.unknown, &self.joins) {
            (Unknown::Token { id, fuse: true }, Some(_)) => Some(*id),
            _ => None,
        }
    }

    /// Call `use_word` with where each word of a prepared text begins and ends.
    #[inline]
    pub(super) fn for_each_word(
        &self,
        text: &[u8],
        watch: &Watch,
        use_word: impl FnMut(usize, usize),
    ) -> Result<()> {
        match &self.joins {
            None => self.pattern.for_each_word(text, watch, use_word),
            Some(joins) => {
                joins.for_each_part(text, use_word);
                Ok(())
            }
        }
    }

    /// The last place after 0 where a text can be cut whatever follows it, if one is sure: the ids
    /// of both parts, encoded by themselves, are those of the whole.
    pub fn last_cut(&self, text: &[u8]) -> Option<usize> {
        if self.pipeline.is_some() {
            return None;
        }
        let text = self.preparation.unchanged(text)?;
        self.specials.last_cut(text, |text| match &self.joins {
            None => self.pattern.last_safe_cut(text),
            // Unknown characters on both sides of a cut may be one token.
            Some(_) if self.fused().is_some() => None,
            Some(joins) => joins.last_cut(text),
        })
    }
}
