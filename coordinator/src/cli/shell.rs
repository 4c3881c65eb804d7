//! `jlpns completions` and `jlpns man`: what makes the commands at home in a shell.

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::Context;
use clap_complete::Shell;
use jlpns_games::spec::Games;

use super::{CommandError, End, commands, output};

/// What `jlpns completions` is given.
#[derive(Debug, clap::Args)]
pub struct CompletionsFlags {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

/// What `jlpns man` is given.
#[derive(Debug, clap::Args)]
pub struct ManFlags {
    /// Where the pages are written; it is made if it is not there
    directory: PathBuf,
}

/// Prints the completions for a shell.
pub fn completions(flags: &CompletionsFlags, games: &Games) -> Result<End, CommandError> {
    let mut script = Vec::new();
    clap_complete::generate(flags.shell, &mut commands(games), "jlpns", &mut script);
    match io::stdout().lock().write_all(&script) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(End::Solved),
    }
}

/// Writes a manual page for the program and one for each command.
pub fn man(flags: &ManFlags, games: &Games) -> Result<End, CommandError> {
    let directory = &flags.directory;
    let cannot = || format!("cannot write to {}", directory.display());
    fs::create_dir_all(directory).with_context(cannot)?;
    clap_mangen::generate_to(commands(games), directory).with_context(cannot)?;
    output::print_text(&format!(
        "the manual pages are in {0}; read one with: man -l {0}/jlpns.1",
        directory.display()
    ))?;
    Ok(End::Solved)
}
