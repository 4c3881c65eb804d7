//! Load over gRPC: how fast a coordinator hands out jobs, and what that costs it.
//!
//! `jlpns serve` runs as a process of its own, on a game that does not end. The workers are tasks of
//! this process, each with an HTTP/2 connection of its own and the messages of a real worker; only
//! their searches are not there. A job takes as long as a timer says, or no time at all, and its
//! report is what one expansion finds. Jobs of a second take between 0.9 and 1.1 of it: no two
//! searches are equally long, and if they were, slots that got their leases together would report
//! together from then on.
//!
//! What is measured: jobs a second; how long a slot waits, from the sending of its report to the
//! next lease; and the processor time of the coordinator's process. Where jobs are long a coordinator
//! leases to free slots only, so every wait is one with nothing to do, there and back. Whatever this
//! process needs to wake up is in it. Where jobs take no time, leases come ahead of free slots.
//!
//! `JLPNS_BENCH_CONNECTIONS` and `JLPNS_BENCH_SECONDS` set another number of connections for the
//! first part, and another time for each line. Arguments name the lines to be measured, as
//! connections and slots: `cargo bench -p jlpns-tests --bench load -- 64x16`.

use std::collections::VecDeque;
use std::future::pending;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jlpns_games::spec::GameSpec;
use jlpns_games::{Game, Move, MoveList, Player, with_game};
use jlpns_link::connect::{Connector, Dial};
use jlpns_proto::v1::coordinator_message::Kind as FromCoordinator;
use jlpns_proto::v1::solver_client::SolverClient;
use jlpns_proto::v1::worker_message::Kind as FromWorker;
use jlpns_proto::{PROTOCOL_VERSION, v1};
use jlpns_search::{ChildFindings, Effort, EffortPair, Findings, Job};
use jlpns_tests::cluster::{serve, status};
use rand::RngExt;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep, sleep_until};
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Status, Streaming};

/// Large enough that no run sees its end.
const SPEC: &str = "connect4:8x7";
/// The jobs of the first part.
const SECOND: Duration = Duration::from_secs(1);
/// How long one of them takes, as a part of that.
const SPREAD: Range<f64> = 0.9..1.1;
/// Jobs take no longer than this until the tree has work for every slot.
const WARM_UP_JOB: Duration = Duration::from_millis(200);
/// Connections and slots of the second part.
const EMPTY: [(usize, u32); 6] = [(1, 1), (1, 64), (8, 8), (64, 1), (64, 4), (64, 16)];
/// How often processor time is counted a second in /proc, whatever the kernel's own clock does.
const TICKS_PER_SECOND: f64 = 100.0;

/// One line of the table.
struct Run {
    connections: usize,
    slots: u32,
    /// How long a job takes, on average.
    job: Duration,
    durable: bool,
    measure: Duration,
}

/// What all workers share.
struct Meter {
    spec: GameSpec,
    job: Duration,
    warm: AtomicBool,
    measuring: AtomicBool,
    reports: AtomicU64,
    /// Leases that came to a worker without a free slot.
    ahead: AtomicU64,
    waits: Mutex<Vec<Duration>>,
}

/// A worker's end of its stream.
struct Worker {
    meter: Arc<Meter>,
    outbound: mpsc::Sender<v1::WorkerMessage>,
    inbound: Streaming<v1::CoordinatorMessage>,
    heartbeat: Duration,
    /// Since when each free slot waits.
    free: VecDeque<Instant>,
    /// Leases that came before there was a free slot: they take the next ones.
    ahead: usize,
    /// How many slots are still to get their first long job.
    fresh: u32,
    running: VecDeque<Running>,
}

struct Running {
    lease: u64,
    job: v1::Job,
    began: Instant,
    ends: Instant,
}

impl Meter {
    fn waits(&self) -> MutexGuard<'_, Vec<Duration>> {
        self.waits.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Worker {
    /// Connects and says Hello.
    async fn join(meter: Arc<Meter>, url: &str, number: usize, slots: u32) -> Worker {
        let dial = Dial::new(url).expect("the coordinator's own URL");
        let line = dial.connect().await.expect("the coordinator listens");
        let (outbound, messages) = mpsc::channel(16);
        let hello = v1::Hello {
            protocol_version: PROTOCOL_VERSION,
            name: format!("load-{number}"),
            slots,
            memory_bytes: 0,
            instance: number as u64 + 1,
            ..v1::Hello::default()
        };
        let hello = v1::WorkerMessage::from(FromWorker::Hello(hello));
        outbound.send(hello).await.expect("room for a message");
        let mut client = SolverClient::new(line);
        let answered = client.work(ReceiverStream::new(messages)).await;
        let mut inbound = answered.expect("the worker is let in").into_inner();
        let heartbeat = match inbound.message().await {
            Ok(Some(v1::CoordinatorMessage {
                kind: Some(FromCoordinator::Welcome(welcome)),
                ..
            })) => Duration::from_millis(welcome.heartbeat_interval_ms.into()),
            other => panic!("{other:?} instead of a welcome"),
        };
        let free = (0..slots).map(|_| Instant::now()).collect();
        let running = VecDeque::new();
        Worker { meter, outbound, inbound, heartbeat, free, ahead: 0, fresh: slots, running }
    }

    /// Works until the coordinator is gone.
    async fn work(mut self) {
        let mut heartbeat = interval(self.heartbeat);
        heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            if !self.report().await {
                return;
            }
            let due = self.running.front().map(|running| running.ends);
            tokio::select! {
                message = self.inbound.message() => match message {
                    Ok(Some(v1::CoordinatorMessage { kind: Some(FromCoordinator::Batch(batch)), .. })) => {
                        self.take(batch);
                    }
                    Ok(Some(other)) => panic!("{other:?} instead of a batch"),
                    Ok(None) | Err(Status { .. }) => return,
                },
                () = until(due) => {}
                _ = heartbeat.tick() => {
                    let renewals = self.running.iter().map(|running| running.lease).collect();
                    self.say(v1::WorkerBatch { renewals, ..Default::default() }).await;
                }
            }
        }
    }

    /// How long the next job takes.
    fn takes(&mut self) -> Duration {
        let (job, mut random) = (self.meter.job, rand::rng());
        if job.is_zero() {
            return job;
        }
        if !self.meter.warm.load(Ordering::Relaxed) {
            return WARM_UP_JOB.mul_f64(random.random());
        }
        if self.fresh > 0 {
            // Spreads the slots over the time of a job.
            self.fresh -= 1;
            return job.mul_f64(random.random());
        }
        job.mul_f64(random.random_range(SPREAD))
    }

    fn take(&mut self, batch: v1::CoordinatorBatch) {
        let now = Instant::now();
        for lease in batch.leases {
            match self.free.pop_front() {
                Some(since) => {
                    if self.meter.measuring.load(Ordering::Relaxed) {
                        self.meter.waits().push(now - since);
                    }
                }
                // The slot of a job that is called back, which the coordinator holds for free already.
                None => {
                    self.ahead += 1;
                    self.meter.ahead.fetch_add(1, Ordering::Relaxed);
                }
            }
            let job = lease.job.expect("a lease has a job");
            let ends = now + self.takes();
            self.running.push_back(Running { lease: lease.lease_id, job, began: now, ends });
        }
        // A search that is called back stops and reports what it has.
        for running in &mut self.running {
            if batch.cancels.contains(&running.lease) {
                running.ends = now;
            }
        }
        self.running.make_contiguous().sort_by_key(|running| running.ends);
    }

    /// Reports the jobs whose time is over; whether there is still somebody to report to.
    async fn report(&mut self) -> bool {
        let now = Instant::now();
        let due = self.running.partition_point(|running| running.ends <= now);
        if due == 0 {
            return true;
        }
        let spec = &self.meter.spec;
        let reports: Vec<v1::Report> =
            self.running.drain(..due).map(|it| it.report(spec)).collect();
        if self.meter.measuring.load(Ordering::Relaxed) {
            self.meter.reports.fetch_add(due as u64, Ordering::Relaxed);
        }
        let sent = Instant::now();
        let taken = due.min(self.ahead);
        self.ahead -= taken;
        self.free.extend((taken..due).map(|_| sent));
        self.say(v1::WorkerBatch { reports, ..Default::default() }).await
    }

    async fn say(&self, batch: v1::WorkerBatch) -> bool {
        let message = v1::WorkerMessage::from(FromWorker::Batch(batch));
        self.outbound.send(message).await.is_ok()
    }
}

impl Running {
    fn report(self, spec: &GameSpec) -> v1::Report {
        let job = Job::try_from(self.job).expect("a job within the contract");
        let findings = with_game!(spec.game(), game => expansion(game, &job));
        v1::Report {
            lease_id: self.lease,
            findings: Some(v1::Findings::from(&findings)),
            elapsed_us: self.began.elapsed().as_micros() as u64,
            subject: Some(v1::Subject::from(&job)),
            certificate_bytes: None,
            hearsay: false,
        }
    }
}

async fn until(at: Option<Instant>) {
    match at {
        Some(at) => sleep_until(at).await,
        None => pending().await,
    }
}

/// What one expansion finds, with mobility initialisation: true of the position, and the same
/// whoever is asked.
fn expansion<G: Game>(game: &G, job: &Job) -> Findings {
    let mut position = game.start();
    job.moves.iter().for_each(|&mv| game.play(&mut position, mv));
    let mut moves = MoveList::new();
    game.moves(&position, &mut moves);
    let (first, width) = job.question.thresholds();
    let child = |mv: Move, position: &mut G::Position| {
        game.play(position, mv);
        let efforts = match game.outcome(position) {
            Some(outcome) => (0..width)
                .map(|index| {
                    EffortPair::solved(usize::from(outcome.0) >= usize::from(first.0) + index)
                })
                .collect(),
            None => {
                let replies = Effort::finite(game.mobility(position).into());
                let frontier = match game.to_move(position) {
                    Player::Max => EffortPair { proof: Effort::ONE, disproof: replies },
                    Player::Min => EffortPair { proof: replies, disproof: Effort::ONE },
                };
                vec![frontier; width]
            }
        };
        game.undo(position, mv);
        ChildFindings { mv, efforts }
    };
    let children: Vec<_> = moves.into_iter().map(|mv| child(mv, &mut position)).collect();
    let efforts = (0..width).map(|index| {
        let all = || children.iter().map(|child| child.efforts[index]);
        let (proofs, disproofs) = (all().map(|it| it.proof), all().map(|it| it.disproof));
        match game.to_move(&position) {
            Player::Max => EffortPair { proof: least(proofs), disproof: sum(disproofs) },
            Player::Min => EffortPair { proof: sum(proofs), disproof: least(disproofs) },
        }
    });
    Findings {
        efforts: efforts.collect(),
        nodes: children.len() as u64,
        children,
        most_proving_move: None,
    }
}

fn least(efforts: impl Iterator<Item = Effort>) -> Effort {
    efforts.min().expect("there is a legal move")
}

fn sum(efforts: impl Iterator<Item = Effort>) -> Effort {
    efforts.fold(Effort::ZERO, Effort::plus)
}

/// The processor time that a process has used.
fn processor_time(process: u32) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).expect("it runs");
    let (_, fields) = stat.rsplit_once(')').expect("a name in brackets");
    let ticks = |index: usize| -> f64 {
        fields.split_whitespace().nth(index).and_then(|it| it.parse().ok()).expect("a number")
    };
    // User and system time are fields 14 and 15; the name is the second.
    (ticks(11) + ticks(12)) / TICKS_PER_SECOND
}

/// Measures one line and prints it.
async fn measure(run: &Run) {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    let data = data.to_str().expect("a path that is text");
    let kept: &[&str] = if run.durable { &["--data", data] } else { &[] };
    let workers = run.connections.to_string();
    let most = run.connections.max(1024).to_string();
    let more = ["--await-workers", &workers, "--max-workers", &most];
    let (coordinator, url) = serve(&[&[SPEC], kept, &more].concat());
    let meter = Arc::new(Meter {
        spec: SPEC.parse().expect("a spec"),
        job: run.job,
        warm: AtomicBool::new(false),
        measuring: AtomicBool::new(false),
        reports: AtomicU64::new(0),
        ahead: AtomicU64::new(0),
        waits: Mutex::new(Vec::new()),
    });
    for number in 0..run.connections {
        let worker = Worker::join(meter.clone(), &url, number, run.slots).await;
        tokio::spawn(worker.work());
    }
    // The tree begins with one node and branches slowly while few jobs are out.
    sleep(Duration::from_secs(if run.job.is_zero() { 1 } else { 4 })).await;
    meter.warm.store(true, Ordering::Relaxed);
    sleep(run.job.mul_f64(SPREAD.end) + WARM_UP_JOB).await;

    let own = std::process::id();
    let (began, used, own_used) =
        (Instant::now(), processor_time(coordinator.id()), processor_time(own));
    meter.measuring.store(true, Ordering::Relaxed);
    sleep(run.measure).await;
    meter.measuring.store(false, Ordering::Relaxed);
    let (seconds, used, own_used) = (
        began.elapsed().as_secs_f64(),
        processor_time(coordinator.id()) - used,
        processor_time(own) - own_used,
    );

    let state = tokio::task::spawn_blocking(move || status(&url)).await.expect("a status");
    assert_eq!(state["refused"], 0, "honest reports are accepted");
    assert_eq!(state["leases_expired"], 0, "workers that answer keep their leases");
    assert_eq!(state["workers"].as_array().map(Vec::len), Some(run.connections), "nobody is lost");
    let reports = meter.reports.load(Ordering::Relaxed);
    let mut waits = std::mem::take(&mut *meter.waits());
    waits.sort_unstable();
    let at = |share: f64| {
        let index = (waits.len() as f64 * share) as usize;
        waits
            .get(index.min(waits.len().saturating_sub(1)))
            .map_or(0.0, |wait| wait.as_secs_f64() * 1e3)
    };
    println!(
        "| {} s | {} | {} | {} | {:.0} | {:.2} ms | {:.2} ms | {:.2} ms | {:.2} | {:.0} µs | {:.2} |",
        run.job.as_secs(),
        run.connections,
        run.slots,
        if run.durable { "yes" } else { "no" },
        reports as f64 / seconds,
        at(0.5),
        at(0.99),
        at(1.0),
        used / seconds,
        1e6 * used / reports as f64,
        own_used / seconds,
    );
    let ahead = meter.ahead.load(Ordering::Relaxed);
    if ahead > 0 {
        println!(
            "({ahead} leases came before there was a free slot; they are not among the waits)"
        );
    }
}

fn setting(name: &str, usual: u64) -> u64 {
    let given = std::env::var(name).ok();
    given.map_or(usual, |text| text.parse().unwrap_or_else(|_| panic!("{name} is a number")))
}

fn load_average() -> String {
    let text = std::fs::read_to_string(Path::new("/proc/loadavg")).unwrap_or_default();
    text.split_whitespace().next().unwrap_or("unknown").to_owned()
}

#[tokio::main]
async fn main() {
    // Each connection is an open file, here as there; the coordinator sees to its own limit.
    let files = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: files.maximum, ..files }).expect("more files");
    let connections = setting("JLPNS_BENCH_CONNECTIONS", 1_000) as usize;
    let seconds = std::env::var("JLPNS_BENCH_SECONDS").is_ok();
    let seconds = seconds.then(|| Duration::from_secs(setting("JLPNS_BENCH_SECONDS", 1)));
    println!("load average before: {}", load_average());
    println!(
        "| job | connections | slots each | durable | jobs/s | wait p50 | p99 | max | coordinator, cores | per job | load, cores |"
    );
    println!("|---:|---:|---:|---|---:|---:|---:|---:|---:|---:|---:|");
    let names: Vec<String> = std::env::args().skip(1).filter(|it| !it.starts_with("--")).collect();
    let second = [(connections, 1, SECOND, 20)];
    let empty = EMPTY.map(|(connections, slots)| (connections, slots, Duration::ZERO, 5));
    for lines in [&second[..], &empty] {
        for durable in [false, true] {
            for &(connections, slots, job, usual) in lines {
                let name = format!("{connections}x{slots}");
                if names.is_empty() || names.contains(&name) {
                    let measure_for = seconds.unwrap_or(Duration::from_secs(usual));
                    measure(&Run { connections, slots, job, durable, measure: measure_for }).await;
                }
            }
        }
    }
}
