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
use crate::graph::node_id::MAX_NODES;
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

/// A dump that is made in slices, so that the owner of the graph can do other things between them.
#[derive(Debug)]
pub struct PartialDump {
    bytes: Vec<u8>,
    /// Where the dump begins in `bytes`.
    start: usize,
    /// The number of each node that is written, by its place.
    numbers: Vec<u32>,
    /// How many nodes are written, and how many edges.
    nodes: u32,
    edges: u64,
    /// The first places whose node, and whose edges, are still to be written.
    next_node: usize,
    next_edges: usize,
    /// What the graph was when it was begun.
    shape: Shape,
}

impl PartialDump {
    /// What is written so far; all of it once [`Graph::dump_slice`] was true.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

/// What changes whenever nodes come or go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shape {
    places: usize,
    live: usize,
    created: u64,
    expansions: u64,
}

/// Where a dump says how many edges there are, from its beginning.
const EDGE_COUNT: usize = 16;

impl<G: Game, W: Width> Graph<G, W> {
    /// Appends the graph to `out`.
    pub fn dump(&self, out: &mut Vec<u8>) {
        let mut dump = self.begin_dump(std::mem::take(out));
        while !self.dump_slice(&mut dump, usize::MAX) {}
        *out = dump.into_bytes();
    }

    /// Begins a dump that [`dump_slice`](Self::dump_slice) appends to `bytes`.
    pub fn begin_dump(&self, mut bytes: Vec<u8>) -> PartialDump {
        let start = bytes.len();
        let node_bytes = size_of::<G::Key>() + 5 + 8 * self.evaluation.width();
        // Memory that is never written to costs nothing.
        bytes.reserve(64 + self.live() * node_bytes + self.nodes.edges.bytes());
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend((size_of::<G::Key>() as u16).to_le_bytes());
        bytes.extend((self.evaluation.width() as u16).to_le_bytes());
        // How many edges there are is known at the end.
        for count in [self.live() as u64, 0, self.created, self.expansions] {
            bytes.extend(count.to_le_bytes());
        }
        bytes.extend(self.shed.times.to_le_bytes());
        bytes.extend(self.shed.nodes.to_le_bytes());
        PartialDump {
            bytes,
            start,
            numbers: vec![0; self.nodes.places()],
            nodes: 0,
            edges: 0,
            next_node: 0,
            next_edges: 0,
            shape: self.shape(),
        }
    }

    /// Writes a slice of a dump of this graph, of so many places for nodes; whether that was the last.
    /// Between two slices nodes may be selected, leased, refreshed and given back, but nothing may be
    /// folded in, freed or taken back: where nodes came or went, the dump begins anew.
    pub fn dump_slice(&self, dump: &mut PartialDump, places: usize) -> bool {
        if dump.shape != self.shape() {
            let mut bytes = std::mem::take(&mut dump.bytes);
            bytes.truncate(dump.start);
            *dump = self.begin_dump(bytes);
        }
        let mut left = places;
        let end = self.nodes.places();
        while dump.next_node < end && left > 0 {
            self.dump_node(dump, NodeId(dump.next_node as u32));
            (dump.next_node, left) = (dump.next_node + 1, left - 1);
        }
        while dump.next_edges < end && left > 0 {
            self.dump_edges(dump, NodeId(dump.next_edges as u32));
            (dump.next_edges, left) = (dump.next_edges + 1, left - 1);
        }
        let is_done = dump.next_edges == end;
        if is_done {
            let at = dump.start + EDGE_COUNT;
            dump.bytes[at..at + 8].copy_from_slice(&dump.edges.to_le_bytes());
        }
        is_done
    }

    fn shape(&self) -> Shape {
        let (created, expansions) = (self.created, self.expansions);
        Shape { places: self.nodes.places(), live: self.live(), created, expansions }
    }

    fn dump_node(&self, dump: &mut PartialDump, id: NodeId) {
        if !self.nodes.is_live(id) {
            return;
        }
        dump.numbers[id.0 as usize] = dump.nodes;
        dump.nodes += 1;
        let out = &mut dump.bytes;
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

    fn dump_edges(&self, dump: &mut PartialDump, id: NodeId) {
        if !self.nodes.is_live(id) {
            return;
        }
        for child in self.nodes.children(id) {
            dump.bytes.extend(dump.numbers[child.0 as usize].to_le_bytes());
            dump.edges += 1;
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
