//! Connect Four as the checker has it, for those who look for small strategies.

use jlpns_games::Move;
use jlpns_verify::plan::Stones;

/// A size of the board, and what is claimed.
pub(super) struct Field {
    columns: u32,
    rows: u32,
    /// Each column's lowest cell.
    floor: u128,
    cells: u128,
    /// Whether only a win of the claimant's fulfils the claim, and not a draw.
    must_win: bool,
}

impl Field {
    pub(super) fn new(columns: u32, rows: u32, must_win: bool) -> Field {
        let floor = (0..columns).fold(0, |floor, column| floor | 1 << (column * (rows + 1)));
        let cells = (0..rows).fold(0, |cells, row| cells | floor << row);
        Field { columns, rows, floor, cells, must_win }
    }

    /// How many cells are empty.
    pub(super) fn empty(&self, stones: Stones) -> u32 {
        (self.cells & !stones.all).count_ones()
    }

    /// The positions with which the claimant begins.
    pub(super) fn first(&self, moves: &[Move], claimant_begins: bool) -> Vec<Stones> {
        let mut stones = Stones { claimant: 0, all: 0 };
        let mut is_claimant = claimant_begins;
        for &Move(column) in moves {
            let cell = self.open(stones.all) & self.column(u32::from(column));
            let last = if is_claimant { stones.claimant } else { stones.all ^ stones.claimant };
            if self.fours(last) & cell != 0 {
                return Vec::new();
            }
            stones.all |= cell;
            stones.claimant |= if is_claimant { cell } else { 0 };
            is_claimant = !is_claimant;
        }
        if stones.all == self.cells {
            Vec::new()
        } else if !is_claimant {
            self.replies(stones).unwrap_or_default()
        } else if self.ends_at_once(stones) {
            Vec::new()
        } else {
            vec![self.standard(stones)]
        }
    }

    fn column(&self, index: u32) -> u128 {
        let height = self.rows + 1;
        !(!0 << self.rows) << (index * height)
    }

    /// The cells where the next stones come to lie.
    fn open(&self, all: u128) -> u128 {
        (all + self.floor) & self.cells
    }

    /// The cells that make four in a row with three of these stones; some of them are not empty.
    fn fours(&self, stones: u128) -> u128 {
        let up = self.rows + 1;
        let mut found = stones << 1 & stones << 2 & stones << 3;
        for way in [up - 1, up, up + 1] {
            if 3 * way >= 128 {
                continue;
            }
            let (above, below) =
                (stones << way & stones << (2 * way), stones >> way & stones >> (2 * way));
            found |= above & (stones << (3 * way) | stones >> way);
            found |= below & (stones >> (3 * way) | stones << way);
        }
        found & self.cells
    }

    /// Whether the claimant, who is to move, can end the game as claimed.
    fn ends_at_once(&self, Stones { claimant, all }: Stones) -> bool {
        let open = self.open(all);
        self.fours(claimant) & open != 0 || !self.must_win && (self.cells & !all).count_ones() == 1
    }

    /// A position or its mirror image, as the checker has it.
    pub(super) fn standard(&self, stones: Stones) -> Stones {
        let height = self.rows + 1;
        let mirror = |bits: u128| {
            (0..self.columns).fold(0, |mirror, index| {
                let column = bits >> (index * height) & !(!0 << height);
                mirror | column << ((self.columns - 1 - index) * height)
            })
        };
        let number = stones.claimant | (stones.all + self.floor);
        if mirror(number) < number {
            Stones { claimant: mirror(stones.claimant), all: mirror(stones.all) }
        } else {
            stones
        }
    }

    /// The positions after the other player's moves that are still to be met, each once; none if one of them ends the
    /// game otherwise than claimed.
    pub(super) fn replies(&self, Stones { claimant, all }: Stones) -> Option<Vec<Stones>> {
        let open = self.open(all);
        let last = self.must_win && (self.cells & !all).count_ones() <= 1;
        if self.fours(all ^ claimant) & open != 0 || last {
            return None;
        }
        let mut next: Vec<Stones> = Vec::new();
        for cell in each(open) {
            let after = Stones { claimant, all: all | cell };
            if after.all == self.cells || self.ends_at_once(after) {
                continue;
            }
            let after = self.standard(after);
            if !next.iter().any(|known| (known.claimant, known.all) == (after.claimant, after.all))
            {
                next.push(after);
            }
        }
        Some(next)
    }

    /// The moves that do not lose at once, with their numbers: those that make the most threats first, then those in
    /// the middle.
    pub(super) fn moves(&self, stones: Stones) -> Vec<(u8, Stones)> {
        let Stones { claimant, all } = stones;
        let open = self.open(all);
        let feared = self.fours(all ^ claimant) & !all;
        let safe = match (feared & open).count_ones() {
            0 => open,
            1 => feared & open,
            _ => 0,
        };
        let mut moves: Vec<_> = (0u8..)
            .zip(each(open))
            .filter(|&(_, cell)| safe & cell != 0 && cell << 1 & feared == 0)
            .map(|(number, cell)| {
                let after = Stones { claimant: claimant | cell, all: all | cell };
                let threats = (self.fours(after.claimant) & !after.all).count_ones();
                let column = cell.trailing_zeros() / (self.rows + 1);
                let off_centre = (2 * column + 1).abs_diff(self.columns);
                ((u32::MAX - threats, off_centre), number, after)
            })
            .collect();
        moves.sort_by_key(|&(order, number, _)| (order, number));
        moves.into_iter().map(|(_, number, after)| (number, after)).collect()
    }
}

/// The bits of a number, each alone, lowest first.
fn each(mut bits: u128) -> impl Iterator<Item = u128> {
    std::iter::from_fn(move || {
        let bit = bits & bits.wrapping_neg();
        bits ^= bit;
        (bit != 0).then_some(bit)
    })
}
