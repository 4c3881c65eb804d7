//! What can go wrong with a journal, in sentences.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// Why a journal could not be opened or written.
#[derive(Debug, Error)]
pub enum JournalError {
    /// There is no room on the disk, or no quota; the same again works once there is.
    #[error("no room to write {}: {source}", path.display())]
    Full {
        /// The file that did not fit.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The system refused to read or write.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried, as a verb.
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The database of a segment does not work.
    #[error("the database {} does not work: {reason}", path.display())]
    Database {
        /// The segment.
        path: PathBuf,
        /// What the database says.
        reason: String,
    },
    /// There is no journal in the directory.
    #[error("there is no journal in {}", directory.display())]
    NoJournal {
        /// The directory.
        directory: PathBuf,
    },
    /// Another process has the journal open.
    #[error(
        "the journal {} is in use by another process ({holder}); stop that one first, or give another \
         directory; if it is frozen or cut off, --take-over goes on without it",
        directory.display()
    )]
    InUse {
        /// The journal.
        directory: PathBuf,
        /// Who has it.
        holder: String,
    },
    /// Another process has opened the journal since, and goes on with it.
    #[error(
        "the journal {} was taken over ({by}), which goes on with the solve; this one stops",
        directory.display()
    )]
    Superseded {
        /// The journal.
        directory: PathBuf,
        /// Who has it now.
        by: String,
    },
    /// The journal is about something else.
    #[error(
        "{} is the journal of another solve: {difference}; give it the same again, or another directory",
        path.display()
    )]
    OtherSolve {
        /// The journal, or the one file that is not of it.
        path: PathBuf,
        /// What is not the same.
        difference: String,
    },
    /// The journal was written in another format.
    #[error(
        "{} is in version {found} of the journal's format, and this jlpns reads version {expected}; \
         use the jlpns that wrote it, or another directory",
        path.display()
    )]
    OtherVersion {
        /// The file that says so.
        path: PathBuf,
        /// The version it is in.
        found: u64,
        /// The version that can be read.
        expected: u64,
    },
    /// The journal is damaged beyond repair; it was left as it is.
    #[error(
        "nothing in the journal {} is usable: {files}; bring back a copy of it, or give an empty \
         directory to begin anew",
        directory.display()
    )]
    NothingUsable {
        /// The journal.
        directory: PathBuf,
        /// Its files, and what is wrong with them.
        files: String,
    },
    /// Records or a snapshot that do not continue the journal.
    #[error("cannot add {what} to a journal whose last record is {last}")]
    OutOfOrder {
        /// What was to be added.
        what: String,
        /// The number of the last record.
        last: u64,
    },
    /// The writer's thread ended by a panic.
    #[error("the thread that writes the journal died; its last words are on standard error")]
    WriterDied,
}

impl JournalError {
    /// Whether the same again works once there is room on the disk.
    pub fn is_full(&self) -> bool {
        matches!(self, JournalError::Full { .. })
    }

    /// Whether a file is there already that was to be made.
    pub(super) fn is_taken(&self) -> bool {
        matches!(self, JournalError::Io { source, .. } if source.kind() == io::ErrorKind::AlreadyExists)
    }

    /// Whether the same again fails again.
    pub(super) fn is_final(&self) -> bool {
        matches!(self, JournalError::OutOfOrder { .. } | JournalError::Superseded { .. })
    }

    /// For `map_err`: what was tried with a file that gave an I/O error.
    pub(super) fn at(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> JournalError {
        move |source| {
            let path = path.to_owned();
            if is_full(&source) {
                JournalError::Full { path, source }
            } else {
                JournalError::Io { action, path, source }
            }
        }
    }
}

/// Whether an error says that there is no room.
fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}
