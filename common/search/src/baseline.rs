//! What the searches of this crate are measured against: plain alpha-beta for Connect Four, as the
//! well-known public solvers do it, without any of this project's knowledge or tables.
//!
//! Bitboards; moves that let the opponent win at once are left out, and the others tried by how
//! many winning cells they make, from the centre outwards; one table with an entry of eight bytes a
//! position, the last one kept. The value is found by a search for a win, and one for a draw if there
//! is none.

use jlpns_games::Outcome;

/// The entries of the table, as many as those solvers have.
const ENTRIES: usize = 1 << 24;

/// Values for the player to move, as negamax counts them: the opponent's are the negative ones.
const LOST: i8 = -1;
const DRAWN: i8 = 0;
const WON: i8 = 1;

/// What an entry says of a value, in its two lowest bits.
const AT_MOST_LOST: u64 = 0;
const AT_MOST_DRAWN: u64 = 1;
const AT_LEAST_DRAWN: u64 = 2;
const AT_LEAST_WON: u64 = 3;

/// Why a board is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the baseline solves boards of at most 62 bits, columns * (rows + 1), with 4 columns or rows at \
     the least and 16 columns at the most; not {0}x{1}"
)]
pub struct BoardError(pub u32, pub u32);

/// What the baseline found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Solved {
    /// The value for the player who moves first.
    pub value: Outcome,
    /// How many positions were searched.
    pub nodes: u64,
}

/// Solves the empty board of `width` columns and `height` rows.
pub fn solve(width: u32, height: u32) -> Result<Solved, BoardError> {
    let bits = u64::from(width) * (u64::from(height) + 1);
    if bits > 62 || width.max(height) < 4 || width == 0 || height == 0 || width > 16 {
        return Err(BoardError(width, height));
    }
    let mut search = Search::new(width, height);
    // Windows of nothing but one question, as those solvers ask: is it won, and if not, is it drawn?
    let won = search.value(0, 0, DRAWN, WON);
    let value = if won == WON { WON } else { search.value(0, 0, LOST, DRAWN) };
    Ok(Solved { value: Outcome((value + 1) as u8), nodes: search.nodes })
}

struct Search {
    /// Bits of a column.
    up: u32,
    width: usize,
    cells: u32,
    bottom: u64,
    full: u64,
    /// The cells of the columns, from the centre outwards.
    columns: [u64; 16],
    table: Box<[u64; ENTRIES]>,
    nodes: u64,
}

impl Search {
    fn new(width: u32, height: u32) -> Search {
        let up = height + 1;
        let column = |index: u32| ((1u64 << height) - 1) << (index * up);
        let mut order: Vec<u32> = (0..width).collect();
        order.sort_by_key(|&index| (2 * index + 1).abs_diff(width));
        let mut columns = [0; 16];
        columns.iter_mut().zip(&order).for_each(|(cells, &index)| *cells = column(index));
        Search {
            up,
            width: width as usize,
            cells: width * height,
            bottom: (0..width).map(|index| 1 << (index * up)).sum(),
            full: (0..width).map(column).sum(),
            columns,
            table: vec![0; ENTRIES].try_into().expect("it is as long"),
            nodes: 0,
        }
    }

    /// The empty cells that would complete a line of `stones`.
    fn winning_cells(&self, stones: u64, all: u64) -> u64 {
        let mut cells = (stones << 1) & (stones << 2) & (stones << 3);
        for step in [self.up, self.up - 1, self.up + 1] {
            let left = (stones << step) & (stones << (2 * step));
            cells |= left & (stones << (3 * step));
            cells |= left & (stones >> step);
            let right = (stones >> step) & (stones >> (2 * step));
            cells |= right & (stones >> (3 * step));
            cells |= right & (stones << step);
        }
        cells & self.full & !all
    }

    /// The cells that can be played without letting the opponent win at once.
    fn safe_cells(&self, mover: u64, all: u64) -> u64 {
        let playable = (all + self.bottom) & self.full;
        let threats = self.winning_cells(mover ^ all, all);
        let forced = playable & threats;
        let playable = match forced.count_ones() {
            0 => playable,
            1 => forced,
            _ => return 0,
        };
        playable & !(threats >> 1)
    }

    /// The value, if it lies between `alpha` and `beta`; else a bound on that side of them. The player
    /// to move must not be able to make a line at once: moves that would let them are left out before.
    fn value(&mut self, mover: u64, all: u64, mut alpha: i8, mut beta: i8) -> i8 {
        self.nodes += 1;
        let safe = self.safe_cells(mover, all);
        if safe == 0 {
            return if all == self.full { DRAWN } else { LOST };
        }
        if all.count_ones() + 2 >= self.cells {
            return DRAWN;
        }
        let key = mover + all + self.bottom;
        let slot = (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize % ENTRIES;
        let entry = self.table[slot];
        if entry >> 2 == key {
            match entry & 3 {
                AT_MOST_LOST => return LOST,
                AT_LEAST_WON => return WON,
                AT_MOST_DRAWN => beta = beta.min(DRAWN),
                _ => alpha = alpha.max(DRAWN),
            }
            if alpha >= beta {
                return alpha;
            }
        }
        let mut moves = [(0u32, 0u64); 16];
        let mut count = 0;
        for &column in &self.columns[..self.width] {
            let cell = safe & column;
            if cell != 0 {
                // Cells from the centre come first among equals.
                let promise = self.winning_cells(mover | cell, all | cell).count_ones();
                let mut at = count;
                while at > 0 && moves[at - 1].0 < promise {
                    moves[at] = moves[at - 1];
                    at -= 1;
                }
                moves[at] = (promise, cell);
                count += 1;
            }
        }
        for &(_, cell) in &moves[..count] {
            let value = -self.value(mover ^ all, all | cell, -beta, -alpha);
            if value >= beta {
                let fact = if value == WON { AT_LEAST_WON } else { AT_LEAST_DRAWN };
                self.table[slot] = key << 2 | fact;
                return value;
            }
            alpha = alpha.max(value);
        }
        let fact = if alpha == LOST { AT_MOST_LOST } else { AT_MOST_DRAWN };
        self.table[slot] = key << 2 | fact;
        alpha
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boards_have_their_known_values() {
        // Values of shared tables of the field: 0 a loss, 1 a draw, 2 a win of the first player.
        for (board, value) in [((4, 4), 1), ((5, 4), 1), ((4, 5), 1), ((6, 4), 0), ((4, 6), 1)] {
            let solved = solve(board.0, board.1).expect("a board in range");
            assert_eq!(solved.value, Outcome(value), "{board:?}");
        }
    }

    #[test]
    fn boards_out_of_range_are_refused() {
        assert_eq!(solve(8, 7), Err(BoardError(8, 7)));
        assert_eq!(solve(0, 4), Err(BoardError(0, 4)));
    }
}
