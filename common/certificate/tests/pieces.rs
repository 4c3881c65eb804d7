//! Jobs that prove what they find: the certificate shows it by the rules alone, whatever their table says.

use std::ops::ControlFlow;
use std::sync::Arc;

use jlpns_certificate::{FoundByJob, check_piece, learn_piece, run_job};
use jlpns_games::spec::{GameSpec, format_moves, parse_moves, position_after};
use jlpns_games::{Game, Move, Threshold, with_game};
use jlpns_search::search::{EPSILON, Growth, Observer};
use jlpns_search::searcher::{Searcher, Searching};
use jlpns_search::strategy::Claim;
use jlpns_search::sub_search::SubSearches;
use jlpns_search::{
    Algorithm, EffortPair, Findings, Initialisation, Job, Question, SolvedPosition,
    TranspositionTable,
};
use jlpns_verify::{Failure, Settings};

const MEMORY: u64 = 1 << 24;

fn job(spec: &GameSpec, moves: &str, sub_search: Algorithm) -> Job {
    let moves = with_game!(spec.game(), game => parse_moves(game, moves).unwrap());
    Job {
        moves,
        question: Question::Threshold(Threshold(1)),
        sub_search,
        initialisation: Initialisation::Unit,
        knowledge: true,
        prove: true,
        alone: false,
        growth: Growth::of(sub_search),
        epsilon: EPSILON,
        budget: 10_000_000,
    }
}

fn searcher(spec: &GameSpec) -> Arc<dyn Searcher> {
    SubSearches.searcher(spec, MEMORY, 1).unwrap()
}

fn key<G: Game>(game: &G, position: &G::Position) -> u128 {
    game.key(position).into()
}

fn never() -> bool {
    false
}

/// Checks what a job has found; gives the certificate.
fn shown(spec: &GameSpec, job: &Job, found: FoundByJob) -> Vec<u8> {
    let certificate = found.certificate.expect("a certificate");
    let holds = found.findings.efforts[0].verdict().expect("an answer");
    let Question::Threshold(threshold) = job.question else { unreachable!() };
    let (moves, goal) = with_game!(spec.game(), game => {
        let goal = Claim { threshold, holds }.goal();
        (format_moves(game, &job.moves), goal.display(game.scale()).to_string())
    });
    let settings = Settings::default();
    let proved = check_piece(&certificate[..], spec, &moves, &goal, &settings).unwrap();
    assert_eq!(proved.header.claim(), goal);
    for (moves, goal) in [("1", &goal[..]), (&moves, ">=win"), (&moves, "<=loss")] {
        let other = check_piece(&certificate[..], spec, moves, goal, &settings);
        assert!(matches!(other, Err(Failure::Fails(_))), "{moves} {goal}: {other:?}");
    }
    certificate
}

#[test]
fn every_sub_search_proves_what_it_finds() {
    for (spec, moves) in [("connect4:4x4", "12"), ("connect4:7x2", ""), ("woodpush:9", "s0")] {
        let spec: GameSpec = spec.parse().unwrap();
        for sub_search in [Algorithm::Pds, Algorithm::AlphaBeta, Algorithm::Pn2, Algorithm::DfPn] {
            let job = job(&spec, moves, sub_search);
            let found = run_job(&spec, &*searcher(&spec), &job, &mut (), &never).unwrap();
            assert!(found.certificate.is_some(), "{sub_search} on {spec}: {:?}", found.findings);
            shown(&spec, &job, found);
        }
    }
}

#[test]
fn a_job_that_does_not_ask_for_a_certificate_has_none() {
    let spec: GameSpec = "connect4:4x4".parse().unwrap();
    let job = Job { prove: false, ..job(&spec, "12", Algorithm::Pds) };
    let found = run_job(&spec, &*searcher(&spec), &job, &mut (), &never).unwrap();
    assert!(found.certificate.is_none() && found.findings.efforts[0].is_solved());
}

/// Searches as they should, and a table that knows what is not so.
struct Misled {
    searcher: Arc<dyn Searcher>,
    table: TranspositionTable,
}

impl Searcher for Misled {
    fn search(&self, job: &Job, observer: &mut dyn Observer) -> Result<Findings, String> {
        self.searcher.search(job, observer)
    }

    fn table(&self) -> Option<&TranspositionTable> {
        Some(&self.table)
    }
}

#[test]
fn a_table_that_knows_what_is_not_so_spoils_no_proof() {
    let spec: GameSpec = "connect4:5x4".parse().unwrap();
    let job = job(&spec, "", Algorithm::Pds);
    let table = TranspositionTable::with_bytes(1 << 20).unwrap();
    let searcher = Misled { searcher: searcher(&spec), table };
    // Every position two moves on is said to be good for Max, who has no more than a draw, and for Min.
    with_game!(spec.game(), game => {
        let mut position = position_after(game, &[]).unwrap();
        let all: Vec<Move> = (0..5).map(Move).collect();
        for &first in &all {
            for &second in &all {
                for &third in &all {
                    let line = [first, second, third];
                    line.iter().for_each(|&mv| game.play(&mut position, mv));
                    for (threshold, holds) in [(1, true), (2, true)] {
                        let key = key(game, &position);
                        let threshold = Threshold(threshold);
                        searcher.table.learn(&SolvedPosition { key, threshold, holds, work: 1 });
                    }
                    line.iter().rev().for_each(|&mv| game.undo(&mut position, mv));
                }
            }
        }
    });
    let found = run_job(&spec, &searcher, &job, &mut (), &never).unwrap();
    shown(&spec, &job, found);
}

/// What a search does that has a bug.
struct Panicking;

impl Searcher for Panicking {
    fn search(&self, job: &Job, _: &mut dyn Observer) -> Result<Findings, String> {
        panic!("{} moves are too few", job.moves.len())
    }
}

#[test]
fn a_search_that_panics_is_an_error_of_its_job() {
    let spec: GameSpec = "connect4:5x4".parse().unwrap();
    let job = job(&spec, "12", Algorithm::Pds);
    let error = run_job(&spec, &Panicking, &job, &mut (), &never).err();
    assert_eq!(error.as_deref(), Some("its search panicked: 2 moves are too few"));
}

/// Stops when it is asked for the so-manieth time.
struct StopAt(u64);

impl Observer for StopAt {
    fn observe(&mut self, _: u64, _: &dyn Fn() -> Findings) -> ControlFlow<()> {
        self.0 = self.0.saturating_sub(1);
        if self.0 == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

#[test]
fn a_job_that_is_stopped_has_no_answer_without_its_proof() {
    let spec: GameSpec = "connect4:5x4".parse().unwrap();
    let job = job(&spec, "", Algorithm::Pds);
    let searcher = searcher(&spec);
    // So that the search itself asks nobody.
    assert!(searcher.search(&job, &mut ()).unwrap().efforts[0].is_solved());
    for found in [
        run_job(&spec, &*searcher, &job, &mut StopAt(1), &never),
        run_job(&spec, &*searcher, &job, &mut (), &|| true),
    ] {
        let found = found.unwrap();
        assert!(found.certificate.is_none());
        assert_eq!(found.findings.efforts, [EffortPair::UNIT]);
    }
}

#[test]
fn a_table_learns_from_a_certificate_which_moves_keep_the_claim() {
    let spec: GameSpec = "connect4:5x4".parse().unwrap();
    let job = job(&spec, "", Algorithm::Pds);
    let found = run_job(&spec, &*searcher(&spec), &job, &mut (), &never).unwrap();
    let certificate = shown(&spec, &job, found);
    let (table, settings) = (TranspositionTable::with_bytes(1 << 20).unwrap(), Settings::default());
    learn_piece(&certificate[..], &spec, &table, &settings).unwrap();
    with_game!(spec.game(), game => {
        let mut position = position_after(game, &[]).unwrap();
        let mut known = 0;
        for mv in (0..5).map(Move) {
            game.play(&mut position, mv);
            let entry = table.get(key(game, &position), Threshold(1));
            known += usize::from(entry.is_some_and(|entry| entry.pair.verdict() == Some(true)));
            game.undo(&mut position, mv);
        }
        // A move and its mirror image are one.
        assert!((1..=2).contains(&known), "{known}");
    });
    let other: GameSpec = "woodpush:9".parse().unwrap();
    assert!(learn_piece(&certificate[..], &other, &table, &settings).is_err());
}
