use std::sync::atomic::AtomicBool;

use jlpns_games::{Game, MoveList};
use jlpns_solve::SolveSettings;
use proptest::prelude::*;

use super::*;
use crate::cli::explore::model::Explorer;

fn looker(spec: &GameSpec, solve: Option<Solve>) -> Looker {
    let table = TranspositionTable::with_bytes(1 << 24).expect("a small table");
    Looker::new(spec.clone(), solve, table, 2)
}

/// Some moves from the start, by these numbers, and the values of the position after them and of those one move on.
fn by_brute_force<G: Game>(game: &G, choices: &[usize]) -> (Vec<Move>, u8, Vec<u8>) {
    let mut position = game.start();
    let mut played = Vec::new();
    let legal = |position: &G::Position| {
        let mut moves = MoveList::new();
        if game.outcome(position).is_none() {
            game.moves(position, &mut moves);
        }
        moves
    };
    for choice in choices {
        let moves = legal(&position);
        if moves.is_empty() {
            break;
        }
        let mv = moves[choice % moves.len()];
        game.play(&mut position, mv);
        played.push(mv);
    }
    let value = |position: &mut G::Position| {
        jlpns_minimax::value(game, position, u64::MAX).expect("no limit").0
    };
    let own = value(&mut position);
    let moves = legal(&position);
    let after = |&mv: &Move| {
        game.play(&mut position, mv);
        let value = value(&mut position);
        game.undo(&mut position, mv);
        value
    };
    (played, own, moves.iter().map(after).collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn what_is_found_is_what_brute_force_finds(
        spec in prop::sample::select(vec!["connect4:4x4", "connect4:5x3", "woodpush:7", "woodpush:L.L.R.R"]),
        choices in prop::collection::vec(0usize..64, 7..12),
    ) {
        let spec: GameSpec = spec.parse().expect("a spec");
        let (moves, value, values) = with_game!(spec.game(), game => by_brute_force(game, &choices));
        let mut explorer = Explorer::new(spec.clone(), moves.clone()).expect("legal moves");
        let limits = Limits { nodes: None, is_stopped: &|| false };
        looker(&spec, None).look(&moves, &limits, &mut |found| explorer.learn(found)).expect("legal moves");
        prop_assert_eq!(explorer.bounds().value().map(|value| value.0), Some(value));
        let place = explorer.place();
        let of = |legal| explorer.knowledge().of(legal).bounds.value().map(|value| value.0);
        let found: Vec<Option<u8>> = place.moves.iter().map(of).collect();
        prop_assert_eq!(found, values.iter().map(|&value| Some(value)).collect::<Vec<_>>());
        if place.outcome.is_none() {
            let best = explorer.best().expect("a best move of a known value");
            prop_assert_eq!(values[best], value);
            let mut end = moves.clone();
            let line = explorer.line().expect("a line");
            for name in line {
                let place = Place::after(&spec, &end).expect("legal moves");
                end.push(place.moves.iter().find(|legal| legal.name == name).expect("legal").mv);
            }
            let outcome = Place::after(&spec, &end).expect("legal moves").outcome;
            prop_assert_eq!(outcome.map(|outcome| outcome.0), Some(value), "the line keeps the value to the end");
        }
    }
}

#[test]
fn a_look_ends_at_its_limit_and_goes_on_from_what_it_knows() {
    let spec: GameSpec = "connect4:6x6".parse().expect("a spec");
    let mut looker = looker(&spec, None);
    let mut explorer = Explorer::new(spec.clone(), Vec::new()).expect("the start");
    let limits = Limits { nodes: Some(20_000), is_stopped: &|| false };
    let mut look = |looker: &mut Looker| {
        looker.look(&[], &limits, &mut |found| explorer.learn(found)).expect("the start");
        explorer.knowledge().nodes(explorer.place())
    };
    let first = look(&mut looker);
    assert!((10_000..30_000).contains(&first), "{first}");
    let second = look(&mut looker);
    assert!((first + 10_000..60_000).contains(&second), "{second}");
    assert_eq!(explorer.bounds().value(), None);
}

#[test]
fn a_look_that_is_stopped_ends_in_the_midst_of_a_search() {
    let spec: GameSpec = "connect4:9x8".parse().expect("a spec");
    let stopped = AtomicBool::new(false);
    let limits = Limits { nodes: None, is_stopped: &|| stopped.load(Ordering::Relaxed) };
    let mut told = 0;
    let mut tell = |found: Found| {
        if let Found::Position(_, known) = found
            && known.nodes > 0
        {
            told += 1;
            stopped.store(true, Ordering::Relaxed);
        }
    };
    looker(&spec, None).look(&[], &limits, &mut tell).expect("the start");
    // The searches that had begun tell what they have.
    assert!((1..=5).contains(&told), "{told}");
}

#[test]
fn what_a_solve_knows_is_told_before_any_search() {
    let spec: GameSpec = "connect4:4x4".parse().expect("a spec");
    let settings = SolveSettings::new(spec.clone());
    let solve = Solve::new(settings).expect("a solve");
    let mut looker = looker(&spec, Some(solve));
    let limits = Limits { nodes: Some(0), is_stopped: &|| false };
    let mut told = Vec::new();
    looker.look(&[], &limits, &mut |found| told.push(found)).expect("the start");
    let root = Place::after(&spec, &[]).expect("the start").key;
    let of_root = told.iter().find_map(|found| match found {
        Found::Position(key, known) if *key == root => Some(known.efforts.len()),
        _ => None,
    });
    assert_eq!(of_root, Some(2), "the root's numbers for draw and win: {told:?}");
}
