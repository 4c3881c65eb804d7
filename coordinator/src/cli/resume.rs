//! `jlpns resume`: goes on with a solve that is kept in a directory, of which that says all that must be the same.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::Resettable;
use clap::{CommandFactory, FromArgMatches, Parser};
use jlpns_games::spec::{Games, format_moves};
use jlpns_games::{Game, with_game};
use jlpns_shell::common::CommonFlags;
use jlpns_shell::layers::{Refused, Setting, Source, layered};
use jlpns_shell::reading::Program;

use super::solve::SolveFlags;
use super::{CommandError, End, solve, terminal};
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

    #[command(flatten)]
    common: CommonFlags,
}

/// The table of the configuration file that holds these flags.
const TABLE: &str = "solve";

/// Goes on with the solve; with the common flags and settings of the whole command, and what it logs.
pub fn run(
    flags: &ResumeFlags,
    common: &CommonFlags,
    common_settings: &[Setting],
    usual: &str,
    games: &Games,
) -> Result<End, CommandError> {
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
    let init = settings.initialisation.name();
    // How it is scored is part of the spec.
    let score = ["--score", "value"];
    let held = ["--store", store, "--knowledge", &knowledge, "--init", init];
    let words = words.iter().chain(&held).chain(&score).map(OsString::from);
    let goal = goal.map(|goal| OsString::from(format!("--goal={goal}")));
    let data = [OsString::from("--data"), flags.directory.clone().into()];
    let config = common.config.iter().flat_map(|file| [OsString::from("--config"), file.into()]);
    let typed = common_settings.iter().filter(|setting| setting.source == Source::Flag);
    let typed = typed.flat_map(as_typed);
    let words = words.chain(config).chain(typed).chain(goal).chain(data);
    let words: Vec<OsString> = words.chain(flags.more.iter().cloned()).collect();
    // What the journal says of these is all that there is to say.
    let command = ["goal", "positions"].into_iter().fold(Solve::command(), |command, name| {
        command.mut_arg(name, |arg| arg.env(Resettable::Reset))
    });
    let program = Program { command, table: Some(TABLE), others: Vec::new(), without_file: &[] };
    let file = program.file(&words).map_err(CommandError::Refused)?;
    let file = file.map(|file| file.without(TABLE, "goal").without(TABLE, "positions"));
    let whole = layered(program.command, &[TABLE], file.as_ref(), words);
    let whole = whole.map_err(CommandError::Refused)?;
    let read = Solve::from_arg_matches(&whole.matches);
    let read = read.map_err(|error| CommandError::Refused(Refused::Usage(error, None)))?;
    terminal::start_log(&whole.settings, usual)?;
    solve::run(&read.flags, games)
}

/// A common flag as it was typed.
fn as_typed(setting: &Setting) -> Vec<OsString> {
    let flag = format!("--{}", setting.key);
    match (setting.key.as_str(), setting.values.first()) {
        ("verbose" | "quiet", Some(times)) => vec![flag.into(); times.parse().unwrap_or(0)],
        (_, Some(value)) => vec![format!("{flag}={value}").into()],
        (_, None) => Vec::new(),
    }
}
