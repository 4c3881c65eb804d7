//! Strategies that are put together from what searches know: whatever the other player does, the
//! claimant's moves lead to an outcome that fulfils the claim.

use std::collections::BTreeSet;

use jlpns_games::spec::GameSpec;
use jlpns_games::{Game, MoveList, Outcome, Threshold, with_game};
use jlpns_minimax::{after_choices, value};
use jlpns_search::TranspositionTable;
use jlpns_search::strategy::{Claim, NoMove, StrategyFinder};
use proptest::prelude::*;

/// Plays the strategy against every reply; the claimant's positions, or why it fails.
fn play_out<G: Game>(
    game: &G,
    finder: &mut StrategyFinder<'_, G>,
    position: &mut G::Position,
    claim: Claim,
    seen: &mut BTreeSet<G::Key>,
) -> Result<(), String> {
    if let Some(outcome) = game.outcome(position) {
        let fulfilled = claim.is_fulfilled_by(outcome);
        return if fulfilled { Ok(()) } else { Err(format!("lost:\n{}", game.show(position))) };
    }
    if !seen.insert(game.key(position)) {
        return Ok(());
    }
    let mut moves = MoveList::new();
    if game.to_move(position) == claim.claimant() {
        let mv = finder.keeping_move(position, &mut ());
        moves.push(mv.map_err(|why| format!("{why:?}:\n{}", game.show(position)))?);
    } else {
        game.moves(position, &mut moves);
    }
    for mv in moves {
        game.play(position, mv);
        let below = play_out(game, finder, position, claim, seen);
        game.undo(position, mv);
        below?;
    }
    Ok(())
}

/// Checks all claims about a position whose value is known.
fn check<G: Game>(
    game: &G,
    position: &mut G::Position,
    value: Outcome,
) -> Result<(), TestCaseError> {
    for threshold in (1..game.scale().len() as u8).map(Threshold) {
        for bytes in [0, 1 << 20] {
            let table = TranspositionTable::with_bytes(bytes).unwrap();
            let claim = Claim { threshold, holds: threshold.holds(value) };
            let mut finder = StrategyFinder::new(game, &table, claim);
            let end = play_out(game, &mut finder, position, claim, &mut BTreeSet::new());
            prop_assert_eq!(end, Ok(()), "{:?}", claim);

            let false_claim = Claim { holds: !claim.holds, ..claim };
            let mut finder = StrategyFinder::new(game, &table, false_claim);
            let end = play_out(game, &mut finder, position, false_claim, &mut BTreeSet::new());
            prop_assert!(end.is_err(), "{:?}", false_claim);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn a_strategy_fulfils_its_claim_and_a_false_claim_has_none(
        spec in prop::sample::select(vec![
            "connect4:4x4", "connect4:5x3", "connect4:3x6", "woodpush:7", "woodpush:8",
            "woodpush:LL..RR.R", "woodpush:LRL..RLR",
        ]),
        choices in prop::collection::vec(any::<usize>(), 0..8),
    ) {
        let spec: GameSpec = spec.parse().unwrap();
        with_game!(spec.game(), game => {
            let (mut position, _) = after_choices(game, &choices);
            if let Some(value) = value(game, &mut position, 3_000_000) {
                check(game, &mut position, value)?;
            }
        });
    }
}

#[test]
fn a_search_for_a_move_stops_when_it_is_told_to() {
    struct Stop;
    impl jlpns_search::search::Observer for Stop {
        fn observe(
            &mut self,
            _: u64,
            _: &dyn Fn() -> jlpns_search::Findings,
        ) -> std::ops::ControlFlow<()> {
            std::ops::ControlFlow::Break(())
        }
    }
    let game = jlpns_games::connect4::Connect4::<u64>::new(7, 6).unwrap();
    let table = TranspositionTable::with_bytes(1 << 20).unwrap();
    let claim = Claim { threshold: Threshold(2), holds: true };
    let mut finder = StrategyFinder::new(&game, &table, claim);
    assert_eq!(finder.keeping_move(&mut game.start(), &mut Stop), Err(NoMove::Stopped));
}
