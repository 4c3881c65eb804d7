//! What a queue costs: many positions by a queue with two workers of one slot each, and by one process with two slots,
//! `jlpns solve --positions`, in turns. The ratio is of the positions a second, from the first request to the last answer;
//! the share is that of the workers' slot time which their searches took.

use std::fs;
use std::time::{Duration, Instant};

use jlpns_games::spec::{GameSpec, format_moves};
use jlpns_games::{Game, MoveList, with_game};
use jlpns_tests::cluster::{path, serve};
use jlpns_tests::{Running, jlpns, jlpns_worker, run};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use serde_json::Value;

const ROUNDS: u64 = 3;
const LIMIT: Duration = Duration::from_secs(3_600);

/// Positions of a board after so many random moves, of which the game is not over.
struct Batch {
    spec: &'static str,
    moves: usize,
    many: usize,
}

const BATCHES: [Batch; 2] = [
    Batch { spec: "connect4:6x5", moves: 8, many: 1_000 },
    Batch { spec: "connect4:7x6", moves: 24, many: 10_000 },
];

impl Batch {
    fn lines(&self, seed: u64) -> Vec<String> {
        let spec: GameSpec = self.spec.parse().expect("a spec");
        let mut draws = StdRng::seed_from_u64(seed);
        let mut lines = Vec::new();
        while lines.len() < self.many {
            lines.extend(with_game!(spec.game(), game => played(game, self.moves, &mut draws)));
        }
        lines
    }
}

/// A random line of play of this length; none if the game is over before.
fn played<G: Game>(game: &G, length: usize, draws: &mut StdRng) -> Option<String> {
    let (mut position, mut moves) = (game.start(), Vec::new());
    for _ in 0..length {
        let mut legal = MoveList::new();
        game.moves(&position, &mut legal);
        let mv = *legal.get(draws.random_range(0..legal.len().max(1)))?;
        game.play(&mut position, mv);
        moves.push(mv);
        if game.outcome(&position).is_some() {
            return None;
        }
    }
    Some(format_moves(game, &moves))
}

/// Seconds of one process.
fn alone(batch: &Batch, lines: &[String]) -> f64 {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = path(folder.path(), "positions");
    fs::write(&file, lines.join("\n")).expect("a file");
    let args = ["solve", batch.spec, "--positions", &file, "--slots", "2", "--memory", "1GiB"];
    let mut command = jlpns(args);
    let began = Instant::now();
    let ended = run(&mut command, LIMIT);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert_eq!(ended.stdout.lines().count(), lines.len());
    began.elapsed().as_secs_f64()
}

/// Seconds of a queue, and the share of its slot time that was spent in searches.
fn queued(batch: &Batch, lines: &[String], confirm: &str) -> (f64, f64) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = path(folder.path(), "lines");
    let lines: Vec<String> = lines.iter().map(|line| format!("{} {line}\n", batch.spec)).collect();
    fs::write(&file, lines.concat()).expect("a file");
    let (_coordinator, url) =
        serve(&["--queue", "--data", &path(folder.path(), "data"), "--confirm", confirm]);
    let _workers = ["one", "two"].map(|name| {
        let args = ["--coordinator", &url, "--name", name, "--slots", "1", "--memory", "512MiB"];
        let worker = Running::start(&mut jlpns_worker(args));
        worker.wait_for(LIMIT, |line| line.contains("connected").then_some(()));
        worker
    });
    let mut submit = jlpns(["submit", &url, "--file", &file, "--wait"]);
    let began = Instant::now();
    let ended = run(&mut submit, LIMIT);
    let seconds = began.elapsed().as_secs_f64();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let results = run(&mut jlpns(["results", &url, "--output", "json"]), LIMIT);
    let search: f64 = results
        .stdout
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok()?["search_seconds"].as_f64())
        .sum();
    (seconds, search / (2.0 * seconds))
}

fn main() {
    for batch in &BATCHES {
        println!("{} positions of {} after {} moves", batch.many, batch.spec, batch.moves);
        for round in 1..=ROUNDS {
            let lines = batch.lines(round);
            let one = alone(batch, &lines);
            let (believed, share) = queued(batch, &lines, "none");
            println!(
                "  round {round}: one process {one:.2} s; queue {believed:.2} s, {:.2} times its rate, {:.1} % of \
                 the slot time in searches",
                one / believed,
                100.0 * share,
            );
        }
    }
}
