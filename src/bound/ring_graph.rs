//! Short odd rings in a graph, some edges of which are odd.
//!
//! A way is odd if it has an odd number of odd edges. The shortest odd way from a node back to it is a
//! shortest way in a graph that has every node twice, once for even ways and once for odd ones.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashSet;

use crate::error::Result;
use crate::parallel::Team;

/// How much longer an edge gets with each ring that it is in: so rings differ.
const USED: u32 = 100;

/// How many nodes are looked at before the edges of their rings get longer, and how many by one thread.
const NODES_OF_A_BLOCK: usize = 256;
const NODES_OF_A_PART: usize = 16;

/// A graph whose nodes and edges are numbered from 0.
struct Graph {
    /// Where the edges of each node begin, and where the last end.
    begins: Vec<usize>,
    edges: Vec<Edge>,
}

/// An edge, as it leaves a node.
#[derive(Clone, Copy)]
struct Edge {
    to: u32,
    number: u32,
    is_odd: bool,
}

/// An odd ring: its nodes in their order, each with the number of the edge to the next.
pub(super) type OddRing = Vec<(u32, u32)>;

/// Odd rings that are shorter than `most`, at most one from each node. The edges are given by their nodes,
/// and by whether they are odd, with their lengths.
pub(super) fn odd_rings(
    num_nodes: usize,
    edges: &[([u32; 2], bool)],
    mut lengths: Vec<u32>,
    most: u32,
    team: &Team,
) -> Result<Vec<OddRing>> {
    let graph = Graph::new(num_nodes, edges);
    let mut known: FxHashSet<Vec<u32>> = FxHashSet::default();
    let mut rings = Vec::new();
    // The nodes of a block do not see each other's rings, however many threads there are.
    for first in (0..num_nodes).step_by(NODES_OF_A_BLOCK) {
        let roots = first..num_nodes.min(first + NODES_OF_A_BLOCK);
        let parts = team.map(roots.len().div_ceil(NODES_OF_A_PART), |part| {
            let start = roots.start + part * NODES_OF_A_PART;
            let mut ways = Ways::new(num_nodes);
            let of_root = |root| ways.shortest_ring(&graph, &lengths, root as u32, most);
            let found = (start..roots.end.min(start + NODES_OF_A_PART)).filter_map(of_root);
            Ok(found.collect::<Vec<OddRing>>())
        })?;
        for ring in parts.into_iter().flatten() {
            let mut edges: Vec<u32> = ring.iter().map(|&(_, edge)| edge).collect();
            for &edge in &edges {
                lengths[edge as usize] += USED;
            }
            edges.sort_unstable();
            if known.insert(edges) {
                rings.push(ring);
            }
        }
    }
    Ok(rings)
}

impl Graph {
    fn new(num_nodes: usize, edges: &[([u32; 2], bool)]) -> Self {
        let mut of_nodes: Vec<Vec<Edge>> = vec![Vec::new(); num_nodes];
        for (number, &([one, other], is_odd)) in (0..).zip(edges) {
            for (from, to) in [(one, other), (other, one)] {
                of_nodes[from as usize].push(Edge { to, number, is_odd });
            }
        }
        let mut begins = vec![0];
        let mut all = Vec::with_capacity(2 * edges.len());
        for edges in of_nodes {
            all.extend(edges);
            begins.push(all.len());
        }
        Self { begins, edges: all }
    }

    fn edges(&self, node: u32) -> &[Edge] {
        let node = node as usize;
        &self.edges[self.begins[node]..self.begins[node + 1]]
    }
}

/// The shortest ways from a root: those to node n have the number 2n if they are even, else 2n + 1.
struct Ways {
    lengths: Vec<u32>,
    /// The way before the last edge, and that edge.
    before: Vec<(u32, u32)>,
    /// Those that have a length.
    reached: Vec<u32>,
    heap: BinaryHeap<Reverse<(u32, u32)>>,
}

impl Ways {
    fn new(num_nodes: usize) -> Self {
        Self {
            lengths: vec![u32::MAX; 2 * num_nodes],
            before: vec![(0, 0); 2 * num_nodes],
            reached: Vec::new(),
            heap: BinaryHeap::new(),
        }
    }

    /// The shortest odd way from a node back to it, if it is shorter than `most`: two ways from the root to
    /// the ends of an edge, and that edge. Neither need be longer than half of it.
    fn shortest_ring(
        &mut self,
        graph: &Graph,
        lengths: &[u32],
        root: u32,
        most: u32,
    ) -> Option<OddRing> {
        for way in self.reached.drain(..) {
            self.lengths[way as usize] = u32::MAX;
        }
        self.heap.clear();
        self.reach(2 * root, 0, (0, 0));
        // The shortest ring so far, with the ends of its edge.
        let (mut shortest, mut closed) = (most, None);
        while let Some(Reverse((length, way))) = self.heap.pop() {
            if 2 * length >= shortest {
                break;
            }
            if length > self.lengths[way as usize] {
                continue;
            }
            for edge in graph.edges(way / 2) {
                let over = length + lengths[edge.number as usize];
                // The way that makes it odd; going on along the edge is one of the other parity.
                let other = 2 * edge.to + ((way % 2) ^ u32::from(!edge.is_odd));
                let known = self.lengths[other as usize];
                if known < shortest && over + known < shortest {
                    (shortest, closed) = (over + known, Some((way, other, edge.number)));
                }
                let next = other ^ 1;
                if 2 * over < shortest && over < self.lengths[next as usize] {
                    self.reach(next, over, (way, edge.number));
                }
            }
        }
        let (way, other, edge) = closed?;
        let mut ring = self.back(way);
        let others = self.back(other);
        // Back to the root by one, then by the edges of the other away from it.
        let mut node = root;
        for &(next, edge) in others.iter().rev() {
            ring.push((node, edge));
            node = next;
        }
        ring.push((node, edge));
        Some(ring)
    }

    fn reach(&mut self, way: u32, length: u32, before: (u32, u32)) {
        self.lengths[way as usize] = length;
        self.before[way as usize] = before;
        self.reached.push(way);
        self.heap.push(Reverse((length, way)));
    }

    /// The nodes of a way, from its end to the root without that, each with the edge to the next.
    fn back(&self, mut way: u32) -> OddRing {
        let mut nodes = Vec::new();
        while self.lengths[way as usize] > 0 {
            let (before, edge) = self.before[way as usize];
            nodes.push((way / 2, edge));
            way = before;
        }
        nodes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parallel::with_team;

    fn rings_of(
        num_nodes: usize,
        edges: &[[u32; 2]],
        lengths: Vec<u32>,
        most: u32,
    ) -> Vec<Vec<u32>> {
        let edges: Vec<([u32; 2], bool)> = edges.iter().map(|&nodes| (nodes, true)).collect();
        let rings = with_team(1, |team| odd_rings(num_nodes, &edges, lengths, most, team));
        let rings = rings.expect("nothing stops it").into_iter();
        let nodes = |ring: OddRing| ring.into_iter().map(|(node, _)| node).collect();
        rings.map(nodes).collect()
    }

    #[test]
    fn edges_that_are_not_odd_do_not_count() {
        // Two edges from 0 to 1, and a triangle of which one edge is even.
        let edges = [
            ([0, 1], true),
            ([0, 1], false),
            ([2, 3], true),
            ([3, 4], true),
            ([2, 4], false),
        ];
        let rings = with_team(1, |team| odd_rings(5, &edges, vec![1; 5], 9, team));
        let rings = rings.expect("nothing stops it");
        assert_eq!(rings.len(), 1);
        let mut ring = rings[0].clone();
        ring.sort_unstable();
        assert!(ring == [(0, 0), (1, 1)] || ring == [(0, 1), (1, 0)]);
    }

    #[test]
    fn each_node_of_a_ring_has_the_edge_to_the_next() {
        let edges = [[0, 1], [1, 2], [2, 3], [3, 4], [4, 0]].map(|nodes| (nodes, true));
        let rings = with_team(1, |team| odd_rings(5, &edges, vec![1; 5], 9, team));
        for ring in rings.expect("nothing stops it") {
            let next = ring.iter().cycle().skip(1);
            for (&(node, edge), &(next, _)) in ring.iter().zip(next) {
                let (mut ends, mut expected) = (edges[edge as usize].0, [node, next]);
                ends.sort_unstable();
                expected.sort_unstable();
                assert_eq!(ends, expected);
            }
        }
    }

    #[test]
    fn rings_are_odd_and_short() {
        // A triangle with a square beside it: 0 1 2, and 2 3 4 5.
        let edges = [[0, 1], [1, 2], [0, 2], [2, 3], [3, 4], [4, 5], [2, 5]];
        let find = |lengths: [u32; 7], most| rings_of(6, &edges, lengths.to_vec(), most);
        let mut rings = find([1; 7], 4);
        assert_eq!(rings.len(), 1);
        rings[0].sort_unstable();
        assert_eq!(rings, [[0, 1, 2]]);
        // Ways that go to the triangle, around it and back, are rings too, but longer than that.
        assert!(find([1; 7], 3).is_empty());
        assert!(find([2; 7], 6).is_empty());
        // Without one side of the triangle there is no odd ring.
        assert!(rings_of(6, &edges[1..], vec![1; 6], 99).is_empty());
    }

    #[test]
    fn the_shorter_of_two_rings_is_found() {
        // Two ways from 0 to 1: by 2, or by 3, 4, 5.
        let edges = [[0, 1], [1, 2], [2, 0], [1, 3], [3, 4], [4, 5], [5, 0]];
        let mut lengths = vec![10; 7];
        assert_eq!(rings_of(1, &[], Vec::new(), 99), Vec::<Vec<u32>>::new());
        assert_eq!(rings_of(6, &edges, lengths.clone(), 99)[0].len(), 3);
        lengths[1] = 40;
        assert_eq!(rings_of(6, &edges, lengths, 99)[0].len(), 5);
    }
}
