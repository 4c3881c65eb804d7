//! Journals: what was reported survives kill -9, and a solve goes on where it was.

use std::io::Read;

use jlpns_tests::cluster::{LIMIT, serve_at, status, until, worker};
use jlpns_tests::faults::signals::{Signal, send};
use jlpns_tests::{Running, jlpns, run};
use serde_json::Value;
use wait_timeout::ChildExt;

fn number(status: &Value, field: &str) -> u64 {
    status[field].as_u64().unwrap_or_else(|| panic!("no number {field} in {status}"))
}

#[test]
fn a_coordinator_that_is_killed_over_and_over_goes_on_where_it_was() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let data = folder.path().join("data").display().to_string();
    let flags = ["--sub-search", "pn2", "--job-nodes", "3000", "--knowledge", "false"];
    let args = [&["connect4:5x5", "--data", &data][..], &flags].concat();
    let (mut coordinator, url) = serve_at("127.0.0.1:0", &args);
    let address = url.trim_start_matches("http://").to_owned();
    let workers = [worker(&url, "one"), worker(&url, "two")];
    let mut durable = 0;
    for _ in 0..4 {
        let before = until(&url, |status| number(status, "durable_records") > durable + 20);
        coordinator.kill();
        let (again, _) = serve_at(&address, &args);
        coordinator = again;
        let after = status(&url);
        // What was durable counts, whatever else was under way.
        assert!(number(&after, "records") >= number(&before, "durable_records"));
        assert!(number(&after, "tree_nodes") > 1, "{after}");
        durable = number(&after, "records");
    }
    let ended = coordinator.end(LIMIT);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(ended.json()["value"], "draw");
    assert!(ended.stderr.contains("going on with the solve"), "{ended:?}");
    for worker in workers {
        let ended = worker.end(LIMIT);
        assert_eq!(ended.code, Some(0), "{ended:?}");
        assert!(ended.stderr.contains("connected again"), "{ended:?}");
    }
    // The journal of a solve that is over tells the answer at once.
    let ended = run(jlpns(["serve", "--listen", "127.0.0.1:0"]).args(&args), LIMIT);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.stdout.contains("the value is draw"), "{ended:?}");
}

#[test]
fn a_journal_of_another_solve_is_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let data = folder.path().display().to_string();
    let begun = run(&mut jlpns(["solve", "connect4:4x4", "--data", &data]), LIMIT);
    assert_eq!(begun.code, Some(0), "{begun:?}");
    for (args, words) in [
        (&["connect4:5x4"][..], "connect4:4x4"),
        (&["connect4:4x4", "--goal", ">=draw"], "goal"),
        (&["connect4:4x4", "--moves", "1"], "moves"),
    ] {
        let other = run(jlpns(["solve", "--data", &data]).args(args), LIMIT);
        assert_eq!(other.code, Some(2), "{other:?}");
        assert!(other.stderr.contains("is the journal of another solve"), "{other:?}");
        assert!(other.stderr.contains(words), "{other:?}");
    }
}

#[test]
fn ctrl_c_saves_the_solve_and_says_how_to_go_on() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let data = folder.path().display().to_string();
    // Without knowledge it takes long enough.
    let args = ["solve", "connect4:6x5", "--knowledge", "false", "--data", &data];
    let args = [&args[..], &["--output", "json"]].concat();
    let running = Running::start(&mut jlpns(&args));
    running.wait_for(LIMIT, |line| line.contains("jobs done").then_some(()));
    assert!(send(running.id(), Signal::INT));
    let stopped = running.end(LIMIT);
    assert_eq!(stopped.code, Some(3), "{stopped:?}");
    assert!(stopped.stderr.contains("the same command goes on from there"), "{stopped:?}");
    assert!(stopped.stderr.contains(&data), "{stopped:?}");
    let ended = run(&mut jlpns(&args), LIMIT);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.stderr.contains("going on with the solve"), "{ended:?}");
    assert_eq!(ended.json()["value"], "draw");
    assert!(number(&ended.json(), "jobs") > number(&stopped.json(), "jobs"));
}

/// `timeout` sends its signal to the process and to its group.
#[test]
fn a_signal_that_comes_twice_at_once_is_one() {
    for (signal, args) in [
        (Signal::TERM, &["solve", "connect4:8x7"][..]),
        (Signal::TERM, &["search", "connect4:8x7"]),
        (Signal::INT, &["search", "connect4:8x7"]),
    ] {
        let running = Running::start(&mut jlpns(args));
        running.wait_for(LIMIT, |line| line.contains("nodes/s").then_some(()));
        assert!(send(running.id(), signal));
        assert!(send(running.id(), signal));
        let ended = running.end(LIMIT);
        assert_eq!(ended.code, Some(3), "{args:?}: {ended:?}");
        assert!(ended.stdout.contains("unsolved"), "{args:?}: {ended:?}");
    }
}

#[test]
fn without_a_journal_the_first_ctrl_c_only_warns() {
    let running = Running::start(&mut jlpns(["solve", "connect4:8x7"]));
    let jobs = |line: &str| line.contains("jobs done").then_some(());
    running.wait_for(LIMIT, jobs);
    assert!(send(running.id(), Signal::INT));
    running.wait_for(LIMIT, |line| line.contains("would be lost").then_some(()));
    // It goes on.
    running.wait_for(LIMIT, jobs);
    assert!(send(running.id(), Signal::INT));
    let ended = running.end(LIMIT);
    assert_eq!(ended.code, Some(3), "{ended:?}");
    assert!(ended.stdout.contains("unsolved"), "{ended:?}");
}

#[test]
fn a_second_signal_ends_a_run_whose_output_nobody_reads() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("positions");
    // More lines than a pipe holds.
    std::fs::write(&file, "121212\n".repeat(5000)).expect("it is written");
    let args =
        ["search", "connect4:4x4", "--positions", &file.display().to_string(), "--output", "json"];
    let mut child = jlpns(args).spawn().expect("it starts");
    // A line tells that it listens for signals; the others stay in the pipe.
    let mut output = child.stdout.take().expect("its output is piped");
    output.read_exact(&mut [0]).expect("it writes");
    let end = std::time::Instant::now() + LIMIT;
    let status = loop {
        // Signals within a second are one, so it takes several.
        send(child.id(), Signal::INT);
        if let Some(status) = child.wait_timeout(LIMIT / 600).expect("it can be waited for") {
            break status;
        }
        assert!(std::time::Instant::now() < end, "it goes on for ever");
    };
    assert_eq!(status.code(), Some(3), "{status}");
}
