//! `jlpns launch stop` and `jlpns launch drain`: no worker runs on the hosts.

use std::time::Duration;

use jlpns_launch::host::Settings;
use jlpns_launch::order::{self, Draining, Removing};
use jlpns_launch::trouble::Trouble;

use super::super::{CommandError, End};
use super::crew::{AtWork, on_each};
use super::flags::{CrewFlags, DrainingFlags};
use super::report::HostReport;

/// What `jlpns launch stop` is given.
#[derive(Debug, clap::Args)]
pub struct StopFlags {
    #[command(flatten)]
    crew: CrewFlags,

    #[command(flatten)]
    draining: DrainingFlags,

    /// Leave the worker's program and its log there; its credentials are removed all the same
    #[arg(long, env = "JLPNS_LAUNCH_KEEP", value_parser = clap::builder::BoolishValueParser::new())]
    keep: bool,
}

/// What `jlpns launch drain` is given.
#[derive(Debug, clap::Args)]
pub struct DrainFlags {
    #[command(flatten)]
    crew: CrewFlags,

    #[command(flatten)]
    draining: DrainingFlags,
}

/// Ends the workers and removes what was copied.
pub fn stop(flags: &StopFlags) -> Result<End, CommandError> {
    let removing = if flags.keep { Removing::Credentials } else { Removing::All };
    end_all(&flags.crew, flags.draining.draining(), removing)
}

/// Ends the workers.
pub fn drain(flags: &DrainFlags) -> Result<End, CommandError> {
    end_all(&flags.crew, flags.draining.draining(), Removing::Nothing)
}

fn end_all(crew: &CrewFlags, draining: Draining, removing: Removing) -> Result<End, CommandError> {
    let hosts = crew.hosts(Settings::default())?;
    on_each(crew, &hosts, |_, at_work| end(at_work, draining, removing))
}

fn end(
    at_work: &AtWork<'_>,
    draining: Draining,
    removing: Removing,
) -> Result<HostReport, Trouble> {
    let order = order::end(&at_work.host.settings, draining, removing);
    let answer = at_work.carry_out(&order, None, Duration::from_secs(draining.seconds))?;
    let has_run = answer.fact("was") == Some("running");
    let state = match (has_run, removing) {
        (true, Removing::Nothing) => "drained",
        (true, _) => "stopped",
        (false, _) => "not running",
    };
    let mut words = Vec::new();
    words.extend(answer.number::<u32>("pid").map(|pid| format!("pid {pid}")));
    match removing {
        _ if answer.done.as_deref() == Some("absent") => words.push("nothing is there".to_owned()),
        Removing::Nothing => {}
        Removing::Credentials => words.push("its program and its log are left".to_owned()),
        Removing::All => words.push("all that belongs to it is removed".to_owned()),
    }
    let left = answer.fact("left").map(str::to_owned);
    words.extend(left.as_ref().map(|left| format!("what others put there is left: {left}")));
    Ok(HostReport {
        pid: answer.number("pid"),
        said: answer.fact("said").map(str::to_owned),
        left,
        ..HostReport::new(state, words.join(", "))
    })
}
