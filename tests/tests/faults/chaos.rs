//! Everything at once, from a seed.

use std::path::Path;

use jlpns_tests::faults::audit::audit;
use jlpns_tests::faults::plan::{Plan, seed, wanted};
use jlpns_tests::faults::stage::Stage;
use jlpns_tests::faults::storm::{Outcome, Storm};
use jlpns_tests::faults::tmpfs::Tmpfs;

/// A solve of some thousand jobs.
const SPEC: &str = "connect4:5x5";
const VALUE: &str = "draw";
const JOB_NODES: u64 = 20_000;
const WORKERS: usize = 3;
/// Room for the journal of such a solve.
const DISK: u64 = 256 << 20;
/// How many faults the storm has, if the environment does not say.
const FAULTS: u64 = 200;
/// How much more may be searched than without faults.
const MORE: f64 = 1.3;

fn stage(data: &Path, confirm: &str) -> Stage {
    let budget = JOB_NODES.to_string();
    let args = [
        "--job-nodes",
        &budget,
        "--sub-search",
        "pn2",
        "--knowledge",
        "false",
        "--confirm",
        confirm,
    ];
    Stage::open(SPEC, data, &[&args[..], &["--lease", "2", "--stall", "20"]].concat())
}

/// The nodes of a solve without faults.
fn calm_nodes() -> u64 {
    let directory = tempfile::tempdir().expect("a directory");
    let mut storm = Storm::new(stage(&directory.path().join("journal"), "none"), None, WORKERS, 0);
    assert_eq!(storm.stage.result()["value"], VALUE);
    let audit = audit(storm.stage.data(), SPEC);
    let book = storm.stage.ledger().read();
    audit.keeps(&book);
    eprintln!("without faults: {} reports, {} nodes", audit.leases.len(), audit.nodes);
    audit.nodes
}

/// The end of a solve: what was promised is kept.
fn check(storm: &mut Storm, calm_nodes: Option<u64>) {
    storm.calm();
    let result = storm.stage.result();
    assert_eq!(result["value"], VALUE, "{result}");
    let audit = audit(storm.stage.data(), SPEC);
    let book = storm.stage.ledger().read();
    audit.keeps(&book);
    eprintln!(
        "solved: {} reports with {} nodes; {} leases, {} acknowledged, {} of them promised",
        audit.leases.len(),
        audit.nodes,
        book.granted(),
        book.acknowledged(),
        book.promised().len(),
    );
    let Some(calm_nodes) = calm_nodes else {
        return assert_eq!(result["claims"], result["claims_confirmed"], "{result}");
    };
    let allowed = MORE * calm_nodes as f64 + (JOB_NODES * book.disturbed() as u64) as f64;
    eprintln!("{:.2} of a run without faults", audit.nodes as f64 / calm_nodes as f64);
    assert!(audit.nodes as f64 <= allowed, "{} nodes, {allowed} allowed", audit.nodes);
}

#[test]
#[ignore = "it breaks real processes, and takes long"]
fn chaos() {
    let (seed, wanted) = (seed(), wanted(FAULTS));
    println!("JLPNS_FAULT_SEED={seed} JLPNS_FAULTS={wanted}");
    let calm_nodes = calm_nodes();
    let mut plan = Plan::new(seed, WORKERS);
    let (mut fired, mut hidden, mut round) = (0, 0, 0);
    while fired < wanted {
        round += 1;
        let disk = Tmpfs::mount(DISK);
        let directory = tempfile::tempdir().expect("a directory");
        let data = disk.as_ref().map_or(directory.path(), Tmpfs::path).join("journal");
        // Whether what is found is proved as well: what is searched for that has no bound here.
        let (confirm, most) =
            if round % 2 == 0 { ("proof", None) } else { ("none", Some(calm_nodes)) };
        let mut storm = Storm::new(stage(&data, confirm), disk, WORKERS, seed ^ round);
        storm.go_on(1);
        while fired < wanted {
            let step = plan.next().expect("a plan has no end");
            storm.go_on(step.after);
            match storm.inflict(step) {
                Outcome::Fired(proof) => {
                    fired += 1;
                    println!("{fired}: {step:?}: {proof}");
                }
                Outcome::Hidden => {
                    hidden += 1;
                    println!("hidden: {step:?}");
                }
                Outcome::Over => break,
            }
        }
        check(&mut storm, most);
    }
    println!("{fired} faults in {round} solves; {hidden} more did not show");
}
