//! All hosts at a time.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use jlpns_launch::answer::{Answer, stage};
use jlpns_launch::connecting::understood;
use jlpns_launch::host::Host;
use jlpns_launch::order::Order;
use jlpns_launch::trouble::Trouble;
use tracing::warn;

use super::super::interrupt::Interrupt;
use super::super::{CommandError, End};
use super::flags::CrewFlags;
use super::payload::Worker;
use super::report::{HostReport, Report};
use super::rows::{Row, Rows};
use super::ssh::{Sent, Ssh};

/// How long a host may take to be looked at: nothing is copied, and nothing waited for.
const LOOK: Duration = Duration::from_secs(60);

/// A host at work.
#[derive(Debug)]
pub struct AtWork<'a> {
    /// The host.
    pub host: &'a Host,
    ssh: &'a Ssh,
    row: Row<'a>,
    limit: Duration,
}

impl AtWork<'_> {
    /// The answer to an order that only looks.
    pub fn look(&self, order: &Order) -> Result<Answer, Trouble> {
        self.look_with(order, |_| ())
    }

    /// The same with each line told to `heard`.
    pub fn look_with(&self, order: &Order, heard: impl FnMut(&str)) -> Result<Answer, Trouble> {
        self.run(Sent { order, worker: None, limit: self.limit.min(LOOK) }, 0, heard)
    }

    /// The answer to an order that changes something, with a worker that follows it, and with more time.
    pub fn carry_out(
        &self,
        order: &Order,
        worker: Option<&Worker>,
        more: Duration,
    ) -> Result<Answer, Trouble> {
        let bytes = worker.map_or(0, |worker| worker.build.bytes);
        let worker = worker.map(|worker| worker.bytes.clone());
        self.run(Sent { order, worker, limit: self.limit.saturating_add(more) }, bytes, |_| ())
    }

    fn run(
        &self,
        sent: Sent<'_>,
        bytes: u64,
        mut heard: impl FnMut(&str),
    ) -> Result<Answer, Trouble> {
        let tell = |line: &str| {
            if let Some(stage) = stage(line) {
                self.row.tell(stage);
            }
            heard(line);
        };
        let ran = self.ssh.run(self.host, &sent, tell, |gone| self.row.tell_share(gone, bytes));
        understood(&ran, self.host)
    }
}

/// Does the same on all hosts, some at a time, and prints what came of it.
pub fn on_each(
    flags: &CrewFlags,
    hosts: &[Host],
    work: impl Fn(usize, &AtWork<'_>) -> Result<HostReport, Trouble> + Sync,
) -> Result<End, CommandError> {
    let ssh = Ssh::of(flags)?;
    let interrupt = Interrupt::listen(None)?;
    let names: Vec<String> = hosts.iter().map(Host::shown).collect();
    let rows = Rows::new(names.iter().map(String::as_str));
    let next = AtomicUsize::new(0);
    let one = |index: usize| {
        let (host, name) = (&hosts[index], &names[index]);
        if interrupt.is_asked() {
            return HostReport::failed(Trouble::not_tried()).of(name);
        }
        let at_work = AtWork { host, ssh: &ssh, row: rows.begin(name), limit: flags.host_limit };
        let report = work(index, &at_work).unwrap_or_else(HostReport::failed).of(name);
        at_work.row.end(&report.line(), report.has_failed());
        report
    };
    let hands = usize::from(flags.parallel).min(hosts.len());
    let mut reports: Vec<(usize, HostReport)> = thread::scope(|scope| {
        let hand = || {
            let mut mine = Vec::new();
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                if index >= hosts.len() {
                    return mine;
                }
                mine.push((index, one(index)));
            }
        };
        let hands: Vec<_> = (0..hands).map(|_| scope.spawn(hand)).collect();
        hands.into_iter().flat_map(|hand| hand.join().unwrap_or_default()).collect()
    });
    rows.clear();
    reports.sort_by_key(|(index, _)| *index);
    let report = Report::new(reports.into_iter().map(|(_, report)| report).collect());
    report.print(flags.output)?;
    if interrupt.is_asked() {
        warn!("stopped; hosts that were at work were finished, the others were not tried");
        return Ok(End::Unsolved);
    }
    Ok(if report.failed > 0 || report.hosts.len() < hosts.len() {
        End::Failed
    } else {
        End::Solved
    })
}
