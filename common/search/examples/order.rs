//! Looks for better weights of Connect Four's order of moves ([`Weights`]), by what alpha-beta expands with them: climbs
//! from those in use, one weight after the other, on some boards, and shows what becomes of others.
//!
//! ```text
//! cargo run --release -p jlpns-search --example order
//! cargo run --release -p jlpns-search --example order -- --learn 6x5,7x5 --judge 7x6 --rounds 1
//! cargo run --release -p jlpns-search --example order -- --start 29,36,20,3,2,1,7,-16,0,0,0,0,0 --rounds 0
//! ```
//!
//! Expanded positions are the same on every machine, so the same boards give the same weights.

use std::cell::RefCell;

use jlpns_games::Game;
use jlpns_games::connect4::{Connect4, Weights};
use jlpns_search::search::{SearchSettings, search};
use jlpns_search::{Algorithm, Initialisation, Question, TranspositionTable};

/// The boards to learn from: small ones, of both parities of width and height.
const LEARN: &str = "6x5,7x5,5x7,6x6,8x4,5x8";
/// The boards to judge by.
const JUDGE: &str = "7x6,6x7,8x5,5x9,9x4";

/// A weight, by its name.
type Weight = (&'static str, fn(&mut Weights) -> &mut i32);

const WEIGHTS: [Weight; 13] = [
    ("useful", |weights| &mut weights.useful),
    ("next", |weights| &mut weights.next),
    ("after_next", |weights| &mut weights.after_next),
    ("line", |weights| &mut weights.line),
    ("own", |weights| &mut weights.own),
    ("theirs", |weights| &mut weights.theirs),
    ("begun", |weights| &mut weights.begun),
    ("reply", |weights| &mut weights.reply),
    ("opening.two_of_theirs", |weights| &mut weights.opening.two_of_theirs),
    ("opening.own_cell", |weights| &mut weights.opening.own_cell),
    ("opening.their_cell", |weights| &mut weights.opening.their_cell),
    ("opening.theirs_above", |weights| &mut weights.opening.theirs_above),
    ("opening.own_above", |weights| &mut weights.opening.own_above),
];

type Error = Box<dyn std::error::Error>;

/// A board, and what weights are measured against there.
struct Board {
    name: String,
    game: Connect4<u64>,
    before: u64,
    /// What weights that were tried have cost.
    known: RefCell<Vec<(Weights, u64)>>,
}

impl Board {
    fn new(name: &str) -> Result<Board, Error> {
        let (width, height) = name.split_once('x').ok_or("write a board as 7x6")?;
        let game = Connect4::new(width.parse()?, height.parse()?)?;
        let (name, known) = (name.to_string(), RefCell::default());
        let board = Board { name, game, before: 0, known };
        let before = board.expanded(Weights::default())?;
        Ok(Board { before, ..board })
    }

    /// How many positions alpha-beta expands for the value of the board.
    fn expanded(&self, weights: Weights) -> Result<u64, Error> {
        if let Some(&(_, cost)) = self.known.borrow().iter().find(|(tried, _)| *tried == weights) {
            return Ok(cost);
        }
        let game = self.game.clone().with_weights(weights);
        let settings = SearchSettings {
            algorithm: Algorithm::AlphaBeta,
            initialisation: Initialisation::Mobility,
            memory: 256 << 20,
            ..SearchSettings::default()
        };
        let table = TranspositionTable::with_bytes(settings.table_bytes())?;
        let question = Question::Value(game.scale().bounds());
        let end = search(&game, &mut game.start(), question, &settings, &table, &mut ());
        let cost = end.statistics.descents;
        self.known.borrow_mut().push((weights, cost));
        Ok(cost)
    }
}

fn main() -> Result<(), Error> {
    let (mut learn, mut judge, mut rounds) = (LEARN.to_string(), JUDGE.to_string(), 3);
    let mut start = Weights::default();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
        match argument.as_str() {
            "--learn" => learn = value()?,
            "--judge" => judge = value()?,
            "--rounds" => rounds = value()?.parse()?,
            "--start" => start = weights(&value()?)?,
            other => {
                let known = "--learn, --judge, --rounds, --start";
                return Err(format!("'{other}' is none of {known}").into());
            }
        }
    }
    let (learn, judge) = (boards(&learn)?, boards(&judge)?);
    let mut best = (start, cost(&learn, start)?);
    println!("at first: {:.4} of the positions with {:?}", best.1, best.0);
    for round in 1..=rounds {
        let before = best;
        for (name, weight) in WEIGHTS {
            climb(&mut best, name, weight, &learn)?;
        }
        println!("round {round}: {:.4} of the positions with {:?}", best.1, best.0);
        if best == before {
            break;
        }
    }
    for board in learn.iter().chain(&judge) {
        let after = board.expanded(best.0)?;
        let ratio = after as f64 / board.before as f64;
        println!("{}: {} positions, then {after} ({ratio:.3})", board.name, board.before);
    }
    Ok(())
}

/// Tries the weight by steps that halve, both ways, and keeps what costs less on these boards.
fn climb(
    best: &mut (Weights, f64),
    name: &str,
    weight: fn(&mut Weights) -> &mut i32,
    boards: &[Board],
) -> Result<(), Error> {
    let size = weight(&mut best.0.clone()).abs();
    let mut step = (size / 2).max(2);
    while step > size / 10 {
        let mut has_improved = false;
        for change in [step, -step] {
            let mut weights = best.0;
            *weight(&mut weights) += change;
            let found = cost(boards, weights)?;
            if found < best.1 {
                println!("{name} {}: {found:.4}", weight(&mut weights));
                (*best, has_improved) = ((weights, found), true);
                break;
            }
        }
        if !has_improved {
            step /= 2;
        }
    }
    Ok(())
}

/// Weights, in the order of [`WEIGHTS`].
fn weights(list: &str) -> Result<Weights, Error> {
    let numbers: Vec<i32> = list.split(',').map(str::parse).collect::<Result<_, _>>()?;
    if numbers.len() != WEIGHTS.len() {
        let names = WEIGHTS.map(|(name, _)| name).join(",");
        return Err(format!("write the weights as {names}").into());
    }
    let mut weights = Weights::default();
    for ((_, weight), number) in WEIGHTS.iter().zip(numbers) {
        *weight(&mut weights) = number;
    }
    Ok(weights)
}

fn boards(list: &str) -> Result<Vec<Board>, Error> {
    list.split(',').map(Board::new).collect()
}

/// What the boards cost with these weights, as the geometric mean of multiples of what they cost before.
fn cost(boards: &[Board], weights: Weights) -> Result<f64, Error> {
    let mut logarithms = 0.0;
    for board in boards {
        logarithms += (board.expanded(weights)? as f64 / board.before as f64).ln();
    }
    Ok((logarithms / boards.len() as f64).exp())
}
