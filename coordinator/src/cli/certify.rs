//! `jlpns certify`: the certificate of a solve that is kept in a journal and has ended.

use std::path::PathBuf;

use jlpns_games::spec::Games;

use super::certificate::{Known, SizeFlags, check, make};
use super::keeping::kept_solve;
use super::output::Output;
use super::progress::Progress;
use super::{CommandError, End, output, values};

/// What `jlpns certify` is given.
#[derive(Debug, clap::Args)]
pub struct CertifyFlags {
    /// The directory that --data named
    directory: PathBuf,

    /// The file to write
    #[arg(short, long, value_name = "FILE", env = "JLPNS_OUT")]
    out: PathBuf,

    #[command(flatten)]
    size: SizeFlags,

    /// How many threads to use [default: auto, one for each core]
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
    let progress = Progress::start();
    let (solve, proofs) = kept_solve(&flags.directory, games, flags.memory / 2)?;
    check(&flags.out, "--out", flags.size, &solve.settings().spec)?;
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
