//! The game's order of the moves at a node, remembered: depth-first descents come to the same nodes again and again, and
//! to ask the game takes longer than to look at the children.

use std::cmp::Reverse;
use std::collections::HashMap;

use foldhash::fast::FixedState;
use jlpns_games::{Bounds, Game, MoveList};
use smallvec::SmallVec;

use crate::efforts::Width;
use crate::graph::{Graph, NodeId};

/// How many orders are remembered, at the most.
const MOST: usize = 4096;

/// The positions that the moves at a node lead to, the most promising first, by their keys; with what the game sees of
/// their values.
type Order<K> = SmallVec<[(K, Bounds); 8]>;

/// The orders of some nodes, each with the node's key: its place may be another node's later.
#[derive(Debug)]
pub(super) struct Orders<K>(HashMap<NodeId, (K, Order<K>), FixedState>);

impl<K: Copy + Eq> Orders<K> {
    pub fn new() -> Orders<K> {
        Orders(HashMap::default())
    }

    /// The order of a node with this key, if it is remembered; else nothing.
    pub fn get(&self, node: NodeId, key: K) -> &[(K, Bounds)] {
        self.0.get(&node).filter(|(of, _)| *of == key).map_or(&[], |(_, order)| order)
    }

    fn note(&mut self, node: NodeId, key: K, order: Order<K>) {
        if self.0.len() >= MOST {
            self.0.clear();
        }
        self.0.insert(node, (key, order));
    }

    /// The bytes that they take.
    pub fn bytes(&self) -> usize {
        self.0.capacity() * size_of::<(NodeId, (K, Order<K>))>()
    }
}

impl<G: Game, W: Width> Graph<G, W> {
    /// The moves of the expansion of `node`, in the game's own order, which decides among moves that promise the same:
    /// those of the root that are not relevant come last.
    fn by_the_game(&self, node: NodeId, position: &G::Position) -> MoveList {
        let mut moves = self.expansion(node, position);
        // Only the root is expanded with all legal moves.
        if self.settings.knowledge && node == self.root {
            let mut relevant = MoveList::new();
            self.game.relevant_moves(position, &mut relevant);
            moves.sort_by_key(|mv| {
                relevant.iter().position(|other| other == mv).unwrap_or(usize::MAX)
            });
        }
        moves
    }

    /// Has the order of `node`, the current one, be remembered.
    pub(super) fn note_order(&mut self, node: NodeId) {
        let key = self.nodes.key(node);
        if !self.orders.get(node, key).is_empty() {
            return;
        }
        let mut position = self.position.clone();
        let moves = self.by_the_game(node, &position);
        let words = self.words(&mut position, &moves);
        let mut places: SmallVec<[usize; 16]> = (0..moves.len()).collect();
        places.sort_by_key(|&at| Reverse(words.promises[at].1));
        let mut order = Order::new();
        for at in places {
            self.game.play(&mut position, moves[at]);
            order.push((self.game.key(&position), words.bounds[at]));
            self.game.undo(&mut position, moves[at]);
        }
        self.orders.note(node, key, order);
    }
}
