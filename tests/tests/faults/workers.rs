//! Workers that stand still, get no further, die of a job, or lie.

use std::time::Duration;

use jlpns_proto::v1;
use jlpns_tests::cluster::{LIMIT, worker};
use jlpns_tests::faults::audit::audit;
use jlpns_tests::faults::impostor::{Heard, Impostor, lie};
use jlpns_tests::faults::liar::Liar;
use jlpns_tests::faults::signals::Signal;
use jlpns_tests::faults::stage::{Stage, hears};
use jlpns_tests::faults::watch::{soon, within};

/// A solve of some seconds.
const SMALL: &str = "connect4:5x4";
/// How long an impostor listens at a time.
const LISTEN: Duration = Duration::from_millis(50);

#[test]
#[ignore = "it breaks real processes, and takes long"]
fn a_worker_that_stands_still_loses_its_lease_and_comes_back() {
    let directory = tempfile::tempdir().expect("a directory");
    let args = [
        "--job-nodes",
        "100000",
        "--sub-search",
        "pn2",
        "--knowledge",
        "false",
        "--lease",
        "0.5",
        "--confirm",
        "none",
    ];
    let mut stage = Stage::open("connect4:5x5", &directory.path().join("journal"), &args);
    let only = worker(&stage.url(), "only");
    stage.watch().until("work has begun", |status| status.jobs > 3);
    // It may have stood between two jobs: then it has no lease to lose.
    let expired = soon("a lease expires", || {
        let before = stage.watch().status()?.leases_expired;
        assert!(only.freeze(), "the worker goes on");
        let expired = within(Duration::from_secs(3), || {
            stage.watch().status().map(|now| now.leases_expired).filter(|&now| now > before)
        });
        only.thaw();
        expired
    });
    let jobs = stage.watch().status().map_or(0, |status| status.jobs);
    println!("{expired} leases expired at job {jobs}");
    stage.watch().until("it works again", |status| status.jobs > jobs + 3);
    assert_eq!(stage.result()["value"], "draw");
    assert_eq!(only.end(LIMIT).code, Some(0));
    audit(stage.data(), "connect4:5x5");
}

#[test]
#[ignore = "it breaks real processes, and takes long"]
fn a_search_that_gets_no_further_is_given_to_another_worker() {
    let directory = tempfile::tempdir().expect("a directory");
    let args = [
        "--job-nodes",
        "2000",
        "--sub-search",
        "pn2",
        "--knowledge",
        "false",
        "--lease",
        "2",
        "--stall",
        "1",
    ];
    let mut stage = Stage::open(SMALL, &directory.path().join("journal"), &args);
    let mut stuck = Impostor::join(&stage.url(), "stuck", 1).expect("a welcome");
    let mut held = Vec::new();
    // It is alive, as its heartbeats say, and finds nothing.
    soon("the lease of a stuck search is taken back", || {
        if let Heard::Batch(batch) = stuck.hear(LISTEN) {
            held.extend(batch.leases.into_iter().map(|lease| lease.lease_id));
        }
        stuck.say(v1::WorkerBatch { renewals: held.clone(), ..Default::default() });
        stage.watch().status().filter(|status| status.leases_stalled == 1)
    });
    assert_eq!(held.len(), 1, "a slot that is stuck gets no other lease");
    hears(stage.coordinator(), "the search of worker 'stuck' at '' gets no further");
    let honest = worker(&stage.url(), "honest");
    assert_eq!(stage.result()["value"], "draw");
    drop((stuck, honest));
}

#[test]
#[ignore = "it breaks real processes, and takes long"]
fn a_job_that_kills_its_workers_is_split() {
    let directory = tempfile::tempdir().expect("a directory");
    let args =
        ["--job-nodes", "2000", "--sub-search", "pn2", "--knowledge", "false", "--confirm", "none"];
    let mut stage = Stage::open(SMALL, &directory.path().join("journal"), &args);
    for instance in 1..=3 {
        let name = format!("victim-{instance}");
        let mut victim = Impostor::join(&stage.url(), &name, instance).expect("a welcome");
        soon("a victim gets the job", || match victim.hear(LISTEN) {
            Heard::Batch(batch) => (!batch.leases.is_empty()).then_some(()),
            Heard::Nothing => None,
            other => panic!("{other:?} instead of a job"),
        });
        drop(victim);
        stage.watch().until("it is gone", |status| status.leases_expired == instance);
    }
    hears(stage.coordinator(), "was lost 3 times; its position is expanded");
    // What was split stays split, even if the coordinator dies too.
    println!("{}", stage.kill_and_resume().expect("the solve is not over"));
    let honest = worker(&stage.url(), "honest");
    assert_eq!(stage.result()["value"], "draw");
    drop(honest);
    audit(stage.data(), SMALL);
}

#[test]
#[ignore = "it breaks real processes, and takes long"]
fn a_liar_is_found_out_and_does_not_come_back() {
    let directory = tempfile::tempdir().expect("a directory");
    let args =
        ["--job-nodes", "2000", "--sub-search", "pn2", "--knowledge", "false", "--sample", "1"];
    let args = [&args[..], &["--await-workers", "4"]].concat();
    let mut stage = Stage::open(SMALL, &directory.path().join("journal"), &args);
    let mut stream = Impostor::join(&stage.url(), "liar", 1).expect("a welcome");
    let honest = ["one", "two", "three"].map(|name| worker(&stage.url(), name));
    let mut liar = Liar::new(SMALL);
    let dismissed = soon("the liar is dismissed", || match stream.hear(LISTEN) {
        Heard::Batch(batch) => {
            let reports = batch.leases.into_iter().map(|lease| liar.report(lease)).collect();
            stream.say(v1::WorkerBatch { reports, ..Default::default() });
            None
        }
        Heard::Nothing => None,
        Heard::Over(answer) => panic!("nobody noticed {} lies: {answer}", liar.lies),
        Heard::End(status) => Some(status),
    });
    let told = dismissed.expect("it is told why").message().to_owned();
    println!("after {} lies: {told}", liar.lies);
    assert!(told.contains("liar") && liar.lies > 0, "{told}");
    drop(honest);
    // The next coordinator knows it too.
    println!("{}", stage.kill_and_resume().expect("the solve is not over"));
    let refused = Impostor::join(&stage.url(), "liar", 2).expect_err("it is known");
    println!("{refused}");
    let honest = ["one", "two", "three", "four"].map(|name| worker(&stage.url(), name));
    assert_eq!(stage.result()["value"], "draw");
    drop(honest);
    assert_eq!(audit(stage.data(), SMALL).quarantined, ["liar"]);
}

/// The budget of a recheck is set by what the claim took, by the liar's own word, and here that is
/// next to nothing: the recheck ends at it, and comes again with more until the claim is decided.
#[test]
#[ignore = "it breaks real processes, and takes long"]
fn a_lie_that_is_too_large_to_be_searched_again_is_not_believed() {
    let directory = tempfile::tempdir().expect("a directory");
    let args =
        ["--job-nodes", "2000", "--sub-search", "pn2", "--knowledge", "false", "--sample", "1"];
    let args = [&args[..], &["--await-workers", "4"]].concat();
    let mut stage = Stage::open(SMALL, &directory.path().join("journal"), &args);
    let mut stream = Impostor::join(&stage.url(), "liar", 1).expect("a welcome");
    let honest = ["one", "two", "three"].map(|name| worker(&stage.url(), name));
    soon("all is over for the liar", || match stream.hear(LISTEN) {
        Heard::Batch(batch) => {
            let reports = batch.leases.iter().map(lie).collect();
            stream.say(v1::WorkerBatch { reports, ..Default::default() });
            None
        }
        Heard::Nothing => None,
        Heard::Over(_) | Heard::End(_) => Some(()),
    });
    assert_eq!(stage.result()["value"], "draw");
    drop(honest);
}

#[test]
#[ignore = "it breaks real processes, and takes long"]
fn workers_that_come_and_go_all_the_time_do_no_harm() {
    let directory = tempfile::tempdir().expect("a directory");
    let args = [
        "--job-nodes",
        "20000",
        "--sub-search",
        "pn2",
        "--knowledge",
        "false",
        "--confirm",
        "none",
    ];
    let mut stage = Stage::open("woodpush:11", &directory.path().join("journal"), &args);
    let steady = worker(&stage.url(), "steady");
    let mut killed = 0;
    while !stage.is_over() && killed < 20 {
        let comer = worker(&stage.url(), "comer");
        let there = |status: &v1::SolveStatus| status.workers.iter().any(|w| w.name == "comer");
        soon("it joins, or all is over", || {
            (stage.is_over() || stage.watch().status().is_some_and(|s| there(&s))).then_some(())
        });
        comer.signal(Signal::KILL);
        killed += usize::from(comer.end(LIMIT).signal == Some(9));
    }
    println!("{killed} workers killed");
    assert!(killed > 0);
    assert_eq!(stage.result()["value"], "-1");
    assert_eq!(steady.end(LIMIT).code, Some(0));
    audit(stage.data(), "woodpush:11");
}
