//! Depth-first descents, of one worker or of several: young brothers wait (Feldmann, Monien, Mysliwietz and
//! Vornberger, "Distributed game-tree search", 1989).
//!
//! One alpha-beta goes to the first child in the game's order that is open, and to the next only when that is
//! solved. So most of what lies beside its way is searched in vain: one child that wins is enough. But where
//! one brother has been refuted, most likely all of them have to be. There the next ones are needed too, and
//! another worker may search them at the same time.
//!
//! Each worker has a subtree of its own, which it searches as one alpha-beta would until it is solved: its table
//! knows what is below. Then it takes over the next one that is needed and that nobody is in, as near to the root as
//! there is one.

use std::cmp::Reverse;

use jlpns_games::{Game, Move, MoveList, Threshold};
use smallvec::SmallVec;

use crate::efforts::{ThresholdSet, Width, for_player};
use crate::graph::nodes::Mark;
use crate::graph::{Graph, NodeId};

/// The part of a graph that one worker searches depth first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subtree {
    /// The moves from the root of the graph to a frontier node that the worker got: the last one that one search alone
    /// would have come to.
    way: Vec<Move>,
    /// How many of them lead to the root of the subtree.
    root: usize,
}

/// A frontier node that is to be searched next, depth first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DepthFirst {
    /// The node; it is the current one now.
    pub node: NodeId,
    /// The index of the threshold that it is searched for.
    pub threshold: usize,
    /// The subtree that its worker has from now on.
    pub subtree: Option<Subtree>,
}

/// A child, and its place among the children of its parent.
type Child = (NodeId, usize);

/// Ways of others, from some node on.
type Ways<'a> = SmallVec<[&'a [Move]; 8]>;

/// The children of a node, as a depth-first search comes to them.
struct Brothers<K> {
    /// Those that are open, the most promising first.
    open: SmallVec<[Child; 16]>,
    /// Whether one has been refuted by a search.
    is_one_refuted: bool,
    /// Where the moves lead to.
    moves: SmallVec<[(Move, K); 16]>,
}

impl<K> Brothers<K> {
    /// Those that have to be searched, as far as is known: the first one; and if a brother has been refuted, all.
    fn needed(&self) -> &[Child] {
        let needed = if self.is_one_refuted { self.open.len() } else { self.open.len().min(1) };
        &self.open[..needed]
    }
}

impl<G: Game, W: Width> Graph<G, W> {
    /// Selects as one alpha-beta over the whole graph would: at each node the first child in the game's own order
    /// ([`Game::promises`]) that is open, for one threshold of the root after the other. Effort numbers, which
    /// other sub-searches may leave in the graph meanwhile, do not lead it astray. It is for a sub-search that leaves
    /// nothing for its next job of what it has not solved.
    ///
    /// Several workers may do so at a time: `own` is the subtree of the one that the node is for, `others` are those
    /// of the others. If nothing is free that is needed for sure, the way goes to the most-proving brothers of what is
    /// locked. `None` if nothing can be selected before a lease comes back.
    pub fn select_depth_first(
        &mut self,
        own: Option<&Subtree>,
        others: &[&Subtree],
    ) -> Option<DepthFirst> {
        let threshold = self.threshold_to_stay_with()?;
        self.path_is_depth_first = true;
        let kept = own.filter(|own| self.follow(&own.way[..own.root], threshold));
        if let Some(own) = kept
            && let Some((node, is_next)) = self.next_below(own, threshold)
        {
            let next = || Subtree { way: self.path_moves.clone(), root: own.root };
            let subtree = if is_next { next() } else { own.clone() };
            return Some(DepthFirst { node, threshold, subtree: Some(subtree) });
        }
        let ways: Vec<&[Move]> = others.iter().map(|other| &other.way[..]).collect();
        self.ascend_to(0);
        if let Some((node, root)) = self.free_subtree(threshold, &ways) {
            let new = || Subtree { way: self.path_moves.clone(), root };
            let subtree = Some(kept.cloned().unwrap_or_else(new));
            return Some(DepthFirst { node, threshold, subtree });
        }
        self.ascend_to(0);
        let (node, threshold) =
            self.descend_to_leaf(threshold, |graph, node| graph.child_in_order(node, threshold))?;
        Some(DepthFirst { node, threshold, subtree: kept.cloned() })
    }

    /// The next frontier node of a worker's subtree that is needed, and whether one search alone would come to it
    /// next, as no other is out before it. The current node is the root of the subtree.
    fn next_below(&mut self, own: &Subtree, threshold: usize) -> Option<(NodeId, bool)> {
        // What was first in order is so until it is solved; nobody needs to be asked again.
        for &mv in &own.way[own.root..] {
            let locked = self.locks.get(self.current()).has(threshold);
            if locked || !self.step(mv, threshold) {
                break;
            }
        }
        let mut done = None;
        loop {
            let (node, depth) = (self.current(), self.path.len() - 1);
            if let Some((found, is_first)) = self.first_needed_but(done, threshold) {
                return Some((found, is_first && done.is_none()));
            }
            if depth <= own.root {
                return None;
            }
            self.ascend_to(depth - 1);
            done = Some(node);
        }
    }

    /// Descends from the current node to the first frontier node that is needed and not leased.
    fn first_needed(&mut self, threshold: usize) -> Option<NodeId> {
        self.first_needed_but(None, threshold).map(|(node, _)| node)
    }

    /// The same, but not below the child `done`, where nothing is; and whether no other is needed before it.
    fn first_needed_but(
        &mut self,
        done: Option<NodeId>,
        threshold: usize,
    ) -> Option<(NodeId, bool)> {
        let node = self.current();
        if self.locks.get(node).has(threshold) {
            return None;
        }
        if self.nodes.is_leaf(node) {
            return (!self.nodes.has(node, Mark::Leased)).then_some((node, true));
        }
        let depth = self.path.len() - 1;
        let brothers = self.brothers(node, threshold);
        let mut needed = brothers.needed().iter().enumerate();
        needed.find_map(|(place, &(child, index))| {
            if Some(child) == done {
                return None;
            }
            self.ascend_to(depth);
            self.descend(node, child, index);
            let (found, is_first) = self.first_needed_but(None, threshold)?;
            Some((found, is_first && place == 0))
        })
    }

    /// Descends from the current node to the first frontier node of a child that is needed and that nobody is in, as
    /// near to the root as there is one; how many moves lead to the child besides. `ways` are those of the others from
    /// the current node on.
    fn free_subtree(&mut self, threshold: usize, ways: &[&[Move]]) -> Option<(NodeId, usize)> {
        let node = self.current();
        if self.locks.get(node).has(threshold) {
            return None;
        }
        let depth = self.path.len() - 1;
        if self.nodes.is_leaf(node) {
            return (!self.nodes.has(node, Mark::Leased)).then_some((node, depth));
        }
        let brothers = self.brothers(node, threshold);
        let mut inside: Vec<(Child, Ways<'_>)> = Vec::new();
        for &(child, index) in brothers.needed() {
            let key = self.nodes.key(child);
            let leads_here = |&(mv, _): &(&Move, &[Move])| brothers.moves.contains(&(*mv, key));
            let steps = ways.iter().filter_map(|way| way.split_first());
            let ways_below: Ways<'_> = steps.filter(leads_here).map(|(_, rest)| rest).collect();
            if !ways_below.is_empty() {
                inside.push(((child, index), ways_below));
                continue;
            }
            self.descend(node, child, index);
            if let Some(found) = self.first_needed(threshold) {
                return Some((found, depth + 1));
            }
            self.ascend_to(depth);
        }
        inside.into_iter().find_map(|((child, index), ways_below)| {
            self.ascend_to(depth);
            self.descend(node, child, index);
            self.free_subtree(threshold, &ways_below)
        })
    }

    /// Goes along `way` from the root; whether that is open all along, for this threshold.
    fn follow(&mut self, way: &[Move], threshold: usize) -> bool {
        self.ascend_to(0);
        way.iter().all(|&mv| self.step(mv, threshold))
    }

    /// Goes on from the current node by a move; whether that leads to a child that is open.
    fn step(&mut self, mv: Move, threshold: usize) -> bool {
        let node = self.current();
        let mut legal = MoveList::new();
        self.game.moves(&self.position, &mut legal);
        if !legal.contains(&mv) {
            return false;
        }
        let key = self.key_after(mv);
        let child =
            self.nodes.children(node).enumerate().find(|&(_, child)| self.nodes.key(child) == key);
        let open = child.filter(|&(_, child)| !self.nodes.pair(child, threshold).is_solved());
        let Some((index, child)) = open else { return false };
        self.descend(node, child, index);
        true
    }

    /// The first child in the game's order that is open; while that is locked, the most-proving one.
    fn child_in_order(&self, node: NodeId, threshold: usize) -> Option<Child> {
        let first = self.brothers(node, threshold).open.first().copied();
        let free = first.filter(|&(child, _)| !self.locks.get(child).has(threshold));
        free.or_else(|| self.most_proving_child(node, threshold))
    }

    /// The children of `node`, the current one.
    fn brothers(&self, node: NodeId, threshold: usize) -> Brothers<G::Key> {
        let player = self.nodes.player(node);
        let asked = Threshold(self.question.thresholds().0.0 + threshold as u8);
        let mut position = self.position.clone();
        let expansion = self.expansion(node, &position);
        let words = self.words(&mut position, &expansion);
        let mut in_order: SmallVec<[usize; 16]> = (0..expansion.len()).collect();
        in_order.sort_by_key(|&at| Reverse(words.promises[at].1));
        let moves: SmallVec<[(Move, G::Key); 16]> =
            expansion.iter().map(|&mv| (mv, self.key_after(mv))).collect();
        let (mut open, mut is_one_refuted) = (SmallVec::<[Child; 16]>::new(), false);
        for at in in_order {
            // Mirror images have one key; without merging they are two children.
            let children = self.nodes.children(node).enumerate();
            let with_this_key = children.filter(|&(_, child)| {
                let wanted = for_player(player, self.nodes.pair(child, threshold)).0;
                self.nodes.key(child) == moves[at].1 && !wanted.is_infinite()
            });
            let mut still_open = with_this_key.map(|(index, child)| (child, index)).peekable();
            // What the game sees to be lost says nothing of the others.
            is_one_refuted |=
                still_open.peek().is_none() && words.bounds[at].verdict(asked).is_none();
            let new = still_open.find(|child| !open.contains(child));
            open.extend(new);
        }
        Brothers { open, is_one_refuted, moves }
    }

    /// The key of the position after a move at the current node.
    fn key_after(&self, mv: Move) -> G::Key {
        let mut position = self.position.clone();
        self.game.play(&mut position, mv);
        self.game.key(&position)
    }

    fn current(&self) -> NodeId {
        *self.path.last().expect("the path begins with the root")
    }
}
