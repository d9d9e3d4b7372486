//! The state of the search: the list, the derivation of every word, and the effect of a draft.

use std::cmp::Reverse;
use std::ops::Range;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::corpus::{Corpus, Place, Sample, Word};
use super::derivation::{Derivations, Derived, NOBODY};
use super::draft::{Change, Draft, Edit};
use super::list::{List, PinnedMerge, Rank, SYMBOL_RANK, Shape};
use super::outcome::Outcome;
use super::random::Random;
use crate::error::Result;
use crate::merges::Id;
use crate::parallel::Team;
use crate::watch::Watch;

/// The number of words between two checks for interruption.
const WORDS_BETWEEN_CHECKS: u32 = 4096;
/// The longest token that is considered for the best cut of a word.
const LONGEST_CUT: usize = 24;

#[derive(Debug)]
pub(super) struct State<'a> {
    pub(super) corpus: &'a Corpus,
    pub(super) list: List,
    pub(super) derivations: Derivations,
    /// The number of tokens of all words, each as often as it was seen.
    pub(super) num_tokens: u64,
    /// The sum of the weights of all tokens.
    pub(super) cost: u64,
    sample: Sample,
    /// The words that boundaries between tokens are drawn from by weight, and the sums of the weights
    /// of the boundaries up to each word, as they were at the last [`State::refresh`].
    boundaries: Vec<(Word, u64)>,
    /// Tokens to draw from, as they were at the last [`State::refresh`].
    drawn: Vec<Id>,
    /// Pairs to draw from, the most frequent first, as they were at the last [`State::refresh`].
    pairs: Vec<(Id, Id)>,
}

/// The memory that a thread needs to weigh drafts.
#[derive(Debug, Default, Clone)]
pub(super) struct Scratch {
    derived: Derived,
    /// The tokens of the words of the last effect, word after word.
    tokens: Vec<Id>,
    /// For each word, the last draft that met it.
    met: Vec<u32>,
    draft: u32,
    /// The words that the last draft met.
    pub(super) words: Vec<Word>,
}

impl Scratch {
    /// Begin a new draft, which has met no word yet.
    pub(super) fn begin_draft(&mut self, num_words: usize) {
        self.words.clear();
        if self.draft == u32::MAX {
            self.met.clear();
            self.draft = 0;
        }
        self.met.resize(num_words, 0);
        self.draft += 1;
    }

    pub(super) fn meet(&mut self, word: Word) {
        if std::mem::replace(&mut self.met[word as usize], self.draft) != self.draft {
            self.words.push(word);
        }
    }
}

/// What happens in the words whose derivation a draft changes.
#[derive(Debug)]
pub(super) struct Effects {
    /// The tokens that are built less often and the weight that each loses, the largest first.
    pub(super) losses: Vec<(Id, i64)>,
    /// The neighbours in these words and their weights, the largest first.
    pub(super) pairs: Vec<((Id, Id), i64)>,
}

impl<'a> State<'a> {
    /// The state of a list of merges over symbols, by their ids in the order of the list, and whether
    /// each is pinned.
    pub(super) fn new(
        corpus: &'a Corpus,
        num_symbols: usize,
        merges: &[PinnedMerge],
        watch: &Watch,
    ) -> Result<Self> {
        let mut list = List::new(num_symbols);
        for (rank, &((left, right), is_pinned)) in (1..).zip(merges) {
            let string = [&*list.token(left).string, &*list.token(right).string].concat();
            watch.check()?;
            let places = Arc::from(corpus.places(&string));
            let id = list.name(Arc::from(string), places, is_pinned);
            list.reshape(id, Some(Shape { left, right, rank }));
        }
        list.spread_ranks();
        let mut state = Self {
            corpus,
            list,
            derivations: Derivations::new(corpus),
            num_tokens: 0,
            cost: 0,
            sample: Sample::new(corpus),
            boundaries: Vec::new(),
            drawn: Vec::new(),
            pairs: Vec::new(),
        };
        let mut derived = Derived::default();
        for word in corpus.words() {
            if word.is_multiple_of(WORDS_BETWEEN_CHECKS) {
                watch.check()?;
            }
            state.derive(word, &mut derived);
        }
        Ok(state)
    }

    /// Derive a word by the list, and add its tokens to all sums.
    fn derive(&mut self, word: Word, derived: &mut Derived) {
        self.derive_by(&Draft::new(&self.list), word, SYMBOL_RANK, derived);
        self.remember(word, &derived.erasers);
    }

    /// Note what erases the boundaries of a word, and add its tokens to all sums.
    fn remember(&mut self, word: Word, erasers: &[Id]) {
        self.derivations.set(self.corpus, word, erasers);
        self.update_sums(word, |sum, part| sum + part);
    }

    /// Take the tokens of a word from all sums.
    fn forget(&mut self, word: Word) {
        self.update_sums(word, |sum, part| sum - part);
    }

    fn update_sums(&mut self, word: Word, update: impl Fn(u64, u64) -> u64) {
        let num_tokens = u64::from(self.derivations.num_tokens(word));
        let weight = self.corpus.weight_of(word);
        self.num_tokens = update(self.num_tokens, self.corpus.count(word) * num_tokens);
        self.cost = update(self.cost, weight * num_tokens);
        let erasers = self.derivations.of(self.corpus, word).iter();
        for &eraser in erasers.filter(|&&eraser| eraser != NOBODY) {
            let token = self.list.token_mut(eraser);
            token.weight = update(token.weight, weight);
        }
    }

    /// Bring the tokens, pairs and boundaries that moves draw from up to date, and make room between all ranks;
    /// pairs must weigh `least`.
    pub(super) fn refresh(&mut self, least: f64, team: &Team, watch: &Watch) -> Result<()> {
        self.list.spread_ranks();
        self.drawn = self.list.ids().collect();
        let pairs = self.count_pairs(least, team, watch)?;
        self.pairs = pairs.into_iter().map(|pair| pair.0).collect();
        self.boundaries.clear();
        let mut sum = 0;
        for word in self.corpus.words() {
            let num_inside = self.derivations.num_tokens(word) - 1;
            if num_inside > 0 {
                sum += self.corpus.weight_of(word) * u64::from(num_inside);
                self.boundaries.push((word, sum));
            }
        }
        Ok(())
    }

    /// A random pair of tokens that is frequent enough.
    pub(super) fn any_pair(&self, random: &mut Random) -> Option<(Id, Id)> {
        let index = random.index(self.pairs.len().max(1));
        self.pairs.get(index).copied()
    }

    /// A random token.
    pub(super) fn any_token(&self, random: &mut Random) -> Option<Id> {
        let id = *self.drawn.get(random.index(self.drawn.len().max(1)))?;
        self.list.token(id).shape.map(|_| id)
    }

    /// A random word and a boundary between two tokens in it, drawn by weight.
    pub(super) fn boundary(&self, random: &mut Random) -> Option<(Word, usize)> {
        let drawn = random.below(self.boundaries.last()?.1);
        let index = self.boundaries.partition_point(|&(_, sum)| sum <= drawn);
        let word = self.boundaries[index].0;
        let cuts = self.cuts(word);
        let inside = &cuts[1..cuts.len() - 1];
        (!inside.is_empty()).then(|| (word, inside[random.index(inside.len())]))
    }

    /// The beginnings of the tokens of a word, and its end.
    pub(super) fn cuts(&self, word: Word) -> Vec<usize> {
        let erasers = self.derivations.of(self.corpus, word);
        let starts = (0..erasers.len()).filter(|&at| erasers[at] == NOBODY);
        starts.chain([erasers.len()]).collect()
    }

    /// The spans of the fewest tokens, each of moderate length, into which a word can be cut.
    pub(super) fn best_cut(&self, word: Word) -> Vec<(usize, usize)> {
        let symbols = self.corpus.word(word);
        // From each symbol on: the smallest number of tokens, and the end of the first.
        let mut best: Vec<(u32, usize)> = vec![(0, 0); symbols.len() + 1];
        for start in (0..symbols.len()).rev() {
            let mut fewest = (best[start + 1].0 + 1, start + 1);
            for end in start + 2..=symbols.len().min(start + LONGEST_CUT) {
                let with = best[end].0 + 1;
                if with <= fewest.0 && self.list.id(&symbols[start..end]).is_some() {
                    fewest = (with, end);
                }
            }
            best[start] = fewest;
        }
        let span_from = |start: usize| (start < symbols.len()).then(|| (start, best[start].1));
        std::iter::successors(span_from(0), |&(_, end)| span_from(end)).collect()
    }

    /// The effect of a draft, estimated on a sample of the words.
    pub(super) fn estimate(&self, draft: &Draft<'_>, scratch: &mut Scratch) -> Outcome {
        self.find_words(&draft.edit, &self.sample.spans, scratch);
        self.outcome(draft, true, scratch)
    }

    /// The effect of a draft.
    pub(super) fn weigh(&self, draft: &Draft<'_>, scratch: &mut Scratch) -> Outcome {
        let all = 0..self.corpus.num_symbols() as Place;
        self.find_words(&draft.edit, std::slice::from_ref(&all), scratch);
        self.outcome(draft, false, scratch)
    }

    /// The effect of a draft on the words that were found.
    pub(super) fn outcome(
        &self,
        draft: &Draft<'_>,
        is_sampled: bool,
        scratch: &mut Scratch,
    ) -> Outcome {
        let first_rank = draft.edit.first_rank();
        let mut outcome = Outcome::new(is_sampled);
        scratch.tokens.clear();
        for &word in &scratch.words {
            self.derive_by(draft, word, first_rank, &mut scratch.derived);
            let erasers = &scratch.derived.erasers;
            if erasers != self.derivations.of(self.corpus, word) {
                let before = i64::from(self.derivations.num_tokens(word));
                let more = scratch.derived.tokens.len() as i64 - before;
                let delta = self.weight_for(word, is_sampled).saturating_mul(more);
                outcome.push((word, delta, erasers));
                scratch.tokens.extend_from_slice(&scratch.derived.tokens);
            }
        }
        outcome
    }

    /// The weight of a word, which stands for several if it is sampled. Only sums over a sample, in
    /// which rare words stand for many, can be so large that they saturate.
    fn weight_for(&self, word: Word, is_sampled: bool) -> i64 {
        let stands_for = if is_sampled {
            self.sample.weight(word)
        } else {
            1
        };
        let weight = self.corpus.weight_of(word).saturating_mul(stands_for);
        i64::try_from(weight).unwrap_or(i64::MAX)
    }

    /// Derive a word by a draft that changes nothing before `first_rank`.
    fn derive_by(&self, draft: &Draft<'_>, word: Word, first_rank: Rank, derived: &mut Derived) {
        let erasers = self.derivations.of(self.corpus, word);
        derived.derive(draft, self.corpus.word(word), erasers, first_rank);
    }

    /// Leave the words of some spans that an edit may concern in `scratch`, the frequent ones first.
    pub(super) fn find_words(&self, edit: &Edit, spans: &[Range<Place>], scratch: &mut Scratch) {
        scratch.begin_draft(self.corpus.num_words());
        let (derivations, sooner) = (&self.derivations, edit.sooner());
        let mut lists = 0;
        for change in edit.changed() {
            let before = scratch.words.len();
            let mut places = &change.places[..];
            for span in spans {
                places = &places[num_below(places, span.start)..];
                let (inside, after) = places.split_at(num_below(places, span.end));
                places = after;
                for &place in inside {
                    if derivations.concerns(&self.list, change, &sooner, place) {
                        scratch.meet(self.corpus.word_at(place));
                    }
                }
            }
            lists += u32::from(scratch.words.len() > before);
        }
        if lists > 1 {
            scratch.words.sort_unstable();
        }
    }

    /// What a draft does to the words of its outcome, which `scratch` was last used for.
    pub(super) fn effects(&self, outcome: &Outcome, scratch: &Scratch) -> Effects {
        let mut losses: FxHashMap<Id, i64> = FxHashMap::default();
        let mut pairs: FxHashMap<(Id, Id), i64> = FxHashMap::default();
        let mut rest = &scratch.tokens[..];
        for (word, _, erasers) in outcome.of_words() {
            let weight = self.weight_for(word, outcome.is_sampled);
            let before = self.derivations.of(self.corpus, word);
            for (&old, &new) in before.iter().zip(erasers) {
                for (eraser, change) in [(old, weight), (new, -weight)] {
                    if old != new && eraser != NOBODY {
                        let loss = losses.entry(eraser).or_default();
                        *loss = loss.saturating_add(change);
                    }
                }
            }
            let num_tokens = erasers.iter().filter(|&&eraser| eraser == NOBODY).count();
            let tokens;
            (tokens, rest) = rest.split_at(num_tokens);
            for pair in tokens.windows(2) {
                let sum = pairs.entry((pair[0], pair[1])).or_default();
                *sum = sum.saturating_add(weight);
            }
        }
        losses.retain(|_, loss| *loss > 0);
        Effects {
            losses: largest_first(losses),
            pairs: largest_first(pairs),
        }
    }

    /// Make the changes of a draft, which was weighed exactly against this state.
    pub(super) fn make(&mut self, edit: &Edit, outcome: &Outcome) {
        for change in &edit.changes {
            if change.before.is_none() {
                let Change { string, places, .. } = change;
                let id = self.list.name(string.clone(), places.clone(), false);
                debug_assert_eq!(id, change.id);
            }
        }
        // Removals first, so that strings and ranks are free for what is added.
        for change in edit.changes.iter().filter(|change| change.before.is_some()) {
            self.list.reshape(change.id, None);
        }
        for change in edit.changes.iter().filter(|change| change.after.is_some()) {
            self.list.reshape(change.id, change.after);
        }
        for (word, _, erasers) in outcome.of_words() {
            self.forget(word);
            self.remember(word, erasers);
        }
        // A removed token never returns under its id.
        for change in edit.changes.iter().filter(|change| change.after.is_none()) {
            self.list.token_mut(change.id).places = Arc::from([]);
        }
    }
}

/// The number of places below `end`, of places in ascending order: fast if they are few.
fn num_below(places: &[Place], end: Place) -> usize {
    let mut most = 1;
    while most < places.len() && places[most] < end {
        most *= 2;
    }
    let near = &places[..places.len().min(most + 1)];
    near.partition_point(|&place| place < end)
}

/// The entries of a map, the largest value first; of equal values, the smallest key.
pub(super) fn largest_first<K: Copy + Ord, V: Copy + Ord>(
    entries: impl IntoIterator<Item = (K, V)>,
) -> Vec<(K, V)> {
    let mut entries: Vec<(K, V)> = entries.into_iter().collect();
    entries.sort_unstable_by_key(|&(key, value)| (Reverse(value), key));
    entries
}
