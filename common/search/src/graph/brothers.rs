//! Depth-first descents, of one worker or of several: young brothers wait (Feldmann, Monien, Mysliwietz and
//! Vornberger, "Distributed game-tree search", 1989).
//!
//! One alpha-beta goes to the first child in the game's order that is open, and to the next only when that is
//! solved. So most of what lies beside its way is searched in vain: one child that wins is enough. But where
//! one brother has been refuted, most likely all of them have to be, and so where the player to move is expected to
//! lose (`expected`). There the next ones are needed too, and another worker may search them at the same time.
//!
//! Each worker has a subtree of its own, which it searches as one alpha-beta would until it is solved: its table
//! knows what is below. Then it takes over the next one that is needed and that nobody is in, as near to the root as
//! there is one. A worker whose subtree has nothing free helps in those of the others.

use std::collections::{HashSet, VecDeque};

use foldhash::fast::FixedState;
use jlpns_games::{Game, Move, MoveList};
use smallvec::SmallVec;

use crate::efforts::{ThresholdSet, Width, for_player};
use crate::graph::nodes::Mark;
use crate::graph::{Graph, NodeId};

/// How many nodes a descent looks at to find a subtree that is needed, at the most: with hundreds of workers there are
/// many in which somebody is.
const MOST_LOOKED_AT: usize = 128;

/// The part of a graph that one worker searches depth first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subtree {
    /// The index of the threshold that it is searched for.
    threshold: usize,
    /// The moves from the root of the graph to where one search alone would be now.
    way: Vec<Move>,
    /// How many of them lead to the root of the subtree.
    root_depth: usize,
}

impl Subtree {
    fn way_to_root(&self) -> &[Move] {
        &self.way[..self.root_depth]
    }
}

/// A frontier node that was selected depth first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NextInOrder {
    /// The node; it is the current one now.
    pub node: NodeId,
    /// The index of the threshold that it is searched for.
    pub threshold: usize,
    /// The subtree that its worker has from now on.
    pub subtree: Option<Subtree>,
}

/// A child, and its place among the children of its parent.
type Child = (NodeId, usize);

/// The children of a node that have to be searched, as far as is known, the most promising first: the first one that is
/// open; and if a brother has been refuted, or the player to move is expected to lose, all.
type Needed = SmallVec<[Child; 8]>;

/// What is known during one selection.
struct Looking<'a> {
    threshold: usize,
    /// The subtrees of the other workers.
    others: Vec<&'a Subtree>,
    /// Nodes below which nothing is needed that is free.
    exhausted: HashSet<NodeId, FixedState>,
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
    ) -> Option<NextInOrder> {
        let threshold = self.threshold_to_stay_with()?;
        self.path_is_depth_first = true;
        let of_this = |subtree: &&Subtree| subtree.threshold == threshold;
        let others = others.iter().copied().filter(of_this).collect();
        let mut looking = Looking { threshold, others, exhausted: HashSet::default() };
        // The whole graph is no part of it.
        let own = own.filter(|own| of_this(own) && own.root_depth > 0);
        let kept = own.filter(|own| self.follow(own.way_to_root(), threshold));
        if let Some(own) = kept
            && let Some(subtree) = self.next_below(own, &mut looking)
        {
            return Some(self.next_in_order(threshold, Some(subtree)));
        }
        if let Some(free) = self.free_subtree(&mut looking) {
            let subtree = kept.cloned().unwrap_or(free);
            return Some(self.next_in_order(threshold, Some(subtree)));
        }
        self.ascend_to(0);
        self.descend_to_leaf(threshold, |graph, node| graph.child_in_order(node, threshold))?;
        Some(self.next_in_order(threshold, kept.cloned()))
    }

    fn next_in_order(&self, threshold: usize, subtree: Option<Subtree>) -> NextInOrder {
        NextInOrder { node: self.current(), threshold, subtree }
    }

    /// Goes on to the next frontier node of a worker's subtree that is needed; how the subtree is then. The current node
    /// is its root.
    fn next_below(&mut self, own: &Subtree, looking: &mut Looking<'_>) -> Option<Subtree> {
        // What was first in order is so until it is solved; nobody needs to be asked again.
        for &mv in &own.way[own.root_depth..] {
            if !self.step(mv, looking.threshold) {
                break;
            }
        }
        let mut is_first = true;
        loop {
            let depth = self.path.len() - 1;
            if let Some(first) = self.first_needed(looking) {
                let way =
                    if is_first { self.path_moves[..first].to_vec() } else { own.way.clone() };
                return Some(Subtree { way, ..*own });
            }
            if depth <= own.root_depth {
                return None;
            }
            self.ascend_to(depth - 1);
            is_first = false;
        }
    }

    /// Descends from the current node to the first frontier node that is needed, is not leased, and is in no subtree of
    /// another worker; how far one search alone would be on this way now. If there is none, the current node stays the
    /// same.
    fn first_needed(&mut self, looking: &mut Looking<'_>) -> Option<usize> {
        let base = self.path.len() - 1;
        // Of each node on the way, the children that are needed, and how many of them were gone to.
        let mut levels: Vec<(Needed, usize)> = Vec::new();
        let mut has_met_another = false;
        loop {
            let node = self.current();
            let is_of_another = !levels.is_empty() && self.is_of_another(looking);
            has_met_another |= is_of_another;
            let is_out = is_of_another || self.is_out(node, looking);
            if !is_out && self.nodes.is_leaf(node) {
                let firsts = levels.iter().take_while(|&&(_, next)| next == 1).count();
                return Some(base + firsts);
            }
            let needed = if is_out { Needed::new() } else { self.needed(node, looking.threshold) };
            levels.push((needed, 0));
            // To the next one, or back to where there is one.
            while let Some((needed, next)) = levels.last_mut() {
                let node = self.current();
                if let Some(&(child, index)) = needed.get(*next) {
                    *next += 1;
                    self.descend(node, child, index);
                    break;
                }
                levels.pop();
                if !has_met_another {
                    looking.exhausted.insert(node);
                }
                if levels.is_empty() {
                    return None;
                }
                self.ascend_to(base + levels.len() - 1);
            }
        }
    }

    /// Whether nothing can be selected below a node, or it is selected already.
    fn is_out(&self, node: NodeId, looking: &Looking<'_>) -> bool {
        looking.exhausted.contains(&node)
            || self.locks.get(node).has(looking.threshold)
            || self.nodes.is_leaf(node) && self.nodes.has(node, Mark::Leased)
    }

    /// Whether the current node is the root of another worker's subtree.
    fn is_of_another(&self, looking: &Looking<'_>) -> bool {
        looking.others.iter().any(|other| other.way_to_root() == self.path_moves)
    }

    /// Descends to the first frontier node of a subtree that is needed and that nobody is in, as near to the root as
    /// there is one.
    fn free_subtree(&mut self, looking: &mut Looking<'_>) -> Option<Subtree> {
        let threshold = looking.threshold;
        let ways: SmallVec<[&[Move]; 8]> =
            looking.others.iter().map(|other| &other.way[..]).collect();
        // Nodes that somebody is in, with the ways from there on.
        let mut waiting = VecDeque::from([(Vec::new(), ways)]);
        for _ in 0..MOST_LOOKED_AT {
            let (way, ways) = waiting.pop_front()?;
            if !self.follow(&way, threshold) {
                continue;
            }
            let node = self.current();
            if self.is_out(node, looking) {
                continue;
            }
            let root_depth = way.len();
            if self.nodes.is_leaf(node) {
                return Some(Subtree { threshold, way, root_depth });
            }
            for (child, index) in self.needed(node, threshold) {
                self.descend(node, child, index);
                let mv = *self.path_moves.last().expect("a move leads to the child");
                let steps = ways.iter().filter_map(|way| way.split_first());
                let below: SmallVec<[&[Move]; 8]> =
                    steps.filter(|&(&next, _)| next == mv).map(|(_, rest)| rest).collect();
                if !below.is_empty() {
                    waiting.push_back((self.path_moves.clone(), below));
                } else if let Some(first) = self.first_needed(looking) {
                    // One search alone is at the root of the subtree, or farther on.
                    let root_depth = root_depth + 1;
                    let way = self.path_moves[..first.max(root_depth)].to_vec();
                    return Some(Subtree { threshold, way, root_depth });
                }
                self.ascend_to(root_depth);
            }
        }
        None
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
        let mut position = self.position.clone();
        self.game.play(&mut position, mv);
        let key = self.game.key(&position);
        let open = self.nodes.children(node).enumerate().find(|&(_, child)| {
            self.nodes.key(child) == key && !self.nodes.pair(child, threshold).is_solved()
        });
        let Some((index, child)) = open else { return false };
        self.descend(node, child, index);
        true
    }

    /// The first child in the game's order that is open; while that is locked, the most-proving one.
    fn child_in_order(&mut self, node: NodeId, threshold: usize) -> Option<Child> {
        let first = self.needed(node, threshold).first().copied();
        let free = first.filter(|&(child, _)| !self.locks.get(child).has(threshold));
        free.or_else(|| self.most_proving_child(node, threshold))
    }

    /// The children of `node`, the current one, that have to be searched.
    fn needed(&mut self, node: NodeId, threshold: usize) -> Needed {
        let player = self.nodes.player(node);
        let asked = self.question.threshold(threshold);
        let (mut needed, mut is_one_refuted) = (Needed::new(), false);
        self.note_order(node);
        for &(key, bounds) in self.orders.get(node, self.nodes.key(node)) {
            // Mirror images have one key; without merging they are two children.
            let children = self.nodes.children(node).enumerate();
            let with_this_key = children.filter(|&(_, child)| {
                let wanted = for_player(player, self.nodes.pair(child, threshold)).0;
                self.nodes.key(child) == key && !wanted.is_infinite()
            });
            let mut still_open = with_this_key.map(|(index, child)| (child, index)).peekable();
            // What the game sees to be lost says nothing of the others.
            is_one_refuted |= still_open.peek().is_none() && bounds.verdict(asked).is_none();
            let new = still_open.find(|child| !needed.contains(child));
            needed.extend(new);
        }
        if !is_one_refuted && !self.is_expected_to_lose(threshold) {
            needed.truncate(1);
        }
        needed
    }

    fn current(&self) -> NodeId {
        *self.path.last().expect("the path begins with the root")
    }
}
