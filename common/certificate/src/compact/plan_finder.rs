//! Finds plans: for each cell where the other player may put a stone, the column in which the claimant answers, so
//! that the claim holds whatever is played (the page on certificates has the rule).
//!
//! A plan is found while it is played. Where the answer to a cell is needed first, one is chosen; where play comes to
//! an end that does not fulfil the claim, the choices on the way there are to blame, and the last of them is made anew.

use std::cmp::Reverse;
use std::collections::HashMap;

use foldhash::fast::FixedState;
use jlpns_games::connect4::Bitboard;
use jlpns_verify::MOST_OF_A_PLAN;

use super::board::{Field, Stones, each};

/// The choices that something depends on, a bit each. There are no more of them than cells.
type Choices = u128;

/// Finds plans on boards of one size.
pub(super) struct PlanFinder {
    /// For each bit of a board, the column of the last plan's answer: good ones look like each other.
    habits: Vec<Option<u32>>,
}

/// Why a plan fails.
enum Failed {
    /// These choices do not go together.
    Because(Choices),
    /// It took too long.
    Given,
}

/// A position that the claimant has to answer, and what it depends on.
#[derive(Clone, Copy)]
struct Open<B> {
    stones: Stones<B>,
    last: B,
    because: Choices,
}

/// A plan that is played.
struct Walk<'a, B: Bitboard> {
    field: &'a Field<B>,
    is_lost: &'a dyn Fn(Stones<B>) -> bool,
    habits: &'a [Option<u32>],
    /// For each bit of a board, the column of the answer, and which choice that is.
    answers: Vec<Option<(u32, u32)>>,
    choices: u32,
    open: Vec<Open<B>>,
    /// The positions with the other player to move that were met, by their order too.
    met: HashMap<Stones<B>, (), FixedState>,
    in_order: Vec<Stones<B>>,
    steps: u64,
}

impl PlanFinder {
    pub(super) fn new() -> PlanFinder {
        PlanFinder { habits: vec![None; 128] }
    }

    /// A plan that fulfils the claim from the position after the claimant's move on, if one is found in so many steps.
    /// `is_lost` says of a position after the claimant's move whether the claim is known not to hold there.
    pub(super) fn find<B: Bitboard>(
        &mut self,
        field: &Field<B>,
        after: Stones<B>,
        steps: u64,
        is_lost: &dyn Fn(Stones<B>) -> bool,
    ) -> Option<Vec<u8>> {
        let mut walk = Walk {
            field,
            is_lost,
            habits: &self.habits,
            answers: vec![None; 128],
            choices: 0,
            open: Vec::new(),
            met: HashMap::default(),
            in_order: Vec::new(),
            steps,
        };
        walk.meet(after, 0).and_then(|()| walk.complete()).ok()?;
        let answers = walk.answers;
        for (habit, answer) in self.habits.iter_mut().zip(&answers) {
            *habit = answer.map(|(column, _)| column).or(*habit);
        }
        let cells =
            (0..field.columns * (field.rows + 1)).filter(|bit| bit % (field.rows + 1) < field.rows);
        // A plan says how many columns further right the answer is.
        let byte = |bit: u32| {
            let answer = answers[bit as usize]
                .map(|(column, _)| column + field.columns - bit / (field.rows + 1));
            answer.map_or(0, |right| (right % field.columns) as u8)
        };
        Some(cells.map(byte).collect())
    }
}

impl<B: Bitboard> Walk<'_, B> {
    /// Meets a position with the other player to move, and adds what is to be answered.
    fn meet(&mut self, stones: Stones<B>, because: Choices) -> Result<(), Failed> {
        let Stones { claimant, all } = stones;
        let field = self.field;
        if all == field.cells && !field.must_win || self.met.contains_key(&stones) {
            return Ok(());
        }
        if self.steps == 0 || self.in_order.len() == MOST_OF_A_PLAN {
            return Err(Failed::Given);
        }
        self.steps -= 1;
        let open = field.open(all);
        if all == field.cells || field.fours(all ^ claimant) & open != B::zero() {
            return Err(Failed::Because(because));
        }
        self.met.insert(stones, ());
        self.in_order.push(stones);
        let wins = field.fours(claimant);
        let replies = match (wins & open).count_ones() {
            0 => open,
            1 => wins & open,
            _ => B::zero(),
        };
        let begin = self.open.len();
        for last in each(replies) {
            let all = all | last;
            if all == field.cells && field.must_win {
                return Err(Failed::Because(because));
            }
            if all != field.cells && wins & field.open(all) == B::zero() {
                self.open.push(Open { stones: Stones { claimant, all }, last, because });
            }
        }
        // The one that makes the most threats is the next.
        let threats = |open: &Open<B>| {
            let Stones { claimant, all } = open.stones;
            (field.fours(all ^ claimant) & !all).count_ones()
        };
        self.open[begin..].sort_by_key(threats);
        Ok(())
    }

    /// Plays what is open to its end, if that goes with the choices so far and others.
    fn complete(&mut self) -> Result<(), Failed> {
        let field = self.field;
        while let Some(Open { stones, last, mut because }) = self.open.pop() {
            let (open, fours) = (field.open(stones.all), field.fours(stones.all ^ stones.claimant));
            let safe = open & !(fours >> 1);
            let cell = match ((fours & open).count_ones(), safe.count_ones()) {
                (1, _) => fours & open,
                (0, 1..) => {
                    let Some((column, choice)) = self.answers[last.trailing_zeros() as usize]
                    else {
                        return self.choose(stones, last, safe, because);
                    };
                    because |= 1 << choice;
                    let named = safe & field.column(column);
                    each(named).chain(each(safe)).next().unwrap_or(safe)
                }
                _ => return Err(Failed::Because(because)),
            };
            self.meet(stones.with(cell), because)?;
        }
        Ok(())
    }

    /// The same after a choice of the answer to the last stone.
    fn choose(
        &mut self,
        stones: Stones<B>,
        last: B,
        safe: B,
        because: Choices,
    ) -> Result<(), Failed> {
        let (choice, met) = (self.choices, self.in_order.len());
        let (this, open) = (1 << choice, self.open.clone());
        let place = last.trailing_zeros() as usize;
        let mut to_blame = because;
        for cell in self.candidates(stones, last, safe) {
            self.choices = choice + 1;
            self.answers[place] = Some((self.field.column_of(cell), choice));
            match self.meet(stones.with(cell), because | this).and_then(|()| self.complete()) {
                Err(Failed::Because(choices)) => {
                    // Without this choice among them, another one here fails in the same way.
                    to_blame =
                        if choices & this == 0 { choices } else { to_blame | choices & !this };
                    self.answers[place] = None;
                    for stones in self.in_order.drain(met..) {
                        self.met.remove(&stones);
                    }
                    self.open.clone_from(&open);
                    if choices & this == 0 {
                        break;
                    }
                }
                end => return end,
            }
        }
        Err(Failed::Because(to_blame))
    }

    /// The cells for an answer, those that are likely to be good first.
    fn candidates(&self, stones: Stones<B>, last: B, safe: B) -> Vec<B> {
        let field = self.field;
        let habit = self.habits[last.trailing_zeros() as usize];
        let mut cells: Vec<B> =
            each(safe).filter(|&cell| !(self.is_lost)(stones.with(cell))).collect();
        cells.sort_by_cached_key(|&cell| {
            let Stones { claimant, all } = stones.with(cell);
            let threats = (field.fours(claimant) & !all).count_ones();
            let column = field.column_of(cell);
            let is_even = cell.trailing_zeros() % (field.rows + 1) % 2 == 1;
            (
                habit != Some(column),
                Reverse(threats + u32::from(cell == last << 1)),
                !is_even,
                (2 * column + 1).abs_diff(field.columns),
            )
        });
        cells
    }
}
