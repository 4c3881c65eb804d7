//! What is known of positions, and what follows from it for the one that is looked at.

use std::collections::BTreeMap;

use jlpns_games::{Bounds, Outcome, Player, Threshold};
use jlpns_search::{Effort, EffortPair};

use super::place::{LegalMove, Place};

/// What is known of one position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    /// Its value lies between these.
    pub bounds: Bounds,
    /// The first threshold that was asked.
    pub first: Threshold,
    /// The effort numbers of each threshold that was asked; empty where no search was.
    pub efforts: Vec<EffortPair>,
    /// The nodes that searches of it have created here.
    pub nodes: u64,
}

/// What is known of all positions, by their keys.
#[derive(Clone, Debug, Default)]
pub struct Knowledge(BTreeMap<u128, Known>);

impl Knowledge {
    /// Adds what was found of a position. What was known of it before stays, where the two agree.
    pub fn add(&mut self, key: u128, found: Known) {
        let known = self.0.entry(key).or_insert_with(|| found.clone());
        known.bounds = known.bounds.intersection(found.bounds).unwrap_or(found.bounds);
        known.nodes = known.nodes.max(found.nodes);
        if !found.efforts.is_empty() {
            (known.first, known.efforts) = (found.first, found.efforts);
        }
    }

    /// What is known of the position after a move.
    pub fn of(&self, legal: &LegalMove) -> Known {
        match self.0.get(&legal.key) {
            Some(known) => {
                let bounds = known.bounds.intersection(legal.bounds).unwrap_or(legal.bounds);
                Known { bounds, ..known.clone() }
            }
            None => {
                let (bounds, first) = (legal.bounds, Threshold(1));
                Known { bounds, first, efforts: Vec::new(), nodes: 0 }
            }
        }
    }

    /// Between what the value of a position lies.
    pub fn bounds(&self, place: &Place) -> Bounds {
        let own = self.0.get(&place.key).map_or(place.bounds, |known| {
            known.bounds.intersection(place.bounds).unwrap_or(place.bounds)
        });
        let moves = place.moves.iter().map(|legal| self.of(legal).bounds);
        let best = |one: Bounds, other: Bounds| match place.to_move {
            Player::Max => {
                Bounds { lower: one.lower.max(other.lower), upper: one.upper.max(other.upper) }
            }
            Player::Min => {
                Bounds { lower: one.lower.min(other.lower), upper: one.upper.min(other.upper) }
            }
        };
        let of_moves = moves.reduce(best).unwrap_or(own);
        own.intersection(of_moves).unwrap_or(of_moves)
    }

    /// The nodes that searches of the moves have created, each position counted once.
    pub fn nodes(&self, place: &Place) -> u64 {
        let nodes = place.moves.iter().map(|legal| (legal.key, self.of(legal).nodes));
        nodes.collect::<BTreeMap<u128, u64>>().into_values().sum()
    }

    /// Whether the move at this place of the list is known to keep the position's value.
    pub fn keeps_value(&self, place: &Place, index: usize) -> bool {
        let (value, bounds) = (self.bounds(place).value(), self.of(&place.moves[index]).bounds);
        value.is_some_and(|value| match place.to_move {
            Player::Max => bounds.lower >= value,
            Player::Min => bounds.upper <= value,
        })
    }

    /// The place in the list of the move that promises most: the best that is sure, then the best that is
    /// possible, then the least effort to prove more. None if there is no move.
    pub fn most_promising(&self, place: &Place) -> Option<usize> {
        let worth = |index: &usize| {
            let known = self.of(&place.moves[*index]);
            let Bounds { lower, upper } = known.bounds;
            let for_player = |outcome: Outcome| match place.to_move {
                Player::Max => i32::from(outcome.0),
                Player::Min => -i32::from(outcome.0),
            };
            let (sure, possible) = match place.to_move {
                Player::Max => (for_player(lower), for_player(upper)),
                Player::Min => (for_player(upper), for_player(lower)),
            };
            // The next step up for the player to move.
            let mut open = known.efforts.iter().filter(|pair| !pair.is_solved());
            let open = match place.to_move {
                Player::Max => open.next(),
                Player::Min => open.next_back(),
            };
            let effort = open.map_or(Effort::INFINITY, |pair| match place.to_move {
                Player::Max => pair.proof,
                Player::Min => pair.disproof,
            });
            // Where all are lost, the one that was hardest to refute.
            (sure, possible, std::cmp::Reverse(effort), known.nodes, std::cmp::Reverse(*index))
        };
        (0..place.moves.len()).max_by_key(worth)
    }
}
