//! A coordinator that holds a queue: many solves, large and small, on workers that stay.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::process::Stdio;

use jlpns_tests::cluster::{LIMIT, path, serve, serve_at, verified, worker, worker_with};
use jlpns_tests::faults::signals::{Signal, send};
use jlpns_tests::{Ended, Running, answered, jlpns, run};
use serde_json::Value;

/// A queue in a folder of its own.
struct Queue {
    folder: tempfile::TempDir,
    coordinator: Running,
    url: String,
    flags: Vec<String>,
}

impl Queue {
    fn new(flags: &[&str]) -> Queue {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let flags: Vec<String> = flags.iter().map(|&flag| flag.to_owned()).collect();
        let (coordinator, url) = serve(&args(&folder, &flags));
        Queue { folder, coordinator, url, flags }
    }

    /// Kills the coordinator as `kill -9` does, and starts it again at the same address.
    fn killed_and_started_again(mut self) -> Queue {
        self.coordinator.kill();
        let address = self.url.trim_start_matches("http://").to_owned();
        let (coordinator, url) = serve_at(&address, &args(&self.folder, &self.flags));
        Queue { coordinator, url, ..self }
    }

    /// The objects that a command prints, a line each.
    fn lines(&self, args: &[&str]) -> Vec<Value> {
        let ended = self.asked(&[args, &["--output", "json"]].concat());
        assert_eq!(ended.code, Some(0), "{args:?}: {ended:?}");
        objects(&ended)
    }

    /// A command about the queue, whose first word is the command.
    fn asked(&self, args: &[&str]) -> Ended {
        let (command, rest) = args.split_first().expect("a command");
        run(&mut jlpns([&[*command, &*self.url], rest].concat()), LIMIT)
    }

    /// Submits lines; gives their numbers.
    fn submitted(&self, lines: &str, flags: &[&str]) -> Vec<u64> {
        let submit = ["submit", &*self.url, "--file", "-", "--output", "json"];
        let ended = fed(&[&submit, flags].concat(), lines);
        assert_eq!(ended.code, Some(0), "{ended:?}");
        // With --wait the last object is of how they ended.
        objects(&ended).iter().filter_map(|entry| entry["number"].as_u64()).collect()
    }

    /// The entries that have ended, by their numbers.
    fn results(&self) -> BTreeMap<u64, Value> {
        let number = |entry: &Value| entry["number"].as_u64().expect("a number");
        self.lines(&["results"]).into_iter().map(|entry| (number(&entry), entry)).collect()
    }

    /// Waits until all that is in the queue has ended.
    fn waited(&self) -> Ended {
        self.asked(&["wait"])
    }

    /// Asks how many entries are in each state, and for the entries, until `wanted` says yes.
    fn until(&self, wanted: impl Fn(&Value) -> bool) -> Value {
        loop {
            let mut told = self.lines(&["queue", "--all"]).remove(0);
            let mut seen = told["status"]["counts"].take();
            seen["entries"] = told["entries"].take();
            if wanted(&seen) {
                return seen;
            }
        }
    }
}

fn args<'a>(folder: &tempfile::TempDir, flags: &'a [String]) -> Vec<&'a str> {
    let data: &'static str = path(folder.path(), "data").leak();
    let flags = flags.iter().map(String::as_str);
    ["--queue", "--data", data].into_iter().chain(flags).collect()
}

/// A command that reads this.
fn fed(args: &[&str], input: &str) -> Ended {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("input");
    fs::write(&file, input).expect("a file");
    let input = fs::File::open(&file).expect("the file");
    run(jlpns(args).stdin(Stdio::from(input)), LIMIT)
}

fn objects(ended: &Ended) -> Vec<Value> {
    ended.stdout.lines().map(|line| serde_json::from_str(line).expect("an object")).collect()
}

/// Positions of a board after so many moves, each of another line of play.
fn positions(spec: &str, moves: u32, many: u32) -> String {
    let columns = spec.split([':', 'x']).nth(1).and_then(|it| it.parse::<u32>().ok());
    let columns = columns.expect("columns");
    let mut lines = Vec::new();
    let mut draw = 12_345_u32;
    while lines.len() < many as usize {
        let line: String = (0..moves)
            .map(|_| {
                draw = draw.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                char::from_digit(1 + (draw >> 16) % columns, 36).expect("a digit")
            })
            .collect();
        lines.push(format!("{spec} {line}\n"));
    }
    lines.concat()
}

/// What a search in one process says of each line that is a position: its value.
fn by_one_process(spec: &str, lines: &str) -> Vec<(String, Value)> {
    let moves: Vec<&str> = lines.lines().filter_map(|line| line.split(' ').nth(1)).collect();
    let ended = fed(&["search", spec, "--positions", "-", "--output", "json"], &moves.join("\n"));
    let told = objects(&ended).into_iter();
    told.map(|it| (it["moves"].as_str().expect("moves").to_owned(), it["value"].clone())).collect()
}

/// Lines whose moves are legal, and of which the game is not over.
fn legal(spec: &str, lines: &str) -> String {
    let is_legal = |line: &&str| {
        let moves = line.split(' ').nth(1).unwrap_or_default();
        let spec: jlpns_games::spec::GameSpec = spec.parse().expect("a spec");
        jlpns_games::with_game!(spec.game(), game => {
            jlpns_games::spec::parse_moves(game, moves).is_ok()
        })
    };
    lines.lines().filter(is_legal).map(|line| format!("{line}\n")).collect()
}

#[test]
fn positions_of_two_games_get_the_values_that_one_process_finds() {
    let queue = Queue::new(&["--confirm", "none"]);
    let workers = [worker(&queue.url, "one"), worker(&queue.url, "two")];
    let lines = legal("connect4:5x4", &positions("connect4:5x4", 4, 120));
    let numbers = queue.submitted(&format!("{lines}woodpush:6\nwoodpush:8 # a comment\n"), &[]);
    assert_eq!(queue.waited().code, Some(0));
    let results = queue.results();
    assert_eq!(results.len(), numbers.len());
    let expected = by_one_process("connect4:5x4", &lines);
    assert_eq!(expected.len() + 2, numbers.len());
    for (number, (moves, value)) in numbers.iter().zip(&expected) {
        let told = &results[number];
        assert_eq!((&told["state"], told["moves"].as_str()), (&"solved".into(), Some(&**moves)));
        assert_eq!(told["value"], *value, "{told}");
    }
    for (spec, number) in ["woodpush:6", "woodpush:8"].iter().zip(&numbers[expected.len()..]) {
        assert_eq!(results[number]["value"], answered(&["search", spec])["value"]);
    }
    // The workers have stayed.
    drop(workers);
}

#[test]
fn what_one_machine_says_is_searched_again_unless_nobody_asks_for_that() {
    let queue = Queue::new(&[]);
    let _worker = worker(&queue.url, "one");
    let lines = legal("connect4:4x4", &positions("connect4:4x4", 3, 20));
    queue.submitted(&lines, &[]);
    assert_eq!(queue.waited().code, Some(0));
    for entry in queue.results().values() {
        assert_eq!(entry["claims"], entry["claims_confirmed"], "{entry}");
    }
}

#[test]
fn a_killed_coordinator_forgets_nothing_and_solves_nothing_twice() {
    let queue = Queue::new(&["--confirm", "none"]);
    let lines = legal("connect4:5x5", &positions("connect4:5x5", 4, 400));
    let _workers = [worker(&queue.url, "one"), worker(&queue.url, "two")];
    let numbers = queue.submitted(&lines, &[]);
    let solved = |status: &Value| status["solved"].as_u64().unwrap_or(0);
    queue.until(|status| solved(status) >= 20);
    let before = queue.results();
    let queue = queue.killed_and_started_again();
    assert_eq!(queue.waited().code, Some(0));
    let after = queue.results();
    assert_eq!(after.len(), numbers.len(), "nothing is lost");
    assert!(before.iter().all(|(number, entry)| after[number] == *entry), "nothing is solved anew");
    // What was out when it was killed is all that may have been searched twice.
    let jobs: u64 = after.values().filter_map(|entry| entry["jobs"].as_u64()).sum();
    assert!(jobs <= numbers.len() as u64 + 8, "{jobs} jobs for {} entries", numbers.len());
    let values: Vec<Value> = after.values().map(|entry| entry["value"].clone()).collect();
    let expected = by_one_process("connect4:5x5", &lines);
    assert_eq!(values, expected.into_iter().map(|(_, value)| value).collect::<Vec<_>>());
}

#[test]
fn small_entries_end_beside_a_large_one_which_can_be_cancelled_or_limited() {
    let queue = Queue::new(&["--confirm", "none", "--sweep-nodes", "1000"]);
    let _worker = worker(&queue.url, "one");
    let large = queue.submitted("connect4:8x8\n", &[])[0];
    queue.until(|status| status["open"].as_u64() == Some(1));
    let small = queue.submitted("connect4:4x4\nconnect4:5x4\nwoodpush:8\n", &["--wait"]);
    let results = queue.results();
    assert!(small.iter().all(|number| results[number]["state"] == "solved"), "{results:?}");
    assert!(!results.contains_key(&large), "it is still open");
    assert_eq!(queue.asked(&["cancel", &large.to_string()]).code, Some(0));
    let limited = "connect4:8x8 --most-nodes 50000\nconnect4:8x8 1 --most-time 1s --label slow\n";
    let limited = queue.submitted(limited, &[]);
    assert_eq!(queue.waited().code, Some(3), "some have no answer");
    let results = queue.results();
    let told = |number: u64, field: &str| results[&number][field].clone();
    assert_eq!(told(large, "state"), "cancelled");
    assert_eq!(told(limited[0], "state"), "stopped");
    assert_eq!(told(limited[0], "reason"), "it has used up its 50000 nodes (--most-nodes)");
    assert_eq!(told(limited[1], "reason"), "it has used up its 1 s (--most-time)");
    assert_eq!(told(limited[1], "label"), "slow");
    assert!(told(limited[0], "nodes").as_u64() >= Some(50_000));
}

#[test]
fn a_large_entry_goes_on_where_it_was_when_its_coordinator_is_killed() {
    let flags = ["--confirm", "none", "--sweep-nodes", "1000", "--job-nodes", "3000"];
    let queue = Queue::new(&flags);
    let _worker = worker(&queue.url, "one");
    queue.submitted("connect4:5x5\n", &[]);
    let jobs = |status: &Value| status["entries"][0]["jobs"].as_u64().unwrap_or(0);
    let before = jobs(&queue.until(|status| jobs(status) >= 5 || status["solved"] == 1));
    let queue = queue.killed_and_started_again();
    assert_eq!(queue.waited().code, Some(0));
    let entry = queue.results().remove(&1).expect("an entry");
    assert_eq!(entry["value"], "draw");
    assert!(entry["jobs"].as_u64() >= Some(before), "{entry}");
}

#[test]
fn an_entry_with_a_certificate_is_proved() {
    let queue = Queue::new(&[]);
    let _worker = worker(&queue.url, "one");
    let numbers = queue.submitted(
        "connect4:4x4 1 --certificate\nconnect4:5x4 --certificate --goal >=win\n",
        &["--wait"],
    );
    let results = queue.results();
    for number in numbers {
        let entry = &results[&number];
        let file = entry["certificate"].as_str().expect("a file");
        let file = path(queue.folder.path(), &format!("data/{file}"));
        assert_eq!(verified(&file)["sha256"], entry["sha256"], "{entry}");
    }
}

#[test]
fn tables_know_in_the_next_entry_what_they_have_learnt_in_the_last() {
    let queue = Queue::new(&["--confirm", "none", "--sweep-nodes", "100000000"]);
    let _worker = worker(&queue.url, "one");
    queue.submitted("connect4:5x5\n", &["--wait"]);
    // Of what comes after the best move both bounds are known; of another move one may be enough.
    let best =
        answered(&["search", "connect4:5x5"])["best_move"].as_str().expect("a move").to_owned();
    queue.submitted(&format!("connect4:5x5 {best}\n"), &["--wait"]);
    let warm = queue.results()[&2]["nodes"].as_u64().expect("nodes");
    let cold = answered(&["search", "connect4:5x5", "--moves", &best])["nodes"].as_u64();
    assert!(cold > Some(4 * warm), "{cold:?} without, {warm} with what was known");
}

#[test]
fn workers_take_the_games_that_they_are_for() {
    let queue = Queue::new(&["--confirm", "none"]);
    let woodpush = worker_with(&queue.url, "woods", &["--games", "woodpush"]);
    let numbers = queue.submitted("connect4:4x4\nwoodpush:6\n", &[]);
    let wood = numbers[1].to_string();
    assert_eq!(queue.asked(&["wait", &wood]).code, Some(0));
    let states = |status: &Value| (status["waiting"].clone(), status["solved"].clone());
    assert_eq!(states(&queue.until(|_| true)), (1.into(), 1.into()), "nobody is there for it");
    drop(woodpush);
    let _other = worker(&queue.url, "any");
    assert_eq!(queue.waited().code, Some(0));
}

#[test]
fn a_queue_that_is_stopped_is_the_same_when_it_comes_back() {
    let queue = Queue::new(&["--confirm", "none"]);
    let worker = worker(&queue.url, "one");
    queue.submitted("connect4:4x4 --label first\nconnect4:4x4 1\n", &["--wait"]);
    let before = queue.results();
    assert!(send(queue.coordinator.id(), Signal::TERM));
    let Queue { folder, coordinator, url, flags } = queue;
    let ended = coordinator.end(LIMIT);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let address = url.trim_start_matches("http://").to_owned();
    let (coordinator, url) = serve_at(&address, &args(&folder, &flags));
    let queue = Queue { folder, coordinator, url, flags };
    assert_eq!(queue.results(), before);
    assert_eq!(queue.submitted("connect4:4x4 2\n", &["--wait"]), [3], "the worker has come back");
    drop(worker);
}

#[test]
fn whoever_asks_wrongly_is_told_what_is_right() {
    let queue = Queue::new(&["--confirm", "none"]);
    let refused = |args: &[&str], words: &str| {
        let ended = queue.asked(args);
        assert_eq!(ended.code, Some(2), "{args:?}: {ended:?}");
        assert!(ended.stderr.contains(words), "{args:?}: {ended:?}");
    };
    refused(&["cancel", "7"], "there is no entry 7");
    refused(&["results", "7"], "there is no entry 7");
    refused(&["submit", "chess:8x8"], "chess");
    refused(&["submit", "connect4:4x4", "--goal", ">=three"], "three");
    let bad = fed(&["submit", &queue.url, "--file", "-"], "connect4:4x4\nconnect4:4x4 99\n");
    assert_eq!(bad.code, Some(2), "{bad:?}");
    assert!(bad.stderr.contains("line 2"), "{bad:?}");
    assert!(queue.lines(&["queue", "--all"])[0]["entries"].as_array().is_some_and(Vec::is_empty));
    let status = queue.asked(&["status"]);
    assert!(
        status.stderr.contains("it holds a queue of many solves; 'jlpns queue URL'"),
        "{status:?}"
    );
    let without = run(&mut jlpns(["serve", "--queue"]), LIMIT);
    assert_eq!(without.code, Some(2), "{without:?}");
    assert!(without.stderr.contains("--data"), "{without:?}");
    let both = run(&mut jlpns(["serve", "connect4:4x4", "--queue", "--data", "x"]), LIMIT);
    assert_eq!(both.code, Some(2), "{both:?}");
    let (_one, url) = serve(&["connect4:8x8"]);
    let none = run(&mut jlpns(["queue", &url]), LIMIT);
    assert_eq!(none.code, Some(1), "{none:?}");
    assert!(none.stderr.contains("holds no queue"), "{none:?}");
    std::io::stderr().flush().expect("stderr");
}
