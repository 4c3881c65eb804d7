//! Games with more outcomes than the compiler knows widths for: every search finds the value that
//! minimax has, whatever the number of thresholds is.

mod coins;

use coins::{COINS, Coins};
use jlpns_games::spec::Games;
use jlpns_games::{Bounds, Game};
use jlpns_minimax::after_choices;
use jlpns_search::search::{SearchSettings, Store, search};
use jlpns_search::{Algorithm, Initialisation, Question, TranspositionTable};
use proptest::prelude::*;

/// The rows of these tests: with 33 outcomes, 34, 65, 71 and the most that there can be.
const ROWS: [&[u8]; 5] = [
    &[5, 9, 3, 8, 7],
    &[5, 9, 3, 8, 8],
    &[10, 7, 21, 2, 13, 11],
    &[13, 1, 22, 9, 17, 8],
    &[60, 21, 54, 3, 77, 39],
];

fn check(game: &Coins, settings: &SearchSettings, choices: &[usize]) -> Result<(), TestCaseError> {
    let (mut position, _) = after_choices(game, choices);
    let value = jlpns_minimax::value(game, &mut position, u64::MAX).expect("there is no limit");
    let question = Question::Value(game.scale().bounds());
    let table = TranspositionTable::with_bytes(1 << 16).expect("a small table");
    let end = search(game, &mut position, question, settings, &table, &mut ());
    let found = question.bounds(&end.findings.efforts, game.scale());
    prop_assert_eq!(found, Bounds::exactly(value), "{} {:?}", game.show(&position), settings);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn every_search_finds_the_minimax_value(
        row in prop::sample::select(&ROWS[..]),
        choices in prop::collection::vec(0usize..2, 0..4),
        mobility: bool,
        knowledge: bool,
        merged: bool,
    ) {
        let game = Coins::new(row).expect("no more outcomes than a scale has");
        for algorithm in Algorithm::ALL {
            let settings = SearchSettings {
                algorithm,
                store: if merged { Store::Graph } else { Store::Tree },
                initialisation:
                    if mobility { Initialisation::Mobility } else { Initialisation::Unit },
                knowledge,
                ..SearchSettings::default()
            };
            check(&game, &settings, &choices)?;
        }
    }
}

#[test]
fn a_game_with_too_many_outcomes_is_refused() {
    let games = Games::built_in().with(COINS);
    assert!(games.spec("coins:60-21-54-3-77-39").is_ok());
    let refused = games.spec("coins:60-21-54-3-77-40").expect_err("256 outcomes").to_string();
    assert_eq!(refused, "a game has 2 to 255 different outcomes, not 256");
    let refused = games.spec("coins:0").expect_err("one outcome").to_string();
    assert_eq!(refused, "a game has 2 to 255 different outcomes, not 1");
}
