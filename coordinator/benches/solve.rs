//! A solve whose tree has ten million nodes, once for all outcomes and once for a goal: how many
//! jobs a second are selected, reported and folded, how many bytes a node takes, and how long a
//! snapshot and a restart take.
//!
//! The jobs come back at once, with what one expansion finds; so all of the time is the
//! coordinator's. It is the processor's time of its one thread, so that other programs hardly
//! count. `JLPNS_BENCH_NODES` sets another size.
//!
//! With `JLPNS_BENCH_MEMORY`, a number of MiB, the tree is grown to that limit and far beyond it
//! instead: the longest stop, the rate and the resident memory by then. A process has one peak, so
//! that is a run of its own, for three outcomes or, with `JLPNS_BENCH_GOAL`, for a goal.

use std::collections::VecDeque;
use std::path::Path;
use std::time::{Duration, Instant};

use criterion::{Criterion, Throughput};
use jlpns_coordinator::recorder::{OtherProcess, take_up};
use jlpns_coordinator::written::snapshot_to_bytes;
use jlpns_games::connect4::Connect4;
use jlpns_games::{Game, Goal, MoveList, Outcome};
use jlpns_journal::{Header, Journal, Record, WriteRequest, Writer};
use jlpns_search::{Algorithm, ChildFindings, Effort, EffortPair, Findings, Initialisation, Job};
use jlpns_solve::belief::Identity;
use jlpns_solve::{
    Action, Event, LeaseId, Snapshot, Solve, SolveSettings, SolveStatus, WorkerId, WorkerInfo,
};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use rustix::time::{ClockId, clock_gettime};

const WORKER: WorkerId = WorkerId(1);
const SLOTS: u32 = 64;

/// More memory than any tree here takes.
const AMPLE: u64 = 1 << 36;

/// For three outcomes, or for a goal.
fn settings(goal: Option<Goal>, memory: u64) -> SolveSettings {
    SolveSettings {
        sub_search: if goal.is_some() { Algorithm::Pns } else { Algorithm::Gpns },
        goal,
        initialisation: Initialisation::Unit,
        knowledge: false,
        job_nodes: 1,
        memory,
        lease_length: Duration::from_secs(60),
        report_interval: Duration::from_secs(1),
        stall_after: Duration::from_secs(600),
        snapshot_records: u64::MAX,
        ..SolveSettings::new("connect4:7x6".parse().expect("a spec"))
    }
}

/// The processor's time that this thread has taken.
fn processor_time() -> Duration {
    clock_gettime(ClockId::ThreadCPUTime).try_into().expect("a time that is not negative")
}

/// A coordinator whose workers need no time.
struct Bench {
    solve: Solve,
    game: Connect4<u64>,
    out: VecDeque<(LeaseId, Job)>,
    rng: StdRng,
}

impl Bench {
    fn new(goal: Option<Goal>, memory: u64) -> Bench {
        let mut solve = Solve::new(settings(goal, memory)).expect("no moves");
        let info = WorkerInfo {
            name: "w".to_owned(),
            identity: Identity::default(),
            build: String::new(),
            slots: SLOTS,
            memory: 0,
            instance: 1,
        };
        solve.handle(Event::Joined { worker: WORKER, info }, Duration::ZERO).expect("it joins");
        let game = Connect4::new(7, 6).expect("a size in range");
        let mut bench = Bench { solve, game, out: VecDeque::new(), rng: StdRng::seed_from_u64(1) };
        bench.collect();
        bench
    }

    fn tree_nodes(&self) -> u64 {
        self.solve.status(Duration::ZERO).tree_nodes
    }

    fn collect(&mut self) {
        for action in self.solve.take_actions() {
            match action {
                Action::Lease { lease, job, .. } => self.out.push_back((lease, job)),
                Action::Cancel { lease, .. } => self.out.retain(|(out, _)| *out != lease),
                _ => {}
            }
        }
    }

    /// What one expansion finds: the children, with numbers that let the tree grow everywhere.
    fn findings(&mut self, job: &Job) -> Findings {
        let width = job.question.thresholds().1;
        let mut position = self.game.start();
        job.moves.iter().for_each(|&mv| self.game.play(&mut position, mv));
        let mut moves = MoveList::new();
        if self.game.outcome(&position).is_none() {
            self.game.moves(&position, &mut moves);
        }
        let mut children = Vec::with_capacity(moves.len());
        for mv in moves {
            self.game.play(&mut position, mv);
            let efforts = match self.game.outcome(&position) {
                Some(outcome) => {
                    let (first, count) = job.question.thresholds();
                    (0..count as u8)
                        .map(|index| EffortPair::solved(outcome.0 >= first.0 + index))
                        .collect()
                }
                None => {
                    let mut number = || Effort::finite(self.rng.random_range(1..9));
                    let (proof, disproof) = (number(), number());
                    vec![EffortPair { proof, disproof }; width]
                }
            };
            self.game.undo(&mut position, mv);
            children.push(ChildFindings { mv, efforts });
        }
        Findings {
            efforts: vec![EffortPair::UNIT; width],
            children,
            nodes: 8,
            most_proving_move: None,
        }
    }

    /// Reports of `count` jobs, and the time that they took without the making of them.
    fn report(&mut self, count: u64) -> Duration {
        self.report_watched(count, |solve, event| {
            // A job that became moot in the meantime is reported all the same.
            let _ = solve.handle(event, Duration::ZERO);
        })
    }

    /// The same, each report handed in by `handle`.
    fn report_watched(
        &mut self,
        count: u64,
        mut handle: impl FnMut(&mut Solve, Event),
    ) -> Duration {
        let mut time = Duration::ZERO;
        let mut left = count;
        while left > 0 {
            let ready: Vec<_> = self.out.drain(..self.out.len().min(left as usize)).collect();
            assert!(!ready.is_empty(), "there is always something to do");
            left -= ready.len() as u64;
            let events: Vec<Event> = ready
                .into_iter()
                .map(|(lease, job)| {
                    let findings = self.findings(&job);
                    let elapsed = Duration::ZERO;
                    // As a connection does it, on another thread than the solve's.
                    let examiner = self.solve.examiner();
                    let examined = examiner.examine(&job.moves, job.question, &findings);
                    Event::Reported {
                        worker: WORKER,
                        lease,
                        subject: None,
                        examined,
                        findings,
                        elapsed,
                        hearsay: false,
                    }
                })
                .collect();
            let begin = processor_time();
            events.into_iter().for_each(|event| handle(&mut self.solve, event));
            time += processor_time() - begin;
            self.collect();
        }
        time
    }
}

fn main() {
    if let Ok(memory) = std::env::var("JLPNS_BENCH_MEMORY") {
        let goal = std::env::var_os("JLPNS_BENCH_GOAL").map(|_| Goal::AtLeast(Outcome(1)));
        return at_the_limit(goal, memory.parse().expect("a number of MiB"));
    }
    let mut criterion = Criterion::default().sample_size(20).configure_from_args();
    measure(&mut criterion, "three outcomes", None);
    measure(&mut criterion, "a goal", Some(Goal::AtLeast(Outcome(1))));
}

fn measure(criterion: &mut Criterion, name: &str, goal: Option<Goal>) {
    let wanted: u64 = std::env::var("JLPNS_BENCH_NODES")
        .map_or(10_000_000, |nodes| nodes.parse().expect("a number of nodes"));
    let mut bench = Bench::new(goal, AMPLE);
    let (mut jobs, mut time) = (0, Duration::ZERO);
    while bench.tree_nodes() < wanted {
        time += bench.report(1_000);
        jobs += 1_000;
    }
    let status = bench.solve.status(Duration::ZERO);
    println!(
        "{name}: {} nodes, {:.1} bytes each, after {jobs} jobs; {:.0} jobs/s on the way",
        status.tree_nodes,
        status.tree_bytes as f64 / status.tree_nodes as f64,
        f64::from(jobs) / time.as_secs_f64(),
    );

    let mut group = criterion.benchmark_group(name);
    group.throughput(Throughput::Elements(1));
    group.bench_function("select, report and fold", |bencher| {
        bencher.iter_custom(|jobs| bench.report(jobs));
    });
    group.finish();
    restart(bench, goal);
}

/// A tree that grows to `mebibytes` and goes on until as many nodes were shed as it has.
fn at_the_limit(goal: Option<Goal>, mebibytes: u64) {
    let memory = mebibytes << 20;
    let before = resident("VmRSS");
    let mut bench = Bench::new(goal, memory);
    let mut stops = Stops::default();
    let (mut jobs, mut time, mut is_full) = (0, Duration::ZERO, false);
    loop {
        time += bench.report_watched(STEP, |solve, event| stops.handle(solve, event));
        jobs += STEP;
        let status = bench.solve.status(Duration::ZERO);
        if status.shed_nodes > 0 && !is_full {
            is_full = true;
            stops.tell("on the way", jobs, time, &status, before);
            (stops, jobs, time) = (Stops::default(), 0, Duration::ZERO);
        }
        if status.shed_nodes > status.tree_nodes || bench.out.is_empty() {
            return stops.tell("at the limit", jobs, time, &status, before);
        }
        if jobs % REPORT == 0 {
            stops.tell("so far", jobs, time, &status, before);
        }
    }
}

/// How many jobs are done between two looks at the tree.
const STEP: u64 = 10_000;

/// How many jobs are done between two lines.
const REPORT: u64 = 1_000_000;

/// The longest times that one event took.
#[derive(Default)]
struct Stops {
    longest: Duration,
    /// Events that took more than 10 ms, and more than 100 ms.
    over: [u32; 2],
}

impl Stops {
    fn handle(&mut self, solve: &mut Solve, event: Event) {
        let begin = processor_time();
        let _ = solve.handle(event, Duration::ZERO);
        let took = processor_time() - begin;
        self.longest = self.longest.max(took);
        for (over, millis) in self.over.iter_mut().zip([10, 100]) {
            *over += u32::from(took > Duration::from_millis(millis));
        }
    }

    fn tell(&self, name: &str, jobs: u64, time: Duration, status: &SolveStatus, before: u64) {
        let mebibytes = |bytes: u64| bytes >> 20;
        println!(
            "{name}: {jobs} jobs, {:.0} jobs/s; longest stop {:.1} ms, {} over 10 ms, {} over \
             100 ms; {} nodes, {} MiB by the tree's count, {} MiB resident, at most {} \
             ({} before it); {} shed",
            jobs as f64 / time.as_secs_f64(),
            self.longest.as_secs_f64() * 1e3,
            self.over[0],
            self.over[1],
            status.tree_nodes,
            mebibytes(status.tree_bytes),
            mebibytes(resident("VmRSS")),
            mebibytes(resident("VmHWM")),
            mebibytes(before),
            status.shed_nodes,
        );
    }
}

/// What the system says of this process's memory, in bytes.
fn resident(what: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find(|line| line.starts_with(what)).expect("a line of that name");
    line.split_whitespace().nth(1).and_then(|kib| kib.parse::<u64>().ok()).expect("KiB") << 10
}

/// How long a snapshot takes, and a restart from it.
fn restart(bench: Bench, goal: Option<Goal>) {
    let begin = Instant::now();
    let mut snapshot = bench.solve.snapshot();
    println!(
        "a snapshot takes {:.2} s, and has {:.1} bytes a node",
        begin.elapsed().as_secs_f64(),
        snapshot.tree.len() as f64 / bench.tree_nodes() as f64,
    );
    drop(bench);

    let directory = tempfile::tempdir().expect("a directory");
    // As if one report had told all of it: what is read is the tree.
    snapshot.through = 1;
    let begin = Instant::now();
    keep(directory.path(), snapshot, goal);
    let written = begin.elapsed().as_secs_f64();
    let begin = Instant::now();
    let anew =
        take_up(directory.path(), OtherProcess::Keeps, "bench".to_owned(), settings(goal, AMPLE))
            .expect("a journal");
    println!(
        "to write it takes {written:.2} s; a restart from it takes {:.2} s: {} nodes",
        begin.elapsed().as_secs_f64(),
        anew.solve.status(Duration::ZERO).tree_nodes,
    );
}

/// Makes a journal with nothing but a snapshot.
fn keep(directory: &Path, snapshot: Snapshot, goal: Option<Goal>) {
    let fact = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let goal = if goal.is_some() { ">=draw" } else { "the value" };
    let facts = vec![
        fact("game", "connect4:7x6"),
        fact("moves", "none"),
        fact("goal", goal),
        fact("store", "graph"),
        fact("initialisation", "unit"),
        fact("knowledge", "false"),
    ];
    let header = Header { solve_id: "bench".to_owned(), facts };
    let journal = Journal::open(directory, &header).expect("a new journal").journal;
    let writer = Writer::start(journal, |_| {}).expect("a thread");
    let through = snapshot.through;
    let bytes = snapshot_to_bytes(snapshot);
    writer.request(WriteRequest::Append(vec![Record { number: through, bytes: Vec::new() }]));
    writer.request(WriteRequest::Snapshot { through, settled: true, bytes });
    writer.finish().expect("it is on disk");
}
