//! `jlpns status`: the state of a running solve.

use std::fmt::Write;
use std::time::Duration;

use bytesize::ByteSize;
use jlpns_games::spec::Games;
use jlpns_link::credentials::CredentialFlags;
use jlpns_proto::v1::GetStatusRequest;
use jlpns_proto::v1::solver_client::SolverClient;
use jlpns_solve::SolveStatus;

use super::ask::CoordinatorOrKeptFlags;
use super::keeping::kept_solve;
use super::output::{self, Answer, Output, grouped, rate};
use super::report::{jobs, rests_on};
use super::workers::idle;
use super::{CommandError, End};
use crate::status::from_wire;

/// How long a coordinator may take to answer.
const LIMIT: Duration = Duration::from_secs(10);

/// How much memory the tree of a solve that is kept in a directory may take.
const MEMORY: u64 = 1 << 30;

/// What `jlpns status` is given.
#[derive(Debug, clap::Args)]
pub struct StatusFlags {
    #[command(flatten)]
    coordinator: CoordinatorOrKeptFlags,

    #[command(flatten)]
    credentials: CredentialFlags,

    /// How the state is printed
    #[arg(long, value_enum, default_value_t, env = "JLPNS_OUTPUT")]
    output: Output,
}

/// Asks for the state and prints it.
pub fn run(flags: &StatusFlags, games: &Games) -> Result<End, CommandError> {
    let directory = flags.coordinator.directory();
    let is_kept = directory.is_some();
    let status = if let Some(directory) = directory {
        let (solve, _) = kept_solve(directory, games, MEMORY)?;
        solve.status(Duration::ZERO)
    } else {
        let coordinator = flags.coordinator.find(&flags.credentials)?;
        from_wire(coordinator.ask(LIMIT, async |line| {
            SolverClient::new(line).get_status(GetStatusRequest {}).await
        })?)
    };
    match flags.output {
        Output::Json => output::print_json(&status)?,
        Output::Text => output::print_text(&text(&status, !is_kept))?,
    }
    Ok(End::Solved)
}

/// The state as lines for people, of a solve that is running or is kept in a directory.
fn text(status: &SolveStatus, is_running: bool) -> String {
    let mut text = Answer::of_solve(status).headline();
    for effort in status.open_efforts(output::THRESHOLDS_SHOWN) {
        let (at_least, less) = (output::effort(effort.at_least), output::effort(effort.less));
        let outcome = &effort.outcome;
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "\nroot, {outcome}: {at_least} to prove at least it, {less} to prove less"
        );
    }
    if let Some(best) = &status.best_move {
        let _ = write!(text, "\nbest move: {best}");
    }
    if let Some(most_proving) = &status.most_proving_move {
        let _ = write!(text, "\nmost-proving move: {most_proving}");
    }
    let _ = write!(
        text,
        "\n{:.0} s, {}, {} out, {} cancelled, {} leases expired, {} reports \
         refused",
        status.seconds,
        jobs(status),
        status.leased,
        grouped(status.cancelled),
        status.leases_expired,
        status.refused,
    );
    let _ = write!(
        text,
        "\n{} nodes searched, {}; {} nodes in the tree, {}; claims {}",
        grouped(status.nodes),
        rate(status.nodes, status.seconds),
        grouped(status.tree_nodes),
        ByteSize(status.tree_bytes),
        ByteSize(status.claim_bytes),
    );
    if let Some(durable) = status.durable_records {
        let _ = write!(text, "\n{} records, {} durable", grouped(status.records), grouped(durable));
    }
    if let Some(reason) = &status.halted {
        let _ = write!(text, "\nno job is given out: {reason}");
    }
    for job in &status.parked_jobs {
        let (moves, losses) = (&job.moves, job.losses);
        let _ = write!(text, "\nthe job at '{moves}' was lost {losses} times, and is parked");
    }
    if status.confirmed + status.unconfirmed + status.disputes > 0 {
        let _ = write!(
            text,
            "\nclaims searched again: {} confirmed, {} waiting, {} contradicted",
            grouped(status.confirmed),
            grouped(status.unconfirmed),
            grouped(status.disputes),
        );
    }
    if let (Some(claims), Some(confirmed)) = (status.answer_claims, status.answer_confirmed) {
        let _ = write!(text, "\n{}", rests_on(claims, confirmed));
    }
    if status.shared_positions > 0 {
        let shared = grouped(status.shared_positions);
        let _ = write!(text, "\n{shared} solved positions were told to other workers");
    }
    for name in &status.quarantined {
        let _ = write!(text, "\nthe machine of worker {name} is quarantined");
    }
    if status.workers.is_empty() && is_running {
        text += "\nno worker is connected";
    }
    for worker in &status.workers {
        let _ = write!(
            text,
            "\nworker {}: {} of {} slots busy, {} jobs, {} nodes, {}{}",
            worker.name,
            worker.running,
            worker.slots,
            grouped(worker.jobs),
            grouped(worker.nodes),
            rate(worker.nodes, worker.seconds),
            idle(worker).map(|idle| format!(", {idle}")).unwrap_or_default(),
        );
        if worker.stuck > 0 {
            let _ = write!(text, ", {} slots stuck", worker.stuck);
        }
    }
    text
}
