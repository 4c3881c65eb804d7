//! Makes certificates, true ones and others, of moves that somebody chooses.

use std::collections::BTreeMap;

use super::{Bound, Certificate, Naive};

impl Certificate {
    pub fn new<G: Naive>(game: &G) -> Certificate {
        Certificate { spec: game.spec(), moves: game.moves(), claims: vec![], block: 65_536 }
    }
}

/// The layers of a claim when the claimant plays the moves that `choose` numbers, and whether they show it.
/// Lines that break the claim are left out, as a forger would.
pub fn certificate<G: Naive>(
    game: &G,
    bound: Bound,
    choose: &mut dyn FnMut(&G) -> usize,
) -> (Vec<Vec<u8>>, bool) {
    let mut holds = true;
    let mut layer = BTreeMap::new();
    let admit = |layer: &mut BTreeMap<Vec<u128>, G>, holds: &mut bool, game: &G| {
        if let Some(outcome) = game.outcome() {
            *holds &= bound.admits(outcome);
            return;
        }
        let ends =
            |name: &String| game.play(name).outcome().is_some_and(|outcome| bound.admits(outcome));
        if !game.legal().iter().any(ends) {
            let (key, game) = game.standard(bound.0);
            layer.insert(key, game);
        }
    };
    if game.outcome().is_some() || game.max_moves() == bound.0 {
        admit(&mut layer, &mut holds, game);
    } else {
        for name in game.legal() {
            admit(&mut layer, &mut holds, &game.play(&name));
        }
    }
    let mut layers = vec![];
    while !layer.is_empty() {
        let mut next = BTreeMap::new();
        let mut numbers = vec![];
        for game in layer.values() {
            let number = choose(game);
            numbers.push(number as u8);
            let Some(name) = game.legal().get(number).cloned() else {
                holds = false;
                continue;
            };
            let after = game.play(&name);
            match after.outcome() {
                Some(outcome) => holds &= bound.admits(outcome),
                None => {
                    for reply in after.legal() {
                        admit(&mut next, &mut holds, &after.play(&reply));
                    }
                }
            }
        }
        layers.push(numbers);
        layer = next;
    }
    (layers, holds)
}
