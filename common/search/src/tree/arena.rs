//! The memory of a search tree: nodes in blocks of siblings, freed blocks used again.

use jlpns_games::Move;

use crate::effort::EffortPair;
use crate::efforts::Width;

/// The place of a node in the arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeIndex(u32);

/// Siblings, side by side.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    first: u32,
    count: u16,
}

/// What a node has besides its effort numbers.
#[derive(Clone, Copy, Debug)]
struct Header {
    /// The first of the children. In the first node of a free block: the next free block.
    first_child: u32,
    children: u16,
    mv: Move,
}

const _: () = assert!(size_of::<Header>() == 8);

/// The end of a list of free blocks.
const NONE: u32 = u32::MAX;

/// The nodes of a tree.
#[derive(Debug)]
pub struct Arena<W> {
    width: W,
    headers: Vec<Header>,
    /// `width` pairs a node.
    pairs: Vec<EffortPair>,
    /// The first free block of each size.
    free: Vec<u32>,
    /// Blocks whose own children are still to be freed.
    doomed: Vec<Block>,
    capacity: usize,
    live: usize,
    peak: usize,
}

impl Block {
    const EMPTY: Block = Block { first: 0, count: 0 };

    #[inline]
    pub fn is_empty(self) -> bool {
        self.count == 0
    }

    #[inline]
    pub fn first(self) -> NodeIndex {
        NodeIndex(self.first)
    }

    #[inline]
    pub fn nodes(self) -> impl Iterator<Item = NodeIndex> {
        (self.first..self.first + u32::from(self.count)).map(NodeIndex)
    }
}

impl<W: Width> Arena<W> {
    /// An arena with one node, which holds at most `capacity` nodes (but always that one).
    pub fn new(width: W, capacity: usize) -> Arena<W> {
        let mut arena = Arena {
            width,
            headers: Vec::new(),
            pairs: Vec::new(),
            free: Vec::new(),
            doomed: Vec::new(),
            capacity: capacity.clamp(1, NONE as usize),
            live: 0,
            peak: 0,
        };
        arena.allocate(1);
        arena
    }

    pub const fn node_bytes(thresholds: usize) -> usize {
        size_of::<Header>() + thresholds * size_of::<EffortPair>()
    }

    #[inline]
    pub fn root(&self) -> NodeIndex {
        NodeIndex(0)
    }

    pub fn live(&self) -> usize {
        self.live
    }

    pub fn peak(&self) -> usize {
        self.peak
    }

    #[inline]
    pub fn children(&self, node: NodeIndex) -> Block {
        let header = self.headers[node.0 as usize];
        Block { first: header.first_child, count: header.children }
    }

    #[inline]
    pub fn set_children(&mut self, node: NodeIndex, children: Block) {
        let header = &mut self.headers[node.0 as usize];
        (header.first_child, header.children) = (children.first, children.count);
    }

    #[inline]
    pub fn move_to(&self, node: NodeIndex) -> Move {
        self.headers[node.0 as usize].mv
    }

    #[inline]
    pub fn set_move(&mut self, node: NodeIndex, mv: Move) {
        self.headers[node.0 as usize].mv = mv;
    }

    #[inline]
    pub fn pairs(&self, node: NodeIndex) -> &[EffortPair] {
        let first = node.0 as usize * self.width.get();
        &self.pairs[first..first + self.width.get()]
    }

    #[inline]
    pub fn pairs_mut(&mut self, node: NodeIndex) -> &mut [EffortPair] {
        let first = node.0 as usize * self.width.get();
        &mut self.pairs[first..first + self.width.get()]
    }

    /// The pair at `index` of each node of a block.
    #[inline]
    pub fn pairs_of(
        &self,
        block: Block,
        index: usize,
    ) -> impl Iterator<Item = (NodeIndex, EffortPair)> {
        let width = self.width.get();
        let first = block.first as usize * width;
        let pairs = &self.pairs[first..first + usize::from(block.count) * width];
        block.nodes().zip(pairs.chunks_exact(width).map(move |node| node[index]))
    }

    /// A block of `count` nodes without children; their numbers and moves are still to be set.
    /// `None` if there is no room.
    pub fn allocate(&mut self, count: usize) -> Option<Block> {
        let count = u16::try_from(count).ok().filter(|&count| count > 0)?;
        let first =
            self.reuse(count).or_else(|| self.extend(count)).or_else(|| self.split(count))?;
        let header = Header { first_child: 0, children: 0, mv: Move(0) };
        let block = Block { first, count };
        self.headers[first as usize..][..usize::from(count)].fill(header);
        self.live += usize::from(count);
        self.peak = self.peak.max(self.live);
        Some(block)
    }

    fn reuse(&mut self, count: u16) -> Option<u32> {
        let head = self.free.get_mut(usize::from(count)).filter(|head| **head != NONE)?;
        let first = *head;
        *head = self.headers[first as usize].first_child;
        Some(first)
    }

    fn extend(&mut self, count: u16) -> Option<u32> {
        let first = self.headers.len();
        let end = first + usize::from(count);
        if end > self.capacity && first > 0 {
            return None;
        }
        let header = Header { first_child: 0, children: 0, mv: Move(0) };
        self.headers.resize(end, header);
        self.pairs.resize(end * self.width.get(), EffortPair::UNIT);
        Some(first as u32)
    }

    /// The beginning of a larger free block.
    fn split(&mut self, count: u16) -> Option<u32> {
        let larger = (count + 1..self.free.len() as u16)
            .find(|&size| self.free[usize::from(size)] != NONE)?;
        let first = self.reuse(larger)?;
        self.release(Block { first: first + u32::from(count), count: larger - count });
        Some(first)
    }

    /// Puts a block on its free list.
    fn release(&mut self, block: Block) {
        let size = usize::from(block.count);
        if self.free.len() <= size {
            self.free.resize(size + 1, NONE);
        }
        self.headers[block.first as usize].first_child = self.free[size];
        self.free[size] = block.first;
    }

    /// Frees all that is below `node`; the node itself stays.
    pub fn free_below(&mut self, node: NodeIndex) {
        let children = self.children(node);
        if children.is_empty() {
            return;
        }
        self.set_children(node, Block::EMPTY);
        self.doomed.push(children);
        while let Some(block) = self.doomed.pop() {
            for node in block.nodes() {
                let children = self.children(node);
                if !children.is_empty() {
                    self.doomed.push(children);
                }
            }
            self.live -= usize::from(block.count);
            self.release(block);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::efforts::Several;

    #[test]
    fn freed_blocks_are_used_again_whole_or_in_part() {
        let mut arena = Arena::new(Several(2), 20);
        let root = arena.root();
        let children = arena.allocate(7).unwrap();
        arena.set_children(root, children);
        let grandchildren = arena.allocate(10).unwrap();
        arena.set_children(children.first(), grandchildren);
        assert_eq!(arena.live(), 18);
        assert!(arena.allocate(3).is_none(), "the capacity is kept");
        arena.free_below(root);
        assert_eq!((arena.live(), arena.peak()), (1, 18));
        let sizes = [7, 6, 4, 2];
        let blocks = sizes.map(|size| arena.allocate(size).unwrap());
        let mut nodes: Vec<u32> = blocks.iter().flat_map(|b| b.nodes()).map(|n| n.0).collect();
        nodes.sort_unstable();
        nodes.dedup();
        assert_eq!(nodes.len(), 19, "no node is in two blocks");
        assert!(arena.allocate(1).is_none());
    }
}
