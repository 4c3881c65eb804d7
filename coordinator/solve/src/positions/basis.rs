//! What is known of a position that is asked for, and the claims that it rests on.

use std::collections::BTreeMap;

use jlpns_games::{Bounds, Threshold};
use jlpns_search::EffortPair;

use super::Positions;
use crate::belief::{Claims, Open};

/// What is known of a position.
pub(super) struct BasisOfPosition {
    /// Between what its value lies.
    pub bounds: Bounds,
    /// Whether all that was asked is known.
    pub bounds_are_all: bool,
    /// How many claims that rests on.
    pub claims: u64,
    /// The claims that one machine alone has made.
    pub open: Vec<Open>,
}

impl Positions {
    /// What is known of a position by the rules and by claims.
    pub(super) fn basis_of(&self, index: u32, claims: &Claims) -> BasisOfPosition {
        let position = &self.all[index as usize];
        if let Some(outcome) = position.outcome {
            let bounds = Bounds::exactly(outcome);
            return BasisOfPosition { bounds, bounds_are_all: true, claims: 0, open: Vec::new() };
        }
        let (first, count) = self.question.thresholds();
        let (mut efforts, mut places) = (self.open.clone(), BTreeMap::new());
        for (index, effort) in efforts.iter_mut().enumerate().take(count) {
            let threshold = Threshold(first.0 + index as u8);
            let mut implying = claims.implying(position.key, threshold);
            let Some(mut found) = implying.next() else { continue };
            // Of several claims that settle it, one that is confirmed.
            if !found.1.is_confirmed()
                && let Some(better) = implying.find(|(_, claim)| claim.is_confirmed())
            {
                found = better;
            }
            let (place, claim) = found;
            *effort = EffortPair::solved(claim.holds);
            places.insert(place, *claim);
        }
        let open = places.iter().filter(|(_, claim)| !claim.is_confirmed());
        let moves = &position.moves;
        let open = open.map(|(&place, &claim)| {
            let (moves, holds) = (moves.clone(), claim.holds);
            Open { place, moves, holds, claim: Some(claim) }
        });
        BasisOfPosition {
            bounds: self.question.bounds(&efforts, &self.scale),
            bounds_are_all: self.question.is_answered(&efforts),
            claims: places.len() as u64,
            open: open.collect(),
        }
    }
}
