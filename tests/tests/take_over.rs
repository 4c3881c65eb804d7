//! A coordinator that is frozen while another goes on with its solve: it stops when it comes to, and nothing is lost.

use jlpns_tests::cluster::{LIMIT, certified, path, serve, until, worker, worker_with};
use jlpns_tests::faults::signals::Signal;
use jlpns_tests::{jlpns, run};

#[test]
fn a_coordinator_that_was_frozen_stops_when_another_has_taken_its_journal_over() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let data = path(folder.path(), "data");
    let args = ["connect4:6x5", "--data", &data, "--job-nodes", "3000", "--confirm", "none"];
    let (frozen, old) = serve(&args);
    let behind = worker_with(&old, "behind", &["--give-up-after", "1s"]);
    until(&old, |status| status["durable_records"].as_u64() > Some(5));
    assert!(frozen.freeze());
    // Nobody gets it without asking for it.
    let refused = run(jlpns(["serve", "--listen", "127.0.0.1:0"]).args(args), LIMIT);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.stderr.contains("is in use by another process (generation 1: "), "{refused:?}");
    let (next, new) = serve(&[&args[..], &["--take-over"]].concat());
    let ahead = worker(&new, "ahead");
    until(&new, |status| status["durable_records"].as_u64() > Some(10));
    frozen.thaw();
    let stopped = frozen.end(LIMIT);
    assert_eq!(stopped.code, Some(1), "{stopped:?}");
    let sentence = "was taken over (generation 2: process ";
    assert!(stopped.stderr.contains(sentence), "{stopped:?}");
    assert!(stopped.stderr.contains("this one stops"), "{stopped:?}");
    assert!(!stopped.stdout.contains("\"value\":\""), "{stopped:?}");
    // It would wait for its own coordinator to come back.
    behind.signal(Signal::KILL);
    let ended = next.end(LIMIT);
    assert_eq!((ended.code, &ended.json()["value"]), (Some(0), &"draw".into()), "{ended:?}");
    assert_eq!(ahead.end(LIMIT).code, Some(0));
    // The journal is whole, and everything that is in it can be shown.
    assert!(certified(&data)["claim"].as_str().is_some());
}

#[test]
fn taking_over_needs_a_journal() {
    let ended = run(&mut jlpns(["serve", "connect4:4x4", "--take-over"]), LIMIT);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.stderr.contains("--data"), "{ended:?}");
}
