//! Workers that are started, left alone, replaced, drained and removed.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use jlpns_tests::cluster::{LIMIT, serve};
use jlpns_tests::lab::{Lab, below};
use jlpns_tests::{jlpns_worker, run};

use crate::{TOKEN, another_build, coordinator, is_alive, mode, pid, start, started_as, stat};

#[test]
fn a_worker_is_started_left_alone_replaced_and_removed() {
    let lab = Lab::new();
    let hosts = lab.hosts(&["node1"]);
    let (coordinator, _, flags) = coordinator(&lab);
    let flags = start(&hosts, &flags, &[]);

    let started = lab.reported("start", &flags, 0);
    assert_eq!((&started[0]["state"], &started[0]["connected"]), (&"started".into(), &true.into()));
    assert_eq!((&started[0]["slots"], &started[0]["under"]), (&1.into(), &"detached".into()));
    let first = pid(&started[0]);
    let folder = lab.worker_folder("node1");
    let files = below(&folder);
    let expected = [
        "credentials",
        "credentials/token",
        "jlpns-worker",
        "launched",
        "lock",
        "made",
        "run",
        "worker.log",
        "worker.pid",
    ];
    assert_eq!(files, expected);
    assert_eq!(fs::read_to_string(folder.join("credentials/token")).expect("the token"), TOKEN);
    for (file, expected) in [
        ("", 0o700),
        ("credentials", 0o700),
        ("credentials/token", 0o600),
        ("launched", 0o600),
        ("worker.log", 0o600),
    ] {
        assert_eq!(mode(folder.join(file)), expected, "{file}");
    }
    let words = lab.processes().into_iter().map(|process| process.words).collect::<Vec<_>>();
    assert!(!words.is_empty() && !words.iter().any(|words| words.contains(TOKEN)), "{words:?}");

    let again = lab.reported("start", &flags, 0);
    assert_eq!((&again[0]["state"], pid(&again[0])), (&"left alone".into(), first));
    let status = lab.reported("status", &["--hosts", &hosts], 0);
    assert_eq!((&status[0]["state"], pid(&status[0])), (&"running".into(), first));
    for key in ["build", "since", "slots", "version", "under"] {
        assert_eq!(status[0][key], started[0][key], "{key}");
    }

    let build = another_build(&lab);
    let with_build = [&flags[..2], &["--worker-binary", &build], &flags[2..]].concat();
    let replaced = lab.reported("start", &with_build, 0);
    assert_eq!(
        (&replaced[0]["state"], &replaced[0]["connected"]),
        (&"replaced".into(), &true.into())
    );
    assert_ne!(replaced[0]["build"], started[0]["build"]);
    let second = pid(&replaced[0]);
    assert!(!is_alive(first) && is_alive(second));
    let log = fs::read_to_string(folder.join("worker.log")).expect("a log");
    assert!(log.contains("draining:") && !log.contains(TOKEN), "{log}");

    let with_flags = [&with_build[..], &["--name=left"]].concat();
    let mut launch = lab.launch("start", &with_flags);
    let replaced = run(&mut launch, LIMIT);
    assert_eq!(
        (replaced.code, &replaced.json()["hosts"][0]["state"]),
        (Some(0), &"replaced".into()),
        "{replaced:?}"
    );
    assert!(!replaced.stderr.contains("copying the worker"), "it is there: {replaced:?}");
    let third = pid(&replaced.json()["hosts"][0]);
    assert!(!is_alive(second) && is_alive(third));

    let logs = lab.reported("logs", &["--hosts", &hosts, "-n", "2"], 0);
    let lines = logs[0]["log"].as_array().expect("lines");
    assert_eq!(lines.len(), 2, "{logs:?}");
    assert!(
        lines.iter().any(|line| line.as_str().is_some_and(|line| line.contains("connected"))),
        "{lines:?}"
    );

    let drained = lab.reported("drain", &["--hosts", &hosts], 0);
    assert_eq!((&drained[0]["state"], pid(&drained[0])), (&"drained".into(), third));
    assert!(!is_alive(third) && folder.join("jlpns-worker").exists());
    let status = lab.reported("status", &["--hosts", &hosts], 0);
    assert_eq!((&status[0]["state"], status[0].get("pid")), (&"not running".into(), None));

    let mut launch = lab.launch("start", &with_flags);
    let back = run(&mut launch, LIMIT);
    assert_eq!(
        (back.code, &back.json()["hosts"][0]["state"]),
        (Some(0), &"started".into()),
        "{back:?}"
    );
    assert!(!back.stderr.contains("copying the worker"), "it is there: {back:?}");

    let stopped = lab.reported("stop", &["--hosts", &hosts], 0);
    assert_eq!(stopped[0]["state"], "stopped");
    assert_eq!(below(&lab.home("node1")), [""; 0]);
    assert!(lab.processes().is_empty(), "{:?}", lab.processes());
    let again = lab.reported("stop", &["--hosts", &hosts], 0);
    assert_eq!(again[0]["state"], "not running");
    drop(coordinator);
}

#[test]
fn a_worker_steps_back_behind_others_if_nothing_else_is_said() {
    let lab = Lab::new();
    let hosts = lab.hosts(&["node1"]);
    let (_coordinator, _, flags) = coordinator(&lab);
    // Its nice value, and its class: 5 is the idle one.
    let scheduled = |pid| (stat(pid, 19), stat(pid, 41));
    let idle = pid(&lab.reported("start", &started_as(&hosts, &flags, &[]), 0)[0]);
    assert_eq!(scheduled(idle), ("19".to_owned(), "5".to_owned()));
    let other = pid(&lab.reported("start", &start(&hosts, &flags, &[]), 0)[0]);
    assert!(!is_alive(idle));
    assert_eq!(scheduled(other), scheduled(std::process::id()));
}

#[test]
fn the_program_and_the_log_can_be_kept() {
    let lab = Lab::new();
    let hosts = lab.hosts(&["node1"]);
    let (_coordinator, _, flags) = coordinator(&lab);
    lab.reported("start", &start(&hosts, &flags, &[]), 0);
    lab.reported("stop", &["--hosts", &hosts, "--keep"], 0);
    assert_eq!(below(&lab.worker_folder("node1")), ["jlpns-worker", "lock", "made", "worker.log"]);
    lab.reported("stop", &["--hosts", &hosts], 0);
    assert_eq!(below(&lab.home("node1")), [""; 0]);
}

#[test]
fn a_worker_that_comes_when_the_solve_is_over_has_not_failed() {
    let lab = Lab::new();
    let hosts = lab.hosts(&["node1"]);
    let token = lab.write("token", TOKEN);
    fs::set_permissions(&token, fs::Permissions::from_mode(0o600)).expect("its mode is set");
    let args = ["connect4:4x4", "--token-file", &token, "--linger", "604800"];
    let (_coordinator, url) = serve(&args);
    let flags = ["--coordinator", &url, "--token-file", &token].map(str::to_owned);
    let first = run(&mut jlpns_worker(&flags), LIMIT);
    assert_eq!(first.code, Some(0), "{first:?}");
    let late = lab.reported("start", &start(&hosts, &flags, &[]), 0);
    assert_eq!(late[0]["state"], "over", "{late:?}");
    assert_eq!(below(&lab.worker_folder("node1")), ["lock", "made", "worker.log"]);
    lab.reported("stop", &["--hosts", &hosts], 0);
    assert_eq!(below(&lab.home("node1")), [""; 0]);
}

#[test]
fn a_worker_that_only_systemd_may_start_is_not_started_without_it_and_leaves_nothing() {
    let lab = Lab::new();
    let hosts = lab.hosts(&["node1"]);
    let (_coordinator, _, flags) = coordinator(&lab);
    let failed = lab.reported("start", &start(&hosts, &flags, &["--systemd", "always"]), 1);
    assert_eq!(failed[0]["error"]["cause"], "no-systemd", "{failed:?}");
    assert_eq!(below(&lab.home("node1")), [""; 0]);
    assert!(lab.processes().is_empty(), "{:?}", lab.processes());
}
