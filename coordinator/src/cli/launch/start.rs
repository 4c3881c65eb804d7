//! `jlpns launch start`: the wanted worker runs on all hosts.

use std::path::PathBuf;
use std::time::Duration;

use jlpns_launch::binary::sha256;
use jlpns_launch::host::{Host, NICEST, Scheduling, Settings, Systemd};
use jlpns_launch::hosts_file::one_of;
use jlpns_launch::order::{self, Draining, Start};
use jlpns_launch::plan::{Step, Wanted, Why, plan};
use jlpns_launch::run_script::{Credential, WorkerFlags};
use jlpns_launch::survey::Survey;
use jlpns_launch::trouble::Trouble;
use jlpns_link::credentials::CredentialFlags;
use tracing::warn;

use super::super::{CommandError, End, values};
use super::crew::{AtWork, on_each};
use super::flags::{CrewFlags, DrainingFlags};
use super::payload::{Worker, credentials};
use super::report::{HostReport, short};

/// What `jlpns launch start` is given.
#[derive(Debug, clap::Args)]
pub struct StartFlags {
    #[command(flatten)]
    crew: CrewFlags,

    /// Where the coordinator is, as the hosts reach it: http://HOST:PORT or https://HOST:PORT; or several such, with
    /// commas between, of which each is tried in turn
    #[arg(long, value_name = "URL", env = "JLPNS_COORDINATOR")]
    coordinator: String,

    #[command(flatten)]
    credentials: CredentialFlags,

    /// The worker that is copied [default: the jlpns-worker beside this program, or else on the PATH]
    #[arg(long, value_name = "FILE", env = "JLPNS_LAUNCH_WORKER_BINARY")]
    worker_binary: Option<PathBuf>,

    /// The worker's nice value, if the list of hosts does not say it [default: 19]
    #[arg(long, value_name = "N", env = "JLPNS_LAUNCH_NICE", allow_hyphen_values = true)]
    #[arg(value_parser = clap::value_parser!(u8).range(0..=i64::from(NICEST)))]
    nice: Option<u8>,

    /// How the worker is scheduled, if the list of hosts does not say it: idle or normal [default: idle]
    #[arg(long, value_name = "CLASS", env = "JLPNS_LAUNCH_SCHEDULING", value_parser = scheduling)]
    scheduling: Option<Scheduling>,

    /// Whether the worker is a unit of the user's systemd, if the list of hosts does not say it: auto, always or never
    /// [default: auto]
    #[arg(long, value_name = "WHEN", env = "JLPNS_LAUNCH_SYSTEMD", value_parser = systemd)]
    systemd: Option<Systemd>,

    #[command(flatten)]
    draining: DrainingFlags,

    /// Flags of the worker on all hosts
    #[arg(last = true, value_name = "WORKER FLAGS", allow_hyphen_values = true)]
    flags: Vec<String>,
}

fn scheduling(text: &str) -> Result<Scheduling, String> {
    one_of(text, &Scheduling::ALL)
}

fn systemd(text: &str) -> Result<Systemd, String> {
    one_of(text, &Systemd::ALL)
}

/// What is to run on one host.
struct Launched {
    /// The script that becomes the worker.
    run: String,
    /// What tells it from others.
    settings: String,
}

impl StartFlags {
    /// What is to run on a host, whose worker takes the flags.
    fn launched(
        &self,
        host: &Host,
        credentials: &[(Credential, Vec<u8>)],
    ) -> Result<Launched, CommandError> {
        let names = credentials.iter().map(|(credential, _)| *credential).collect();
        let tls_name = self.credentials.tls_name.as_deref();
        let flags =
            WorkerFlags::new(&self.coordinator, tls_name, names, &host.settings, &self.flags);
        let words = ["jlpns-worker".to_owned()].into_iter().chain(flags.in_folder("credentials"));
        jlpns_worker::cli::command().try_get_matches_from(words).map_err(|error| {
            let text = error.to_string();
            let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
            let reason = match error.use_stderr() {
                true => first.trim_start_matches("error: "),
                // Help that nobody would read there.
                false => "a worker that prints something and ends is not launched",
            };
            CommandError::BadInput(format!(
                "the worker on {} would not take its flags: {reason}",
                host.shown()
            ))
        })?;
        let run = flags.run_script(&host.settings);
        let mut parts = vec![run.as_bytes(), host.settings.systemd().name().as_bytes()];
        for (credential, bytes) in credentials {
            parts.extend([credential.file().as_bytes(), bytes]);
        }
        let settings = sha256(&parts);
        Ok(Launched { run, settings })
    }
}

/// Starts the workers, and prints what came of it.
pub fn run(flags: &StartFlags) -> Result<End, CommandError> {
    let said = Settings {
        nice: flags.nice,
        scheduling: flags.scheduling,
        systemd: flags.systemd,
        ..Settings::default()
    };
    let hosts = flags.crew.hosts(said)?;
    values::coordinator(&flags.coordinator, values::credentials(&flags.credentials)?)?;
    let credentials = credentials(&flags.credentials)?;
    let launched: Vec<Launched> =
        hosts.iter().map(|host| flags.launched(host, &credentials)).collect::<Result<_, _>>()?;
    let worker = Worker::read(flags.worker_binary.as_deref())?;
    if flags.coordinator.split(',').all(|url| is_loopback(url.trim())) {
        warn!(
            "{} is an address that each machine has of its own: workers on other hosts do not find the coordinator there",
            flags.coordinator
        );
    }
    let draining = flags.draining.draining();
    on_each(&flags.crew, &hosts, |index, at_work| {
        start(at_work, &launched[index], &worker, &credentials, draining)
    })
}

fn is_loopback(url: &str) -> bool {
    let host = url.parse::<http::Uri>().ok().and_then(|uri| uri.host().map(str::to_owned));
    let host = host.unwrap_or_default();
    let address = host.trim_matches(['[', ']']).parse::<std::net::IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

fn start(
    at_work: &AtWork<'_>,
    launched: &Launched,
    worker: &Worker,
    credentials: &[(Credential, Vec<u8>)],
    draining: Draining,
) -> Result<HostReport, Trouble> {
    let host = &at_work.host.settings;
    let survey = Survey::of(&at_work.look(&order::survey(host))?);
    let step = plan(&survey, Wanted { build: &worker.build, settings: &launched.settings })?;
    if step == Step::LeaveAlone {
        let report = HostReport::new("left alone", "").with_worker(&survey);
        let detail = report.worker();
        return Ok(HostReport { detail, ..report });
    }
    let order = order::start(
        host,
        &Start {
            build: &worker.build.sha256,
            settings: &launched.settings,
            systemd: host.systemd(),
            draining,
            run: &launched.run,
            credentials,
            bytes: step.copies().then_some(worker.build.bytes),
        },
    );
    let copied = step.copies().then_some(worker);
    let answer = at_work.carry_out(&order, copied, Duration::from_secs(draining.seconds))?;
    if answer.done.as_deref() == Some("over") {
        return Ok(HostReport::new("over", answer.fact("said").unwrap_or_default()));
    }
    let state = if matches!(step, Step::Replace { .. }) { "replaced" } else { "started" };
    let report = HostReport::new(state, "").with_started(&answer, &worker.build.sha256);
    let mut detail = report.worker();
    if let Step::Replace { why, .. } = step {
        detail += &match (why, &survey.launched.build) {
            (Why::Build, Some(build)) => format!("; it was build {}", short(build)),
            (Why::Flags, _) => "; it had other flags or credentials".to_owned(),
            _ => "; what ran there is not known".to_owned(),
        };
    }
    if report.connected == Some(false) {
        detail += "; not connected yet";
        if let Some(said) = &report.said {
            detail += &format!(": {said}");
        }
    }
    Ok(HostReport { detail, ..report })
}
