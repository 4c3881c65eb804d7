//! Many positions instead of one root: each gets its own value, whoever lies, leaves or comes back.

use std::collections::BTreeMap;

use jlpns_games::{Bounds, MoveList};

use super::*;
use crate::belief::{BeliefSettings, Confirm};
use crate::losses::TOO_OFTEN;

/// A position that some moves of random play lead to.
fn random_position(spec: &GameSpec, draws: &mut StdRng) -> Vec<Move> {
    with_game!(spec.game(), game => {
        let (mut position, mut moves) = (game.start(), Vec::new());
        for _ in 0..draws.random_range(0..12) {
            let mut legal = MoveList::new();
            if game.outcome(&position).is_some() {
                break;
            }
            game.moves(&position, &mut legal);
            let mv = legal[draws.random_range(0..legal.len())];
            game.play(&mut position, mv);
            moves.push(mv);
        }
        moves
    })
}

fn value_of(spec: &GameSpec, moves: &[Move]) -> Outcome {
    let over = with_game!(spec.game(), game => {
        game.outcome(&position_after(game, moves).unwrap())
    });
    let of = SolveSettings { moves: moves.to_vec(), ..settings(spec.as_str(), "", None) };
    over.unwrap_or_else(|| true_value(&of))
}

fn key_after(spec: &GameSpec, moves: &[Move]) -> u128 {
    fn key<G: Game>(game: &G, moves: &[Move]) -> u128 {
        game.key(&position_after(game, moves).unwrap()).into()
    }
    with_game!(spec.game(), game => key(game, moves))
}

/// The shell around a solve of positions, with honest workers and liars.
struct Shell {
    solve: Solve,
    now: Duration,
    /// Whether each worker lies.
    workers: BTreeMap<WorkerId, bool>,
    held: Vec<Held>,
    own: Vec<(u64, Job)>,
    known: BTreeMap<u64, Option<Bounds>>,
    records: Vec<(u64, Record)>,
    joined: u64,
    /// Keys of positions that workers had when they were gone, one for each time.
    lost: Vec<u128>,
}

impl Shell {
    fn new(settings: SolveSettings) -> Shell {
        let mut shell = Shell {
            solve: Solve::new(settings).unwrap(),
            now: Duration::ZERO,
            workers: BTreeMap::new(),
            held: Vec::new(),
            own: Vec::new(),
            known: BTreeMap::new(),
            records: Vec::new(),
            joined: 0,
            lost: Vec::new(),
        };
        shell.act();
        shell
    }

    fn join(&mut self, lies: bool) {
        self.joined += 1;
        let worker = WorkerId(self.joined);
        let name = if lies { "liar".to_owned() } else { format!("w{}", self.joined) };
        if self.tell(Event::Joined { worker, info: info(&name, 2) }).is_ok() {
            self.workers.insert(worker, lies);
        }
    }

    /// A worker is gone, with what it had.
    fn lose(&mut self, worker: WorkerId) {
        self.workers.remove(&worker);
        let spec = &self.solve.settings().spec;
        let gone = self.held.extract_if(.., |held| held.worker == worker);
        self.lost.extend(gone.map(|held| key_after(spec, &held.job.moves)));
    }

    fn tell(&mut self, event: Event) -> Result<(), Refusal> {
        self.now += Duration::from_millis(1);
        let outcome = self.solve.handle(event, self.now);
        self.act();
        outcome
    }

    fn act(&mut self) {
        loop {
            let actions = self.solve.take_actions();
            if actions.is_empty() {
                return;
            }
            let mut through = None;
            for action in actions {
                match action {
                    Action::Lease { worker, lease, job, .. } => {
                        self.held.push(Held { worker, lease, job });
                    }
                    Action::Cancel { worker, lease } => {
                        self.held.retain(|held| held.worker != worker || held.lease != lease);
                    }
                    Action::Dismiss { worker, .. } => {
                        assert!(self.workers[&worker], "an honest worker is let go");
                        self.lose(worker);
                    }
                    Action::Search { number, job } => self.own.push((number, job)),
                    Action::Record { number, record } => {
                        self.records.push((number, (*record).clone()));
                        through = Some(number);
                    }
                    Action::Tidings(news) => self.hear(news),
                    Action::Over => panic!("a solve of positions has no end"),
                    _ => {}
                }
            }
            if let Some(through) = through {
                let _ = self.solve.handle(Event::Recorded { through }, self.now);
            }
        }
    }

    fn hear(&mut self, news: Tidings) {
        match news {
            Tidings::Answered(found) => {
                assert!(found.bounds.value().is_some());
                if self.solve.settings().belief.confirm == Confirm::Answer {
                    assert_eq!(found.claims, found.confirmed, "one machine's word is no answer");
                }
                self.known.insert(found.number, Some(found.bounds));
            }
            Tidings::GivenUp(found) => {
                self.known.insert(found.number, None);
            }
            Tidings::Withdrawn { number } => {
                assert!(self.known.remove(&number).is_some(), "it was told before");
            }
            Tidings::FoundOut { name, .. } => assert_eq!(name, "liar"),
        }
    }

    /// A worker reports, or the coordinator's own search ends; false if nothing is out.
    fn work(&mut self, draws: &mut StdRng) -> bool {
        if !self.own.is_empty() && (self.held.is_empty() || draws.random_bool(0.3)) {
            let (number, job) = self.own.swap_remove(draws.random_range(0..self.own.len()));
            let findings = run(&self.solve.settings().spec, &job);
            let elapsed = Duration::from_millis(1);
            self.tell(Event::Searched { number, findings, elapsed, proof: None }).unwrap();
            return true;
        }
        if self.held.is_empty() {
            return false;
        }
        let held = self.held.swap_remove(draws.random_range(0..self.held.len()));
        let mut findings = run(&self.solve.settings().spec, &held.job);
        if self.workers[&held.worker] && draws.random_bool(0.5) {
            let holds = draws.random_bool(0.5);
            findings.efforts.fill(EffortPair::solved(holds));
            findings.children.clear();
        }
        let Held { worker, lease, .. } = held;
        let (subject, examined, elapsed) = (None, None, Duration::from_millis(1));
        let _ = self.tell(Event::Reported {
            worker,
            lease,
            subject,
            examined,
            findings,
            elapsed,
            hearsay: false,
        });
        true
    }
}

fn of_positions(positions: Vec<AskedPosition>, confirm: Confirm) -> SolveSettings {
    SolveSettings {
        sub_search: Algorithm::AlphaBeta,
        journal: true,
        positions: Some(positions),
        belief: BeliefSettings { confirm, sample: 0.2, seed: 3 },
        ..settings("connect4:4x4", "", None)
    }
}

fn asked(number: u64, moves: Vec<Move>, budget: u64) -> AskedPosition {
    AskedPosition { number, moves, priority: 1 + number as u32 % 3, budget }
}

/// With a liar among the machines, workers that come and go, slots that are given and taken, positions that are
/// dropped, and a coordinator that is started anew.
fn each_gets_its_value(seed: u64, many: u64, liars: usize, budget: u64) {
    let mut draws = StdRng::seed_from_u64(seed);
    let spec: GameSpec = "connect4:4x4".parse().unwrap();
    let positions: Vec<Vec<Move>> = (0..many).map(|_| random_position(&spec, &mut draws)).collect();
    let all = (1..).zip(&positions);
    let all: Vec<AskedPosition> =
        all.map(|(number, moves)| asked(number, moves.clone(), budget)).collect();
    let (early, late) = all.split_at(all.len() / 2);
    let settings = of_positions(early.to_vec(), Confirm::Answer);
    let mut shell = Shell::new(settings.clone());
    (0..liars).for_each(|_| shell.join(true));
    shell.join(false);
    if draws.random_bool(0.5) {
        shell.join(false);
    }
    shell.tell(Event::Asked { positions: late.to_vec() }).unwrap();
    let dropped = draws.random_range(0..=many);
    for step in 0.. {
        assert!(step < 2_000, "it comes to no end");
        if !shell.work(&mut draws) {
            if !shell.workers.is_empty() {
                break;
            }
            shell.join(false);
        }
        match draws.random_range(0..40) {
            0 => shell.join(false),
            1 if shell.workers.len() > 1 => {
                let (&worker, _) = shell.workers.last_key_value().unwrap();
                shell.lose(worker);
                shell.tell(Event::Left { worker }).unwrap();
            }
            2 => {
                let slots = draws.random_range(0..3);
                for worker in shell.workers.keys().copied().collect::<Vec<_>>() {
                    shell.tell(Event::Allotted { worker, slots }).unwrap();
                }
            }
            3 => shell.tell(Event::Dropped { numbers: vec![dropped] }).unwrap(),
            4 => {
                let (records, now) = (shell.records.clone(), shell.now);
                let first_lease = (step + 1) * 1_000_000;
                let positions = Some(all.clone());
                let settings = SolveSettings { positions, ..settings.clone() };
                let solve = Solve::resume(settings, first_lease, Vec::new(), records);
                shell = Shell {
                    solve: solve.unwrap(),
                    records: shell.records,
                    lost: shell.lost,
                    ..Shell::new(of_positions(Vec::new(), Confirm::Answer))
                };
                shell.now = now;
                shell.act();
                shell.join(false);
            }
            _ => {}
        }
        if shell.held.is_empty() && shell.own.is_empty() {
            for worker in shell.workers.keys().copied().collect::<Vec<_>>() {
                shell.tell(Event::Allotted { worker, slots: 2 }).unwrap();
            }
        }
    }
    for (number, moves) in (1..).zip(&positions) {
        match shell.known.get(&number) {
            Some(Some(bounds)) => {
                assert_eq!(bounds.value(), Some(value_of(&spec, moves)), "number {}", number);
            }
            Some(None) => {
                let key = key_after(&spec, moves);
                let losses = shell.lost.iter().filter(|&&lost| lost == key).count();
                assert!(
                    budget == 40 || losses >= TOO_OFTEN as usize,
                    "one search within its budget"
                );
            }
            None => assert_eq!(number, dropped, "nothing is told of it"),
        }
    }
}

proptest! {
    #[test]
    fn each_position_gets_its_value(
        seed in any::<u64>(),
        many in 1..12_u64,
        liars in 0..2_usize,
        budget in prop_oneof![Just(40_u64), Just(1 << 30)],
    ) {
        each_gets_its_value(seed, many, liars, budget);
    }
}

#[test]
fn a_position_that_workers_lost_three_times_may_be_given_up() {
    each_gets_its_value(13_806_496_713_362_051_137, 7, 1, 1 << 30);
}

#[test]
fn what_a_liar_alone_has_answered_is_withdrawn_and_searched_again() {
    let spec: GameSpec = "connect4:4x4".parse().unwrap();
    let mut draws = StdRng::seed_from_u64(5);
    let positions: Vec<AskedPosition> =
        (1..=20).map(|number| asked(number, random_position(&spec, &mut draws), 1 << 30)).collect();
    let mut shell = Shell::new(of_positions(positions.clone(), Confirm::None));
    shell.join(true);
    while shell.work(&mut draws) {}
    assert_eq!(shell.known.len(), 20, "it was believed");
    let wrong = |shell: &Shell| {
        let value = |asked: &&AskedPosition| {
            let known = shell.known[&asked.number].and_then(Bounds::value);
            known != Some(value_of(&spec, &asked.moves))
        };
        positions.iter().filter(value).count()
    };
    assert!(wrong(&shell) > 0, "it has lied");
    shell.solve.order("liar", Order::Kick, shell.now).unwrap();
    shell.act();
    assert!(shell.known.len() < 20, "its answers are withdrawn");
    shell.join(false);
    while shell.work(&mut draws) {}
    assert_eq!((shell.known.len(), wrong(&shell)), (20, 0));
}

/// A machine was found out elsewhere while nothing was asked of this solve.
#[test]
fn what_a_liar_has_answered_is_not_told_by_a_solve_that_is_taken_up() {
    let mut draws = StdRng::seed_from_u64(1);
    let settings = of_positions(vec![asked(1, Vec::new(), 1 << 30)], Confirm::None);
    let mut shell = Shell::new(settings.clone());
    shell.join(true);
    while shell.work(&mut draws) {}
    assert!(shell.known.contains_key(&1), "it was believed");
    for is_out in [false, true] {
        let records = shell.records.clone();
        let mut solve = Solve::resume(settings.clone(), 1_000, Vec::new(), records).unwrap();
        solve.begin_with_judged([(info("liar", 2).identity, is_out)]);
        let told = |action| matches!(action, Action::Tidings(Tidings::Answered(_)));
        assert_eq!(solve.take_actions().into_iter().any(told), !is_out);
        let identity = info("liar", 2).identity;
        let machine = solve.belief.machines().find(&identity).unwrap();
        assert_eq!(solve.belief.is_quarantined(machine), is_out);
    }
}

/// A worker that pauses reports what little it has: others search the position, in full. Whoever does so always is given up at
/// last.
#[test]
fn a_search_that_was_broken_off_is_not_the_last_word_on_a_position() {
    let budget = 1 << 30;
    let mut shell = Shell::new(of_positions(vec![asked(1, Vec::new(), budget)], Confirm::None));
    shell.join(false);
    let findings = Findings {
        efforts: vec![EffortPair::UNIT; 2],
        children: Vec::new(),
        nodes: 5,
        most_proving_move: None,
    };
    for time in 0..=8 {
        assert!(shell.known.is_empty(), "{time}");
        let Held { worker, lease, job } = shell.held.remove(0);
        assert_eq!(job.budget, budget, "{time}");
        let (subject, examined, elapsed) = (None, None, Duration::from_millis(1));
        let findings = findings.clone();
        let report =
            Event::Reported { worker, lease, subject, examined, findings, elapsed, hearsay: false };
        shell.tell(report).unwrap();
    }
    assert_eq!(shell.known.get(&1), Some(&None), "it is given up");
}

#[test]
fn what_was_confirmed_by_whoever_is_put_out_is_withdrawn_and_confirmed_again() {
    let mut draws = StdRng::seed_from_u64(1);
    let asked = vec![asked(1, Vec::new(), 1 << 30)];
    let mut shell = Shell::new(of_positions(asked, Confirm::Answer));
    shell.join(false);
    shell.join(true);
    // It tells the truth, and is put out all the same.
    let second = WorkerId(2);
    shell.workers.insert(second, false);
    while shell.work(&mut draws) {}
    assert!(shell.known.contains_key(&1));
    assert!(shell.own.is_empty() && shell.solve.status(shell.now).confirmed > 0);
    shell.workers.insert(second, true);
    shell.solve.order("liar", Order::Kick, shell.now).unwrap();
    shell.act();
    assert!(!shell.known.contains_key(&1), "one machine alone stands behind it");
    while shell.work(&mut draws) {}
    assert!(shell.known.contains_key(&1), "the coordinator has confirmed it");
}

#[test]
fn a_position_is_searched_once_for_all_who_ask_for_it() {
    let moves = |text| with_game!("connect4:4x4".parse::<GameSpec>().unwrap().game(), game => parse_moves(game, text).unwrap());
    let same = [asked(1, moves("12"), 1 << 30), asked(2, moves("12"), 1 << 30)];
    let mirrored = asked(3, moves("43"), 1 << 30);
    let mut draws = StdRng::seed_from_u64(1);
    let mut shell = Shell::new(of_positions(same.to_vec(), Confirm::None));
    shell.tell(Event::Asked { positions: vec![mirrored] }).unwrap();
    shell.join(false);
    assert_eq!(shell.held.len(), 1);
    while shell.work(&mut draws) {}
    assert_eq!(shell.known.len(), 3);
    shell.tell(Event::Asked { positions: vec![asked(4, moves("12"), 1)] }).unwrap();
    assert!(shell.held.is_empty() && shell.known.len() == 4, "it is known");
}

#[test]
fn a_worker_without_slots_gets_no_lease_and_confirms_nothing() {
    let positions = vec![asked(1, Vec::new(), 1 << 30)];
    let mut draws = StdRng::seed_from_u64(1);
    let mut shell = Shell::new(of_positions(positions, Confirm::Answer));
    shell.join(false);
    shell.join(false);
    let second = WorkerId(2);
    shell.tell(Event::Allotted { worker: second, slots: 0 }).unwrap();
    while shell.work(&mut draws) {}
    assert!(shell.known.contains_key(&1), "the coordinator itself confirms it");
    let status = shell.solve.status(shell.now);
    let second = status.workers.iter().find(|worker| worker.name == "w2").unwrap();
    assert_eq!((second.jobs, second.slots), (0, 0));
}
