//! Which search has which jobs.

use jlpns_search::search::Growth;

use super::*;

const FIRST: Algorithm = Algorithm::Pds;

fn beside(sub_search: Algorithm) -> Beside {
    Beside { sub_search, growth: Growth::of(sub_search), speed: 5.0 }
}

fn settings(second: Option<Algorithm>) -> SolveSettings {
    SolveSettings {
        sub_search: FIRST,
        beside: second.map(beside),
        job_nodes: 100,
        ..SolveSettings::new("connect4:4x4".parse().expect("a spec"))
    }
}

fn portfolio(second: Algorithm) -> Portfolio {
    Portfolio::new(&settings(Some(second)))
}

const WORKER: WorkerId = WorkerId(1);

/// A worker with slots of its own, of so many in all, behind so many of others', that may hold as many leases.
fn wide(slots: u64, before: u64, own: u64) -> Place {
    Place { slots, before, own, room: own }
}

/// One with one slot, the first or the last of all.
fn place(slots: u64, is_first: bool) -> Place {
    wide(slots, if is_first { 0 } else { slots - 1 }, 1)
}

/// What the next job is to be for the worker there, all of whose jobs are out that have not been noted as done.
fn chosen(portfolio: &mut Portfolio, place: Place) -> Choice {
    let depth_first = portfolio.choose_depth_first(WORKER, place, |_| true);
    depth_first.unwrap_or_else(|| portfolio.choose())
}

/// Gives out a job and has it come back at once; what it ran, and whether it went depth first.
fn done(
    portfolio: &mut Portfolio,
    place: Place,
    settles: impl Fn(Algorithm) -> bool,
) -> (Algorithm, bool) {
    let choice = chosen(portfolio, place);
    let sub_search = choice.beside.map_or(FIRST, |beside| beside.sub_search);
    let nodes = choice.beside.map_or(100, |beside| beside.nodes(100));
    portfolio.note_granted(choice, WORKER, LeaseId(7));
    let has_settled = settles(sub_search);
    portfolio.note_done((WORKER, LeaseId(7)), sub_search, nodes, has_settled);
    (sub_search, choice.descent == Descent::DepthFirst)
}

/// How many of the next jobs of a solve without alpha-beta run the second sub-search, if each ends as told.
fn seconds(portfolio: &mut Portfolio, jobs: u32, settles: impl Fn(Algorithm) -> bool) -> u32 {
    (0..jobs).map(|_| u32::from(done(portfolio, place(1, true), &settles).0 != FIRST)).sum()
}

#[test]
fn most_jobs_run_what_settles_more_and_some_the_other() {
    let second = Algorithm::DfPn;
    let mut portfolio = portfolio(second);
    let seconds_when_better = seconds(&mut portfolio, 800, |which| which == second);
    assert!((690..=710).contains(&seconds_when_better), "{seconds_when_better}");
    seconds(&mut portfolio, 800, |which| which == FIRST);
    let after_a_change = seconds(&mut portfolio, 800, |which| which == FIRST);
    assert_eq!(after_a_change, 100);
}

#[test]
fn a_job_that_costs_less_settles_more() {
    let second = Algorithm::DfPn;
    let mut portfolio = portfolio(second);
    for _ in 0..100 {
        portfolio.note_done((WORKER, LeaseId(1)), FIRST, 100, true);
        portfolio.note_done((WORKER, LeaseId(1)), second, 250, true);
    }
    let choice = chosen(&mut portfolio, place(1, true));
    assert!(choice.beside.is_some(), "half of a full job each");
    assert_eq!(choice.descent, Descent::BestFirst);
}

#[test]
fn budgets_are_as_the_full_jobs() {
    let beside = beside(Algorithm::AlphaBeta);
    assert_eq!(beside.nodes(40), 200);
    assert_eq!(beside.nodes(u64::MAX), u64::MAX);
    assert_eq!(Beside { speed: 0.2, ..beside }.nodes(4), 1, "a job may do something");
}

#[test]
fn one_sub_search_alone_does_all_jobs() {
    let mut alone = Portfolio::new(&settings(None));
    let best_first = Choice { beside: None, descent: Descent::BestFirst };
    assert!((0..100).all(|_| chosen(&mut alone, place(3, true)) == best_first));
    let alpha_beta = SolveSettings { sub_search: Algorithm::AlphaBeta, ..settings(None) };
    let depth_first = Choice { beside: None, descent: Descent::DepthFirst };
    assert_eq!(chosen(&mut Portfolio::new(&alpha_beta), place(1, true)), depth_first);
    assert_eq!(Portfolio::new(&alpha_beta).choose(), depth_first);
}

#[test]
fn a_single_slot_does_five_sixths_of_its_work_depth_first_in_turns_that_get_longer() {
    let mut portfolio = portfolio(Algorithm::AlphaBeta);
    let mut turns: Vec<(bool, u32)> = Vec::new();
    for _ in 0..3_000 {
        // That alpha-beta settles more is no reason to run more of it.
        let (sub_search, stays) =
            done(&mut portfolio, place(1, true), |which| which == Algorithm::AlphaBeta);
        assert_eq!(stays, sub_search == Algorithm::AlphaBeta);
        match turns.last_mut() {
            Some((last, jobs)) if *last == stays => *jobs += 1,
            _ => turns.push((stays, 1)),
        }
    }
    turns.pop();
    assert!(turns[0].0 && (70..110).contains(&turns[0].1), "depth first begins: {turns:?}");
    for way in [true, false] {
        let mut of_it = turns.iter().filter(|turn| turn.0 == way).map(|turn| turn.1);
        let (first, last) =
            (of_it.next().expect("one turn"), of_it.next_back().expect("another one"));
        assert!(last > 4 * first, "{turns:?}");
    }
    let depth_first: u32 = turns.iter().filter(|turn| turn.0).map(|turn| turn.1).sum();
    let all: u32 = turns.iter().map(|turn| turn.1).sum();
    assert!((0.73..0.93).contains(&(f64::from(depth_first) / f64::from(all))), "{turns:?}");
}

/// How many of the leases that the worker there may hold go depth first.
fn held_depth_first(portfolio: &mut Portfolio, place: Place) -> u64 {
    let held = (0..place.room).filter(|&lease| {
        let choice = chosen(portfolio, place);
        portfolio.note_granted(choice, WORKER, LeaseId(100 + lease));
        choice.descent == Descent::DepthFirst
    });
    let held = held.count() as u64;
    portfolio.forget(WORKER);
    held
}

#[test]
fn five_sixths_of_all_slots_go_depth_first() {
    let mut portfolio = portfolio(Algorithm::AlphaBeta);
    let mut held = |slots, before, own| held_depth_first(&mut portfolio, wide(slots, before, own));
    assert_eq!([0, 1, 4, 5].map(|before| held(6, before, 1)), [1, 1, 1, 0]);
    assert_eq!([0, 16, 32].map(|before| held(48, before, 16)), [16, 16, 8]);
    assert_eq!([0, 12].map(|before| held(24, before, 12)), [12, 8]);
    assert_eq!(held(6, 0, 6), 5);
}

/// How many that is for a worker at each of these places.
fn each_held_depth_first<const N: usize>(
    portfolio: &mut Portfolio,
    places: [Place; N],
) -> [u64; N] {
    places.map(|place| held_depth_first(portfolio, place))
}

/// Notes that far too much is done depth first.
fn note_too_much_depth_first(portfolio: &mut Portfolio) {
    let depth_first = chosen(portfolio, wide(1, 0, 1));
    portfolio.note_granted(depth_first, WORKER, LeaseId(1));
    portfolio.note_done((WORKER, LeaseId(1)), Algorithm::AlphaBeta, 500 * 1_000, false);
}

#[test]
fn a_slot_that_is_in_that_part_in_part_has_turns() {
    let mut portfolio = portfolio(Algorithm::AlphaBeta);
    let places = [wide(1, 0, 1), wide(2, 0, 2), wide(4, 0, 4), wide(8, 2, 6)];
    assert_eq!(each_held_depth_first(&mut portfolio, places), [1, 2, 4, 5]);
    note_too_much_depth_first(&mut portfolio);
    assert_eq!(each_held_depth_first(&mut portfolio, places), [0, 1, 3, 4]);
    assert!(portfolio.goes_depth_first(wide(1, 0, 1)), "its subtree waits for its turn");
    assert!(!portfolio.goes_depth_first(wide(6, 5, 1)));
    // And then best first.
    portfolio.note_done((WORKER, LeaseId(2)), FIRST, 100 * 2_000, false);
    assert_eq!(each_held_depth_first(&mut portfolio, places), [1, 2, 4, 5]);
}

#[test]
fn a_worker_may_be_in_that_part_by_turns_alone() {
    let mut portfolio = portfolio(Algorithm::AlphaBeta);
    let of_two = [0, 1].map(|before| wide(2, before, 1));
    let of_eight = [5, 6, 7].map(|before| wide(8, before, 1));
    let of_four_pairs = [4, 6].map(|before| wide(8, before, 2));
    assert_eq!(each_held_depth_first(&mut portfolio, of_two), [1, 1], "two thirds of the second");
    assert_eq!(
        each_held_depth_first(&mut portfolio, of_eight),
        [1, 1, 0],
        "two thirds of the seventh"
    );
    assert_eq!(each_held_depth_first(&mut portfolio, of_four_pairs), [2, 1]);
    note_too_much_depth_first(&mut portfolio);
    assert_eq!(each_held_depth_first(&mut portfolio, of_two), [1, 0], "it is the other's turn");
    assert_eq!(each_held_depth_first(&mut portfolio, of_eight), [1, 0, 0]);
    assert_eq!(each_held_depth_first(&mut portfolio, of_four_pairs), [2, 0]);
    assert!(portfolio.goes_depth_first(wide(2, 1, 1)), "its subtree waits for its turn");
    assert!(portfolio.goes_depth_first(wide(8, 6, 1)));
    assert!(!portfolio.goes_depth_first(wide(8, 7, 1)));
}

#[test]
fn of_the_leases_that_wait_for_a_slot_as_many_go_depth_first_as_of_the_slots() {
    let mut portfolio = portfolio(Algorithm::AlphaBeta);
    let mut held =
        |own, room| held_depth_first(&mut portfolio, Place { room, ..wide(own, 0, own) });
    assert_eq!((held(6, 6), held(6, 12), held(12, 14), held(24, 27)), (5, 10, 12, 23));
    let all_its_own = Place { room: 4, ..wide(6, 0, 2) };
    assert_eq!(held_depth_first(&mut portfolio, all_its_own), 4);
}

#[test]
fn a_worker_has_no_more_depth_first_jobs_than_its_slots_in_that_part() {
    let mut portfolio = portfolio(Algorithm::AlphaBeta);
    let best_first = Choice { beside: None, descent: Descent::BestFirst };
    assert_eq!(chosen(&mut portfolio, place(6, false)), best_first);
    let depth_first = chosen(&mut portfolio, place(6, true));
    assert_eq!((depth_first.descent, depth_first.beside.is_some()), (Descent::DepthFirst, true));
    portfolio.note_granted(depth_first, WORKER, LeaseId(1));
    assert_eq!(chosen(&mut portfolio, place(6, true)), best_first, "one of them is out");
    let of_another = |portfolio: &mut Portfolio| {
        portfolio.choose_depth_first(WorkerId(2), place(6, true), |_| true)
    };
    assert_eq!(of_another(&mut portfolio), Some(depth_first));
    for lease in 2..=5 {
        assert_eq!(chosen(&mut portfolio, wide(6, 0, 6)), depth_first);
        portfolio.note_granted(depth_first, WORKER, LeaseId(lease));
    }
    assert_eq!(chosen(&mut portfolio, wide(6, 0, 6)).descent, Descent::BestFirst, "five of six");
    let lost = portfolio.choose_depth_first(WORKER, wide(6, 0, 6), |lease| lease != LeaseId(3));
    assert_eq!(lost, Some(depth_first), "the lease of one was lost");
    portfolio.note_granted(depth_first, WORKER, LeaseId(6));
    portfolio.note_done((WORKER, LeaseId(6)), Algorithm::AlphaBeta, 500, false);
    assert_eq!(chosen(&mut portfolio, wide(6, 0, 6)), depth_first, "it is back");
    portfolio.forget(WORKER);
    assert_eq!(chosen(&mut portfolio, place(6, true)), depth_first, "it has left");
}

#[test]
fn best_first_the_other_sub_search_runs_whatever_alpha_beta_settles() {
    let mut portfolio = portfolio(Algorithm::AlphaBeta);
    let runs: Vec<_> = (0..100)
        .map(|_| done(&mut portfolio, place(64, false), |which| which == Algorithm::AlphaBeta))
        .collect();
    assert!(runs.iter().all(|&run| run == (FIRST, false)), "{runs:?}");
}

#[test]
fn alpha_beta_goes_depth_first_as_the_first_sub_search_too() {
    let mut settings = settings(Some(FIRST));
    settings.sub_search = Algorithm::AlphaBeta;
    let mut portfolio = Portfolio::new(&settings);
    assert_eq!(
        chosen(&mut portfolio, place(1, true)),
        Choice { beside: None, descent: Descent::DepthFirst }
    );
    assert!(portfolio.choose().beside.is_some());
}
