//! Records that count: the one way in which the state of a queue changes, and what its sweeps and solves are asked for
//! after it.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use jlpns_solve::AskedPosition;

use crate::entry::{End, EndKind, Entry, Found, State};
use crate::record::{NumberedEntry, QueueRecord};
use crate::{Queue, QueueAction, Sweep};

impl Queue {
    /// The records that make this queue of an empty one: what a snapshot holds.
    pub fn records(&self) -> impl Iterator<Item = QueueRecord> {
        let of_name = |(submission, &(first, count)): (&String, &(u64, u64))| {
            let entries = (first..first + count).filter_map(|number| {
                let entry = self.entries.get(&number)?;
                Some(NumberedEntry { number, asked: entry.asked.clone(), at: entry.submitted })
            });
            QueueRecord::Submitted { submission: submission.clone(), entries: entries.collect() }
        };
        let submitted = self.submissions.iter().map(of_name);
        let became = self.entries.iter().filter_map(|(&number, entry)| match &entry.end {
            Some(end) => {
                let (end, began) = (end.clone(), entry.began);
                let found = entry.found.clone();
                Some(QueueRecord::Ended { number, end, found, began })
            }
            None if entry.state == State::Open => Some(QueueRecord::Promoted {
                number,
                // Its own solve counts by itself.
                found: Found {
                    nodes: entry.swept.0,
                    search_time: entry.swept.1,
                    ..entry.found.clone()
                },
                at: entry.began.unwrap_or(entry.submitted),
            }),
            None => None,
        });
        let put_out = self.put_out.iter().map(|(identity, name)| QueueRecord::PutOut {
            identity: identity.clone(),
            name: name.clone(),
        });
        let reinstated = self.reinstated.iter();
        let reinstated =
            reinstated.map(|identity| QueueRecord::Reinstated { identity: identity.clone() });
        submitted.chain(became).chain(put_out).chain(reinstated)
    }

    /// Ends an entry. That it has ended is told when it is durable.
    pub(crate) fn end(
        &mut self,
        number: u64,
        kind: EndKind,
        reason: String,
        found: Found,
        now: u64,
    ) {
        let entry = &self.entries[&number];
        // A position that one search has answered was begun so long before.
        let before = u64::try_from(found.search_time.as_millis()).unwrap_or(u64::MAX);
        let has_begun = found.jobs > 0;
        let began = entry.began.or_else(|| has_begun.then(|| now.saturating_sub(before)));
        let end = End { kind, reason, at: now };
        self.record(QueueRecord::Ended { number, end, found, began });
        self.ending.insert(self.written, number);
        self.untold.insert(number);
    }

    /// Numbers a record, has it written, and lets it count.
    pub(crate) fn record(&mut self, record: QueueRecord) {
        self.written += 1;
        let record = Arc::new(record);
        self.actions.push(QueueAction::Record { number: self.written, record: record.clone() });
        self.apply(&record);
    }

    /// The one way in which the state of a queue changes, for records of now and of an earlier life.
    pub(crate) fn apply(&mut self, record: &QueueRecord) {
        match record {
            QueueRecord::Submitted { submission, entries } => {
                let first = entries.first().map_or(self.next, |entry| entry.number);
                self.submissions.insert(submission.clone(), (first, entries.len() as u64));
                for NumberedEntry { number, asked, at } in entries {
                    self.next = self.next.max(number + 1);
                    self.entries.insert(*number, Entry::new(asked.clone(), *at));
                    self.count(State::Waiting, 1);
                    if asked.certificate {
                        self.promote(*number, *at);
                    }
                }
            }
            QueueRecord::Promoted { number, found, at } => {
                self.leave_sweep(*number, true);
                if let Some(entry) = self.entries.get_mut(number) {
                    entry.found = found.clone();
                    entry.swept = (found.nodes, found.search_time);
                }
                self.promote(*number, *at);
            }
            QueueRecord::Ended { number, end, found, began } => {
                // What a sweep has answered it goes on to watch: the answer may not count any more some day.
                self.leave_sweep(*number, end.kind != EndKind::Solved);
                let Some(entry) = self.entries.get_mut(number) else { return };
                let (from, to) = (entry.state, end.kind.state());
                self.promoted.remove(&(Reverse(entry.asked.priority), *number));
                entry.state = to;
                (entry.found, entry.began) = (found.clone(), *began);
                entry.swept = (0, Duration::ZERO);
                entry.end = Some(end.clone());
                self.count_move(from, to);
                if self.open.contains(number) && end.kind == EndKind::Cancelled {
                    self.actions.push(QueueAction::Close(*number));
                }
            }
            QueueRecord::Reopened { number } => {
                let Some(entry) = self.entries.get_mut(number) else { return };
                let from = std::mem::replace(&mut entry.state, State::Waiting);
                (entry.end, entry.began, entry.found) = (None, None, Found::default());
                let sweep = entry.asked.sweep.clone();
                self.count_move(from, State::Waiting);
                self.untold.remove(number);
                self.ending.retain(|_, ended| ended != number);
                // The sweep that withdraws an answer searches the position again by itself.
                self.swept.entry(sweep).or_default().insert(*number);
            }
            QueueRecord::PutOut { identity, name } => {
                self.put_out.insert(identity.clone(), name.clone());
                self.reinstated.remove(identity);
            }
            QueueRecord::Reinstated { identity } => {
                self.put_out.remove(identity);
                self.reinstated.insert(identity.clone());
            }
        }
    }

    /// From now on the entry is for a solve of its own.
    fn promote(&mut self, number: u64, at: u64) {
        let Some(entry) = self.entries.get_mut(&number) else { return };
        let from = std::mem::replace(&mut entry.state, State::Open);
        entry.began.get_or_insert(at);
        self.promoted.insert((Reverse(entry.asked.priority), number));
        self.count_move(from, State::Open);
    }

    fn count(&mut self, state: State, by: i64) {
        let count = self.counts.entry(state).or_default();
        *count = count.saturating_add_signed(by);
    }

    fn count_move(&mut self, from: State, to: State) {
        self.count(from, -1);
        self.count(to, 1);
    }

    /// Asks sweeps for those of the entries that wait.
    pub(crate) fn ask(&mut self, numbers: &[u64]) {
        let mut asked: BTreeMap<Arc<Sweep>, Vec<AskedPosition>> = BTreeMap::new();
        for &number in numbers {
            let Some(entry) = self.entries.get(&number) else { continue };
            if entry.state != State::Waiting {
                continue;
            }
            let most = entry.asked.most_nodes.unwrap_or(u64::MAX);
            asked.entry(entry.asked.sweep.clone()).or_default().push(AskedPosition {
                number,
                moves: entry.asked.moves.clone(),
                priority: entry.asked.priority,
                budget: self.settings.sweep_nodes.min(most).max(1),
            });
        }
        for (sweep, positions) in asked {
            let numbers = positions.iter().map(|position| position.number);
            self.swept.entry(sweep.clone()).or_default().extend(numbers);
            self.actions.push(QueueAction::Ask { sweep, positions });
        }
    }

    /// The entry is not asked for any more, because it has ended or gets a solve of its own.
    fn leave_sweep(&mut self, number: u64, is_moot: bool) {
        let Some(entry) = self.entries.get(&number) else { return };
        let sweep = entry.asked.sweep.clone();
        let Some(numbers) = self.swept.get_mut(&sweep) else { return };
        if !numbers.remove(&number) {
            return;
        }
        if numbers.is_empty() {
            self.swept.remove(&sweep);
            self.actions.push(QueueAction::EndSweep(sweep));
        } else if is_moot {
            self.actions.push(QueueAction::Drop { sweep, numbers: vec![number] });
        }
    }

    /// Opens as many solves as there may be.
    pub(crate) fn open_next(&mut self) {
        while self.open.len() < self.settings.most_open
            && let Some((_, number)) = self.promoted.pop_first()
        {
            self.open.insert(number);
            self.actions.push(QueueAction::Open(number));
        }
    }
}
