//! One position as people look at it: the board, and the legal moves with what the game itself knows of each.

use jlpns_games::spec::{GameSpec, MoveError, format_moves, position_after};
use jlpns_games::{Bounds, Game, Move, MoveList, Outcome, OutcomeScale, Player, with_game};

/// A character of the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The character.
    pub symbol: char,
    /// Whose piece it is, if it is one.
    pub owner: Option<Player>,
}

/// A legal move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LegalMove {
    /// The move.
    pub mv: Move,
    /// Its name.
    pub name: String,
    /// The key of the position after it.
    pub key: u128,
    /// What the game itself knows of that position.
    pub bounds: Bounds,
}

/// A position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The moves to it, as text.
    pub text: String,
    /// The lines of the board.
    pub board: Vec<Vec<Cell>>,
    /// Who is to move.
    pub to_move: Player,
    /// The outcome, if the game is over.
    pub outcome: Option<Outcome>,
    /// Its key.
    pub key: u128,
    /// What the game itself knows of its value.
    pub bounds: Bounds,
    /// The legal moves, in the game's order.
    pub moves: Vec<LegalMove>,
}

/// The outcomes of a spec's game.
pub fn scale(spec: &GameSpec) -> &OutcomeScale {
    with_game!(spec.game(), game => game.scale())
}

impl Place {
    /// The position after these moves.
    pub fn after(spec: &GameSpec, moves: &[Move]) -> Result<Place, MoveError> {
        with_game!(spec.game(), game => {
            let mut position = position_after(game, moves)?;
            Ok(Place::of(game, &mut position, format_moves(game, moves)))
        })
    }

    fn of<G: Game>(game: &G, position: &mut G::Position, text: String) -> Place {
        Place {
            text,
            board: board(game, position),
            to_move: game.to_move(position),
            outcome: game.outcome(position),
            key: game.key(position).into(),
            bounds: game.static_bounds(position),
            moves: legal_moves(game, position),
        }
    }

    /// The board as text.
    pub fn board_text(&self) -> String {
        let lines = self.board.iter().map(|line| line.iter().map(|cell| cell.symbol).collect());
        lines.collect::<Vec<String>>().join("\n")
    }
}

/// The mirror image of moves from the start, if the game has one.
pub fn mirrored(spec: &GameSpec, moves: &[Move]) -> Option<Vec<Move>> {
    with_game!(spec.game(), game => {
        let mut position = game.start();
        let mut mirror = |&mv: &Move| {
            let mirrored = game.mirrored_move(&position, mv);
            game.play(&mut position, mv);
            mirrored
        };
        moves.iter().map(&mut mirror).collect()
    })
}

/// Whether the game has mirror images.
pub fn has_mirror(spec: &GameSpec) -> bool {
    with_game!(spec.game(), game => {
        let start = game.start();
        let mut moves = MoveList::new();
        game.moves(&start, &mut moves);
        moves.iter().all(|&mv| game.mirrored_move(&start, mv).is_some())
    })
}

fn board<G: Game>(game: &G, position: &G::Position) -> Vec<Vec<Cell>> {
    let lines = game.show(position);
    let cells = |(line, text): (usize, &str)| {
        let owner = |character| game.piece_at(position, line, character);
        text.chars().enumerate().map(|(at, symbol)| Cell { symbol, owner: owner(at) }).collect()
    };
    lines.lines().enumerate().map(cells).collect()
}

fn legal_moves<G: Game>(game: &G, position: &mut G::Position) -> Vec<LegalMove> {
    let mut legal = MoveList::new();
    if game.outcome(position).is_none() {
        game.moves(position, &mut legal);
    }
    let mut of = |&mv: &Move| {
        let name = game.move_name(position, mv);
        game.play(position, mv);
        let (key, bounds) = (game.key(position).into(), game.static_bounds(position));
        game.undo(position, mv);
        LegalMove { mv, name, key, bounds }
    };
    legal.iter().map(&mut of).collect()
}
