//! The tokenizer: a vocabulary, what happens to texts before and after, encoding and decoding.

mod builder;
mod bytes;
mod corpus;
mod parts;

use serde::{Deserialize, Serialize};

use crate::counts::WordCounts;
use crate::decode::Decoder;
use crate::encode::{Choice, Encoder};
use crate::error::{Error, Result};
use crate::greedy::{self, Overlaps};
use crate::merges::{Alphabet, Id, MergeList};
use crate::vocabulary::{Symbols, Vocabulary};
use crate::watch::Watch;

pub use builder::TokenizerBuilder;
pub use corpus::encoded_words;

/// Encodes texts and decodes ids. Immutable, and shared by threads without copies.
///
/// ```
/// use mergewise::{Tokenizer, WordCounts};
///
/// let counts = WordCounts::of(["low lower lowest"], Some("whitespace"))?;
/// let tokenizer = Tokenizer::train(&counts, 3)?;
/// let ids = tokenizer.encode("lowest low")?;
/// assert_eq!(ids, [257, 101, 115, 116, 258]);
/// assert_eq!(tokenizer.decode(&ids)?, b"lowest low");
/// # Ok::<(), mergewise::Error>(())
/// ```
#[derive(Debug)]
pub struct Tokenizer {
    encoder: Encoder,
    decoder: Decoder,
    /// As the builder was told; whether it matters is `Encoder::looks_up_whole_words`.
    whole_words: bool,
    source: Source,
}

/// What the merges were made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Source {
    /// A list of this many pairs.
    Pairs(usize),
    /// Ranks of tokens.
    Ranks,
}

impl Tokenizer {
    /// A builder, for vocabularies from files and for every option.
    ///
    /// ```
    /// use mergewise::Tokenizer;
    ///
    /// let tokenizer = Tokenizer::builder()
    ///     .tokens([(&b"a"[..], 0), (b"aa", 1)])
    ///     .merges([(&b"a"[..], &b"a"[..])])
    ///     .build()?;
    /// assert_eq!(tokenizer.encode("aaa")?, [1, 0]);
    /// # Ok::<(), mergewise::Error>(())
    /// ```
    pub fn builder<'a>() -> TokenizerBuilder<'a> {
        TokenizerBuilder::default()
    }

    /// The tokenizer of the first `num_merges` merges that greedy training makes over bytes; fewer
    /// if no pair occurs twice any more. It cuts texts as the counted ones were cut.
    ///
    /// ```
    /// # use mergewise::{Tokenizer, WordCounts};
    /// let counts = WordCounts::of(["abab", "ab"], None)?;
    /// assert_eq!(Tokenizer::train(&counts, 9)?.vocab_size(), 257);
    /// # Ok::<(), mergewise::Error>(())
    /// ```
    pub fn train(counts: &WordCounts, num_merges: usize) -> Result<Self> {
        let mut merges = MergeList::new(Alphabet::Bytes);
        let options = greedy::TrainOptions {
            num_merges,
            min_frequency: 2,
            max_token_length: usize::MAX,
            overlaps: Overlaps::Skip,
        };
        greedy::train(counts, &mut merges, &options, &Watch::default())?;
        let settings = counts.settings();
        Self::builder()
            .merge_list(&merges)
            .pattern(settings.pattern.as_deref())
            .normalization(settings.normalization)
            .build()
    }

    /// The ids of a text. The text of a special token is an error; see [`Tokenizer::encode_with`].
    ///
    /// ```
    /// # use mergewise::{Alphabet, MergeList, Tokenizer};
    /// let merges = MergeList::from_pairs(Alphabet::Bytes, [(97, 98)])?;
    /// let tokenizer = Tokenizer::builder().merge_list(&merges).build()?;
    /// assert_eq!(tokenizer.encode("abba")?, [256, 98, 97]);
    /// # Ok::<(), mergewise::Error>(())
    /// ```
    pub fn encode(&self, text: impl AsRef<[u8]>) -> Result<Vec<Id>> {
        let refused = Choice {
            refused: self.specials().map(|(_, _, always)| !always).collect(),
            ..Choice::default()
        };
        self.encode_with(text, &refused)
    }

    /// The ids of a text, with a choice of the special tokens to find and to refuse.
    ///
    /// ```
    /// use mergewise::{Alphabet, Choice, MergeList, Tokenizer};
    ///
    /// let empty = MergeList::new(Alphabet::Bytes);
    /// let tokenizer = Tokenizer::builder().merge_list(&empty).special_token("<s>", 300).build()?;
    /// let allowed = Choice { allowed: vec![true], ..Choice::default() };
    /// assert_eq!(tokenizer.encode_with("<s>a", &allowed)?, [300, 97]);
    /// assert_eq!(tokenizer.encode_with("<s>a", &Choice::default())?, [60, 115, 62, 97]);
    /// # Ok::<(), mergewise::Error>(())
    /// ```
    pub fn encode_with(&self, text: impl AsRef<[u8]>, choice: &Choice) -> Result<Vec<Id>> {
        let call = self.encoder.call(choice)?;
        self.encoder.encode(text.as_ref(), &call, &Watch::default())
    }

    /// The bytes that the ids of a text stand for.
    ///
    /// ```
    /// # use mergewise::{Tokenizer, WordCounts};
    /// let tokenizer = Tokenizer::train(&WordCounts::of(["abab"], None)?, 1)?;
    /// assert_eq!(tokenizer.decode(&[256, 97])?, b"aba");
    /// assert!(tokenizer.decode(&[999]).is_err());
    /// # Ok::<(), mergewise::Error>(())
    /// ```
    pub fn decode(&self, ids: &[Id]) -> Result<Vec<u8>> {
        self.decoder().bytes(ids, false, &Watch::default())
    }

    /// The text that ids stand for, with U+FFFD where their bytes are not UTF-8; with or without its
    /// special tokens.
    ///
    /// ```
    /// use mergewise::{Alphabet, MergeList, Tokenizer};
    ///
    /// let bytes = MergeList::new(Alphabet::Bytes);
    /// let tokenizer = Tokenizer::builder().merge_list(&bytes).special_token("<s>", 300).build()?;
    /// assert_eq!(tokenizer.decode_text(&[300, 97, 0xFF], false)?, "<s>a\u{FFFD}");
    /// assert_eq!(tokenizer.decode_text(&[300, 97], true)?, "a");
    /// # Ok::<(), mergewise::Error>(())
    /// ```
    pub fn decode_text(&self, ids: &[Id], skips_special: bool) -> Result<String> {
        self.decoder().text(ids, skips_special, &Watch::default())
    }

    /// What encodes, for batches, offsets and long-running work.
    ///
    /// ```
    /// # use mergewise::{Choice, Tokenizer, Watch, WordCounts};
    /// let tokenizer = Tokenizer::train(&WordCounts::of(["abab"], None)?, 1)?;
    /// let texts = [&b"ab"[..], b"aba"];
    /// let encoder = tokenizer.encoder();
    /// let call = encoder.call(&Choice::default())?;
    /// let (ids, starts) = encoder.encode_batch(&texts, &call, 2, &Watch::default())?;
    /// assert_eq!((ids, starts), (vec![256, 256, 97], vec![0, 1, 3]));
    /// # Ok::<(), mergewise::Error>(())
    /// ```
    pub fn encoder(&self) -> &Encoder {
        &self.encoder
    }

    pub(crate) fn decoder(&self) -> &Decoder {
        &self.decoder
    }

    /// The tokens and their merges.
    ///
    /// ```
    /// # use mergewise::{Tokenizer, WordCounts};
    /// let tokenizer = Tokenizer::train(&WordCounts::of(["abab"], None)?, 1)?;
    /// let vocabulary = tokenizer.vocabulary();
    /// assert_eq!(vocabulary.merges().len(), 1);
    /// assert_eq!(vocabulary.unreachable().count(), 0);
    /// # Ok::<(), mergewise::Error>(())
    /// ```
    pub fn vocabulary(&self) -> &Vocabulary {
        self.encoder.vocabulary()
    }

    /// One more than the largest id: how many rows an embedding needs.
    ///
    /// ```
    /// # use mergewise::Tokenizer;
    /// let tokenizer = Tokenizer::builder().special_token("<s>", 9).build()?;
    /// assert_eq!((tokenizer.vocab_size(), tokenizer.num_ids()), (10, 1));
    /// # Ok::<(), mergewise::Error>(())
    /// ```
    pub fn vocab_size(&self) -> usize {
        self.decoder.num_rows
    }

    /// How many ids stand for something.
    ///
    /// ```
    /// # use mergewise::{Tokenizer, WordCounts};
    /// let tokenizer = Tokenizer::train(&WordCounts::of(["abab"], None)?, 1)?;
    /// assert_eq!(tokenizer.num_ids(), 257);
    /// # Ok::<(), mergewise::Error>(())
    /// ```
    pub fn num_ids(&self) -> usize {
        self.decoder.num_ids()
    }

    /// The string of a token.
    ///
    /// ```
    /// # use mergewise::{Tokenizer, WordCounts};
    /// let tokenizer = Tokenizer::train(&WordCounts::of(["abab"], None)?, 1)?;
    /// assert_eq!(tokenizer.token(256)?, b"ab");
    /// # Ok::<(), mergewise::Error>(())
    /// ```
    pub fn token(&self, id: Id) -> Result<&[u8]> {
        self.decoder.string(id)
    }

    /// The id of the token with this string; a special token's text is not found here.
    ///
    /// ```
    /// # use mergewise::{Tokenizer, WordCounts};
    /// let tokenizer = Tokenizer::train(&WordCounts::of(["abab"], None)?, 1)?;
    /// assert_eq!(tokenizer.id(b"ab"), Some(256));
    /// assert_eq!(tokenizer.id(b"ba"), None);
    /// # Ok::<(), mergewise::Error>(())
    /// ```
    pub fn id(&self, string: &[u8]) -> Option<Id> {
        let vocabulary = self.vocabulary();
        vocabulary.id(vocabulary.number(string)?)
    }

    /// The tokens that are not special, with their ids, in the order in which they were given.
    ///
    /// ```
    /// # use mergewise::{Tokenizer, WordCounts};
    /// let tokenizer = Tokenizer::train(&WordCounts::of(["abab"], None)?, 1)?;
    /// assert_eq!(tokenizer.tokens().last(), Some((&b"ab"[..], 256)));
    /// # Ok::<(), mergewise::Error>(())
    /// ```
    pub fn tokens(&self) -> impl Iterator<Item = (&[u8], Id)> {
        let vocabulary = self.vocabulary();
        vocabulary
            .numbers()
            .filter_map(move |number| Some((vocabulary.string(number), vocabulary.id(number)?)))
    }

    /// The merges that some text can use, in order: left part, right part, rank.
    ///
    /// ```
    /// # use mergewise::{Tokenizer, WordCounts};
    /// let tokenizer = Tokenizer::train(&WordCounts::of(["abab"], None)?, 1)?;
    /// assert!(tokenizer.merges().eq([(&b"a"[..], &b"b"[..], 0)]));
    /// # Ok::<(), mergewise::Error>(())
    /// ```
    pub fn merges(&self) -> impl Iterator<Item = (&[u8], &[u8], u32)> {
        let vocabulary = self.vocabulary();
        let string = |number| vocabulary.string(number);
        let merges = vocabulary.merges().iter();
        merges.map(move |merge| (string(merge.left), string(merge.right), merge.rank))
    }

    /// The special tokens: text, id, and whether it is found in every text.
    ///
    /// ```
    /// # use mergewise::Tokenizer;
    /// let tokenizer = Tokenizer::builder().added_token("<s>", 0).build()?;
    /// assert!(tokenizer.specials().eq([("<s>", 0, true)]));
    /// # Ok::<(), mergewise::Error>(())
    /// ```
    pub fn specials(&self) -> impl Iterator<Item = (&str, Id, bool)> {
        let specials = self.encoder.specials().iter();
        specials.map(|special| (&*special.text, special.id, special.always))
    }

    /// What the merges were made of.
    ///
    /// ```
    /// use mergewise::tokenizer::Source;
    /// # use mergewise::{Tokenizer, WordCounts};
    ///
    /// let tokenizer = Tokenizer::train(&WordCounts::of(["abab"], None)?, 1)?;
    /// assert_eq!(tokenizer.source(), Source::Pairs(1));
    /// # Ok::<(), mergewise::Error>(())
    /// ```
    pub fn source(&self) -> Source {
        self.source
    }

    /// Whether a word that is a token was to become that token, whatever its merges make of it.
    ///
    /// ```
    /// # use mergewise::Tokenizer;
    /// let tokenizer = Tokenizer::builder().whole_words(true).build()?;
    /// assert!(tokenizer.whole_words());
    /// # Ok::<(), mergewise::Error>(())
    /// ```
    pub fn whole_words(&self) -> bool {
        self.whole_words
    }

    /// The merges as a list over the symbols, in the order of their ids: what training and
    /// improving go on from.
    ///
    /// ```
    /// # use mergewise::{Tokenizer, WordCounts};
    /// let tokenizer = Tokenizer::train(&WordCounts::of(["abab"], None)?, 1)?;
    /// assert_eq!(tokenizer.merge_list()?.pairs(), [(97, 98)]);
    /// # Ok::<(), mergewise::Error>(())
    /// ```
    pub fn merge_list(&self) -> Result<MergeList> {
        let vocabulary = self.vocabulary();
        if vocabulary.marks_words() {
            return Err(Error::EndsOfWords);
        }
        let alphabet = match vocabulary.symbols() {
            // Bytes without an id come last.
            Symbols::Bytes => {
                Alphabet::of_bytes(|byte| self.id(&[byte]).map_or((1, 0), |id| (0, id)))
            }
            Symbols::Chars => {
                let only_char = |(token, _)| {
                    let mut chars = std::str::from_utf8(token).ok()?.chars();
                    chars.next().filter(|_| chars.next().is_none())
                };
                Alphabet::of_chars(self.tokens().filter_map(only_char))
            }
        };
        MergeList::from_strings(
            alphabet,
            self.merges().map(|(left, right, _)| (left, right)),
        )
    }

    /// The tokenizer with its first `num_merges` merges alone, and the tokens that these make.
    ///
    /// ```
    /// # use mergewise::{Tokenizer, WordCounts};
    /// let tokenizer = Tokenizer::train(&WordCounts::of(["ababc", "abc"], None)?, 2)?;
    /// assert_eq!(tokenizer.encode("abc")?, [257]);
    /// assert_eq!(tokenizer.with_first_merges(1)?.encode("abc")?, [256, 99]);
    /// # Ok::<(), mergewise::Error>(())
    /// ```
    pub fn with_first_merges(&self, num_merges: usize) -> Result<Self> {
        let vocabulary = self.vocabulary();
        let mut is_kept = vec![true; vocabulary.len()];
        for merge in vocabulary.merges().iter().skip(num_merges) {
            is_kept[merge.product.index()] = false;
        }
        let tokens = self.tokens().zip(is_kept).filter(|&(_, is_kept)| is_kept);
        self.to_builder()
            .tokens(tokens.map(|(token, _)| token))
            .ranked_merges(self.merges().take(num_merges))
            .build()
    }
}
