//! Whole runs: the value is the true one whatever the cluster, and a run can be repeated.

use std::num::NonZero;
use std::ops::ControlFlow;
use std::time::Duration;

use jlpns_games::spec::{GameSpec, position_after};
use jlpns_games::{Outcome, with_game};
use jlpns_search::search::{Growth, Observer};
use jlpns_search::searcher::Searching;
use jlpns_search::sub_search::SubSearches;
use jlpns_search::{Algorithm, Findings, Job};
use jlpns_solve::{Beside, SolveSettings};
use proptest::prelude::*;

use super::rate::first_job;
use super::search::PausedSearch;
use super::*;

fn simulation(spec: &str, sub_search: Algorithm, job_nodes: u64) -> Simulation {
    let settings = SolveSettings {
        sub_search,
        knowledge: false,
        job_nodes,
        memory: 1 << 24,
        leases_ahead: true,
        snapshot_records: 1_000,
        ..SolveSettings::new(spec.parse().unwrap())
    };
    Simulation {
        settings,
        worker_memory: 1 << 20,
        rate: NonZero::new(1_000_000).unwrap(),
        latency: Duration::from_micros(500),
        jitter: 0.1,
        seed: 1,
        coordinator_cost: CoordinatorCost::Fixed(Duration::from_micros(20)),
        max_time: None,
    }
}

fn cluster(workers: u32, slots_per_worker: u32) -> Cluster {
    Cluster { workers, slots_per_worker }
}

fn run(simulation: &Simulation, cluster: Cluster) -> Run {
    simulate(simulation, cluster, &SubSearches, &mut ()).unwrap()
}

fn value(run: &Run) -> Option<Outcome> {
    run.end.as_ref().and_then(|end| end.bounds.value())
}

fn true_value(spec: &GameSpec) -> Option<Outcome> {
    with_game!(spec.game(), game => {
        let mut position = position_after(game, &[]).unwrap();
        jlpns_minimax::value(game, &mut position, 10_000_000)
    })
}

/// What must hold of every run.
fn check(run: &Run) {
    let slot_time = run.time * u32::try_from(run.cluster.slots()).unwrap();
    assert!(run.searching <= slot_time, "no slot runs two searches: {run:?}");
    assert!(run.coordinating <= run.time, "the coordinator has one server: {run:?}");
    assert!(run.nodes >= run.status.nodes, "what was reported was searched: {run:?}");
    assert_eq!((run.status.refused, run.status.leases_expired), (0, 0));
    let Waits { way, idle, tail } = run.waits;
    let accounted = run.searching + way + idle + tail;
    // At the end the coordinator has one report more to take in than the clock shows, and a search is
    // stopped at the end of its part.
    let last = slot_time.abs_diff(accounted);
    let most = u32::try_from(run.cluster.slots()).unwrap() * Duration::from_millis(10);
    assert!(last <= most, "a slot searches or waits: {run:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn the_value_is_the_true_one_on_any_cluster(
        spec in prop::sample::select(vec!["connect4:3x4", "connect4:4x3", "woodpush:6", "woodpush:7"]),
        sub_search in prop::sample::select(vec![
            Algorithm::DfPn,
            Algorithm::Pn2,
            Algorithm::Gpns,
            Algorithm::AlphaBeta,
        ]),
        job_nodes in 1..200u64,
        workers in 1..40u32,
        slots_per_worker in 1..4u32,
        latency_us in 0..5_000u64,
        cost_us in 0..500u64,
        jitter in 0.0..=1.0,
        seed: u64,
    ) {
        let mut simulation = simulation(spec, sub_search, job_nodes);
        simulation.latency = Duration::from_micros(latency_us);
        simulation.coordinator_cost = CoordinatorCost::Fixed(Duration::from_micros(cost_us));
        (simulation.jitter, simulation.seed) = (jitter, seed);
        let run = run(&simulation, cluster(workers, slots_per_worker));
        prop_assert_eq!(value(&run), true_value(&simulation.settings.spec));
        check(&run);
    }

    #[test]
    fn a_run_can_be_repeated_bit_for_bit(
        (spec, sub_search) in prop::sample::select(vec![
            ("connect4:4x4", Algorithm::DfPn),
            ("connect4:4x4", Algorithm::Gpns),
            ("woodpush:9", Algorithm::DfPn),
        ]),
        workers in 1..200u32,
        memory in prop::sample::select(vec![1 << 14, 1 << 24]),
        goes_depth_first_too: bool,
        seed: u64,
    ) {
        let mut simulation = simulation(spec, sub_search, 300);
        simulation.seed = seed;
        simulation.settings.beside = goes_depth_first_too.then_some(Beside {
            sub_search: Algorithm::AlphaBeta,
            growth: Growth::of(Algorithm::AlphaBeta),
            speed: 1.0,
        });
        // The smaller one is full soon, and what is given up then must be the same too.
        simulation.settings.memory = memory;
        let again = || run(&simulation, cluster(workers, 2));
        prop_assert_eq!(again(), again());
    }
}

/// Goes on to the end.
struct GoOn;

impl Observer for GoOn {
    fn observe(&mut self, _nodes: u64, _findings: &dyn Fn() -> Findings) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

#[test]
fn a_search_in_parts_finds_what_it_finds_as_a_whole() {
    let settings = simulation("connect4:7x6", Algorithm::DfPn, 1_000).settings;
    let job = Job { budget: 20_000, ..first_job(&settings).unwrap().unwrap() };
    let searcher = || SubSearches.searcher(&settings.spec, 1 << 20, 1).unwrap();
    let mut search = PausedSearch::new(searcher(), job.clone()).unwrap();
    let mut pauses = Vec::new();
    let found = loop {
        match search.advance() {
            Part::Paused(nodes, _) => pauses.push(nodes),
            Part::Ended(end) => break end.unwrap(),
        }
    };
    assert!(pauses.len() >= 3 && pauses.is_sorted(), "{pauses:?}");
    assert_eq!(found, searcher().search(&job, &mut GoOn).unwrap());
}

#[test]
fn a_search_that_is_stopped_leaves_what_it_has_found() {
    let settings = simulation("connect4:5x4", Algorithm::DfPn, 1_000).settings;
    let job = Job { budget: u64::MAX, ..first_job(&settings).unwrap().unwrap() };
    let searcher = || SubSearches.searcher(&settings.spec, 1 << 24, 1).unwrap();
    let whole = searcher().search(&job, &mut GoOn).unwrap();
    let stopped = searcher();
    let mut search = PausedSearch::new(stopped.clone(), job.clone()).unwrap();
    let parts = (0..10).map(|_| search.advance()).collect::<Vec<_>>();
    assert!(parts.iter().all(|part| matches!(part, Part::Paused(..))));
    drop(search);
    let rest = stopped.search(&job, &mut GoOn).unwrap();
    assert_eq!(rest.efforts, whole.efforts);
    assert!(rest.nodes + 4 * 4096 < whole.nodes, "{} of {}", rest.nodes, whole.nodes);
}

#[test]
fn seeds_tell_in_the_time_of_a_run() {
    let time = |seed| {
        run(&Simulation { seed, ..simulation("connect4:4x4", Algorithm::DfPn, 300) }, cluster(4, 1))
            .time
    };
    assert_ne!(time(1), time(2));
}

#[test]
fn one_slot_takes_the_time_of_its_searches_and_messages() {
    let mut simulation = simulation("connect4:4x4", Algorithm::DfPn, 1_000);
    simulation.jitter = 0.0;
    // A way of that length is no reason for a lease ahead.
    simulation.latency = Duration::from_micros(5);
    simulation.coordinator_cost = CoordinatorCost::Fixed(Duration::from_micros(5));
    let run = run(&simulation, cluster(1, 1));
    check(&run);
    let jobs = u32::try_from(run.status.jobs).unwrap();
    assert!(jobs > 10, "{jobs} jobs");
    assert_eq!(run.status.cancelled, 0);
    assert_eq!(run.nodes, run.status.nodes);
    assert_eq!(run.searching, Duration::from_micros(run.nodes));
    assert_eq!(run.coordinating, Duration::from_micros(5) * jobs);
    let on_the_way = 2 * simulation.latency * jobs;
    assert_eq!(run.time, run.searching + run.coordinating + on_the_way);
}

#[test]
fn a_lease_ahead_makes_up_for_the_way_of_messages() {
    let simulation = simulation("connect4:5x4", Algorithm::DfPn, 3_000);
    let run = run(&simulation, cluster(1, 1));
    check(&run);
    // Without it a slot would wait a third as long as it searches.
    assert!(run.utilisation() > 0.9, "{}: {run:?}", run.utilisation());
}

#[test]
fn more_slots_are_faster_until_the_coordinator_is_full() {
    let mut simulation = simulation("connect4:5x4", Algorithm::DfPn, 2_000);
    let single = run(&simulation, cluster(1, 1));
    let many = run(&simulation, cluster(16, 1));
    check(&many);
    let speed_up = many.speed_up(&single).unwrap();
    assert!((3.0..=16.0).contains(&speed_up), "{speed_up}");
    assert!(many.status.cancelled > 0, "{many:?}");

    simulation.coordinator_cost = CoordinatorCost::Fixed(Duration::from_millis(2));
    let single = run(&simulation, cluster(1, 1));
    let many = run(&simulation, cluster(16, 1));
    assert!(many.coordinator_load() > 0.9, "{many:?}");
    assert!(many.speed_up(&single).unwrap() < 3.0, "{many:?}");
}

#[test]
fn a_limit_of_time_ends_a_run_without_an_answer() {
    let mut simulation = simulation("connect4:7x6", Algorithm::DfPn, 1_000);
    simulation.max_time = Some(Duration::from_millis(50));
    let run = run(&simulation, cluster(3, 1));
    check(&run);
    assert_eq!((run.end.as_ref(), run.time), (None, Duration::from_millis(50)));
    assert_eq!((run.speed_up(&run), run.search_overhead(&run)), (None, None));
}

#[test]
fn a_game_that_is_over_takes_no_time() {
    let mut simulation = simulation("connect4:3x4", Algorithm::DfPn, 1_000);
    simulation.settings.moves = [0, 1, 0, 1, 0, 1, 0].map(jlpns_games::Move).to_vec();
    assert_eq!(first_job(&simulation.settings), Ok(None));
    let run = run(&simulation, cluster(3, 1));
    assert_eq!((value(&run), run.time), (Some(Outcome(2)), Duration::ZERO));
}

#[test]
fn a_spectator_can_stop_a_run_between_jobs_and_within_one() {
    /// Stops when there are this many nodes.
    struct Until(u64);
    impl Spectator for Until {
        fn look(&mut self, so_far: SoFar) -> ControlFlow<()> {
            if so_far.nodes < self.0 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        }
    }
    for job_nodes in [500, u64::MAX] {
        let simulation = simulation("connect4:7x6", Algorithm::DfPn, job_nodes);
        let stopped = simulate(&simulation, cluster(2, 1), &SubSearches, &mut Until(20_000));
        assert_eq!(stopped, Err(SimulationError::Stopped));
    }
}

#[test]
fn what_others_have_searched_before_is_counted_only_where_tables_are_apart() {
    let simulation = simulation("connect4:5x4", Algorithm::Pds, 500);
    let single = run(&simulation, cluster(1, 1));
    let whole = |cluster| {
        let run = run(&simulation, cluster);
        let split = run.split(&single).expect("both have an answer");
        let Split { needed, elsewhere_first, in_vain, way, idle, tail } = split;
        let sum = needed + elsewhere_first + in_vain + way + idle + tail;
        assert!((sum - 1.0).abs() < 0.02, "{split:?}");
        assert!([needed, way, idle, tail].iter().all(|&share| share >= 0.0), "{split:?}");
        split
    };
    let itself = whole(cluster(1, 1));
    assert!(itself.needed > 0.0 && itself.elsewhere_first == 0.0 && itself.in_vain.abs() < 1e-9);
    assert_eq!(whole(cluster(1, 8)).elsewhere_first, 0.0);
    let apart = whole(cluster(8, 1));
    assert!(apart.elsewhere_first > 0.05 && apart.tail > 0.0, "{apart:?}");
}

#[test]
fn searches_without_a_table_are_not_counted() {
    let run = run(&simulation("connect4:4x4", Algorithm::Pn2, 500), cluster(2, 1));
    assert_eq!((run.elsewhere_first, run.split(&run)), (None, None));
}
