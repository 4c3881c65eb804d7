//! `jlpns launch`: workers on other machines, over the system's ssh.
//!
//! What is decided is in the crate `jlpns-launch`; here it is carried out.
//!
//! - `flags`: what all its commands are given, and the hosts that they name.
//! - `payload`: the worker and the credentials that are copied.
//! - `ssh`: one run of ssh, which never waits for a person.
//! - `crew`: all hosts at a time; `rows`: their progress.
//! - `start`, `end` (`stop` and `drain`), `look` (`status` and `logs`), `doctor`: the commands.
//! - `report`: what came of it on each host.

mod crew;
mod doctor;
mod end;
mod flags;
mod look;
mod payload;
mod report;
mod rows;
mod ssh;
mod start;

use clap::Subcommand;

use super::{CommandError, End};

/// What `jlpns launch` is given.
#[derive(Debug, clap::Args)]
pub struct LaunchFlags {
    #[command(subcommand)]
    command: LaunchCommand,
}

#[derive(Debug, Subcommand)]
enum LaunchCommand {
    /// Copy the worker to hosts and start it there; one that runs already is left alone, or replaced if it is
    /// another build or has other flags
    Start(start::StartFlags),
    /// Show what runs on hosts
    Status(look::StatusFlags),
    /// Have the workers on hosts drain, and remove all that was copied there
    Stop(end::StopFlags),
    /// Have the workers on hosts drain
    Drain(end::DrainFlags),
    /// Print the last lines of the workers' logs
    Logs(look::LogsFlags),
    /// Find what could keep workers from running on hosts
    Doctor(doctor::DoctorFlags),
}

/// Carries a command out on all hosts.
pub fn run(flags: &LaunchFlags) -> Result<End, CommandError> {
    match &flags.command {
        LaunchCommand::Start(flags) => start::run(flags),
        LaunchCommand::Status(flags) => look::status(flags),
        LaunchCommand::Stop(flags) => end::stop(flags),
        LaunchCommand::Drain(flags) => end::drain(flags),
        LaunchCommand::Logs(flags) => look::logs(flags),
        LaunchCommand::Doctor(flags) => doctor::run(flags),
    }
}
