//! Texts that come in parts: mergewise beside mtc-inc-bpe, with the same tokens and merges.
//!
//!     cargo run --release --manifest-path bench/streams/Cargo.toml -- cl100k.tiktoken text.txt
//!
//! mtc-inc-bpe has no patterns, so each text is one word for both. For each text and size of its
//! parts, processor time for a part and for a byte, the least of five runs. The *streams* give ids as
//! soon as they are sure; the others know the ids of what has come at every moment: mergewise's
//! sessions hand them out, mtc-inc-bpe keeps for each byte the token that ends there. All ids are
//! compared with those of the whole text.

use std::error::Error;
use std::time::Duration;
use std::{env, fs};

use cpu_time::ProcessTime;
use mergewise::session::EncodingStream;
use mergewise::{Choice, Id, Session, Tokenizer, Watch, ranks};
use mtc_inc_bpe::{
    Dictionary, IncBpeTokenization, IncBpeTokenizer, NormalizedDict, TokenId, Vocab,
};

type Outcome<T> = Result<T, Box<dyn Error>>;

const REPETITIONS: usize = 5;
const LENGTH: usize = 100_000;
const PARTS: [usize; 2] = [1, 20];

fn main() -> Outcome<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [ranks_path, text_path] = &arguments[..] else {
        return Err("expected a file of ranks and a text".into());
    };
    let tokenizer = read(&fs::read(ranks_path)?)?;
    let peer = peer_of(&tokenizer)?;
    let text = fs::read(text_path)?;
    let endless = |unit: &[u8]| unit.repeat(LENGTH / unit.len());
    let texts = [
        ("text", text[..text.len().min(LENGTH)].to_vec()),
        ("one endless word", endless(b"abcdefghijklm")),
        ("one letter", endless(b"a")),
        ("spaces", endless(b" ")),
    ];
    println!("| text | bytes in a part | at work | a part, µs | a byte, ns | ids |");
    println!("|---|--:|---|--:|--:|---|");
    for (name, text) in &texts {
        let whole = tokenizer.encode(text)?;
        for size in PARTS {
            let row = |who: &str, work: &dyn Fn() -> Outcome<Vec<Id>>| -> Outcome<()> {
                let (least, ids) = measure(work)?;
                let nanoseconds = least.as_nanos() as f64;
                let part = nanoseconds / 1e3 / text.len().div_ceil(size) as f64;
                let byte = nanoseconds / text.len() as f64;
                let verdict = if ids == whole { "as of the whole" } else { "others" };
                println!("| {name} | {size} | {who} | {part:.3} | {byte:.1} | {verdict} |");
                Ok(())
            };
            row("mergewise, stream", &|| stream(&tokenizer, text, size))?;
            row("mtc-inc-bpe, stream", &|| peer_stream(&peer, text, size))?;
            row("mergewise, session", &|| session(&tokenizer, text, size))?;
            row("mtc-inc-bpe, every beginning", &|| Ok(peer_beginnings(&peer, text)))?;
        }
    }
    Ok(())
}

/// The tokenizer of a file of ranks, without a pattern.
fn read(file: &[u8]) -> Outcome<Tokenizer> {
    let mut tokens = Vec::new();
    for line in ranks::lines(file).filter(|line| !line.is_empty()) {
        let mut token = Vec::new();
        let id = ranks::parse_line(line, &mut token).ok_or("a malformed line")?;
        tokens.push((token, id));
    }
    let tokens = || tokens.iter().map(|(token, id)| (&token[..], *id));
    Ok(Tokenizer::builder().tokens(tokens()).ranks(tokens()).build()?)
}

/// The peer with the same tokens and merges; its ids are the places of tokens in the list.
fn peer_of(tokenizer: &Tokenizer) -> Outcome<IncBpeTokenizer> {
    let mut tokens = vec![Vec::new(); tokenizer.num_ids()];
    for (token, id) in tokenizer.tokens() {
        tokens[id as usize] = token.to_vec();
    }
    let vocabulary = Vocab::new(tokens)?;
    let pairs = tokenizer.merges().map(|(left, right, _)| (left, right));
    let merges = Dictionary::new_from_token_pair(vocabulary, pairs)?;
    Ok(IncBpeTokenizer::new(NormalizedDict::new_in_bytes(merges)?))
}

/// The least time of several runs, and the ids.
fn measure(work: &dyn Fn() -> Outcome<Vec<Id>>) -> Outcome<(Duration, Vec<Id>)> {
    let mut best: Option<(Duration, Vec<Id>)> = None;
    for _ in 0..REPETITIONS {
        let start = ProcessTime::now();
        let ids = work()?;
        let time = start.elapsed();
        if best.as_ref().is_none_or(|(least, _)| time < *least) {
            best = Some((time, ids));
        }
    }
    best.ok_or_else(|| "no run".into())
}

fn stream(tokenizer: &Tokenizer, text: &[u8], size: usize) -> Outcome<Vec<Id>> {
    let (choice, watch) = (Choice::default(), Watch::default());
    let mut stream = EncodingStream::new(tokenizer, &choice)?;
    let mut ids = Vec::new();
    for part in text.chunks(size) {
        ids.extend(stream.add(part, &watch)?);
    }
    ids.extend(stream.finish(&watch)?);
    Ok(ids)
}

fn peer_stream(peer: &IncBpeTokenizer, text: &[u8], size: usize) -> Outcome<Vec<Id>> {
    let mut stream = peer.eager();
    let mut ids = Vec::new();
    for part in text.chunks(size) {
        for &byte in part {
            stream.feed(peer.find_by_byte_unchecked(byte));
        }
        ids.extend(stream.by_ref().map(|token| id_of(token.token_id)));
    }
    ids.extend(tokens_of(&stream.into()));
    Ok(ids)
}

/// The ids are put together from what each append says.
fn session(tokenizer: &Tokenizer, text: &[u8], size: usize) -> Outcome<Vec<Id>> {
    let (choice, watch) = (Choice::default(), Watch::default());
    let mut session = Session::new(tokenizer, &choice)?;
    let mut ids = Vec::new();
    for part in text.chunks(size) {
        let (num_kept, following) = session.append(part, &watch)?;
        ids.truncate(num_kept);
        ids.extend(following);
    }
    Ok(ids)
}

fn peer_beginnings(peer: &IncBpeTokenizer, text: &[u8]) -> Vec<Id> {
    let mut beginnings = peer.tokenization();
    for &byte in text {
        beginnings.feed(peer.find_by_byte_unchecked(byte));
    }
    tokens_of(&beginnings)
}

/// The tokens of all that has come, from the last to the first, turned round.
fn tokens_of(text: &IncBpeTokenization<&IncBpeTokenizer>) -> Vec<Id> {
    let last = text.inc_tokens().len().wrapping_sub(1);
    let mut ids: Vec<Id> = text.token_chain(last).token_ids().map(id_of).collect();
    ids.reverse();
    ids
}

fn id_of(token: TokenId) -> Id {
    token.inner()
}
