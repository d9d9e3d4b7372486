//! What a batch is weighed for, and how its prices move then.

use super::batch::Batch;
use super::instance::Instance;
use super::sections::Section;
use super::split_prices::SplitShares;
use super::step::{self, Scratch, Step};
use super::{active, long};
use crate::prices::SpanShares;

/// In so many steps one looks at all splits; the others go through the lists of [`active`].
const STEPS_OF_LISTS: usize = 10;

/// Working memory.
#[derive(Debug, Default)]
pub(super) struct Memory {
    sums: Vec<f64>,
    scratch: Scratch,
    own: Own,
    /// Which splits of a section matter.
    is_active: Vec<bool>,
}

/// How much the strings of a section count, and their splits.
#[derive(Debug, Default)]
struct Own {
    strings: Vec<f32>,
    splits: Vec<f32>,
}

impl Own {
    /// The step by the numbers of a section.
    fn step<'a>(&'a mut self, section: &Section, begins: &[u32], step: &Step<'a>) -> Step<'a> {
        let Self { strings, splits } = self;
        section.look_up(step.shares.strings, strings);
        if let Some(all) = step.splits {
            section.look_up_splits(begins, all.splits, splits);
        }
        Step {
            shares: SpanShares {
                strings,
                ..step.shares
            },
            splits: step.splits.map(|all| SplitShares { splits, ..all }),
            ..*step
        }
    }
}

/// What batches were weighed for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Weighed {
    Strings,
    Splits,
    /// The splits that matter alone, the so many-th time since it was found which do.
    Active(usize),
}

impl Weighed {
    /// Everything, with or without splits.
    pub(super) fn all(by_split: bool) -> Self {
        if by_split {
            Self::Splits
        } else {
            Self::Strings
        }
    }

    pub(super) fn by_split(self) -> bool {
        self != Self::Strings
    }

    /// What the batches are to be weighed for after a step for which they were weighed for this.
    pub(super) fn next(self) -> Self {
        match self {
            Self::Strings => Self::Strings,
            Self::Splits => Self::Active(1),
            Self::Active(times) if times + 1 < STEPS_OF_LISTS => Self::Active(times + 1),
            Self::Active(_) => Self::Splits,
        }
    }
}

/// Sum up the losses in a batch.
pub(super) fn weigh(
    batch: &mut Batch,
    what: Weighed,
    instance: &Instance,
    width: f32,
    Memory { sums, scratch, .. }: &mut Memory,
) {
    let most = instance.against.most_lost();
    long::weigh(batch, instance.against, width, sums);
    match what {
        Weighed::Strings => step::weigh(batch, width, most, false, scratch),
        Weighed::Splits => step::weigh(batch, width, most, true, scratch),
        Weighed::Active(_) => active::weigh(batch, width, most, scratch),
    }
}

/// Move the prices of a batch, given which splits of the instance matter.
pub(super) fn descend(
    batch: &mut Batch,
    weighed: Weighed,
    instance: &Instance,
    step: &Step,
    is_active: &[bool],
    memory: &mut Memory,
) {
    let section = batch.section;
    let begins = &instance.splits;
    let step = &memory.own.step(section, begins, step);
    let (sums, scratch) = (&mut memory.sums, &mut memory.scratch);
    long::press(batch, step.shares, sums);
    match (weighed, step.splits) {
        (Weighed::Active(_), Some(shares)) => active::descend(batch, step, shares, scratch),
        (_, None) => step::descend(batch, step, scratch),
        (_, Some(_)) => {
            step::descend(batch, step, scratch);
            section.look_up_splits(begins, is_active, &mut memory.is_active);
            active::renew(batch, &memory.is_active);
        }
    }
}
