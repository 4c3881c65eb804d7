//! Filling the tables: from the boards that no others come after, back to the start.

use super::board::Board;
use super::components::{Components, Reach};
use super::knowledge::{BoardTables, NONE};
use super::numbering::Numbering;
use super::room::Room;
use crate::{Bounds, Outcome, OutcomeScale, Player};

const PLAYERS: [Player; 2] = [Player::Max, Player::Min];

impl BoardTables {
    /// What can be known of the boards that `start` leads to, on `line` (all cells, as a mask),
    /// unless there are too many.
    pub fn new(
        line: u32,
        start: Board,
        scale: &OutcomeScale,
        stuck: [Outcome; 2],
        room: Room,
    ) -> Option<BoardTables> {
        let numbering = Numbering::new(line.count_ones(), start.pieces(), room.boards)?;
        let count = numbering.len();
        let mut tables = BoardTables {
            line,
            scale: scale.clone(),
            stuck,
            numbering,
            component: vec![NONE; count],
            place: vec![0; count],
            bounds: vec![scale.bounds(); 2 * count],
            may_repeat: vec![0; 2 * count],
        };
        let (boards, components) = tables.walk(start);
        for (name, members) in components.iter().enumerate() {
            for (place, &number) in members.iter().enumerate() {
                tables.component[number as usize] = name as u32;
                tables.place[number as usize] = place as u32;
            }
            let members: Vec<Board> = members.iter().map(|&n| boards[n as usize]).collect();
            if members.len() > 1 {
                tables.note_repetitions(&members, room);
            }
            tables.bound(&members);
        }
        Some(tables)
    }

    /// All boards that `start` leads to, by number, if players could pass: the sets of boards that
    /// lead to each other, in the order in which they can be judged.
    fn walk(&self, start: Board) -> (Vec<Board>, Components) {
        let mut boards = vec![start; self.numbering.len()];
        let first = self.numbering.number(start);
        let components = Components::new(boards.len(), [first], |number, list| {
            let board = boards[number as usize];
            if board.is_over() {
                return;
            }
            for player in PLAYERS {
                board.each_candidate(self.line, player, |_, next| {
                    let number = self.numbering.number(next);
                    boards[number as usize] = next;
                    list.push(number);
                    true
                });
            }
        });
        (boards, components)
    }

    /// Calls `visit` with each state of these boards: its number, its board, who is to move.
    fn each_state(&self, members: &[Board], mut visit: impl FnMut(usize, Board, Player)) {
        for &board in members {
            for player in PLAYERS {
                visit(self.state(board, player), board, player);
            }
        }
    }

    /// Whether a board is in the same component as another one.
    fn stays(&self, board: Board, next: Board) -> bool {
        let component = |board| self.component[self.numbering.number(board) as usize];
        component(board) == component(next)
    }

    /// Finds the moves of a component that may recreate a board: those to boards from which, with
    /// either player to move, there is a way to the state of the move.
    fn note_repetitions(&mut self, members: &[Board], room: Room) {
        let local = |tables: &BoardTables, board, player: Player| {
            let number = tables.numbering.number(board) as usize;
            tables.place[number] * 2 + player as u32
        };
        let states = members.len() * 2;
        let mut successors = Vec::new();
        // Without a look at them, any move that stays may recreate a board.
        let looked_at = if states <= room.reach { members } else { &[] };
        self.each_state(looked_at, |_, board, player| {
            let mut list = Vec::new();
            board.each_candidate(self.line, player, |_, next| {
                if self.stays(board, next) {
                    list.push(local(self, next, player.opponent()));
                }
                true
            });
            successors.push(list);
        });
        let reach = (states <= room.reach).then(|| Reach::new(&successors));
        let mut noted = Vec::with_capacity(states);
        self.each_state(members, |state, board, player| {
            let here = local(self, board, player);
            let (mut bits, mut bit) = (0, 1);
            board.each_candidate(self.line, player, |_, next| {
                let comes_back = |reach: &Reach| {
                    PLAYERS.iter().any(|&first| reach.leads(local(self, next, first), here))
                };
                if self.stays(board, next) && reach.as_ref().is_none_or(comes_back) {
                    bits |= bit;
                }
                bit <<= 1;
                true
            });
            noted.push((state, bits));
        });
        for (state, bits) in noted {
            self.may_repeat[state] = bits;
        }
    }

    /// Finds the bounds of a component whose moves lead to components that are done, or stay: the
    /// tightest that agree with each other. They are inside out at first.
    fn bound(&mut self, members: &[Board]) {
        let all = self.scale.bounds();
        let mut open = Vec::with_capacity(members.len() * 2);
        self.each_state(members, |state, board, player| open.push((state, board, player)));
        open.retain(|&(state, board, _)| {
            let over = board.outcome(&self.scale);
            self.bounds[state] = match over {
                Some(outcome) => Bounds::exactly(outcome),
                None => Bounds { lower: all.upper, upper: all.lower },
            };
            over.is_none()
        });
        let mut changed = true;
        while changed {
            changed = false;
            for &(state, board, player) in &open {
                let bounds = self.judge(state, board, player);
                changed |= bounds != self.bounds[state];
                self.bounds[state] = bounds;
            }
        }
    }

    /// The bounds of a state from the present ones of the states after it.
    fn judge(&self, state: usize, board: Board, player: Player) -> Bounds {
        self.bounds_of_moves(state, board, player, None).expect("no move is left out")
    }
}
