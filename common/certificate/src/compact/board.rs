//! Connect Four as the checker has it, for those who look for small strategies.

use jlpns_games::Move;
use jlpns_games::connect4::Bitboard;

/// A position. Who is to move is known where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Stones<B> {
    /// The claimant's stones.
    pub(super) claimant: B,
    /// All stones.
    pub(super) all: B,
}

/// A size of the board, and what is claimed.
pub(super) struct Field<B> {
    pub(super) columns: u32,
    pub(super) rows: u32,
    /// Each column's lowest cell.
    floor: B,
    pub(super) cells: B,
    /// Whether only a win of the claimant's fulfils the claim, and not a draw.
    pub(super) must_win: bool,
}

impl<B: Bitboard> Stones<B> {
    /// With a stone of the claimant's more.
    pub(super) fn with(self, cell: B) -> Stones<B> {
        Stones { claimant: self.claimant | cell, all: self.all | cell }
    }
}

impl<B: Bitboard> Field<B> {
    pub(super) fn new(columns: u32, rows: u32, must_win: bool) -> Field<B> {
        let lowest = |column: u32| B::one() << (column * (rows + 1)) as usize;
        let floor = (0..columns).fold(B::zero(), |floor, column| floor | lowest(column));
        let cells = (0..rows).fold(B::zero(), |cells, row| cells | floor << row as usize);
        Field { columns, rows, floor, cells, must_win }
    }

    /// How many cells are empty.
    pub(super) fn empty(&self, stones: Stones<B>) -> u32 {
        (self.cells & !stones.all).count_ones()
    }

    /// The positions with which the claimant begins.
    pub(super) fn first(&self, moves: &[Move], claimant_begins: bool) -> Vec<Stones<B>> {
        let mut stones = Stones { claimant: B::zero(), all: B::zero() };
        let mut is_claimant = claimant_begins;
        for &Move(column) in moves {
            let cell = self.open(stones.all) & self.column(u32::from(column));
            let last = if is_claimant { stones.claimant } else { stones.all ^ stones.claimant };
            if self.fours(last) & cell != B::zero() {
                return Vec::new();
            }
            stones.all = stones.all | cell;
            stones.claimant = if is_claimant { last | cell } else { stones.claimant };
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

    /// The cells of a column.
    pub(super) fn column(&self, index: u32) -> B {
        !(!B::zero() << self.rows as usize) << (index * (self.rows + 1)) as usize
    }

    /// The column of a cell.
    pub(super) fn column_of(&self, cell: B) -> u32 {
        cell.trailing_zeros() / (self.rows + 1)
    }

    /// The cells where the next stones come to lie.
    pub(super) fn open(&self, all: B) -> B {
        (all + self.floor) & self.cells
    }

    /// The cells that make four in a row with three of these stones; some of them are not empty.
    pub(super) fn fours(&self, stones: B) -> B {
        let up = self.rows as usize + 1;
        let mut found = stones << 1 & stones << 2 & stones << 3;
        for way in [up - 1, up, up + 1] {
            if 3 * way >= B::zero().count_zeros() as usize {
                continue;
            }
            let (above, below) =
                (stones << way & stones << (2 * way), stones >> way & stones >> (2 * way));
            found = found | above & (stones << (3 * way) | stones >> way);
            found = found | below & (stones >> (3 * way) | stones << way);
        }
        found & self.cells
    }

    /// Whether the claimant, who is to move, can end the game as claimed.
    fn ends_at_once(&self, Stones { claimant, all }: Stones<B>) -> bool {
        let open = self.open(all);
        self.fours(claimant) & open != B::zero()
            || !self.must_win && (self.cells & !all).count_ones() == 1
    }

    /// A position or its mirror image, as the checker has it.
    pub(super) fn standard(&self, stones: Stones<B>) -> Stones<B> {
        let height = self.rows as usize + 1;
        let columns = self.columns as usize;
        let mirror = |bits: B| {
            (0..columns).fold(B::zero(), |mirror, index| {
                let column = bits >> (index * height) & !(!B::zero() << (height - 1) << 1);
                mirror | column << ((columns - 1 - index) * height)
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
    pub(super) fn replies(&self, Stones { claimant, all }: Stones<B>) -> Option<Vec<Stones<B>>> {
        let open = self.open(all);
        let last = self.must_win && (self.cells & !all).count_ones() <= 1;
        if self.fours(all ^ claimant) & open != B::zero() || last {
            return None;
        }
        let mut next: Vec<Stones<B>> = Vec::new();
        for cell in each(open) {
            let after = Stones { claimant, all: all | cell };
            if after.all == self.cells || self.ends_at_once(after) {
                continue;
            }
            let after = self.standard(after);
            if !next.contains(&after) {
                next.push(after);
            }
        }
        Some(next)
    }

    /// The moves that do not lose at once, with their numbers: those that make the most threats first, then those in
    /// the middle.
    pub(super) fn moves(&self, stones: Stones<B>) -> Vec<(u8, Stones<B>)> {
        let Stones { claimant, all } = stones;
        let open = self.open(all);
        let feared = self.fours(all ^ claimant) & !all;
        let safe = match (feared & open).count_ones() {
            0 => open,
            1 => feared & open,
            _ => B::zero(),
        };
        let mut moves: Vec<_> = (0u8..)
            .zip(each(open))
            .filter(|&(_, cell)| safe & cell != B::zero() && cell << 1 & feared == B::zero())
            .map(|(number, cell)| {
                let after = stones.with(cell);
                let threats = (self.fours(after.claimant) & !after.all).count_ones();
                let column = self.column_of(cell);
                let off_centre = (2 * column + 1).abs_diff(self.columns);
                ((u32::MAX - threats, off_centre), number, after)
            })
            .collect();
        moves.sort_by_key(|&(order, number, _)| (order, number));
        moves.into_iter().map(|(_, number, after)| (number, after)).collect()
    }
}

/// The bits of a number, each alone, lowest first.
pub(super) fn each<B: Bitboard>(mut bits: B) -> impl Iterator<Item = B> {
    std::iter::from_fn(move || {
        let bit = (bits != B::zero()).then(|| B::one() << bits.trailing_zeros() as usize)?;
        bits = bits ^ bit;
        Some(bit)
    })
}
