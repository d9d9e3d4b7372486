//! Lists of what matters of a batch for some steps.

use super::chains::Place;

/// A cut of a span.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cut {
    /// Where the prices of the span and of its parts are.
    pub(super) span: u32,
    pub(super) left: u32,
    pub(super) right: u32,
    /// By its number in the section.
    pub(super) split: u32,
    /// How often its piece occurs.
    pub(super) weight: f32,
}

/// A cut that pulls prices: what its parts cost more than the span.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Dear {
    /// Its place among the cuts.
    pub(super) cut: u32,
    pub(super) excess: f32,
}

/// What matters of a batch.
#[derive(Debug, Default)]
pub(super) struct Lists {
    /// The cuts, those of a span one after the other.
    pub(super) cuts: Vec<Cut>,
    pub(super) dear: Vec<Dear>,
    pub(super) places: Vec<Place>,
    /// What pulls each price whatever strings count: 1 for symbols, 0 for spans.
    pub(super) pulls: Vec<f32>,
}
