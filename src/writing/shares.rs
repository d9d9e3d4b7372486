//! Shards that have equal shares of the bytes of all inputs.
//!
//! The *position* of a document is where it ends in the inputs, one after the other, if all documents
//! of its block are equally long. A shard ends with the first document whose position is where its
//! share ends, or behind that. This depends on no other shard, so that each can be made alone, wherever
//! reading begins before it. A share without such a document is a shard without documents.

use std::ops::Range;

/// Which shards there are, and which of them are made here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shares {
    /// How many shards.
    pub num_shards: u64,
    /// The bytes of all inputs.
    pub num_bytes: u64,
    /// The shards that are made; others are made elsewhere.
    pub made: Range<u64>,
}

/// Where a block is in the inputs, and how many documents it has.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Extent {
    /// The bytes of files before it.
    pub(super) position: u64,
    /// The bytes of files that were read for it.
    pub(super) num_read: u64,
    /// Its documents, or parts of documents.
    pub(super) num_documents: u64,
    /// Those of them that end in it.
    pub(super) num_ended: u64,
}

impl Shares {
    /// Where the share of a shard begins.
    fn start(&self, number: u64) -> u64 {
        let start = u128::from(self.num_bytes) * u128::from(number);
        start.div_ceil(u128::from(self.num_shards)) as u64
    }

    /// How many documents of a block have positions before the share of a shard.
    fn num_before(&self, number: u64, extent: &Extent) -> u64 {
        let missing = self.start(number).saturating_sub(extent.position);
        match (missing, extent.num_read) {
            (0, _) => 0,
            (_, 0) => extent.num_documents,
            (missing, num_read) => {
                let before = u128::from(missing) * u128::from(extent.num_documents);
                let before = before.div_ceil(u128::from(num_read)) as u64;
                before.saturating_sub(1).min(extent.num_documents)
            }
        }
    }

    /// The document of a block with which the shard behind `number` begins, if `number` ends in the
    /// block. The last shard ends with the inputs.
    pub(super) fn end(&self, number: u64, extent: &Extent) -> Option<u64> {
        let before = self.num_before(number + 1, extent);
        (number + 1 < self.num_shards && before < extent.num_ended).then_some(before + 1)
    }

    /// How many documents of a block are before all shards that are made, whatever ends in it.
    pub(super) fn num_skipped(&self, extent: &Extent) -> u64 {
        self.num_before(self.made.start, extent)
    }

    /// Whether a block ends before all shards that are made.
    pub(super) fn is_before(&self, extent: &Extent) -> bool {
        extent.position + extent.num_read < self.start(self.made.start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blocks of any sizes: some read nothing, some have no documents, some end within one.
    const BLOCKS: [(u64, u64, u64); 9] = [
        (10, 3, 3),
        (0, 2, 2),
        (7, 0, 0),
        (20, 1, 0),
        (5, 1, 0),
        (9, 4, 3),
        (0, 1, 1),
        (40, 7, 7),
        (9, 0, 0),
    ];

    fn extents() -> Vec<Extent> {
        let mut position = 0;
        let extent = |(num_read, num_documents, num_ended)| {
            position += num_read;
            Extent {
                position: position - num_read,
                num_read,
                num_documents,
                num_ended,
            }
        };
        BLOCKS.map(extent).to_vec()
    }

    /// The block, and the document of it, with which each shard but the first begins, one document
    /// after the other.
    fn expected(num_shards: u64) -> Vec<Option<(usize, u64)>> {
        let positions = |(block, extent): (usize, Extent)| {
            (0..extent.num_ended).map(move |document| {
                let within = extent.num_read * (document + 1) / extent.num_documents;
                (block, document + 1, extent.position + within)
            })
        };
        let found: Vec<_> = extents()
            .into_iter()
            .enumerate()
            .flat_map(positions)
            .collect();
        let begin = |number| {
            let is_end = |&&(_, _, position): &&(_, _, u64)| position * num_shards >= number * 100;
            let end = found.iter().find(is_end);
            end.map(|&(block, document, _)| (block, document))
        };
        (1..num_shards).map(begin).collect()
    }

    #[test]
    fn a_shard_ends_where_its_share_does() {
        for num_shards in 1..250 {
            let made = 0..num_shards;
            let num_bytes = 100;
            let shares = Shares {
                num_shards,
                num_bytes,
                made,
            };
            let found = |number| {
                let ends = extents().into_iter().enumerate();
                let mut ends =
                    ends.filter_map(|(block, extent)| Some((block, shares.end(number, &extent)?)));
                ends.next()
            };
            let found: Vec<_> = (0..num_shards - 1).map(found).collect();
            assert_eq!(found, expected(num_shards), "{num_shards} shards");
            assert!(
                extents()
                    .iter()
                    .all(|extent| shares.end(num_shards - 1, extent).is_none())
            );
        }
    }

    #[test]
    fn what_is_skipped_is_before_the_shard() {
        for num_shards in [1, 2, 3, 7, 50, 249] {
            for (block, extent) in extents().into_iter().enumerate() {
                for number in 0..num_shards {
                    let shares = Shares {
                        num_shards,
                        num_bytes: 100,
                        made: number..number + 1,
                    };
                    let first = match number {
                        0 => (0, 0),
                        _ => expected(num_shards)[number as usize - 1].unwrap_or((BLOCKS.len(), 0)),
                    };
                    assert!((block, shares.num_skipped(&extent)) <= first.max((block, 0)));
                    assert!(!shares.is_before(&extent) || block < first.0);
                }
            }
        }
    }
}
