//! Clusters of real processes: a coordinator, and workers that connect to it.

use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use crate::{Ended, Running, command, jlpns, jlpns_worker, run};

/// Far more than anything in the tests takes.
pub const LIMIT: Duration = Duration::from_secs(180);

/// The same of anything about the certificate of a small board.
pub const CERTIFICATE_LIMIT: Duration = Duration::from_secs(120);

/// Starts a coordinator on a free port; gives it back with its URL.
pub fn serve(args: &[&str]) -> (Running, String) {
    serve_at("127.0.0.1:0", args)
}

/// Starts a coordinator at an address; gives it back with its URL.
pub fn serve_at(address: &str, args: &[&str]) -> (Running, String) {
    let serve = ["serve", "--listen", address, "--output", "json"];
    let coordinator = Running::start(jlpns(serve).args(args));
    let url = coordinator.wait_for(LIMIT, |line| {
        let (_, url) = line.split_once("listening on ")?;
        Some(url.trim().to_owned())
    });
    (coordinator, url)
}

/// Starts a worker with one slot for the coordinator at `url`.
pub fn worker(url: &str, name: &str) -> Running {
    worker_with(url, name, &[])
}

/// Starts such a worker with more arguments.
pub fn worker_with(url: &str, name: &str, more: &[&str]) -> Running {
    let args = ["--coordinator", url, "--name", name, "--slots", "1", "--memory", "64MiB"];
    Running::start(&mut jlpns_worker([&args, more].concat()))
}

/// The state of the solve of the coordinator at `url`, as its command prints it.
pub fn status(url: &str) -> Value {
    let ended = run(&mut jlpns(["status", url, "--output", "json"]), LIMIT);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    ended.json()
}

/// Asks for the state until `wanted` says yes.
pub fn until(url: &str, wanted: impl Fn(&Value) -> bool) -> Value {
    loop {
        let status = status(url);
        if wanted(&status) {
            return status;
        }
    }
}

/// The path of a file in a folder, as an argument.
pub fn path(folder: &Path, name: &str) -> String {
    folder.join(name).display().to_string()
}

/// Solves with these arguments and writes the certificate to `file`, which must work.
pub fn solved_with_certificate(file: &str, args: &[&str]) -> Ended {
    let ended = run(jlpns(["solve", "--certificate", file]).args(args), CERTIFICATE_LIMIT);
    assert_eq!(ended.code, Some(0), "{args:?}: {ended:?}");
    ended
}

/// Checks a certificate with the program for it, which must find that it holds; gives what it says.
pub fn verified(file: &str) -> Value {
    let ended = run(&mut command("jlpns-verify", [file, "--output", "json"]), LIMIT);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let result = ended.json();
    assert_eq!(result["proved"], true, "{result}");
    result
}

/// Makes the certificate of the solve that is kept in `data`, and checks it; gives what the checker says.
pub fn certified(data: &str) -> Value {
    let file = format!("{data}.certificate");
    let made = run(&mut jlpns(["certify", data, "--out", &file, "--output", "json"]), LIMIT);
    assert_eq!(made.code, Some(0), "{made:?}");
    let result = verified(&file);
    assert_eq!(made.json()["sha256"], result["sha256"]);
    result
}

/// The result of a coordinator with these arguments and two workers; all must exit with 0.
pub fn solved_by_two(args: &[&str]) -> Value {
    let (coordinator, url) = serve(&[args, &["--await-workers", "2"]].concat());
    let workers = [worker(&url, "one"), worker(&url, "two")];
    let ended = coordinator.end(LIMIT);
    assert_eq!(ended.code, Some(0), "{args:?}: {ended:?}");
    for worker in workers {
        let ended = worker.end(LIMIT);
        assert_eq!(ended.code, Some(0), "{args:?}: {ended:?}");
    }
    ended.json()
}

/// The same of a coordinator that has its workers prove the answer: its certificate is checked as well. There is
/// none where the game is over before the solve begins.
pub fn proved_by_two(args: &[&str]) -> Value {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = path(folder.path(), "certificate");
    let result = solved_by_two(&[args, &["--certificate", &file]].concat());
    assert_eq!(result["claims"], result["claims_confirmed"], "{result}");
    let made = &result["certificate"];
    if !made.is_null() {
        let read = verified(&file);
        assert_eq!((&made["sha256"], &made["claim"]), (&read["sha256"], &read["claim"]));
        if let Some(value) = result["value"].as_str() {
            assert!(read["claim"].as_str().is_some_and(|claim| claim.ends_with(value)), "{read}");
        }
    }
    result
}
