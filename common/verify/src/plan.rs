//! Plans: how the claimant answers every move in Connect Four without looking for one, and what that is worth.
//!
//! A plan answers each stone of the other player in the same column, or, once for each **pair** of columns, in the
//! other one. So what happens in a column, or in a pair, depends on nothing else, and there are few ways that it can
//! go: the **courses**. Each gives the other player some of the cells and the claimant some. The page has the rule,
//! and why it is sound; here it is followed step by step.

use crate::Claim;

/// The cells of a board, and its lines: one bit a cell, each column from below, and one bit more on top of it.
#[derive(Debug)]
pub struct Plans {
    columns: u32,
    rows: u32,
    lines: Vec<u128>,
}

/// A position in which the other player is to move, nobody has four in a row, and a cell is empty.
#[derive(Clone, Copy, Debug)]
pub struct Stones {
    /// The claimant's stones.
    pub claimant: u128,
    /// All stones.
    pub all: u128,
}

/// One way that play in a column or a pair can go to its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Course {
    /// The cells that the other player gets.
    pub other: u128,
    /// The cells that the claimant gets.
    pub claimant: u128,
    /// Whether the claimant has won before its end.
    pub ends: bool,
}

/// A column on its own, or a pair.
#[derive(Clone, Debug)]
pub struct Part {
    /// All of its empty cells.
    pub cells: u128,
    /// At least one.
    pub courses: Vec<Course>,
}

/// What a plan is worth to the claimant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Worth {
    /// The other player makes no four.
    Holds,
    /// And the claimant makes one.
    Wins,
}

/// An empty column: its lowest cell, and how many cells it has.
#[derive(Clone, Copy)]
struct Column {
    bottom: u128,
    count: u32,
}

impl Column {
    /// The cell with this number, counted from 1.
    fn cell(self, number: u32) -> u128 {
        self.bottom << (number - 1)
    }

    fn cells(self) -> u128 {
        (1..=self.count).fold(0, |cells, number| cells | self.cell(number))
    }
}

impl Plans {
    /// For boards of this size, with at most 128 bits.
    pub fn new(columns: u32, rows: u32) -> Plans {
        let cell = |column: u32, row: u32| {
            (column < columns && row < rows).then(|| 1u128 << (column * (rows + 1) + row))
        };
        let mut lines = Vec::new();
        for (column, row) in (0..columns).flat_map(|c| (0..rows).map(move |r| (c, r))) {
            for (right, up) in [(0, 1), (1, 0), (1, 1), (1, -1)] {
                let cells = (0..4).map(|step: u32| {
                    let row = row.checked_add_signed(step as i32 * up)?;
                    cell(column + step * right, row)
                });
                lines.extend(cells.sum::<Option<u128>>());
            }
        }
        Plans { columns, rows, lines }
    }

    /// How many bytes describe a plan: one for each column.
    pub fn bytes(&self) -> usize {
        self.columns as usize
    }

    /// The lines in which the claimant has no stone.
    pub fn open_lines(&self, claimant: u128) -> impl Iterator<Item = u128> {
        self.lines.iter().copied().filter(move |line| line & claimant == 0)
    }

    fn column(&self, all: u128, index: u32) -> Column {
        let stones = (all >> (index * (self.rows + 1)) & !(!0 << self.rows)).count_ones();
        // A full column has no cells; its bottom is the bit on top of it.
        Column { bottom: 1 << (index * (self.rows + 1) + stones), count: self.rows - stones }
    }

    /// The empty cells where the claimant makes four with three stones that lie there.
    pub fn threats(&self, stones: Stones) -> u128 {
        let Stones { claimant, all } = stones;
        let missing = self.lines.iter().map(|line| line & !claimant);
        missing.filter(|cell| cell.count_ones() == 1 && cell & all == 0).fold(0, |a, b| a | b)
    }

    /// The part that is a column on its own; none if the claimant may be without an answer in it.
    pub fn single(&self, stones: Stones, threats: u128, index: u32) -> Option<Part> {
        let column = self.column(stones.all, index);
        let mut course = Course::default();
        course.follow(column, 1, threats);
        let answered = course.ends || column.count.is_multiple_of(2);
        answered.then(|| Part { cells: column.cells(), courses: vec![course] })
    }

    /// The part that is a pair of columns, each with the number of the cell at which it is switched to the other
    /// one; both are odd. None if the claimant may be without an answer in it.
    pub fn pair(
        &self,
        stones: Stones,
        threats: u128,
        indices: [u32; 2],
        switches: [u32; 2],
    ) -> Option<Part> {
        let columns = indices.map(|index| self.column(stones.all, index));
        let is_switch =
            |(column, &switch): (&Column, &u32)| switch % 2 == 1 && switch <= column.count;
        if indices[0] == indices[1] || !columns.iter().zip(&switches).all(is_switch) {
            return None;
        }
        // As long as nothing is switched.
        let mut open = Course::default();
        for (column, switch) in columns.into_iter().zip(switches) {
            open.follow(Column { count: switch - 1, ..column }, 1, threats);
        }
        // Without a threat in them, the switched courses have all of these cells, too.
        let mut courses = if open.ends { vec![open] } else { Vec::new() };
        for first in [0, 1] {
            let (switched, partner) = (columns[first], columns[1 - first]);
            for answer in (1..=switches[1 - first]).step_by(2) {
                let mut course = Course::default();
                // The columns are followed up to the cells of the switch. Nobody comes there if the claimant wins
                // before.
                course.follow(Column { count: switches[first] - 1, ..switched }, 1, threats);
                course.follow(Column { count: answer - 1, ..partner }, 1, threats);
                if course.ends {
                    continue;
                }
                course.other |= switched.cell(switches[first]);
                course.claimant |= partner.cell(answer);
                course.ends = partner.cell(answer) & threats != 0;
                if !course.ends {
                    let rests = [(switched, switches[first] + 1), (partner, answer + 1)];
                    let answered = rests.map(|(column, next)| {
                        let ended = course.follow(column, next, threats);
                        ended || (column.count + 1 - next).is_multiple_of(2)
                    });
                    if answered != [true; 2] {
                        return None;
                    }
                }
                courses.push(course);
            }
        }
        Some(Part { cells: columns[0].cells() | columns[1].cells(), courses })
    }

    /// What these parts, which have all empty cells, are worth; none if the other player might make four.
    pub fn worth(&self, stones: Stones, parts: &[Part]) -> Option<Worth> {
        let Stones { claimant, all } = stones;
        let stopped = |line| {
            self.is_stopped(line, stones, parts) || self.comes_too_late(line & !all, stones, parts)
        };
        if !self.open_lines(claimant).all(stopped) {
            return None;
        }
        let ends = |part: &Part| part.courses.iter().all(|course| course.ends);
        let sure = parts.iter().fold(claimant, |sure, part| sure | part.surely(0));
        let wins = parts.iter().any(ends) || self.has_four(sure);
        Some(if wins { Worth::Wins } else { Worth::Holds })
    }

    /// Whether in some part no course gives the other player all that a line without stones of the claimant has there.
    pub fn is_stopped(&self, line: u128, stones: Stones, parts: &[Part]) -> bool {
        let cells = line & !stones.all;
        parts.iter().any(|part| part.courses.iter().all(|course| !course.gives(cells & part.cells)))
    }

    /// Whether the claimant has made four before the other player has all of these cells.
    fn comes_too_late(&self, cells: u128, stones: Stones, parts: &[Part]) -> bool {
        let (mut sure, mut below) = (0, 0);
        for part in parts.iter().filter(|part| part.cells & cells != 0) {
            sure |= part.surely(cells & part.cells);
        }
        for index in 0..self.columns {
            let column = self.column(stones.all, index).cells();
            match (column & cells).count_ones() {
                0 => {}
                1 => below |= column & ((column & cells) - 1),
                _ => return false,
            }
        }
        let mut rest = cells;
        while rest != 0 {
            let last = rest & rest.wrapping_neg();
            rest ^= last;
            if !self.has_four(stones.claimant | sure & (below | (cells & !last) << 1)) {
                return false;
            }
        }
        true
    }

    /// Whether there are four in a row among these stones.
    pub fn has_four(&self, stones: u128) -> bool {
        self.lines.iter().any(|line| line & !stones == 0)
    }

    /// What a plan that is written as bytes is worth, or why it is none.
    pub fn read(&self, stones: Stones, plan: &[u8]) -> Result<Worth, String> {
        let threats = self.threats(stones);
        let mut parts = Vec::new();
        for (index, &byte) in (0..).zip(plan) {
            let partners: Vec<u32> = (0..self.columns)
                .filter(|&other| {
                    byte != 0 && other != index && plan[other as usize] & 15 == byte & 15
                })
                .collect();
            let part = match (byte & 15, &partners[..]) {
                (0, _) if byte == 0 && self.column(stones.all, index).count == 0 => continue,
                (0, _) if byte == 0 => self.single(stones, threats, index),
                (1.., &[other]) if other < index => continue,
                (1.., &[other]) => {
                    let switches =
                        [byte, plan[other as usize]].map(|byte| 2 * u32::from(byte >> 4) + 1);
                    self.pair(stones, threats, [index, other], switches)
                }
                _ => {
                    return Err(format!(
                        "the plan's {byte} for column {} names no pair",
                        index + 1
                    ));
                }
            };
            let Some(part) = part else {
                return Err(format!("the plan may be without an answer in column {}", index + 1));
            };
            parts.push(part);
        }
        self.worth(stones, &parts).ok_or_else(|| "the plan does not stop all lines".into())
    }
}

impl Worth {
    /// Whether it is as much as a claim asks for.
    pub fn is_enough(self, claim: &Claim) -> bool {
        self == Worth::Wins || claim.admits(0)
    }
}

impl Part {
    /// The cells that the claimant has in every course that gives the other player these cells.
    fn surely(&self, cells: u128) -> u128 {
        let courses = self.courses.iter().filter(|course| course.gives(cells));
        courses.map(|course| course.claimant).reduce(|a, b| a & b).unwrap_or(0)
    }
}

impl Course {
    fn gives(&self, cells: u128) -> bool {
        cells & !self.other == 0
    }

    /// Play in a column from one of its cells on, in which the claimant always answers on top of the other player's
    /// stone, until the claimant wins. Whether that happens here.
    fn follow(&mut self, column: Column, first: u32, threats: u128) -> bool {
        for number in (first..=column.count).step_by(2) {
            self.other |= column.cell(number);
            if number < column.count {
                let answer = column.cell(number + 1);
                self.claimant |= answer;
                if answer & threats != 0 {
                    self.ends = true;
                    return true;
                }
            }
        }
        false
    }
}
