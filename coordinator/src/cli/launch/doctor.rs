//! `jlpns launch doctor`: what could keep workers from running on the hosts.

use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use bytesize::ByteSize;
use jlpns_launch::diagnosis::{Compared, diagnose};
use jlpns_launch::host::Settings;
use jlpns_launch::order;
use jlpns_launch::survey::Survey;

use super::super::{CommandError, End};
use super::crew::on_each;
use super::flags::CrewFlags;
use super::payload::{Worker, usual_place};
use super::report::HostReport;

/// What `jlpns launch doctor` is given.
#[derive(Debug, clap::Args)]
pub struct DoctorFlags {
    #[command(flatten)]
    crew: CrewFlags,

    /// The coordinator that hosts should reach: http://HOST:PORT or https://HOST:PORT
    #[arg(long, value_name = "URL", env = "JLPNS_COORDINATOR")]
    coordinator: Option<String>,

    /// The worker that would be copied [default: the jlpns-worker beside this program, or else on the PATH]
    #[arg(long, value_name = "FILE", env = "JLPNS_LAUNCH_WORKER_BINARY")]
    worker_binary: Option<PathBuf>,
}

/// Looks at the hosts, and prints what is found.
pub fn run(flags: &DoctorFlags) -> Result<End, CommandError> {
    let hosts = flags.crew.hosts(Settings::default())?;
    let coordinator = flags.coordinator.as_deref().map(host_and_port).transpose()?;
    let coordinator = coordinator.as_ref().map(|(host, port)| (host.as_str(), *port));
    let is_there = flags.worker_binary.is_some() || usual_place().is_some();
    let worker = is_there.then(|| Worker::read(flags.worker_binary.as_deref())).transpose()?;
    on_each(&flags.crew, &hosts, |_, at_work| {
        let mut clock = None;
        let order = order::examine(&at_work.host.settings, coordinator);
        let answer = at_work.look_with(&order, |line| {
            if line.starts_with("fact clock ") {
                clock = Some(now());
            }
        })?;
        let survey = Survey::of(&answer);
        let with = Compared {
            build: worker.as_ref().map(|worker| &worker.build),
            coordinator: flags.coordinator.as_deref(),
            clock: clock.unwrap_or_else(now),
        };
        let findings = diagnose(&survey, &answer, &with);
        let mut report = HostReport::new("fine", "").with_worker(&survey);
        if survey.running().is_none() {
            report = HostReport { folder: report.folder, ..HostReport::new("fine", "") };
        }
        if findings.iter().any(|finding| finding.is_problem) {
            report.state = "problems";
        }
        let mut words = vec![format!("{} {}", survey.system, survey.machine)];
        words.extend(survey.cores.map(|cores| format!("{cores} cores")));
        words.extend(survey.memory.map(|bytes| format!("{} of memory free", ByteSize(bytes))));
        words.extend(survey.free.map(|bytes| format!("{} of disk free", ByteSize(bytes))));
        report.detail = words.join(", ");
        report.findings = Some(findings);
        Ok(report)
    })
}

fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}

/// Where a coordinator listens.
fn host_and_port(url: &str) -> Result<(String, u16), CommandError> {
    let uri = url.parse::<http::Uri>().ok();
    let uri = uri.filter(|uri| matches!(uri.scheme_str(), Some("http" | "https")));
    let both = uri.and_then(|uri| Some((uri.host()?.to_owned(), uri.port_u16()?)));
    let (host, port) = both.ok_or_else(|| {
        CommandError::bad_value("--coordinator", url, "write http://HOST:PORT or https://HOST:PORT")
    })?;
    Ok((host.trim_matches(['[', ']']).to_owned(), port))
}
