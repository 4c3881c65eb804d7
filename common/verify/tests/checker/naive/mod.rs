//! What the tests hold the checker against: both games by the letter of the page, values by brute force, and a
//! writer of certificates. Nothing here is shared with the checker.

pub mod connect4;
pub mod strategy;
pub mod woodpush;
pub mod writer;

use std::collections::HashMap;
use std::fmt::Debug;

pub use connect4::Connect4;
use jlpns_verify::{Failure, Proved, Settings, check};
pub use strategy::{Fault, certificate};
pub use woodpush::Woodpush;
pub use writer::Certificate;

/// A position with all that was played before it.
pub trait Naive: Clone + Debug {
    fn spec(&self) -> String;
    /// The names of the legal moves, in order. The game is not over.
    fn legal(&self) -> Vec<String>;
    fn play(&self, name: &str) -> Self;
    fn outcome(&self) -> Option<i32>;
    fn max_moves(&self) -> bool;
    /// What positions of a layer are sorted by, and the position in standard form.
    fn standard(&self, claimant: bool) -> (Vec<u128>, Self);
    fn name(outcome: i32) -> String;
    /// All outcomes, worst first.
    fn outcomes(&self) -> Vec<i32>;
    fn moves(&self) -> String;
}

/// Values by minimax, with a table.
pub struct Values {
    pub table: HashMap<(Vec<u128>, bool), i32>,
}

impl Values {
    pub fn new() -> Values {
        Values { table: HashMap::new() }
    }

    pub fn of<G: Naive>(&mut self, game: &G) -> i32 {
        if let Some(outcome) = game.outcome() {
            return outcome;
        }
        let key = (game.standard(true).0, game.max_moves());
        if let Some(&value) = self.table.get(&key) {
            return value;
        }
        let values: Vec<i32> = game.legal().iter().map(|name| self.of(&game.play(name))).collect();
        let value =
            if game.max_moves() { values.into_iter().max() } else { values.into_iter().min() };
        let value = value.expect("a game that is not over has a legal move");
        self.table.insert(key, value);
        value
    }
}

/// A claim of the tests' own: whether it is `>=`, and the outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bound(pub bool, pub i32);

impl Bound {
    pub fn admits(self, outcome: i32) -> bool {
        if self.0 { outcome >= self.1 } else { outcome <= self.1 }
    }

    pub fn text<G: Naive>(self) -> String {
        format!("{}{}", if self.0 { ">=" } else { "<=" }, G::name(self.1))
    }
}

/// All claims that say something, true or not.
pub fn bounds<G: Naive>(game: &G) -> Vec<Bound> {
    let outcomes = game.outcomes();
    let lower = outcomes[1..].iter().map(|&outcome| Bound(true, outcome));
    lower
        .chain(outcomes[..outcomes.len() - 1].iter().map(|&outcome| Bound(false, outcome)))
        .collect()
}

/// The number of the first move that keeps the bound, or 0 if there is none.
pub fn good_move<G: Naive>(values: &mut Values, bound: Bound, game: &G) -> usize {
    game.legal().iter().position(|name| bound.admits(values.of(&game.play(name)))).unwrap_or(0)
}

/// A certificate for all bounds that hold in this position, with moves found by brute force.
pub fn true_certificate<G: Naive>(game: &G) -> Certificate {
    let mut values = Values::new();
    let value = values.of(game);
    let mut found = Certificate::new(game);
    for bound in tight(game, value) {
        let (layers, fault) =
            certificate(game, bound, &mut |game| good_move(&mut values, bound, game));
        assert_eq!(fault, None, "{bound:?} of {game:?} is true, but was not shown");
        found.claims.push((bound.text::<G>(), layers));
    }
    found
}

/// The one or two claims that say what the value is.
pub fn tight<G: Naive>(game: &G, value: i32) -> Vec<Bound> {
    [Bound(true, value), Bound(false, value)]
        .into_iter()
        .filter(|bound| bounds(game).contains(bound))
        .collect()
}

pub fn one_thread() -> Settings {
    Settings { threads: std::num::NonZero::<usize>::MIN, ..Settings::default() }
}

pub fn checked(bytes: &[u8]) -> Result<Proved, Failure> {
    check(bytes, &one_thread(), &mut ())
}

/// The sentence of a file that can be read and does not show what it claims.
pub fn fails(bytes: &[u8]) -> String {
    match checked(bytes) {
        Err(Failure::Fails(why)) => why,
        other => panic!("expected a claim that fails, found {other:?}"),
    }
}

/// The sentence of a file that cannot be read.
pub fn unreadable(bytes: &[u8]) -> String {
    match checked(bytes) {
        Err(Failure::Unreadable(why)) => why,
        other => panic!("expected a file that cannot be read, found {other:?}"),
    }
}
