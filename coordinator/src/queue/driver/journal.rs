//! The queue's journal: what is written, what of it is durable, and who waits for that.

use std::sync::Arc;

use jlpns_games::spec::Games;
use jlpns_journal::{Record, Snapshot, WriteRequest, WriterEvent};
use jlpns_queue::record::QueueRecord;
use tracing::{info, warn};

use super::{QueueDriver, QueueError, Submitted};
use crate::queue::words::EntryReader;
use crate::queue::written;

impl QueueDriver {
    /// What the journal's writer says.
    pub(super) fn hear(&mut self, event: WriterEvent) -> Result<(), QueueError> {
        match event {
            WriterEvent::Durable { through } => {
                self.queue.note_durable(through);
                let later = self.answers.split_off(&(through + 1));
                let due = std::mem::replace(&mut self.answers, later);
                due.into_values().flatten().for_each(Submitted::tell);
            }
            WriterEvent::Snapshotted { .. } => {}
            WriterEvent::Full { reason } => {
                warn!("{reason}; nothing is taken into the queue until there is room");
                self.halted = Some(reason);
            }
            WriterEvent::Room => {
                info!("there is room for the queue's journal again");
                self.halted = None;
            }
            WriterEvent::Failed(reason) => return Err(QueueError::Broken(reason)),
        }
        Ok(())
    }

    pub(super) fn write_snapshot(&mut self) {
        let through = self.queue.written();
        self.snapshot = through;
        self.writer.request(Unwritten::Snapshot(through, self.queue.records().collect()));
    }

    /// Answers a client when a record is durable.
    pub(super) fn answer(&mut self, record: u64, answer: Submitted) {
        if self.queue.durable() >= record {
            answer.tell();
        } else {
            self.answers.entry(record).or_default().push(answer);
        }
    }
}

/// What the thread of the writer is to encode and write: neither is done on the queue's task, which everybody waits for.
pub(super) enum Unwritten {
    Record(u64, Arc<QueueRecord>),
    Snapshot(u64, Vec<QueueRecord>),
}

pub(super) fn encode(unwritten: Unwritten) -> WriteRequest {
    match unwritten {
        Unwritten::Record(number, record) => {
            let bytes = written::record_to_bytes(&record);
            WriteRequest::Append(vec![Record { number, bytes }])
        }
        Unwritten::Snapshot(through, records) => {
            let bytes = written::snapshot_to_bytes(records.iter());
            WriteRequest::Snapshot { through, settled: true, bytes }
        }
    }
}

/// The records that make the queue, the number of the last one, and that of the snapshot among them.
pub(super) fn read(
    games: &Games,
    snapshots: Vec<Snapshot>,
    records: Vec<Record>,
) -> Result<(Vec<QueueRecord>, u64, u64), QueueError> {
    let mut reader = EntryReader::new(games);
    let mut through = 0;
    let mut read = Vec::new();
    for snapshot in snapshots {
        match written::snapshot_from_bytes(&snapshot.bytes, &mut reader) {
            Ok(records) => {
                (read, through) = (records, snapshot.through);
                break;
            }
            Err(error) => {
                let number = snapshot.through;
                warn!("the snapshot after record {number} of the queue is not used: {error}");
            }
        }
    }
    let snapshot = through;
    for Record { number, bytes } in records {
        if number > through {
            let record = written::record_from_bytes(&bytes, &mut reader);
            read.push(record.map_err(|reason| QueueError::Record { number, reason })?);
            through = number;
        }
    }
    Ok((read, through, snapshot))
}
