//! What came of it on each host.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use jlpns_launch::answer::Answer;
use jlpns_launch::diagnosis::Finding;
use jlpns_launch::survey::Survey;
use jlpns_launch::trouble::Trouble;
use serde::Serialize;

use super::super::output::{self, Output};

/// How much of a digest is shown to people.
const SHORT: usize = 12;

/// What came of it on one host. What is not known, or not asked, is left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct HostReport {
    /// The host, as it was named.
    pub host: String,
    /// What it came to.
    pub state: &'static str,
    /// The worker's process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// The SHA-256 of the worker.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub build: Option<String>,
    /// Its version, in its own words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Since when it runs, by the host's clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// What it was started by: `systemd` or `detached`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub under: Option<String>,
    /// How many slots it has told its coordinator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slots: Option<u32>,
    /// Whether it was connected to the coordinator when the command ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connected: Option<bool>,
    /// The folder of its files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// The last line of its log.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub said: Option<String>,
    /// What is still in the folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left: Option<String>,
    /// The lines of its log.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log: Option<Vec<String>>,
    /// What could keep a worker from running.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub findings: Option<Vec<Finding>>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Trouble>,
    /// What people read beside the state.
    #[serde(skip)]
    pub detail: String,
}

/// What came of it on all hosts, as `--output json` prints it.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Each host, in the order in which they were named.
    pub hosts: Vec<HostReport>,
    /// On how many of them it failed.
    pub failed: usize,
}

/// The state of a host on which it failed.
const FAILED: &str = "failed";

impl HostReport {
    /// A state, with what is said of it.
    pub fn new(state: &'static str, detail: impl Into<String>) -> HostReport {
        HostReport { state, detail: detail.into(), ..HostReport::default() }
    }

    /// A host on which it failed.
    pub fn failed(trouble: Trouble) -> HostReport {
        let detail = trouble.line();
        HostReport { error: Some(trouble), ..HostReport::new(FAILED, detail) }
    }

    /// The same of a host.
    pub fn of(self, host: &str) -> HostReport {
        HostReport { host: host.to_owned(), ..self }
    }

    /// The worker that runs on a host that was looked at.
    pub fn with_worker(self, survey: &Survey) -> HostReport {
        let launched = &survey.launched;
        let since = launched.since.and_then(|since| u64::try_from(since).ok());
        HostReport {
            pid: survey.pid,
            build: launched.build.clone(),
            version: launched.version.clone(),
            since: since.and_then(moment),
            under: launched.under.clone(),
            slots: survey.slots,
            folder: Some(survey.folder.clone()),
            said: survey.said.clone(),
            ..self
        }
    }

    /// What a script tells of the worker that it has started.
    pub fn with_started(self, answer: &Answer, build: &str) -> HostReport {
        HostReport {
            pid: answer.number("pid"),
            build: Some(build.to_owned()),
            version: answer.fact("version").map(str::to_owned),
            since: answer.number("since").and_then(moment),
            under: answer.fact("under").map(str::to_owned),
            slots: answer.number("slots"),
            connected: Some(answer.fact("connected").is_some()),
            folder: answer.fact("folder").map(str::to_owned),
            said: answer.fact("said").map(str::to_owned),
            ..self
        }
    }

    /// Whether it failed, or is found to be in a state that needs somebody.
    pub fn has_failed(&self) -> bool {
        let is_problem = |finding: &Finding| finding.is_problem;
        self.state == FAILED || self.findings.iter().flatten().any(is_problem)
    }

    /// The worker in words: `pid 12, build 0123456789ab, 8 slots`.
    pub fn worker(&self) -> String {
        let mut words = Vec::new();
        words.extend(self.pid.map(|pid| format!("pid {pid}")));
        words.extend(self.build.as_ref().map(|build| format!("build {}", short(build))));
        words.extend(self.since.as_ref().map(|since| format!("since {since}")));
        words.extend(self.slots.map(|slots| match slots {
            1 => "1 slot".to_owned(),
            slots => format!("{slots} slots"),
        }));
        words.extend(self.under.as_ref().map(|under| match under.as_str() {
            "systemd" => "by systemd".to_owned(),
            other => other.to_owned(),
        }));
        words.join(", ")
    }

    /// The state and what is said of it.
    pub fn line(&self) -> String {
        match self.detail.as_str() {
            "" => self.state.to_owned(),
            detail => format!("{}: {detail}", self.state),
        }
    }
}

/// So much of a digest that people can tell it from others.
pub fn short(digest: &str) -> String {
    digest.chars().take(SHORT).collect()
}

fn moment(seconds: u64) -> Option<String> {
    // A clock that is far off is none that can be written.
    let at = UNIX_EPOCH.checked_add(Duration::from_secs(seconds))?;
    let latest = SystemTime::now().checked_add(Duration::from_secs(1_000 * 365 * 86_400))?;
    (at < latest).then(|| humantime::format_rfc3339_seconds(at).to_string())
}

impl Report {
    /// What came of it on these hosts.
    pub fn new(hosts: Vec<HostReport>) -> Report {
        let failed = hosts.iter().filter(|host| host.has_failed()).count();
        Report { hosts, failed }
    }

    /// Prints it.
    pub fn print(&self, output: Output) -> anyhow::Result<()> {
        match output {
            Output::Json => output::print_json(self),
            Output::Text => output::print_text(&self.text()),
        }
    }

    /// A line a host, or more, and one of them all.
    fn text(&self) -> String {
        let width = |of: fn(&HostReport) -> &str| {
            self.hosts.iter().map(|host| of(host).chars().count()).max().unwrap_or(0)
        };
        let (name, state) = (width(|host| &host.host), width(|host| host.state));
        let mut lines = Vec::new();
        for host in &self.hosts {
            if let Some(log) = &host.log {
                let only = self.hosts.len() == 1;
                let mark = if only { String::new() } else { format!("{:name$}  ", host.host) };
                lines.extend(log.iter().map(|line| format!("{mark}{line}")));
                continue;
            }
            let line = format!("{:name$}  {:state$}  {}", host.host, host.state, host.detail);
            lines.push(line.trim_end().to_owned());
            for finding in host.findings.iter().flatten() {
                let kind = if finding.is_problem { "problem" } else { "note" };
                lines.push(format!("  {kind}: {}; {}", finding.message, finding.remedy));
            }
        }
        if self.hosts.len() > 1 && self.hosts.iter().all(|host| host.log.is_none()) {
            let mut counts = BTreeMap::new();
            for host in &self.hosts {
                *counts.entry(host.state).or_insert(0_usize) += 1;
            }
            let counts: Vec<String> =
                counts.iter().map(|(state, count)| format!("{count} {state}")).collect();
            lines.push(format!("{} hosts: {}", self.hosts.len(), counts.join(", ")));
        }
        lines.join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_a_line_a_host_and_a_sum() {
        let trouble = Trouble::disk_full("nothing is free");
        let hosts = vec![
            HostReport::new("started", "pid 7").of("node1"),
            HostReport::failed(trouble).of("a-long-name"),
            HostReport::new("started", "").of("b"),
        ];
        let report = Report::new(hosts);
        let text = report.text();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "node1        started  pid 7");
        assert!(lines[1].starts_with("a-long-name  failed   there is no room"), "{text}");
        assert_eq!(lines[2], "b            started");
        assert_eq!(lines[3], "3 hosts: 1 failed, 2 started");
        assert_eq!(report.failed, 1);
    }

    #[test]
    fn a_worker_is_told_in_words() {
        let report = HostReport {
            pid: Some(7),
            build: Some("0123456789abcdef".to_owned()),
            since: moment(0),
            slots: Some(1),
            under: Some("systemd".to_owned()),
            ..HostReport::default()
        };
        let words = "pid 7, build 0123456789ab, since 1970-01-01T00:00:00Z, 1 slot, by systemd";
        assert_eq!(report.worker(), words);
        assert_eq!(moment(u64::MAX), None);
    }
}
