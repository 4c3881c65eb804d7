//! Coordinators that die again and again, stand still, and lose their disk or parts of the journal.

use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};
use std::time::Duration;

use jlpns_tests::cluster::{LIMIT, worker};
use jlpns_tests::faults::audit::audit;
use jlpns_tests::faults::plan::{Fault, Step};
use jlpns_tests::faults::signals::Signal;
use jlpns_tests::faults::stage::{Stage, hears};
use jlpns_tests::faults::storm::{Outcome, Storm};
use jlpns_tests::faults::tmpfs::Tmpfs;

const SPEC: &str = "connect4:5x5";
const ARGS: [&str; 8] =
    ["--job-nodes", "20000", "--sub-search", "pn2", "--knowledge", "false", "--confirm", "none"];

fn step(fault: Fault) -> Step {
    Step { after: 0, fault, lasts: 0 }
}

#[test]
#[ignore = "it breaks real processes, and takes long"]
fn a_coordinator_that_is_killed_over_and_over_comes_to_the_value() {
    let directory = tempfile::tempdir().expect("a directory");
    let stage = Stage::open(SPEC, &directory.path().join("journal"), &ARGS);
    let mut storm = Storm::new(stage, None, 2, 1);
    let mut lives = 1;
    for _ in 0..25 {
        // Each life does some work.
        storm.go_on(20);
        match storm.inflict(step(Fault::KillCoordinator)) {
            Outcome::Fired(proof) => {
                lives += 1;
                println!("life {lives}: {proof}");
            }
            Outcome::Over => break,
            Outcome::Hidden => unreachable!("a coordinator can always be killed"),
        }
    }
    assert!(lives > 10, "{lives}");
    assert_eq!(storm.stage.result()["value"], "draw");
    audit(storm.stage.data(), SPEC).keeps(&storm.stage.ledger().read());
}

#[test]
#[ignore = "it breaks real processes, and takes long"]
fn a_disk_that_is_full_stops_the_work_until_there_is_room() {
    let Some(disk) = Tmpfs::mount(256 << 20) else {
        println!("skipped: this user may not mount a disk");
        return;
    };
    let mut stage = Stage::open(SPEC, &disk.path().join("journal"), &ARGS);
    let only = worker(&stage.url(), "only");
    stage.watch().until("work has begun", |status| status.jobs > 10);
    let filled = disk.fill();
    let halted = stage
        .watch()
        .until("no lease is out", |status| status.halted.is_some() && status.leased == 0);
    println!("{filled} bytes; {:?}", halted.halted);
    hears(stage.coordinator(), "no job is given out until there is room");
    assert!(halted.durable_records < Some(halted.records), "{halted:?}");
    // Even now it can be killed and started: nothing that was acknowledged is lost.
    println!("{}", stage.kill_and_resume().expect("the solve is not over"));
    let resumed = stage.watch().until("an answer", |_| true);
    assert!(resumed.durable_records >= halted.durable_records, "{halted:?} {resumed:?}");
    disk.clear();
    // A worker that was told the port of the former coordinator does not find this one.
    drop(only);
    let other = worker(&stage.url(), "other");
    stage.watch().until("work goes on", |status| {
        status.halted.is_none() && status.durable_records > resumed.durable_records
    });
    assert_eq!(stage.result()["value"], "draw");
    drop(other);
    audit(stage.data(), SPEC);
}

#[test]
#[ignore = "it breaks real processes, and takes long"]
fn a_coordinator_that_stands_still_for_longer_than_a_lease_goes_on() {
    let directory = tempfile::tempdir().expect("a directory");
    let args = [&ARGS[..], &["--lease", "1"]].concat();
    let mut stage = Stage::open(SPEC, &directory.path().join("journal"), &args);
    let workers = ["one", "two"].map(|name| worker(&stage.url(), name));
    stage.watch().until("work has begun", |status| status.jobs > 10);
    for _ in 0..3 {
        let before = stage.watch().until("an answer", |_| true);
        assert!(stage.coordinator().freeze());
        assert_eq!(stage.watch().status(), None, "who stands still does not answer");
        // This wait is the fault itself: longer than a lease.
        std::thread::sleep(Duration::from_millis(1_500));
        stage.coordinator().thaw();
        stage.watch().until("work goes on", |status| status.jobs > before.jobs + 10);
    }
    assert_eq!(stage.result()["value"], "draw");
    for worker in workers {
        assert_eq!(worker.end(LIMIT).code, Some(0));
    }
    audit(stage.data(), SPEC);
}

/// The segment of a journal that was begun last: what is lost with it leaves no gap.
fn newest_segment(journal: &Path) -> PathBuf {
    let files =
        fs::read_dir(journal).expect("a journal").map(|entry| entry.expect("a file").path());
    let segments = files.filter(|file| file.extension().is_some_and(|kind| kind == "redb"));
    segments.max().expect("a segment")
}

#[test]
#[ignore = "it breaks real processes, and takes long"]
fn a_damaged_journal_on_a_full_disk_parks_the_solve_until_there_is_room() {
    let Some(disk) = Tmpfs::mount(256 << 20) else {
        println!("skipped: this user may not mount a disk");
        return;
    };
    let journal = disk.path().join("journal");
    let mut stage = Stage::open(SPEC, &journal, &ARGS);
    work_and_die(&mut stage);
    stage.start();
    work_and_die(&mut stage);
    let segment = newest_segment(&journal);
    let mut bytes = fs::read(&segment).expect("a segment");
    // The database cannot be opened, and its records can be found.
    bytes[..64].fill(0);
    fs::write(&segment, bytes).expect("it can be written");
    println!("{} bytes", disk.fill());
    let said = stage.start();
    println!("{said:#?}");
    assert!(said.iter().any(|line| line.contains("is damaged: recovered records")), "{said:#?}");
    let waits = "nothing is changed in the journal until there is room";
    assert!(said.iter().any(|line| line.contains(waits)), "{said:#?}");
    let only = worker(&stage.url(), "only");
    let halted = stage.watch().until("a worker that waits", |status| {
        status.halted.is_some() && status.leased == 0 && status.workers.len() == 1
    });
    assert!(halted.jobs > 100, "what could be read is there: {halted:?}");
    assert!(segment.exists(), "it is moved only once its records are elsewhere");
    disk.clear();
    stage.watch().until("work goes on", |status| {
        status.halted.is_none() && status.durable_records > halted.durable_records
    });
    assert_eq!(stage.result()["value"], "draw");
    drop(only);
    let audit = audit(&journal, SPEC);
    assert!(audit.repairs.is_empty(), "{:?}", audit.repairs);
}

/// Some hundred jobs, and a sudden end.
fn work_and_die(stage: &mut Stage) {
    let only = worker(&stage.url(), "only");
    let jobs = stage.watch().until("an answer", |_| true).jobs;
    stage.watch().until("work is done", |status| status.jobs > jobs + 100);
    assert_eq!(stage.stop(Signal::KILL).signal, Some(9));
    drop(only);
}

#[test]
#[ignore = "it breaks real processes, and takes long"]
fn a_journal_that_is_damaged_between_two_runs_is_repaired() {
    let directory = tempfile::tempdir().expect("a directory");
    let journal = directory.path().join("journal");
    let mut stage = Stage::open(SPEC, &journal, &ARGS);
    // The first run's part stays whole: without the beginning nothing is of use.
    work_and_die(&mut stage);
    stage.start();
    for (round, kept) in [Some(0.7), None, Some(0.95)].into_iter().enumerate() {
        work_and_die(&mut stage);
        let segment = newest_segment(&journal);
        let bytes = fs::read(&segment).expect("a segment");
        match kept {
            Some(share) => {
                let file = OpenOptions::new().write(true).open(&segment).expect("a segment");
                file.set_len((bytes.len() as f64 * share) as u64).expect("it can be cut");
            }
            None => {
                let mut damaged = bytes.clone();
                // Pages that are free may lie anywhere: half of them can all be free.
                damaged[bytes.len() / 8..].iter_mut().for_each(|byte| *byte ^= 0x55);
                fs::write(&segment, damaged).expect("it can be written");
            }
        }
        let said = stage.start();
        println!("round {round}: {said:#?}");
        assert!(said.iter().any(|line| line.contains("WARN")), "the damage is told: {said:#?}");
        // What only lacks its end is used as it is.
        if said.iter().any(|line| line.contains("is damaged")) {
            assert!(segment.with_extension("redb.damaged-1").exists(), "{said:#?}");
        }
    }
    let last = worker(&stage.url(), "last");
    assert_eq!(stage.result()["value"], "draw");
    drop(last);
    let audit = audit(&journal, SPEC);
    let again: Vec<_> = audit.repairs.iter().filter(|line| line.contains("is damaged")).collect();
    assert!(again.is_empty(), "damage that was repaired is found again: {again:?}");
}
