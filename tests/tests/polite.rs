//! Workers on other people's machines: they pause while the machine is not idle, and end when their time is over.

use std::process::{Child, Command};

use jlpns_tests::cluster::{LIMIT, serve, until, worker_with};
use jlpns_tests::{jlpns, jlpns_worker, run};

/// Programs that take all of the processor; they end when this is dropped.
struct Others(Vec<Child>);

impl Others {
    fn start() -> Others {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let endless = || {
            Command::new("sh").args(["-c", "while :; do :; done"]).spawn().expect("a shell starts")
        };
        Others((0..8 * cores).map(|_| endless()).collect())
    }
}

impl Drop for Others {
    fn drop(&mut self) {
        for child in &mut self.0 {
            // It ends with this alone.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Whether the processor time of these tests counts as that of niced programs.
fn is_niced() -> bool {
    rustix::process::nice(0).is_ok_and(|nice| nice > 0)
}

#[test]
fn a_worker_pauses_while_other_programs_need_the_machine() {
    if is_niced() {
        eprintln!("the tests are niced, and so are the other programs: nothing can be shown");
        return;
    }
    let (_coordinator, url) = serve(&["connect4:8x7", "--job-nodes", "2000"]);
    let flags = ["--only-when-idle", "--busy-above", "90", "--idle-for", "1s"];
    let worker = worker_with(&url, "polite", &flags);
    let others = Others::start();
    let busy = "other programs take more than 90% of the machine; the machine must be idle for 1s";
    let status = until(&url, |status| status["workers"][0]["paused"] == true);
    assert_eq!(status["workers"][0]["idle_reason"], busy, "{status}");
    // It gives back what it has, and nothing counts as lost.
    let status = until(&url, |status| status["leased"] == 0);
    assert_eq!(status["leases_expired"], 0, "{status}");
    for (command, words) in [("status", "paused: "), ("workers", "paused: ")] {
        let ended = run(&mut jlpns([command, &url]), LIMIT);
        assert!(ended.stdout.contains(words), "{ended:?}");
        assert!(ended.stdout.contains("machine"), "{ended:?}");
    }
    let jobs = status["jobs"].as_u64();
    drop(others);
    until(&url, |status| status["workers"][0]["paused"] == false && status["jobs"].as_u64() > jobs);
    worker.wait_for(LIMIT, |line| line.contains("pausing: other programs").then_some(()));
    worker.wait_for(LIMIT, |line| line.contains("going on").then_some(()));
}

#[test]
fn a_worker_whose_time_is_over_drains_and_ends() {
    let (_coordinator, url) = serve(&["connect4:8x7", "--job-nodes", "2000"]);
    let soon = jiff::Zoned::now().saturating_add(jiff::Span::new().seconds(4));
    let soon = soon.strftime("%H:%M:%S").to_string();
    let worker = worker_with(&url, "until", &["--until", &soon]);
    let ended = worker.end(LIMIT);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let sentence = format!("draining: it is {soon}, the time that --until names");
    assert!(ended.stderr.contains(&sentence), "{ended:?}");
    let status = until(&url, |status| status["workers"].as_array().is_some_and(Vec::is_empty));
    assert!(status["jobs"].as_u64() > Some(0), "{status}");
    assert_eq!(status["leases_expired"], 0, "{status}");
}

#[test]
fn a_time_that_is_none_and_one_that_is_over_are_sentences() {
    for (time, words) in [
        ("7", "write a time of day, such as 07:30"),
        ("25:00", "write a time of day, such as 07:30"),
        ("2020-01-31T07:30", "2020-01-31T07:30 is over, it is "),
    ] {
        let args = ["--coordinator", "http://127.0.0.1:1", "--until", time];
        let ended = run(&mut jlpns_worker(args), LIMIT);
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(ended.stderr.contains(words), "{ended:?}");
    }
}
