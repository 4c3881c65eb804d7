//! Moves that the tables hold for legal after every game, against the rule itself.

use super::*;

/// Plays the moves chosen by these numbers, and looks at all others on the way; how many of them
/// would have recreated a board.
fn follow(game: &Woodpush, choices: &[usize]) -> usize {
    let knowledge = game.tables().expect("the board is small");
    let mut position = game.start();
    let mut forbidden = 0;
    for &choice in choices {
        if game.outcome(&position).is_some() {
            break;
        }
        let mut may_repeat =
            knowledge.may_repeat[knowledge.state(position.board, position.to_move)];
        position.board.each_candidate(game.line(), position.to_move, |mv, next| {
            // A move that changes nothing is none after any game, and the tables leave it out.
            if next != position.board && game.repeats(&position, next) {
                forbidden += 1;
                let name = game.move_name(&position, mv);
                assert_eq!(may_repeat & 1, 1, "{name} was held for sure: {position:?}");
            }
            may_repeat >>= 1;
            true
        });
        let mut moves = MoveList::new();
        game.moves(&position, &mut moves);
        game.play(&mut position, moves[choice % moves.len()]);
    }
    forbidden
}

/// From some of these a board comes back with the other player to move than the first time, and in
/// no other way.
#[test]
fn moves_that_are_sure_are_legal_after_every_game() {
    let mut seed = 20_260_601u64;
    let mut next = move || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize
    };
    let starts = [
        "L..LR...",
        "L.RR..R",
        "R.LLR..",
        ".LRL.RR.",
        ".RR.LRL..",
        "RL.LL..RL",
        "L.L.RR",
        "L.LL.R.R",
    ];
    for text in starts {
        let game = Woodpush::from_text(text).unwrap();
        let mut forbidden = 0;
        for _ in 0..3000 {
            let choices: Vec<usize> = (0..60).map(|_| next()).collect();
            forbidden += follow(&game, &choices);
        }
        assert!(forbidden > 100, "{text}: {forbidden}");
    }
}

/// Where there is no room to work out which boards lead to which, any move that stays in its component
/// may recreate one: bounds are looser then, and hold.
#[test]
fn without_the_ways_between_boards_bounds_are_looser() {
    let mut looser = 0;
    for text in ["L..LR...", "L.RR..R", ".RR.LRL..", "L.L....R.R", "LRLRLRL..R"] {
        let whole = Woodpush::from_text(text).unwrap();
        let room = Room { reach: 0, ..whole.room };
        let few = Woodpush { room, tables: Arc::default(), ..whole.clone() };
        let (whole, few) = (whole.tables().unwrap(), few.tables().unwrap());
        let states = whole.bounds.iter().zip(&few.bounds).enumerate();
        for (state, (&tight, &loose)) in states {
            assert_eq!(tight.intersection(loose), Some(tight), "{state} of {text}");
            looser += u32::from(tight != loose);
            assert_eq!(whole.may_repeat[state] & !few.may_repeat[state], 0, "{state} of {text}");
        }
    }
    assert!(looser > 0);
}

/// The ways are worked out between as many states as there is room for, two of each board, and not
/// between one more.
#[test]
fn there_is_room_for_the_states_of_a_component_or_there_is_not() {
    for text in ["L..LR...", ".RR.LRL..", "L.L....R.R"] {
        let whole = Woodpush::from_text(text).unwrap();
        let may_repeat = |reach: usize| {
            let room = Room { reach, ..whole.room };
            let game = Woodpush { room, tables: Arc::default(), ..whole.clone() };
            game.tables().unwrap().may_repeat.clone()
        };
        let last_of_a_component = whole.tables().unwrap().place.iter().max();
        let states = 2 * (*last_of_a_component.unwrap() as usize + 1);
        assert_eq!(may_repeat(states), may_repeat(whole.room.reach), "{text}");
        assert_ne!(may_repeat(states - 1), may_repeat(states), "{text}");
    }
}

#[test]
fn the_memory_is_that_of_the_tables() {
    for text in ["L..LR...", "L.L....R.R"] {
        let game = Woodpush::from_text(text).unwrap();
        let tables = game.tables().unwrap();
        let of_boards = size_of_val(&tables.component[..]) + size_of_val(&tables.place[..]);
        let of_states = size_of_val(&tables.bounds[..]) + size_of_val(&tables.may_repeat[..]);
        assert_eq!(game.memory(), (of_boards + of_states) as u64, "{text}");
    }
}

/// A game that may take less memory has tables of its own, or none; the one that it was made of keeps
/// what it has.
#[test]
fn tables_are_not_shared_by_games_with_different_memory() {
    let game = Woodpush::from_text("L..LR...").unwrap();
    assert!(game.clone().with_memory(0).tables().is_none());
    assert!(game.tables().is_some());
    assert!(game.clone().with_memory(0).tables().is_none());
    assert!(game.with_memory(0).with_memory(u64::MAX).tables().is_some());
}
