//! `jlpns completions` and `jlpns man`: what makes the commands at home in a shell.

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::Context;
use clap::{Command, CommandFactory, ValueEnum};
use clap_complete::Shell;
use jlpns_games::spec::Games;

use super::{CommandError, End, commands, output};

/// What `jlpns completions` is given.
#[derive(Debug, clap::Args)]
pub struct CompletionsFlags {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,

    /// The program that is completed
    #[arg(
        long,
        value_enum,
        default_value_t,
        value_name = "NAME",
        env = "JLPNS_COMPLETIONS_PROGRAM"
    )]
    program: Program,
}

/// A program of jlpns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Program {
    #[default]
    Jlpns,
    JlpnsWorker,
    JlpnsVerify,
}

impl Program {
    /// Its name and its commands.
    fn command(self, games: &Games) -> (&'static str, Command) {
        match self {
            Program::Jlpns => ("jlpns", commands(games)),
            Program::JlpnsWorker => ("jlpns-worker", jlpns_worker::cli::command()),
            Program::JlpnsVerify => ("jlpns-verify", jlpns_verify::command::Program::command()),
        }
    }
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
    let (name, mut command) = flags.program.command(games);
    clap_complete::generate(flags.shell, &mut command, name, &mut script);
    match io::stdout().lock().write_all(&script) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(End::Solved),
    }
}

/// Writes a manual page for each program and one for each of its commands.
pub fn man(flags: &ManFlags, games: &Games) -> Result<End, CommandError> {
    let directory = &flags.directory;
    let cannot = || format!("cannot write to {}", directory.display());
    fs::create_dir_all(directory).with_context(cannot)?;
    for program in Program::value_variants() {
        let (_, command) = program.command(games);
        clap_mangen::generate_to(command, directory).with_context(cannot)?;
    }
    output::print_text(&format!(
        "the manual pages are in {0}; read one with: man -l {0}/jlpns.1",
        directory.display()
    ))?;
    Ok(End::Solved)
}
