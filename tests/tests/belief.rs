//! Members of a cluster that do not say what they find, beside two honest workers and with the default
//! flags: no wrong answer comes out, and the right one does.

use std::time::Duration;

use jlpns_proto::v1;
use jlpns_tests::cluster::{LIMIT, serve, worker};
use jlpns_tests::faults::impostor::{Heard, Impostor, lie};
use jlpns_tests::faults::liar::Liar;

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
