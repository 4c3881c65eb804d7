//! `deploy/slurm` on a cluster of Slurm that is real but for its nodes, which are all this machine.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use jlpns_tests::cluster::LIMIT;
use jlpns_tests::faults::audit::audit;
use jlpns_tests::faults::watch::soon;
use jlpns_tests::slurm::{Job, Slurm};
use jlpns_tests::{command, jlpns, run};
use serde_json::Value;

const SPEC: &str = "connect4:5x5";

/// Small jobs of a slow search, which lasts for as long as all that happens to it.
const FLAGS: [&str; 6] = ["--sub-search", "pn2", "--job-nodes", "3000", "--knowledge", "false"];

/// The folder that coordinator and workers share.
struct Shared {
    folder: tempfile::TempDir,
}

impl Shared {
    fn new() -> Shared {
        let shared = Shared { folder: tempfile::tempdir().expect("a temporary folder") };
        fs::write(shared.path("token"), "correct-horse-battery-staple").expect("a token");
        fs::set_permissions(shared.path("token"), Permissions::from_mode(0o600)).expect("a mode");
        fs::create_dir(shared.path("bin")).expect("a folder");
        for program in ["jlpns", "jlpns-worker"] {
            let built = PathBuf::from(command(program, [""; 0]).get_program());
            symlink(built, shared.path("bin").join(program)).expect("a link");
        }
        for script in ["coordinator.sbatch", "workers.sbatch"] {
            let deploy = Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy/slurm");
            fs::copy(deploy.join(script), shared.path(script)).expect("a copy");
        }
        shared
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    /// The state of the solve, if there is a coordinator that answers.
    fn status(&self) -> Option<Value> {
        let (file, token) = (self.path("coordinator"), self.path("token"));
        let mut ask = jlpns(["status", "--output", "json", "--coordinator-file"]);
        let ended = run(ask.arg(file).arg("--token-file").arg(token), LIMIT);
        (ended.code == Some(0)).then(|| ended.json())
    }

    /// Waits until the state of the solve is as wanted.
    fn until(&self, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        soon(what, || self.status().filter(&wanted))
    }
}

fn count(status: &Value, field: &str) -> u64 {
    status[field].as_u64().unwrap_or_else(|| panic!("no number {field} in {status}"))
}

fn names(status: &Value) -> Vec<&str> {
    let workers = status["workers"].as_array().expect("a list of workers");
    workers.iter().map(|worker| worker["name"].as_str().expect("a name")).collect()
}

#[test]
#[ignore = "it needs Slurm, munge and root"]
fn a_solve_comes_through_what_a_batch_system_does_to_it() {
    let slurm = Slurm::start(4);
    let shared = Shared::new();
    // The nodes here have one processor each.
    let small = ["--cpus-per-task=1", "--mem=1G"];
    let solve = [&["coordinator.sbatch", SPEC][..], &FLAGS].concat();
    let array = ["--cpus-per-task=1", "--array=1-3", "workers.sbatch"];
    // The workers come first, and wait for the file.
    let workers = slurm.submit(shared.folder.path(), &array);
    let log = |task: usize| shared.text(&format!("worker-{}_{task}.log", workers.0));
    soon("a worker waits", || log(1).contains("coordinator is not there").then_some(()));
    let coordinator = slurm.submit(shared.folder.path(), &[&small[..], &solve].concat());
    let begun = shared.until("three workers are at work", |status| {
        names(status).len() == 3 && count(status, "jobs") > 10
    });
    println!("begun: {} jobs by {:?}", begun["jobs"], names(&begun));

    // A task is preempted: it reports what it has, and comes again.
    slurm.run("scontrol", ["requeue", &workers.task(2).0]);
    soon("it drains", || log(2).contains("draining").then_some(()));
    let ended = soon("it ends", || {
        let status = shared.status()?;
        (names(&status).len() == 2).then_some(status)
    });
    assert_eq!(count(&ended, "leases_expired"), 0, "what it had, it has given back: {ended}");
    assert_eq!(count(&ended, "refused"), 0, "{ended}");
    slurm.start_again(&workers.task(2));
    let again = shared.until("it is back", |status| names(status).len() == 3);
    assert!(count(&again, "jobs") > count(&begun, "jobs"), "{again}");
    assert_eq!(slurm.field(&workers.task(2), "Restarts"), ["1"]);
    println!("preempted and back: {} jobs", again["jobs"]);

    // The coordinator is requeued, and goes on elsewhere.
    moved(&slurm, &shared, &coordinator, "requeued", || {
        slurm.run("scontrol", ["requeue", &coordinator.0]);
    });
    // Its time is over: it asks for the next start itself.
    moved(&slurm, &shared, &coordinator, "out of time", || {
        slurm.run("scancel", ["--batch", "--signal=USR1", &coordinator.0]);
    });
    assert_eq!(slurm.field(&coordinator, "Restarts"), ["2"]);

    soon("the workers end", || {
        let states = slurm.states(&workers);
        states.iter().all(|state| state == "COMPLETED").then_some(())
    });
    // The coordinator stays for a while, for those who are on their way.
    slurm.run("scancel", ["--batch", "--signal=TERM", &coordinator.0]);
    soon("the coordinator ends", || (slurm.states(&coordinator) == ["COMPLETED"]).then_some(()));
    assert!(!shared.path("coordinator").exists());
    let answer = shared.text("answer");
    assert!(answer.starts_with("connect4:5x5: the value is draw"), "{answer}");
    for task in 1..=3 {
        let log = log(task);
        assert!(log.contains("the solve is over: the value is draw"), "{log}");
        assert!(log.contains("connected again"), "{log}");
    }
    // Who comes now has nothing to do.
    let late =
        slurm.submit(shared.folder.path(), &["--cpus-per-task=1", "--array=9", "workers.sbatch"]);
    soon("a late one ends", || {
        slurm.states(&late).iter().all(|state| state == "COMPLETED").then_some(())
    });
    let told = shared.text(&format!("worker-{}_9.log", late.0));
    assert!(told.contains("the solve is over: connect4:5x5: the value is draw"), "{told}");
    let audit = audit(&shared.path("data"), SPEC);
    println!("{} reports of {} nodes in the journal", audit.leases.len(), audit.nodes);
    assert!(!audit.leases.is_empty());
}

/// Has the coordinator start anew, which must go on from its journal at another port, with all workers.
fn moved(slurm: &Slurm, shared: &Shared, coordinator: &Job, why: &str, start: impl FnOnce()) {
    let before = shared.until("it answers", |status| names(status).len() == 3);
    let place = shared.text("coordinator");
    start();
    slurm.start_again(coordinator);
    soon("it listens elsewhere", || {
        let now = shared.text("coordinator");
        (!now.is_empty() && now != place).then_some(())
    });
    let after = shared.until("all are at work again", |status| {
        names(status).len() == 3 && count(status, "jobs") > count(&before, "jobs")
    });
    assert!(after["value"].is_null(), "it was solved before it was {why}: {after}");
    assert!(count(&after, "records") >= count(&before, "durable_records"), "{before} {after}");
    println!("{why}: {} jobs before, {} after", before["jobs"], after["jobs"]);
    assert_eq!(slurm.states(coordinator), ["RUNNING"]);
}

#[test]
#[ignore = "it needs Slurm, munge and root"]
fn a_coordinator_that_is_cancelled_stays_so_and_a_later_job_goes_on() {
    let slurm = Slurm::start(1);
    let shared = Shared::new();
    let args = ["--cpus-per-task=1", "--mem=1G", "coordinator.sbatch", "connect4:8x7"];
    let first = slurm.submit(shared.folder.path(), &args);
    shared.until("it answers", |_| true);
    slurm.run("scancel", [&first.0]);
    soon("it ends", || (slurm.states(&first) == ["CANCELLED"]).then_some(()));
    soon("its file is gone", || (!shared.path("coordinator").exists()).then_some(()));
    let log = shared.text(&format!("coordinator-{}.log", first.0));
    assert!(log.contains("the same command goes on from there"), "{log}");
    let second = slurm.submit(shared.folder.path(), &args);
    shared.until("it answers", |_| true);
    let log = shared.text(&format!("coordinator-{}.log", second.0));
    assert!(log.contains("going on with the solve"), "{log}");
    assert_eq!(slurm.states(&first), ["CANCELLED"]);
}
