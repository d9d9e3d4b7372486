//! Prices, and what they prove about merges: what `bound` and `exact` share.
//!
//! Give every symbol of a word a price of at most 1, and every span of symbols that could become a
//! token too. The loss of a span is what its dearest two parts cost more than it does, 0 if they
//! do not; the loss of a string is the largest sum of losses over disjoint spans of that string,
//! each times the count of its word. Climbing a tree of merges, the prices of its leaves sum to at
//! most 1 plus the losses of its inner nodes, so that M merges save at most
//!
//! ```text
//! sum of (1 - price) over the symbols  +  the M largest losses of strings
//! ```
//!
//! Only strings that occur more than `floor` times have prices. Deleting the others from the trees
//! adds at most `floor` tokens each, so that each merge counts as `floor` at least.
//!
//! Whatever the prices, the bound holds (docs/theory/certificates.md). It is made of linear functions
//! of the prices by sums and maxima, hence convex, and gradient descent finds good prices. Its
//! corners (a loss begins at 0, only the largest losses count, only the dearest parts of a span) are
//! smoothed over a width that shrinks as the descent goes on. Prices are found in floating point and are only
//! a proposal: the bound is computed in integers.
//!
//! The verifier of certificates, `bound::verify`, uses nothing of this.

// Losses and counts become floating-point numbers where only the search for prices depends on them.
#![allow(clippy::cast_precision_loss)]

mod descent;
mod disjoint;
mod shares;
mod smooth;
mod units;

pub(crate) use descent::{Adam, Prices};
pub(crate) use disjoint::heaviest_disjoint;
pub(crate) use shares::{CERTAIN, NEVER, Part, Shares, SpanShares, StringIndex, share_out};
pub(crate) use smooth::{ramp, smooth_plus};
pub(crate) use units::{largest_losses, round_price, whole_tokens};
