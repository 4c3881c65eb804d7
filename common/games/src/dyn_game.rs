//! A game whose type is known to nobody but its maker: the way in for games from outside this crate.
//!
//! Everything that is compiled for a game is compiled once for [`DynGame`], and each of its calls is
//! one through a pointer. A game that is worth more than that gets an arm of its own in
//! [`AnyGame`](crate::spec::AnyGame).

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use crate::game::{Game, Move, MoveList, Player, Survey};
use crate::outcome::{Bounds, Outcome, OutcomeScale};

/// Any game at all, behind a pointer.
#[derive(Clone)]
pub struct DynGame(Arc<dyn Calls>);

impl DynGame {
    /// `game`, with its type forgotten.
    pub fn new<G: Game>(game: G) -> DynGame {
        DynGame(Arc::new(Typed(game)))
    }
}

impl fmt::Debug for DynGame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.as_debug().fmt(f)
    }
}

/// A game whose type is still known.
struct Typed<G>(G);

/// A position of a [`DynGame`].
pub struct DynPosition(Box<dyn AnyPosition>);

impl DynPosition {
    fn of<P: 'static>(&self) -> &P {
        self.0.as_any().downcast_ref().expect("a position of this game")
    }

    fn of_mut<P: 'static>(&mut self) -> &mut P {
        self.0.as_any_mut().downcast_mut().expect("a position of this game")
    }
}

impl Clone for DynPosition {
    fn clone(&self) -> DynPosition {
        DynPosition(self.0.copied())
    }
}

impl fmt::Debug for DynPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.as_debug().fmt(f)
    }
}

/// What a position must be, in a form that a pointer can be made to.
trait AnyPosition: Send + Sync {
    fn copied(&self) -> Box<dyn AnyPosition>;
    fn as_any(&self) -> &dyn Any;
    fn as_any_mut(&mut self) -> &mut dyn Any;
    fn as_debug(&self) -> &dyn fmt::Debug;
}

/// A position whose type is still known.
struct Held<P>(P);

impl<P: Clone + fmt::Debug + Send + Sync + 'static> AnyPosition for Held<P> {
    fn copied(&self) -> Box<dyn AnyPosition> {
        Box::new(Held(self.0.clone()))
    }

    fn as_any(&self) -> &dyn Any {
        &self.0
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        &mut self.0
    }

    fn as_debug(&self) -> &dyn fmt::Debug {
        &self.0
    }
}

/// The methods of [`Game`] in a form that a pointer can be made to. They have the names and the
/// meaning of those.
macro_rules! calls {
    ($(fn $name:ident(&self, position: &DynPosition $(, $argument:ident: $kind:ty)*) $(-> $result:ty)?;)*) => {
        trait Calls: Send + Sync {
            fn as_debug(&self) -> &dyn fmt::Debug;
            fn with_memory(&self, bytes: u64) -> Arc<dyn Calls>;
            fn memory(&self) -> u64;
            fn scale(&self) -> &OutcomeScale;
            fn orders_moves(&self) -> bool;
            fn favoured(&self) -> Option<Player>;
            fn expected_value(&self) -> Option<Outcome>;
            fn start(&self) -> DynPosition;
            fn play(&self, position: &mut DynPosition, mv: Move);
            fn undo(&self, position: &mut DynPosition, mv: Move);
            $(fn $name(&self, position: &DynPosition $(, $argument: $kind)*) $(-> $result)?;)*
        }

        impl<G: Game> Calls for Typed<G> {
            fn as_debug(&self) -> &dyn fmt::Debug {
                &self.0
            }

            fn with_memory(&self, bytes: u64) -> Arc<dyn Calls> {
                Arc::new(Typed(self.0.clone().with_memory(bytes)))
            }

            fn memory(&self) -> u64 {
                self.0.memory()
            }

            fn scale(&self) -> &OutcomeScale {
                self.0.scale()
            }

            fn orders_moves(&self) -> bool {
                self.0.orders_moves()
            }

            fn favoured(&self) -> Option<Player> {
                self.0.favoured()
            }

            fn expected_value(&self) -> Option<Outcome> {
                self.0.expected_value()
            }

            fn start(&self) -> DynPosition {
                DynPosition(Box::new(Held(self.0.start())))
            }

            fn play(&self, position: &mut DynPosition, mv: Move) {
                self.0.play(position.of_mut(), mv);
            }

            fn undo(&self, position: &mut DynPosition, mv: Move) {
                self.0.undo(position.of_mut(), mv);
            }

            $(fn $name(&self, position: &DynPosition $(, $argument: $kind)*) $(-> $result)? {
                self.0.$name(position.of() $(, $argument)*).into()
            })*
        }

        impl Game for DynGame {
            type Position = DynPosition;
            type Key = u128;
            type Notes = ();

            fn with_memory(self, bytes: u64) -> DynGame {
                DynGame(self.0.with_memory(bytes))
            }

            fn memory(&self) -> u64 {
                self.0.memory()
            }

            fn scale(&self) -> &OutcomeScale {
                self.0.scale()
            }

            fn orders_moves(&self) -> bool {
                self.0.orders_moves()
            }

            fn favoured(&self) -> Option<Player> {
                self.0.favoured()
            }

            fn expected_value(&self) -> Option<Outcome> {
                self.0.expected_value()
            }

            fn start(&self) -> DynPosition {
                self.0.start()
            }

            fn play(&self, position: &mut DynPosition, mv: Move) {
                self.0.play(position, mv);
            }

            fn undo(&self, position: &mut DynPosition, mv: Move) {
                self.0.undo(position, mv);
            }

            $(fn $name(&self, position: &DynPosition $(, $argument: $kind)*) $(-> $result)? {
                self.0.$name(position $(, $argument)*)
            })*
        }
    };
}

calls! {
    fn to_move(&self, position: &DynPosition) -> Player;
    fn outcome(&self, position: &DynPosition) -> Option<Outcome>;
    fn moves(&self, position: &DynPosition, moves: &mut MoveList);
    fn key(&self, position: &DynPosition) -> u128;
    fn move_name(&self, position: &DynPosition, mv: Move) -> String;
    fn show(&self, position: &DynPosition) -> String;
    fn piece_at(&self, position: &DynPosition, line: usize, character: usize) -> Option<Player>;
    fn mirrored_move(&self, position: &DynPosition, mv: Move) -> Option<Move>;
    fn mobility(&self, position: &DynPosition) -> u32;
    fn why_illegal(&self, position: &DynPosition, text: &str) -> Option<String>;
    fn static_bounds(&self, position: &DynPosition) -> Bounds;
    fn relevant_moves(&self, position: &DynPosition, moves: &mut MoveList);
    fn resistance(&self, position: &DynPosition) -> u32;
    fn survey(&self, position: &DynPosition, relevant: Bounds) -> Survey;
    fn promises(&self, position: &DynPosition, moves: &mut [(Move, i32)]);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::connect4::Connect4;
    use crate::woodpush::Woodpush;

    /// Plays the moves chosen by these numbers, and compares every answer on the way.
    fn same<G: Game>(game: G, choices: &[usize]) {
        let other = DynGame::new(game.clone());
        assert_eq!(other.orders_moves(), game.orders_moves());
        assert_eq!(other.favoured(), game.favoured());
        assert_eq!(other.expected_value(), game.expected_value());
        assert_eq!(other.scale(), game.scale());
        for bytes in [0, u64::MAX] {
            let limited = other.clone().with_memory(bytes);
            assert_eq!(limited.memory(), game.clone().with_memory(bytes).memory());
        }
        assert_eq!(format!("{other:?}"), format!("{game:?}"));
        let (mut one, mut two) = (game.start(), other.start());
        let mut played = Vec::new();
        for &choice in choices {
            assert_eq!(format!("{two:?}"), format!("{one:?}"));
            assert_eq!(other.show(&two), game.show(&one));
            for place in 0..64 {
                let (line, character) = (place / 8, place % 8);
                let owner = game.piece_at(&one, line, character);
                assert_eq!(other.piece_at(&two, line, character), owner);
            }
            assert_eq!(other.key(&two), game.key(&one).into());
            assert_eq!(other.to_move(&two), game.to_move(&one));
            let outcome = game.outcome(&one);
            assert_eq!(other.outcome(&two), outcome);
            if outcome.is_some() {
                break;
            }
            let (mut moves, mut others) = (MoveList::new(), MoveList::new());
            game.relevant_moves(&one, &mut moves);
            other.relevant_moves(&two, &mut others);
            assert_eq!(moves, others);
            moves.clear();
            others.clear();
            game.moves(&one, &mut moves);
            other.moves(&two, &mut others);
            assert_eq!(moves, others);
            assert_eq!(other.mobility(&two), game.mobility(&one));
            assert_eq!(other.static_bounds(&two), game.static_bounds(&one));
            assert_eq!(other.resistance(&two), game.resistance(&one));
            for bounds in [game.scale().bounds(), Bounds::exactly(Outcome(1))] {
                assert_eq!(other.survey(&two, bounds), game.survey(&one, bounds));
            }
            let mut promises: Vec<(Move, i32)> = moves.iter().map(|&mv| (mv, 7)).collect();
            let mut other_promises = promises.clone();
            game.promises(&one, &mut promises);
            other.promises(&two, &mut other_promises);
            assert_eq!(promises, other_promises);
            assert_eq!(other.why_illegal(&two, "s99"), game.why_illegal(&one, "s99"));
            let mv = moves[choice % moves.len()];
            assert_eq!(other.move_name(&two, mv), game.move_name(&one, mv));
            assert_eq!(other.mirrored_move(&two, mv), game.mirrored_move(&one, mv));
            let before = two.clone();
            game.play(&mut one, mv);
            other.play(&mut two, mv);
            played.push((before, mv));
        }
        for (before, mv) in played.into_iter().rev() {
            other.undo(&mut two, mv);
            assert_eq!(format!("{two:?}"), format!("{before:?}"));
        }
    }

    proptest! {
        #[test]
        fn a_game_behind_a_pointer_is_the_same_game(
            choices in prop::collection::vec(0usize..64, 0..50)) {
            same(Connect4::<u64>::new(5, 4).unwrap(), &choices);
            same(Woodpush::standard(8).unwrap(), &choices);
        }
    }
}
