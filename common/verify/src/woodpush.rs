//! Woodpush, rules 1. A position is the list that the page has: the board, then the earlier boards that belong
//! together with it.

use std::collections::HashMap;
use std::io::{self, Read, Write};

use crate::header::{Claim, Quoted};
use crate::layer::Position;
use crate::pass::{Board, Rules};
use crate::{Failure, Settings};

/// A list of boards.
type BoardWithPast = Box<[u64]>;

/// About what the search for components takes for a board.
const BYTES: usize = 256;

impl Position for BoardWithPast {
    fn bytes(&self) -> usize {
        // With what the allocator adds.
        size_of::<BoardWithPast>() + size_of_val::<[u64]>(self) + 16
    }

    fn write(&self, output: &mut impl Write) -> io::Result<()> {
        (self.len() as u64).write(output)?;
        self.iter().try_for_each(|board| board.write(output))
    }

    fn read(input: &mut impl Read) -> io::Result<BoardWithPast> {
        (0..u64::read(input)?).map(|_| u64::read(input)).collect()
    }
}

pub(crate) struct Woodpush {
    cells: u32,
    /// For each board that the start leads to, the component that it belongs to.
    components: HashMap<u64, u32>,
    /// The position in question, and whether Left is to move.
    position: BoardWithPast,
    left: bool,
}

impl Woodpush {
    pub(crate) fn new(
        cells: u32,
        start: u64,
        moves: &str,
        settings: &Settings,
    ) -> Result<Woodpush, Failure> {
        let components = components(cells, start, settings.memory / BYTES)?;
        let mut game = Woodpush { cells, components, position: Box::new([start]), left: true };
        let mut rest = moves;
        for number in 1.. {
            if rest.is_empty() {
                break;
            }
            let end = rest[1..].find(['s', 'p']).map_or(rest.len(), |place| place + 1);
            let (name, after) = rest.split_at(end);
            let made = game.legal(&game.position, game.left).find(|made| made.0.name() == name);
            let Some((_, board)) = made.filter(|_| game.end(&game.position, game.left).is_none())
            else {
                refuse!(
                    Unreadable,
                    "move {number} of the header, {}, is not legal there",
                    Quoted(name)
                );
            };
            let position = game.after(&game.position, board);
            (game.position, game.left, rest) = (position, !game.left, after);
        }
        Ok(game)
    }

    /// The legal moves, in order, and the boards that they make.
    fn legal<'a>(
        &self,
        position: &'a [u64],
        left: bool,
    ) -> impl Iterator<Item = (Move, u64)> + use<'a> {
        // An earlier board that a move can recreate belongs together with this one, so the list has it.
        moves(self.cells, position[0], left)
            .filter(|made| position[1..].binary_search(&made.1).is_err())
    }

    /// The position after a move that makes this board.
    fn after(&self, position: &[u64], board: u64) -> BoardWithPast {
        // All boards of a list are of one component.
        let together = self.components.get(&board) == self.components.get(&position[0]);
        let mut list = vec![board];
        list.extend(position.iter().filter(|_| together));
        list[1..].sort_unstable();
        list.into()
    }

    /// The outcome, if the game is over.
    fn end(&self, position: &[u64], left: bool) -> Option<i32> {
        let (lefts, rights) = (position[0] as u32, (position[0] >> 32) as u32);
        if lefts == 0 || rights == 0 {
            return Some(lefts.count_ones() as i32 - rights.count_ones() as i32);
        }
        self.legal(position, left).next().is_none().then_some(if left { -1 } else { 1 })
    }

    /// Takes in a position with the claimant to move, if it is of a layer.
    fn admit(
        &self,
        claim: &Claim,
        position: BoardWithPast,
        next: &mut Vec<BoardWithPast>,
    ) -> Result<(), String> {
        let left = claim.at_least;
        if let Some(outcome) = self.end(&position, left) {
            return ended(claim, outcome);
        }
        let end = |board| self.end(&self.after(&position, board), !left);
        if !self.legal(&position, left).any(|made| end(made.1).is_some_and(|end| claim.admits(end)))
        {
            next.push(position);
        }
        Ok(())
    }

    /// Every reply to a position with the other player to move.
    fn replies(
        &self,
        claim: &Claim,
        position: &[u64],
        next: &mut Vec<BoardWithPast>,
    ) -> Result<(), String> {
        let left = !claim.at_least;
        if let Some(outcome) = self.end(position, left) {
            return ended(claim, outcome);
        }
        for (reply, board) in self.legal(position, left) {
            let admitted = self.admit(claim, self.after(position, board), next);
            admitted.map_err(|why| format!("after {}, {why}", reply.name()))?;
        }
        Ok(())
    }

    fn text(&self, board: u64) -> String {
        let piece = |cell| match (board >> cell & 1, board >> (32 + cell) & 1) {
            (1, _) => 'L',
            (_, 1) => 'R',
            _ => '.',
        };
        (0..self.cells).map(piece).collect()
    }
}

impl Rules for Woodpush {
    type Position = BoardWithPast;

    fn first(&self, claim: &Claim, next: &mut Vec<BoardWithPast>) -> Result<(), String> {
        let collected = if self.left == claim.at_least {
            self.admit(claim, self.position.clone(), next)
        } else {
            self.replies(claim, &self.position, next)
        };
        collected.map_err(|why| format!("{why}\n{}", self.draw(claim, &self.position)))
    }

    fn play(
        &self,
        claim: &Claim,
        position: &BoardWithPast,
        entry: &[u8],
        next: &mut Vec<BoardWithPast>,
    ) -> Result<(), String> {
        let legal = || self.legal(position, claim.at_least);
        let Some((made, board)) = legal().nth(entry[0].into()) else {
            return Err(format!(
                "number {} is no legal move's, as there are {}",
                entry[0],
                legal().count()
            ));
        };
        let after = self.after(position, board);
        self.replies(claim, &after, next).map_err(|why| format!("after {}, {why}", made.name()))
    }

    fn board<'a>(&self, position: &'a BoardWithPast) -> Board<'a> {
        Board::Woodpush(position)
    }

    fn draw(&self, claim: &Claim, position: &BoardWithPast) -> String {
        let claimant = if claim.at_least { "Left" } else { "Right" };
        let earlier: String =
            position[1..].iter().map(|&board| format!(" {}", self.text(board))).collect();
        let barred = if earlier.is_empty() { "" } else { "; barred are" };
        format!("({claimant} is the claimant)\n{}{barred}{earlier}", self.text(position[0]))
    }
}

fn ended(claim: &Claim, outcome: i32) -> Result<(), String> {
    if claim.admits(outcome) {
        Ok(())
    } else {
        Err(format!("the game is over with outcome {outcome}"))
    }
}

/// A slide (`s`) or push (`p`) of the piece on a cell.
struct Move(char, u32);

impl Move {
    fn name(&self) -> String {
        format!("{}{}", self.0, self.1)
    }
}

/// All moves of a player, in order, earlier boards or not, and the boards that they make.
fn moves(cells: u32, board: u64, left: bool) -> impl Iterator<Item = (Move, u64)> {
    let seen = seen(cells, board, left);
    let empty = !(seen | seen >> 32) & ((1 << cells) - 1);
    (0..cells).flat_map(move |cell| {
        let piece = seen & 1 << if left { cell } else { cells - 1 - cell };
        let below = piece.saturating_sub(1);
        let ahead = empty & !(piece | below);
        let slid = seen & !piece | ahead & ahead.wrapping_neg();
        // The string goes from the piece down to the nearest empty cell; what is on the edge has no place to go.
        let string = (piece | below) & !(((empty & below) + 1).next_power_of_two() - 1);
        let string = string | string << 32;
        let pushed = seen & !string | (seen & string & !(1 | 1 << 32)) >> 1;
        let pushes = seen >> 32 & piece >> 1 != 0;
        let made =
            [(piece != 0, 's', slid), (pushes, 'p', pushed)].into_iter().filter(|made| made.0);
        made.map(move |(_, kind, after)| (Move(kind, cell), self::seen(cells, after, left)))
    })
}

/// The board with the player's pieces in the low half, and going up. Seen twice it is itself again.
fn seen(cells: u32, board: u64, left: bool) -> u64 {
    let turned = |pieces: u32| u64::from(pieces.reverse_bits() >> (32 - cells));
    if left { board } else { turned((board >> 32) as u32) | turned(board as u32) << 32 }
}

/// The strongly connected components of the boards that moves lead to, after Gabow, without recursion. A component has
/// the number of that board of it which was found first.
fn components(cells: u32, start: u64, most: usize) -> Result<HashMap<u64, u32>, Failure> {
    let after = |board| {
        let both = moves(cells, board, true).chain(moves(cells, board, false));
        both.map(|made| made.1).collect::<Vec<_>>().into_iter()
    };
    // Boards have numbers in the order in which they are found, and get their components when these are complete.
    let mut numbers = HashMap::new();
    let mut component = Vec::new();
    // The boards whose components are not complete, and those of them with which one may begin.
    let (mut open, mut begins) = (Vec::new(), Vec::new());
    // The way to the present board: numbers, and the boards that each leads to and that are still to be looked at. The
    // start is what nothing leads to.
    let mut path = vec![(u32::MAX, vec![start].into_iter())];
    while let Some((number, boards)) = path.last_mut() {
        let number = *number;
        match boards.next().map(|board| (board, numbers.get(&board))) {
            Some((_, None)) if numbers.len() >= most.min(u32::MAX as usize) => refuse!(
                Trouble,
                "the start leads to more than {most} boards, which take more memory than granted: all \
                 are needed to see which belong together"
            ),
            Some((board, None)) => {
                let fresh = numbers.len() as u32;
                numbers.insert(board, fresh);
                component.push(None);
                open.push(fresh);
                begins.push(fresh);
                path.push((fresh, after(board)));
            }
            // All open boards from that one on lead to each other.
            Some((_, Some(&known))) if component[known as usize].is_none() => {
                while begins.pop_if(|begin| *begin > known).is_some() {}
            }
            Some(_) => {}
            None => {
                if begins.pop_if(|begin| *begin == number).is_some() {
                    while let Some(member) = open.pop_if(|member| *member >= number) {
                        component[member as usize] = Some(number);
                    }
                }
                path.pop();
            }
        }
    }
    let complete = |(board, number)| Some((board, component[number as usize]?));
    Ok(numbers.into_iter().filter_map(complete).collect())
}

#[cfg(test)]
mod tests;
