//! Documents as tasks for several threads: a long one in pieces, many short ones as a group.

/// The bytes of a group, at least and at most: what is made of it should fit the cache.
const LEAST_BYTES: usize = 1 << 14;
const MOST_BYTES: usize = 1 << 18;
/// How many groups there are for each thread, if there is text enough: at the end some threads wait
/// for the last group of another.
const GROUPS_OF_THREAD: usize = 32;

/// How many bytes a group has at most, if several threads share so many; None if they are not worth a
/// second thread.
pub(crate) fn group_bytes(num_bytes: usize, num_threads: usize) -> Option<usize> {
    let bytes = num_bytes / (num_threads * GROUPS_OF_THREAD);
    (num_threads > 1 && num_bytes > LEAST_BYTES).then(|| bytes.clamp(LEAST_BYTES, MOST_BYTES))
}

/// A document, or a part of one that is worked on by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Piece<'t> {
    pub(crate) document: usize,
    /// Where in the document it begins.
    pub(crate) start: usize,
    pub(crate) text: &'t [u8],
    /// Whether the document ends with it.
    pub(crate) is_last: bool,
}

/// Documents, and parts of those that are longer than `most_bytes` and can be cut: `last_cut` is the
/// last place where a beginning of a document can be.
pub(crate) fn pieces<'t>(
    documents: &[&'t [u8]],
    most_bytes: usize,
    last_cut: impl Fn(&[u8]) -> Option<usize>,
) -> Vec<Piece<'t>> {
    let mut pieces = Vec::with_capacity(documents.len());
    for (document, &text) in documents.iter().enumerate() {
        let mut start = 0;
        while let Some(part) = text[start..].get(..most_bytes)
            && let Some(cut) = last_cut(part)
        {
            pieces.push(Piece {
                document,
                start,
                text: &part[..cut],
                is_last: false,
            });
            start += cut;
        }
        pieces.push(Piece {
            document,
            start,
            text: &text[start..],
            is_last: true,
        });
    }
    pieces
}

/// Pieces in groups of at most `num_bytes`, or of one piece.
pub(crate) fn in_groups<'p, 't>(pieces: &'p [Piece<'t>], num_bytes: usize) -> Vec<&'p [Piece<'t>]> {
    let mut groups = Vec::new();
    let (mut start, mut size) = (0, 0);
    for (index, piece) in pieces.iter().enumerate() {
        if index > start && size + piece.text.len() > num_bytes {
            groups.push(&pieces[start..index]);
            (start, size) = (index, 0);
        }
        size += piece.text.len();
    }
    if start < pieces.len() {
        groups.push(&pieces[start..]);
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Behind the last space.
    fn last_cut(text: &[u8]) -> Option<usize> {
        text.iter().rposition(|&byte| byte == b' ').map(|at| at + 1)
    }

    #[test]
    fn pieces_are_the_documents_again() {
        let documents: [&[u8]; 5] = [
            b"a bc def ghij",
            b"",
            b"long-without-a-cut",
            b"a b c d",
            b"z",
        ];
        for most_bytes in [1, 3, 5, 100, usize::MAX] {
            let pieces = pieces(&documents, most_bytes, last_cut);
            for (index, document) in documents.iter().enumerate() {
                let own: Vec<_> = pieces.iter().filter(|p| p.document == index).collect();
                let mut start = 0;
                for piece in &own {
                    assert_eq!(piece.start, start);
                    assert_eq!(document[start..][..piece.text.len()], *piece.text);
                    start += piece.text.len();
                    assert_eq!(
                        piece.is_last,
                        start == document.len() && *piece == own[own.len() - 1]
                    );
                    assert!(piece.is_last || piece.text.len() <= most_bytes);
                }
                assert_eq!(start, document.len());
            }
            for num_bytes in [0, 4, 1000] {
                let groups = in_groups(&pieces, num_bytes);
                assert_eq!(groups.concat(), pieces);
                let sizes: Vec<usize> = groups
                    .iter()
                    .map(|group| group.iter().map(|piece| piece.text.len()).sum())
                    .collect();
                for (index, group) in groups.iter().enumerate() {
                    assert!(group.len() == 1 || sizes[index] <= num_bytes);
                    let next = groups
                        .get(index + 1)
                        .map_or(usize::MAX, |next| next[0].text.len());
                    assert!(
                        sizes[index].saturating_add(next) > num_bytes,
                        "it did not fit"
                    );
                }
            }
        }
        assert!(in_groups(&[], 1).is_empty());
    }

    #[test]
    fn little_text_is_for_one_thread() {
        assert_eq!(group_bytes(LEAST_BYTES, 16), None);
        assert_eq!(group_bytes(1 << 30, 1), None);
        assert_eq!(group_bytes(LEAST_BYTES + 1, 2), Some(LEAST_BYTES));
        assert_eq!(group_bytes(1 << 40, 16), Some(MOST_BYTES));
        assert_eq!(group_bytes(1 << 25, 16), Some(1 << 16));
    }
}
