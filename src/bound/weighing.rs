//! What a batch is weighed for, and how its prices move then.

use super::batch::Batch;
use super::instance::Instance;
use super::step::{self, Scratch, Step};
use super::{active, long};

/// In so many steps one looks at all splits; the others go through the lists of [`active`].
const STEPS_OF_LISTS: usize = 10;

/// Working memory.
pub(super) type Memory = (Vec<f64>, Scratch);

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
    (sums, scratch): &mut Memory,
) {
    let most = instance.against.most_lost();
    long::weigh(batch, instance.against, width, sums);
    match what {
        Weighed::Strings => step::weigh(batch, width, most, None, scratch),
        Weighed::Splits => step::weigh(batch, width, most, Some(&instance.splits), scratch),
        Weighed::Active(_) => active::weigh(batch, width, most, scratch),
    }
}

/// Move the prices of a batch, given which splits matter.
pub(super) fn descend(
    batch: &mut Batch,
    weighed: Weighed,
    step: &Step,
    is_active: &[bool],
    (sums, scratch): &mut Memory,
) {
    long::press(batch, step.shares, sums);
    match (weighed, step.splits) {
        (Weighed::Active(_), Some(splits)) => active::descend(batch, step, splits, scratch),
        (_, None) => step::descend(batch, step, scratch),
        (_, Some(splits)) => {
            step::descend(batch, step, scratch);
            active::renew(batch, splits.begins, is_active);
        }
    }
}
