//! Makes certificates, true ones and others, of moves that somebody chooses.

use std::collections::BTreeMap;

use super::{Bound, Certificate, Naive};

impl Certificate {
    pub fn new<G: Naive>(game: &G) -> Certificate {
        Certificate { spec: game.spec(), moves: game.moves(), claims: vec![], block: 65_536 }
    }
}

/// The layer and the position, both counted from 1, where a strategy first breaks the claim; layer 0 is before
/// any move of it.
pub type Fault = Option<(usize, usize)>;

/// The layers of a claim when the claimant plays the moves that `choose` numbers, and where that breaks the claim.
/// Lines that break it are left out and the others go on, as a forger would have it.
pub fn certificate<G: Naive>(
    game: &G,
    bound: Bound,
    choose: &mut dyn FnMut(&G) -> usize,
) -> (Vec<Vec<u8>>, Fault) {
    let mut layer = BTreeMap::new();
    // Whether the claim still can hold.
    let admit = |layer: &mut BTreeMap<Vec<u128>, G>, game: &G| {
        if let Some(outcome) = game.outcome() {
            return bound.admits(outcome);
        }
        let ends =
            |name: &String| game.play(name).outcome().is_some_and(|outcome| bound.admits(outcome));
        if !game.legal().iter().any(ends) {
            let (key, game) = game.standard(bound.0);
            layer.insert(key, game);
        }
        true
    };
    let every_reply = |layer: &mut BTreeMap<Vec<u128>, G>, game: &G| {
        let admitted = game.legal().into_iter().map(|name| admit(layer, &game.play(&name)));
        // All of them, also after one that breaks the claim.
        admitted.fold(true, |holds, admitted| holds & admitted)
    };
    let begins = if game.outcome().is_some() || game.max_moves() == bound.0 {
        admit(&mut layer, game)
    } else {
        every_reply(&mut layer, game)
    };
    let mut fault = (!begins).then_some((0, 0));
    let mut layers: Vec<Vec<u8>> = vec![];
    while !layer.is_empty() {
        let mut next = BTreeMap::new();
        let mut numbers = vec![];
        for game in layer.values() {
            let number = choose(game);
            numbers.push(number as u8);
            let after = game.legal().get(number).map(|name| game.play(name));
            let holds = after.is_some_and(|after| match after.outcome() {
                Some(outcome) => bound.admits(outcome),
                None => every_reply(&mut next, &after),
            });
            if !holds {
                fault = fault.or(Some((layers.len() + 1, numbers.len())));
            }
        }
        layers.push(numbers);
        layer = next;
    }
    (layers, fault)
}
