//! Connections that hang, packets that are dropped, batches that come twice and in another order.

use std::sync::atomic::Ordering;

use jlpns_tests::cluster::{LIMIT, worker};
use jlpns_tests::faults::audit::audit;
use jlpns_tests::faults::namespace::Namespace;
use jlpns_tests::faults::plan::{Fault, Step};
use jlpns_tests::faults::proxy::{Proxy, Weather};
use jlpns_tests::faults::stage::{Stage, hears};
use jlpns_tests::faults::storm::{Outcome, Storm};
use jlpns_tests::faults::watch::soon;
use jlpns_tests::{Running, jlpns_worker};

const SPEC: &str = "connect4:5x5";
const ARGS: [&str; 8] =
    ["--job-nodes", "20000", "--sub-search", "pn2", "--knowledge", "false", "--confirm", "none"];

#[test]
#[ignore = "it breaks real processes, and takes long"]
fn a_worker_whose_connection_hangs_connects_again_under_its_name() {
    let directory = tempfile::tempdir().expect("a directory");
    let args = [&ARGS[..], &["--lease", "2"]].concat();
    let mut stage = Stage::open(SPEC, &directory.path().join("journal"), &args);
    let proxy = Proxy::start(stage.place());
    let only = worker(&format!("http://{}", proxy.address()), "only");
    stage.watch().until("work has begun", |status| status.jobs > 10);
    proxy.set(Weather::Hang);
    let hung = stage.watch().until("its lease expires", |status| status.leases_expired > 0);
    assert!(proxy.counts().stuck.load(Ordering::Relaxed) > 0);
    println!("{}", hears(&only, "connected again"));
    assert!(proxy.counts().connected.load(Ordering::Relaxed) > 1);
    let back = stage.watch().until("it works", |status| status.jobs > hung.jobs + 10);
    let names: Vec<_> = back.workers.iter().map(|worker| &*worker.name).collect();
    assert_eq!(names, ["only"], "the former connection is gone");
    assert_eq!(stage.result()["value"], "draw");
    assert_eq!(only.end(LIMIT).code, Some(0));
    audit(stage.data(), SPEC);
}

#[test]
#[ignore = "it breaks real processes, and takes long"]
fn batches_that_come_twice_and_in_another_order_are_counted_once() {
    let directory = tempfile::tempdir().expect("a directory");
    let args = [&ARGS[..], &["--lease", "2"]].concat();
    let stage = Stage::open(SPEC, &directory.path().join("journal"), &args);
    let mut storm = Storm::new(stage, None, 2, 1);
    for worker in 0..2 {
        let step = Step { after: 0, fault: Fault::Noise(worker), lasts: usize::MAX };
        let outcome = storm.inflict(step);
        println!("{outcome:?}");
        assert!(matches!(outcome, Outcome::Fired(_)), "{outcome:?}");
    }
    let status = storm.stage.watch().until("a report comes twice", |s| s.duplicates > 10);
    println!("{} duplicates in {} jobs", status.duplicates, status.jobs);
    storm.go_on(200);
    storm.calm();
    assert_eq!(storm.stage.result()["value"], "draw");
    audit(storm.stage.data(), SPEC).keeps(&storm.stage.ledger().read());
}

#[test]
#[ignore = "it breaks real processes, and takes long"]
fn packets_that_are_dropped_or_late_cost_time_only() {
    let Some(namespace) = Namespace::new(7) else {
        println!("skipped: no network namespaces with iptables and tc for this user");
        return;
    };
    let directory = tempfile::tempdir().expect("a directory");
    let args = [&ARGS[..], &["--lease", "1"]].concat();
    let mut stage = Stage::open(SPEC, &directory.path().join("journal"), &args);
    let proxy = Proxy::start_on(namespace.outside(), stage.place());
    let url = format!("http://{}", proxy.address());
    let args = ["--coordinator", &url, "--name", "inside", "--slots", "1", "--memory", "64MiB"];
    let inside = Running::start(&mut namespace.enter(&jlpns_worker(args)));
    stage.watch().until("work has begun", |status| status.jobs > 10);
    for _ in 0..3 {
        let before = stage.watch().until("an answer", |_| true);
        namespace.set_drops(true).expect("iptables has worked before");
        soon("packets are dropped", || (namespace.dropped() > 0).then_some(()));
        stage.watch().until("its lease expires", |status| {
            status.leases_expired > before.leases_expired || status.workers.is_empty()
        });
        println!("{} packets dropped", namespace.dropped());
        namespace.set_drops(false).expect("iptables has worked before");
        stage.watch().until("it works again", |status| status.jobs > before.jobs + 10);
    }
    namespace.slow(Some("64kbit")).expect("tc has worked before");
    let waited = soon("packets wait", || Some(namespace.waited()).filter(|&waited| waited > 10));
    println!("packets waited {waited} times");
    namespace.slow(None).expect("tc has worked before");
    assert_eq!(stage.result()["value"], "draw");
    drop(inside);
    audit(stage.data(), SPEC);
}
