//! A graph as bytes, and back: what a snapshot of a solve holds.
//!
//! Layout, little-endian: a version, the width of keys and the number of thresholds; how many nodes
//! and edges there are; the counters; then each node (key, player, depth, number of children, one
//! effort pair for each threshold), the root first; then the edges of each node in the same order
//! (the number of the child). Leases are not kept, and the numbers of leased nodes are
//! their own, not virtual ones: so the numbers above are computed anew when a graph is restored.

use jlpns_games::{Game, Move, Player};

use crate::effort::{Effort, EffortPair};
use crate::efforts::Width;
use crate::graph::nodes::MAX_NODES;
use crate::graph::update::Pairs;
use crate::graph::{Graph, GraphSettings, NodeId, Shed};
use crate::job::Question;

/// The version of the layout.
const VERSION: u32 = 2;

/// How many nodes ahead their memory is loaded, in each of two steps: enough to wait for it while
/// those before them are worked on.
const AHEAD: usize = 16;

/// Why bytes are no graph of this game and question.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DumpError {
    /// Another layout.
    #[error("the snapshot has layout version {0}; this release reads version {VERSION}")]
    Version(u32),
    /// Not as long as it says that it is.
    #[error("the snapshot ends before its last node")]
    TooShort,
    /// Of another game or another question.
    #[error("the snapshot is of another {0}")]
    Other(&'static str),
    /// Something that no graph has.
    #[error("the snapshot has {0}, which no graph has")]
    Unsound(&'static str),
}

impl<G: Game, W: Width> Graph<G, W> {
    /// Appends the graph to `out`.
    pub fn dump(&self, out: &mut Vec<u8>) {
        let edges: usize = self.nodes.ids().map(|id| self.nodes.children(id).len()).sum();
        let node_bytes = size_of::<G::Key>() + 5 + 8 * self.evaluation.width();
        out.reserve(64 + self.live() * node_bytes + edges * 4);
        out.extend(VERSION.to_le_bytes());
        out.extend((size_of::<G::Key>() as u16).to_le_bytes());
        out.extend((self.evaluation.width() as u16).to_le_bytes());
        for count in [self.live() as u64, edges as u64, self.created, self.expansions] {
            out.extend(count.to_le_bytes());
        }
        out.extend(self.shed.times.to_le_bytes());
        out.extend(self.shed.nodes.to_le_bytes());
        let mut numbers = vec![0u32; self.nodes.places()];
        for (number, id) in (0..).zip(self.nodes.ids()) {
            numbers[id.0 as usize] = number;
            let key: u128 = self.nodes.key(id).into();
            out.extend(&key.to_le_bytes()[..size_of::<G::Key>()]);
            out.push(u8::from(self.nodes.player(id) == Player::Max));
            out.extend(self.nodes.node(id).depth.to_le_bytes());
            out.extend((self.nodes.children(id).len() as u16).to_le_bytes());
            for pair in self.actual_efforts(id) {
                out.extend(pair.proof.to_bits().to_le_bytes());
                out.extend(pair.disproof.to_bits().to_le_bytes());
            }
        }
        for id in self.nodes.ids() {
            for child in self.nodes.children(id) {
                out.extend(numbers[child.0 as usize].to_le_bytes());
            }
        }
    }

    /// The graph that was dumped as `bytes`, with nothing leased. The other arguments are those of
    /// [`Graph::new`]; the question must have as many thresholds as it had then.
    pub fn restore(
        game: G,
        position: G::Position,
        question: Question,
        width: W,
        settings: GraphSettings,
        bytes: &[u8],
    ) -> Result<Graph<G, W>, DumpError> {
        let mut reader = Reader(bytes);
        match reader.u32()? {
            VERSION => {}
            other => return Err(DumpError::Version(other)),
        }
        if usize::from(reader.u16()?) != size_of::<G::Key>() {
            return Err(DumpError::Other("game"));
        }
        if usize::from(reader.u16()?) != width.get() {
            return Err(DumpError::Other("question"));
        }
        let (nodes, edges) = (reader.u64()?, reader.u64()?);
        let (created, expansions) = (reader.u64()?, reader.u64()?);
        let shed = Shed { times: reader.u64()?, nodes: reader.u64()? };
        let node_bytes = (size_of::<G::Key>() + 5 + 8 * width.get()) as u64;
        let wanted = nodes.checked_mul(node_bytes).zip(edges.checked_mul(4));
        let wanted = wanted.and_then(|(nodes, edges)| nodes.checked_add(edges));
        if wanted != Some(reader.0.len() as u64) || nodes >= MAX_NODES as u64 {
            return Err(DumpError::TooShort);
        }
        let mut graph = Graph::new(game, position, question, width, settings);
        graph.nodes.reserve(nodes as usize, edges as usize);
        let mut children = Vec::with_capacity(nodes as usize);
        for number in 0..nodes as u32 {
            let key = reader.key::<G::Key>()?;
            let player = if reader.u8()? == 1 { Player::Max } else { Player::Min };
            let (depth, count) = (reader.u16()?, reader.u16()?);
            let id = if number == 0 {
                if key != graph.nodes.key(graph.root) {
                    return Err(DumpError::Other("position"));
                }
                graph.root
            } else {
                graph.nodes.add(key, player, depth)
            };
            for pair in graph.nodes.pairs_mut(id) {
                *pair = EffortPair {
                    proof: Effort::from_bits(reader.u32()?),
                    disproof: Effort::from_bits(reader.u32()?),
                };
                if !pair.is_consistent() {
                    return Err(DumpError::Unsound("contradicting effort numbers"));
                }
            }
            children.push(count);
        }
        let mut links: Vec<NodeId> = Vec::new();
        let places = graph.nodes.places() as u32;
        for (parent, count) in (0..nodes as u32).map(NodeId).zip(children) {
            links.clear();
            for _ in 0..count {
                let child = NodeId(reader.u32()?);
                // Where one reads next but for a few, and what the first look has loaded by then.
                if let Some(later) = reader.u32_ahead(2 * AHEAD).filter(|&later| later < places) {
                    graph.nodes.load_node(NodeId(later));
                }
                if let Some(soon) = reader.u32_ahead(AHEAD).filter(|&soon| soon < places) {
                    graph.nodes.load_parent_list(NodeId(soon));
                }
                if !graph.nodes.is_live(child) || child == graph.root || child == parent {
                    return Err(DumpError::Unsound("an edge to nowhere"));
                }
                links.push(child);
            }
            if !links.is_empty() {
                graph.nodes.link(parent, &links);
            }
        }
        (graph.created, graph.expansions, graph.shed) = (created, expansions, shed);
        // Some nodes may have been about to be freed.
        graph.nodes.orphan_all_but(graph.root);
        graph.update_everything();
        graph.tidy_up();
        Ok(graph)
    }

    /// The node at the end of `moves` from the root, if there is one. `position` is the root's
    /// position, and the moves must be legal.
    pub fn locate(&self, position: &G::Position, moves: &[Move]) -> Option<NodeId> {
        let mut position = position.clone();
        if !self.settings.merge {
            let step = |node: NodeId, mv: &Move| {
                let index = self.expansion(node, &position).iter().position(|other| other == mv)?;
                self.game.play(&mut position, *mv);
                self.nodes.children(node).nth(index)
            };
            return moves.iter().try_fold(self.root, step);
        }
        moves.iter().for_each(|&mv| self.game.play(&mut position, mv));
        self.nodes.find(self.game.key(&position))
    }

    /// Computes the numbers of all nodes that have children anew, deepest first. So nobody need be
    /// told what changes, but parents that are no higher than their child: on another way to it
    /// they are deeper.
    pub(super) fn update_everything(&mut self) {
        let mut levels: Vec<Vec<NodeId>> = Vec::new();
        for id in self.nodes.ids().filter(|&id| !self.nodes.is_leaf(id)) {
            let depth = usize::from(self.nodes.node(id).depth);
            if levels.len() <= depth {
                levels.resize_with(depth + 1, Vec::new);
            }
            levels[depth].push(id);
        }
        for level in levels.iter().rev() {
            for (at, &node) in level.iter().enumerate() {
                if let Some(&later) = level.get(at + 2 * AHEAD) {
                    self.nodes.load_child_list(later);
                }
                if let Some(&soon) = level.get(at + AHEAD) {
                    self.nodes.load_children(soon);
                }
                self.update_quietly(node);
            }
        }
        self.update_all();
        self.worklist.forget_root();
    }

    /// Computes the numbers of one node anew; of its parents only those are told that are no higher.
    fn update_quietly(&mut self, node: NodeId) {
        // A node that is settled by now has no children, and those are freed.
        if !self.nodes.is_live(node) || self.nodes.is_leaf(node) {
            return;
        }
        let before = Pairs::from_slice(self.nodes.pairs(node));
        self.recompute(node);
        if before[..] != *self.nodes.pairs(node) {
            let depth = self.nodes.node(node).depth;
            for &parent in &self.nodes.parents(node) {
                if self.nodes.node(parent).depth >= depth {
                    self.enqueue(parent);
                }
            }
        }
    }
}

/// Reads numbers from the front of bytes.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], DumpError> {
        let (head, rest) = self.0.split_first_chunk().ok_or(DumpError::TooShort)?;
        self.0 = rest;
        Ok(*head)
    }

    fn u8(&mut self) -> Result<u8, DumpError> {
        Ok(u8::from_le_bytes(self.take()?))
    }

    fn u16(&mut self) -> Result<u16, DumpError> {
        Ok(u16::from_le_bytes(self.take()?))
    }

    fn u32(&mut self) -> Result<u32, DumpError> {
        Ok(u32::from_le_bytes(self.take()?))
    }

    /// The number that lies so many of its kind ahead.
    fn u32_ahead(&self, count: usize) -> Option<u32> {
        let bytes = self.0.get(4 * count..)?.first_chunk()?;
        Some(u32::from_le_bytes(*bytes))
    }

    fn u64(&mut self) -> Result<u64, DumpError> {
        Ok(u64::from_le_bytes(self.take()?))
    }

    fn key<K: TryFrom<u128>>(&mut self) -> Result<K, DumpError> {
        let mut whole = [0; 16];
        let size = size_of::<K>();
        if self.0.len() < size || size > whole.len() {
            return Err(DumpError::TooShort);
        }
        let (key, rest) = self.0.split_at(size);
        whole[..size].copy_from_slice(key);
        self.0 = rest;
        K::try_from(u128::from_le_bytes(whole)).map_err(|_| DumpError::Unsound("a broken key"))
    }
}
