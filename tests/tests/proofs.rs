//! Proofs by a cluster of real processes: jobs are proved where they were searched, the coordinator checks each
//! certificate by the rules alone, and the answer needs nobody's word.

use std::fs;
use std::path::Path;
use std::time::Duration;

use jlpns_proto::v1;
use jlpns_tests::cluster::{
    LIMIT, certified, path, serve, serve_at, solved_by_two, solved_with_certificate, status, until,
    verified, worker,
};
use jlpns_tests::faults::impostor::{Heard, Impostor, lie};
use jlpns_tests::faults::liar::Liar;
use jlpns_tests::{jlpns, run};

const SPEC: &str = "connect4:5x5";
/// How long a member listens before it looks again.
const LISTEN: Duration = Duration::from_millis(50);

#[test]
fn a_cluster_proves_its_answer_and_writes_the_certificate() {
    let directory = tempfile::tempdir().expect("a directory");
    let (file, data) = (path(directory.path(), "file"), path(directory.path(), "data"));
    for (spec, more, claim) in [
        (SPEC, &["--job-nodes", "500"][..], "=draw"),
        (SPEC, &["--goal", ">=win", "--job-nodes", "500", "--share"], "<=draw"),
        ("woodpush:11", &["--job-nodes", "200"], "=-1"),
    ] {
        let data = format!("{data}-{}", more.len());
        let args = [&[spec, "--certificate", &file, "--data", &data], more].concat();
        let result = solved_by_two(&args);
        assert_eq!(result["claims"], result["claims_confirmed"], "{result}");
        let read = verified(&file);
        assert_eq!((&read["claim"], &read["spec"]), (&claim.into(), &spec.into()));
        assert_eq!(result["certificate"]["sha256"], read["sha256"]);
        let proofs = fs::read_dir(Path::new(&data).join("proofs")).expect("a folder of proofs");
        let proofs: Vec<String> =
            proofs.map(|entry| entry.expect("an entry").path().display().to_string()).collect();
        assert!(!proofs.is_empty(), "jobs were proved");
        for proof in &proofs {
            assert_eq!(verified(proof)["spec"], spec, "{proof}");
        }
        assert_eq!(certified(&data)["claim"], claim);
        fs::remove_dir_all(&data).expect("it is there");
    }
}

/// The result of a solve that asks for what is not true and has to prove it, with a member that answers leases
/// so, and one honest worker.
fn asked_for_a_win(mut answer: impl FnMut(&Impostor, v1::Lease)) -> serde_json::Value {
    let flags = ["--goal", ">=win", "--confirm", "proof", "--job-nodes", "500"];
    let (coordinator, url) = serve(&[&[SPEC, "--await-workers", "2"], &flags[..]].concat());
    let mut member = Impostor::join(&url, "member", 1).expect("a welcome");
    let honest = worker(&url, "honest");
    loop {
        match member.hear(LISTEN) {
            Heard::Batch(batch) => {
                batch.leases.into_iter().for_each(|lease| answer(&member, lease));
            }
            Heard::Nothing => {}
            Heard::Over(_) | Heard::End(_) => break,
        }
    }
    let ended = coordinator.end(LIMIT);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(honest.end(LIMIT).code, Some(0));
    let result = ended.json();
    assert_eq!(result["claims"], result["claims_confirmed"], "{result}");
    result
}

fn say(member: &Impostor, report: v1::Report) {
    member.say(v1::WorkerBatch { reports: vec![report], ..Default::default() });
}

#[test]
fn a_member_that_lies_without_a_certificate_is_not_believed() {
    let mut liar = Liar::new(SPEC);
    let result = asked_for_a_win(|member, lease| say(member, liar.report(lease)));
    assert_eq!(result["proved"], false, "{result}");
}

#[test]
fn a_member_that_lies_with_bytes_that_are_no_certificate_is_not_believed() {
    let result = asked_for_a_win(|member, lease| {
        let wants = lease.job.as_ref().is_some_and(|job| job.prove);
        match wants {
            true => member.report_with_certificate(lie(&lease), b"jlpns certificate, trust me"),
            false => say(member, lie(&lease)),
        }
    });
    assert_eq!(result["proved"], false, "{result}");
}

#[test]
fn a_true_certificate_of_something_else_proves_nothing() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = path(directory.path(), "file");
    solved_with_certificate(&file, &["connect4:4x4", "--goal", ">=draw"]);
    let other = fs::read(&file).expect("the file");
    let mut lies = 0;
    // Whether it is asked for one or not.
    let result = asked_for_a_win(|member, lease| {
        lies += 1;
        member.report_with_certificate(lie(&lease), &other);
    });
    assert_eq!(result["proved"], false, "{result}");
    assert!(lies > 0, "it was given something to do");
}

#[test]
fn what_is_proved_survives_a_coordinator_and_a_worker_that_are_killed() {
    let directory = tempfile::tempdir().expect("a directory");
    let (file, data) = (path(directory.path(), "file"), path(directory.path(), "data"));
    let flags = ["--job-nodes", "100", "--knowledge", "false", "--certificate", &file];
    let args = [&["connect4:5x4", "--data", &data][..], &flags].concat();
    let (mut coordinator, url) = serve_at("127.0.0.1:0", &args);
    let address = url.trim_start_matches("http://").to_owned();
    let workers = [worker(&url, "one"), worker(&url, "two")];
    let proofs = || {
        let names = fs::read_dir(Path::new(&data).join("proofs")).expect("a folder of proofs");
        let names = names.map(|entry| entry.expect("an entry").file_name().into_string());
        names
            .map(|name| name.expect("a name"))
            .filter(|name| name.ends_with(".certificate"))
            .count()
    };
    while proofs() < 3 {
        status(&url);
    }
    coordinator.kill();
    let kept = proofs();
    let [mut one, two] = workers;
    one.kill();
    let (coordinator, _) = serve_at(&address, &args);
    let resumed = status(&url);
    assert!(resumed["records"].as_u64() >= Some(kept as u64), "{resumed}");
    let three = worker(&url, "three");
    let ended = coordinator.end(LIMIT);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    for worker in [two, three] {
        assert_eq!(worker.end(LIMIT).code, Some(0));
    }
    assert_eq!(ended.json()["value"], "draw");
    assert!(proofs() >= kept, "none is lost");
    assert_eq!(verified(&file)["claim"], "=draw");
    assert_eq!(certified(&data)["claim"], "=draw");
}

#[test]
fn any_journal_of_a_solve_that_has_ended_can_be_certified() {
    let directory = tempfile::tempdir().expect("a directory");
    let (data, file) = (path(directory.path(), "data"), path(directory.path(), "file"));
    let none = run(&mut jlpns(["certify", &data, "--out", &file]), LIMIT);
    assert_eq!(none.code, Some(2), "{none:?}");
    assert!(none.stderr.contains("there is no journal in"), "{none:?}");
    let solve = ["solve", SPEC, "--moves", "33", "--goal", "<=draw", "--data", &data];
    assert_eq!(run(&mut jlpns(solve), LIMIT).code, Some(0));
    assert_eq!(certified(&data)["moves"], "33");
    let nowhere = run(&mut jlpns(["certify", &data, "--out", "/no/such/place"]), LIMIT);
    assert_eq!(nowhere.code, Some(2), "{nowhere:?}");
    assert!(nowhere.stderr.contains("--out"), "{nowhere:?}");
}

#[test]
fn a_solve_that_has_not_ended_has_no_certificate() {
    let directory = tempfile::tempdir().expect("a directory");
    let (data, file) = (path(directory.path(), "data"), path(directory.path(), "file"));
    let (mut coordinator, url) = serve(&["connect4:7x7", "--data", &data, "--job-nodes", "1000"]);
    let mut one = worker(&url, "one");
    until(&url, |status| status["jobs"].as_u64() >= Some(5));
    // Parts of a certificate that is on its way to the coordinator are none of others' business.
    let proofs = Path::new(&data).join("proofs");
    fs::create_dir_all(&proofs).expect("a folder");
    let incoming = proofs.join("incoming-x");
    fs::write(&incoming, "parts").expect("a file");
    for command in [&["certify", &data, "--out", &file][..], &["status", &data]] {
        let busy = run(&mut jlpns(command), LIMIT);
        assert_eq!(busy.code, Some(2), "{busy:?}");
        assert!(busy.stderr.contains("is in use by another process"), "{busy:?}");
        assert!(incoming.exists(), "{command:?}");
    }
    coordinator.kill();
    one.kill();
    let open = run(&mut jlpns(["certify", &data, "--out", &file]), LIMIT);
    assert_eq!(open.code, Some(2), "{open:?}");
    assert!(open.stderr.contains("has not ended; go on with it first"), "{open:?}");
    assert!(!Path::new(&file).exists());
}

#[test]
fn a_game_without_certificates_cannot_be_proved() {
    let noughts = |more: &[&str]| {
        let args = [&["solve", "noughts:3x3"], more].concat();
        run(&mut jlpns_tests::command("noughts", args), LIMIT)
    };
    let refused = noughts(&["--confirm", "proof"]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.stderr.contains("there are no certificates for"), "{refused:?}");
}
