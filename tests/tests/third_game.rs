//! A game from outside the crates, in a program of its own (`tests/src/bin/noughts.rs`): one search, a
//! solve in one process, and a coordinator with workers.

use std::process::Command;

use jlpns_tests::cluster::LIMIT;
use jlpns_tests::{Running, command, jlpns, jlpns_worker, run};

const SPEC: &str = "noughts:3x3";

fn noughts(args: &[&str]) -> Command {
    command("noughts", args)
}

/// Starts a coordinator of this game; gives it back with its URL.
fn serve(args: &[&str]) -> (Running, String) {
    let serve = ["serve", SPEC, "--listen", "127.0.0.1:0", "--output", "json"];
    let coordinator = Running::start(&mut noughts(&[&serve, args].concat()));
    let url = coordinator.wait_for(LIMIT, |line| {
        let (_, url) = line.split_once("listening on ")?;
        Some(url.trim().to_owned())
    });
    (coordinator, url)
}

fn of_worker<'a>(url: &'a str, name: &'a str) -> [&'a str; 8] {
    ["--coordinator", url, "--name", name, "--slots", "1", "--memory", "64MiB"]
}

#[test]
fn one_search_and_a_solve_find_its_value() {
    for args in [
        &["search", SPEC][..],
        &["search", SPEC, "--algorithm", "gpns"],
        &["search", SPEC, "--algorithm", "pds", "--knowledge", "true"],
        &["solve", SPEC, "--slots", "2", "--job-nodes", "100"],
        &["solve", SPEC, "--slots", "2", "--sub-search", "gpns2", "--job-nodes", "100"],
    ] {
        let ended = run(&mut noughts(&[args, &["--output", "json"]].concat()), LIMIT);
        assert_eq!(ended.code, Some(0), "{args:?}: {ended:?}");
        assert_eq!(ended.json()["value"], "draw", "{args:?}");
    }
    // After 1 2 5 3 the line 1-5-9 wins.
    let args = ["solve", SPEC, "--moves", "1253", "--goal", ">=win", "--output", "json"];
    let ended = run(&mut noughts(&args), LIMIT);
    assert_eq!(ended.json()["proved"], true, "{ended:?}");
}

#[test]
fn a_cluster_finds_its_value() {
    let (coordinator, url) = serve(&["--await-workers", "2", "--job-nodes", "100"]);
    let workers = ["one", "two"]
        .map(|name| Running::start(&mut command("noughts-worker", of_worker(&url, name))));
    let ended = coordinator.end(LIMIT);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(ended.json()["value"], "draw");
    for worker in workers {
        let ended = worker.end(LIMIT);
        assert_eq!(ended.code, Some(0), "{ended:?}");
    }
}

#[test]
fn a_worker_that_does_not_know_it_says_so() {
    let (_coordinator, url) = serve(&[]);
    let ended = run(&mut jlpns_worker(of_worker(&url, "stranger")), LIMIT);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.stderr.contains("unknown game 'noughts'"), "{ended:?}");
}

#[test]
fn help_and_messages_name_the_games_of_the_program() {
    for (mut command, knows) in
        [(noughts(&["solve", "--help"]), true), (jlpns(["solve", "-h"]), false)]
    {
        let help = run(&mut command, LIMIT).stdout;
        let words: Vec<&str> = help.split_whitespace().collect();
        let help = words.join(" ");
        assert!(help.contains("connect4:COLUMNSxROWS"), "{help}");
        assert!(help.contains("such as 44435"), "{help}");
        assert_eq!(help.contains("noughts:3x3"), knows, "{help}");
    }
    let refused = run(&mut noughts(&["search", "chess:8x8"]), LIMIT);
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("woodpush:BOARD or noughts:3x3"), "{refused:?}");
    let refused = run(&mut noughts(&["search", "noughts:4x4"]), LIMIT);
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("3x3 cells only"), "{refused:?}");
}
