//! Solves of a queue: each begins in a directory of its own, or goes on there, and has a driver of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::Context;
use jlpns_games::spec::GameSpec;
use jlpns_queue::Sweep;
use jlpns_queue::entry::{Asked, EndKind, Entry, Found};
use jlpns_search::Algorithm;
use jlpns_solve::belief::Confirm;
use jlpns_solve::{AskedPosition, Solve, SolveSettings, Tidings};
use tokio::sync::mpsc::UnboundedSender;

use crate::cli::{certificate_of_entry, is_no_proof};
use crate::driver::{Driver, DriverConfig};
use crate::proofs::ProofFolder;
use crate::recorder::{OtherProcess, take_up};

/// The folders of the queue's directory.
const SWEEPS: &str = "sweeps";
const SOLVES: &str = "solves";
const CERTIFICATES: &str = "certificates";

/// How every solve of a queue goes about its work.
#[derive(Clone)]
pub struct Template {
    /// The settings of a solve of a game.
    pub settings: Arc<dyn Fn(GameSpec) -> SolveSettings + Send + Sync>,
    /// How long a lease lasts without a heartbeat.
    pub lease_length: Duration,
    /// What must be confirmed before an answer counts.
    pub confirm: Confirm,
    /// What must be the same when the queue is taken up: names and values.
    pub facts: Vec<(String, String)>,
}

impl Template {
    fn of(&self, spec: &GameSpec) -> SolveSettings {
        let mut settings = (self.settings)(spec.clone());
        settings.lease_length = self.lease_length;
        settings.belief.confirm = self.confirm;
        settings
    }
}

/// An answer whose certificate could not be made, because of the machine.
#[derive(Debug)]
pub struct Uncertified {
    /// What was wrong.
    pub reason: String,
    /// What was found.
    pub found: Found,
}

/// How the solves of a queue are opened.
#[derive(Clone)]
pub struct Opening {
    /// The directory of the queue.
    pub directory: PathBuf,
    /// The name of the queue, which the names of its solves begin with.
    pub queue_id: String,
    /// How each is solved: the game, the moves and the goal are those of the entry.
    pub template: Template,
    /// Whether another process that has the journals open is to stop.
    pub other: OtherProcess,
    /// Set when the queue is stopped: then no certificate is made any more.
    pub is_stopping: Arc<AtomicBool>,
}

impl Opening {
    /// The name of the solve of an entry's own.
    pub fn id_of_solve(&self, number: u64) -> String {
        format!("{}-{number}", self.queue_id)
    }

    /// The name of a sweep.
    pub fn id_of_sweep(&self, sweep: &Sweep) -> String {
        // It is an address within one coordinator, of at most 64 characters.
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        for byte in sweep.spec.bytes().chain([0]).chain(sweep.goal.bytes()) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        format!("{}-sweep-{hash:016x}", self.queue_id)
    }

    /// Begins a sweep, or goes on with it.
    pub fn sweep(
        &self,
        sweep: &Sweep,
        of: &Asked,
        positions: Vec<AskedPosition>,
        tidings: UnboundedSender<Tidings>,
    ) -> anyhow::Result<Driver> {
        let id = self.id_of_sweep(sweep);
        let name = id.rsplit('-').next().unwrap_or("sweep").to_owned();
        let settings = SolveSettings {
            goal: of.goal,
            // The fastest of all where one search is to answer all.
            sub_search: Algorithm::AlphaBeta,
            beside: None,
            growth: None,
            positions: Some(positions),
            ..self.template.of(&of.spec)
        };
        let directory = self.directory.join(SWEEPS).join(name);
        Ok(self.driver(&directory, id, settings)?.telling(tidings))
    }

    /// Begins the solve of an entry's own, or goes on with it.
    pub fn solve(
        &self,
        number: u64,
        asked: &Asked,
        tidings: UnboundedSender<Tidings>,
    ) -> anyhow::Result<Driver> {
        let mut settings = SolveSettings {
            moves: asked.moves.clone(),
            goal: asked.goal,
            ..self.template.of(&asked.spec)
        };
        if asked.certificate {
            settings.belief.confirm = Confirm::Proof;
        }
        let directory = self.directory_of_solve(number);
        Ok(self.driver(&directory, self.id_of_solve(number), settings)?.telling(tidings))
    }

    fn directory_of_solve(&self, number: u64) -> PathBuf {
        self.directory.join(SOLVES).join(number.to_string())
    }

    fn driver(
        &self,
        directory: &Path,
        id: String,
        settings: SolveSettings,
    ) -> anyhow::Result<Driver> {
        let shown = || format!("cannot use {}", directory.display());
        fs::create_dir_all(directory).with_context(shown)?;
        let mut config = DriverConfig::of(&settings);
        let spec = settings.spec.clone();
        let wants_proofs = settings.belief.confirm == Confirm::Proof;
        let taken = take_up(directory, self.other, id, settings).with_context(shown)?;
        for repair in &taken.repairs {
            tracing::warn!("{repair}");
        }
        config.solve_id = taken.solve_id;
        let proofs = wants_proofs.then(|| ProofFolder::beside_journal(spec, directory));
        let proofs = proofs.transpose().with_context(shown)?.map(Arc::new);
        Ok(Driver::with_proofs(taken.solve, Some(taken.recorder), proofs, config))
    }

    /// How the solve of an entry's own has ended; with the certificate, if one is asked for, which takes its time. What is
    /// wrong with the machine is an error, and says nothing of the entry.
    pub fn end_of(
        &self,
        number: u64,
        entry: &Entry,
        solve: &Solve,
        stopped: Option<String>,
    ) -> Result<(EndKind, String, Found), Box<Uncertified>> {
        let mut found = found_of(solve, entry);
        let Some(end) = solve.end() else {
            let reason = stopped.unwrap_or_else(|| "it was stopped".to_owned());
            return Ok((EndKind::Stopped, reason, found));
        };
        found.bounds = Some(end.bounds);
        if !entry.asked.certificate {
            return Ok((EndKind::Solved, String::new(), found));
        }
        match self.certificate(number, solve) {
            Ok(made) => {
                found.certificate = made;
                Ok((EndKind::Solved, String::new(), found))
            }
            Err(error) => {
                let reason = format!("its certificate could not be made: {error:#}");
                if is_no_proof(&error) {
                    Ok((EndKind::Failed, reason, found))
                } else {
                    Err(Box::new(Uncertified { reason, found }))
                }
            }
        }
    }

    /// The file of the certificate, within the directory of the queue, and its SHA-256. None where the answer is clear
    /// without a move.
    fn certificate(&self, number: u64, solve: &Solve) -> anyhow::Result<Option<(String, String)>> {
        let folder = self.directory.join(CERTIFICATES);
        fs::create_dir_all(&folder).with_context(|| format!("cannot use {}", folder.display()))?;
        let name = format!("{number}.certificate");
        let spec = solve.settings().spec.clone();
        let proofs = ProofFolder::beside_journal(spec, &self.directory_of_solve(number))?;
        let is_stopped = || self.is_stopping.load(Ordering::Relaxed);
        let made = certificate_of_entry(&folder.join(&name), solve, &proofs, &is_stopped)?;
        Ok(made.map(|sha256| (format!("{CERTIFICATES}/{name}"), sha256)))
    }
}

/// What is known of an entry by its own solve, with what the search before it took.
pub(super) fn found_of(solve: &Solve, entry: &Entry) -> Found {
    let status = solve.status(Duration::ZERO);
    Found {
        bounds: Some(solve.proved().bounds),
        best_move: solve.best_move(),
        claims: status.answer_claims.map(|claims| (claims, status.answer_confirmed.unwrap_or(0))),
        certificate: None,
        ..entry.with_work(status.nodes, status.jobs, solve.search_time())
    }
}
