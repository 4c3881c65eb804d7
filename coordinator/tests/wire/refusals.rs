//! Each bad field of each message gets a status with one sentence.

use std::io::Cursor;
use std::sync::Arc;
use std::time::Duration;

use jlpns_certificate::{Size, certify};
use jlpns_games::spec::GameSpec;
use jlpns_games::{Goal, Outcome, Threshold};
use jlpns_proto::v1::worker_message::Kind as FromWorker;
use jlpns_proto::{MAX_BATCH, MAX_PART, v1};
use jlpns_search::TranspositionTable;
use jlpns_search::strategy::Claim;
use jlpns_solve::SolveStatus;
use jlpns_solve::belief::Confirm;
use jlpns_worker::client::{Wanted, WorkerError, run_worker};
use tokio::sync::watch;
use tonic::Code;

use crate::stage::{Coordinator, hello, settings, within_a_minute, worker_config};

const VERSIONS: &str = "the worker speaks protocol version 99, this coordinator version 6; use \
                        the same release of both";

#[tokio::test]
async fn bad_hellos_are_refused() {
    let name = "the worker's name is empty, too long or has control characters; it must have 1 to \
                128 characters, none of them a control character";
    let cases = [
        (v1::Hello { protocol_version: 99, ..hello() }, Code::FailedPrecondition, VERSIONS),
        (v1::Hello { name: String::new(), ..hello() }, Code::InvalidArgument, name),
        (v1::Hello { name: "x".repeat(129), ..hello() }, Code::InvalidArgument, name),
        (v1::Hello { name: "a\nb".to_owned(), ..hello() }, Code::InvalidArgument, name),
        (
            v1::Hello { slots: 0, ..hello() },
            Code::InvalidArgument,
            "hello.slots is 0; it must be 1 to 1024",
        ),
        (
            v1::Hello { slots: 1025, ..hello() },
            Code::InvalidArgument,
            "hello.slots is 1025; it must be 1 to 1024",
        ),
    ];
    within_a_minute(async {
        let coordinator = Coordinator::start(settings("connect4:4x4"));
        for (hello, code, sentence) in cases {
            let status = coordinator.open(FromWorker::Hello(hello)).await.err().expect(sentence);
            assert_eq!((status.code(), status.message()), (code, sentence));
        }
        let batch = FromWorker::Batch(v1::WorkerBatch::default());
        let status = coordinator.open(batch).await.err().expect("no hello");
        assert_eq!(status.message(), "the first message is no hello; it must be one");
        assert_eq!(coordinator.status().await.most_workers, 0);
    })
    .await;
}

fn findings() -> v1::Findings {
    v1::Findings { efforts: vec![3, 4], nodes: 5, ..Default::default() }
}

fn report(findings: v1::Findings) -> FromWorker {
    let report =
        v1::Report { lease_id: 1, findings: Some(findings), elapsed_us: 1, ..Default::default() };
    FromWorker::Batch(v1::WorkerBatch { reports: vec![report], ..Default::default() })
}

#[tokio::test]
async fn bad_batches_end_the_stream_and_give_the_leases_back() {
    let batch = v1::WorkerBatch::default;
    let no_findings =
        v1::Report { lease_id: 1, findings: None, elapsed_us: 1, ..Default::default() };
    let long =
        v1::Report { findings: Some(findings()), elapsed_us: u64::MAX, ..no_findings.clone() };
    let child = v1::ChildFindings { r#move: 1, efforts: vec![3] };
    let cases = [
        (FromWorker::Hello(hello()), "a second hello on one stream; there must be one"),
        (
            FromWorker::Batch(v1::WorkerBatch { renewals: vec![1; MAX_BATCH + 1], ..batch() }),
            "batch.renewals has 4097 entries; it may have at most 4096",
        ),
        (
            FromWorker::Batch(v1::WorkerBatch { reports: vec![no_findings], ..batch() }),
            "findings is missing; it must be set",
        ),
        (
            FromWorker::Batch(v1::WorkerBatch { reports: vec![long], ..batch() }),
            "report.elapsed_us is 18446744073709551615; it must be 0 to 31622400000000",
        ),
        (
            FromWorker::Batch(v1::WorkerBatch {
                progress: vec![v1::Progress { lease_id: 1, findings: None }],
                ..batch()
            }),
            "findings is missing; it must be set",
        ),
        (
            FromWorker::Batch(v1::WorkerBatch {
                declines: vec![v1::Decline { lease_id: 1, reason: "x".repeat(1001) }],
                ..batch()
            }),
            "the length of decline.reason is 1001; it must be 0 to 1000",
        ),
        (
            report(v1::Findings { efforts: vec![3, 0], ..findings() }),
            "the effort numbers 3 and 0 contradict each other; one must be 0 exactly when the \
             other is 4294967295",
        ),
        (
            report(v1::Findings { children: vec![child], ..findings() }),
            "the child of move 1 has 1 effort numbers; it must have 2, as the position",
        ),
        (
            report(v1::Findings { most_proving_move: Some(65536), ..findings() }),
            "findings.most_proving_move is 65536; it must be 0 to 65535",
        ),
    ];
    within_a_minute(async {
        let coordinator = Coordinator::start(settings("connect4:4x4"));
        for (message, sentence) in cases {
            let mut stream = coordinator.join(1).await;
            assert_eq!(stream.batch().await.leases.len(), 1);
            stream.say(message).await;
            let status = stream.end().await.expect(sentence);
            assert_eq!((status.code(), status.message()), (Code::InvalidArgument, sentence));
            coordinator.until(|status| status.leased == 0 && status.workers.is_empty()).await;
        }
        let mut stream = coordinator.join(1).await;
        stream.say_nothing().await;
        let status = stream.end().await.expect("an empty message");
        assert_eq!(status.message(), "message.kind is missing; it must be set");
        assert_eq!(coordinator.status().await.jobs, 0);
    })
    .await;
}

fn part(lease_id: u64, bytes: usize) -> FromWorker {
    FromWorker::Part(v1::CertificatePart { lease_id, bytes: vec![7; bytes] })
}

fn with_certificate(certificate_bytes: u64) -> FromWorker {
    let subject = v1::Subject {
        question: Some(v1::Question { kind: Some(v1::question::Kind::Threshold(1)) }),
        ..v1::Subject::default()
    };
    let report = v1::Report {
        lease_id: 1,
        findings: Some(findings()),
        elapsed_us: 1,
        subject: Some(subject),
        certificate_bytes: Some(certificate_bytes),
        hearsay: false,
    };
    FromWorker::Batch(v1::WorkerBatch { reports: vec![report], ..Default::default() })
}

fn without_subject() -> FromWorker {
    let FromWorker::Batch(mut batch) = with_certificate(3) else { unreachable!() };
    batch.reports[0].subject = None;
    FromWorker::Batch(batch)
}

#[tokio::test]
async fn certificates_come_in_parts_before_their_reports() {
    let cases = [
        (vec![part(1, 0)], "a part has 0 bytes; it may have 1 to 1048576"),
        (vec![part(1, MAX_PART + 1)], "a part has 1048577 bytes; it may have 1 to 1048576"),
        (
            (1..=5).map(|lease| part(lease, 3)).collect(),
            "too many certificates have come without their reports",
        ),
        (vec![part(1, 3), without_subject()], "report.subject is missing; it must be set"),
    ];
    within_a_minute(async {
        let mut proved = settings("connect4:4x4");
        proved.belief.confirm = Confirm::Proof;
        let coordinator = Coordinator::start(proved);
        for (messages, sentence) in cases {
            let mut stream = coordinator.join(1).await;
            for message in messages {
                stream.say(message).await;
            }
            let status = stream.end().await.expect(sentence);
            assert_eq!((status.code(), status.message()), (Code::InvalidArgument, sentence));
        }
        // Where parts are missing, a report is as good as one whose certificate shows nothing.
        for parts in [0, 2] {
            let refused = coordinator.status().await.refused;
            let mut stream = coordinator.join(1).await;
            let lease = stream.batch().await.leases.remove(0);
            let job = lease.job.expect("a lease is for a job");
            let v1::Job { moves, question, .. } = job;
            let subject = v1::Subject { moves, question, ..v1::Subject::default() };
            let report = v1::Report {
                lease_id: lease.lease_id,
                findings: Some(findings()),
                elapsed_us: 1,
                subject: Some(subject),
                certificate_bytes: Some(3),
                hearsay: false,
            };
            if parts > 0 {
                stream.say(part(lease.lease_id, parts)).await;
            }
            let reports = vec![report];
            stream.say(FromWorker::Batch(v1::WorkerBatch { reports, ..Default::default() })).await;
            coordinator.until(|status| status.refused > refused).await;
        }
    })
    .await;
}

/// It may have asked for them before it was started anew: then the report is as good as one without.
#[tokio::test]
async fn a_certificate_that_is_not_asked_for_is_passed_over() {
    within_a_minute(async {
        let coordinator = Coordinator::start(settings("connect4:4x4"));
        let mut stream = coordinator.join(1).await;
        let lease = stream.batch().await.leases.remove(0);
        for _ in 0..5 {
            stream.say(part(lease.lease_id, 3)).await;
        }
        let FromWorker::Batch(mut batch) = with_certificate(15) else { unreachable!() };
        batch.reports[0].lease_id = lease.lease_id;
        stream.say(FromWorker::Batch(batch)).await;
        let status = coordinator.until(|status| status.jobs > 0).await;
        assert_eq!((status.refused, status.workers.len()), (0, 1));
        coordinator.stop().await;
    })
    .await;
}

/// Well-formed, but not fit for the solve: refused, counted, and the stream goes on.
#[tokio::test]
async fn reports_that_do_not_fit_are_counted_and_acknowledged() {
    within_a_minute(async {
        let coordinator = Coordinator::start(settings("connect4:4x4"));
        let mut stream = coordinator.join(1).await;
        let lease = stream.batch().await.leases[0].lease_id;
        let unknown = v1::Report {
            lease_id: 77,
            findings: Some(findings()),
            elapsed_us: 1,
            ..Default::default()
        };
        let too_wide = v1::Findings { efforts: vec![1; 8], ..findings() };
        let too_wide = v1::Report {
            lease_id: lease,
            findings: Some(too_wide),
            elapsed_us: 1,
            ..Default::default()
        };
        let reports = vec![unknown, too_wide];
        stream.say(FromWorker::Batch(v1::WorkerBatch { reports, ..Default::default() })).await;
        let answer = stream.batch().await;
        assert_eq!(answer.acknowledged, [77, lease]);
        // The job goes out again.
        assert_eq!(answer.leases.len(), 1);
        let status = coordinator.status().await;
        assert_eq!((status.refused, status.jobs, status.leased), (2, 0, 1));
    })
    .await;
}

/// The worker's side of a refusal, with a worker whose name the coordinator will not have.
#[tokio::test]
async fn a_refused_worker_says_why_and_ends() {
    within_a_minute(async {
        let coordinator = Coordinator::start(settings("connect4:4x4"));
        let (_keep, asked) = watch::channel(Wanted::Work);
        let searching = Arc::new(jlpns_search::sub_search::SubSearches);
        let config = worker_config("", 1);
        let end = run_worker(config, searching, coordinator.pipe.clone(), asked).await;
        assert!(matches!(end, Err(WorkerError::Refused(_))), "{end:?}");
    })
    .await;
}

/// A certificate that 4x4 is no win.
fn certificate_of_4x4(spec: &GameSpec) -> Vec<u8> {
    let table = TranspositionTable::with_bytes(1 << 20).expect("a table");
    let claim = [Claim { threshold: Threshold(2), holds: false }];
    let (of_machine, mut file) = (jlpns_verify::Settings::default(), Cursor::new(Vec::new()));
    certify(spec, &[], &claim, Size::Quick, &table, &|| false, &mut file, &of_machine, &mut ())
        .expect("4x4 is a draw");
    file.into_inner()
}

/// A worker that sends true certificates again and again, for leases that it does not have.
#[tokio::test]
async fn a_certificate_that_nobody_awaits_is_not_kept() {
    within_a_minute(async {
        let mut proved = settings("connect4:4x4");
        proved.belief.confirm = Confirm::Proof;
        proved.goal = Some(Goal::AtLeast(Outcome(2)));
        let spec = proved.spec.clone();
        let coordinator = Coordinator::start(proved);
        let proofs = coordinator.proofs.clone().expect("they are wanted");
        let mut stream = coordinator.join(1).await;
        let lease = stream.batch().await.leases.remove(0);
        let v1::Job { moves, question, budget, .. } = lease.job.expect("a job");
        let subject = v1::Subject { moves, question, budget, seal: lease.seal };
        let bytes = certificate_of_4x4(&spec);
        let report = |lease_id: u64| v1::Report {
            lease_id,
            findings: Some(v1::Findings {
                efforts: vec![u32::MAX, 0],
                nodes: 5,
                ..Default::default()
            }),
            elapsed_us: 1,
            subject: Some(subject.clone()),
            certificate_bytes: Some(bytes.len() as u64),
            hearsay: false,
        };
        let unknown = lease.lease_id + 77;
        for lease_id in [unknown, lease.lease_id] {
            let part = v1::CertificatePart { lease_id, bytes: bytes.clone() };
            stream.say(FromWorker::Part(part)).await;
            let reports = vec![report(lease_id)];
            stream.say(FromWorker::Batch(v1::WorkerBatch { reports, ..Default::default() })).await;
            if lease_id == unknown {
                coordinator.until(|status| status.refused == 1).await;
                assert_eq!(proofs.files().expect("a folder").len(), 0);
            }
        }
        let status = coordinator.end().await.status(Duration::ZERO);
        assert_eq!((status.answer_claims, status.answer_confirmed), (Some(1), Some(1)));
        assert_eq!(proofs.files().expect("a folder").len(), 1);
    })
    .await;
}

/// A true certificate in the same batch, and under the same lease, as a lie.
#[tokio::test]
async fn a_certificate_stands_behind_its_own_report_only() {
    within_a_minute(async {
        let mut proved = settings("connect4:4x4");
        proved.belief.confirm = Confirm::Proof;
        proved.goal = Some(Goal::AtLeast(Outcome(2)));
        let spec = proved.spec.clone();
        let coordinator = Coordinator::start(proved);
        let mut stream = coordinator.join(1).await;
        let lease = stream.batch().await.leases.remove(0);
        let v1::Job { moves, question, budget, .. } = lease.job.expect("a job");
        let subject = v1::Subject { moves, question, budget, seal: lease.seal };
        let bytes = certificate_of_4x4(&spec);
        let report = |efforts: Vec<u32>, certificate_bytes| v1::Report {
            lease_id: lease.lease_id,
            findings: Some(v1::Findings { efforts, nodes: 5, ..Default::default() }),
            elapsed_us: 1,
            subject: Some(subject.clone()),
            certificate_bytes,
            hearsay: false,
        };
        let lie = report(vec![0, u32::MAX], None);
        let truth = report(vec![u32::MAX, 0], Some(bytes.len() as u64));
        let part = v1::CertificatePart { lease_id: lease.lease_id, bytes };
        stream.say(FromWorker::Part(part)).await;
        let reports = vec![lie, truth];
        stream.say(FromWorker::Batch(v1::WorkerBatch { reports, ..Default::default() })).await;
        let status = coordinator.until(|status| status.duplicates > 0).await;
        assert_eq!((status.answer_claims, status.answer_confirmed), (Some(1), Some(0)));
    })
    .await;
}

/// Where nothing is shared all jobs are searched alone, and whoever says that it was told something has not done that.
#[tokio::test]
async fn hearsay_of_a_job_that_is_to_be_searched_alone_is_refused() {
    within_a_minute(async {
        let coordinator = Coordinator::start(settings("connect4:4x4"));
        let mut stream = coordinator.join(1).await;
        for (hearsay, refused) in [(true, 1), (false, 1)] {
            let lease = stream.batch().await.leases.remove(0);
            let job = lease.job.expect("a lease is for a job");
            assert!(job.alone);
            let report = v1::Report {
                lease_id: lease.lease_id,
                findings: Some(v1::Findings { children: Vec::new(), ..findings() }),
                elapsed_us: 1,
                hearsay,
                ..v1::Report::default()
            };
            let reports = vec![report];
            stream.say(FromWorker::Batch(v1::WorkerBatch { reports, ..Default::default() })).await;
            let jobs = u64::from(!hearsay);
            let heard = |status: &SolveStatus| status.refused + status.jobs == refused + jobs;
            let status = coordinator.until(heard).await;
            assert_eq!((status.refused, status.jobs), (refused, jobs));
        }
        coordinator.stop().await;
    })
    .await;
}
