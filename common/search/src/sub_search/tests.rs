//! Jobs, one after the other, on the tables of one solve.

use jlpns_games::{Bounds, Move, Outcome, Threshold};

use super::*;
use crate::search::{EPSILON, Growth};
use crate::{Algorithm, Initialisation};

fn job(question: Question, sub_search: Algorithm) -> Job {
    let initialisation = Initialisation::Unit;
    let (moves, knowledge, budget) = (Vec::new(), false, 1_000_000);
    let growth = Growth { a: 200.0, b: 100.0 };
    let epsilon = EPSILON;
    let (prove, alone) = (false, false);
    Job {
        moves,
        question,
        sub_search,
        initialisation,
        knowledge,
        prove,
        alone,
        growth,
        epsilon,
        budget,
    }
}

fn small() -> Arc<dyn Searcher> {
    let spec = "connect4:4x4".parse().expect("a spec");
    SubSearches.searcher(&spec, 64 << 20, 2).expect("a searcher")
}

#[test]
fn every_sub_search_answers_a_job() {
    let searcher = small();
    let draw = Question::Value(Bounds { lower: Outcome(0), upper: Outcome(2) });
    for algorithm in &Algorithm::ALL[..9] {
        let findings = searcher.search(&job(draw, *algorithm), &mut ()).expect("a sound job");
        let scale = OutcomeScale::named(["loss", "draw", "win"]);
        let bounds = draw.bounds(&findings.efforts, &scale);
        assert_eq!(bounds.value(), Some(Outcome(1)), "{algorithm}");
    }
}

#[test]
fn the_table_is_kept_from_job_to_job() {
    let searcher = small();
    let job = job(Question::Threshold(Threshold(1)), Algorithm::DfPn);
    let first = searcher.search(&job, &mut ()).expect("a sound job");
    let second = searcher.search(&job, &mut ()).expect("a sound job");
    assert_eq!(first.efforts, second.efforts);
    assert!(second.nodes * 10 < first.nodes, "{} then {}", first.nodes, second.nodes);
}

#[test]
fn what_is_told_before_the_first_job_is_known_to_it() {
    let (teller, told) = (small(), small());
    [&teller, &told].into_iter().for_each(|searcher| searcher.keep_solved_from(1));
    let job = job(Question::Threshold(Threshold(1)), Algorithm::DfPn);
    let first = teller.search(&job, &mut ()).expect("a sound job");
    told.learn(&teller.take_solved());
    let second = told.search(&job, &mut ()).expect("a sound job");
    assert_eq!(first.efforts, second.efforts);
    assert!(second.nodes * 10 < first.nodes, "{} then {}", first.nodes, second.nodes);
}

#[test]
fn how_much_is_told_changes_between_jobs_where_anything_is_shared() {
    let (teller, silent) = (small(), small());
    let first = job(Question::Threshold(Threshold(1)), Algorithm::DfPn);
    let next =
        Job { moves: vec![Move(0)], ..job(Question::Threshold(Threshold(2)), Algorithm::DfPn) };
    let told = |searcher: &Arc<dyn Searcher>, job| {
        searcher.search(job, &mut ()).expect("a sound job");
        searcher.take_solved().len()
    };
    teller.keep_solved_from(1);
    assert!(told(&teller, &first) > 0);
    teller.keep_solved_from(u32::MAX);
    assert_eq!(told(&teller, &next), 0);
    let others = SolvedPosition { key: 7, threshold: Threshold(1), holds: true, work: 1 };
    teller.learn(&[others]);
    assert!(teller.rests_on_hearsay(&next), "it is shared all the same");
    assert_eq!(told(&silent, &first), 0);
    silent.keep_solved_from(1);
    assert_eq!(told(&silent, &next), 0, "it was told after the first search");
}

#[test]
fn a_job_that_is_searched_alone_rests_on_nothing_that_was_told() {
    let (teller, told, alone) = (small(), small(), small());
    [&teller, &told].into_iter().for_each(|searcher| searcher.keep_solved_from(1));
    let job = job(Question::Threshold(Threshold(1)), Algorithm::DfPn);
    let on_its_own = Job { alone: true, ..job.clone() };
    let first = teller.search(&job, &mut ()).expect("a sound job");
    let lies: Vec<SolvedPosition> = teller
        .take_solved()
        .iter()
        .map(|solved| SolvedPosition { holds: !solved.holds, ..*solved })
        .collect();
    for when in ["before the first search", "between two searches"] {
        told.learn(&lies);
        let misled = told.search(&job, &mut ()).expect("a sound job");
        assert_ne!(first.efforts, misled.efforts, "it believes what it is told, {when}");
        assert!(told.rests_on_hearsay(&job) && !told.rests_on_hearsay(&on_its_own));
        let own = told.search(&on_its_own, &mut ()).expect("a sound job");
        assert_eq!(first.efforts, own.efforts, "told {when}");
    }
    // Where nobody tells anything, there is one table for both.
    alone.learn(&lies);
    let one = alone.search(&job, &mut ()).expect("a sound job");
    let other = alone.search(&on_its_own, &mut ()).expect("a sound job");
    assert_eq!((&one.efforts, &other.efforts), (&first.efforts, &first.efforts));
    assert!(other.nodes * 10 < one.nodes && !alone.rests_on_hearsay(&job));
}

#[test]
fn the_constants_of_a_job_are_those_of_its_search() {
    let question = Question::Threshold(Threshold(1));
    let nodes = |job: &Job| small().search(job, &mut ()).expect("a sound job").nodes;
    for sub_search in [Algorithm::Pn2, Algorithm::PdsPn] {
        let own = job(question, sub_search);
        let other = Job { growth: Growth { a: 20.0, ..own.growth }, ..own.clone() };
        assert_ne!(nodes(&own), nodes(&other), "{sub_search}");
    }
    let own = job(question, Algorithm::DfPn);
    assert_ne!(nodes(&own), nodes(&Job { epsilon: 2.0, ..own.clone() }));
}

#[test]
fn embedded_searches_find_the_same_in_any_game() {
    let own: GameSpec = "woodpush:8".parse().expect("a spec");
    let embedded = EmbeddedSubSearches::new(own.clone());
    let other: GameSpec = "connect4:4x4".parse().expect("a spec");
    let job = Job { knowledge: true, ..job(Question::Threshold(Threshold(1)), Algorithm::Pds) };
    let found = |searching: &dyn Searching, spec: &GameSpec| {
        let searcher = searching.searcher(spec, 1 << 20, 1).expect("a searcher");
        searcher.search(&job, &mut ()).expect("a sound job")
    };
    for spec in [&own, &other] {
        assert_eq!(found(&embedded, spec), found(&SubSearches, spec), "{spec}");
    }
    assert_ne!(found(&embedded, &own), found(&embedded, &other));
}

#[test]
fn jobs_that_do_not_fit_the_game_are_declined() {
    let searcher = small();
    let decline = |job: &Job| searcher.search(job, &mut ()).expect_err("a bad job");
    let mut bad = job(Question::Threshold(Threshold(4)), Algorithm::Pns);
    assert_eq!(decline(&bad), "threshold 4 is beyond the scale; this game has thresholds 0 to 3");
    bad.question = Question::Value(Bounds { lower: Outcome(1), upper: Outcome(3) });
    assert_eq!(decline(&bad), "relevancy bounds 1 to 3 do not fit; this game has outcomes 0 to 2");
    bad.question = Question::Threshold(Threshold(1));
    bad.moves = vec![Move(0), Move(9)];
    assert_eq!(decline(&bad), "move 2 has code 9, which is no legal move there");
}
