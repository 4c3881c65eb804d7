//! The command line of `jlpns-worker`, for whichever games a program knows.

use std::fmt::Display;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{env, io, process};

use clap::error::ErrorKind;
use clap::{Command, CommandFactory, FromArgMatches, Parser};
use jiff::Zoned;
use jlpns_games::spec::{GameFamily, Games};
use jlpns_link::causes::with_causes;
use jlpns_link::credentials::CredentialFlags;
use jlpns_link::whereabouts::Whereabouts;
use jlpns_proto::MAX_GAMES;
use jlpns_search::sub_search::SubSearchesOf;
use jlpns_shell::capacity;
use jlpns_shell::common::CommonFlags;
use jlpns_shell::log::Log;
use jlpns_shell::reading::Program;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tracing::{error, warn};

use crate::client::{Backoff, JobsTaken, Wanted, WorkerConfig, WorkerEnd, run_worker};
use crate::politeness::{Politeness, PolitenessFlags};
use crate::{machine, systemd};

/// The table of the configuration file that holds the flags.
pub const TABLE: &str = "worker";

/// The memory of one slot when nothing else is said, in bytes.
pub(crate) const MEMORY_OF_A_SLOT: u64 = 512 << 20;

/// Runs sub-searches for a jlpns coordinator.
///
/// The first Ctrl-C or SIGTERM drains: running searches stop, what they found is reported, and the
/// worker exits. The second one aborts.
#[derive(Parser)]
#[command(name = "jlpns-worker", version, about)]
#[command(long_version = jlpns_proto::LONG_VERSION.as_str())]
struct Arguments {
    /// Where the coordinator is, as http://HOST:PORT or https://HOST:PORT; or several such, with commas between, of
    /// which each is tried in turn
    #[arg(long, value_name = "URL", env = "JLPNS_COORDINATOR")]
    coordinator: Option<String>,

    /// The file that says where the coordinator is, which `jlpns serve --listen-file` writes; it is waited for, and
    /// read anew for each connection
    #[arg(
        long,
        value_name = "FILE",
        env = "JLPNS_COORDINATOR_FILE",
        conflicts_with = "coordinator"
    )]
    coordinator_file: Option<PathBuf>,

    /// How many searches to run at a time; auto is one for each core that affinity and control groups
    /// leave to this process
    #[arg(
        long,
        value_name = "N",
        env = "JLPNS_SLOTS",
        default_value = "auto",
        allow_hyphen_values = true
    )]
    #[arg(value_parser = slots)]
    slots: u32,

    /// The memory for the nodes and tables of all searches, such as 8GiB, or a share of what this process
    /// may have, such as 50% [default: 512MiB a slot]
    #[arg(long, value_name = "SIZE", env = "JLPNS_MEMORY", allow_hyphen_values = true)]
    #[arg(value_parser = capacity::memory)]
    memory: Option<u64>,

    /// The worker's name in logs and status pages [default: host name and process id]
    #[arg(long, value_name = "N", env = "JLPNS_NAME", value_parser = name)]
    name: Option<String>,

    /// What tells this machine from others, the same after a restart: what one machine claims,
    /// another confirms [default: a hash of the system's machine id]
    #[arg(long, value_name = "ID", env = "JLPNS_MACHINE", value_parser = label)]
    machine: Option<String>,

    /// End when nothing was heard of the coordinator for so long, such as 90s, 10m or 2h; but not as
    /// long as there are reports of a solve that the coordinator keeps on disk
    #[arg(long, value_name = "DURATION", default_value = "10m", env = "JLPNS_GIVE_UP_AFTER")]
    #[arg(value_parser = duration, allow_hyphen_values = true)]
    give_up_after: Duration,

    /// The games to take jobs of, such as connect4,woodpush [default: all]
    #[arg(long, value_name = "GAMES", env = "JLPNS_GAMES", value_delimiter = ',')]
    games: Vec<String>,

    /// Take no jobs of a queue's entries whose proofs may take longer, such as 90s, 10m or 2h; how long makes no
    /// difference so far [default: as long as they take]
    #[arg(long, value_name = "DURATION", env = "JLPNS_LONGEST_JOB")]
    #[arg(value_parser = duration, allow_hyphen_values = true)]
    longest_job: Option<Duration>,

    #[command(flatten)]
    politeness: PolitenessFlags,

    #[command(flatten)]
    credentials: CredentialFlags,

    #[command(flatten)]
    common: CommonFlags,
}

/// What is said when nobody says where the coordinator is.
pub(crate) const NO_COORDINATOR: &str = "the following required arguments were not provided: --coordinator <URL> or \
                                         --coordinator-file <FILE>, one of which says where the coordinator is";

/// The command, with all its flags and subcommands.
pub fn command() -> Command {
    let own = Arguments::command();
    let systemd = systemd::command(&own);
    own.subcommand(systemd).args_conflicts_with_subcommands(true)
}

/// The exit code of bad usage and bad input.
const BAD_INPUT: u8 = 2;

/// A time with its unit; a bare number is of seconds.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let seconds = text.parse::<u32>().map(|seconds| Duration::from_secs(seconds.into()));
    let read = seconds.ok().or_else(|| humantime::parse_duration(text).ok());
    read.filter(|read| !read.is_zero())
        .ok_or_else(|| "write a time, such as 90s, 10m or 2h".to_owned())
}

/// The names of games as specs begin with them, each once.
fn games_taken(given: &[String], known: &Games) -> Result<Vec<String>, String> {
    let mut taken = Vec::new();
    for name in given {
        let is_this = |game: &&GameFamily| game.name.eq_ignore_ascii_case(name.trim());
        let Some(game) = known.families().iter().find(is_this) else {
            let known: Vec<&str> = known.families().iter().map(|game| game.name).collect();
            let known = known.join(", ");
            return Err(format!("--games: there is no game '{name}'; this worker knows {known}"));
        };
        if !taken.iter().any(|other| other == game.name) {
            taken.push(game.name.to_owned());
        }
    }
    if taken.len() > MAX_GAMES {
        return Err(format!("--games names {} games; it may name {MAX_GAMES}", taken.len()));
    }
    Ok(taken)
}

fn slots(text: &str) -> Result<u32, String> {
    capacity::slots(text, jlpns_proto::MAX_SLOTS)
}

fn label(text: &str) -> Result<String, String> {
    jlpns_proto::convert::label("the id", text).map_err(|error| error.to_string())?;
    Ok(text.to_owned())
}

fn name(text: &str) -> Result<String, String> {
    jlpns_proto::convert::worker_name(text).map_err(|error| error.to_string())?;
    Ok(text.to_owned())
}

/// Signals that follow each other within this time are one: `timeout` and batch systems send theirs to the process
/// and to its group.
const ONE_SIGNAL: Duration = Duration::from_secs(1);

/// Reads the arguments of the process and works until the solve is over, or until a signal comes. The
/// worker takes part in solves of these games.
pub fn run(games: &Games) -> ExitCode {
    let program =
        Program { command: command(), table: Some(TABLE), others: Vec::new(), without_file: &[] };
    let layered = match program.read(env::args_os().collect()) {
        Ok((layered, _)) => layered,
        Err(refused) if refused.tell() => return BAD_INPUT.into(),
        Err(_) => return ExitCode::SUCCESS,
    };
    if let Some((systemd::NAME, matches)) = layered.matches.subcommand() {
        return match systemd::print(matches, &layered.settings) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("error: {error}");
                BAD_INPUT.into()
            }
        };
    }
    let refused =
        |error: &dyn Display| -> ! { command().error(ErrorKind::ValueValidation, error).exit() };
    let arguments =
        Arguments::from_arg_matches(&layered.matches).unwrap_or_else(|error| error.exit());
    let log = match Log::of(&layered.settings, "info") {
        Ok(log) => log,
        Err(error) => {
            eprintln!("error: {error}");
            return BAD_INPUT.into();
        }
    };
    let (credentials, warnings) =
        arguments.credentials.read().unwrap_or_else(|error| refused(&error));
    let place = match (&arguments.coordinator, &arguments.coordinator_file) {
        (None, Some(file)) => Whereabouts::in_file(file, credentials),
        (Some(urls), _) => {
            Whereabouts::given(urls, credentials).unwrap_or_else(|error| refused(&error))
        }
        (None, None) => refused(&NO_COORDINATOR),
    };
    let takes = games_taken(&arguments.games, games).unwrap_or_else(|error| refused(&error));
    let takes = JobsTaken { games: takes, longest: arguments.longest_job };
    let unknown = place.unknown_hosts();
    if let Some(last) = unknown.last()
        && unknown.len() == place.given_addresses()
    {
        eprintln!("error: {last}");
        return ExitCode::from(BAD_INPUT);
    }
    let politeness =
        arguments.politeness.begin(&Zoned::now()).unwrap_or_else(|error| refused(&error));
    log.start(io::stderr);
    let unknown = unknown.iter().map(ToString::to_string);
    for warning in warnings.into_iter().chain(unknown) {
        warn!("{warning}");
    }
    match work(arguments, takes, place, politeness, games.clone()) {
        Ok(WorkerEnd::SolveOver(_) | WorkerEnd::Drained) => ExitCode::SUCCESS,
        Ok(WorkerEnd::Aborted) => ExitCode::FAILURE,
        Err(error) => {
            error!("{}", with_causes(error.as_ref()));
            ExitCode::FAILURE
        }
    }
}

fn work(
    arguments: Arguments,
    takes: JobsTaken,
    place: Whereabouts,
    politeness: Politeness,
    games: Games,
) -> anyhow::Result<WorkerEnd> {
    let slots = arguments.slots;
    let config = WorkerConfig {
        machine: arguments.machine.unwrap_or_else(machine::identity),
        name: arguments.name.unwrap_or_else(|| {
            format!("{}-{}", gethostname::gethostname().to_string_lossy(), process::id())
        }),
        slots,
        memory: arguments.memory.unwrap_or(MEMORY_OF_A_SLOT * u64::from(slots)),
        backoff: Backoff::default(),
        give_up_after: Some(arguments.give_up_after),
        takes,
    };
    // One thread is enough for the messages; the cores are for the slots.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let (ask, wanted) = watch::channel(Wanted::Work);
        let ask = Arc::new(ask);
        tokio::spawn(politeness.keep(ask.clone()));
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        tokio::spawn(async move {
            let mut last = None::<Instant>;
            for is_first in [true, false] {
                let mut signal;
                loop {
                    tokio::select! {
                        _ = terminate.recv() => signal = "SIGTERM",
                        _ = interrupt.recv() => signal = "Ctrl-C",
                    }
                    if last.is_none_or(|last| last.elapsed() >= ONE_SIGNAL) {
                        break;
                    }
                }
                last = Some(Instant::now());
                let wanted = if is_first {
                    Wanted::Drain(format!("{signal} came"))
                } else {
                    warn!("aborted: what the searches found is lost");
                    Wanted::Abort
                };
                ask.send_if_modified(|now| now.change_to(wanted));
            }
        });
        Ok(run_worker(config, Arc::new(SubSearchesOf(games)), place, wanted).await?)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn games_are_known_by_their_names() {
        let taken = |given: &[&str]| {
            let given: Vec<String> = given.iter().map(|&name| name.to_owned()).collect();
            games_taken(&given, &Games::built_in())
        };
        assert_eq!(taken(&[]), Ok(Vec::new()));
        let both = vec!["woodpush".to_owned(), "connect4".to_owned()];
        assert_eq!(taken(&["woodpush", " Connect4", "woodpush"]), Ok(both));
        for bad in ["chess", "connect4:7x6", ""] {
            let error = taken(&["connect4", bad]).expect_err(bad);
            let sentence =
                format!("--games: there is no game '{bad}'; this worker knows connect4, woodpush");
            assert_eq!(error, sentence);
        }
    }

    #[test]
    fn which_jobs_are_taken_can_be_said_in_one_word_each() {
        let words = ["jlpns-worker", "--games", "connect4,woodpush", "--longest-job", "90"];
        let read = Arguments::try_parse_from(words).expect("good usage");
        assert_eq!(read.games, ["connect4", "woodpush"]);
        assert_eq!(read.longest_job, Some(Duration::from_secs(90)));
        for bad in ["0", "soon", "-1"] {
            let words = ["jlpns-worker", "--longest-job", bad];
            let error = Arguments::try_parse_from(words).map(drop).expect_err(bad);
            assert!(error.to_string().contains("such as 90s, 10m or 2h"), "{error}");
        }
    }
}
