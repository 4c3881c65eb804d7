//! `jlpns certify`: the certificate of a solve that is kept in a journal and has ended.

use std::path::PathBuf;

use anyhow::Context;
use jlpns_games::spec::Games;
use jlpns_solve::belief::Confirm;

use super::certificate::{Known, SizeFlags, check, make};
use super::output::Output;
use super::progress::Progress;
use super::{CommandError, End, output, values};
use crate::proofs::ProofFolder;
use crate::recorder::{RecorderError, settings_of, take_up};

/// What `jlpns certify` is given.
#[derive(Debug, clap::Args)]
pub struct CertifyFlags {
    /// The directory that --data named
    directory: PathBuf,

    /// The file to write
    #[arg(short, long, value_name = "FILE")]
    out: PathBuf,

    #[command(flatten)]
    size: SizeFlags,

    /// How many threads to use [default: one for each core]
    #[arg(long, value_name = "N", env = "JLPNS_SLOTS", allow_hyphen_values = true)]
    #[arg(value_parser = values::slots)]
    slots: Option<u32>,

    /// How much memory the journal's tree and the table may take, half of it each
    #[arg(long, value_name = "SIZE", default_value = "2GiB", allow_hyphen_values = true)]
    #[arg(value_parser = values::memory, env = "JLPNS_MEMORY")]
    memory: u64,

    /// How the result is printed
    #[arg(long, value_enum, default_value_t, env = "JLPNS_OUTPUT")]
    output: Output,
}

/// Makes the certificate. What jobs have proved is in it as it is; what machines have only claimed is
/// searched again here.
pub fn run(flags: &CertifyFlags, games: &Games) -> Result<End, CommandError> {
    let bad = |error: RecorderError| match error {
        RecorderError::Journal(error) => CommandError::BadInput(error.to_string()),
        other => CommandError::Failed(other.into()),
    };
    let mut settings = settings_of(&flags.directory, games).map_err(bad)?;
    settings.memory = flags.memory / 2;
    check(&flags.out, "--out", flags.size, &settings.spec)?;
    let progress = Progress::start("info");
    let proofs = ProofFolder::beside_journal(settings.spec.clone(), &flags.directory);
    let proofs = proofs.with_context(|| format!("cannot read {}", flags.directory.display()))?;
    // What was proved counts as such, so that no machines that agree on a lie outvote it.
    if !proofs.files()?.is_empty() {
        settings.belief.confirm = Confirm::Proof;
    }
    let mut taken = take_up(&flags.directory, String::new(), settings.clone()).map_err(bad)?;
    if taken.solve.end().is_none() && settings.belief.confirm == Confirm::Proof {
        // It was confirmed in another way in the end.
        drop(taken);
        settings.belief.confirm = Confirm::None;
        taken = take_up(&flags.directory, String::new(), settings).map_err(bad)?;
    }
    let solve = taken.solve;
    if solve.end().is_none() {
        return Err(CommandError::BadInput(format!(
            "the solve in {} has not ended; go on with it first",
            flags.directory.display()
        )));
    }
    let known = Known {
        table: None,
        proofs: Some(&proofs),
        threads: flags.slots.unwrap_or_else(values::cores),
        memory: flags.memory / 2,
    };
    let made = make(&flags.out, flags.size, &solve, &known, &progress)?;
    match (made, flags.output) {
        (Some(made), Output::Json) => output::print_json(&made)?,
        (Some(made), Output::Text) => output::print_text(&made.line())?,
        (None, _) => return Ok(End::Unsolved),
    }
    Ok(End::Solved)
}
