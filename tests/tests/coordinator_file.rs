//! A coordinator that moves, and workers that find it through a file or a list of addresses.

use std::fs;
use std::path::Path;
use std::time::Duration;

use jlpns_tests::cluster::{LIMIT, path, serve, serve_at, until, worker};
use jlpns_tests::faults::signals::{Signal, send};
use jlpns_tests::{Ended, Running, jlpns, jlpns_worker, run};

/// A worker that finds its coordinator through a file.
fn worker_by_file(file: &str, name: &str, more: &[&str]) -> Running {
    let args = ["--coordinator-file", file, "--name", name, "--slots", "1", "--memory", "64MiB"];
    Running::start(&mut jlpns_worker([&args, more].concat()))
}

fn line(running: &Running, words: &str) -> String {
    running.wait_for(LIMIT, |line| line.contains(words).then(|| line.to_owned()))
}

/// Another address, where nobody listens.
fn elsewhere(url: &str) -> String {
    let (_, port) = url.rsplit_once(':').expect("a port");
    format!("127.0.0.2:{port}")
}

/// Its end, which must be a good one.
fn good_end(running: Running) -> Ended {
    let ended = running.end(LIMIT);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    ended
}

#[test]
fn a_coordinator_that_is_killed_and_comes_back_elsewhere_gets_what_its_worker_holds() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (data, file) = (path(folder.path(), "data"), path(folder.path(), "url"));
    let flags = ["--sub-search", "pn2", "--job-nodes", "3000", "--knowledge", "false"];
    let keeping = ["connect4:4x6", "--confirm", "none", "--data", &data, "--listen-file", &file];
    let args = [&keeping[..], &flags].concat();
    // The worker is there first.
    let worker = worker_by_file(&file, "wanderer", &["--give-up-after", "10m"]);
    line(&worker, "is not there; the coordinator writes it when it listens; trying again");
    let (mut first, first_url) = serve(&args);
    line(&worker, "connected: solving");
    until(&first_url, |status| status["jobs"].as_u64() >= Some(5));
    assert_eq!(fs::read_to_string(&file).expect("a file"), format!("{first_url}\n"));
    first.kill();
    // Whoever is killed leaves its file.
    assert!(Path::new(&file).exists());
    line(&worker, "trying again");
    let (second, _) = serve_at(&elsewhere(&first_url), &args);
    line(&worker, "connected again");
    let status = ["status", "--coordinator-file", &file, "--output", "json"];
    // It may be over before it is asked.
    let asked = run(&mut jlpns(status), LIMIT);
    assert!(asked.code == Some(1) || asked.json()["jobs"].as_u64() >= Some(5), "{asked:?}");
    let ended = good_end(second);
    assert_eq!(ended.json()["value"], "draw");
    let ended = good_end(worker);
    assert!(ended.stderr.contains("the solve is over: the value is draw"), "{ended:?}");
    assert!(!Path::new(&file).exists(), "it is taken away at the end");
}

#[test]
fn a_file_is_there_as_long_as_its_coordinator_and_says_what_is_advertised() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = path(folder.path(), "url");
    let args = ["connect4:8x7", "--listen-file", &file];
    let advertise = [&args[..], &["--advertise", "localhost"]].concat();
    let (coordinator, url) = serve(&advertise);
    let (_, port) = url.rsplit_once(':').expect("a port");
    assert_eq!(fs::read_to_string(&file).expect("a file"), format!("http://localhost:{port}\n"));
    let health = run(&mut jlpns(["health", "--coordinator-file", &file]), LIMIT);
    assert_eq!(health.code, Some(0), "{health:?}");
    assert!(send(coordinator.id(), Signal::TERM));
    assert_eq!(coordinator.end(LIMIT).code, Some(3));
    assert!(!Path::new(&file).exists());
    let health = run(&mut jlpns(["health", "--coordinator-file", &file]), LIMIT);
    assert_eq!(health.code, Some(1), "{health:?}");
    assert!(health.stderr.contains("is not there"), "{health:?}");
    // Everywhere is no place to connect to.
    let (coordinator, _) = serve_at("0.0.0.0:0", &[&args[..], &["--insecure"]].concat());
    let told = fs::read_to_string(&file).expect("a file");
    assert!(told.starts_with("http://") && !told.contains("0.0.0.0"), "{told}");
    drop(coordinator);
}

#[test]
fn a_coordinator_that_may_not_have_the_journal_leaves_the_file_alone() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (data, file) = (path(folder.path(), "data"), path(folder.path(), "url"));
    let args = ["connect4:8x7", "--data", &data, "--listen-file", &file];
    let (_first, url) = serve(&args);
    let second = run(jlpns(["serve", "--listen", "127.0.0.1:0"]).args(args), LIMIT);
    assert_ne!(second.code, Some(0), "{second:?}");
    assert_eq!(fs::read_to_string(&file).expect("a file"), format!("{url}\n"));
}

#[test]
fn a_file_that_is_wrong_is_told_of_and_tried_again() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = path(folder.path(), "url");
    fs::write(&file, "").expect("written");
    let worker = worker_by_file(&file, "patient", &[]);
    line(&worker, "is empty; it should hold a line such as http://HOST:PORT; trying again");
    fs::write(&file, "http://127.0.0.1:1").expect("written");
    line(&worker, "is half-written: its line does not end; trying again");
    fs::write(&file, "seven\n").expect("written");
    line(&worker, "'seven' is no coordinator address");
    let (coordinator, _) = serve(&["connect4:4x4", "--confirm", "none", "--listen-file", &file]);
    good_end(worker);
    good_end(coordinator);
}

#[test]
fn a_worker_gives_up_on_a_file_that_does_not_come() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let worker = worker_by_file(&path(folder.path(), "url"), "hasty", &["--give-up-after", "1s"]);
    let ended = worker.end(LIMIT);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.stderr.contains("for 1s, so this worker gives up"), "{ended:?}");
    assert!(ended.stderr.contains("is not there"), "{ended:?}");
}

#[test]
fn of_several_addresses_the_one_that_answers_is_found() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let data = path(folder.path(), "data");
    let flags = ["--sub-search", "pn2", "--job-nodes", "3000", "--knowledge", "false"];
    let args = [&["connect4:4x6", "--confirm", "none", "--data", &data][..], &flags].concat();
    let (mut first, first_url) = serve(&args);
    let second_address = elsewhere(&first_url);
    let urls = format!("http://127.0.0.1:1,{first_url},http://{second_address}");
    let worker = worker(&urls, "wanderer");
    until(&urls, |status| status["jobs"].as_u64() >= Some(5));
    first.kill();
    line(&worker, "none of 3 addresses answers: ");
    let (second, _) = serve_at(&second_address, &args);
    assert_eq!(good_end(second).json()["value"], "draw");
    let ended = good_end(worker);
    assert!(ended.stderr.contains("connected again"), "{ended:?}");
}

#[test]
fn where_a_coordinator_is_can_be_said_in_one_way_only() {
    let both = ["--coordinator", "http://127.0.0.1:1", "--coordinator-file", "url"];
    let limit = Duration::from_secs(30);
    for (command, words) in [
        (&mut jlpns_worker(both), "cannot be used with"),
        (&mut jlpns_worker(["--slots", "1"]), "--coordinator"),
        (
            &mut jlpns_worker(["--coordinator", "http://127.0.0.1:1,,http://127.0.0.1:2"]),
            "'' is no",
        ),
        (&mut jlpns_worker(["--coordinator", "http://no-such-host.invalid:1"]), "no host"),
        (&mut jlpns(["status"]), "--coordinator-file"),
        (&mut jlpns_worker(["systemd"]), "--coordinator-file"),
        (&mut jlpns(["serve", "connect4:4x4", "--advertise", "here"]), "--listen-file"),
        (
            &mut jlpns(["serve", "connect4:4x4", "--listen-file", "f", "--advertise", "a:b"]),
            "solver.lab.example",
        ),
    ] {
        let ended = run(command, limit);
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(ended.stderr.contains(words), "'{words}' is not in {ended:?}");
    }
    let nowhere =
        ["serve", "connect4:4x4", "--listen", "127.0.0.1:0", "--listen-file", "/no/such/url"];
    let ended = run(&mut jlpns(nowhere), limit);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.stderr.contains("cannot write the file /no/such/url"), "{ended:?}");
}
