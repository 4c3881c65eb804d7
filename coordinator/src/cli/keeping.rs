//! What `jlpns solve` and `jlpns serve` are told about keeping a solve on disk.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use jlpns_certificate::is_certifiable;
use jlpns_games::spec::Games;
use jlpns_journal::JournalError;
use jlpns_launch::quote::quoted;
use jlpns_solve::belief::Confirm;
use jlpns_solve::{Solve, SolveSettings};
use tracing::{info, warn};

use super::CommandError;
use super::output::grouped;
use crate::driver::{Driver, DriverConfig};
use crate::proofs::ProofFolder;
use crate::recorder::{OtherProcess, RecorderError, settings_of, take_up, taken_up_again};

/// The flags of both commands.
#[derive(Debug, clap::Args)]
pub struct KeepingFlags {
    /// Keep a journal in this directory, so that nothing that was reported is lost; started again
    /// with the same directory, the solve goes on
    #[arg(long, value_name = "DIR", env = "JLPNS_DATA")]
    data: Option<PathBuf>,

    /// Take the journal from another process that has it open, because that one is frozen or cut off:
    /// it stops when it comes to
    #[arg(long, env = "JLPNS_TAKE_OVER", requires = "data")]
    take_over: bool,
}

impl KeepingFlags {
    /// Whether the solve is kept on disk.
    pub fn is_kept(&self) -> bool {
        self.data.is_some()
    }

    /// The directory of `--data`, and what becomes of another process that has the journal there open.
    pub fn directory(&self) -> Option<(&Path, OtherProcess)> {
        let other = if self.take_over { OtherProcess::Stops } else { OtherProcess::Keeps };
        Some((self.data.as_deref()?, other))
    }

    /// A driver for a new solve, or for the one in `--data`, which may have ended before.
    pub fn driver(&self, settings: SolveSettings) -> Result<Driver, CommandError> {
        let mut config = DriverConfig::of(&settings);
        let wants_proofs = settings.belief.confirm == Confirm::Proof;
        if wants_proofs && !is_certifiable(&settings.spec) {
            return Err(CommandError::BadInput(format!(
                "there are no certificates for {} yet, so nothing can be confirmed by proof",
                settings.spec
            )));
        }
        let Some(directory) = &self.data else {
            let proofs = wants_proofs.then(|| ProofFolder::temporary(settings.spec.clone()));
            let solve = Solve::new(settings).map_err(|e| CommandError::BadInput(e.to_string()))?;
            let proofs = proofs.transpose()?.map(Arc::new);
            return Ok(Driver::with_proofs(solve, None, proofs, config));
        };
        let other = if self.take_over { OtherProcess::Stops } else { OtherProcess::Keeps };
        let taken =
            take_up(directory, other, config.solve_id.clone(), settings).map_err(|error| {
                match error {
                    RecorderError::Journal(
                        wrong @ (JournalError::OtherSolve { .. }
                        | JournalError::OtherVersion { .. }),
                    ) => CommandError::BadInput(wrong.to_string()),
                    other => CommandError::Failed(other.into()),
                }
            })?;
        for repair in &taken.repairs {
            warn!("{repair}");
        }
        if taken.resumed {
            let status = taken.solve.status(Duration::ZERO);
            let shown = directory.display();
            if taken.solve.end().is_some() {
                info!("the solve in {shown} has ended before: nothing is searched again");
            } else {
                info!(
                    "going on with the solve in {shown}: {} jobs, {} nodes in the tree",
                    grouped(status.jobs),
                    grouped(status.tree_nodes)
                );
            }
        }
        config.solve_id = taken.solve_id;
        // An earlier run may have kept some.
        let spec = taken.solve.settings().spec.clone();
        let proofs = Some(Arc::new(ProofFolder::beside_journal(spec, directory)?));
        Ok(Driver::with_proofs(taken.solve, Some(taken.recorder), proofs, config))
    }

    /// What is lost when the run is stopped now: a warning for the user who presses Ctrl-C.
    pub fn warning(&self) -> Option<String> {
        self.data.is_none().then(|| {
            "all that was found so far would be lost, because there is no --data DIR to keep it \
             in; Ctrl-C again to stop all the same"
                .to_owned()
        })
    }

    /// How to go on with a solve that was stopped, with the whole command.
    pub fn how_to_go_on(&self) -> Option<String> {
        let directory = self.data.as_ref()?.display();
        Some(format!(
            "all that was found is in {directory}; the same command goes on from there: {}",
            whole_command()
        ))
    }
}

/// The solve that is kept in a directory, as it stands, with what was proved of it.
pub fn kept_solve(
    directory: &Path,
    games: &Games,
    memory: u64,
) -> Result<(Solve, ProofFolder), CommandError> {
    let bad = |error: RecorderError| match error {
        RecorderError::Journal(error) => CommandError::BadInput(error.to_string()),
        other => CommandError::Failed(other.into()),
    };
    let mut settings = settings_of(directory, games).map_err(bad)?;
    settings.memory = memory;
    let cannot_read = || format!("cannot read {}", directory.display());
    // What was proved counts as such, so that no machines that agree on a lie outvote it.
    if ProofFolder::has_any(directory).with_context(cannot_read)? {
        settings.belief.confirm = Confirm::Proof;
    }
    let taken =
        take_up(directory, OtherProcess::Keeps, String::new(), settings.clone()).map_err(bad)?;
    // Not before: what is in the folder of a journal that is in use is not ours to tidy.
    let proofs = ProofFolder::beside_journal(settings.spec.clone(), directory);
    let proofs = proofs.with_context(cannot_read)?;
    let mut solve = taken.solve;
    if solve.end().is_none() && settings.belief.confirm == Confirm::Proof {
        // It was confirmed in another way in the end.
        settings.belief.confirm = Confirm::None;
        solve = taken_up_again(&solve, &settings).map_err(bad)?;
    }
    Ok((solve, proofs))
}

/// The command of this process as it can be typed again.
fn whole_command() -> String {
    let words = std::env::args_os().map(|word| quoted(&word.to_string_lossy()));
    let program = Some("jlpns".to_owned());
    let words: Vec<String> = program.into_iter().chain(words.skip(1)).collect();
    words.join(" ")
}
