//! Records and snapshots as bytes, and back: the messages of `journal.proto`.

use std::time::Duration;

use jlpns_games::Move;
use jlpns_proto::convert::{WireError, in_range, moves};
use jlpns_proto::prost::{DecodeError, Message};
use jlpns_proto::v1;
use jlpns_proto::v1::journal_record::Kind;
use jlpns_search::{Findings, Question};
use jlpns_solve::belief::{Claims, ClaimsError, Identity, Machine, MachineId};
use jlpns_solve::{LeaseId, ProofId, Record, Report, Snapshot};

/// Why bytes are no record or snapshot.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ReadError {
    /// They are no message.
    #[error("it cannot be read: {0}")]
    Message(#[from] DecodeError),
    /// A field of the message is wrong.
    #[error("it has a wrong field: {0}")]
    Field(#[from] WireError),
    /// The claims of a snapshot are wrong.
    #[error(transparent)]
    Claims(#[from] ClaimsError),
}

/// A record as bytes.
pub fn record_to_bytes(record: &Record) -> Vec<u8> {
    let kind = match record {
        // A release that knows no hearsay must not take it for its machine's word.
        Record::Report(report) if report.hearsay => Kind::Hearsay(report_to_wire(report)),
        Record::Report(report) => Kind::Report(report_to_wire(report)),
        Record::Split { moves } => Kind::Split(v1::RecordedSplit { moves: codes(moves) }),
        Record::Machine { identity, name } => {
            let machine =
                Machine { identity: identity.clone(), name: name.clone(), ..Machine::default() };
            Kind::Machine(machine_to_wire(machine))
        }
        Record::Secret(secret) => Kind::Secret(secret.to_le_bytes().to_vec()),
        Record::PutOut { machine } => Kind::PutOut(machine.0),
        Record::Reinstated { machine } => Kind::Reinstated(machine.0),
        Record::TakenBack { at: (key, threshold), moves } => {
            Kind::TakenBack(v1::RecordedTakenBack {
                key_low: *key as u64,
                key_high: (*key >> 64) as u64,
                threshold: u32::from(*threshold),
                moves: codes(moves),
            })
        }
    };
    v1::JournalRecord { kind: Some(kind) }.encode_to_vec()
}

/// The record that was written as `bytes`.
pub fn record_from_bytes(bytes: &[u8]) -> Result<Record, ReadError> {
    let record = v1::JournalRecord::decode(bytes)?;
    Ok(match record.kind.ok_or(WireError::Missing("record.kind"))? {
        Kind::Report(report) => Record::Report(report_from_wire(report, false)?),
        Kind::Hearsay(report) => Record::Report(report_from_wire(report, true)?),
        Kind::Split(split) => Record::Split { moves: moves("record.moves", &split.moves)? },
        Kind::Machine(machine) => {
            let Machine { identity, name, .. } = machine_from_wire(machine);
            Record::Machine { identity, name }
        }
        Kind::Secret(bytes) => Record::Secret(secret("record.secret", &bytes)?),
        Kind::PutOut(machine) => Record::PutOut { machine: MachineId(machine) },
        Kind::Reinstated(machine) => Record::Reinstated { machine: MachineId(machine) },
        Kind::TakenBack(taken) => {
            let key = u128::from(taken.key_high) << 64 | u128::from(taken.key_low);
            let threshold = in_range("record.threshold", u64::from(taken.threshold), 0, 255)?;
            let moves = moves("record.moves", &taken.moves)?;
            Record::TakenBack { at: (key, threshold as u8), moves }
        }
    })
}

/// A snapshot as bytes; the number of its last record is kept beside it.
pub fn snapshot_to_bytes(snapshot: Snapshot) -> Vec<u8> {
    v1::JournalSnapshot {
        jobs: snapshot.jobs,
        nodes: snapshot.nodes,
        refused: snapshot.refused,
        search_us: micros(snapshot.search_time),
        time_us: micros(snapshot.time),
        without_room: snapshot.without_room,
        reported_most_proving: snapshot.reported_most_proving.map(|mv| u32::from(mv.0)),
        has_ended_sharing: snapshot.has_ended_sharing,
        ended: snapshot.ended.into_iter().flat_map(|(first, last)| [first, last]).collect(),
        tree: snapshot.tree,
        secret: snapshot.secret.to_le_bytes().to_vec(),
        machines: snapshot.machines.into_iter().map(machine_to_wire).collect(),
        claims: snapshot.claims.to_bytes(),
    }
    .encode_to_vec()
}

/// The snapshot that was written as `bytes`, after the record with number `through`.
pub fn snapshot_from_bytes(through: u64, bytes: &[u8]) -> Result<Snapshot, ReadError> {
    let snapshot = v1::JournalSnapshot::decode(bytes)?;
    let best: Vec<u32> = snapshot.reported_most_proving.into_iter().collect();
    let machines: Vec<Machine> = snapshot.machines.into_iter().map(machine_from_wire).collect();
    let claims = Claims::from_bytes(&snapshot.claims, machines.len())?;
    Ok(Snapshot {
        through,
        jobs: snapshot.jobs,
        nodes: snapshot.nodes,
        refused: snapshot.refused,
        search_time: Duration::from_micros(snapshot.search_us),
        time: Duration::from_micros(snapshot.time_us),
        without_room: snapshot.without_room,
        reported_most_proving: moves("snapshot.reported_most_proving", &best)?.first().copied(),
        has_ended_sharing: snapshot.has_ended_sharing,
        secret: secret("snapshot.secret", &snapshot.secret)?,
        ended: snapshot
            .ended
            .as_chunks::<2>()
            .0
            .iter()
            .map(|&[first, last]| (first, last))
            .collect(),
        tree: snapshot.tree,
        machines,
        claims,
    })
}

fn report_to_wire(report: &Report) -> v1::RecordedReport {
    v1::RecordedReport {
        machine: report.machine.0,
        lease_id: report.lease.0,
        moves: codes(&report.moves),
        question: Some(report.question.into()),
        findings: Some(v1::Findings::from(&report.findings)),
        elapsed_us: micros(report.elapsed),
        at_us: micros(report.at),
        proof: report.proof.map(|ProofId(id)| id.to_vec()),
    }
}

fn report_from_wire(report: v1::RecordedReport, hearsay: bool) -> Result<Report, ReadError> {
    let question = report.question.ok_or(WireError::Missing("record.question"))?;
    let findings = report.findings.ok_or(WireError::Missing("record.findings"))?;
    Ok(Report {
        machine: MachineId(report.machine),
        lease: LeaseId(report.lease_id),
        moves: moves("record.moves", &report.moves)?,
        question: Question::try_from(question)?,
        findings: Findings::try_from(findings)?,
        hearsay,
        elapsed: Duration::from_micros(report.elapsed_us),
        at: Duration::from_micros(report.at_us),
        proof: report.proof.map(|id| proof("record.proof", &id)).transpose()?,
    })
}

pub(crate) fn machine_to_wire(machine: Machine) -> v1::RecordedMachine {
    let Identity { certificate, machine: id, address } = machine.identity;
    v1::RecordedMachine {
        certificate,
        machine: id,
        address,
        name: machine.name,
        claims: machine.claims,
        confirmed: machine.confirmed,
        quarantined: machine.quarantined,
    }
}

pub(crate) fn machine_from_wire(machine: v1::RecordedMachine) -> Machine {
    let v1::RecordedMachine { certificate, machine: id, address, .. } = machine;
    Machine {
        identity: Identity { certificate, machine: id, address },
        name: machine.name,
        claims: machine.claims,
        confirmed: machine.confirmed,
        quarantined: machine.quarantined,
    }
}

fn proof(field: &'static str, bytes: &[u8]) -> Result<ProofId, WireError> {
    Ok(ProofId(bytes.try_into().map_err(|_| WireError::Missing(field))?))
}

fn secret(field: &'static str, bytes: &[u8]) -> Result<u128, WireError> {
    let bytes = bytes.try_into().map_err(|_| WireError::Missing(field))?;
    Ok(u128::from_le_bytes(bytes))
}

fn codes(moves: &[Move]) -> Vec<u32> {
    moves.iter().map(|mv| u32::from(mv.0)).collect()
}

pub(crate) fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
