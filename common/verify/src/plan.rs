//! Plans: how the claimant answers every stone in Connect Four by a fixed rule. Nothing is known about a plan before:
//! it is played against everything that the other player can do, and holds if every end fulfils the claim.

use crate::Claim;
use crate::connect4::{Bits, Connect4, each};
use crate::pass::Rules;

/// How many positions a plan may come to, so that nobody is kept busy by one.
pub const MOST: usize = 1 << 14;

impl<B: Bits> Connect4<B> {
    /// Plays a plan in the position after the claimant's move, which has an empty cell and no four in a row.
    pub(crate) fn walk(&self, claim: &Claim, after: (B, B), plan: &[u8]) -> Result<(), String> {
        if let Some(byte) = plan.iter().find(|&&byte| u32::from(byte) >= self.columns) {
            return Err(format!("the plan's {byte} names no column"));
        }
        // All positions of a layer have as many stones. In each the other player is to move.
        let (mut layer, mut met) = (vec![after], 0);
        while !layer.is_empty() {
            met += layer.len();
            if met > MOST {
                return Err(format!("the plan comes to more than {MOST} positions"));
            }
            let mut next = Vec::new();
            for (claimant, all) in layer {
                let replies = self.replies(claim, claimant, all).map_err(|why| {
                    let board = self.draw(claim, &self.number(claimant, all));
                    format!("the plan comes to a position in which {why}\n{board}\nfrom")
                })?;
                for reply in each(replies) {
                    let answer = self.answer(claimant, all | reply, reply, plan);
                    // It is only filled here if a draw is not enough.
                    if all | reply | answer == self.cells {
                        return Err("the plan fills the board, which is a draw".into());
                    }
                    next.push((claimant | answer, all | reply | answer));
                }
            }
            next.sort_unstable();
            next.dedup();
            layer = next;
        }
        Ok(())
    }

    /// Where the claimant answers the last stone. No stone wins at once, and there is an empty cell.
    fn answer(&self, claimant: B, all: B, last: B, plan: &[u8]) -> B {
        let fours = self.fours(all ^ claimant) & self.cells;
        let (column, row) = (last.lowest() / (self.rows + 1), last.lowest() % (self.rows + 1));
        let right = u32::from(plan[(column * self.rows + row) as usize]);
        let named = self.column((column + right) % self.columns);
        let mut cells = self.open(all);
        for wish in [fours, !(fours >> 1), named] {
            if cells & wish != B::ZERO {
                cells = cells & wish;
            }
        }
        B::ONE << cells.lowest()
    }
}
