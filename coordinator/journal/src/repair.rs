//! What has to be done to the files of a journal that was found damaged, or is new.
//!
//! Opening reads everything and only decides; the steps are done at once if there is room, and else
//! before the first thing that is written. So a full disk does not keep a journal from being read. A crash
//! between two steps loses nothing: what damaged files hold is on disk elsewhere before they are moved.

use std::collections::VecDeque;
use std::path::Path;

use super::directory::{self, IDENTITY};
use super::error::JournalError;
use super::journal::{ClosedSegment, with_free_serial};
use super::segment::Segment;
use super::{Journal, Record};

/// One step of a repair. Done again after an error, it is done once.
#[derive(Debug)]
pub(super) enum RepairStep {
    /// Write these records, which are only in segments that are to be moved aside, to a segment of
    /// their own. `since` is the first number that is free.
    Rewrite {
        /// The first number that is free.
        since: u64,
        /// The records.
        records: Vec<Record>,
    },
    /// Move a file out of the way.
    MoveAside {
        /// Its name.
        name: String,
        /// Its new name, which says that it is damaged.
        aside: String,
    },
    /// Bring the names to the disk.
    SyncNames,
    /// Write the header to its file.
    WriteHeader,
}

/// The steps that are still to be done.
#[derive(Debug, Default)]
pub(super) struct Repair(VecDeque<RepairStep>);

impl Repair {
    /// Adds a step behind the others.
    pub fn add(&mut self, step: RepairStep) {
        self.0.push_back(step);
    }

    /// Adds the step that moves a file of this directory aside; its new name.
    pub fn move_aside(&mut self, directory: &Path, name: &str) -> String {
        let aside = directory::aside_name(directory, name);
        self.add(RepairStep::MoveAside { name: name.to_owned(), aside: aside.clone() });
        aside
    }
}

impl Journal {
    /// Does what is left of the repair that opening has found necessary. Appending and snapshots do
    /// it before anything else.
    ///
    /// # Errors
    ///
    /// The system refuses; what is left can be tried again.
    pub fn repair(&mut self) -> Result<(), JournalError> {
        if !self.repair.0.is_empty() {
            self.check_generation()?;
        }
        while let Some(step) = self.repair.0.front() {
            match step {
                RepairStep::Rewrite { since, records } => {
                    let last = records.last().map_or(0, |record| record.number);
                    let (directory, header, faults) = (&self.directory, &self.header, &self.faults);
                    let begin =
                        |serial| Segment::begin(directory, serial, *since, header, records, faults);
                    let mut segment =
                        with_free_serial(&mut self.next_serial, &mut self.generation, begin)?;
                    segment.close();
                    self.closed.push(ClosedSegment { serial: segment.serial, last });
                }
                RepairStep::MoveAside { name, aside } => {
                    directory::rename(&self.directory, name, aside)?;
                }
                RepairStep::SyncNames => directory::sync_directory(&self.directory)?,
                RepairStep::WriteHeader => {
                    let path = self.directory.join(IDENTITY);
                    directory::write_whole(&path, &[&self.header], &self.faults)?;
                }
            }
            self.repair.0.pop_front();
        }
        Ok(())
    }
}
