//! Any game with outcomes that tell apart on which move it ends: a win is better the sooner it comes, a loss the later.
//!
//! It adds the number of moves to a position. Of what the game knows it takes over what is true of this as well: who
//! wins, but neither when nor which moves are enough.

use crate::outcome::{Ending, MAX_OUTCOMES, NoWinner};
use crate::{Bounds, Game, Move, MoveList, Outcome, OutcomeScale, Player};

/// Wins on this move and later are not told apart: a byte has no room for more.
const LATEST: u32 = (MAX_OUTCOMES as u32 - 1) / 2;

/// The draw; Min's wins are below it, the soonest first, and Max's above, the soonest last.
const DRAW: Outcome = Outcome(LATEST as u8);

/// A game in which it counts on which move it is won.
#[derive(Clone, Debug)]
pub struct ByDistance<G> {
    game: G,
    scale: OutcomeScale,
    /// Who wins with each outcome of the game itself.
    winners: Vec<Option<Player>>,
}

/// A position, and how many moves led to it.
#[derive(Clone, Debug)]
pub struct Counted<P> {
    position: P,
    moves: u32,
}

impl<G: Game> ByDistance<G> {
    /// `game`, with these outcomes. Errors if those that it has do not say who wins.
    pub fn new(game: G) -> Result<ByDistance<G>, NoWinner> {
        let all = (0..game.scale().len()).map(|index| Outcome(index as u8));
        let winners = all.map(|outcome| game.scale().winner(outcome)).collect::<Result<_, _>>()?;
        let won = |player: Player| {
            move |last_move: u32| match last_move {
                LATEST => Ending::WonFrom(player, last_move),
                _ => Ending::WonOn(player, last_move),
            }
        };
        let (lost, won) = ((1..=LATEST).map(won(Player::Min)), (1..=LATEST).map(won(Player::Max)));
        let endings = lost.chain([Ending::Drawn(None)]).chain(won.rev());
        let scale = OutcomeScale::endings(endings).expect("as many as there can be");
        Ok(ByDistance { game, scale, winners })
    }

    /// The outcome of a game with this one that ends after so many moves.
    fn ended(&self, outcome: Outcome, moves: u32) -> Outcome {
        won_on(self.winners[outcome.index()], moves)
    }
}

/// The outcome of a game that this player wins after so many moves.
fn won_on(winner: Option<Player>, moves: u32) -> Outcome {
    let sooner = (LATEST + 1 - moves.clamp(1, LATEST)) as u8;
    match winner {
        None => DRAW,
        Some(Player::Max) => Outcome(DRAW.0 + sooner),
        Some(Player::Min) => Outcome(DRAW.0 - sooner),
    }
}

/// A number that has nothing in common with those for other counts of moves.
fn scattered(moves: u32) -> u128 {
    u128::from(moves).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835)
}

impl<G: Game> Game for ByDistance<G> {
    type Position = Counted<G::Position>;
    type Key = u128;
    type Notes = ();

    fn scale(&self) -> &OutcomeScale {
        &self.scale
    }

    fn start(&self) -> Self::Position {
        Counted { position: self.game.start(), moves: 0 }
    }

    fn to_move(&self, position: &Self::Position) -> Player {
        self.game.to_move(&position.position)
    }

    fn outcome(&self, position: &Self::Position) -> Option<Outcome> {
        let outcome = self.game.outcome(&position.position)?;
        Some(self.ended(outcome, position.moves))
    }

    fn moves(&self, position: &Self::Position, moves: &mut MoveList) {
        self.game.moves(&position.position, moves);
    }

    fn play(&self, position: &mut Self::Position, mv: Move) {
        self.game.play(&mut position.position, mv);
        position.moves += 1;
    }

    fn undo(&self, position: &mut Self::Position, mv: Move) {
        self.game.undo(&mut position.position, mv);
        position.moves -= 1;
    }

    fn key(&self, position: &Self::Position) -> u128 {
        let key: u128 = self.game.key(&position.position).into();
        key ^ scattered(position.moves)
    }

    fn move_name(&self, position: &Self::Position, mv: Move) -> String {
        self.game.move_name(&position.position, mv)
    }

    fn show(&self, position: &Self::Position) -> String {
        self.game.show(&position.position)
    }

    fn piece_at(&self, position: &Self::Position, line: usize, character: usize) -> Option<Player> {
        self.game.piece_at(&position.position, line, character)
    }

    fn mirrored_move(&self, position: &Self::Position, mv: Move) -> Option<Move> {
        self.game.mirrored_move(&position.position, mv)
    }

    fn with_memory(self, bytes: u64) -> Self {
        ByDistance { game: self.game.with_memory(bytes), ..self }
    }

    fn memory(&self) -> u64 {
        self.game.memory()
    }

    fn mobility(&self, position: &Self::Position) -> u32 {
        self.game.mobility(&position.position)
    }

    fn why_illegal(&self, position: &Self::Position, text: &str) -> Option<String> {
        self.game.why_illegal(&position.position, text)
    }

    fn static_bounds(&self, position: &Self::Position) -> Bounds {
        if let Some(outcome) = self.outcome(position) {
            return Bounds::exactly(outcome);
        }
        let Bounds { lower, upper } = self.game.static_bounds(&position.position);
        // Whoever wins does so on the next move at the soonest.
        let (next, last) = (position.moves + 1, u32::MAX);
        let soonest = |outcome: Outcome, at: [u32; 2]| {
            let winner = self.winners[outcome.index()];
            let moves = match winner {
                Some(Player::Max) => at[0],
                _ => at[1],
            };
            won_on(winner, moves)
        };
        Bounds { lower: soonest(lower, [last, next]), upper: soonest(upper, [next, last]) }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::connect4::Connect4;
    use crate::woodpush::Woodpush;

    /// What can be forced from a position on, by the rules of `game`, as the winner and the moves of the whole game.
    fn forced<G: Game>(
        game: &G,
        winner: &impl Fn(Outcome) -> i32,
        position: &mut G::Position,
        played: i32,
    ) -> (i32, i32) {
        if let Some(outcome) = game.outcome(position) {
            return (winner(outcome), -winner(outcome) * played);
        }
        let mut moves = MoveList::new();
        game.moves(position, &mut moves);
        let player = game.to_move(position);
        let after = moves.iter().map(|&mv| {
            game.play(position, mv);
            let forced = forced(game, winner, position, played + 1);
            game.undo(position, mv);
            forced
        });
        match player {
            Player::Max => after.max(),
            Player::Min => after.min(),
        }
        .expect("a move")
    }

    /// The same by the outcomes of [`ByDistance`].
    fn told<G: Game>(game: &ByDistance<G>, position: &mut Counted<G::Position>) -> (i32, i32) {
        let value = minimax(game, position, &mut BTreeMap::new());
        match game.scale().ending(value).expect("it counts") {
            Ending::WonOn(Player::Max, on) => (1, -(on as i32)),
            Ending::WonOn(Player::Min, on) => (-1, on as i32),
            Ending::Drawn(None) => (0, 0),
            other => panic!("{other:?} of a short game"),
        }
    }

    /// The value of a position; the bounds and the keys below it are checked on the way.
    fn minimax<G: Game>(
        game: &ByDistance<G>,
        position: &mut Counted<G::Position>,
        known: &mut BTreeMap<u128, Outcome>,
    ) -> Outcome {
        let mut moves = MoveList::new();
        let value = match game.outcome(position) {
            Some(outcome) => outcome,
            None => {
                game.moves(position, &mut moves);
                let after = moves.iter().map(|&mv| {
                    game.play(position, mv);
                    let value = minimax(game, position, known);
                    game.undo(position, mv);
                    value
                });
                let after: Vec<Outcome> = after.collect();
                match game.to_move(position) {
                    Player::Max => after.into_iter().max(),
                    Player::Min => after.into_iter().min(),
                }
                .expect("a move")
            }
        };
        let Bounds { lower, upper } = game.static_bounds(position);
        assert!((lower..=upper).contains(&value), "{lower:?} {value:?} {upper:?}");
        let before = known.insert(game.key(position), value);
        assert!(before.is_none_or(|before| before == value), "two values of one key");
        value
    }

    #[test]
    fn wins_are_sooner_and_losses_later() {
        let game = Connect4::<u64>::new(4, 3).unwrap();
        let winner = |outcome: Outcome| i32::from(outcome.0) - 1;
        let mut start = game.start();
        let expected = forced(&game, &winner, &mut start, 0);
        let by_distance = ByDistance::new(game).unwrap();
        assert_eq!(told(&by_distance, &mut by_distance.start()), expected);
    }

    proptest! {
        #[test]
        fn woodpush_ends_as_soon_as_the_winner_can(cells in 5usize..8, choices in prop::collection::vec(0usize..64, 0..6)) {
            let board = ["L.L..RR", "LL.R.R.", "L.LRR..", "LR.LR.."][choices.len() % 4];
            let game = Woodpush::from_text(&board[..cells.min(7)]).or_else(|_| Woodpush::standard(6)).unwrap();
            let winner = |outcome: Outcome| match game.scale().winner(outcome).unwrap() {
                Some(Player::Max) => 1,
                Some(Player::Min) => -1,
                None => 0,
            };
            let by_distance = ByDistance::new(game.clone()).unwrap();
            let mut position = game.start();
            let mut counted = by_distance.start();
            let mut played = 0;
            for choice in choices {
                let mut moves = MoveList::new();
                if game.outcome(&position).is_some() {
                    break;
                }
                game.moves(&position, &mut moves);
                let mv = moves[choice % moves.len()];
                game.play(&mut position, mv);
                by_distance.play(&mut counted, mv);
                played += 1;
            }
            prop_assert_eq!(told(&by_distance, &mut counted), forced(&game, &winner, &mut position, played));
        }
    }

    /// Whether all but the outcomes is as `game` tells it, along a line of play that takes the first move
    /// in turn with the last.
    fn is_as_told<G: Game>(game: &G) {
        let by_distance = ByDistance::new(game.clone()).unwrap();
        assert_eq!(by_distance.memory(), game.memory());
        let small = by_distance.clone().with_memory(0);
        assert_eq!(small.memory(), game.clone().with_memory(0).memory());
        let (mut position, mut counted) = (game.start(), by_distance.start());
        let mut played = 0;
        while game.outcome(&position).is_none() {
            let (mut moves, mut same) = (MoveList::new(), MoveList::new());
            game.moves(&position, &mut moves);
            by_distance.moves(&counted, &mut same);
            assert_eq!(same, moves);
            assert_eq!(by_distance.mobility(&counted), game.mobility(&position));
            assert_eq!(by_distance.to_move(&counted), game.to_move(&position));
            for &mv in &moves {
                assert_eq!(by_distance.move_name(&counted, mv), game.move_name(&position, mv));
                let mirrored = game.mirrored_move(&position, mv);
                assert_eq!(by_distance.mirrored_move(&counted, mv), mirrored);
            }
            let shown = game.show(&position);
            assert_eq!(by_distance.show(&counted), shown);
            for (line, text) in shown.lines().enumerate() {
                for character in 0..text.len() {
                    let owner = game.piece_at(&position, line, character);
                    assert_eq!(by_distance.piece_at(&counted, line, character), owner);
                }
            }
            for text in ["1", "9", "s0", "s9", "p1", ""] {
                let why = game.why_illegal(&position, text);
                assert_eq!(by_distance.why_illegal(&counted, text), why, "{text}");
            }
            let mv = if played % 2 == 0 { moves[0] } else { moves[moves.len() - 1] };
            game.play(&mut position, mv);
            by_distance.play(&mut counted, mv);
            played += 1;
        }
        let ending = by_distance.scale().ending(by_distance.outcome(&counted).unwrap()).unwrap();
        assert!(ending.last_move().is_none_or(|last_move| last_move == played));
    }

    #[test]
    fn all_but_the_outcomes_is_as_the_game_tells_it() {
        is_as_told(&Connect4::<u64>::new(5, 4).unwrap());
        is_as_told(&Woodpush::standard(8).unwrap());
    }

    #[test]
    fn late_wins_are_not_told_apart() {
        let game = ByDistance::new(Connect4::<u64>::new(4, 3).unwrap()).unwrap();
        let name = |winner, moves| game.scale().name(won_on(winner, moves)).to_owned();
        assert_eq!(name(Some(Player::Max), 1), "win-1");
        assert_eq!(name(Some(Player::Min), 126), "loss-126");
        assert_eq!(name(Some(Player::Min), 127), "loss-127+");
        assert_eq!(name(Some(Player::Max), 1000), "win-127+");
        assert_eq!(name(None, 1000), "draw");
    }
}
