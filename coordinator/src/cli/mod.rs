//! The command line: what each command is given, and how a run ends.
//!
//! - `solve` and `serve`: `jlpns solve` and `jlpns serve`; `settings` are the flags of both,
//!   `keeping` is how it is kept on disk, and `report` is what both tell of it;
//!   `constants` are flags of all that search, `confirm` is what is confirmed.
//! - `resume`: `jlpns resume`, which goes on with a solve.
//! - `search`: `jlpns search`, one search in this process.
//! - `every_move`: `jlpns moves`, what each move of a position is worth; `positions`: many positions.
//! - `explore`: `jlpns explore`, a game looked at move by move.
//! - `simulate`: `jlpns simulate`, a solve on virtual workers.
//! - `plan`: `jlpns plan`, what adding machines brings to a solve.
//! - `bench`: `jlpns bench`, the standard measurements.
//! - `best_line`: the best move and the line of what has been solved.
//! - `certificate`: the certificate of a solve; `certify`: `jlpns certify`, which makes one of a journal;
//!   `verify`: `jlpns verify`, which checks one.
//! - `status`, `workers` and `health`: `jlpns status` and so on, which `ask` a running
//!   coordinator.
//! - `queue`: `jlpns submit`, `queue`, `cancel`, `wait` and `results`, which are about the queue of a coordinator.
//! - `listen_file`: where the coordinator says at which address it is.
//! - `admission`: the flags that say which connections are admitted, and `keys`: `jlpns keys`, which makes what they name.
//! - `launch`: `jlpns launch`, workers on other machines over ssh.
//! - `config`: `jlpns config`, and how the settings of all commands are read.
//! - `shell`: `jlpns completions` and `jlpns man`.
//! - `slots`: `--slots`, of all commands that search in this process.
//! - `values`: how the values of flags are read.
//! - `output`: results on stdout, as JSON and as text.
//! - `progress`: progress on stderr; `terminal`: the log, and the line of progress below it.
//! - `interrupt`: what Ctrl-C and SIGTERM do.

pub(crate) use certificate::{is_no_proof, of_entry as certificate_of_entry};

mod admission;
mod ask;
mod bench;
mod best_line;
mod certificate;
mod certify;
mod config;
mod confirm;
mod constants;
mod every_move;
mod explore;
mod files;
mod health;
mod interrupt;
mod keeping;
mod keys;
mod launch;
mod listen_file;
mod output;
mod plan;
mod positions;
mod progress;
mod queue;
mod report;
mod resume;
mod search;
mod serve;
mod settings;
mod shell;
mod simulate;
mod slots;
mod solve;
mod spec;
mod status;
mod terminal;
mod values;
mod verify;
mod workers;

use std::fmt::Display;
use std::process::ExitCode;

use clap::{Arg, CommandFactory, FromArgMatches, Parser, Subcommand};
use jlpns_games::spec::Games;
use jlpns_link::causes::with_causes;
use jlpns_shell::common::CommonFlags;
use jlpns_shell::file::ConfigFile;
use jlpns_shell::layers::{Layered, Refused};

/// Exact values of two-player games by proof-number search, on one machine or on a cluster.
///
/// Exit codes: 0 solved, 1 failed, 2 bad usage or bad input, 3 stopped unsolved.
#[derive(Debug, Parser)]
#[command(name = "jlpns", version, long_version = jlpns_proto::LONG_VERSION.as_str())]
struct Cli {
    #[command(subcommand)]
    command: Command,

    #[command(flatten)]
    common: CommonFlags,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Solve a game on this machine: coordinator and worker in one process
    Solve(solve::SolveFlags),
    /// Go on with a solve that is kept in a directory
    Resume(resume::ResumeFlags),
    /// Solve a game with workers that connect over the network
    Serve(serve::ServeFlags),
    /// Run one search in this process, without jobs, as in the papers
    Search(search::SearchFlags),
    /// Find the value of every legal move of a position
    Moves(every_move::MovesFlags),
    /// Look at a game, or at what a solve has left in a directory, move by move; play against it
    Explore(explore::ExploreFlags),
    /// Show how a solve speeds up with the number of workers, without having them: real searches in
    /// virtual time
    Simulate(simulate::SimulateFlags),
    /// Say what adding machines brings to a solve, where it stops and what limits it, by simulation
    Plan(plan::PlanFlags),
    /// Measure searches and solves against a plain alpha-beta
    Bench(bench::BenchFlags),
    /// Make the certificate of a solve that is kept in a journal and has ended
    Certify(certify::CertifyFlags),
    /// Check a certificate, by the rules alone
    Verify(jlpns_verify::command::Arguments),
    /// Print the state of a running solve, or of one that is kept in a directory
    Status(status::StatusFlags),
    /// List the workers of a running solve, or drain, put out or reinstate one
    Workers(workers::WorkersFlags),
    /// Submit entries to the queue of a coordinator
    Submit(queue::submit::SubmitFlags),
    /// Show the queue of a coordinator
    Queue(queue::show::QueueFlags),
    /// Take entries out of the queue of a coordinator
    Cancel(queue::cancel::CancelFlags),
    /// Wait until entries of the queue of a coordinator have ended
    Wait(queue::wait::WaitFlags),
    /// Print what became of entries of the queue of a coordinator
    Results(queue::results::ResultsFlags),
    /// Exit with 0 if a coordinator is serving, with 1 if not
    Health(health::HealthFlags),
    /// Make the token, the certificates and the keys of a lab
    Keys(keys::KeysFlags),
    /// Start workers on other machines over ssh, look at them and end them
    Launch(launch::LaunchFlags),
    /// Print which settings are in force, and where each comes from
    Config(config::ConfigFlags),
    /// Print the completions of a shell: source them, or put them where it looks
    Completions(shell::CompletionsFlags),
    /// Write the manual pages to a directory
    Man(shell::ManFlags),
}

/// How a run ended; the exit code of the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The question is answered.
    Solved,
    /// Something broke that was not the user's doing.
    Failed,
    /// Bad usage or bad input.
    BadInput,
    /// A limit was reached, or the user stopped the run.
    Unsolved,
}

impl From<End> for ExitCode {
    fn from(end: End) -> ExitCode {
        ExitCode::from(match end {
            End::Solved => 0,
            End::Failed => 1,
            End::BadInput => 2,
            End::Unsolved => 3,
        })
    }
}

/// Why a command gives no result.
#[derive(Debug)]
enum CommandError {
    /// The user's input, in one sentence: what is wrong and what would be right.
    BadInput(String),
    /// Usage that clap has refused, or a configuration file; or help that was asked for.
    Refused(Refused),
    /// Anything else.
    Failed(anyhow::Error),
}

impl CommandError {
    /// A value that its flag does not take.
    fn bad_value(flag: &str, value: &str, reason: impl Display) -> CommandError {
        // A value may be of any length.
        let shown: String = value.chars().take(60).collect();
        let dots = if shown.len() < value.len() { "..." } else { "" };
        CommandError::BadInput(format!("invalid value '{shown}{dots}' for '{flag}': {reason}"))
    }
}

impl<E: Into<anyhow::Error>> From<E> for CommandError {
    fn from(error: E) -> CommandError {
        CommandError::Failed(error.into())
    }
}

/// The commands, with help texts that name these games.
fn commands(games: &Games) -> clap::Command {
    let named = |arg: Arg| {
        let more = match arg.get_id().as_str() {
            "spec" => format!(": {}, such as {}", games.notations(), games.examples()),
            "specs" => format!(", such as {}", games.examples()),
            "moves" => format!(", such as {}", games.moves()),
            _ => return arg,
        };
        let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
        arg.help(help + &more)
    };
    let commands = Cli::command();
    let names: Vec<String> =
        commands.get_subcommands().map(|command| command.get_name().to_owned()).collect();
    names.iter().fold(commands, |commands, name| {
        commands.mut_subcommand(name, |command| command.mut_args(named))
    })
}

/// Reads the arguments of the process, runs the command and prints what there is to print. Games can
/// be named that are in this list.
pub fn run(games: &Games) -> End {
    let (layered, file) = match config::program(games).read(std::env::args_os().collect()) {
        Ok(read) => read,
        Err(refused) => return if refused.tell() { End::BadInput } else { End::Solved },
    };
    let result = run_command(&layered, file.as_ref(), games);
    // Whatever came of it, it leaves nothing on the terminal.
    terminal::clear();
    match result {
        Ok(end) => end,
        Err(CommandError::BadInput(sentence)) => {
            eprintln!("error: {sentence}");
            End::BadInput
        }
        Err(CommandError::Failed(error)) => {
            eprintln!("error: {}", with_causes(error.as_ref()));
            End::Failed
        }
        Err(CommandError::Refused(refused)) => {
            if refused.tell() {
                End::BadInput
            } else {
                End::Solved
            }
        }
    }
}

fn run_command(
    layered: &Layered,
    file: Option<&ConfigFile>,
    games: &Games,
) -> Result<End, CommandError> {
    let refused = |error: clap::Error| {
        CommandError::Refused(Refused::Usage(error.format(&mut commands(games)), None))
    };
    let cli = Cli::from_arg_matches(&layered.matches).map_err(refused)?;
    let usual = match &cli.command {
        // A line would be written over the board.
        Command::Explore(flags) if flags.is_on_screen() => "off",
        Command::Explore(_) => "warn",
        // That the worker comes and goes is no news there: only what this binary itself says.
        Command::Solve(_) | Command::Resume(_) | Command::Simulate(_) | Command::Plan(_) => {
            "warn,jlpns_coordinator::cli=info"
        }
        _ => "info",
    };
    if !matches!(cli.command, Command::Resume(_)) {
        terminal::start_log(&layered.settings, usual)?;
    }
    match cli.command {
        Command::Solve(flags) => solve::run(&flags, games),
        Command::Resume(flags) => resume::run(&flags, &cli.common, &layered.settings, usual, games),
        Command::Serve(flags) => serve::run(&flags, games),
        Command::Search(flags) => search::run(&flags, games),
        Command::Moves(flags) => every_move::run(&flags, games),
        Command::Explore(flags) => explore::run(&flags, games),
        Command::Simulate(flags) => simulate::run(&flags, games),
        Command::Plan(flags) => plan::run(&flags, games),
        Command::Bench(flags) => bench::run(&flags, games),
        Command::Certify(flags) => certify::run(&flags, games),
        Command::Verify(arguments) => Ok(verify::run(&arguments)),
        Command::Status(flags) => status::run(&flags, games),
        Command::Workers(flags) => workers::run(&flags),
        Command::Submit(flags) => queue::submit::run(&flags, games),
        Command::Queue(flags) => queue::show::run(&flags),
        Command::Cancel(flags) => queue::cancel::run(&flags),
        Command::Wait(flags) => queue::wait::run(&flags),
        Command::Results(flags) => queue::results::run(&flags),
        Command::Health(flags) => health::run(&flags),
        Command::Keys(flags) => keys::run(&flags),
        Command::Launch(flags) => launch::run(&flags),
        Command::Config(flags) => config::run(&flags, file, games),
        Command::Completions(flags) => shell::completions(&flags, games),
        Command::Man(flags) => shell::man(&flags, games),
    }
}
