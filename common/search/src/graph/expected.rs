//! Who is expected to lose at a node that nothing is known of yet: there all children are needed, so none has to wait for
//! another one to be refuted.
//!
//! Where the order of moves is right, one child is enough at a node that the player to move wins, and the player to move
//! loses at that child, where all children are needed (Knuth and Moore, "An analysis of alpha-beta pruning", 1975,
//! theorem 1). The first child in the game's order is expected to be that one. Of a later one, which is come to when
//! the first is refuted, neither is expected.

use jlpns_games::{Game, Player};

use crate::efforts::{Width, for_player};
use crate::graph::Graph;

impl<G: Game, W: Width> Graph<G, W> {
    /// Whether the player to move at the current node is expected to lose what `threshold`, an index, asks.
    pub(super) fn is_expected_to_lose(&self, threshold: usize) -> bool {
        let asked = self.question.threshold(threshold);
        let mut loses = self.loses_at_root(threshold);
        for step in self.path.windows(2) {
            let (parent, child) = (step[0], step[1]);
            // The game's order has first what it sees to be lost, at times.
            let order = self.orders.get(parent, self.nodes.key(parent));
            let first = order.iter().find(|(_, bounds)| bounds.verdict(asked).is_none());
            loses = !loses && first.is_some_and(|&(key, _)| key == self.nodes.key(child));
        }
        loses
    }

    /// Whether the player to move at the root is expected to lose: where the game expects a value, by that; else who is
    /// favoured wins, and where nobody is, the effort tells.
    fn loses_at_root(&self, threshold: usize) -> bool {
        let player = self.nodes.player(self.root);
        let expected = self.game.expected_value().filter(|_| self.settings.knowledge);
        if let Some(value) = expected {
            return self.question.threshold(threshold).holds(value) != (player == Player::Max);
        }
        match self.favoured_first {
            Some(favoured) => favoured.player() != player,
            None => {
                let (to_win, to_lose) = for_player(player, self.root_efforts()[threshold]);
                to_lose < to_win
            }
        }
    }
}
