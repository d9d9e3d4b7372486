//! A trie: finds the longest token that a text begins with.

use memchr::memchr;

use crate::keys::first_bytes;
use crate::pages::in_large_pages;
use crate::vocabulary::Number;

const NONE: u32 = u32::MAX;

/// A tree of strings. The children of a node have successive numbers, and the nodes below a node
/// follow it closely, so that the path of a rare string lies in little memory.
#[derive(Debug)]
pub(crate) struct Trie {
    /// The children of the root, by their bytes.
    first: Box<[u32; 256]>,
    nodes: Vec<Node>,
    /// The byte that leads to each node.
    labels: Vec<u8>,
}

/// What tokens that begin with a string go on with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Node {
    /// The first child in the low bits; above them, the number of further ones. 0: no child.
    children: u32,
    /// The token whose string ends here.
    token: Number,
}

impl Node {
    /// The token that is this string, or `Number::NONE`.
    pub(crate) fn token(self) -> Number {
        self.token
    }
}

const CHILD_BITS: u32 = 24;

impl Trie {
    /// None if there are too many nodes. No two strings are equal. `shorter` is called with each token and the longest other
    /// one that it begins with, or `Number::NONE`.
    pub(crate) fn new<'s>(
        strings: impl IntoIterator<Item = (&'s [u8], Number)>,
        mut shorter: impl FnMut(Number, Number),
    ) -> Option<Self> {
        let strings = strings.into_iter();
        let mut strings: Vec<_> = strings.map(|(s, n)| (first_bytes(s), s, n)).collect();
        strings.sort_unstable();
        let mut trie = Self {
            first: Box::new([NONE; 256]),
            nodes: Vec::new(),
            labels: Vec::new(),
        };
        // Groups of strings that share their first `depth` bytes, the node of these bytes, and the
        // longest token before it; the first group is on top.
        let mut tasks = vec![(0, strings.as_slice(), None, Number::NONE)];
        while let Some((depth, mut group, node, mut longest)) = tasks.pop() {
            if let (Some(node), [(_, string, token), rest @ ..]) = (node, group)
                && string.len() == depth
            {
                let node: &mut Node = &mut trie.nodes[node];
                node.token = *token;
                shorter(*token, longest);
                longest = *token;
                group = rest;
            }
            let start = trie.nodes.len();
            let first_task = tasks.len();
            for branch in group.chunk_by(|a, b| a.1[depth] == b.1[depth]) {
                tasks.push((depth + 1, branch, Some(trie.nodes.len()), longest));
                trie.add_node(branch[0].1[depth], node.is_none());
            }
            tasks[first_task..].reverse();
            if trie.nodes.len() >> CHILD_BITS > 0 {
                return None;
            }
            if let (Some(node), Some(more)) = (node, (trie.nodes.len() - start).checked_sub(1)) {
                trie.nodes[node].children = start as u32 | (more as u32) << CHILD_BITS;
            }
        }
        trie.nodes = in_large_pages(&trie.nodes);
        Some(trie)
    }

    fn add_node(&mut self, label: u8, is_first: bool) {
        if is_first {
            self.first[usize::from(label)] = self.nodes.len() as u32;
        }
        self.labels.push(label);
        self.nodes.push(Node {
            children: 0,
            token: Number::NONE,
        });
    }

    /// The longest token that `text` begins with, or `Number::NONE`.
    #[inline]
    pub(crate) fn longest(&self, text: &[u8]) -> Number {
        let Some((&first, rest)) = text.split_first() else {
            return Number::NONE;
        };
        let Some(mut node) = self.first(first) else {
            return Number::NONE;
        };
        let mut longest = node.token;
        for &byte in rest {
            let Some(child) = self.child(node, byte) else {
                break;
            };
            node = child;
            if node.token != Number::NONE {
                longest = node.token;
            }
        }
        longest
    }

    /// The node of one byte, if some token begins with it.
    #[inline]
    pub(crate) fn first(&self, byte: u8) -> Option<Node> {
        let node = self.nodes.get(self.first[usize::from(byte)] as usize);
        node.copied()
    }

    /// The node of a string that a byte follows, if some token begins with it.
    #[inline]
    pub(crate) fn child(&self, node: Node, byte: u8) -> Option<Node> {
        if node.children == 0 {
            return None;
        }
        let start = node.children as usize % (1 << CHILD_BITS);
        let more = node.children as usize >> CHILD_BITS;
        // Most nodes have one child, and runs of one character can be long.
        if self.labels[start] == byte {
            return Some(self.nodes[start]);
        }
        if more == 0 {
            return None;
        }
        let other = memchr(byte, &self.labels[start..=start + more])?;
        Some(self.nodes[start + other])
    }
}
