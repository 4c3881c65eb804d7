//! Random positions of small boards, solved as jobs by two worker processes, against brute force.
//!
//! Every case is a coordinator and two workers that start, solve and exit; a failing case is
//! printed with its spec and moves.

use std::collections::BTreeMap;

use jlpns_games::spec::{GameSpec, format_moves, parse_moves, position_after};
use jlpns_games::{Game, Goal, MoveList, Outcome, Player, with_game};
use jlpns_tests::cluster::{proved_by_two, solved_by_two};
use proptest::prelude::*;

/// How many positions brute force may look at; cases that need more are not used.
const BRUTE_FORCE_LIMIT: u64 = 400_000;

const SUB_SEARCHES: [&str; 9] =
    ["pns", "gpns", "pn2", "gpns2", "gpns-pn2", "pds", "pds-pn", "dfpn", "alpha-beta"];

/// A position with what brute force says of it.
struct Position {
    /// The moves to it.
    moves: String,
    value: Outcome,
    /// Whether the game knows the answer without search: then there would be no work, and the coordinator would be
    /// gone before its workers come.
    is_known: bool,
    /// What is asked: a goal, or the value.
    goal: Option<Goal>,
    /// The values after each legal move, by its name.
    after: BTreeMap<String, Outcome>,
}

/// The position that `choices` lead to, up to one before the end of the game.
fn position<G: Game>(game: &G, choices: &[usize]) -> Option<Position> {
    let (mut position, played) = jlpns_minimax::after_choices(game, choices);
    let value =
        |position: &mut G::Position| jlpns_minimax::value(game, position, BRUTE_FORCE_LIMIT);
    let of_position = value(&mut position)?;
    let bounds = game.static_bounds(&position);
    let mut moves = MoveList::new();
    game.moves(&position, &mut moves);
    let mut after = BTreeMap::new();
    for &mv in &moves {
        let name = game.move_name(&position, mv);
        game.play(&mut position, mv);
        after.insert(name, value(&mut position)?);
        game.undo(&mut position, mv);
    }
    // Every outcome but the worst is a goal to reach, and every one but the best a goal to stay at.
    let best = usize::from(game.scale().best().0);
    let goal = match choices.iter().fold(0, |sum: usize, &choice| sum.wrapping_mul(31) ^ choice)
        % (2 * best + 2)
    {
        number if number < best => Some(Goal::AtLeast(Outcome(number as u8 + 1))),
        number if number < 2 * best => Some(Goal::AtMost(Outcome((number - best) as u8))),
        _ => None,
    };
    let moves = format_moves(game, &played);
    let decides = |goal: Goal| bounds.verdict(goal.threshold()).is_some();
    let is_known = bounds.value().is_some() || goal.is_some_and(decides);
    Some(Position { moves, value: of_position, is_known, goal, after })
}

/// A best move is one, and where the value or a goal of the player to move is proved there is one; what is not proved
/// is not called best.
fn check_best_move(
    position: &Position,
    player: Player,
    solved: &serde_json::Value,
) -> Result<(), TestCaseError> {
    let goal_holds = |value: Outcome| match position.goal {
        Some(Goal::AtLeast(least)) => value >= least,
        Some(Goal::AtMost(most)) => value <= most,
        None => value == position.value,
    };
    let is_own = match position.goal {
        Some(Goal::AtLeast(_)) => player == Player::Max,
        Some(Goal::AtMost(_)) => player == Player::Min,
        None => true,
    };
    let (best, value) = (&solved["best_move"], &solved["value"]);
    if !best.is_null() {
        prop_assert!(solved["most_proving_move"].is_null(), "{}", solved);
        prop_assert_eq!(&solved["line"][0], best);
        let after = best.as_str().and_then(|best| position.after.get(best));
        let keeps = |&after: &Outcome| {
            if value.is_null() { goal_holds(after) } else { after == position.value }
        };
        prop_assert!(after.is_some_and(keeps), "{best} in {solved}");
    }
    let is_expected = !value.is_null() || is_own && goal_holds(position.value);
    prop_assert_eq!(!best.is_null(), is_expected, "{}", solved);
    Ok(())
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
    let position = found.ok_or_else(|| TestCaseError::reject("too large"))?;
    let scale = with_game!(parsed.game(), game => game.scale());
    let goal = position.goal.map(|goal| goal.display(scale).to_string());
    let (job_nodes, knowledge) =
        (job_nodes.to_string(), (knowledge && !position.is_known).to_string());
    let args = [spec, "--moves", &position.moves, "--sub-search", sub_search, "--init", init];
    let sizes = ["--job-nodes", &job_nodes, "--knowledge", &knowledge];
    let goal_args = goal.as_ref().map_or(vec![], |goal| vec!["--goal", goal]);
    let args = [&args[..], &sizes[..], &goal_args[..]].concat();
    // A proof takes its time.
    let is_proved = choices[0].is_multiple_of(8);
    let solved = if is_proved { proved_by_two(&args) } else { solved_by_two(&args) };
    let (moves, value) = (&position.moves, scale.name(position.value));
    match position.goal {
        None => prop_assert_eq!(&solved["value"], value, "{} after '{}'", spec, moves),
        Some(goal) => {
            let proved = goal.proved_when(goal.threshold().holds(position.value));
            prop_assert_eq!(&solved["proved"], proved, "{} after '{}': {}", spec, moves, solved);
        }
    }
    let player = with_game!(parsed.game(), game => {
        let played = parse_moves(game, moves).expect("they were written by the game");
        game.to_move(&position_after(game, &played).expect("they are legal"))
    });
    check_best_move(&position, player, &solved)
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
