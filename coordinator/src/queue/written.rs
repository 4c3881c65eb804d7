//! The records of a queue as bytes, and back: the messages of `queue_journal.proto`.

use std::time::Duration;

use jlpns_games::{Bounds, Move};
use jlpns_proto::convert::{WireError, in_range};
use jlpns_proto::prost::{DecodeError, Message};
use jlpns_proto::v1;
use jlpns_proto::v1::queue_journal_record::Kind;
use jlpns_queue::entry::{End, EndKind, Found};
use jlpns_queue::record::{NumberedEntry, QueueRecord};
use jlpns_solve::belief::{Identity, Machine};

use super::words::{BadEntry, EntryReader, asked_to_wire, state_to_wire};
use crate::written::{machine_from_wire, machine_to_wire, micros};

/// Why bytes are no record of a queue.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ReadError {
    /// They are no message.
    #[error("it cannot be read: {0}")]
    Message(#[from] DecodeError),
    /// A field of the message is wrong.
    #[error("it has a wrong field: {0}")]
    Field(#[from] WireError),
    /// An entry is of a game that this program does not know, or against its rules.
    #[error("it has an entry of another release: {0}")]
    Entry(#[from] BadEntry),
}

/// A record as bytes.
pub fn record_to_bytes(record: &QueueRecord) -> Vec<u8> {
    to_message(record).encode_to_vec()
}

/// The record that was written as `bytes`.
pub fn record_from_bytes(
    bytes: &[u8],
    reader: &mut EntryReader<'_>,
) -> Result<QueueRecord, ReadError> {
    of_message(v1::QueueJournalRecord::decode(bytes)?, reader)
}

/// A snapshot, of the records that make the queue, as bytes.
pub fn snapshot_to_bytes<'a>(records: impl Iterator<Item = &'a QueueRecord>) -> Vec<u8> {
    let records = records.map(to_message).collect();
    v1::QueueJournalSnapshot { records }.encode_to_vec()
}

/// The records of the snapshot that was written as `bytes`.
pub fn snapshot_from_bytes(
    bytes: &[u8],
    reader: &mut EntryReader<'_>,
) -> Result<Vec<QueueRecord>, ReadError> {
    let snapshot = v1::QueueJournalSnapshot::decode(bytes)?;
    snapshot.records.into_iter().map(|record| of_message(record, reader)).collect()
}

fn to_message(record: &QueueRecord) -> v1::QueueJournalRecord {
    let kind = match record {
        QueueRecord::Submitted { submission, entries } => Kind::Submitted(v1::RecordedSubmission {
            submission: submission.clone(),
            first: entries.first().map_or(0, |entry| entry.number),
            at_ms: entries.first().map_or(0, |entry| entry.at),
            entries: entries.iter().map(|entry| asked_to_wire(&entry.asked)).collect(),
        }),
        QueueRecord::Promoted { number, found, at } => Kind::Promoted(v1::RecordedPromotion {
            number: *number,
            found: Some(found_to_wire(found)),
            at_ms: *at,
        }),
        QueueRecord::Ended { number, end, found, began } => Kind::Ended(v1::RecordedEnd {
            number: *number,
            state: state_to_wire(end.kind.state()).into(),
            reason: end.reason.clone(),
            found: Some(found_to_wire(found)),
            began_ms: *began,
            at_ms: end.at,
        }),
        QueueRecord::Reopened { number } => Kind::Reopened(*number),
        QueueRecord::PutOut { identity, name } => Kind::PutOut(machine(identity, name)),
        QueueRecord::Reinstated { identity } => Kind::Reinstated(machine(identity, "")),
    };
    v1::QueueJournalRecord { kind: Some(kind) }
}

fn of_message(
    record: v1::QueueJournalRecord,
    reader: &mut EntryReader<'_>,
) -> Result<QueueRecord, ReadError> {
    Ok(match record.kind.ok_or(WireError::Missing("record.kind"))? {
        Kind::Submitted(submitted) => {
            let at = submitted.at_ms;
            let entries = (submitted.first..).zip(submitted.entries);
            let entries = entries.map(|(number, entry)| {
                Ok(NumberedEntry { number, asked: reader.read(entry)?, at })
            });
            let entries: Result<_, BadEntry> = entries.collect();
            QueueRecord::Submitted { submission: submitted.submission, entries: entries? }
        }
        Kind::Promoted(promoted) => QueueRecord::Promoted {
            number: promoted.number,
            found: found_of_wire(promoted.found)?,
            at: promoted.at_ms,
        },
        Kind::Ended(ended) => {
            let kind = match ended.state() {
                v1::EntryState::Solved => EndKind::Solved,
                v1::EntryState::Stopped => EndKind::Stopped,
                v1::EntryState::Cancelled => EndKind::Cancelled,
                v1::EntryState::Failed => EndKind::Failed,
                v1::EntryState::Unspecified | v1::EntryState::Waiting | v1::EntryState::Open => {
                    return Err(WireError::Missing("record.state").into());
                }
            };
            let end = End { kind, reason: ended.reason, at: ended.at_ms };
            let (found, began) = (found_of_wire(ended.found)?, ended.began_ms);
            QueueRecord::Ended { number: ended.number, end, found, began }
        }
        Kind::Reopened(number) => QueueRecord::Reopened { number },
        Kind::PutOut(machine) => {
            let Machine { identity, name, .. } = machine_from_wire(machine);
            QueueRecord::PutOut { identity, name }
        }
        Kind::Reinstated(machine) => {
            QueueRecord::Reinstated { identity: machine_from_wire(machine).identity }
        }
    })
}

fn machine(identity: &Identity, name: &str) -> v1::RecordedMachine {
    let (identity, name) = (identity.clone(), name.to_owned());
    machine_to_wire(Machine { identity, name, ..Machine::default() })
}

fn found_to_wire(found: &Found) -> v1::RecordedFound {
    let (certificate, certificate_sha256) = found.certificate.clone().unwrap_or_default();
    v1::RecordedFound {
        bounds: found.bounds.map(|Bounds { lower, upper }| v1::Bounds {
            lower: u32::from(lower.0),
            upper: u32::from(upper.0),
        }),
        best_move: found.best_move.map(|Move(code)| u32::from(code)),
        nodes: found.nodes,
        jobs: found.jobs,
        search_us: micros(found.search_time),
        claims: found.claims.map(|(claims, _)| claims),
        claims_confirmed: found.claims.map_or(0, |(_, confirmed)| confirmed),
        certificate,
        certificate_sha256,
    }
}

fn found_of_wire(found: Option<v1::RecordedFound>) -> Result<Found, WireError> {
    let found = found.ok_or(WireError::Missing("record.found"))?;
    let outcome = |name, number: u32| -> Result<jlpns_games::Outcome, WireError> {
        Ok(jlpns_games::Outcome(in_range(name, u64::from(number), 0, 254)? as u8))
    };
    let bounds = found.bounds.map(|bounds| {
        let lower = outcome("record.bounds.lower", bounds.lower)?;
        Ok(Bounds { lower, upper: outcome("record.bounds.upper", bounds.upper)? })
    });
    let best_move = found.best_move.map(|code| {
        let code = in_range("record.best_move", u64::from(code), 0, u64::from(u16::MAX))?;
        Ok(Move(code as u16))
    });
    Ok(Found {
        bounds: bounds.transpose()?,
        best_move: best_move.transpose()?,
        nodes: found.nodes,
        jobs: found.jobs,
        search_time: Duration::from_micros(found.search_us),
        claims: found.claims.map(|claims| (claims, found.claims_confirmed)),
        certificate: (!found.certificate.is_empty())
            .then_some((found.certificate, found.certificate_sha256)),
    })
}
