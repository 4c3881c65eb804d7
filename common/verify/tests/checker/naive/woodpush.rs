//! Woodpush on a list of cells, with every board that ever was.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::rc::Rc;

use super::Naive;

type Board = Vec<u8>;

#[derive(Debug, Clone)]
pub struct Woodpush {
    spec: String,
    start: Board,
    pub board: Board,
    pub earlier: Vec<Board>,
    moves: Vec<String>,
}

thread_local! {
    /// The boards that moves lead to, from each board that was asked for.
    static REACHED: RefCell<HashMap<Board, Rc<BTreeSet<Board>>>> = RefCell::default();
}

impl Woodpush {
    pub fn new(board: &str) -> Woodpush {
        let spec = format!("woodpush:{board}");
        let board: Board = match board.parse::<usize>() {
            Ok(cells) => (0..cells)
                .map(|cell| match cell {
                    0 | 2 => b'L',
                    _ if cell == cells - 1 || cell == cells - 3 => b'R',
                    _ => b'.',
                })
                .collect(),
            Err(_) => board.bytes().collect(),
        };
        Woodpush { spec, start: board.clone(), board, earlier: vec![], moves: vec![] }
    }

    fn count(&self, piece: u8) -> i32 {
        self.board.iter().filter(|&&cell| cell == piece).count() as i32
    }
}

/// All moves of a side, with the boards after them: whether one was there before does not matter here.
fn moves(board: &Board, side: u8) -> Vec<(String, Board)> {
    let (ahead, enemy) = if side == b'L' { (1, b'R') } else { (-1, b'L') };
    let cells = board.len() as i32;
    let on_board = |cell: i32| (0..cells).contains(&cell);
    let mut found = vec![];
    for piece in (0..cells).filter(|&cell| board[cell as usize] == side) {
        let mut after = board.clone();
        after[piece as usize] = b'.';
        let mut target = piece + ahead;
        while on_board(target) && board[target as usize] != b'.' {
            target += ahead;
        }
        if on_board(target) {
            after[target as usize] = side;
        }
        found.push((format!("s{piece}"), after));

        let behind = piece - ahead;
        if !on_board(behind) || board[behind as usize] != enemy {
            continue;
        }
        let mut last = piece;
        while on_board(last - ahead) && board[(last - ahead) as usize] != b'.' {
            last -= ahead;
        }
        let mut after = board.clone();
        let mut cell = last;
        loop {
            if on_board(cell - ahead) {
                after[(cell - ahead) as usize] = board[cell as usize];
            }
            after[cell as usize] = b'.';
            if cell == piece {
                break;
            }
            cell += ahead;
        }
        found.push((format!("p{piece}"), after));
    }
    found
}

fn reached(board: &Board) -> Rc<BTreeSet<Board>> {
    if let Some(known) = REACHED.with_borrow(|reached| reached.get(board).cloned()) {
        return known;
    }
    let mut all = BTreeSet::from([board.clone()]);
    let mut waiting = VecDeque::from([board.clone()]);
    while let Some(board) = waiting.pop_front() {
        for (_, after) in moves(&board, b'L').into_iter().chain(moves(&board, b'R')) {
            if all.insert(after.clone()) {
                waiting.push_back(after);
            }
        }
    }
    let all = Rc::new(all);
    REACHED.with_borrow_mut(|reached| reached.insert(board.clone(), all.clone()));
    all
}

fn number(board: &Board) -> u128 {
    let bit = |(cell, &piece): (usize, &u8)| match piece {
        b'L' => 1u128 << cell,
        b'R' => 1 << (32 + cell),
        _ => 0,
    };
    board.iter().enumerate().map(bit).sum()
}

impl Naive for Woodpush {
    fn spec(&self) -> String {
        self.spec.clone()
    }

    fn legal(&self) -> Vec<String> {
        let side = if self.max_moves() { b'L' } else { b'R' };
        let new = |after: &Board| !self.earlier.contains(after);
        moves(&self.board, side)
            .into_iter()
            .filter(|(_, after)| new(after))
            .map(|(name, _)| name)
            .collect()
    }

    fn play(&self, name: &str) -> Woodpush {
        let side = if self.max_moves() { b'L' } else { b'R' };
        let mut after = self.clone();
        after.earlier.push(self.board.clone());
        after.board = moves(&self.board, side).into_iter().find(|made| made.0 == name).unwrap().1;
        after.moves.push(name.into());
        after
    }

    fn outcome(&self) -> Option<i32> {
        let (left, right) = (self.count(b'L'), self.count(b'R'));
        if left == 0 || right == 0 {
            return Some(left - right);
        }
        self.legal().is_empty().then_some(if self.max_moves() { -1 } else { 1 })
    }

    fn max_moves(&self) -> bool {
        self.moves.len().is_multiple_of(2)
    }

    fn standard(&self, _claimant: bool) -> (Vec<u128>, Woodpush) {
        let from_here = reached(&self.board);
        let together =
            |board: &&Board| from_here.contains(*board) && reached(board).contains(&self.board);
        let earlier: BTreeSet<u128> = self.earlier.iter().filter(together).map(number).collect();
        ([number(&self.board)].into_iter().chain(earlier).collect(), self.clone())
    }

    fn name(outcome: i32) -> String {
        outcome.to_string()
    }

    fn outcomes(&self) -> Vec<i32> {
        let count = |piece| self.start.iter().filter(|&&cell| cell == piece).count() as i32;
        (-count(b'R')..=count(b'L')).filter(|&outcome| outcome != 0).collect()
    }

    fn moves(&self) -> String {
        self.moves.concat()
    }
}
