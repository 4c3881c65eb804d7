//! Writes a certificate of Connect Four that is large enough to measure the checker with. Its search is a plain
//! alpha-beta with a table, of this file only; boards take 63 bits at most and have four columns or more.
//!
//! ```sh
//! cargo run --release -p jlpns-verify --example certificate -- 6x5 '' '>=draw' FILE
//! ```

#[path = "../tests/common/writer.rs"]
mod writer;

use std::cmp::Reverse;
use std::env::args;
use std::fs;

use anyhow::{Context, bail};
use writer::Certificate;

const SLOTS: usize = 1 << 25;

struct Search {
    columns: u32,
    rows: u32,
    floor: u64,
    cells: u64,
    /// Whether the claimant, or its opponent, needs a win; else a draw is enough.
    wins_needed: [bool; 2],
    table: Vec<u64>,
}

/// Stones of the player to move, and all stones.
#[derive(Clone, Copy)]
struct Board {
    own: u64,
    all: u64,
}

impl Search {
    fn completions(&self, stones: u64) -> u64 {
        let mut found = (stones << 1) & (stones << 2) & (stones << 3);
        for way in [self.rows, self.rows + 1, self.rows + 2] {
            let (up, down) =
                ((stones << way) & (stones << (2 * way)), (stones >> way) & (stones >> (2 * way)));
            found |= up & (stones << (3 * way) | stones >> way);
            found |= down & (stones >> (3 * way) | stones << way);
        }
        found
    }

    fn open(&self, board: Board) -> u64 {
        (board.all + self.floor) & self.cells
    }

    fn mirror(&self, bits: u64) -> u64 {
        let height = self.rows + 1;
        let column = |index| bits >> (index * height) & ((1 << height) - 1);
        (0..self.columns).map(|index| column(index) << ((self.columns - 1 - index) * height)).sum()
    }

    /// The moves that do not lose at once, or the winning one.
    fn sensible(&self, board: Board) -> (u64, bool) {
        let open = self.open(board);
        let win = self.completions(board.own) & open;
        if win != 0 {
            return (win, true);
        }
        let threats = self.completions(board.own ^ board.all) & self.cells;
        let forced = threats & open;
        let sensible = if forced == 0 {
            open
        } else if forced.count_ones() == 1 {
            forced
        } else {
            0
        };
        (sensible & !(threats >> 1), false)
    }

    fn after(&self, board: Board, cell: u64) -> Board {
        Board { own: board.own ^ board.all, all: board.all | cell }
    }

    /// Whether the player to move, who is the claimant (0) or the other (1), gets what it needs.
    fn reaches(&mut self, board: Board, player: usize) -> bool {
        if board.all == self.cells {
            return !self.wins_needed[player];
        }
        let (sensible, wins) = self.sensible(board);
        if wins || sensible == 0 {
            return wins;
        }
        let number = board.own + board.all + self.floor;
        let key = number.min(self.mirror(number));
        let slot = (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20) as usize % SLOTS;
        if self.table[slot] >> 1 == key {
            return self.table[slot] & 1 != 0;
        }
        let found = self
            .ordered(board, sensible)
            .into_iter()
            .any(|cell| !self.reaches(self.after(board, cell), 1 - player));
        self.table[slot] = key << 1 | u64::from(found);
        found
    }

    /// First what makes most threats, then what is most in the middle.
    fn ordered(&self, board: Board, mut moves: u64) -> Vec<u64> {
        let mut cells = vec![];
        while moves != 0 {
            cells.push(moves & moves.wrapping_neg());
            moves &= moves - 1;
        }
        let empty = self.cells & !board.all;
        cells.sort_by_key(|&cell| {
            let column = (cell.trailing_zeros() / (self.rows + 1)) as i32;
            let threats = (self.completions(board.own | cell) & empty).count_ones();
            (Reverse(threats), (2 * column + 1 - self.columns as i32).abs())
        });
        cells
    }

    fn draws(&self) -> bool {
        !self.wins_needed[0]
    }

    /// Takes in a position with the claimant to move, in standard form.
    fn admit(&self, board: Board, layer: &mut Vec<(u64, u64)>) {
        let left = self.cells.count_ones() - board.all.count_ones();
        if self.sensible(board).1 || left == 0 || left == 1 && self.draws() {
            return;
        }
        let number = board.own | (board.all + self.floor);
        let mirror = self.mirror(number);
        let all = if mirror < number { self.mirror(board.all) } else { board.all };
        layer.push((number.min(mirror), all));
    }

    fn layers(&mut self, start: Board, claimant_moves: bool) -> Vec<Vec<u8>> {
        let mut layer = vec![];
        let cells = |mut open: u64| {
            std::iter::from_fn(move || {
                let cell = open & open.wrapping_neg();
                open ^= cell;
                (cell != 0).then_some(cell)
            })
        };
        if claimant_moves {
            self.admit(start, &mut layer);
        } else {
            cells(self.open(start))
                .for_each(|cell| self.admit(self.after(start, cell), &mut layer));
        }
        let mut layers = vec![];
        while !layer.is_empty() {
            layer.sort_unstable();
            layer.dedup();
            let mut next = vec![];
            let mut numbers = vec![];
            for &(number, all) in &layer {
                let board = Board { own: number & all, all };
                let best = self.ordered(board, self.sensible(board).0);
                let cell = best.into_iter().find(|&cell| !self.reaches(self.after(board, cell), 1));
                let cell = cell.expect("a position of a layer has a good move");
                numbers.push((self.open(board) & (cell - 1)).count_ones() as u8);
                let after = self.after(board, cell);
                cells(self.open(after))
                    .for_each(|reply| self.admit(self.after(after, reply), &mut next));
            }
            eprintln!("layer {}: {} positions", layers.len() + 1, numbers.len());
            layers.push(numbers);
            layer = next;
        }
        layers
    }
}

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = args().skip(1).collect();
    let [board, moves, claim, file] = &arguments[..] else {
        bail!("usage: certificate COLUMNSxROWS MOVES CLAIM FILE");
    };
    let (columns, rows) = board.split_once('x').context("a board is COLUMNSxROWS")?;
    let (columns, rows): (u32, u32) = (columns.parse()?, rows.parse()?);
    let wins_needed = match &claim[..] {
        ">=win" | "<=loss" => [true, false],
        ">=draw" | "<=draw" => [false, true],
        _ => bail!("a claim is >=win, >=draw, <=draw or <=loss"),
    };
    let floor = (0..columns).map(|column| 1 << (column * (rows + 1))).sum();
    let cells = floor * ((1 << rows) - 1);
    let mut search = Search { columns, rows, floor, cells, wins_needed, table: vec![0; SLOTS] };
    let mut start = Board { own: 0, all: 0 };
    for name in moves.chars() {
        let column = name.to_digit(10).context("a move is a digit")? - 1;
        let cell = search.open(start) & (((1 << rows) - 1) << (column * (rows + 1)));
        start = search.after(start, cell);
    }
    let claimant_moves = (moves.len() % 2 == 0) == claim.starts_with('>');
    let true_claim =
        if claimant_moves { search.reaches(start, 0) } else { !search.reaches(start, 1) };
    if !true_claim {
        bail!("{claim} is not true");
    }
    let layers = search.layers(start, claimant_moves);
    let (spec, moves) = (format!("connect4:{board}"), moves.clone());
    let certificate =
        Certificate { spec, moves, claims: vec![(claim.clone(), layers)], block: 65_536 };
    eprintln!("{} positions", certificate.positions());
    fs::write(file, certificate.bytes())?;
    Ok(())
}
