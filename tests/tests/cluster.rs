//! A coordinator and workers as processes of their own.

use std::process::{Command, Stdio};

use jlpns_tests::cluster::{LIMIT, proved_by_two, serve, status, until, worker};
use jlpns_tests::faults::signals::{Signal, send};
use jlpns_tests::{Running, jlpns, run};

#[test]
fn two_workers_find_the_value_with_every_sub_search() {
    for name in ["pn2", "gpns2", "gpns-pn2", "pds-pn", "pns", "gpns", "dfpn", "pds", "alpha-beta"] {
        for (spec, value) in [("connect4:5x4", "draw"), ("woodpush:10", "-2")] {
            let found = proved_by_two(&[spec, "--sub-search", name]);
            assert_eq!(found["value"], value, "{name} on {spec}: {found}");
        }
    }
}

#[test]
fn two_workers_prove_goals_after_moves() {
    let found = proved_by_two(&["connect4:5x4", "--moves", "3", "--goal", ">=draw"]);
    assert_eq!(found["proved"], true, "{found}");
    let found = proved_by_two(&["woodpush:9", "--goal", ">=1", "--init", "mobility"]);
    assert_eq!(found["proved"], false, "{found}");
}

#[test]
fn a_worker_that_is_killed_costs_time_but_not_the_value() {
    let (coordinator, url) =
        serve(&["connect4:5x5", "--job-nodes", "50000", "--knowledge", "false"]);
    let mut unlucky = worker(&url, "unlucky");
    // In the middle of a job, and with jobs behind it.
    until(&url, |status| {
        status["jobs"].as_u64() >= Some(3) && status["leased"].as_u64() >= Some(1)
    });
    unlucky.kill();
    // Its lease is taken back before anybody else is there to work.
    until(&url, |status| status["workers"].as_array().is_some_and(Vec::is_empty));
    assert_eq!(status(&url)["leased"], 0);
    let workers = [worker(&url, "one"), worker(&url, "two")];
    let ended = coordinator.end(LIMIT);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(ended.json()["value"], "draw");
    for worker in workers {
        assert_eq!(worker.end(LIMIT).code, Some(0));
    }
}

#[test]
fn a_coordinator_without_workers_says_so_and_waits_and_stops_unsolved() {
    let (coordinator, url) = serve(&["connect4:7x6"]);
    coordinator.wait_for(LIMIT, |line| line.contains("no worker is connected").then_some(()));
    assert_eq!(run(&mut jlpns(["health", &url]), LIMIT).code, Some(0));
    let status = status(&url);
    assert_eq!((&status["spec"], &status["jobs"]), (&"connect4:7x6".into(), &0.into()));
    let text = run(&mut jlpns(["status", &url]), LIMIT).stdout;
    assert!(text.contains("connect4:7x6: unsolved"), "{text}");
    assert!(text.contains("no worker is connected"), "{text}");
    assert!(send(coordinator.id(), Signal::TERM));
    let ended = coordinator.end(LIMIT);
    assert_eq!(ended.code, Some(3), "{ended:?}");
    assert!(ended.json()["value"].is_null());
    assert_eq!(run(&mut jlpns(["health", &url]), LIMIT).code, Some(1));
    assert_eq!(run(&mut jlpns(["status", &url]), LIMIT).code, Some(1));
}

#[test]
fn a_worker_that_is_terminated_reports_what_it_has() {
    let (coordinator, url) = serve(&["connect4:8x7", "--job-nodes", "1000000000"]);
    let leaver = worker(&url, "leaver");
    let before = until(&url, |status| {
        status["jobs"].as_u64() >= Some(1) && status["leased"].as_u64() >= Some(1)
    });
    // As `timeout` does it; that is one signal.
    assert!(send(leaver.id(), Signal::TERM));
    assert!(send(leaver.id(), Signal::TERM));
    let ended = leaver.end(LIMIT);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(!ended.stderr.contains("aborted"), "{ended:?}");
    let after = until(&url, |status| status["workers"].as_array().is_some_and(Vec::is_empty));
    assert!(after["jobs"].as_u64() > before["jobs"].as_u64(), "{before} {after}");
    drop(coordinator);
}

#[test]
fn a_worker_waits_for_its_coordinator() {
    // A port that was free a moment ago.
    let (first, url) = serve(&["connect4:7x6"]);
    assert!(send(first.id(), Signal::TERM));
    assert_eq!(first.end(LIMIT).code, Some(3));
    let early = worker(&url, "early");
    early.wait_for(LIMIT, |line| line.contains("trying again").then_some(()));
    let address = url.trim_start_matches("http://");
    let second = ["serve", "connect4:4x4", "--listen", address, "--output", "json"];
    let ended = run(&mut jlpns(second), LIMIT);
    assert_eq!((ended.code, &ended.json()["value"]), (Some(0), &"draw".into()), "{ended:?}");
    assert_eq!(early.end(LIMIT).code, Some(0));
}

#[test]
fn an_address_that_is_taken_is_a_failure_that_says_so() {
    let (_coordinator, url) = serve(&["connect4:7x6"]);
    let address = url.trim_start_matches("http://");
    let ended = run(&mut jlpns(["serve", "connect4:7x6", "--listen", address]), LIMIT);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.stderr.contains(&format!("cannot listen on {address}")), "{ended:?}");
}

#[test]
fn a_coordinator_makes_room_for_more_workers_than_a_shell_usually_does() {
    let serve = jlpns(["serve", "connect4:7x6", "--listen", "127.0.0.1:0"]);
    let mut low = Command::new("sh");
    low.args(["-c", "ulimit -S -n 48 && exec \"$0\" \"$@\""]).arg(serve.get_program());
    low.args(serve.get_args()).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let coordinator = Running::start(&mut low);
    coordinator.wait_for(LIMIT, |line| line.contains("listening on ").then_some(()));
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", coordinator.id()));
    let limits = limits.expect("the coordinator runs");
    let files = limits.lines().find_map(|line| line.strip_prefix("Max open files"));
    let limits: Vec<&str> = files.expect("a limit on open files").split_whitespace().collect();
    assert_eq!(limits[0], limits[1], "the soft limit is as high as the hard one");
    assert_ne!(limits[0], "48");
}

#[test]
fn workers_that_share_what_they_solve_find_the_same_value() {
    let flags = ["connect4:6x5", "--share", "--await-workers", "3", "--job-nodes", "2000"];
    let (coordinator, url) = serve(&flags);
    let workers = ["a", "b", "c"].map(|name| worker(&url, name));
    let ended = coordinator.end(LIMIT);
    let result = ended.json();
    assert_eq!((ended.code, &result["value"]), (Some(0), &"draw".into()), "{ended:?}");
    assert_eq!(result["claims"], result["claims_confirmed"], "sharing is no reason to believe");
    for worker in workers {
        assert_eq!(worker.end(LIMIT).code, Some(0));
    }
}
