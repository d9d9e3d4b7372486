//! Expressions that cut a text one after the other, as one.
//!
//! An expression that cuts what an earlier one left takes its cuts for the ends of texts. If the
//! earlier one cuts out runs of characters of a set, then to later ones these characters are such
//! ends, and within the runs all others are. So the expressions become alternatives of one.

use super::automaton::{Automaton, DEAD};
use super::class::Ranges;
use super::syntax::{Node, complement};

/// An expression that does what several do.
pub(super) struct Joined {
    pub(super) node: Node,
    /// No word, and no gap between words, has characters within one of these sets and others.
    pub(super) runs: Vec<Ranges>,
}

/// The expression whose words are those that these expressions leave, the first of which is applied
/// first; `None` if there is none, or none is found.
pub(super) fn joined(steps: &[Node]) -> Option<Joined> {
    let (first, later) = steps.split_first()?;
    if later.is_empty() {
        return Some(Joined {
            node: first.clone(),
            runs: Vec::new(),
        });
    }
    let run = run(first)?;
    let up_to = |ends: &Ranges| {
        later
            .iter()
            .map(|node| node.up_to(ends))
            .collect::<Vec<_>>()
    };
    let others = complement(&run.set);
    let leaves_whole = |node: &Node| leaves_whole(&node.up_to(&others), &run.set);
    let within = if run.most == Some(1) || later.iter().all(leaves_whole) {
        joined(&steps[..1])?
    } else if run.most.is_none() {
        joined(&up_to(&others))?
    } else {
        return None;
    };
    let rest = joined(&up_to(&run.set))?;
    Some(Joined {
        node: Node::Alternatives(vec![within.node, rest.node]),
        runs: [within.runs, vec![run.set], rest.runs].concat(),
    })
}

/// An expression that cuts out all characters of a set.
struct Run {
    set: Ranges,
    /// How many neighbours are in a word.
    most: Option<usize>,
}

fn run(node: &Node) -> Option<Run> {
    match node {
        Node::Set(set) => Some(Run {
            set: set.clone(),
            most: Some(1),
        }),
        Node::Sequence(parts) | Node::Alternatives(parts) if parts.len() == 1 => run(&parts[0]),
        Node::Repeat {
            child,
            least: 1,
            most,
            greedy: true,
        } => {
            let one = run(child)?;
            (one.most == Some(1)).then_some(Run { most: *most, ..one })
        }
        _ => None,
    }
}

/// Whether an expression cuts no text of characters of a set.
fn leaves_whole(node: &Node, set: &Ranges) -> bool {
    let Some(automaton) = Automaton::new(node) else {
        return false;
    };
    let mut reached = vec![automaton.start()];
    let mut is_new = vec![true; automaton.num_states()];
    let (mut may_match, mut may_fail) = (false, false);
    while let Some(state) = reached.pop() {
        for symbol in automaton.symbols_of(set) {
            let step = automaton.step(state, symbol);
            let matches_all = automaton.step_at_end(step.state).matches;
            may_match |= step.matches || matches_all;
            may_fail |= !matches_all;
            if step.state != DEAD && std::mem::replace(&mut is_new[step.state], false) {
                reached.push(step.state);
            }
        }
    }
    !may_match || !may_fail
}
