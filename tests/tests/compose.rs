//! The compose cluster under faults: containers that are killed, stopped and cut off, and a
//! coordinator that goes on from its volume.

use std::path::Path;

use jlpns_tests::compose::{Compose, Container, docker};
use jlpns_tests::faults::audit::audit;
use jlpns_tests::faults::watch::soon;
use serde_json::Value;

/// How many rounds of faults there are.
const ROUNDS: usize = 2;

struct Cluster {
    compose: Compose,
    coordinator: Container,
    workers: Vec<Container>,
}

impl Cluster {
    fn up() -> Cluster {
        let changes = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/compose.yaml");
        let compose = Compose::new("faults", &changes).expect("Docker answers");
        compose.run(["up", "--detach", "--no-build", "--scale", "worker=3"]);
        let coordinator = compose.containers("coordinator").pop().expect("a coordinator");
        let workers = compose.containers("worker");
        assert_eq!(workers.len(), 3);
        Cluster { compose, coordinator, workers }
    }

    /// Waits until the coordinator's state is as wanted.
    fn until(&self, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        soon(what, || {
            assert_eq!(self.coordinator.state(), "running", "{:?}", self.coordinator.log().1);
            self.coordinator.solve().filter(&wanted)
        })
    }

    /// Waits until so many workers are there, and they have done something.
    fn works(&self, workers: usize) -> Value {
        let before = self.until("it answers", |_| true);
        self.until("all are at work", |status| {
            connected(status) == workers && count(status, "jobs") > count(&before, "jobs") + 20
        })
    }
}

fn count(status: &Value, name: &str) -> u64 {
    status[name].as_u64().unwrap_or_else(|| panic!("{name} in {status}"))
}

fn connected(status: &Value) -> usize {
    status["workers"].as_array().expect("a list of workers").len()
}

#[test]
#[ignore = "it needs the image jlpns:local and a token in deploy/"]
fn a_compose_cluster_comes_through_faults() {
    let cluster = Cluster::up();
    let (coordinator, network) = (&cluster.coordinator, cluster.compose.network());
    cluster.works(3);
    for (round, worker) in (0..ROUNDS).zip(cluster.workers.iter().cycle()) {
        // A network that is cut: the coordinator misses the worker, and finds it again.
        docker(["network", "disconnect", &network, worker.id()]);
        let cut = cluster.until("a worker is missed", |status| connected(status) == 2);
        docker(["network", "connect", &network, worker.id()]);
        cluster.works(3);
        println!("round {round}: cut off at job {}", cut["jobs"]);

        // A coordinator that is killed: it goes on from the journal in its volume.
        let before = cluster.until("it answers", |_| true);
        docker(["kill", "--signal", "KILL", coordinator.id()]);
        soon("it is dead", || (coordinator.state() == "exited").then_some(()));
        assert_eq!(coordinator.exit_code(), "137");
        docker(["start", coordinator.id()]);
        let after = cluster.works(3);
        let durable = |status: &Value| count(status, "durable_records");
        assert!(durable(&after) >= durable(&before), "{before} {after}");
        println!("round {round}: killed at job {}", before["jobs"]);

        // A worker that stands still loses its lease.
        docker(["kill", "--signal", "STOP", worker.id()]);
        soon("it stands still", || (worker.process_state() == 'T').then_some(()));
        let expired = count(&cluster.until("it answers", |_| true), "leases_expired");
        cluster.until("its lease expires", |status| count(status, "leases_expired") > expired);
        docker(["kill", "--signal", "CONT", worker.id()]);
        cluster.works(3);

        // A worker that is killed.
        docker(["kill", "--signal", "KILL", worker.id()]);
        assert_eq!(worker.exit_code(), "137");
        cluster.until("it is missed", |status| connected(status) == 2);
        docker(["start", worker.id()]);
        cluster.works(3);
    }
    for worker in &cluster.workers {
        docker(["update", "--cpus", "1", worker.id()]);
    }
    soon("the game is solved", || (coordinator.state() == "exited").then_some(()));
    let (result, log) = coordinator.log();
    assert_eq!(coordinator.exit_code(), "0", "{log}");
    assert_eq!(log.matches("going on with the solve in").count(), ROUNDS, "{log}");
    let result: Value = serde_json::from_str(&result).expect("one JSON object");
    assert_eq!(result["value"], "draw", "{result}");
    for worker in &cluster.workers {
        soon("a worker ends", || (worker.state() == "exited").then_some(()));
        assert_eq!(worker.exit_code(), "0", "{:?}", worker.log());
    }
    let directory = tempfile::tempdir().expect("a directory");
    let journal = directory.path().join("journal");
    let inside = format!("{}:/data/faults", coordinator.id());
    docker(["cp", &inside, journal.to_str().expect("a path of letters")]);
    let audit = audit(&journal, "connect4:5x5");
    println!("{} reports of {} nodes in the journal", audit.leases.len(), audit.nodes);
    assert!(!audit.leases.is_empty());
}
