//! What is run, and what must be true at the end.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::time::Duration;

use jlpns_games::spec::{GameSpec, parse_moves, position_after};
use jlpns_games::{Bounds, Outcome, with_game};
use jlpns_search::graph::Selection;
use jlpns_search::{Algorithm, Initialisation};
use jlpns_simulate::{CoordinatorCost, Counts, Draws, Fault, Faults, Worker, World};
use jlpns_solve::belief::{BeliefSettings, Confirm};
use jlpns_solve::{Solve, SolveSettings};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use crate::adversary::{ADVERSARIES, Nature, WHERE_SHARED};
use crate::behaviour::Searchers;

/// A worker before it is in a world.
struct Member {
    worker: Worker,
    nature: Nature,
}

/// Small positions with some hundred jobs each.
const POSITIONS: [(&str, &str); 8] = [
    ("connect4:3x4", "22"),
    ("connect4:4x3", "223"),
    ("connect4:4x4", "22332244"),
    ("connect4:5x3", "3332"),
    ("woodpush:6", ""),
    ("woodpush:7", "s0"),
    ("woodpush:LL.R.R", ""),
    ("woodpush:L.RR..", ""),
];

fn settings(spec: &str, moves: &str) -> SolveSettings {
    let spec: GameSpec = spec.parse().expect("a spec");
    let moves = with_game!(spec.game(), game => parse_moves(game, moves).expect("legal moves"));
    SolveSettings {
        moves,
        sub_search: Algorithm::Gpns,
        initialisation: Initialisation::Unit,
        knowledge: false,
        job_nodes: 30,
        memory: 1 << 26,
        report_interval: Duration::from_secs(1),
        stall_after: Duration::from_secs(60),
        journal: true,
        leases_ahead: true,
        snapshot_records: 40,
        snapshot_slice: 50,
        belief: BeliefSettings { confirm: Confirm::Answer, sample: 0.01, seed: 1 },
        ..SolveSettings::new(spec)
    }
}

fn true_value(settings: &SolveSettings) -> Outcome {
    with_game!(settings.spec.game(), game => {
        let mut position = position_after(game, &settings.moves).expect("legal moves");
        jlpns_minimax::value(game, &mut position, u64::MAX).expect("there is no limit")
    })
}

fn member(number: usize, slots: u32) -> Member {
    Member { worker: Worker::new(format!("w{number}"), slots, 0), nature: Nature::Honest }
}

fn workers(count: usize, rng: &mut StdRng) -> Vec<Member> {
    (1..=count).map(|number| member(number, rng.random_range(1..=3))).collect()
}

fn world(
    settings: SolveSettings,
    faults: Faults,
    members: impl IntoIterator<Item = Member>,
    mut rng: StdRng,
) -> World<Searchers> {
    // 5 000 nodes a second, and up to 2 ms on the way.
    let rate = NonZero::new(5_000).expect("it is not 0");
    let draws = Draws::new(Duration::from_millis(1), rate, 0.9, rng.random());
    let (workers, natures): (Vec<_>, Vec<_>) =
        members.into_iter().map(|member| (member.worker, member.nature)).unzip();
    let searchers = Searchers::new(&settings, natures, rng.random());
    let cost = CoordinatorCost::Fixed(Duration::ZERO);
    World::new(settings, cost, draws, Some(faults), workers, searchers).expect("legal moves")
}

/// Runs a cluster to its end, looking at everything after each step.
fn run(mut world: World<Searchers>, most_steps: u64) -> World<Searchers> {
    let value = true_value(world.settings());
    while !world.is_over() {
        assert!(world.step().expect("jobs can be done"), "something happens until the end");
        world.check();
        assert!(world.counts().steps < most_steps, "it comes to an end: {:?}", world.counts());
    }
    let solve = world.solve().expect("it has ended, and runs");
    let end = solve.end().expect("it is over");
    assert_eq!(end.bounds, Bounds::exactly(value), "{:?}", world.counts());
    world
}

/// The machines that are put out at the end, by the names of their workers.
fn quarantined(world: &World<Searchers>) -> Vec<String> {
    world.solve().expect("it runs").status(Duration::ZERO).quarantined
}

/// What the journal holds is the solve that it is of.
fn check_journal(world: &World<Searchers>) {
    let (snapshots, records) = world.journal();
    let settings = world.settings().clone();
    let anew = Solve::resume(settings, 0, snapshots, records).expect("it can be taken up");
    let now = Duration::ZERO;
    let solve = world.solve().expect("it runs");
    let (one, other) = (anew.status(now), solve.status(now));
    assert_eq!((&one.lower, &one.upper), (&other.lower, &other.upper));
}

fn seeds(count: u64) -> impl Iterator<Item = (u64, StdRng)> + Clone {
    // One seed, or as many as are asked for: JLPNS_SIMULATION_SEED=17 repeats a failure.
    let wanted =
        std::env::var("JLPNS_SIMULATION_SEED").ok().map(|seed| seed.parse().expect("a number"));
    let more: u64 =
        std::env::var("JLPNS_SIMULATION_SEEDS").map_or(1, |times| times.parse().expect("a factor"));
    let range = wanted.map_or(0..count * more, |seed: u64| seed..seed + 1);
    range.map(|seed| (seed, StdRng::seed_from_u64(seed)))
}

/// Runs something for each seed, on all cores; what came out, in no order.
fn on_all_cores<T: Send>(count: u64, run: impl Fn(StdRng) -> T + Sync) -> Vec<T> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let run = &run;
    std::thread::scope(|scope| {
        let part = |core: usize| {
            let own = seeds(count).skip(core).step_by(cores);
            own.map(|(seed, rng)| {
                let _seed = Seed(seed);
                run(rng)
            })
            .collect::<Vec<T>>()
        };
        let parts: Vec<_> = (0..cores).map(|core| scope.spawn(move || part(core))).collect();
        parts.into_iter().flat_map(|part| part.join().expect("a seed failed")).collect()
    })
}

/// Says which seed failed.
struct Seed(u64);

impl Drop for Seed {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("repeat with JLPNS_SIMULATION_SEED={}", self.0);
        }
    }
}

fn pick<T: Clone>(rng: &mut StdRng, from: &[T]) -> T {
    from[rng.random_range(0..from.len())].clone()
}

fn any_faults(rng: &mut StdRng) -> Faults {
    let every = [
        (Fault::WorkerCrash, 20..3_000),
        (Fault::CoordinatorCrash, 20..2_000),
        (Fault::Partition, 100..5_000),
        (Fault::DiskFull, 500..5_000),
        (Fault::Freeze, 5_000..60_000),
    ];
    let every =
        every.map(|(fault, millis)| (fault, Duration::from_millis(rng.random_range(millis))));
    let per_mille = [
        (Fault::Lost, 30),
        (Fault::Doubled, 50),
        (Fault::Late, 50),
        (Fault::Stuck, 10),
        (Fault::Declined, 10),
    ];
    Faults {
        every: every.into_iter().filter(|_| rng.random_range(0..3) > 0).collect(),
        per_mille: per_mille.map(|(fault, most)| (fault, rng.random_range(0..most))).into(),
        poison: (rng.random_range(0..3) == 0).then(|| rng.random_range(20..200)),
        until: Duration::from_secs(300),
    }
}

#[test]
fn whatever_breaks_the_value_is_right_and_nothing_acknowledged_is_lost() {
    let all = on_all_cores(2_000, |mut rng| {
        let (spec, moves) = pick(&mut rng, &POSITIONS);
        let mut settings = settings(spec, moves);
        settings.sub_search = pick(&mut rng, &[Algorithm::Pns, Algorithm::Gpns, Algorithm::Pn2]);
        settings.merge = rng.random_range(0..4) > 0;
        settings.knowledge = rng.random_range(0..4) == 0;
        settings.belief.confirm =
            pick(&mut rng, &[Confirm::None, Confirm::Sample, Confirm::Answer, Confirm::Proof]);
        settings.belief.sample = pick(&mut rng, &[0.01, 1.0]);
        settings.selection =
            pick(&mut rng, &[Selection::Locking, Selection::VirtualWin, Selection::VirtualLoss]);
        let count = rng.random_range(1..8);
        let workers = workers(count, &mut rng);
        let faults = any_faults(&mut rng);
        let world = run(world(settings, faults, workers, rng), 1_000_000);
        assert!(quarantined(&world).is_empty(), "all are honest: {:?}", quarantined(&world));
        world.counts()
    });
    let mut sum = Counts::default();
    for counts in all {
        counts.faults.into_iter().for_each(|(fault, n)| *sum.faults.entry(fault).or_default() += n);
        sum.steps += counts.steps;
        sum.reports_kept += counts.reports_kept;
    }
    println!("{sum:#?}");
}

#[test]
fn a_liar_is_found_out_and_what_it_said_does_not_count() {
    let mut found_out = 0;
    for (seed, mut rng) in seeds(600) {
        let _seed = Seed(seed);
        let (spec, moves) = pick(&mut rng, &POSITIONS);
        let mut settings = settings(spec, moves);
        settings.belief.sample = 1.0;
        settings.journal = rng.random_range(0..3) > 0;
        let mut workers = workers(rng.random_range(4..7), &mut rng);
        workers[0].nature = Nature::Contrary;
        let faults = if rng.random_range(0..2) == 0 {
            Faults::default()
        } else {
            Faults { until: Duration::from_secs(100), ..any_faults(&mut rng) }
        };
        let world = run(world(settings, faults, workers, rng), 300_000);
        let quarantined = quarantined(&world);
        assert!(quarantined.iter().all(|name| name == "w1"), "{quarantined:?}");
        found_out += quarantined.len();
    }
    println!("{found_out} found out");
    let one = std::env::var_os("JLPNS_SIMULATION_SEED").is_some();
    assert!(one || found_out > 200, "{found_out}");
}

/// Whatever some machines say, now and then, about one child, in progress only, after a restart or
/// together under two names on one machine: the value is right, and the honest come to the end.
#[test]
fn no_adversary_makes_a_wrong_value_come_out() {
    adversaries(2_000, Confirm::Answer, false);
}

/// Where everything is proved, any number of machines may lie in the same way.
#[test]
fn what_is_proved_needs_no_honest_majority() {
    adversaries(1_000, Confirm::Proof, false);
}

/// Where workers tell each other what they solve, also what is not true, the honest believe it, and none of them is
/// put out for that.
#[test]
fn what_is_told_to_others_makes_no_wrong_value_come_out() {
    adversaries(2_000, Confirm::Answer, true);
    adversaries(1_000, Confirm::Proof, true);
}

fn adversaries(seeds: u64, confirm: Confirm, share: bool) {
    let all = on_all_cores(seeds, |mut rng| {
        let (spec, moves) = pick(&mut rng, &POSITIONS);
        let mut settings = settings(spec, moves);
        settings.sub_search = pick(&mut rng, &[Algorithm::Pns, Algorithm::Gpns, Algorithm::Pn2]);
        settings.merge = rng.random_range(0..4) > 0;
        settings.knowledge = rng.random_range(0..4) == 0;
        settings.journal = rng.random_range(0..3) > 0;
        settings.belief.seed = rng.random();
        settings.belief.confirm = confirm;
        settings.share = share;
        let mut adversaries = ADVERSARIES.to_vec();
        if share {
            settings.sub_search =
                pick(&mut rng, &[Algorithm::DfPn, Algorithm::Pds, Algorithm::AlphaBeta]);
            // As many as of all others together.
            adversaries.extend([Nature::Poisoning; 2 * ADVERSARIES.len()]);
            adversaries.extend([Nature::Disclaiming; 4]);
        }
        let mut workers = workers(rng.random_range(2..7), &mut rng);
        let liars = rng.random_range(1..workers.len());
        let together = rng.random_range(0..2) == 0;
        for index in 0..liars {
            workers[index].nature = pick(&mut rng, &adversaries);
            if together {
                // At one address they are one, whatever they say of their machines.
                workers[index].worker.address = workers[0].worker.address.clone();
                if rng.random_range(0..2) == 0 {
                    workers[index].worker.machine = workers[0].worker.machine.clone();
                }
                if rng.random_range(0..2) == 0 {
                    workers[index].nature = workers[0].nature;
                }
            }
        }
        // Two machines that say the same are believed, so only one of them settles what is not true.
        if !together && confirm == Confirm::Answer {
            for worker in &mut workers[1..liars] {
                let harmless = [Nature::Counting, Nature::InProgress, Nature::Poisoning];
                worker.nature = pick(&mut rng, &harmless[..if share { 3 } else { 2 }]);
            }
        }
        let liars: Vec<String> =
            workers[..liars].iter().map(|liar| liar.worker.name.clone()).collect();
        let faults = if rng.random_range(0..2) == 0 {
            Faults::default()
        } else {
            Faults { until: Duration::from_secs(100), ..any_faults(&mut rng) }
        };
        let world = run(world(settings, faults, workers, rng), 400_000);
        let quarantined = quarantined(&world);
        assert!(quarantined.iter().all(|name| liars.contains(name)), "{quarantined:?} {liars:?}");
        let Searchers { lies, ended_sharing, .. } = world.behaviour;
        (lies, quarantined.len(), ended_sharing)
    });
    let found_out: usize = all.iter().map(|(_, found_out, _)| found_out).sum();
    let ended_sharing = all.iter().filter(|(.., ended)| *ended).count() as u64;
    let mut lies = BTreeMap::new();
    for (nature, count) in all.into_iter().flat_map(|(lies, ..)| lies) {
        *lies.entry(nature).or_insert(0) += count;
    }
    println!("{lies:?}, {found_out} machines found out, sharing ended {ended_sharing} times");
    if std::env::var_os("JLPNS_SIMULATION_SEED").is_none() {
        let least = if share { seeds / 100 } else { seeds / 10 };
        assert!(found_out as u64 > least, "{found_out}");
        let mut natures = ADVERSARIES.to_vec();
        natures.extend(WHERE_SHARED.iter().filter(|_| share));
        let silent =
            natures.iter().find(|nature| lies.get(nature).is_none_or(|&n| n < seeds / 200));
        assert_eq!(silent, None, "each kind has lied: {lies:?}");
        assert!(!share || ended_sharing > seeds / 10, "{ended_sharing}");
    }
}

#[test]
fn ten_thousand_workers_in_one_thread() {
    let mut crashes = 0;
    for (seed, rng) in seeds(1) {
        let _seed = Seed(seed);
        let mut settings = settings("connect4:7x6", "");
        settings.job_nodes = 20;
        settings.snapshot_records = 2_000;
        let workers = (1..=10_000).map(|number| member(number, 1));
        let faults = Faults {
            every: BTreeMap::from([
                (Fault::WorkerCrash, Duration::from_millis(5)),
                (Fault::CoordinatorCrash, Duration::from_millis(250)),
                (Fault::Partition, Duration::from_secs(1)),
            ]),
            per_mille: BTreeMap::from([
                (Fault::Lost, 2),
                (Fault::Doubled, 2),
                (Fault::Late, 5),
                (Fault::Stuck, 1),
                (Fault::Declined, 1),
            ]),
            poison: None,
            until: Duration::from_secs(3600),
        };
        let mut world = world(settings, faults, workers, rng);
        for step in 1..=200_000 {
            assert!(world.step().expect("jobs can be done") && !world.is_over());
            if step % 20_000 == 0 {
                world.check();
            }
        }
        let busy = world.workers().iter().filter(|worker| worker.is_busy()).count();
        let counts = world.counts();
        let count = |fault| counts.faults.get(&fault).copied().unwrap_or(0);
        println!("{busy} workers search; {counts:#?}");
        assert!(count(Fault::WorkerCrash) > 0 && counts.reports_kept > 0, "{counts:#?}");
        crashes += count(Fault::CoordinatorCrash);
        if world.solve().is_some() {
            check_journal(&world);
        }
    }
    assert!(crashes > 0 || std::env::var_os("JLPNS_SIMULATION_SEED").is_some());
}
