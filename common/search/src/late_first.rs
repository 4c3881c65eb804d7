//! Which threshold to ask next where the outcomes tell on which move a game is won, and no game lasts longer than a
//! drawn one: between players who make no mistakes most wins come late, so the latest is asked for first.
//!
//! It begins with the win of the first player, or with the draw if the second one is favoured ([`Game::favoured`]), and
//! goes on from the latest last move by steps that double, until halving is less than the next step.

use jlpns_games::outcome::Ending;
use jlpns_games::{Bounds, Game, Outcome, Player, Threshold};

use crate::halving::middle;

/// The order of thresholds of one game.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LateFirst {
    draw: Outcome,
    /// Whether the draw is asked for before the win.
    draw_first: bool,
}

impl LateFirst {
    /// That of a game on a scale whose drawn games end on the last move that there can be, and whose wins are told apart
    /// by their last moves; for searches with the game's `knowledge` only.
    pub fn on<G: Game>(game: &G, knowledge: bool) -> Option<LateFirst> {
        if !knowledge {
            return None;
        }
        let scale = game.scale();
        let mut outcomes = (0..=scale.best().0).map(Outcome);
        let is_last = |outcome| matches!(scale.ending(outcome), Some(Ending::Drawn(Some(_))));
        let draw = outcomes.find(|&outcome| is_last(outcome))?;
        Some(LateFirst { draw, draw_first: game.favoured() == Some(Player::Min) })
    }

    /// What to ask next if these outcomes are left, more than one.
    pub fn next(self, open: Bounds) -> Threshold {
        let Bounds { lower, upper } = open;
        let (draw, middle) = (self.draw.0, middle(open).0);
        Threshold(if lower.0 >= draw {
            let step = (lower.0 - draw).max(1);
            middle.min(lower.0.saturating_add(step))
        } else if upper.0 <= draw {
            let step = (draw - upper.0).max(1);
            middle.max((upper.0 + 1).saturating_sub(step))
        } else {
            draw + u8::from(!self.draw_first)
        })
    }
}

#[cfg(test)]
mod tests {
    use jlpns_games::connect4::Connect4;

    use super::*;

    fn orders(draw: u8) -> [LateFirst; 2] {
        [false, true].map(|draw_first| LateFirst { draw: Outcome(draw), draw_first })
    }

    /// The thresholds that are asked until `value` is known.
    fn asked(order: LateFirst, bounds: Bounds, value: Outcome) -> Vec<u8> {
        let (mut open, mut asked) = (bounds, Vec::new());
        while open.value().is_none() {
            let threshold = order.next(open);
            assert!(threshold.0 > open.lower.0 && threshold.0 <= open.upper.0, "{open:?}");
            asked.push(threshold.0);
            if threshold.holds(value) {
                open.lower = Outcome(threshold.0);
            } else {
                open.upper = Outcome(threshold.0 - 1);
            }
        }
        assert_eq!(open, Bounds::exactly(value));
        asked
    }

    #[test]
    fn late_wins_and_losses_are_asked_for_first() {
        let game = Connect4::<u64>::new(7, 6).expect("a size in range").with_last_moves();
        let (scale, all) = (game.scale(), game.scale().bounds());
        let order = LateFirst::on(&game, true).expect("it tells last moves");
        let asked_for = |name: &str| {
            let value = scale.parse_goal(&format!(">={name}")).expect("an outcome").threshold();
            let asked = asked(order, all, Outcome(value.0));
            let asked = asked.into_iter().map(|threshold| scale.name(Outcome(threshold)));
            asked.collect::<Vec<_>>().join(" ")
        };
        assert_eq!(asked_for("win-41"), "win-41 win-39");
        assert_eq!(asked_for("win-37"), "win-41 win-39 win-35 win-37");
        assert_eq!(asked_for("draw"), "win-41 draw");
        assert_eq!(asked_for("loss-42"), "win-41 draw loss-42");
        assert_eq!(asked_for("loss-40"), "win-41 draw loss-42 loss-38 loss-40");
    }

    #[test]
    fn the_draw_comes_first_if_the_second_player_is_favoured() {
        let game = Connect4::<u64>::new(6, 6).expect("a size in range").with_last_moves();
        let order = LateFirst::on(&game, true).expect("it tells last moves");
        let first = order.next(game.scale().bounds());
        assert_eq!(game.scale().threshold_name(first), "draw");
    }

    #[test]
    fn the_longest_scales_have_room() {
        let bounds = Bounds { lower: Outcome(0), upper: Outcome(254) };
        for draw in [0, 1, 127, 253, 254] {
            for order in orders(draw) {
                let asked = (0..=254).map(|value| asked(order, bounds, Outcome(value)).len());
                assert!(asked.max() <= Some(16));
            }
        }
    }

    #[test]
    fn every_value_is_found() {
        for best in 1..40 {
            for order in (0..=best).flat_map(orders) {
                for (lower, upper) in (0..best).flat_map(|l| (l + 1..=best).map(move |u| (l, u))) {
                    let bounds = Bounds { lower: Outcome(lower), upper: Outcome(upper) };
                    for value in lower..=upper {
                        let asked = asked(order, bounds, Outcome(value));
                        // No more than twice as many as by halving alone.
                        let outcomes = u32::from(upper - lower + 1);
                        let halvings = outcomes.next_power_of_two().ilog2() as usize;
                        assert!(asked.len() <= 2 * halvings + 1, "{asked:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn other_scales_have_no_such_order() {
        let plain = Connect4::<u64>::new(7, 6).expect("a size in range");
        assert!(LateFirst::on(&plain, true).is_none());
    }
}
