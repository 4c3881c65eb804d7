//! Members of a cluster that do not say what they find, beside two honest workers and with the default
//! flags: no wrong answer comes out, and the right one does.

use std::time::Duration;

use jlpns_proto::v1;
use jlpns_tests::cluster::{LIMIT, serve, until, worker, worker_with};
use jlpns_tests::faults::impostor::{Heard, Impostor, lie};
use jlpns_tests::faults::liar::Liar;
use jlpns_tests::{jlpns, run};
use serde_json::json;

const SPEC: &str = "connect4:5x5";
/// How long a member listens before it looks again.
const LISTEN: Duration = Duration::from_millis(50);

/// The result of a solve that asks for what is not true, with a member that answers leases so.
fn asked_for_a_win(mut answer: impl FnMut(v1::Lease) -> v1::WorkerBatch) -> serde_json::Value {
    let (coordinator, url) = serve(&[SPEC, "--goal", ">=win", "--await-workers", "3"]);
    let mut member = Impostor::join(&url, "member", 1).expect("a welcome");
    let honest = ["one", "two"].map(|name| worker(&url, name));
    loop {
        match member.hear(LISTEN) {
            Heard::Batch(batch) => {
                batch.leases.into_iter().for_each(|lease| member.say(answer(lease)));
            }
            Heard::Nothing => {}
            Heard::Over(_) | Heard::End(_) => break,
        }
    }
    let ended = coordinator.end(LIMIT);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    for worker in honest {
        assert_eq!(worker.end(LIMIT).code, Some(0));
    }
    let result = ended.json();
    assert_eq!(result["claims"], result["claims_confirmed"], "{result}");
    result
}

fn report(report: v1::Report) -> v1::WorkerBatch {
    v1::WorkerBatch { reports: vec![report], ..Default::default() }
}

#[test]
fn a_lie_in_a_partial_report_settles_nothing() {
    let mut liar = Liar::new(SPEC);
    let result = asked_for_a_win(|lease| {
        let findings = lie(&lease).findings;
        let progress = vec![v1::Progress { lease_id: lease.lease_id, findings }];
        let reports = vec![liar.report_the_truth(lease)];
        v1::WorkerBatch { progress, reports, ..Default::default() }
    });
    assert_eq!(result["proved"], false, "{result}");
}

#[test]
fn a_lie_in_nothing_but_partial_reports_settles_nothing() {
    let result = asked_for_a_win(|lease| {
        let findings = lie(&lease).findings;
        let progress = vec![v1::Progress { lease_id: lease.lease_id, findings }];
        let declines = vec![v1::Decline { lease_id: lease.lease_id, reason: String::new() }];
        v1::WorkerBatch { progress, declines, ..Default::default() }
    });
    assert_eq!(result["proved"], false, "{result}");
}

#[test]
fn a_member_that_lies_once_and_is_honest_then_is_not_believed() {
    let mut liar = Liar::new(SPEC);
    let result = asked_for_a_win(|lease| {
        report(if liar.lies == 0 { liar.report(lease) } else { liar.report_the_truth(lease) })
    });
    assert_eq!(result["proved"], false, "{result}");
    assert_eq!(liar.lies, 1);
}

#[test]
fn a_member_that_lies_about_one_child_is_not_believed() {
    let mut liar = Liar::new(SPEC);
    let result = asked_for_a_win(|lease| report(liar.report_wrong_about_one_child(lease)));
    assert_eq!(result["proved"], false, "{result}");
}

#[test]
fn a_member_that_proves_whatever_it_is_asked_is_not_believed() {
    let result = asked_for_a_win(|lease| report(lie(&lease)));
    assert_eq!(result["proved"], false, "{result}");
}

#[test]
fn a_member_that_tells_other_workers_what_is_not_true_makes_no_wrong_answer() {
    let mut liar = Liar::new(SPEC);
    let result = asked_for_a_win(|lease| {
        let reports = vec![liar.report_the_truth(lease)];
        let solved = Some(liar.poison());
        v1::WorkerBatch { reports, solved, ..Default::default() }
    });
    assert_eq!(result["proved"], false, "{result}");
    assert!(liar.lies > 0);
}

#[test]
fn workers_are_listed_and_put_out_and_come_again() {
    let (coordinator, url) = serve(&["connect4:7x7", "--job-nodes", "2000"]);
    let ask = |more: &[&str]| {
        let args = [&["workers", &url, "--output", "json"], more].concat();
        run(&mut jlpns(args), LIMIT)
    };
    let mut one = worker_with(&url, "one", &["--machine", "first"]);
    until(&url, |status| status["jobs"].as_u64() >= Some(5));
    let listed = ask(&[]).json();
    assert_eq!(listed["workers"][0]["name"], "one", "{listed}");
    assert_eq!(listed["workers"][0]["machine"], "machine first at 127.0.0.1", "{listed}");
    let kicked = ask(&["--kick", "one"]).json();
    assert_eq!((&kicked["workers"], &kicked["quarantined"]), (&json!([]), &json!(["one"])));
    let told = one.wait_for(LIMIT, |line| line.contains("quarantined").then_some(line.to_owned()));
    assert!(told.contains("have it reinstated"), "{told}");
    one.kill();
    let refused = ask(&["--drain", "one"]);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.stderr.contains("no worker that is connected is called 'one'"), "{refused:?}");
    assert_eq!(ask(&["--reinstate", "one"]).json()["quarantined"], json!([]));
    let again = worker_with(&url, "one", &["--machine", "first"]);
    until(&url, |status| status["workers"].as_array().is_some_and(|all| all.len() == 1));
    let drained = ask(&["--drain", "one"]).json();
    assert_eq!(drained["workers"][0]["draining"], true, "{drained}");
    drop((again, coordinator));
}
