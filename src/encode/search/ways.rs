//! Words that are not finished: which of their tokens stay, whatever follows.
//!
//! The tokens of a word up to its last one that ends within its beginning are those of this much of it,
//! taken alone; and its next token begins as the rest of the beginning does. So all such ways to go on
//! are followed back, each through the last tokens of beginnings, to where they meet. What was found is
//! kept: a byte more costs at most a question for each way.

use super::{Begun, NONE, Search};
use crate::trie::Node;
use crate::vocabulary::{Number, Vocabulary};

/// The beginning of a word, and the ways in which it may go on.
#[derive(Debug, Clone)]
pub(crate) struct Ways {
    /// How much of the text is before it.
    place: usize,
    beginning: Vec<u8>,
    /// For each place of it, from the first on.
    lasts: Vec<Last>,
    /// Where tokens may begin that end behind the beginning, in order, and their nodes.
    open: Vec<(usize, Node)>,
}

/// The last of the tokens of a beginning up to some place, and where it starts: there is none at the
/// first place, inside symbols, and where no token of the word can end.
#[derive(Debug, Clone, Copy)]
struct Last {
    token: Number,
    start: usize,
}

const NO_LAST: Last = Last {
    token: NONE,
    start: 0,
};

impl Default for Ways {
    fn default() -> Self {
        Self {
            place: 0,
            beginning: Vec::new(),
            lasts: vec![NO_LAST],
            open: Vec::new(),
        }
    }
}

impl Ways {
    /// Nothing is known if the beginning is not at this place of the text.
    pub(crate) fn begin(&mut self, place: usize) {
        if self.place != place {
            self.place = place;
            self.begin_anew();
        }
    }

    /// Nothing is known of the word at this place.
    pub(crate) fn begin_anew(&mut self) {
        *self = Self {
            place: self.place,
            ..Self::default()
        };
    }

    /// Leave out all but the last bytes, before which tokens end that stay: what is behind does not
    /// depend on them, and a token that goes on others than these is none of the word. It begins this
    /// much later in the text then.
    pub(crate) fn keep(&mut self, num_bytes: usize, later: usize) {
        self.place += later;
        let length = self.beginning.len() - num_bytes;
        self.beginning.drain(..length);
        self.lasts.drain(..length);
        self.lasts[0] = NO_LAST;
        for at in 1..self.lasts.len() {
            let start = self.lasts[at].start.checked_sub(length);
            let is_kept = start.is_some_and(|start| self.is_reached(start));
            self.lasts[at] = match start {
                Some(start) if is_kept => Last {
                    start,
                    ..self.lasts[at]
                },
                _ => NO_LAST,
            };
        }
        let open = std::mem::take(&mut self.open).into_iter();
        let open = open.filter_map(|(start, node)| Some((start.checked_sub(length)?, node)));
        self.open = open.filter(|&(start, _)| self.is_reached(start)).collect();
    }

    /// Leave out the first bytes, as many as are settled.
    pub(crate) fn leave(&mut self, num_bytes: usize) {
        match self.beginning.len().checked_sub(num_bytes) {
            Some(rest) => self.keep(rest, num_bytes),
            None => self.begin(self.place + num_bytes),
        }
    }

    /// The beginning up to its last token, and its tokens.
    fn begun(&self) -> Begun {
        let mut ends = (1..self.lasts.len()).rev();
        let end = ends.find(|&at| self.is_reached(at)).unwrap_or(0);
        let ends = std::iter::successors(Some(end), |&at| Some(self.lasts[at].start));
        let ends = ends.take_while(|&at| at > 0);
        let mut tokens: Vec<Number> = ends.map(|at| self.lasts[at].token).collect();
        tokens.reverse();
        Begun {
            text: self.beginning[..end].to_vec(),
            tokens,
        }
    }

    /// Whether tokens end at a place, or it is the first.
    fn is_reached(&self, at: usize) -> bool {
        at == 0 || self.lasts[at].token != NONE
    }

    /// The ends of tokens that stay whatever follows, the last first.
    fn settled_ends(&self) -> Vec<usize> {
        let length = self.beginning.len();
        let mut is_way = vec![false; length + 1];
        for &(start, _) in &self.open {
            is_way[start] = true;
        }
        is_way[length] = self.is_reached(length);
        let mut num_ways = self.open.len() + usize::from(is_way[length]);
        let mut ends = Vec::new();
        for at in (1..=length).rev() {
            if is_way[at] {
                if num_ways == 1 {
                    ends.push(at);
                }
                let before = &mut is_way[self.lasts[at].start];
                num_ways -= usize::from(std::mem::replace(before, true));
            }
        }
        ends
    }
}

impl Search {
    /// The ends of those tokens of a word's beginning that stay whatever follows it, the last first.
    /// What `ways` say of another beginning of this word is used.
    pub(crate) fn settled_ends(
        &self,
        vocabulary: &Vocabulary,
        beginning: &[u8],
        ways: &mut Ways,
    ) -> Vec<usize> {
        self.read(vocabulary, beginning, ways);
        ways.settled_ends()
    }

    /// The tokens of a word's beginning up to the last that ends within it. What `ways` say of another
    /// beginning of it is used.
    pub(crate) fn begun(
        &self,
        vocabulary: &Vocabulary,
        beginning: &[u8],
        ways: &mut Ways,
    ) -> Begun {
        self.read(vocabulary, beginning, ways);
        ways.begun()
    }

    /// Find the ways of a beginning.
    fn read(&self, vocabulary: &Vocabulary, beginning: &[u8], ways: &mut Ways) {
        if !beginning.starts_with(&ways.beginning) {
            ways.begin_anew();
        }
        for &byte in &beginning[ways.beginning.len()..] {
            self.go_on_with(vocabulary, byte, ways);
        }
    }

    /// Add a byte to a beginning.
    fn go_on_with(&self, vocabulary: &Vocabulary, byte: u8, ways: &mut Ways) {
        let end = ways.beginning.len();
        ways.beginning.push(byte);
        ways.open.retain_mut(|(_, node)| {
            let child = self.trie.child(*node, byte);
            *node = child.unwrap_or(*node);
            child.is_some()
        });
        if ways.is_reached(end)
            && let Some(node) = self.trie.first(byte)
        {
            ways.open.push((end, node));
        }
        // One token at most stands. Often the last one has gone on, or another begins behind it.
        let last_start = ways.lasts[end].start;
        let gone_on = ways.open.binary_search_by_key(&last_start, |way| way.0);
        let gone_on = gone_on.ok().map(|index| &ways.open[index]);
        let mut likely_first = gone_on.into_iter().chain(ways.open.iter().rev());
        let stands = |&&(start, node): &&(usize, Node)| {
            let (before, token) = (ways.lasts[start].token, node.token());
            token != NONE && (start == 0 || self.stand(vocabulary, before, token))
        };
        let last = likely_first.find(stands);
        ways.lasts.push(last.map_or(NO_LAST, |&(start, node)| Last {
            token: node.token(),
            start,
        }));
    }
}
