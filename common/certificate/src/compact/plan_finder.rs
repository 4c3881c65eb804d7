//! Finds plans: which columns are answered in each other, and where they are switched, so that the checker finds that
//! the claim holds ([`jlpns_verify::plan`]).

use jlpns_verify::plan::{Part, Plans, Stones, Worth};

/// A column or a pair, and what it does for a plan.
struct Piece {
    part: Part,
    /// Which of the open lines it stops, by their places in the list of them.
    stopped: u128,
    /// Whether the claimant has won before it is full.
    ends: bool,
    /// The bytes of its columns, without the number of the pair.
    bytes: Vec<(usize, u8)>,
}

/// Finds plans on boards of one size.
pub(super) struct PlanFinder {
    plans: Plans,
    columns: u32,
    rows: u32,
    /// Each column's lowest cell.
    floor: u128,
}

/// What is looked at while a plan is put together.
struct Search<'a> {
    finder: &'a PlanFinder,
    stones: Stones,
    must_win: bool,
    /// Whether some plan at all makes a four of the claimant's with cells that are not taken yet, so that a line can
    /// come too late.
    may_race: bool,
    /// All lines without the claimant's stones, as a set of places.
    open: u128,
    singles: Vec<Option<Piece>>,
    pairs: Vec<(usize, usize, Vec<Piece>)>,
    chosen: Vec<(usize, usize)>,
    used: Vec<bool>,
}

impl PlanFinder {
    pub(super) fn new(columns: u32, rows: u32) -> PlanFinder {
        let floor = (0..columns).fold(0, |floor, column| floor | 1 << (column * (rows + 1)));
        PlanFinder { plans: Plans::new(columns, rows), columns, rows, floor }
    }

    /// A plan that holds the position after the claimant's move, or wins it if it must.
    pub(super) fn find(&self, stones: Stones, must_win: bool) -> Option<Vec<u8>> {
        let threats = self.plans.threats(stones);
        let cells = self.columns * self.rows;
        if must_win && (cells - stones.all.count_ones()) % 2 == 1 {
            // A column or a pair with an odd number of empty cells ends before it is full: with a threat above which
            // there is an odd number of cells, and which is not the next cell of its column.
            let rows = (0..self.rows).filter(|row| (self.rows - row).is_multiple_of(2));
            let rows = rows.fold(0, |cells, row| cells | self.floor << row);
            if threats & rows & !(stones.all + self.floor) == 0 {
                return None;
            }
        }
        let lines: Vec<u128> = self.plans.open_lines(stones.claimant).collect();
        if lines.len() > 128 {
            return None;
        }
        let piece = |part: Part, bytes| {
            let stops = |line| self.plans.is_stopped(line, stones, std::slice::from_ref(&part));
            let stopped = lines.iter().enumerate().filter(|&(_, &line)| stops(line));
            let stopped = stopped.fold(0, |set, (place, _)| set | 1 << place);
            let ends = part.courses.iter().all(|course| course.ends);
            Piece { part, stopped, ends, bytes }
        };
        let empty = |index: u32| {
            let column = stones.all >> (index * (self.rows + 1)) & !(!0 << self.rows);
            self.rows - column.count_ones()
        };
        let places: Vec<u32> = (0..self.columns).filter(|&index| empty(index) > 0).collect();
        let singles: Vec<Option<Piece>> = places
            .iter()
            .map(|&index| Some(piece(self.plans.single(stones, threats, index)?, vec![])))
            .collect();
        let mut pairs = Vec::new();
        for a in 0..places.len() {
            for b in a + 1..places.len() {
                if singles[a].is_some() && singles[b].is_some() {
                    continue;
                }
                let mut pieces: Vec<Piece> = Vec::new();
                for first in (1..=empty(places[a])).step_by(2) {
                    for second in (1..=empty(places[b])).step_by(2) {
                        let (indices, switches) = ([places[a], places[b]], [first, second]);
                        let Some(part) = self.plans.pair(stones, threats, indices, switches) else {
                            continue;
                        };
                        let byte = |switch: u32| ((switch / 2) << 4) as u8;
                        let bytes = vec![
                            (places[a] as usize, byte(first)),
                            (places[b] as usize, byte(second)),
                        ];
                        let new = piece(part, bytes);
                        let as_good = |old: &Piece| {
                            old.stopped & new.stopped == new.stopped && (old.ends || !new.ends)
                        };
                        if !pieces.iter().any(as_good) {
                            pieces.push(new);
                        }
                    }
                }
                pairs.push((a, b, pieces));
            }
        }
        let pieces = singles.iter().flatten().chain(pairs.iter().flat_map(|pair| &pair.2));
        let courses = pieces.flat_map(|piece| &piece.part.courses);
        let reached = courses.fold(stones.claimant, |reached, course| reached | course.claimant);
        let may_race = self.plans.has_four(reached);
        let open = if lines.len() == 128 { !0 } else { (1 << lines.len()) - 1 };
        let used = vec![false; places.len()];
        let mut search = Search {
            finder: self,
            stones,
            must_win,
            may_race,
            open,
            singles,
            pairs,
            chosen: Vec::new(),
            used,
        };
        search.complete(0).then(|| search.written())
    }
}

impl Search<'_> {
    /// Whether the pairs that are chosen can be completed to a plan; if so, they are.
    fn complete(&mut self, stopped: u128) -> bool {
        let alone = (0..self.used.len()).find(|&a| !self.used[a] && self.singles[a].is_none());
        let Some(alone) = alone else { return self.is_enough(stopped) };
        for pair in 0..self.pairs.len() {
            let (a, b, _) = self.pairs[pair];
            if (a != alone && b != alone) || self.used[a] || self.used[b] {
                continue;
            }
            (self.used[a], self.used[b]) = (true, true);
            for place in 0..self.pairs[pair].2.len() {
                let stops = self.pairs[pair].2[place].stopped;
                self.chosen.push((pair, place));
                if self.complete(stopped | stops) {
                    return true;
                }
                self.chosen.pop();
            }
            (self.used[a], self.used[b]) = (false, false);
        }
        false
    }

    /// Whether the chosen pairs, and all other columns on their own, are a plan that is worth enough.
    fn is_enough(&self, stopped: u128) -> bool {
        let singles = self.singles.iter().zip(&self.used).filter(|&(_, &used)| !used);
        let singles: Vec<&Piece> = singles.filter_map(|(single, _)| single.as_ref()).collect();
        let stopped = singles.iter().fold(stopped, |stopped, piece| stopped | piece.stopped);
        if stopped != self.open && !self.may_race {
            return false;
        }
        let pairs = self.chosen.iter().map(|&(pair, place)| &self.pairs[pair].2[place]);
        let pieces: Vec<&Piece> = singles.into_iter().chain(pairs).collect();
        if stopped == self.open && pieces.iter().any(|piece| piece.ends) {
            return true;
        }
        if (self.open & !stopped).count_ones() > 4 {
            return false;
        }
        let parts: Vec<Part> = pieces.iter().map(|piece| piece.part.clone()).collect();
        match self.finder.plans.worth(self.stones, &parts) {
            Some(worth) => worth == Worth::Wins || !self.must_win,
            None => false,
        }
    }

    fn written(&self) -> Vec<u8> {
        let mut plan = vec![0; self.finder.columns as usize];
        for (number, &(pair, place)) in (1..).zip(&self.chosen) {
            for &(column, byte) in &self.pairs[pair].2[place].bytes {
                plan[column] = byte | number;
            }
        }
        plan
    }
}
