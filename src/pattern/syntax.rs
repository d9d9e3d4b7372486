//! Regular expressions as trees of sets of characters, for those that an automaton can match.
//!
//! The crate fancy-regex parses. What no automaton of [`super::automaton`] can do is not
//! translated: back-references, look-behind, word boundaries, look-ahead by more than a character,
//! atomic groups other than a repeated character, and loops around what may be empty.

use fancy_regex::{Assertion, Expr, LookAround};

use super::class::{Ranges, parsed_ranges};

/// A regular expression.
#[derive(Debug, Clone)]
pub(super) enum Node {
    /// One character of a set.
    Set(Ranges),
    /// One after the other; none is the empty text.
    Sequence(Vec<Node>),
    /// The first that matches.
    Alternatives(Vec<Node>),
    Repeat {
        child: Box<Node>,
        least: usize,
        /// Without end if `None`.
        most: Option<usize>,
        greedy: bool,
    },
    /// The empty text, where what follows is a character of the set, or the end of the text if that
    /// is allowed.
    Ahead { set: Ranges, or_end: bool },
}

/// The tree of an expression that fancy-regex parsed; `None` if there is none.
pub(super) fn translated(expression: &Expr) -> Option<Node> {
    Some(match expression {
        Expr::Empty => Node::Sequence(Vec::new()),
        Expr::Group(inner) => translated(inner)?,
        Expr::Concat(parts) => Node::Sequence(all_translated(parts)?),
        Expr::Alt(parts) => Node::Alternatives(all_translated(parts)?),
        Expr::Assertion(Assertion::EndText) => Node::Ahead {
            set: Vec::new(),
            or_end: true,
        },
        Expr::LookAround(inner, look) => ahead(&set(inner)?, *look)?,
        Expr::Repeat {
            child,
            lo,
            hi,
            greedy,
        } => {
            let child = Box::new(translated(child)?);
            let most = (*hi != usize::MAX).then_some(*hi);
            if most.is_none() && child.may_be_empty() {
                return None;
            }
            Node::Repeat {
                child,
                least: *lo,
                most,
                greedy: *greedy,
            }
        }
        Expr::AtomicGroup(inner) => match &**inner {
            Expr::Repeat {
                child,
                lo,
                hi,
                greedy: true,
            } => possessive(&set(child)?, *lo, (*hi != usize::MAX).then_some(*hi)),
            _ => Node::Set(set(inner)?),
        },
        Expr::Literal { val, casei } => {
            let characters = val.chars().map(|character| literal(character, *casei));
            Node::Sequence(
                characters
                    .map(|set| set.map(Node::Set))
                    .collect::<Option<_>>()?,
            )
        }
        _ => Node::Set(set(expression)?),
    })
}

fn all_translated(parts: &[Expr]) -> Option<Vec<Node>> {
    parts.iter().map(translated).collect()
}

/// The characters that an expression matches, if it always matches exactly one.
fn set(expression: &Expr) -> Option<Ranges> {
    match expression {
        Expr::Group(inner) => set(inner),
        Expr::Concat(parts) | Expr::Alt(parts) if parts.len() == 1 => set(&parts[0]),
        Expr::Alt(parts) => {
            let sets: Option<Vec<Ranges>> = parts.iter().map(set).collect();
            Some(sets?.concat())
        }
        Expr::Any { newline, crlf } => parsed(match (newline, crlf) {
            (true, _) => r"[\s\S]",
            (false, false) => r"[^\n]",
            (false, true) => r"[^\r\n]",
        }),
        Expr::Delegate { inner, casei } => parsed(&cased(inner, *casei)),
        Expr::Literal { val, casei } => {
            let mut characters = val.chars();
            let first = characters.next()?;
            let is_one = characters.next().is_none();
            is_one.then(|| literal(first, *casei)).flatten()
        }
        _ => None,
    }
}

fn literal(character: char, any_case: bool) -> Option<Ranges> {
    let code = format!(r"\x{{{:x}}}", u32::from(character));
    parsed(&cased(&code, any_case))
}

fn cased(expression: &str, any_case: bool) -> String {
    if any_case {
        format!("(?i:{expression})")
    } else {
        expression.to_owned()
    }
}

fn parsed(class: &str) -> Option<Ranges> {
    parsed_ranges(class).ok().flatten()
}

/// The look-ahead at one character.
fn ahead(set: &Ranges, look: LookAround) -> Option<Node> {
    match look {
        LookAround::LookAhead => Some(Node::Ahead {
            set: set.clone(),
            or_end: false,
        }),
        LookAround::LookAheadNeg => Some(Node::unless(set)),
        LookAround::LookBehind | LookAround::LookBehindNeg => None,
    }
}

/// A character that is repeated, as often as possible and no less: either that is as often as
/// allowed, or another character follows.
fn possessive(set: &Ranges, least: usize, most: Option<usize>) -> Node {
    let repeat = |least, most| Node::Repeat {
        child: Box::new(Node::Set(set.clone())),
        least,
        most,
        greedy: true,
    };
    let until_another = |most| Node::Sequence(vec![repeat(least, most), Node::unless(set)]);
    match most {
        None => until_another(None),
        Some(most) if most <= least => repeat(least, Some(most)),
        Some(most) => Node::Alternatives(vec![
            repeat(most, Some(most)),
            until_another(Some(most - 1)),
        ]),
    }
}

impl Node {
    /// The empty text where none of these characters follows.
    fn unless(set: &Ranges) -> Self {
        Self::Ahead {
            set: complement(set),
            or_end: true,
        }
    }

    /// The same expression where each of these characters ends the text.
    pub(super) fn up_to(&self, ends: &Ranges) -> Self {
        let all_up_to = |parts: &[Self]| parts.iter().map(|part| part.up_to(ends)).collect();
        let without = |set: &Ranges| complement(&[&complement(set)[..], ends].concat());
        match self {
            Self::Set(set) => Self::Set(without(set)),
            Self::Sequence(parts) => Self::Sequence(all_up_to(parts)),
            Self::Alternatives(parts) => Self::Alternatives(all_up_to(parts)),
            Self::Repeat {
                child,
                least,
                most,
                greedy,
            } => Self::Repeat {
                child: Box::new(child.up_to(ends)),
                least: *least,
                most: *most,
                greedy: *greedy,
            },
            Self::Ahead { set, or_end: true } => Self::Ahead {
                set: [&set[..], ends].concat(),
                or_end: true,
            },
            Self::Ahead { set, or_end: false } => Self::Ahead {
                set: without(set),
                or_end: false,
            },
        }
    }

    fn may_be_empty(&self) -> bool {
        match self {
            Self::Set(_) => false,
            Self::Ahead { .. } => true,
            Self::Sequence(parts) => parts.iter().all(Self::may_be_empty),
            Self::Alternatives(parts) => parts.iter().any(Self::may_be_empty),
            Self::Repeat { child, least, .. } => *least == 0 || child.may_be_empty(),
        }
    }
}

pub(super) fn complement(set: &[(char, char)]) -> Ranges {
    let mut sorted = set.to_vec();
    sorted.sort_unstable();
    let (mut rest, mut next) = (Vec::new(), 0);
    for (first, last) in sorted {
        if next < u32::from(first)
            && let (Some(from), Some(to)) = (at_least(next), at_most(u32::from(first) - 1))
        {
            rest.push((from, to));
        }
        next = next.max(u32::from(last) + 1);
    }
    if let Some(from) = at_least(next) {
        rest.push((from, char::MAX));
    }
    rest
}

/// The first character from a code on, which may be a surrogate or too large.
fn at_least(code: u32) -> Option<char> {
    char::from_u32(code).or_else(|| (code <= 0xdfff).then_some('\u{e000}'))
}

/// The last character up to a code, which may be a surrogate.
fn at_most(code: u32) -> Option<char> {
    char::from_u32(code).or(Some('\u{d7ff}'))
}
