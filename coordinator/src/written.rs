//! Records and snapshots as bytes, and back: the messages of `journal.proto`.

use std::time::Duration;

use jlpns_games::Move;
use jlpns_proto::convert::{WireError, moves};
use jlpns_proto::prost::{DecodeError, Message};
use jlpns_proto::v1;
use jlpns_proto::v1::journal_record::Kind;
use jlpns_search::{Findings, Question};
use jlpns_solve::{Claim, LeaseId, Record, Report, Snapshot, Standing};

/// Why bytes are no record or snapshot.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ReadError {
    /// They are no message.
    #[error("it cannot be read: {0}")]
    Message(#[from] DecodeError),
    /// A field of the message is wrong.
    #[error("it has a wrong field: {0}")]
    Field(#[from] WireError),
}

/// A record as bytes.
pub fn record_to_bytes(record: &Record) -> Vec<u8> {
    let kind = match record {
        Record::Report(report) => Kind::Report(v1::RecordedReport {
            worker: report.worker.clone(),
            lease_id: report.lease.0,
            moves: codes(&report.moves),
            question: Some(report.question.into()),
            findings: Some(v1::Findings::from(&report.findings)),
            elapsed_us: micros(report.elapsed),
        }),
        Record::Split { moves } => Kind::Split(v1::RecordedSplit { moves: codes(moves) }),
        Record::Confirmed { worker, through } => {
            let worker = worker.clone();
            Kind::Confirmation(v1::RecordedConfirmation { worker, through: *through })
        }
        Record::Quarantined { worker, after } => {
            Kind::Quarantine(v1::RecordedQuarantine { worker: worker.clone(), after: *after })
        }
    };
    v1::JournalRecord { kind: Some(kind) }.encode_to_vec()
}

/// The record that was written as `bytes`.
pub fn record_from_bytes(bytes: &[u8]) -> Result<Record, ReadError> {
    let record = v1::JournalRecord::decode(bytes)?;
    Ok(match record.kind.ok_or(WireError::Missing("record.kind"))? {
        Kind::Report(report) => Record::Report(Report {
            worker: report.worker,
            lease: LeaseId(report.lease_id),
            moves: moves("record.moves", &report.moves)?,
            question: Question::try_from(
                report.question.ok_or(WireError::Missing("record.question"))?,
            )?,
            findings: Findings::try_from(
                report.findings.ok_or(WireError::Missing("record.findings"))?,
            )?,
            elapsed: Duration::from_micros(report.elapsed_us),
        }),
        Kind::Split(split) => Record::Split { moves: moves("record.moves", &split.moves)? },
        Kind::Confirmation(v1::RecordedConfirmation { worker, through }) => {
            Record::Confirmed { worker, through }
        }
        Kind::Quarantine(v1::RecordedQuarantine { worker, after }) => {
            Record::Quarantined { worker, after }
        }
    })
}

/// A snapshot as bytes; the number of its last record is kept beside it.
pub fn snapshot_to_bytes(snapshot: Snapshot) -> Vec<u8> {
    let standing = |(name, standing): (String, Standing)| v1::WorkerStanding {
        name,
        confirmed: standing.confirmed,
        refused: standing.refused,
        confirmed_through: standing.confirmed_through,
        last_report: standing.last_report,
        last_claim: standing.last_claim,
        quarantined: standing.quarantined,
    };
    v1::JournalSnapshot {
        jobs: snapshot.jobs,
        nodes: snapshot.nodes,
        refused: snapshot.refused,
        search_us: micros(snapshot.search_time),
        without_room: snapshot.without_room,
        reported_best: snapshot.reported_best.map(|mv| u32::from(mv.0)),
        standings: snapshot.standings.into_iter().map(standing).collect(),
        ended: snapshot.ended.into_iter().flat_map(|(first, last)| [first, last]).collect(),
        tree: snapshot.tree,
        claims: snapshot.claims.into_iter().map(claim_to_wire).collect(),
    }
    .encode_to_vec()
}

/// The snapshot that was written as `bytes`, after the record with number `through`.
pub fn snapshot_from_bytes(through: u64, bytes: &[u8]) -> Result<Snapshot, ReadError> {
    let snapshot = v1::JournalSnapshot::decode(bytes)?;
    let best: Vec<u32> = snapshot.reported_best.into_iter().collect();
    let standing = |standing: v1::WorkerStanding| {
        let held = Standing {
            confirmed: standing.confirmed,
            refused: standing.refused,
            confirmed_through: standing.confirmed_through,
            last_report: standing.last_report,
            last_claim: standing.last_claim,
            quarantined: standing.quarantined,
        };
        (standing.name, held)
    };
    let claims: Result<Vec<Claim>, WireError> =
        snapshot.claims.into_iter().map(claim_from_wire).collect();
    Ok(Snapshot {
        through,
        jobs: snapshot.jobs,
        nodes: snapshot.nodes,
        refused: snapshot.refused,
        search_time: Duration::from_micros(snapshot.search_us),
        without_room: snapshot.without_room,
        reported_best: moves("snapshot.reported_best", &best)?.first().copied(),
        standings: snapshot.standings.into_iter().map(standing).collect(),
        ended: snapshot
            .ended
            .as_chunks::<2>()
            .0
            .iter()
            .map(|&[first, last]| (first, last))
            .collect(),
        tree: snapshot.tree,
        claims: claims?,
    })
}

fn claim_to_wire(claim: Claim) -> v1::WaitingClaim {
    let verdict = |verdict: Option<bool>| verdict.map_or(0, |holds| 1 + u32::from(holds));
    v1::WaitingClaim {
        number: claim.number,
        worker: claim.worker,
        moves: codes(&claim.moves),
        question: Some(claim.question.into()),
        verdicts: claim.verdicts.into_iter().map(verdict).collect(),
        budget: claim.budget,
        against: claim.against,
    }
}

fn claim_from_wire(claim: v1::WaitingClaim) -> Result<Claim, WireError> {
    let moves = moves("claim.moves", &claim.moves)?;
    let question = Question::try_from(claim.question.ok_or(WireError::Missing("claim.question"))?)?;
    let verdicts = claim.verdicts.into_iter().map(|said| match said {
        0 => None,
        said => Some(said == 2),
    });
    let (number, worker) = (claim.number, claim.worker);
    let mut waiting =
        Claim::new(number, worker, (moves, question), verdicts.collect(), claim.budget);
    waiting.against = claim.against;
    Ok(waiting)
}

fn codes(moves: &[Move]) -> Vec<u32> {
    moves.iter().map(|mv| u32::from(mv.0)).collect()
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
