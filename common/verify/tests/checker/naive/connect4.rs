//! Connect Four with columns as lists of stones.

use std::collections::HashSet;

use super::{Bound, Naive};

/// The columns' names, as the page has them.
const NAMES: &str = "123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ+-=";

#[derive(Debug, Clone)]
pub struct Connect4 {
    rows: usize,
    /// The stones of each column, from below; Max's are true.
    columns: Vec<Vec<bool>>,
    moves: Vec<String>,
}

impl Connect4 {
    pub fn new(columns: usize, rows: usize) -> Connect4 {
        Connect4 { rows, columns: vec![vec![]; columns], moves: vec![] }
    }

    fn stones(&self) -> usize {
        self.columns.iter().map(Vec::len).sum()
    }

    fn at(&self, column: i32, row: i32) -> Option<bool> {
        let column = self.columns.get(usize::try_from(column).ok()?)?;
        column.get(usize::try_from(row).ok()?).copied()
    }

    fn has_four(&self, player: bool) -> bool {
        let (columns, rows) = (self.columns.len() as i32, self.rows as i32);
        let lines = (0..columns).flat_map(|column| (0..rows).map(move |row| (column, row)));
        let ways = [(1, 0), (0, 1), (1, 1), (1, -1)];
        lines.into_iter().any(|(column, row)| {
            ways.iter().any(|(right, up)| {
                (0..4).all(|step| self.at(column + step * right, row + step * up) == Some(player))
            })
        })
    }

    /// How the player to move answers a stone in this column by a plan of the compact kind.
    fn answer(&self, last: usize, plan: &[u8]) -> String {
        let claimant = self.max_moves();
        let row = self.columns[last].len() - 1;
        let named = (last + usize::from(plan[last * self.rows + row])) % self.columns.len();
        let four = |column: usize, stones: &[bool]| {
            let mut after = self.clone();
            after.columns[column].extend(stones);
            after.columns[column].len() <= self.rows && after.has_four(*stones.last().unwrap())
        };
        let open = (0..self.columns.len()).filter(|&column| self.columns[column].len() < self.rows);
        let wishes = |&column: &usize| {
            [
                four(column, &[claimant]),
                four(column, &[!claimant]),
                !four(column, &[claimant, !claimant]),
                column == named,
            ]
        };
        // Of the same wishes, the leftmost column.
        let best = open.rev().max_by_key(wishes).expect("a cell is empty");
        NAMES[best..=best].to_owned()
    }

    /// Whether a plan fulfils a bound from here on, with the other player to move.
    pub fn plan_holds(&self, bound: Bound, plan: &[u8], met: &mut HashSet<(u128, u128)>) -> bool {
        if let Some(outcome) = self.outcome() {
            return bound.admits(outcome);
        }
        if !met.insert((self.number(true), self.number(false))) {
            return true;
        }
        self.legal().iter().all(|name| {
            let reply = self.play(name);
            match reply.outcome() {
                Some(outcome) => bound.admits(outcome),
                None => {
                    let answer = reply.answer(NAMES.find(name.as_str()).unwrap(), plan);
                    reply.play(&answer).plan_holds(bound, plan, met)
                }
            }
        })
    }

    fn number(&self, claimant: bool) -> u128 {
        let mut number = 0;
        let mut bit = 0;
        for column in &self.columns {
            for row in 0..=self.rows {
                let one =
                    if row == column.len() { true } else { column.get(row) == Some(&claimant) };
                number |= u128::from(one) << bit;
                bit += 1;
            }
        }
        number
    }
}

impl Naive for Connect4 {
    fn spec(&self) -> String {
        format!("connect4:{}x{}", self.columns.len(), self.rows)
    }

    fn legal(&self) -> Vec<String> {
        let open = (0..self.columns.len()).filter(|&column| self.columns[column].len() < self.rows);
        open.map(|column| NAMES[column..=column].to_owned()).collect()
    }

    fn play(&self, name: &str) -> Connect4 {
        let mut after = self.clone();
        let player = self.max_moves();
        after.columns[NAMES.find(name).unwrap()].push(player);
        after.moves.push(name.into());
        after
    }

    fn outcome(&self) -> Option<i32> {
        match (self.has_four(true), self.has_four(false)) {
            (true, _) => Some(1),
            (_, true) => Some(-1),
            _ => (self.stones() == self.columns.len() * self.rows).then_some(0),
        }
    }

    fn max_moves(&self) -> bool {
        self.stones().is_multiple_of(2)
    }

    fn standard(&self, claimant: bool) -> (Vec<u128>, Connect4) {
        let mut mirror = self.clone();
        mirror.columns.reverse();
        let (here, there) = (self.number(claimant), mirror.number(claimant));
        if there < here { (vec![there], mirror) } else { (vec![here], self.clone()) }
    }

    fn name(outcome: i32) -> String {
        ["loss", "draw", "win"][(outcome + 1) as usize].into()
    }

    fn outcomes(&self) -> Vec<i32> {
        vec![-1, 0, 1]
    }

    fn moves(&self) -> String {
        self.moves.concat()
    }
}
