//! Random positions of small boards, solved as jobs by two worker processes, against brute force.
//!
//! Every case is a coordinator and two workers that start, solve and exit; a failing case is
//! printed with its spec and moves.

use jlpns_games::spec::{GameSpec, format_moves};
use jlpns_games::{Game, with_game};
use jlpns_tests::cluster::{proved_by_two, solved_by_two};
use proptest::prelude::*;

/// How many positions brute force may look at; cases that need more are not used.
const BRUTE_FORCE_LIMIT: u64 = 400_000;

const SUB_SEARCHES: [&str; 9] =
    ["pns", "gpns", "pn2", "gpns2", "gpns-pn2", "pds", "pds-pn", "dfpn", "alpha-beta"];

/// The moves that `choices` lead to, up to one before the end of the game; the value of the position
/// after them; and whether the game knows it without search: then there would be no work, and
/// the coordinator would be gone before its workers come.
fn position<G: Game>(game: &G, choices: &[usize]) -> Option<(String, String, bool)> {
    let (mut position, played) = jlpns_minimax::after_choices(game, choices);
    let value = jlpns_minimax::value(game, &mut position, BRUTE_FORCE_LIMIT)?;
    let known = game.static_bounds(&position).value().is_some();
    Some((format_moves(game, &played), game.scale().name(value).to_owned(), known))
}

fn check(
    spec: &str,
    choices: &[usize],
    sub_search: &str,
    job_nodes: u32,
    init: &str,
    knowledge: bool,
) -> Result<(), TestCaseError> {
    let parsed: GameSpec = spec.parse().expect("the specs of this test are good");
    let found = with_game!(parsed.game(), game => position(game, choices));
    let (moves, value, known) = found.ok_or_else(|| TestCaseError::reject("too large"))?;
    let (job_nodes, knowledge) = (job_nodes.to_string(), (knowledge && !known).to_string());
    let args = [spec, "--moves", &moves, "--sub-search", sub_search, "--init", init];
    let sizes = ["--job-nodes", &job_nodes, "--knowledge", &knowledge];
    let args = [&args[..], &sizes[..]].concat();
    // A proof takes its time.
    let is_proved = choices[0].is_multiple_of(8);
    let solved = if is_proved { proved_by_two(&args) } else { solved_by_two(&args) };
    prop_assert_eq!(&solved["value"], &value, "{} after '{}': {}", spec, moves, solved);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 1000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn connect4_by_two_workers_has_the_brute_force_value(
        spec in prop::sample::select(vec![
            "connect4:3x4", "connect4:4x3", "connect4:4x4", "connect4:5x3", "connect4:5x4",
            "connect4:4x5",
        ]),
        choices in prop::collection::vec(any::<usize>(), 6..14),
        sub_search in prop::sample::select(SUB_SEARCHES.to_vec()),
        job_nodes in 200u32..3000,
        init in prop::sample::select(vec!["unit", "mobility"]),
        knowledge in any::<bool>(),
    ) {
        check(spec, &choices, sub_search, job_nodes, init, knowledge)?;
    }

    #[test]
    fn woodpush_by_two_workers_has_the_brute_force_value(
        spec in prop::sample::select(vec![
            "woodpush:6", "woodpush:7", "woodpush:8", "woodpush:L.R..LR", "woodpush:LL..R.",
            "woodpush:RL..RL", "woodpush:L..R.RR",
        ]),
        choices in prop::collection::vec(any::<usize>(), 1..8),
        sub_search in prop::sample::select(SUB_SEARCHES.to_vec()),
        job_nodes in 200u32..3000,
        init in prop::sample::select(vec!["unit", "mobility"]),
        knowledge in any::<bool>(),
    ) {
        check(spec, &choices, sub_search, job_nodes, init, knowledge)?;
    }
}
