//! `jlpns launch status` and `jlpns launch logs`: what runs on the hosts, and what it has said.

use jlpns_launch::host::Settings;
use jlpns_launch::order;
use jlpns_launch::survey::Survey;

use super::super::{CommandError, End};
use super::crew::on_each;
use super::flags::CrewFlags;
use super::report::HostReport;

/// What `jlpns launch status` is given.
#[derive(Debug, clap::Args)]
pub struct StatusFlags {
    #[command(flatten)]
    crew: CrewFlags,
}

/// What `jlpns launch logs` is given.
#[derive(Debug, clap::Args)]
pub struct LogsFlags {
    #[command(flatten)]
    crew: CrewFlags,

    /// How many lines of each log
    #[arg(short = 'n', long, value_name = "N", default_value = "20", env = "JLPNS_LAUNCH_LINES")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=10_000), allow_hyphen_values = true)]
    lines: u32,
}

/// Shows what runs.
pub fn status(flags: &StatusFlags) -> Result<End, CommandError> {
    let hosts = flags.crew.hosts(Settings::default())?;
    on_each(&flags.crew, &hosts, |_, at_work| {
        let survey = Survey::of(&at_work.look(&order::survey(&at_work.host.settings))?);
        let state = if survey.running().is_some() { "running" } else { "not running" };
        let mut report = HostReport::new(state, "").with_worker(&survey);
        if survey.running().is_none() {
            // What was launched there is no worker any more.
            report.since = None;
            report.under = None;
        }
        report.pid = survey.running();
        let mut detail = report.worker();
        if survey.pid.is_none() && !survey.strays.is_empty() {
            detail += "; it has lost its pid file";
        }
        if let Some(said) = &report.said {
            let mark = if detail.is_empty() { "" } else { "; " };
            detail += &format!("{mark}it last said: {said}");
        }
        Ok(HostReport { detail, ..report })
    })
}

/// Prints the ends of the logs.
pub fn logs(flags: &LogsFlags) -> Result<End, CommandError> {
    let hosts = flags.crew.hosts(Settings::default())?;
    on_each(&flags.crew, &hosts, |_, at_work| {
        let answer = at_work.look(&order::logs(&at_work.host.settings, flags.lines))?;
        let detail = format!("{} lines", answer.log.len());
        Ok(HostReport { log: Some(answer.log), ..HostReport::new("told", detail) })
    })
}
