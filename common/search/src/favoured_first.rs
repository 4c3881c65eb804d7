//! Which threshold to ask first where the game tells who is favoured ([`Game::favoured`]).
//!
//! A value takes one question or two: that the first player wins, or does not even draw, is the answer to one alone. So
//! the best outcome of the player who is favoured is asked for first. If they do not reach it, halving goes on.

use jlpns_games::{Bounds, Game, Player, Threshold};

use crate::halving::middle;

/// The order of thresholds in one game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FavouredFirst {
    player: Player,
}

impl FavouredFirst {
    /// That of a game; for searches with the game's `knowledge` only.
    pub fn on<G: Game>(game: &G, knowledge: bool) -> Option<FavouredFirst> {
        game.favoured().filter(|_| knowledge).map(|player| FavouredFirst { player })
    }

    /// Who is favoured.
    pub fn player(self) -> Player {
        self.player
    }

    /// What to ask next if of the outcomes that were `asked` for these are left, more than one.
    pub fn next(self, asked: Bounds, open: Bounds) -> Threshold {
        match self.player {
            _ if open != asked => middle(open),
            Player::Max => Threshold(open.upper.0),
            Player::Min => Threshold(open.lower.0 + 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use jlpns_games::Outcome;
    use jlpns_games::connect4::Connect4;

    use super::*;

    fn bounds(lower: u8, upper: u8) -> Bounds {
        Bounds { lower: Outcome(lower), upper: Outcome(upper) }
    }

    #[test]
    fn the_best_of_the_favoured_player_is_asked_for_first() {
        let asked = bounds(0, 6);
        for (player, first) in [(Player::Max, 6), (Player::Min, 1)] {
            let order = FavouredFirst { player };
            assert_eq!(order.next(asked, asked), Threshold(first));
            assert_eq!(order.next(asked, bounds(1, 6)), Threshold(4));
            assert_eq!(order.next(asked, bounds(0, 5)), Threshold(3));
        }
    }

    #[test]
    fn only_with_knowledge_and_where_the_game_tells_somebody() {
        let game = |width, height| Connect4::<u64>::new(width, height).expect("a size in range");
        let order = |width, height| FavouredFirst::on(&game(width, height), true);
        assert_eq!(order(6, 6), Some(FavouredFirst { player: Player::Min }));
        assert_eq!(order(6, 7), Some(FavouredFirst { player: Player::Max }));
        assert_eq!(order(7, 6), Some(FavouredFirst { player: Player::Max }));
        assert_eq!(order(9, 6), Some(FavouredFirst { player: Player::Min }));
        assert_eq!(order(5, 6), None);
        assert_eq!(FavouredFirst::on(&game(6, 6), false), None);
    }
}
