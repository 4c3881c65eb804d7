//! Searches keep to their budgets, and ask their observers, from the beginning.

use std::ops::ControlFlow;

use jlpns_games::connect4::Connect4;
use jlpns_games::{Game, Threshold};
use jlpns_search::search::{Growth, Observer, SearchSettings, Stopped, search};
use jlpns_search::{Algorithm, Findings, Question, TranspositionTable};

/// Its second level is a node or two as long as the first one is small, and then does not look at the time.
#[test]
fn pn2_keeps_to_its_budget_and_asks_its_observer_while_its_tree_is_small() {
    struct Impatient;
    impl Observer for Impatient {
        fn observe(&mut self, _: u64, _: &dyn Fn() -> Findings) -> ControlFlow<()> {
            ControlFlow::Break(())
        }
    }
    let game = Connect4::<u64>::new(7, 6).unwrap();
    let (mut position, question) = (game.start(), Question::Threshold(Threshold(2)));
    let (algorithm, table) = (Algorithm::Pn2, TranspositionTable::with_bytes(1 << 10).unwrap());
    let settings = SearchSettings { algorithm, max_nodes: Some(100), ..SearchSettings::default() };
    let end = search(&game, &mut position, question, &settings, &table, &mut ());
    assert_eq!(end.stopped, Some(Stopped::MaxNodes));
    assert!(end.findings.nodes < 1_000, "{}", end.findings.nodes);
    let growth = Some(Growth { a: 1e9, b: 1.0 });
    let settings = SearchSettings { algorithm, growth, ..SearchSettings::default() };
    let end = search(&game, &mut position, question, &settings, &table, &mut Impatient);
    assert_eq!(end.stopped, Some(Stopped::Observer));
}
