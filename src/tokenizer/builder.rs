//! The parts of a tokenizer, each with a name.

use serde::{Deserialize, Serialize};

use super::{Source, Tokenizer};
use crate::decode::{Decoder, Rules};
use crate::encode::{Encoder, PrefixSpace, Preparation, Search, Special, Steps, Unknown};
use crate::error::{Error, Result};
use crate::merges::{Alphabet, Id, MergeList};
use crate::pattern::Pattern;
use crate::pipeline::Pipeline;
use crate::settings::Normalization;
use crate::vocabulary::{Marks, Merging, Symbols, Vocabulary};

/// Collects the parts of a [`Tokenizer`].
///
/// Tokens come from [`merge_list`](Self::merge_list), or from [`tokens`](Self::tokens) with one of
/// [`merges`](Self::merges), [`ranked_merges`](Self::ranked_merges) and [`ranks`](Self::ranks).
///
/// ```
/// use mergewise::Tokenizer;
///
/// let tokenizer = Tokenizer::builder()
///     .tokens([(&b"a"[..], 0), (b"b", 1), (b"ab", 2)])
///     .merges([(&b"a"[..], &b"b"[..])])
///     .special_token("<|end|>", 3)
///     .build()?;
/// assert_eq!(tokenizer.encode("bab")?, [1, 2]);
/// # Ok::<(), mergewise::Error>(())
/// ```
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
#[must_use = "nothing is built before `build`"]
pub struct TokenizerBuilder<'a> {
    #[serde(borrow)]
    pub(super) tokens: Vec<(&'a [u8], Id)>,
    #[serde(borrow)]
    pub(super) merging: Option<Merging<'a>>,
    pub(super) source: Option<Source>,
    pub(super) symbols: Symbols,
    pub(super) start_of_word: &'a [u8],
    pub(super) end_of_word: &'a [u8],
    pub(super) unknown: Unknown,
    pub(super) whole_words: bool,
    pub(super) unused: Vec<Id>,
    pub(super) pattern: Option<&'a str>,
    pub(super) drops_gaps: bool,
    pub(super) preparation: Preparation,
    pub(super) steps: Option<&'a str>,
    pub(super) specials: Vec<Special>,
    pub(super) decoder: Option<&'a str>,
    pub(super) written: Vec<(Id, String)>,
}

/// A method for each part that is only kept, with its type and its field.
macro_rules! setters {
    ($($(#[$doc:meta])* $name:ident: $type:ty => $($field:ident).+;)+) => {
        $($(#[$doc])*
        pub fn $name(mut self, $name: $type) -> Self {
            self.$($field).+ = $name;
            self
        })+
    };
}

impl<'a> TokenizerBuilder<'a> {
    /// The tokens and merges of a list; the ids are those of the list.
    ///
    /// ```
    /// use mergewise::{Alphabet, MergeList, Tokenizer};
    ///
    /// let merges = MergeList::from_pairs(Alphabet::of_chars("ab".chars()), [(0, 1)])?;
    /// let tokenizer = Tokenizer::builder().merge_list(&merges).build()?;
    /// assert_eq!(tokenizer.encode("aab")?, [0, 2]);
    /// # Ok::<(), mergewise::Error>(())
    /// ```
    pub fn merge_list(mut self, merges: &'a MergeList) -> Self {
        self.symbols = match merges.alphabet() {
            Alphabet::Chars(_) => Symbols::Chars,
            _ => Symbols::Bytes,
        };
        let ids = 0..merges.num_tokens() as Id;
        let strings = merges.pairs().iter();
        let strings = strings.map(|&(left, right)| (merges.token(left), merges.token(right)));
        self.tokens(ids.map(|id| (merges.token(id), id)))
            .merges(strings)
    }

    /// The strings and ids of all tokens that are not special.
    pub fn tokens(mut self, tokens: impl IntoIterator<Item = (&'a [u8], Id)>) -> Self {
        self.tokens = tokens.into_iter().collect();
        self
    }

    /// The pairs that merge, the first ones first.
    pub fn merges(self, pairs: impl IntoIterator<Item = (&'a [u8], &'a [u8])>) -> Self {
        let pairs = pairs.into_iter().zip(0..);
        self.ranked_merges(pairs.map(|((left, right), rank)| (left, right, rank)))
    }

    /// The pairs that merge, those of the lowest rank first, and of equal ranks the leftmost.
    ///
    /// ```
    /// # use mergewise::Tokenizer;
    /// let tokenizer = Tokenizer::builder()
    ///     .tokens([(&b"a"[..], 0), (b"b", 1), (b"ab", 2), (b"ba", 3)])
    ///     .ranked_merges([(&b"a"[..], &b"b"[..], 0), (b"b", b"a", 0)])
    ///     .build()?;
    /// assert_eq!(tokenizer.encode("aba")?, [2, 0]);
    /// assert_eq!(tokenizer.encode("bab")?, [3, 1]);
    /// # Ok::<(), mergewise::Error>(())
    /// ```
    pub fn ranked_merges(
        mut self,
        pairs: impl IntoIterator<Item = (&'a [u8], &'a [u8], u32)>,
    ) -> Self {
        let pairs: Vec<_> = pairs.into_iter().collect();
        self.source = Some(Source::Pairs(pairs.len()));
        self.merging = Some(Merging::Pairs(pairs));
        self
    }

    /// The pairs that merge, the first ones first and none twice: the places of the two parts and of
    /// what they make among the tokens.
    ///
    /// ```
    /// # use mergewise::Tokenizer;
    /// let tokenizer = Tokenizer::builder()
    ///     .tokens([(&b"a"[..], 7), (b"b", 8), (b"ab", 9)])
    ///     .numbered_merges(vec![[0, 1, 2]])
    ///     .build()?;
    /// assert_eq!(tokenizer.encode("bab")?, [8, 9]);
    /// # Ok::<(), mergewise::Error>(())
    /// ```
    pub fn numbered_merges(mut self, merges: Vec<[u32; 3]>) -> Self {
        self.source = Some(Source::Pairs(merges.len()));
        self.merging = Some(Merging::Numbers(merges));
        self
    }

    /// Tokens that any two others make whose strings join to theirs, those of the lowest rank first.
    ///
    /// ```
    /// # use mergewise::Tokenizer;
    /// let tokenizer = Tokenizer::builder()
    ///     .tokens([(&b"a"[..], 0), (b"aa", 1), (b"aaa", 2)])
    ///     .ranks([(&b"aa"[..], 1), (b"aaa", 2)])
    ///     .build()?;
    /// assert_eq!(tokenizer.encode("aaaaa")?, [1, 2]);
    /// # Ok::<(), mergewise::Error>(())
    /// ```
    pub fn ranks(mut self, ranks: impl IntoIterator<Item = (&'a [u8], u32)>) -> Self {
        self.source = Some(Source::Ranks);
        self.merging = Some(Merging::Ranks(ranks.into_iter().collect()));
        self
    }

    setters! {
        /// What a word begins as; its bytes unless given.
        ///
        /// ```
        /// use mergewise::Tokenizer;
        /// use mergewise::vocabulary::Symbols;
        ///
        /// let builder = Tokenizer::builder().tokens([("é".as_bytes(), 7)]);
        /// let tokenizer = builder.symbols(Symbols::Chars).build()?;
        /// assert_eq!(tokenizer.encode("éé")?, [7, 7]);
        /// # Ok::<(), mergewise::Error>(())
        /// ```
        symbols: Symbols => symbols;

        /// What stands at the end of each token that ends a word, as in `low</w>`.
        ///
        /// ```
        /// # use mergewise::Tokenizer;
        /// let tokenizer = Tokenizer::builder()
        ///     .tokens([(&b"a"[..], 0), (b"a</w>", 1)])
        ///     .end_of_word(b"</w>")
        ///     .pattern(Some(r"\S+"))
        ///     .drops_gaps(true)
        ///     .build()?;
        /// assert_eq!(tokenizer.encode("aa a")?, [0, 1, 1]);
        /// assert_eq!(tokenizer.decode(&[0, 1, 1])?, b"aa a");
        /// # Ok::<(), mergewise::Error>(())
        /// ```
        end_of_word: &'a [u8] => end_of_word;

        /// What stands at the start of each token that begins a word.
        ///
        /// ```
        /// # use mergewise::Tokenizer;
        /// let tokenizer = Tokenizer::builder()
        ///     .tokens([(&b"a"[..], 0), (b"^a", 1)])
        ///     .start_of_word(b"^")
        ///     .build()?;
        /// assert_eq!(tokenizer.encode("aa")?, [1, 0]);
        /// # Ok::<(), mergewise::Error>(())
        /// ```
        start_of_word: &'a [u8] => start_of_word;

        /// What a character becomes that is no token; an error unless given.
        ///
        /// ```
        /// use mergewise::Tokenizer;
        /// use mergewise::encode::Unknown;
        ///
        /// let builder = Tokenizer::builder().tokens([(&b"a"[..], 1)]);
        /// let tokenizer = builder.unknown(Unknown::Token { id: 0, fuse: true }).build()?;
        /// assert_eq!(tokenizer.encode("abba")?, [1, 0, 1]);
        /// # Ok::<(), mergewise::Error>(())
        /// ```
        unknown: Unknown => unknown;

        /// Whether a word that is a token becomes that token, whatever its merges make of it.
        ///
        /// ```
        /// # use mergewise::Tokenizer;
        /// let builder = Tokenizer::builder().tokens([(&b"a"[..], 0), (b"aa", 1)]);
        /// let tokenizer = builder.whole_words(true).build()?;
        /// assert_eq!(tokenizer.encode("aa")?, [1]);
        /// assert_eq!(tokenizer.encode("aaa")?, [0, 0, 0]);
        /// # Ok::<(), mergewise::Error>(())
        /// ```
        whole_words: bool => whole_words;

        /// What cuts texts into words: a name or a regular expression; `None`: merges cross everything.
        pattern: Option<&'a str> => pattern;

        /// Whether what lies between the matches of the pattern is left out, not a word of its own.
        ///
        /// ```
        /// use mergewise::{Alphabet, MergeList, Tokenizer};
        ///
        /// let bytes = MergeList::new(Alphabet::Bytes);
        /// let builder = Tokenizer::builder().merge_list(&bytes).pattern(Some("[a-z]+"));
        /// let tokenizer = builder.drops_gaps(true).build()?;
        /// assert_eq!(tokenizer.encode("a, b")?, [97, 98]);
        /// # Ok::<(), mergewise::Error>(())
        /// ```
        drops_gaps: bool => drops_gaps;

        /// How texts are normalised first.
        normalization: Normalization => preparation.normalization;

        /// Where a space is put before texts.
        ///
        /// ```
        /// use mergewise::encode::PrefixSpace;
        /// use mergewise::{Alphabet, MergeList, Tokenizer};
        ///
        /// let bytes = MergeList::new(Alphabet::Bytes);
        /// let builder = Tokenizer::builder().merge_list(&bytes);
        /// let tokenizer = builder.prefix_space(PrefixSpace::UnlessSpace).build()?;
        /// assert_eq!(tokenizer.encode("a")?, [32, 97]);
        /// assert_eq!(tokenizer.encode(" a")?, [32, 97]);
        /// # Ok::<(), mergewise::Error>(())
        /// ```
        prefix_space: PrefixSpace => preparation.prefix_space;

        /// Whether U+2581 in a text is read as a space.
        mark_is_space: bool => preparation.mark_is_space;

        /// All steps before merging, as JSON, where the other parts cannot say them: see
        /// [`Pipeline::from_json`]. They take the place of pattern, normal form and prefix.
        ///
        /// ```
        /// use mergewise::{Alphabet, MergeList, Tokenizer};
        ///
        /// let bytes = MergeList::new(Alphabet::Bytes);
        /// let builder = Tokenizer::builder().merge_list(&bytes);
        /// let lower = r#"{"normalizer": [{"type": "Lowercase"}]}"#;
        /// assert_eq!(builder.steps(Some(lower)).build()?.encode("A")?, [97]);
        /// # Ok::<(), mergewise::Error>(())
        /// ```
        steps: Option<&'a str> => steps;

        /// How ids become a text: a JSON list of steps, as the decoders of tokenizer.json are. `None`:
        /// by the strings of the tokens alone.
        ///
        /// ```
        /// use mergewise::{Alphabet, MergeList, Tokenizer};
        ///
        /// let bytes = MergeList::new(Alphabet::Bytes);
        /// let builder = Tokenizer::builder().merge_list(&bytes);
        /// let steps = r#"[{"type": "Replace", "pattern": {"String": "a"}, "content": "A"}]"#;
        /// let tokenizer = builder.decoder(Some(steps)).build()?;
        /// assert_eq!(tokenizer.decode(&[97, 98])?, b"Ab");
        /// # Ok::<(), mergewise::Error>(())
        /// ```
        decoder: Option<&'a str> => decoder;
    }

    /// Tokens that merges make and that are taken apart again, into the two that made them; those that
    /// are single symbols are unknown: the unused pieces of SentencePiece.
    ///
    /// ```
    /// # use mergewise::Tokenizer;
    /// let tokenizer = Tokenizer::builder()
    ///     .tokens([(&b"a"[..], 0), (b"b", 1), (b"ab", 2), (b"abb", 3)])
    ///     .merges([(&b"a"[..], &b"b"[..]), (b"ab", b"b")])
    ///     .unused([3])
    ///     .build()?;
    /// assert_eq!(tokenizer.encode("abb")?, [2, 1]);
    /// # Ok::<(), mergewise::Error>(())
    /// ```
    pub fn unused(mut self, ids: impl IntoIterator<Item = Id>) -> Self {
        self.unused = ids.into_iter().collect();
        self.unused.sort_unstable();
        self
    }

    /// One more special token, which is found in a text only where the caller allows it.
    pub fn special_token(self, text: &str, id: Id) -> Self {
        self.special(text, id, false, Search::default())
    }

    /// One more special token, which is found in every text, before it is cut.
    ///
    /// ```
    /// use mergewise::{Alphabet, MergeList, Tokenizer};
    ///
    /// let bytes = MergeList::new(Alphabet::Bytes);
    /// let builder = Tokenizer::builder().merge_list(&bytes);
    /// let tokenizer = builder.added_token("<s>", 300).build()?;
    /// assert_eq!(tokenizer.encode("a<s>")?, [97, 300]);
    /// # Ok::<(), mergewise::Error>(())
    /// ```
    pub fn added_token(self, text: &str, id: Id) -> Self {
        self.special(text, id, true, Search::default())
    }

    /// One more special token, with how it is found.
    ///
    /// ```
    /// use mergewise::encode::Search;
    /// use mergewise::{Alphabet, MergeList, Tokenizer};
    ///
    /// let bytes = MergeList::new(Alphabet::Bytes);
    /// let search = Search { strips_left: true, ..Search::default() };
    /// let builder = Tokenizer::builder().merge_list(&bytes);
    /// let tokenizer = builder.special("<m>", 300, true, search).build()?;
    /// assert_eq!(tokenizer.encode("a <m> b")?, [97, 300, 32, 98]);
    /// # Ok::<(), mergewise::Error>(())
    /// ```
    pub fn special(mut self, text: &str, id: Id, always: bool, search: Search) -> Self {
        self.specials.push(Special {
            text: text.to_owned(),
            id,
            always,
            search,
        });
        self
    }

    /// What a file writes for an id, where that does not follow from the string of a token: its
    /// decoder begins with it.
    ///
    /// ```
    /// # use mergewise::Tokenizer;
    /// let tokenizer = Tokenizer::builder().written(7, "").decoder(Some("[]")).build()?;
    /// assert_eq!((tokenizer.decode(&[7])?, tokenizer.vocab_size()), (vec![], 8));
    /// # Ok::<(), mergewise::Error>(())
    /// ```
    pub fn written(mut self, id: Id, text: &str) -> Self {
        self.written.push((id, text.to_owned()));
        self
    }

    /// The tokenizer.
    pub fn build(self) -> Result<Tokenizer> {
        if self.specials.iter().any(|special| special.text.is_empty()) {
            return Err(Error::EmptySpecial);
        }
        let steps = match self.steps {
            Some(json) => {
                let pipeline = Pipeline::from_json(json)?;
                let pattern = pipeline.as_pattern();
                Steps {
                    pipeline: pattern.is_none().then_some(pipeline),
                    pattern: pattern.map_or_else(|| Pattern::new(None), Ok)?,
                    preparation: Preparation::default(),
                    json: Some(json.to_owned()),
                }
            }
            None => Steps {
                pattern: Pattern::new(self.pattern)?.dropping_gaps(self.drops_gaps),
                preparation: self.preparation,
                pipeline: None,
                json: None,
            },
        };
        let merging = self.merging.unwrap_or(Merging::Pairs(Vec::new()));
        let marks = Marks {
            start: self.start_of_word,
            end: self.end_of_word,
        };
        let vocabulary = Vocabulary::new(&self.tokens, &merging, self.symbols, marks)?;
        let encoder = Encoder::new(
            vocabulary,
            self.unknown,
            self.whole_words,
            self.unused,
            steps,
            self.specials,
        )?;
        let rules = Rules {
            steps: self.decoder,
            written: self.written,
        };
        Ok(Tokenizer {
            decoder: Decoder::new(&encoder, rules)?,
            encoder,
            whole_words: self.whole_words,
            source: self.source.unwrap_or(Source::Pairs(0)),
        })
    }
}
