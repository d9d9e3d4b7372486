//! Proofs by cases: a merge list has a string, or it has not.
//!
//! A linear program may choose a string by half. Of a large corpus it chooses hundreds so, and to
//! divide by one gains nothing; of a small one a few frequent strings decide about the others, and
//! some cases, each with prices of its own, prove what whole numbers would. In each round the worst
//! quarter of the cases is divided. The result depends on the number of steps, not on the threads.

use std::time::Instant;

use super::against::Against;
use super::cases::Case;
use super::claim::Claim;
use super::decided::{Decided, MOST_TRIED};
use super::descent::{Descended, Start, descend_in};
use super::found::{DescentProgress, FoundPrices};
use super::instance::Instance;
use super::schedule::DescentOptions;
use super::verify::verify_cases;
use crate::error::{Error, Result};
use crate::merges::Id;
use crate::parallel;
use crate::prices::whole_tokens;
use crate::watch::Watch;

/// The number of steps of a case until a deadline.
pub(super) const STEPS_OF_A_CASE: usize = 800;
/// Until a deadline, cases are worth their time if spans have at most this number of cuts, and if there is
/// enough time for some divisions, with so many cuts in a second.
pub(super) const MOST_CUTS: usize = 1 << 16;
const WORTH_DIVIDING: usize = 8;
const CUTS_OF_A_SECOND: f64 = 5e7;
/// A string is tried with one of so many of the steps of a case.
const STEPS_OF_A_TRIAL: usize = 6;
/// In each round one case of so many is divided.
const DIVIDED_OF_ALL: usize = 4;

/// A case, or one that was divided.
enum Node {
    Case(Box<Leaf>),
    /// The string, and the nodes of the lists that have it and of those that lack it.
    Divided(usize, [usize; 2]),
}

struct Leaf {
    decided: Decided,
    descended: Descended,
}

/// Find good prices, beginning with those that some tokens suggest, a greedy list's for example.
/// Stops early, with the best so far, if the watch says so; [`Error::Interrupted`] before the first.
pub fn descend(
    instance: &Instance,
    tokens: &[Vec<Id>],
    options: &DescentOptions,
    watch: &Watch,
    progress: &DescentProgress,
) -> Result<FoundPrices> {
    let all = Decided::default();
    let Some(of_case) = options_of_a_case(instance, options) else {
        let options = DescentOptions {
            num_cases: 1,
            ..options.clone()
        };
        let start = Start::Tokens(tokens);
        return Ok(descend_in(instance, start, &all, &options, watch, progress)?.found);
    };
    let start = Start::Tokens(tokens);
    let first = descend_in(instance, start, &all, &of_case, watch, progress)?;
    let search = Search {
        instance,
        of_case: &DescentOptions {
            num_threads: 1,
            ..of_case.clone()
        },
        of_trial: &DescentOptions {
            num_threads: 1,
            num_steps: of_case
                .num_steps
                .map(|steps| steps.div_ceil(STEPS_OF_A_TRIAL)),
            ..of_case
        },
        watch,
    };
    let mut tree = Tree::new(all, first);
    while tree.num_cases() < options.num_cases && !watch.is_stopped() {
        let room = options.num_cases - tree.num_cases();
        let divided = match tree.divide(room, options.num_threads, &search) {
            Err(Error::Interrupted) => false,
            divided => divided?,
        };
        progress.set(tree.num_steps, whole_tokens(tree.total(), options.bits));
        if !divided {
            break;
        }
    }
    Ok(tree.finished(instance, options.bits))
}

/// How to search in each case; None if all lists are one.
fn options_of_a_case(instance: &Instance, options: &DescentOptions) -> Option<DescentOptions> {
    if options.num_cases <= 1 || instance.against == Against::Vocabularies {
        return None;
    }
    let mut of_case = options.clone();
    if let (None, Some(deadline)) = (options.num_steps, options.deadline) {
        let seconds = deadline.saturating_duration_since(Instant::now());
        let cuts = instance.num_cuts();
        let of_trials = 2 * MOST_TRIED * STEPS_OF_A_CASE / STEPS_OF_A_TRIAL;
        let steps = WORTH_DIVIDING * (2 * STEPS_OF_A_CASE + of_trials);
        let has_time = cuts as f64 * steps as f64 <= CUTS_OF_A_SECOND * seconds.as_secs_f64();
        if cuts > MOST_CUTS || !has_time {
            return None;
        }
        of_case.num_steps = Some(STEPS_OF_A_CASE);
    }
    Some(of_case)
}

/// The search in one case.
struct Search<'a> {
    instance: &'a Instance,
    of_case: &'a DescentOptions,
    of_trial: &'a DescentOptions,
    watch: &'a Watch,
}

impl Search<'_> {
    /// Search in a case that is a half of another, whose search ended at `before`.
    fn within(
        &self,
        decided: Decided,
        before: &Descended,
        options: &DescentOptions,
    ) -> Result<Leaf> {
        let (start, alone) = (Start::Prices(&before.prices), DescentProgress::default());
        let instance = self.instance;
        let mut descended = descend_in(instance, start, &decided, options, self.watch, &alone)?;
        // What held before the lists were divided holds still.
        let total = total_in(instance, &decided, &before.found, options.bits);
        if total < descended.found.total {
            descended.found.total = total;
            descended
                .found
                .discounts
                .clone_from(&before.found.discounts);
        }
        Ok(Leaf { decided, descended })
    }

    /// How much is gained if a case is divided by a string, judged by a few steps for each half.
    fn promise(&self, leaf: &Leaf, string: usize) -> Result<i128> {
        let mut promise = 1;
        for decided in leaf.decided.divided_by(string) {
            let half = self.within(decided, &leaf.descended, self.of_trial)?;
            let gained = leaf.total() - half.total();
            promise *= gained.saturating_add(1 << self.of_trial.bits >> 4);
        }
        Ok(promise)
    }
}

/// What the prices of more lists prove of some of them.
fn total_in(instance: &Instance, decided: &Decided, found: &FoundPrices, bits: u32) -> i128 {
    let spelt = |numbers: &[usize]| -> Vec<Vec<Id>> {
        let of_numbers = numbers
            .iter()
            .map(|&number| instance.symbols_of(number).to_vec());
        of_numbers.collect()
    };
    let case = Case {
        has: spelt(&decided.has),
        lacks: spelt(&decided.lacks),
    };
    let claim = Claim {
        against: instance.against,
        num_merges: instance.num_merges,
        floor: instance.floor,
        longest: instance.longest,
        counted: instance.counted(),
        bits,
    };
    let total = verify_cases(&instance.pieces, &claim, &[case], &found.discounts);
    total.unwrap_or(i128::MAX)
}

impl Leaf {
    fn total(&self) -> i128 {
        self.descended.found.total
    }
}

/// All cases.
struct Tree {
    /// The first is the root.
    nodes: Vec<Node>,
    /// The number of steps that were taken in all.
    num_steps: usize,
}

impl Tree {
    fn new(decided: Decided, descended: Descended) -> Self {
        Self {
            num_steps: descended.found.num_steps,
            nodes: vec![Node::Case(Box::new(Leaf { decided, descended }))],
        }
    }

    /// The cases, each with its node.
    fn cases(&self) -> impl Iterator<Item = (usize, &Leaf)> {
        let nodes = self.nodes.iter().enumerate();
        nodes.filter_map(|(index, node)| match node {
            Node::Case(leaf) => Some((index, &**leaf)),
            Node::Divided(..) => None,
        })
    }

    fn num_cases(&self) -> usize {
        self.cases().count()
    }

    /// What all cases prove.
    fn total(&self) -> i128 {
        let totals = self.cases().map(|(_, leaf)| leaf.total());
        totals.max().unwrap_or(0)
    }

    /// Divide the worst cases, at most `most`; false if the worst of all cannot be divided.
    fn divide(&mut self, most: usize, num_threads: usize, search: &Search) -> Result<bool> {
        let mut worst: Vec<(usize, &Leaf)> = self.cases().collect();
        worst.sort_by_key(|(index, leaf)| (std::cmp::Reverse(leaf.total()), *index));
        worst.truncate(worst.len().div_ceil(DIVIDED_OF_ALL).min(most));
        if worst
            .first()
            .is_none_or(|(_, leaf)| leaf.descended.open.is_empty())
        {
            return Ok(false);
        }
        let trials: Vec<(usize, &Leaf, usize)> = worst
            .into_iter()
            .flat_map(|(index, leaf)| leaf.descended.open.iter().map(move |&s| (index, leaf, s)))
            .collect();
        let promises = parallel::map(num_threads, trials.len(), |trial| {
            let (_, leaf, string) = trials[trial];
            search.promise(leaf, string)
        })?;
        // Of each case the most promising string.
        let mut best: Vec<(i128, (usize, &Leaf, usize))> = Vec::new();
        for (promise, trial) in promises.into_iter().zip(trials) {
            match best.last_mut() {
                Some(last) if last.1.0 == trial.0 => {
                    if promise > last.0 {
                        *last = (promise, trial);
                    }
                }
                _ => best.push((promise, trial)),
            }
        }
        let halves = parallel::map(num_threads, 2 * best.len(), |half| {
            let (_, (_, leaf, string)) = best[half / 2];
            let [with, without] = leaf.decided.divided_by(string);
            let decided = if half % 2 == 0 { with } else { without };
            search.within(decided, &leaf.descended, search.of_case)
        })?;
        let divided: Vec<(usize, usize)> =
            best.iter().map(|(_, trial)| (trial.0, trial.2)).collect();
        let mut halves = halves.into_iter();
        for &(index, string) in &divided {
            let first = self.nodes.len();
            self.nodes[index] = Node::Divided(string, [first, first + 1]);
            for leaf in halves.by_ref().take(2) {
                self.num_steps += leaf.descended.found.num_steps;
                self.nodes.push(Node::Case(Box::new(leaf)));
            }
        }
        Ok(!divided.is_empty())
    }

    /// The proof by all cases.
    fn finished(self, instance: &Instance, bits: u32) -> FoundPrices {
        let total = self.total();
        let mut all = FoundPrices {
            gain: whole_tokens(total, bits),
            total,
            num_steps: self.num_steps,
            ..FoundPrices::default()
        };
        let mut nodes: Vec<Option<Node>> = self.nodes.into_iter().map(Some).collect();
        // The next comes last.
        let mut to_come = vec![0];
        while let Some(index) = to_come.pop() {
            match nodes[index].take() {
                Some(Node::Case(leaf)) => {
                    all.tree.push(None);
                    let found = leaf.descended.found;
                    all.discounts.extend(found.discounts);
                    if all.chosen.is_empty() {
                        all.chosen = found.chosen;
                    }
                }
                Some(Node::Divided(string, [with, without])) => {
                    all.tree.push(Some(instance.symbols_of(string).to_vec()));
                    to_come.extend([without, with]);
                }
                None => {}
            }
        }
        all
    }
}
