//! Documents as tasks for several threads: a long one in pieces, many short ones as a group.

/// The bytes of a group, at least and at most: what is made of it should fit the cache.
const LEAST_BYTES: usize = 1 << 14;
const MOST_BYTES: usize = 1 << 18;
/// How many groups there are for each thread, if there is text enough: at the end some threads wait
/// for the last group of another.
const GROUPS_OF_THREAD: usize = 64;

/// How many bytes a group has at most, if several threads share so many; None if they are not worth a
/// second thread. A power of two, so that the same documents are in the same groups also where their bytes are
/// an estimate.
pub(crate) fn group_bytes(num_bytes: usize, num_threads: usize) -> Option<usize> {
    let bytes = num_bytes / (num_threads * GROUPS_OF_THREAD);
    (num_threads > 1 && num_bytes > LEAST_BYTES)
        .then(|| bytes.next_power_of_two().clamp(LEAST_BYTES, MOST_BYTES))
}

/// A document, or a part of one that is worked on by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Piece<'t> {
    pub(crate) document: usize,
    /// Where in the document it begins.
    pub(crate) start: usize,
    pub(crate) text: &'t [u8],
    /// The text of the document.
    pub(crate) whole: &'t [u8],
    /// Whether the document ends with it.
    pub(crate) is_last: bool,
}

/// Documents in groups of at most `most_bytes`, or of one piece: those that are longer and can be cut are in
/// pieces. `last_cut` is the last place where a beginning of a document can be.
pub(crate) fn groups<'t>(
    documents: impl IntoIterator<Item = &'t [u8]>,
    most_bytes: usize,
    last_cut: impl Fn(&[u8]) -> Option<usize> + Copy,
) -> impl Iterator<Item = Vec<Piece<'t>>> {
    let mut pieces = pieces(documents, most_bytes, last_cut).peekable();
    std::iter::from_fn(move || {
        let first = pieces.next()?;
        let mut num_bytes = first.text.len();
        let mut group = vec![first];
        while let Some(piece) =
            pieces.next_if(|piece| num_bytes.saturating_add(piece.text.len()) <= most_bytes)
        {
            num_bytes += piece.text.len();
            group.push(piece);
        }
        Some(group)
    })
}

fn pieces<'t>(
    documents: impl IntoIterator<Item = &'t [u8]>,
    most_bytes: usize,
    last_cut: impl Fn(&[u8]) -> Option<usize> + Copy,
) -> impl Iterator<Item = Piece<'t>> {
    let documents = documents.into_iter().enumerate();
    documents.flat_map(move |(document, text)| {
        let mut next_start = Some(0);
        std::iter::from_fn(move || {
            let start = next_start.take()?;
            let cut = text[start..].get(..most_bytes).and_then(last_cut);
            next_start = cut.map(|cut| start + cut);
            Some(Piece {
                document,
                start,
                text: &text[start..next_start.unwrap_or(text.len())],
                whole: text,
                is_last: cut.is_none(),
            })
        })
    })
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
            let pieces: Vec<_> = pieces(documents, most_bytes, last_cut).collect();
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
            let groups: Vec<_> = groups(documents, most_bytes, last_cut).collect();
            assert_eq!(groups.concat(), pieces);
            let sizes: Vec<usize> = groups
                .iter()
                .map(|group| group.iter().map(|piece| piece.text.len()).sum())
                .collect();
            for (index, group) in groups.iter().enumerate() {
                assert!(group.len() == 1 || sizes[index] <= most_bytes);
                let next = groups
                    .get(index + 1)
                    .map_or(usize::MAX, |next| next[0].text.len());
                assert!(
                    most_bytes == usize::MAX || sizes[index].saturating_add(next) > most_bytes,
                    "it did not fit"
                );
            }
        }
        assert!(groups([], 1, last_cut).next().is_none());
    }

    #[test]
    fn little_text_is_for_one_thread() {
        assert_eq!(group_bytes(LEAST_BYTES, 16), None);
        assert_eq!(group_bytes(1 << 30, 1), None);
        assert_eq!(group_bytes(LEAST_BYTES + 1, 2), Some(LEAST_BYTES));
        assert_eq!(group_bytes(1 << 40, 16), Some(MOST_BYTES));
        assert_eq!(group_bytes(1 << 25, 16), Some(1 << 15));
    }
}
