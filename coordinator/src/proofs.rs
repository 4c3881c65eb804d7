//! The certificates of jobs: parts that come in from workers, the check by the rules alone, and the folder
//! where those are kept that hold. What is in it is a proof whoever made it.

use std::fs::{self, File};
use std::io::{self, BufReader, Read, Write};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::thread;

use jlpns_certificate::check_piece;
use jlpns_games::spec::{GameSpec, format_moves};
use jlpns_games::{Game, Move, with_game};
use jlpns_proto::{MAX_CERTIFICATE, MAX_PART};
use jlpns_search::strategy::Claim;
use jlpns_search::{Findings, Question};
use jlpns_solve::ProofId;
use jlpns_verify::{Failure, Proved, Settings};
use tempfile::{NamedTempFile, TempDir};
use tokio::sync::{Semaphore, SemaphorePermit};

/// The folder beside a journal.
const FOLDER: &str = "proofs";
/// How the names of files begin of which parts are missing.
const INCOMING: &str = "incoming-";
/// How the names of its files end.
const ENDING: &str = ".certificate";
/// The memory that the check of one certificate may take for positions, in bytes.
const CHECK_MEMORY: usize = 128 << 20;

/// A folder of certificates that were checked, of the positions of one game.
#[derive(Debug)]
pub struct ProofFolder {
    spec: GameSpec,
    directory: PathBuf,
    /// Without a journal the folder goes with the process.
    _temporary: Option<TempDir>,
    /// As many certificates are checked at a time as there are cores.
    turns: Semaphore,
}

/// Why a certificate is not kept.
#[derive(Debug, thiserror::Error)]
pub enum NotKept {
    /// It does not show what it was to show, for this reason.
    #[error("{0}")]
    Bad(String),
    /// The machine failed, and says nothing of the certificate.
    #[error("the certificate of a job cannot be kept: {0}")]
    Trouble(String),
}

impl ProofFolder {
    /// The folder of the solve that is kept in this directory; it is made if it is not there.
    pub fn beside_journal(spec: GameSpec, journal: &Path) -> io::Result<ProofFolder> {
        let directory = journal.join(FOLDER);
        fs::create_dir_all(&directory)?;
        for entry in fs::read_dir(&directory)? {
            let entry = entry?;
            if entry.file_name().to_str().is_some_and(|name| name.starts_with(INCOMING)) {
                // Of a process that was killed; its worker sends the parts again.
                fs::remove_file(entry.path())?;
            }
        }
        Ok(ProofFolder { spec, directory, _temporary: None, turns: turns() })
    }

    /// Whether certificates are kept beside a journal; nothing is tidied there.
    pub fn has_any(journal: &Path) -> io::Result<bool> {
        let entries = match fs::read_dir(journal.join(FOLDER)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            entries => entries?,
        };
        for entry in entries {
            if entry?.file_name().to_str().is_some_and(|name| name.ends_with(ENDING)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// A folder for as long as this process runs.
    pub fn temporary(spec: GameSpec) -> io::Result<ProofFolder> {
        let temporary = TempDir::with_prefix("jlpns-proofs-")?;
        let directory = temporary.path().to_owned();
        Ok(ProofFolder { spec, directory, _temporary: Some(temporary), turns: turns() })
    }

    /// Waits for a core to check a certificate with.
    pub async fn turn(&self) -> Option<SemaphorePermit<'_>> {
        self.turns.acquire().await.ok()
    }

    /// The files in it, by their names.
    pub fn files(&self) -> io::Result<Vec<PathBuf>> {
        let mut files = Vec::new();
        for entry in fs::read_dir(&self.directory)? {
            let path = entry?.path();
            let name = path.file_name().and_then(|name| name.to_str());
            if name.is_some_and(|name| name.ends_with(ENDING)) {
                files.push(path);
            }
        }
        files.sort();
        Ok(files)
    }

    /// A file for the parts of a certificate.
    pub fn begin(&self) -> Result<IncomingCertificate, NotKept> {
        let file = NamedTempFile::with_prefix_in(INCOMING, &self.directory).map_err(trouble)?;
        Ok(IncomingCertificate { file, bytes: 0 })
    }

    /// Checks a certificate by the rules alone: it must show what the search of a job has found about the
    /// position after these moves. Then it is on disk when this returns.
    pub fn keep(
        &self,
        incoming: IncomingCertificate,
        moves: &[Move],
        question: Question,
        findings: &Findings,
    ) -> Result<ProofId, NotKept> {
        let bad = |why: &str| NotKept::Bad(why.to_owned());
        let Question::Threshold(threshold) = question else {
            return Err(bad("it comes with the answer to more than one threshold"));
        };
        let verdict = findings.efforts.first().and_then(|pair| pair.verdict());
        let holds = verdict.ok_or_else(|| bad("it comes without an answer"))?;
        let proved = self.check(incoming.file.as_file(), moves, Claim { threshold, holds })?;
        let id = id(&proved);
        incoming.file.as_file().sync_all().map_err(trouble)?;
        let path = self.directory.join(format!("{id}{ENDING}"));
        incoming.file.persist(&path).map_err(|error| trouble(error.error))?;
        File::open(&self.directory).and_then(|folder| folder.sync_all()).map_err(trouble)?;
        Ok(id)
    }

    fn check(&self, file: &File, moves: &[Move], claim: Claim) -> Result<Proved, NotKept> {
        let settings = Settings {
            threads: NonZero::<usize>::MIN,
            memory: CHECK_MEMORY,
            scratch: self.directory.clone(),
        };
        let (moves, goal) = with_game!(self.spec.game(), game => {
            (format_moves(game, moves), claim.goal().display(game.scale()).to_string())
        });
        let mut file = file.try_clone().map_err(trouble)?;
        io::Seek::rewind(&mut file).map_err(trouble)?;
        check_piece(BufReader::new(file), &self.spec, &moves, &goal, &settings).map_err(|failure| {
            match failure {
                Failure::Fails(why) | Failure::Unreadable(why) => NotKept::Bad(why),
                Failure::Trouble(why) => NotKept::Trouble(why),
            }
        })
    }
}

/// A certificate of which parts have come.
#[derive(Debug)]
pub struct IncomingCertificate {
    file: NamedTempFile,
    bytes: u64,
}

impl IncomingCertificate {
    /// How many bytes have come.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Takes the next part.
    pub fn add(&mut self, part: &[u8]) -> Result<(), NotKept> {
        if part.is_empty() || part.len() > MAX_PART {
            let why = format!("a part has {} bytes; it may have 1 to {MAX_PART}", part.len());
            return Err(NotKept::Bad(why));
        }
        let bytes = self.bytes + part.len() as u64;
        if bytes > MAX_CERTIFICATE {
            let why = format!("it is longer than {MAX_CERTIFICATE} bytes");
            return Err(NotKept::Bad(why));
        }
        self.file.write_all(part).map_err(trouble)?;
        self.bytes = bytes;
        Ok(())
    }

    /// Takes all of it at once.
    pub fn take(&mut self, mut bytes: impl Read) -> Result<(), NotKept> {
        self.bytes += io::copy(&mut bytes, &mut self.file).map_err(trouble)?;
        Ok(())
    }
}

fn turns() -> Semaphore {
    Semaphore::new(thread::available_parallelism().map_or(1, usize::from))
}

/// The SHA-256 that the checker has found.
fn id(proved: &Proved) -> ProofId {
    let digit = |byte: u8| (byte as char).to_digit(16).unwrap_or_default() as u8;
    let pairs = proved.sha256.as_bytes().as_chunks::<2>().0;
    let mut id = [0; 32];
    for (byte, &[high, low]) in id.iter_mut().zip(pairs) {
        *byte = digit(high) << 4 | digit(low);
    }
    ProofId(id)
}

fn trouble(error: io::Error) -> NotKept {
    NotKept::Trouble(error.to_string())
}

#[cfg(test)]
mod tests {
    use jlpns_games::{Bounds, Outcome};
    use jlpns_search::EffortPair;

    use super::*;

    /// What a certificate shows of one threshold must not pass for an answer to all of them.
    #[test]
    fn a_certificate_is_for_one_threshold() {
        let folder = ProofFolder::temporary("connect4:4x4".parse().unwrap()).unwrap();
        let question = Question::Value(Bounds { lower: Outcome(0), upper: Outcome(2) });
        let [yes, no] = [true, false].map(EffortPair::solved);
        let findings = Findings {
            efforts: vec![yes, no],
            children: Vec::new(),
            nodes: 1,
            most_proving_move: None,
        };
        let kept = folder.keep(folder.begin().unwrap(), &[], question, &findings);
        let refused = kept.expect_err("two thresholds").to_string();
        assert_eq!(refused, "it comes with the answer to more than one threshold");
        assert_eq!(folder.files().unwrap(), Vec::<PathBuf>::new());
    }
}
