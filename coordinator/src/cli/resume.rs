//! `jlpns resume`: goes on with a solve that is kept in a directory, of which that says all that must be the same.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Parser;
use jlpns_games::spec::{Games, format_moves};
use jlpns_games::{Game, with_game};

use super::solve::SolveFlags;
use super::{CommandError, End, solve};
use crate::recorder::{RecorderError, settings_of};

/// What `jlpns resume` is given.
#[derive(Debug, clap::Args)]
pub struct ResumeFlags {
    /// The directory that --data named
    directory: PathBuf,

    /// More flags, as `jlpns solve` takes them, such as --slots 2 or --certificate FILE
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "FLAGS")]
    more: Vec<OsString>,
}

/// The flags of `jlpns solve` alone.
#[derive(Debug, Parser)]
#[command(name = "jlpns resume")]
struct Solve {
    #[command(flatten)]
    flags: SolveFlags,
}

/// Goes on with the solve.
pub fn run(flags: &ResumeFlags, games: &Games) -> Result<End, CommandError> {
    let settings = settings_of(&flags.directory, games).map_err(|error| match error {
        RecorderError::Journal(error) => CommandError::BadInput(error.to_string()),
        other => CommandError::Failed(other.into()),
    })?;
    let (moves, goal) = with_game!(settings.spec.game(), game => (
        format_moves(game, &settings.moves),
        settings.goal.map(|goal| goal.display(game.scale()).to_string()),
    ));
    let store = if settings.merge { "graph" } else { "tree" };
    let knowledge = settings.knowledge.to_string();
    let words = ["solve", settings.spec.as_str(), "--moves", &moves];
    let held =
        ["--store", store, "--knowledge", &knowledge, "--init", settings.initialisation.name()];
    let words = words.iter().chain(&held).map(OsString::from);
    let goal = goal.map(|goal| OsString::from(format!("--goal={goal}")));
    let data = [OsString::from("--data"), flags.directory.clone().into()];
    let words = words.chain(goal).chain(data).chain(flags.more.iter().cloned());
    match Solve::try_parse_from(words) {
        Ok(whole) => solve::run(&whole.flags, games),
        Err(error) if error.use_stderr() => {
            let text = error.to_string();
            Err(CommandError::BadInput(text.trim_start_matches("error: ").trim_end().to_owned()))
        }
        Err(help) => {
            help.print()?;
            Ok(End::Solved)
        }
    }
}
