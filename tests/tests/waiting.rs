//! Who waits for whom, and for how long: workers for a coordinator that is gone, was stopped or has ended, and a
//! coordinator for workers that come late.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;

use jlpns_tests::cluster::{LIMIT, path, serve, serve_at, status, until, worker, worker_with};
use jlpns_tests::faults::signals::{Signal, send};
use jlpns_tests::{Running, bare, command, jlpns, jlpns_worker, run};

/// A solve that takes long, with a worker that has reported something.
fn at_work(args: &[&str]) -> (Running, String, Running) {
    let flags = ["connect4:8x7", "--job-nodes", "2000"];
    let (coordinator, url) = serve(&[&flags, args].concat());
    let worker = worker(&url, "patient");
    until(&url, |status| status["jobs"].as_u64() >= Some(3));
    (coordinator, url, worker)
}

#[test]
fn a_worker_gives_up_on_a_coordinator_that_nobody_hears_of() {
    let (mut coordinator, _, worker) = at_work(&[]);
    coordinator.kill();
    worker.wait_for(LIMIT, |line| line.contains("trying again").then_some(()));
    drop(worker);
    let args = ["--coordinator", "http://127.0.0.1:1", "--give-up-after", "1s"];
    let ended = run(&mut jlpns_worker(args), LIMIT);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let sentence = "nothing was heard of the coordinator for 1s, so this worker gives up";
    assert!(ended.stderr.contains(sentence), "{ended:?}");
    let mut command = jlpns_worker(["--coordinator", "http://127.0.0.1:1"]);
    let ended = run(command.env("JLPNS_GIVE_UP_AFTER", "2"), LIMIT);
    assert!(ended.stderr.contains("for 2s, so this worker gives up"), "{ended:?}");
}

#[test]
fn a_worker_gives_up_on_a_solve_that_was_not_kept_and_has_lost_its_coordinator() {
    let (mut coordinator, url) = serve(&["connect4:8x7", "--job-nodes", "2000"]);
    let worker = worker_with(&url, "patient", &["--give-up-after", "1s"]);
    until(&url, |status| status["jobs"].as_u64() >= Some(3));
    coordinator.kill();
    let ended = worker.end(LIMIT);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.stderr.contains("so this worker gives up"), "{ended:?}");
}

#[test]
fn a_coordinator_that_is_stopped_and_keeps_nothing_lets_its_workers_go() {
    let (coordinator, _, worker) = at_work(&[]);
    assert!(send(coordinator.id(), Signal::TERM));
    assert_eq!(coordinator.end(LIMIT).code, Some(3));
    let ended = worker.end(LIMIT);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let sentence =
        "the solve is over: it was stopped before it was solved, and nothing of it is kept";
    assert!(ended.stderr.contains(sentence), "{ended:?}");
}

#[test]
fn a_coordinator_that_is_stopped_and_keeps_the_solve_has_its_workers_wait() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let data = path(folder.path(), "data");
    let (coordinator, url, worker) = at_work(&["--data", &data]);
    assert!(send(coordinator.id(), Signal::TERM));
    assert_eq!(coordinator.end(LIMIT).code, Some(3));
    let told =
        "the coordinator was stopped, and keeps the solve; this worker waits for it to be resumed";
    worker.wait_for(LIMIT, |line| line.contains(told).then_some(()));
    let address = url.trim_start_matches("http://");
    let args = ["connect4:8x7", "--job-nodes", "2000", "--data", &data];
    let (_coordinator, _) = serve_at(address, &args);
    worker.wait_for(LIMIT, |line| line.contains("connected again").then_some(()));
}

#[test]
fn a_solve_that_had_ended_is_told_to_workers_and_ends_with_0() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let data = path(folder.path(), "data");
    let args = ["connect4:4x4", "--data", &data];
    let solved = run(jlpns(["solve"]).args(args), LIMIT);
    assert_eq!(solved.code, Some(0), "{solved:?}");
    // On a cluster more must be confirmed, if nothing is said.
    let (coordinator, url) = serve(&[&args[..], &["--confirm", "none"]].concat());
    let workers = ["one", "two"].map(|name| worker(&url, name));
    for worker in workers {
        let ended = worker.end(LIMIT);
        assert_eq!(ended.code, Some(0), "{ended:?}");
        assert!(ended.stderr.contains("the solve is over: the value is draw"), "{ended:?}");
    }
    assert_eq!(status(&url)["value"], "draw");
    assert_eq!(run(&mut jlpns(["health", &url]), LIMIT).code, Some(0));
    // It would go by itself.
    assert!(send(coordinator.id(), Signal::TERM));
    let ended = coordinator.end(LIMIT);
    assert_eq!((ended.code, &ended.json()["value"]), (Some(0), &"draw".into()), "{ended:?}");
    assert!(ended.stderr.contains("has ended before"), "{ended:?}");
}

#[test]
fn a_coordinator_lingers_for_workers_that_come_after_the_end() {
    let (coordinator, url) = serve(&["connect4:4x4", "--linger", "604800"]);
    let first = worker(&url, "first").end(LIMIT);
    assert_eq!(first.code, Some(0), "{first:?}");
    let late = worker(&url, "late").end(LIMIT);
    assert_eq!(late.code, Some(0), "{late:?}");
    assert!(late.stderr.contains("the solve is over: the value is draw"), "{late:?}");
    // There is nothing to lose any more: the first Ctrl-C is enough.
    assert!(send(coordinator.id(), Signal::INT));
    let ended = coordinator.end(LIMIT);
    assert_eq!((ended.code, &ended.json()["value"]), (Some(0), &"draw".into()), "{ended:?}");
}

#[test]
fn solving_what_was_solved_says_so_and_nothing_of_lost_workers() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let data = path(folder.path(), "data");
    let args = ["solve", "connect4:5x4", "--knowledge", "false", "--data", &data];
    let first = run(jlpns(args).args(["--sub-search", "dfpn"]), LIMIT);
    assert!(first.stdout.contains(" jobs of dfpn by 1 worker"), "{first:?}");
    let again = run(&mut jlpns(args), LIMIT);
    assert_eq!(again.code, Some(0), "{again:?}");
    assert!(again.stdout.contains("the value is draw"), "{again:?}");
    assert!(again.stdout.contains("before this start, none since"), "{again:?}");
    assert!(again.stderr.contains("has ended before: nothing is searched again"), "{again:?}");
    assert!(!again.stderr.contains("WARN"), "{again:?}");
    // Nobody knows any more what the jobs searched with.
    let kept = run(&mut jlpns(["status", &data]), LIMIT);
    assert!(kept.stdout.contains(" jobs before this start"), "{kept:?}");
    for text in [&again.stdout, &kept.stdout] {
        assert!(!text.contains("jobs of pds"), "{text}");
    }
    assert!(!kept.stdout.contains("no worker is connected"), "{kept:?}");
}

#[test]
fn one_machine_alone_is_told_of_once() {
    let (coordinator, url) = serve(&["connect4:5x5"]);
    assert_eq!(worker(&url, "alone").end(LIMIT).code, Some(0));
    let ended = coordinator.end(LIMIT);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let told = "no second machine is at work that could confirm the answer";
    assert_eq!(ended.stderr.matches(told).count(), 1, "{ended:?}");
    assert_eq!(ended.stderr.matches("machine").count(), 2, "nothing else of it: {ended:?}");
}

#[test]
fn two_workers_of_one_name_are_told_of_once() {
    let (coordinator, url) = serve(&["connect4:8x7", "--job-nodes", "2000"]);
    let _workers = [(); 3].map(|()| worker(&url, "twin"));
    until(&url, |status| status["workers"].as_array().is_some_and(|workers| workers.len() == 3));
    assert!(send(coordinator.id(), Signal::TERM));
    let ended = coordinator.end(LIMIT);
    assert_eq!(ended.stderr.matches("two workers have the name 'twin'").count(), 1, "{ended:?}");
}

#[test]
fn leases_that_a_worker_hands_back_on_its_way_out_are_neither_told_nor_counted() {
    let (coordinator, url) = serve(&["connect4:8x7", "--job-nodes", "20000"]);
    let leaver = Running::start(&mut jlpns_worker([
        "--coordinator",
        &url,
        "--slots",
        "8",
        "--memory",
        "256MiB",
    ]));
    until(&url, |status| status["leased"].as_u64() >= Some(4));
    assert!(send(leaver.id(), Signal::TERM));
    assert_eq!(leaver.end(LIMIT).code, Some(0));
    let after = until(&url, |status| status["workers"].as_array().is_some_and(Vec::is_empty));
    assert_eq!(after["leases_expired"], 0, "{after}");
    assert!(send(coordinator.id(), Signal::TERM));
    let ended = coordinator.end(LIMIT);
    assert!(!ended.stderr.contains("declined"), "{ended:?}");
}

#[test]
fn a_coordinator_listens_at_a_name() {
    let (coordinator, url) = serve_at("localhost:0", &["connect4:4x4"]);
    let (_, port) = url.rsplit_once(':').expect("a port");
    let worker = worker(&format!("http://localhost:{port}"), "near");
    let ended = coordinator.end(LIMIT);
    assert_eq!((ended.code, &ended.json()["value"]), (Some(0), &"draw".into()), "{ended:?}");
    assert_eq!(worker.end(LIMIT).code, Some(0));
    for (bad, words) in [
        ("no-such-host.invalid:7070", "there is no such host"),
        ("localhost", "write a host and a port"),
        (":7070", "write a host and a port"),
    ] {
        let ended = run(&mut jlpns(["serve", "connect4:4x4", "--listen", bad]), LIMIT);
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(ended.stderr.contains(words), "{ended:?}");
    }
}

#[test]
fn a_token_that_only_somebody_else_may_read_is_refused_with_its_mode() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let token = path(folder.path(), "token");
    std::fs::write(&token, "correct-horse-battery").expect("a file");
    let mode = |path: &str, mode| {
        let permissions = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(path, permissions).expect("a mode");
    };
    mode(&folder.path().display().to_string(), 0o755);
    // Root may read all; who is not root may not even read this of their own.
    let is_root = std::fs::metadata("/proc/self").map(|own| own.uid() == 0).expect("a process");
    let shown = if is_root { 0o600 } else { 0o200 };
    mode(&token, shown);
    let coordinator = ["serve", "connect4:4x4", "--listen", "127.0.0.1:0", "--token-file", &token];
    let worker = ["--coordinator", "http://127.0.0.1:1", "--token-file", &token];
    for (binary, args) in [("jlpns", &coordinator[..]), ("jlpns-worker", &worker)] {
        let mut command = command(binary, args);
        // Wherever the binaries are: what runs is a copy that anybody may run.
        let copy = path(folder.path(), binary);
        std::fs::copy(command.get_program(), &copy).expect("a copy");
        let args: Vec<_> = command.get_args().map(ToOwned::to_owned).collect();
        command = bare(&copy);
        command.args(args);
        if is_root {
            command.uid(65_534);
        }
        let ended = run(&mut command, LIMIT);
        assert_eq!(ended.code, Some(2), "{ended:?}");
        let words = [&token, "cannot be read", &format!("its mode is {shown:03o}"), "chmod 644"];
        for word in words {
            assert!(ended.stderr.contains(word), "'{word}' is not in {ended:?}");
        }
    }
}
