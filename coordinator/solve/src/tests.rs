//! A cluster in one thread: workers that join, work, fall silent, come back late, lie and leave,
//! in an order that comes from a seed; and the checks that hold after every step.

mod believed;
mod contrary;
mod draining;
mod earlier_life;
mod hearsay;
mod many_outcomes;
mod positions;
mod proved;
mod records;
mod stragglers;

use std::collections::HashSet;

use jlpns_games::spec::{GameSpec, parse_moves, position_after};
use jlpns_games::{Game, Goal, Move, Outcome, with_game};
use jlpns_search::graph::Selection;
use jlpns_search::search::{Growth, SearchSettings, search};
use jlpns_search::{
    Algorithm, ChildFindings, Effort, EffortPair, Findings, Initialisation, Job, Question,
    TranspositionTable,
};
use proptest::prelude::*;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::*;
use crate::belief::Identity;

fn settings(spec: &str, moves: &str, goal: Option<&str>) -> SolveSettings {
    let spec: GameSpec = spec.parse().unwrap();
    let (moves, goal) = with_game!(spec.game(), game => (
        parse_moves(game, moves).unwrap(),
        goal.map(|goal| game.scale().parse_goal(goal).unwrap())
    ));
    SolveSettings {
        moves,
        goal,
        sub_search: Algorithm::Pn2,
        initialisation: Initialisation::Unit,
        knowledge: false,
        job_nodes: 60,
        memory: 1 << 24,
        lease_length: Duration::from_secs(10),
        report_interval: Duration::from_secs(1),
        stall_after: Duration::from_secs(600),
        leases_ahead: true,
        snapshot_records: 1_000,
        ..SolveSettings::new(spec)
    }
}

/// Runs a job as a worker would.
fn run(spec: &GameSpec, job: &Job) -> Findings {
    let table = TranspositionTable::with_bytes(1 << 12).unwrap();
    let settings = SearchSettings::of_job(job);
    with_game!(spec.game(), game => {
        let mut position = position_after(game, &job.moves).unwrap();
        search(game, &mut position, job.question, &settings, &table, &mut ()).findings
    })
}

/// The value by plain alpha-beta, which has neither tree nor jobs.
fn true_value(settings: &SolveSettings) -> Outcome {
    let table = TranspositionTable::with_bytes(1 << 24).unwrap();
    let search_settings =
        SearchSettings { algorithm: Algorithm::AlphaBeta, ..SearchSettings::default() };
    with_game!(settings.spec.game(), game => {
        let mut position = position_after(game, &settings.moves).unwrap();
        let question = Question::Value(game.scale().bounds());
        let end = search(game, &mut position, question, &search_settings, &table, &mut ());
        question.bounds(&end.findings.efforts, game.scale()).value().unwrap()
    })
}

/// A worker on a machine of its own.
fn info(name: &str, slots: u32) -> WorkerInfo {
    let (machine, address) = (name.to_owned(), format!("address of {name}"));
    let identity = Identity { certificate: None, machine, address };
    let build = String::new();
    WorkerInfo { name: name.to_owned(), identity, build, slots, memory: 0, instance: 0 }
}

/// A job as its worker holds it.
#[derive(Clone)]
struct Held {
    worker: WorkerId,
    lease: LeaseId,
    job: Job,
}

/// The shell around a solve, with all of its workers.
struct Cluster {
    solve: Solve,
    now: Duration,
    workers: Vec<WorkerId>,
    held: Vec<Held>,
    /// Jobs whose worker has lost touch, and may still report.
    lost: Vec<Held>,
    /// What the coordinator is to search itself.
    own_searches: Vec<(u64, Job)>,
    /// How many workers were told that nothing is shared any more.
    ended_sharing: u64,
    joined: u64,
    over: bool,
    granted: HashSet<LeaseId>,
}

impl Cluster {
    fn new(settings: SolveSettings) -> Cluster {
        let mut cluster = Cluster {
            solve: Solve::new(settings).unwrap(),
            now: Duration::ZERO,
            workers: Vec::new(),
            held: Vec::new(),
            lost: Vec::new(),
            own_searches: Vec::new(),
            ended_sharing: 0,
            joined: 0,
            over: false,
            granted: HashSet::default(),
        };
        cluster.act();
        cluster
    }

    fn send(&mut self, event: Event) -> Result<(), Refusal> {
        let outcome = self.solve.handle(event, self.now);
        self.act();
        outcome
    }

    fn join(&mut self, slots: u32) {
        self.joined += 1;
        let worker = WorkerId(self.joined);
        self.workers.push(worker);
        let info = info(&format!("w{}", self.joined), slots);
        self.send(Event::Joined { worker, info }).unwrap();
    }

    /// Time passes, with all the ticks that are asked for.
    fn pass(&mut self, time: Duration) {
        let end = self.now + time;
        while let Some(next) = self.solve.next_deadline().filter(|&next| next <= end) {
            self.now = self.now.max(next);
            self.solve.tick(self.now);
            self.act();
        }
        self.now = end;
    }

    fn act(&mut self) {
        for action in self.solve.take_actions() {
            match action {
                Action::Lease { worker, lease, job, .. } => {
                    assert!(!self.over, "no lease after the end");
                    assert!(self.workers.contains(&worker), "leases go to connected workers");
                    assert!(self.granted.insert(lease), "a lease id is never used again");
                    self.held.push(Held { worker, lease, job });
                }
                Action::Cancel { worker, lease } => {
                    assert!(self.granted.contains(&lease));
                    let moot = |held: &Held| held.lease == lease && held.worker == worker;
                    self.lost.extend(self.held.extract_if(.., |held| moot(held)));
                }
                Action::Over => self.over = true,
                Action::Dismiss { worker, refused } => {
                    assert!(matches!(refused, Some(Refusal::TooManyRefused(_))), "it has lied");
                    self.workers.retain(|&other| other != worker);
                    self.lost.extend(self.held.extract_if(.., |held| held.worker == worker));
                }
                Action::Search { number, job } => self.own_searches.push((number, job)),
                Action::EndSharing { .. } => self.ended_sharing += 1,
                Action::Acknowledge { .. } | Action::Notify(_) | Action::Tidings(_) => {}
                other => panic!("without a journal and rechecks there is no {other:?}"),
            }
        }
        self.check();
    }

    fn check(&self) {
        let status = self.solve.status(self.now);
        assert_eq!(status.leased, self.held.len() as u64, "the coordinator knows what is out");
        for worker in &status.workers {
            assert!(worker.running <= worker.slots, "no slot runs two jobs");
        }
        assert_eq!(self.solve.end().is_some(), self.over);
        let free = status.workers.iter().any(|w| w.running < w.slots && !w.draining && !w.paused);
        assert!(
            self.over || !free || status.leased > 0 || !self.own_searches.is_empty(),
            "an idle slot while nothing is out means that the solve is stuck"
        );
    }

    /// Something that can happen in a lab; `choice` says what, and to whom.
    fn step(&mut self, choice: u32) {
        let pick = choice as usize / 16;
        match choice % 16 {
            0 if self.workers.len() < 4 => self.join(1 + choice / 16 % 3),
            1 if self.workers.len() > 1 => {
                let worker = self.workers.remove(pick % self.workers.len());
                self.lost.extend(self.held.extract_if(.., |held| held.worker == worker));
                self.send(Event::Left { worker }).unwrap();
            }
            2 => {
                self.pass(self.solve.settings().lease_length / 3);
            }
            3 if !self.workers.is_empty() => {
                let worker = self.workers[pick % self.workers.len()];
                let leases = self.held.iter().filter(|held| held.worker == worker);
                let leases = leases.map(|held| held.lease).collect();
                self.send(Event::Renewed { worker, leases }).unwrap();
            }
            4 if !self.lost.is_empty() && !self.workers.is_empty() => {
                let held = self.lost.remove(pick % self.lost.len());
                let worker = self.workers[pick % self.workers.len()];
                // Used or not known any more: both are fine, and nothing breaks.
                let _ = self.report(worker, &held);
            }
            5 if !self.held.is_empty() => {
                let held = self.held[pick % self.held.len()].clone();
                let mut job = held.job.clone();
                job.budget = 5;
                let findings = run(&self.solve.settings().spec, &job);
                let Held { worker, lease, .. } = held;
                self.send(Event::Progress { worker, lease, findings }).unwrap();
            }
            6 if !self.held.is_empty() => {
                let index = pick % self.held.len();
                let held = self.held.remove(index);
                self.lie(&held, choice);
            }
            7 if self.workers.len() > 1 => {
                let worker = self.workers[pick % self.workers.len()];
                let readiness = Readiness::Draining(String::new());
                self.send(Event::Readiness { worker, readiness }).unwrap();
                self.join(1);
            }
            _ if !self.held.is_empty() => {
                let held = self.held.remove(pick % self.held.len());
                self.report(held.worker, &held).unwrap();
            }
            _ => self.join(1),
        }
    }

    fn report(&mut self, worker: WorkerId, held: &Held) -> Result<(), Refusal> {
        let findings = run(&self.solve.settings().spec, &held.job);
        let elapsed = Duration::from_millis(20);
        self.send(Event::Reported {
            worker,
            lease: held.lease,
            subject: None,
            examined: None,
            findings,
            elapsed,
            hearsay: false,
        })
    }

    /// A report that cannot be true is refused, and the job goes out again.
    fn lie(&mut self, held: &Held, choice: u32) {
        let mut findings = run(&self.solve.settings().spec, &held.job);
        match choice / 16 % 4 {
            0 => findings.efforts.push(EffortPair::UNIT),
            1 => findings.efforts[0] = EffortPair { proof: Effort::ZERO, ..EffortPair::UNIT },
            2 => findings.most_proving_move = Some(Move(999)),
            _ => {
                findings.children.truncate(1);
                findings.children.extend(findings.children.clone());
                findings.most_proving_move = None;
                if findings.children.is_empty() {
                    findings.efforts.clear();
                }
            }
        }
        let before = self.solve.status(self.now);
        let Held { worker, lease, .. } = *held;
        let elapsed = Duration::ZERO;
        let refusal = self
            .send(Event::Reported {
                worker,
                lease,
                subject: None,
                examined: None,
                findings,
                elapsed,
                hearsay: false,
            })
            .unwrap_err();
        assert!(matches!(refusal, Refusal::BadFindings(..)), "{refusal}");
        let after = self.solve.status(self.now);
        assert_eq!(after.refused, before.refused + 1);
        let known = |status: SolveStatus| (status.lower, status.upper, status.jobs, status.nodes);
        assert_eq!(known(after), known(before));
    }
}

/// Solves with everything going wrong that `seed` says, and compares with brute force.
fn check_cluster(settings: SolveSettings, mut rng: StdRng) {
    let value = true_value(&settings);
    let goal = settings.goal;
    let mut cluster = Cluster::new(settings);
    for _ in 0..20_000 {
        if cluster.over {
            break;
        }
        cluster.step(rng.next_u32());
    }
    let end = cluster.solve.end().expect("solved within the steps");
    match goal {
        None => assert_eq!(end.bounds, Bounds::exactly(value)),
        Some(goal) => {
            assert_eq!(end.proved, Some(goal.proved_when(goal.threshold().holds(value))));
        }
    }
    // Whoever joins or reports afterwards is told that it is over.
    cluster.join(2);
    assert!(cluster.held.iter().all(|held| held.worker != WorkerId(cluster.joined)));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happens_to_its_workers_a_solve_ends_with_the_right_value(
        (spec, moves) in prop::sample::select(vec![
            ("connect4:3x4", "22"), ("connect4:4x3", "223"), ("connect4:4x4", "22332244"),
            ("connect4:5x3", "333224"), ("woodpush:6", ""), ("woodpush:7", "s0"),
            ("woodpush:LL.R.R", ""), ("woodpush:L.RR..", ""),
        ]),
        goal in prop::sample::select(vec![None, Some(0), Some(1), Some(2)]),
        sub_search in prop::sample::select(vec![
            Algorithm::Pns, Algorithm::Pn2, Algorithm::Gpns2, Algorithm::GpnsPn2, Algorithm::DfPn,
            Algorithm::PdsPn, Algorithm::AlphaBeta,
        ]),
        second in prop::sample::select(vec![
            None, Some(Algorithm::AlphaBeta), Some(Algorithm::AlphaBeta), Some(Algorithm::Pds),
        ]),
        selection in prop::sample::select(vec![
            Selection::Locking, Selection::VirtualWin, Selection::VirtualLoss,
        ]),
        merge: bool,
        knowledge: bool,
        memory in prop::sample::select(vec![1 << 24, 3_000]),
        seed in any::<u64>(),
    ) {
        let mut settings = settings(spec, moves, None);
        settings.goal = goal.map(|goal: u8| Goal::AtLeast(Outcome(goal)));
        settings.sub_search = sub_search;
        settings.beside = second.filter(|&second| second != sub_search).map(|sub_search| Beside {
            sub_search,
            growth: Growth::of(sub_search),
            speed: 1.0,
        });
        settings.selection = selection;
        settings.merge = merge;
        settings.knowledge = knowledge;
        settings.memory = memory;
        let rng = StdRng::seed_from_u64(seed);
        check_cluster(settings, rng);
    }
}

#[test]
fn jobs_carry_the_constants_of_their_search() {
    let first_job = |settings: SolveSettings| {
        let mut cluster = Cluster::new(settings);
        cluster.join(1);
        cluster.held[0].job.clone()
    };
    let as_in_the_paper = settings("connect4:4x4", "", None);
    assert_eq!(first_job(as_in_the_paper.clone()).growth, Growth::of(Algorithm::Pn2));
    let growth = Growth { a: 100.0, b: 50.0 };
    let job = first_job(SolveSettings { growth: Some(growth), epsilon: 0.5, ..as_in_the_paper });
    assert_eq!((job.growth, job.epsilon), (growth, 0.5));
}

#[test]
fn a_game_that_is_over_needs_no_worker() {
    let solve = Solve::new(settings("connect4:4x4", "1212121", None)).unwrap();
    let end = solve.end().expect("four in a column");
    assert_eq!(end.bounds, Bounds::exactly(Outcome(2)));
    assert_eq!(solve.status(Duration::ZERO).value.as_deref(), Some("win"));
}

#[test]
fn the_best_move_is_told_also_when_one_job_settles_the_root() {
    for (job_nodes, spec, moves, best) in
        [(1_000_000, "connect4:4x4", "121212", "1"), (20, "connect4:4x4", "121212", "1")]
    {
        let mut settings = settings(spec, moves, None);
        settings.job_nodes = job_nodes;
        let mut cluster = Cluster::new(settings);
        cluster.join(1);
        while !cluster.over {
            let held = cluster.held.remove(0);
            cluster.report(held.worker, &held).unwrap();
        }
        let status = cluster.solve.status(cluster.now);
        assert_eq!(status.value.as_deref(), Some("win"));
        assert_eq!(status.best_move.as_deref(), Some(best));
    }
}

#[test]
fn no_job_goes_out_before_the_awaited_workers_have_joined() {
    let mut settings = settings("connect4:4x4", "", None);
    settings.await_workers = 2;
    let mut cluster = Cluster::new(settings);
    let first = info("first", 1);
    cluster.solve.handle(Event::Joined { worker: WorkerId(7), info: first }, cluster.now).unwrap();
    assert_eq!(cluster.solve.take_actions(), []);
    cluster.workers.push(WorkerId(7));
    cluster.join(1);
    assert_eq!(cluster.held.len(), 1);
}

#[test]
fn a_silent_worker_loses_its_lease_and_the_job_goes_to_another() {
    let mut cluster = Cluster::new(settings("connect4:4x4", "", None));
    cluster.join(1);
    let first = cluster.held[0].clone();
    cluster.join(1);
    assert_eq!(cluster.held.len(), 1, "the root is the only frontier node");
    cluster.pass(Duration::from_secs(9));
    cluster.send(Event::Renewed { worker: first.worker, leases: vec![first.lease] }).unwrap();
    cluster.pass(Duration::from_secs(9));
    assert_eq!(cluster.held[0].lease, first.lease, "heartbeats keep a lease");
    cluster.pass(Duration::from_secs(1));
    assert_eq!(cluster.solve.status(cluster.now).leases_expired, 1);
    let second = cluster.held[0].clone();
    assert_eq!(second.job.moves, first.job.moves);
    assert_ne!(second.lease, first.lease);
    // The late report is used, and spares the second worker the rest.
    cluster.report(first.worker, &first).unwrap();
    let status = cluster.solve.status(cluster.now);
    assert_eq!((status.jobs, status.cancelled), (1, 1));
    assert!(cluster.lost.iter().any(|held| held.lease == second.lease));
}
