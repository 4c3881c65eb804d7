//! Files that are whole, of strategies that are not: the bytes choose a position, claims about it, true and false,
//! and moves of the claimant, good ones and others. The checker accepts a file if and only if its moves show what
//! it claims; and the same files with something wrong in them only if they still are true.
#![no_main]

mod judge;
#[path = "../../tests/checker/naive/mod.rs"]
#[allow(dead_code, unused_imports, reason = "the tests need more of it")]
mod naive;

use jlpns_verify::Failure;
use libfuzzer_sys::fuzz_target;
use naive::{Bound, Certificate, Connect4, Naive, Woodpush, bounds, certificate, tight};

fuzz_target!(|bytes: &[u8]| {
    let mut choices = Choices(bytes);
    match choices.of(8) {
        0 => file(Connect4::new(4, 4), 7, choices),
        1 => file(Connect4::new(5, 5), 16, choices),
        2 => file(Connect4::new(4, 5), 11, choices),
        3 => file(Connect4::new(7, 3), 13, choices),
        4 => file(Woodpush::new("6"), 0, choices),
        5 => file(Woodpush::new("7"), 4, choices),
        6 => file(Woodpush::new("8"), 8, choices),
        _ => file(Woodpush::new("LL.RLRR"), 5, choices),
    }
});

/// The bytes that are left, each one a choice; zeros after them.
struct Choices<'a>(&'a [u8]);

impl Choices<'_> {
    fn next(&mut self) -> usize {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        (*first).into()
    }

    fn of(&mut self, choices: usize) -> usize {
        self.next() % choices
    }
}

/// A file about the position after `least` moves or a few more, if the game goes on so long.
fn file<G: Naive>(mut game: G, least: usize, mut choices: Choices<'_>) {
    for _ in 0..least + choices.of(6) {
        if game.outcome().is_some() {
            break;
        }
        let legal = game.legal();
        game = game.play(&legal[choices.of(legal.len())]);
    }
    let value = judge::value(&game);
    let claims = claims(&game, value, &mut choices);
    let block = [65_536, 1, 2, 7][choices.of(4)];
    let mut file = Certificate { block, ..Certificate::new(&game) };
    let mut shown = true;
    for bound in claims {
        // The share of moves that are good ones, of 256.
        let good = [0, 128, 240, 256][choices.of(4)];
        let (layers, fault) = certificate(&game, bound, &mut |game: &G| {
            let choice = choices.next();
            let legal = game.legal();
            let keeps = |name: &String| bound.admits(judge::value(&game.play(name)));
            if choice < good {
                legal.iter().position(keeps).unwrap_or(0)
            } else {
                // Among these is the number of no move.
                choice % (legal.len() + 1)
            }
        });
        shown &= fault.is_none();
        assert!(
            bound.admits(value) || fault.is_some(),
            "{bound:?} of {game:?} is false and was shown"
        );
        file.claims.push((bound.text::<G>(), layers));
    }
    match (judge::accepted_only_if_true(&file.bytes()), shown) {
        (Ok(proved), true) => assert_eq!(proved.positions, file.positions() as u64),
        (Err(Failure::Fails(_)), false) => {}
        (other, _) => panic!("{other:?} for {file:?}, whose moves show its claims: {shown}"),
    }
    let _ = judge::accepted_only_if_true(&tampered(file, &mut choices));
}

/// One claim, true or not, or two.
fn claims<G: Naive>(game: &G, value: i32, choices: &mut Choices<'_>) -> Vec<Bound> {
    let all = bounds(game);
    match choices.of(3) {
        0 => vec![all[choices.of(all.len())]],
        1 => tight(game, value),
        _ => {
            let (lower, upper): (Vec<_>, Vec<_>) = all.into_iter().partition(|bound| bound.0);
            vec![lower[choices.of(lower.len())], upper[choices.of(upper.len())]]
        }
    }
}

/// The file with something wrong in it, all checksums right.
fn tampered(mut file: Certificate, choices: &mut Choices<'_>) -> Vec<u8> {
    let what = choices.of(6);
    let claim = choices.of(file.claims.len());
    let layers = &mut file.claims[claim].1;
    let layer = choices.of(layers.len().max(1));
    if let Some(numbers) = layers.get_mut(layer) {
        let place = choices.of(numbers.len());
        match what {
            0 => numbers[place] = choices.next() as u8,
            1 => numbers.insert(place, choices.next() as u8),
            2 => drop(numbers.remove(place)),
            3 => drop(layers.remove(layer)),
            _ => {}
        }
    }
    let header = file.header();
    let header = match what {
        4 => header.replacen(">=", "<=", 1),
        5 => {
            let names =
                [("win", "draw"), ("draw", "win"), ("loss", "draw"), ("=1", "=2"), ("-1", "1")];
            let (from, to) = names[choices.of(names.len())];
            header.replacen(from, to, 1)
        }
        _ => header,
    };
    file.bytes_with(&header)
}
