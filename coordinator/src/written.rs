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

#[cfg(test)]
mod tests {
    use jlpns_games::{Bounds, Outcome, Threshold};
    use jlpns_search::{ChildFindings, Effort, EffortPair};
    use jlpns_solve::belief::{Claim, Standing};

    use super::*;

    fn identity(certificate: Option<&str>) -> Identity {
        let certificate = certificate.map(str::to_owned);
        Identity { certificate, machine: "m".to_owned(), address: "10.0.0.7".to_owned() }
    }

    fn report(hearsay: bool, proof: Option<ProofId>, question: Question) -> Record {
        let open = EffortPair { proof: Effort::finite(3), disproof: Effort::finite(4) };
        let efforts = vec![open; question.thresholds().1];
        Record::Report(Report {
            machine: MachineId(2),
            lease: LeaseId(17),
            moves: vec![Move(3), Move(0)],
            question,
            findings: Findings {
                children: vec![ChildFindings { mv: Move(1), efforts: efforts.clone() }],
                efforts,
                nodes: 1 << 40,
                most_proving_move: Some(Move(1)),
            },
            hearsay,
            elapsed: Duration::from_micros(5),
            at: Duration::from_micros(6),
            proof,
        })
    }

    /// Above all a report on hearsay must not come back as its machine's word, nor one with a certificate without.
    #[test]
    fn records_come_back_as_they_were() {
        let value = Question::Value(Bounds { lower: Outcome(0), upper: Outcome(2) });
        let questions = [Question::Threshold(Threshold(1)), value];
        let proofs = [None, Some(ProofId([9; 32]))];
        let mut records = vec![
            Record::Split { moves: vec![Move(2)] },
            Record::Machine { identity: identity(None), name: "w".to_owned() },
            Record::Machine { identity: identity(Some("CN=w")), name: "w".to_owned() },
            Record::Secret(u128::MAX - 5),
            Record::PutOut { machine: MachineId(3) },
            Record::Reinstated { machine: MachineId(3) },
            Record::TakenBack { at: (u128::MAX - 7, 255), moves: vec![Move(4), Move(4)] },
        ];
        for hearsay in [false, true] {
            for proof in proofs {
                records.extend(questions.map(|question| report(hearsay, proof, question)));
            }
        }
        for record in records {
            let read = record_from_bytes(&record_to_bytes(&record));
            assert_eq!(read.as_ref(), Ok(&record));
        }
    }

    #[test]
    fn a_snapshot_comes_back_as_it_was() {
        let machine = |quarantined, certificate| Machine {
            identity: identity(certificate),
            name: "w".to_owned(),
            claims: 8,
            confirmed: 5,
            quarantined,
        };
        let mut claims = Claims::default();
        let standings = [
            Standing::Hearsay,
            Standing::Claimed,
            Standing::Contradicted { by: MachineId(2) },
            Standing::Confirmed { by: MachineId(2) },
            Standing::Proved,
        ];
        for (key, standing) in (1..).zip(standings) {
            let holds = key % 2 == 0;
            claims.insert((key, 1), Claim { holds, by: MachineId(1), work: 30, standing });
        }
        claims.expand(77);
        let machines = vec![machine(false, None), machine(true, None), machine(false, Some("CN"))];
        for (has_ended_sharing, best) in [(false, None), (true, Some(Move(3)))] {
            let snapshot = Snapshot {
                through: 44,
                secret: 1 << 99,
                jobs: 1,
                nodes: 2,
                refused: 3,
                search_time: Duration::from_micros(4),
                time: Duration::from_micros(5),
                without_room: 6,
                reported_most_proving: best,
                has_ended_sharing,
                machines: machines.clone(),
                claims: claims.clone(),
                ended: vec![(1, 8), (10, 12)],
                tree: vec![1, 2, 3],
            };
            let read = snapshot_from_bytes(44, &snapshot_to_bytes(snapshot.clone()));
            assert_eq!(read, Ok(snapshot));
        }
    }
}
