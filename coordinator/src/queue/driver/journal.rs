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
    let (mut read, mut unreadable) = (Vec::new(), None);
    for snapshot in snapshots {
        match written::snapshot_from_bytes(&snapshot.bytes, &mut reader) {
            Ok(records) => {
                (read, through, unreadable) = (records, snapshot.through, None);
                break;
            }
            Err(error) => {
                let number = snapshot.through;
                warn!("the snapshot after record {number} of the queue is not used: {error}");
                unreadable.get_or_insert((number, error));
            }
        }
    }
    // A queue that went on from there would be an empty one, and take the place of the one that was.
    let is_whole = records.first().is_some_and(|record| record.number == 1);
    if let Some((number, reason)) = unreadable.filter(|_| !is_whole) {
        return Err(QueueError::Snapshot { number, reason });
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

#[cfg(test)]
mod tests {
    use super::*;

    /// What another program has kept, with a game that this one does not know, is not to be taken for nothing.
    #[test]
    fn a_queue_whose_snapshots_cannot_be_read_is_not_an_empty_one() {
        let games = Games::built_in();
        let empty = written::snapshot_to_bytes([].iter());
        let torn = |through| Snapshot { through, settled: true, bytes: vec![0xff; 9] };
        let whole = |through| Snapshot { through, settled: true, bytes: empty.clone() };
        let error = read(&games, vec![torn(9), torn(5)], Vec::new()).unwrap_err().to_string();
        assert!(error.starts_with("no snapshot of the queue can be read"), "{error}");
        assert!(error.contains("after record 9"), "{error}");
        let (records, through, snapshot) =
            read(&games, vec![torn(9), whole(5)], Vec::new()).expect("the older one");
        assert_eq!((records.len(), through, snapshot), (0, 5, 5));
        assert_eq!(read(&games, Vec::new(), Vec::new()).expect("a new one").1, 0);
    }
}
