//! A game with as many outcomes as its specs say, up to the most that a scale has: a row of coins from
//! which the players take in turns, one from either end each time. A game from outside, for tests.

use jlpns_games::dyn_game::DynGame;
use jlpns_games::outcome::ScaleError;
use jlpns_games::spec::{AnyGame, GameFamily, SpecError};
use jlpns_games::{Bounds, Game, Move, MoveList, Outcome, OutcomeScale, Player};

/// A row of coins. The outcome is what Max has more than Min at the end.
#[derive(Clone, Debug)]
pub struct Coins {
    scale: OutcomeScale,
    coins: Vec<i32>,
}

/// The coins that are left, and what Max has more than Min.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    first: u16,
    end: u16,
    lead: i32,
}

const LEFT: Move = Move(0);
const RIGHT: Move = Move(1);

impl Coins {
    /// Coins worth together one less than there are outcomes: the lead can be any number of the same
    /// parity as their sum.
    pub fn new(coins: &[u8]) -> Result<Coins, ScaleError> {
        let coins: Vec<i32> = coins.iter().copied().map(i32::from).collect();
        let sum: i32 = coins.iter().sum();
        Ok(Coins { scale: OutcomeScale::scores((-sum..=sum).step_by(2))?, coins })
    }

    fn taken(&self, row: &Row, mv: Move) -> i32 {
        let coin = if mv == LEFT { row.first } else { row.end - 1 };
        match self.to_move(row) {
            Player::Max => self.coins[usize::from(coin)],
            Player::Min => -self.coins[usize::from(coin)],
        }
    }

    fn with_lead(&self, lead: i32) -> Outcome {
        self.scale.with_score(lead).expect("a sum of coins with signs")
    }
}

impl Game for Coins {
    type Position = Row;
    type Key = u64;
    type Notes = ();

    fn scale(&self) -> &OutcomeScale {
        &self.scale
    }

    fn start(&self) -> Row {
        Row { first: 0, end: self.coins.len() as u16, lead: 0 }
    }

    fn to_move(&self, row: &Row) -> Player {
        let taken = self.coins.len() - usize::from(row.end - row.first);
        if taken.is_multiple_of(2) { Player::Max } else { Player::Min }
    }

    fn outcome(&self, row: &Row) -> Option<Outcome> {
        (row.first == row.end).then(|| self.with_lead(row.lead))
    }

    fn moves(&self, row: &Row, moves: &mut MoveList) {
        moves.push(LEFT);
        if row.end - row.first > 1 {
            moves.push(RIGHT);
        }
    }

    fn play(&self, row: &mut Row, mv: Move) {
        row.lead += self.taken(row, mv);
        if mv == LEFT { row.first += 1 } else { row.end -= 1 }
    }

    fn undo(&self, row: &mut Row, mv: Move) {
        if mv == LEFT {
            row.first -= 1
        } else {
            row.end += 1
        }
        row.lead -= self.taken(row, mv);
    }

    fn key(&self, row: &Row) -> u64 {
        u64::from(row.first) << 48 | u64::from(row.end) << 32 | u64::from(row.lead as u32)
    }

    fn move_name(&self, _row: &Row, mv: Move) -> String {
        if mv == LEFT { "l".to_owned() } else { "r".to_owned() }
    }

    fn show(&self, row: &Row) -> String {
        let left = &self.coins[usize::from(row.first)..usize::from(row.end)];
        format!("{left:?}, lead {}", row.lead)
    }

    // Nobody gets more than all that is left.
    fn static_bounds(&self, row: &Row) -> Bounds {
        let left: i32 = self.coins[usize::from(row.first)..usize::from(row.end)].iter().sum();
        Bounds { lower: self.with_lead(row.lead - left), upper: self.with_lead(row.lead + left) }
    }
}

/// How specs name it: the values of the coins.
pub const COINS: GameFamily = GameFamily {
    name: "coins",
    notations: &["VALUE-VALUE-..."],
    examples: &["coins:5-9-3-8-8"],
    moves: "lrr",
    read: |values| {
        let no_coins = || SpecError::Refused(format!("'{values}' is no row of coins"));
        let coins: Result<Vec<u8>, _> = values.split('-').map(str::parse).collect();
        let game = Coins::new(&coins.map_err(|_| no_coins())?)?;
        Ok((values.to_owned(), AnyGame::Dyn(DynGame::new(game))))
    },
};
