//! What `jlpns solve` and `jlpns serve` tell of a solve: on its way and at its end.

use jlpns_solve::{Solve, SolveStatus};
use serde::Serialize;

use super::End;
use super::best_line::{BestLine, LineFlags};
use super::certificate::{Certificate, Known};
use super::every_move::{EveryMove, MoveValue};
use super::interrupt::Interrupt;
use super::output::{self, Answer, Output, THRESHOLDS_SHOWN, effort, grouped, pace, rate};
use super::progress::Progress;
use crate::driver::DriverHandle;

/// The result of a solve, as `--output json` prints it.
#[derive(Debug, Serialize)]
struct SolveResult {
    #[serde(flatten)]
    answer: Answer,
    /// Frontier nodes that were searched as jobs and reported.
    descents: u64,
    /// Nodes that the jobs created.
    nodes: u64,
    /// The most nodes of the top-level tree that were in memory at one time.
    peak_nodes: u64,
    seconds: f64,
    jobs: u64,
    /// The most workers that were connected at one time.
    workers: u64,
    cancelled: u64,
    leases_expired: u64,
    /// The share of the slots' time that was not spent in sub-searches.
    overhead: f64,
    /// How many of the nodes were created before the solve was taken up.
    earlier_nodes: u64,
    /// How many claims the answer rests on.
    claims: Option<u64>,
    /// How many of them more than one machine stands behind.
    claims_confirmed: Option<u64>,
    /// What each legal move is worth, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    every_move: Option<Vec<MoveValue>>,
    /// The certificate that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    certificate: Option<Certificate>,
}

/// What an answer rests on, in words.
pub fn rests_on(claims: u64, confirmed: u64) -> String {
    format!(
        "the answer rests on {} claims, {} of them confirmed",
        grouped(claims),
        grouped(confirmed)
    )
}

/// How many jobs there were, and of which search: what earlier starts searched with is not known.
pub fn jobs(status: &SolveStatus) -> String {
    let (all, sub_search) = (grouped(status.jobs), &status.sub_search);
    match (status.earlier_jobs, status.jobs - status.earlier_jobs.min(status.jobs)) {
        (0, _) => format!("{all} jobs of {sub_search}"),
        (_, 0) => format!("{all} jobs before this start"),
        (_, own) => {
            format!("{all} jobs, {} of them of {sub_search} since this start", grouped(own))
        }
    }
}

/// Shows the progress of a running solve, until it has ended.
pub async fn follow(driver: DriverHandle, mut progress: Progress) {
    // A short solve shows nothing.
    let mut looks = tokio::time::interval(progress.looks());
    looks.tick().await;
    loop {
        looks.tick().await;
        let Ok(status) = driver.status().await else { return };
        progress.show_when_due(status.nodes, |_, a_second| line(&status, a_second));
    }
}

fn line(status: &SolveStatus, a_second: f64) -> String {
    let root: Vec<String> = status
        .open_efforts(THRESHOLDS_SHOWN)
        .take(THRESHOLDS_SHOWN)
        .map(|e| format!("{} {}/{}", e.outcome, effort(e.at_least), effort(e.less)))
        .collect();
    let slots: u32 = status.workers.iter().map(|worker| worker.slots).sum();
    format!(
        "{:.0} s, {}, {} jobs done, {} out on {slots} slots; tree {} nodes; root {}",
        status.seconds,
        pace(a_second, "nodes"),
        grouped(status.jobs),
        status.leased,
        grouped(status.tree_nodes),
        root.join(", "),
    )
}

/// The result of a solve that has ended, or that was stopped.
pub struct Report {
    result: SolveResult,
    status: SolveStatus,
    end: End,
    every_move_table: Option<String>,
}

impl Report {
    /// What there is to tell of a solve now; of one that has ended, with its line.
    pub fn new(
        solve: &Solve,
        progress: &Progress,
        known: &Known<'_>,
        line: LineFlags,
    ) -> anyhow::Result<Report> {
        let status = solve.status(progress.elapsed());
        progress.finish();
        let line = match solve.end() {
            Some(_) => {
                let interrupt = Interrupt::listen(None)?;
                let (settings, told) = (solve.settings(), known.told(solve)?);
                let (spec, moves) = (&settings.spec, &settings.moves);
                line.find(spec, moves, solve.proved(), told.table(), &interrupt)?
            }
            None => BestLine::default(),
        };
        let result = SolveResult {
            answer: Answer::of_solve(&status).with_line(line),
            descents: status.jobs,
            nodes: status.nodes,
            peak_nodes: status.peak_tree_nodes,
            seconds: status.seconds,
            jobs: status.jobs,
            workers: status.most_workers,
            cancelled: status.cancelled,
            leases_expired: status.leases_expired,
            overhead: status.overhead(),
            earlier_nodes: status.earlier_nodes,
            claims: status.answer_claims,
            claims_confirmed: status.answer_confirmed,
            every_move: None,
            certificate: None,
        };
        let end = if solve.end().is_some() { End::Solved } else { End::Unsolved };
        Ok(Report { result, status, end, every_move_table: None })
    }

    /// The same with what each legal move is worth.
    pub fn with_every_move(mut self, every: EveryMove) -> Report {
        self.every_move_table = Some(every.table());
        self.result.every_move = Some(every.moves);
        self
    }

    /// Prints it; as text it is out before the certificate is made, as JSON there is one object with both.
    pub fn print(
        mut self,
        output: Output,
        certify: impl FnOnce() -> anyhow::Result<Option<Certificate>>,
    ) -> anyhow::Result<End> {
        match output {
            Output::Json => {
                let certificate = certify();
                let made = certificate.map(|certificate| self.result.certificate = certificate);
                // The value is known, with a certificate or without.
                output::print_json(&self.result)?;
                made.map(|()| self.end)
            }
            Output::Text => {
                output::print_text(&text(&self.result, &self.status))?;
                if let Some(table) = &self.every_move_table {
                    output::print_text(table)?;
                }
                if let Some(certificate) = certify()? {
                    output::print_text(&certificate.line())?;
                }
                Ok(self.end)
            }
        }
    }
}

fn text(result: &SolveResult, status: &SolveStatus) -> String {
    let earlier = match result.earlier_nodes {
        0 => String::new(),
        earlier => format!(" ({} of them before this start)", grouped(earlier)),
    };
    let (headline, moves) = (result.answer.headline(), result.answer.moves_for_people());
    let rests = result.claims.zip(result.claims_confirmed);
    let rests = rests
        .map_or(String::new(), |(claims, confirmed)| format!("\n{}", rests_on(claims, confirmed)));
    if result.jobs > 0 && result.jobs == status.earlier_jobs && result.workers == 0 {
        let (jobs, nodes) = (grouped(result.jobs), grouped(result.nodes));
        return format!(
            "{headline}{moves}\n{jobs} jobs and {nodes} nodes before this start, none since{rests}"
        );
    }
    format!(
        "{headline}{moves}\n{} by {} worker{} ({} cancelled, {} leases expired), {} nodes{earlier}, \
         {:.1} s, {}, overhead {:.1} %{rests}",
        jobs(status),
        result.workers,
        if result.workers == 1 { "" } else { "s" },
        grouped(result.cancelled),
        result.leases_expired,
        grouped(result.nodes),
        result.seconds,
        rate(result.nodes, result.seconds),
        result.overhead * 100.0,
    )
}
