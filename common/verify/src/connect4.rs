//! Connect Four, rules 1. A position is a number, as the page has it: in each column the claimant's stones are ones,
//! the other player's zeros, and a one lies on top.

use std::io::{self, Read, Write};
use std::iter;
use std::ops::{Add, BitAnd, BitOr, BitXor, Not, Shl, Shr};

use crate::Failure;
use crate::header::{Claim, Header, Quoted};
use crate::layer::Position;
use crate::pass::{Board, Rules};

/// An unsigned integer with a bit for each cell and one more for each column.
pub(crate) trait Bits: Position + Copy + Into<u128> + Not<Output = Self>
where
    Self: BitAnd<Output = Self> + BitOr<Output = Self> + BitXor<Output = Self>,
    Self: Add<Output = Self> + Shl<u32, Output = Self> + Shr<u32, Output = Self>,
{
    const ZERO: Self;
    const ONE: Self;

    fn count(self) -> u32 {
        self.into().count_ones()
    }

    /// The place of the lowest one.
    fn lowest(self) -> u32 {
        self.into().trailing_zeros()
    }
}

macro_rules! bits {
    ($integer:ty) => {
        impl Bits for $integer {
            const ZERO: $integer = 0;
            const ONE: $integer = 1;
        }

        impl Position for $integer {
            fn write(&self, output: &mut impl Write) -> io::Result<()> {
                output.write_all(&self.to_le_bytes())
            }

            fn read(input: &mut impl Read) -> io::Result<$integer> {
                let mut bytes = [0; size_of::<$integer>()];
                input.read_exact(&mut bytes)?;
                Ok(<$integer>::from_le_bytes(bytes))
            }
        }
    };
}

bits!(u64);
bits!(u128);

/// What is added to the number of a move if a plan says how the game goes on after it.
const PLANNED: u8 = 128;

/// The columns' names, from the left.
const NAMES: &[u8; 64] = b"123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ+-=";

pub(crate) struct Connect4<B> {
    pub(crate) columns: u32,
    pub(crate) rows: u32,
    /// Each column's lowest cell.
    floor: B,
    /// All cells, without the bits above the columns.
    pub(crate) cells: B,
    /// The ways of lines that are not vertical, as distances between neighbours.
    ways: Vec<u32>,
    /// Steps that fill columns from their highest one down: distances, and the bits that they may reach.
    fills: Vec<(u32, B)>,
    /// Where a mirror has each bit.
    mirrored: Vec<u32>,
    /// The position in question: Max's stones, all stones, and the outcome, if the game is over.
    max: B,
    all: B,
    outcome: Option<i32>,
    /// Whether the certificate is of the compact kind, in which positions may end in plans.
    compact: bool,
}

impl<B: Bits> Connect4<B> {
    /// The board has no more bits than `B`.
    pub(crate) fn new(columns: u32, rows: u32, header: &Header) -> Result<Connect4<B>, Failure> {
        let height = rows + 1;
        let lowest = |cells: u32| {
            let places = (0..columns * height).filter(|place| place % height < cells);
            places.fold(B::ZERO, |bits, place| bits | B::ONE << place)
        };
        let steps = (0..).map(|step| 1 << step).take_while(|&step| step < height);
        let mirrored = |place| (columns - 1 - place / height) * height + place % height;
        let mut game = Connect4 {
            columns,
            rows,
            floor: lowest(1),
            cells: lowest(rows),
            // On fewer columns no other line has room for four, nor the integer for the distances.
            ways: if columns < 4 { vec![] } else { vec![rows, height, height + 1] },
            fills: steps.map(|step| (step, lowest(height - step))).collect(),
            mirrored: (0..columns * height).map(mirrored).collect(),
            max: B::ZERO,
            all: B::ZERO,
            outcome: None,
            compact: header.compact,
        };
        for (index, name) in header.moves.chars().enumerate() {
            let mut cells = each(game.open(game.all)).filter(|_| game.outcome.is_none());
            let Some(cell) = cells.find(|&cell| game.name(cell) == name) else {
                refuse!(
                    Unreadable,
                    "move {} of the header, {}, is not legal there",
                    index + 1,
                    Quoted(&name.to_string())
                );
            };
            let (mover, win) =
                if index % 2 == 0 { (game.max, 1) } else { (game.all ^ game.max, -1) };
            let wins = game.fours(mover) & cell != B::ZERO;
            game.all = game.all | cell;
            game.max = if win == 1 { mover | cell } else { game.max };
            game.outcome = if wins { Some(win) } else { (game.all == game.cells).then_some(0) };
        }
        Ok(game)
    }

    /// The cells where the next stones come to lie.
    pub(crate) fn open(&self, all: B) -> B {
        (all + self.floor) & self.cells
    }

    /// The cells that make four in a row with three of these stones; other bits may be among them.
    pub(crate) fn fours(&self, stones: B) -> B {
        let mut found = stones << 1 & stones << 2 & stones << 3;
        for &way in &self.ways {
            let above = stones << way & stones << (2 * way);
            let below = stones >> way & stones >> (2 * way);
            found = found | above & (stones << (3 * way) | stones >> way);
            found = found | below & (stones >> (3 * way) | stones << way);
        }
        found
    }

    pub(crate) fn number(&self, claimant: B, all: B) -> B {
        claimant | (all + self.floor)
    }

    /// The claimant's stones, and all stones.
    fn stones(&self, number: B) -> (B, B) {
        let fill = |filled, &(step, reach): &(u32, B)| filled | filled >> step & reach;
        // What is filled goes up to the one on top; the stones are one cell less.
        let all = self.fills.iter().fold(number, fill) >> 1 & self.cells;
        (number & all, all)
    }

    fn mirror(&self, number: B) -> B {
        let height = self.rows + 1;
        let column = |index: u32| number >> (index * height) & !(!B::ZERO << self.rows << 1);
        let place = |index| (self.columns - 1 - index) * height;
        (0..self.columns).fold(B::ZERO, |mirror, index| mirror | column(index) << place(index))
    }

    /// The cells of a column.
    pub(crate) fn column(&self, index: u32) -> B {
        !(!B::ZERO << self.rows) << (index * (self.rows + 1))
    }

    /// The move that puts a stone on this cell.
    fn name(&self, cell: B) -> char {
        NAMES[(cell.lowest() / (self.rows + 1)) as usize] as char
    }

    /// The replies after which the claimant still has to do something, in a position with the other player to move,
    /// in which no four are in a row and a cell is empty.
    pub(crate) fn replies(&self, claim: &Claim, claimant: B, all: B) -> Result<B, String> {
        let other = if claim.at_least { "Min" } else { "Max" };
        let open = self.open(all);
        let lost = self.fours(all ^ claimant) & open;
        if lost != B::ZERO {
            return Err(format!("{other} wins at once with {}", self.name(lost)));
        }
        let (draws, empty) = (claim.admits(0), (self.cells & !all).count());
        if empty == 1 && !draws {
            return Err(format!("{other} fills the board, which is a draw"));
        }
        // If the reply leaves one empty cell, the claimant's stone ends the game there, in a draw at least.
        if empty <= 2 && draws {
            return Ok(B::ZERO);
        }
        let wins = self.fours(claimant) & self.cells;
        // Of the cells that the claimant can fill next, the one above the reply is new.
        let met = open & !(wins >> 1);
        Ok(match (wins & open).count() {
            0 => met,
            // Any other reply lets the claimant win at once, and no reply is in two cells.
            1 => met & wins,
            _ => B::ZERO,
        })
    }

    /// Adds what comes after every reply that is to be met.
    fn add(&self, claim: &Claim, claimant: B, all: B, next: &mut Vec<B>) -> Result<(), String> {
        let replies = self.replies(claim, claimant, all)?;
        let number = self.number(claimant, all);
        let mirror = self.mirror(number);
        for cell in each(replies) {
            // The one on top goes up and leaves a zero: that adds it once more.
            let mirrored = B::ONE << self.mirrored[cell.lowest() as usize];
            next.push((number + cell).min(mirror + mirrored));
        }
        Ok(())
    }
}

impl<B: Bits> Rules for Connect4<B> {
    type Position = B;

    fn first(&self, claim: &Claim, next: &mut Vec<B>) -> Result<(), String> {
        let claimant = if claim.at_least { self.max } else { self.all ^ self.max };
        let number = self.number(claimant, self.all);
        let told = |why| format!("{why}\n{}", self.draw(claim, &number));
        match self.outcome {
            Some(outcome) if claim.admits(outcome) => return Ok(()),
            Some(0) => return Err(told("the board is full, which is a draw".into())),
            Some(_) => return Err(told("the other player has won".into())),
            None => {}
        }
        if claim.at_least != self.all.count().is_multiple_of(2) {
            return self.add(claim, claimant, self.all, next).map_err(told);
        }
        let wins = self.fours(claimant) & self.open(self.all) != B::ZERO;
        let fills = (self.cells & !self.all).count() == 1 && claim.admits(0);
        if !wins && !fills {
            next.push(number.min(self.mirror(number)));
        }
        Ok(())
    }

    fn play(
        &self,
        claim: &Claim,
        position: &B,
        entry: &[u8],
        next: &mut Vec<B>,
    ) -> Result<(), String> {
        let (byte, plan) = (entry[0], &entry[1..]);
        let planned = self.compact && byte >= PLANNED;
        let number = if planned { byte - PLANNED } else { byte };
        let (claimant, all) = self.stones(*position);
        let open = self.open(all);
        let Some(cell) = each(open).nth(number.into()) else {
            return Err(format!(
                "number {number} is no legal move's, as there are {}",
                open.count()
            ));
        };
        let after = |why| format!("after {}, {why}", self.name(cell));
        // A position with a move that ends the game as claimed is of no layer. So this move does not win, and
        // if it fills the board, a draw is not enough.
        if all | cell == self.cells {
            return Err(after("the board is full, which is a draw".into()));
        }
        let (claimant, all) = (claimant | cell, all | cell);
        if planned {
            return self.walk(claim, (claimant, all), plan).map_err(after);
        }
        if plan.iter().any(|&byte| byte != 0) {
            return Err("its number says that there is no plan, but there is one".into());
        }
        self.add(claim, claimant, all, next).map_err(after)
    }

    fn board(&self, &position: &B) -> Board<'static> {
        let (claimant, all) = self.stones(position);
        Board::Connect4 { claimant: claimant.into(), all: all.into() }
    }

    fn draw(&self, claim: &Claim, position: &B) -> String {
        let (claimant, all) = self.stones(*position);
        let piece = |cell| match (all & cell != B::ZERO, claimant & cell != B::ZERO) {
            (true, true) => 'x',
            (true, false) => 'o',
            _ => '.',
        };
        let cells =
            |row| (0..self.columns).map(move |column| B::ONE << (column * (self.rows + 1) + row));
        let rows = (0..self.rows).rev().map(|row| cells(row).map(piece).collect::<String>());
        let (x, o) = if claim.at_least { ("Max", "Min") } else { ("Min", "Max") };
        format!("(x is {x}, the claimant, o is {o})\n{}", rows.collect::<Vec<_>>().join("\n"))
    }
}

/// The ones of a number, lowest first.
pub(crate) fn each<B: Bits>(mut cells: B) -> impl Iterator<Item = B> {
    iter::from_fn(move || {
        let cell = (cells != B::ZERO).then(|| B::ONE << cells.lowest())?;
        cells = cells ^ cell;
        Some(cell)
    })
}

#[cfg(test)]
mod tests;
