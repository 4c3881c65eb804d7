//! Every search gives the brute-force value on random positions of small boards of both games,
//! whatever its settings, its table and its limits.

use std::ops::ControlFlow;

use jlpns_games::by_distance::ByDistance;
use jlpns_games::connect4::Connect4;
use jlpns_games::woodpush::Woodpush;
use jlpns_games::{Bounds, Game, Goal, Move, MoveList, Outcome, Threshold};
use jlpns_search::answer::{Proved, known_best_move, learn_children, line};
use jlpns_search::search::{Growth, Observer, SearchEnd, SearchSettings, Stopped, Store, search};
use jlpns_search::{Algorithm, EffortPair, Findings, Initialisation, Question, TranspositionTable};
use proptest::prelude::*;
use proptest::test_runner::TestCaseResult;

use crate::third_game::noughts::Noughts;

/// Larger positions are left out: brute force would take too long.
const BRUTE_FORCE_LIMIT: u64 = 20_000;

/// A position with its value and those of its children, by brute force.
#[derive(Debug)]
struct Solved<G: Game> {
    position: G::Position,
    value: Outcome,
    /// The legal moves, with the key and the value of the position after each.
    children: Vec<(Move, G::Key, Outcome)>,
}

impl<G: Game> Solved<G> {
    /// The position after moves that are chosen by these numbers, unless brute force would need
    /// more than `limit` positions.
    fn after(game: &G, choices: &[usize], limit: u64) -> Option<Solved<G>> {
        let mut position = game.start();
        let mut moves = MoveList::new();
        for &choice in choices {
            if game.outcome(&position).is_some() {
                break;
            }
            moves.clear();
            game.moves(&position, &mut moves);
            game.play(&mut position, moves[choice % moves.len()]);
        }
        let value = jlpns_minimax::value(game, &mut position, limit)?;
        moves.clear();
        if game.outcome(&position).is_none() {
            game.moves(&position, &mut moves);
        }
        let mut children = Vec::new();
        for &mv in &moves {
            game.play(&mut position, mv);
            let value = jlpns_minimax::value(game, &mut position, limit);
            children.push((mv, game.key(&position), value?));
            game.undo(&mut position, mv);
        }
        Some(Solved { position, value, children })
    }

    /// What a search tells is true and complete.
    fn check(&self, question: Question, findings: &Findings) -> TestCaseResult {
        let (first, count) = question.thresholds();
        prop_assert_eq!(findings.efforts.len(), count);
        check_efforts(&findings.efforts, first, self.value)?;
        if let Some(best) = findings.most_proving_move {
            prop_assert!(self.children.iter().any(|&(mv, ..)| mv == best));
        }
        if findings.children.is_empty() {
            return Ok(());
        }
        // The legal moves in the game's order; a graph tells one of those that lead to the same.
        let mut told = findings.children.iter().peekable();
        for (index, &(mv, key, value)) in self.children.iter().enumerate() {
            if let Some(child) = told.next_if(|child| child.mv == mv) {
                prop_assert_eq!(child.efforts.len(), count);
                check_efforts(&child.efforts, first, value)?;
            } else {
                let seen = self.children[..index].iter().any(|&(_, earlier, _)| earlier == key);
                prop_assert!(seen, "{mv:?} is missing in {findings:?}");
            }
        }
        prop_assert!(told.next().is_none());
        Ok(())
    }

    /// The moves of the line keep what a search has proved, to the end of the game, and so does a best move that can
    /// be told without a search.
    fn check_line(
        &self,
        game: &G,
        asked: (Question, Option<Goal>),
        findings: &Findings,
        table: &TranspositionTable,
    ) -> TestCaseResult {
        let (question, goal) = asked;
        let mut position = self.position.clone();
        let outcome = game.outcome(&position).map(Bounds::exactly);
        let bounds = outcome.unwrap_or(question.bounds(&findings.efforts, game.scale()));
        let proved = Proved { bounds, goal };
        learn_children(game, &mut position, question, &findings.children, table);
        let keeps = |value: Outcome| match (bounds.value(), goal) {
            (Some(known), _) => value == known,
            (None, Some(Goal::AtLeast(least))) => value >= least,
            (None, Some(Goal::AtMost(most))) => value <= most,
            (None, None) => false,
        };
        let after = |mv: Move| self.children.iter().find(|&&(other, ..)| other == mv);
        let told = known_best_move(game, &mut position, proved, question, &findings.children);
        if let Some(mv) = told {
            prop_assert!(after(mv).is_some_and(|&(.., value)| keeps(value)), "{mv:?} of {self:?}");
        }
        let moves = line(game, &mut position, proved, usize::MAX, table, &mut ());
        let moves = moves.expect("what is proved is true");
        prop_assert_eq!(game.key(&position), game.key(&self.position), "it is as it was");
        let is_best = proved.kept_by(game.to_move(&position), game.scale()).is_some();
        if is_best || told.is_some() {
            prop_assert_eq!(is_best, outcome.is_some() || !moves.is_empty());
        }
        if moves.is_empty() {
            return Ok(());
        }
        for &mv in &moves {
            game.play(&mut position, mv);
            let value = jlpns_minimax::value(game, &mut position, u64::MAX);
            prop_assert!(value.is_some_and(keeps), "{moves:?} of {proved:?}, {value:?}");
        }
        prop_assert!(game.outcome(&position).is_some(), "{moves:?} is not the whole game");
        Ok(())
    }

    /// A search that ended says so exactly if it has the answer.
    fn check_end(&self, question: Question, end: &SearchEnd) -> TestCaseResult {
        self.check(question, &end.findings)?;
        let answered = question.is_answered(&end.findings.efforts);
        prop_assert_eq!(end.stopped.is_none(), answered, "{:?}", end);
        prop_assert_eq!(end.findings.nodes, end.statistics.nodes);
        Ok(())
    }
}

/// Numbers of one position: consistent, monotone over the thresholds, and no wrong fact.
fn check_efforts(efforts: &[EffortPair], first: Threshold, value: Outcome) -> TestCaseResult {
    for (index, pair) in efforts.iter().enumerate() {
        let threshold = Threshold(first.0 + index as u8);
        prop_assert!(pair.is_consistent(), "{pair:?}");
        if let Some(holds) = pair.verdict() {
            prop_assert_eq!(holds, threshold.holds(value), "{:?} of {:?}", threshold, value);
        }
    }
    for pair in efforts.windows(2) {
        prop_assert!(pair[0].proof <= pair[1].proof, "{efforts:?}");
        prop_assert!(pair[0].disproof >= pair[1].disproof, "{efforts:?}");
    }
    Ok(())
}

fn table_of(entries: u64) -> TranspositionTable {
    TranspositionTable::with_bytes(entries * 32).expect("a small table")
}

/// The questions that can be asked of a game with these outcomes, trivial ones included.
fn questions(outcomes: usize) -> impl Iterator<Item = Question> {
    let last = outcomes as u8;
    let values = (0..last).flat_map(move |lower| {
        (lower..last).map(move |upper| {
            Question::Value(Bounds { lower: Outcome(lower), upper: Outcome(upper) })
        })
    });
    (0..=last).map(|t| Question::Threshold(Threshold(t))).chain(values)
}

fn settings() -> impl Strategy<Value = SearchSettings> {
    (
        prop::sample::select(Algorithm::ALL.to_vec()),
        (any::<bool>(), any::<bool>(), any::<bool>()),
        prop_oneof![Just(0.0), Just(0.25), Just(2.0)],
        prop_oneof![Just((1.0, 1.0)), Just((50.0, 30.0)), Just((450_000.0, 300_000.0))],
    )
        .prop_map(|(algorithm, (graph, mobility, knowledge), epsilon, (a, b))| {
            SearchSettings {
                algorithm,
                store: if graph { Store::Graph } else { Store::Tree },
                initialisation: if mobility {
                    Initialisation::Mobility
                } else {
                    Initialisation::Unit
                },
                epsilon,
                growth: Some(Growth { a, b }),
                knowledge,
                ..SearchSettings::default()
            }
        })
}

/// A board of Connect Four and moves.
fn connect4() -> impl Strategy<Value = (Connect4<u64>, Vec<usize>)> {
    let sizes =
        vec![(3, 3), (4, 3), (3, 4), (4, 4), (5, 3), (3, 5), (5, 4), (4, 5), (6, 2), (1, 5)];
    prop::sample::select(sizes).prop_flat_map(|(width, height)| {
        let game = Connect4::new(width, height).expect("a size in range");
        let cells = (width * height) as usize;
        let moves = prop::collection::vec(0..64usize, cells.saturating_sub(9)..=cells);
        (Just(game), moves)
    })
}

/// A start board of Woodpush with one to three pieces a side, or the standard one, and moves.
fn woodpush() -> impl Strategy<Value = (Woodpush, Vec<usize>)> {
    let standard = (6..=8usize).prop_map(|cells| Woodpush::standard(cells).expect("in range"));
    let random = (6..=8usize, 1..=3usize, 1..=3usize)
        .prop_flat_map(|(cells, left, right)| {
            let mut board = vec!['.'; cells];
            board[..left].fill('L');
            board[left..left + right].fill('R');
            Just(board).prop_shuffle()
        })
        .prop_map(|board| Woodpush::from_text(&String::from_iter(board)).expect("two sides"));
    (prop_oneof![standard, random], prop::collection::vec(0..64usize, 0..14))
}

/// One search of a position, with a table of any size.
fn one_search<G: Game>(
    game: &G,
    choices: &[usize],
    settings: &SearchSettings,
    entries: u64,
    pick: prop::sample::Index,
) -> TestCaseResult {
    let Some(solved) = Solved::after(game, choices, BRUTE_FORCE_LIMIT) else {
        return Err(TestCaseError::reject("too large for brute force"));
    };
    let questions: Vec<Question> = questions(game.scale().len()).collect();
    let question = questions[pick.index(questions.len())];
    let mut searched = solved.position.clone();
    let table = table_of(entries);
    let end = search(game, &mut searched, question, settings, &table, &mut ());
    prop_assert_eq!(game.key(&searched), game.key(&solved.position), "the position is as it was");
    prop_assert_eq!(end.stopped, None);
    solved.check_end(question, &end)?;
    let goals: Vec<Option<Goal>> = match question {
        Question::Value(_) => vec![None],
        Question::Threshold(Threshold(threshold)) => {
            let least = (usize::from(threshold) < game.scale().len())
                .then_some(Goal::AtLeast(Outcome(threshold)));
            let most = threshold.checked_sub(1).map(|most| Goal::AtMost(Outcome(most)));
            least.into_iter().chain(most).map(Some).collect()
        }
    };
    goals.into_iter().try_for_each(|goal| {
        // As large as it is where a line is wanted.
        solved.check_line(game, (question, goal), &end.findings, &table_of(1 << 12))?;
        solved.check_line(game, (question, goal), &end.findings, &table)
    })
}

/// Searches that are stopped again and again, with the table kept between them, until they have
/// the answer.
fn stopped_searches<G: Game>(
    game: &G,
    choices: &[usize],
    settings: &SearchSettings,
    budget: u64,
    pick: prop::sample::Index,
) -> TestCaseResult {
    let Some(solved) = Solved::after(game, choices, BRUTE_FORCE_LIMIT) else {
        return Err(TestCaseError::reject("too large for brute force"));
    };
    let mut position = solved.position.clone();
    let questions: Vec<Question> = questions(game.scale().len()).collect();
    let question = questions[pick.index(questions.len())];
    let settings = SearchSettings { max_nodes: Some(budget), ..settings.clone() };
    let table = table_of(1 << 15);
    for _ in 0..4 * BRUTE_FORCE_LIMIT {
        let end = search(game, &mut position, question, &settings, &table, &mut ());
        solved.check_end(question, &end)?;
        match end.stopped {
            None => return Ok(()),
            Some(why) => prop_assert_eq!(why, Stopped::MaxNodes),
        }
        // A search without a table begins anew each time.
        if !settings.algorithm.uses_table() {
            return Ok(());
        }
    }
    Err(TestCaseError::fail("no end"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    #[test]
    fn connect4_values_are_right((game, choices) in connect4(), settings in settings(),
                                 entries in prop_oneof![Just(2u64), Just(16), Just(1 << 12)],
                                 pick: prop::sample::Index) {
        one_search(&game, &choices, &settings, entries, pick)?;
    }

    #[test]
    fn woodpush_values_are_right((game, choices) in woodpush(), settings in settings(),
                                 entries in prop_oneof![Just(2u64), Just(16), Just(1 << 12)],
                                 pick: prop::sample::Index) {
        one_search(&game, &choices, &settings, entries, pick)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn noughts_values_are_right(choices in prop::collection::vec(0..64usize, 2..10),
                                settings in settings(), by_distance: bool,
                                entries in prop_oneof![Just(2u64), Just(16), Just(1 << 12)],
                                pick: prop::sample::Index) {
        let game = Noughts::new();
        if by_distance {
            let game = ByDistance::new(game).expect("names say who wins");
            one_search(&game, &choices, &settings, entries, pick)?;
        } else {
            one_search(&game, &choices, &settings, entries, pick)?;
        }
    }

    #[test]
    fn last_moves_of_connect4_are_right((game, choices) in connect4(), settings in settings(),
                                        entries in prop_oneof![Just(2u64), Just(16), Just(1 << 12)],
                                        pick: prop::sample::Index) {
        one_search(&game.with_last_moves(), &choices, &settings, entries, pick)?;
    }

    #[test]
    fn last_moves_of_woodpush_are_right((game, choices) in woodpush(), settings in settings(),
                                        entries in prop_oneof![Just(2u64), Just(16), Just(1 << 12)],
                                        pick: prop::sample::Index) {
        let game = ByDistance::new(game).expect("scores say who wins");
        one_search(&game, &choices, &settings, entries, pick)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn connect4_searches_resume((game, choices) in connect4(), settings in settings(),
                                budget in 1u64..200, pick: prop::sample::Index) {
        stopped_searches(&game, &choices, &settings, budget, pick)?;
    }

    #[test]
    fn woodpush_searches_resume((game, choices) in woodpush(), settings in settings(),
                                budget in 1u64..200, pick: prop::sample::Index) {
        stopped_searches(&game, &choices, &settings, budget, pick)?;
    }
}

/// An observer that checks every report, and stops the search after some.
struct Checking<'a, G: Game> {
    solved: &'a Solved<G>,
    question: Question,
    nodes: u64,
    reports: u32,
    stop_after: u32,
}

impl<G: Game> Observer for Checking<'_, G> {
    fn observe(&mut self, nodes: u64, findings: &dyn Fn() -> Findings) -> ControlFlow<()> {
        let findings = findings();
        self.solved.check(self.question, &findings).expect("reports are true");
        assert_eq!(findings.nodes, nodes);
        assert!(nodes > self.nodes, "reports come with new nodes");
        self.nodes = nodes;
        self.reports += 1;
        if self.reports == self.stop_after {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

#[test]
fn reports_on_the_way_are_true_and_observers_can_stop() {
    let game = Connect4::<u64>::new(4, 4).expect("a size in range");
    let solved = Solved::after(&game, &[0, 1], 100_000_000).expect("few enough positions");
    let question = Question::Value(game.scale().bounds());
    for algorithm in Algorithm::ALL {
        for stop_after in [0, 1] {
            let growth = Some(Growth { a: 200.0, b: 100.0 });
            // With knowledge some would need too few nodes.
            let knowledge = false;
            let settings =
                SearchSettings { algorithm, growth, knowledge, ..SearchSettings::default() };
            let mut observer =
                Checking { solved: &solved, question, nodes: 0, reports: 0, stop_after };
            // A table that keeps little makes the searches long enough to be watched.
            let table = table_of(if algorithm == Algorithm::AlphaBeta { 2 } else { 64 });
            let mut position = solved.position;
            let end = search(&game, &mut position, question, &settings, &table, &mut observer);
            solved.check_end(question, &end).expect("the end is true");
            if stop_after == 0 {
                assert!(observer.reports > 0, "{algorithm} makes no report");
                assert_eq!(end.stopped, None, "{algorithm}");
            } else {
                assert_eq!(end.stopped, Some(Stopped::Observer), "{algorithm}");
                assert_eq!(observer.reports, stop_after);
            }
        }
    }
}

#[test]
fn full_memory_stops_a_search_with_what_it_has() {
    let game = Connect4::<u64>::new(5, 4).expect("a size in range");
    for algorithm in Algorithm::ALL.into_iter().filter(|a| !a.uses_table()) {
        for store in [Store::Tree, Store::Graph] {
            let memory = 100_000;
            let knowledge = false;
            let settings =
                SearchSettings { algorithm, store, memory, knowledge, ..SearchSettings::default() };
            let question = Question::Value(game.scale().bounds());
            let table = table_of(0);
            let end = search(&game, &mut game.start(), question, &settings, &table, &mut ());
            assert_eq!(end.stopped, Some(Stopped::Memory), "{algorithm} on a {store:?}");
            assert_eq!(end.findings.children.len(), 5, "{algorithm} on a {store:?}");
            assert!(end.statistics.peak_nodes > 0);
        }
    }
}

/// Rows of the tables of the GPNS paper that are larger than brute force can do.
#[test]
fn values_of_the_tables() {
    for algorithm in Algorithm::ALL {
        let settings = SearchSettings { algorithm, memory: 1 << 24, ..SearchSettings::default() };
        let connect4 = Connect4::<u64>::new(4, 4).expect("a size in range");
        let woodpush = Woodpush::standard(8).expect("a length in range");
        assert_eq!(value_of_start(&connect4, &settings), "draw", "{algorithm}");
        assert_eq!(value_of_start(&woodpush, &settings), "-1", "{algorithm}");
    }
}

fn value_of_start<G: Game>(game: &G, settings: &SearchSettings) -> String {
    let question = Question::Value(game.scale().bounds());
    let table = TranspositionTable::with_bytes(settings.table_bytes()).expect("a small table");
    let end = search(game, &mut game.start(), question, settings, &table, &mut ());
    let value = question.bounds(&end.findings.efforts, game.scale()).value();
    game.scale().name(value.expect("solved")).to_owned()
}
