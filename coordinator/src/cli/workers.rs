//! `jlpns workers`: the workers of a running solve, and orders about them.

use std::fmt::Write;
use std::time::Duration;

use jlpns_link::connect::TokenChannel;
use jlpns_link::credentials::CredentialFlags;
use jlpns_proto::v1::queue_client::QueueClient;
use jlpns_proto::v1::solver_client::SolverClient;
use jlpns_proto::v1::{
    GetQueueStatusRequest, GetStatusRequest, OrderWorkerRequest, QueueStatus, WorkerOrder,
};
use jlpns_solve::{SolveStatus, WorkerStatus};
use serde::Serialize;
use tonic::{Code, Response, Status};

use super::ask::CoordinatorFlags;
use super::output::{self, Output, grouped};
use super::{CommandError, End};
use crate::status::{from_wire, worker_from_wire};

/// How long a coordinator may take to answer.
const LIMIT: Duration = Duration::from_secs(10);

/// What `jlpns workers` is given.
#[derive(Debug, clap::Args)]
pub struct WorkersFlags {
    #[command(flatten)]
    coordinator: CoordinatorFlags,

    /// Give the workers of this name no more jobs
    #[arg(long, value_name = "NAME", group = "order")]
    drain: Option<String>,

    /// Put the machine of this worker out: its workers are let go, and what only it has claimed does
    /// not count any more
    #[arg(long, value_name = "NAME", group = "order")]
    kick: Option<String>,

    /// Let the machine of this worker come again, after it was put out
    #[arg(long, value_name = "NAME", group = "order")]
    reinstate: Option<String>,

    #[command(flatten)]
    credentials: CredentialFlags,

    /// How the workers are printed
    #[arg(long, value_enum, default_value_t, env = "JLPNS_OUTPUT")]
    output: Output,
}

/// The workers, as `--output json` prints it.
#[derive(Debug, Serialize)]
struct Roster {
    /// The workers that are connected.
    workers: Vec<WorkerStatus>,
    /// The machines that are put out, by the names of their workers.
    quarantined: Vec<String>,
}

impl WorkersFlags {
    fn order(&self) -> Option<OrderWorkerRequest> {
        let orders = [
            (&self.drain, WorkerOrder::Drain),
            (&self.kick, WorkerOrder::Kick),
            (&self.reinstate, WorkerOrder::Reinstate),
        ];
        let given = |(name, order): (&Option<String>, WorkerOrder)| {
            Some(OrderWorkerRequest { name: name.clone()?, order: order.into() })
        };
        orders.into_iter().find_map(given)
    }
}

/// Has an order carried out, and prints the workers that there are then.
pub fn run(flags: &WorkersFlags) -> Result<End, CommandError> {
    let coordinator = flags.coordinator.find(&flags.credentials)?;
    if let Some(order) = flags.order() {
        coordinator.ask(LIMIT, async |line| SolverClient::new(line).order_worker(order).await)?;
    }
    let roster = coordinator.ask(LIMIT, roster)?;
    match flags.output {
        Output::Json => output::print_json(&roster)?,
        Output::Text => output::print_text(&text(&roster))?,
    }
    Ok(End::Solved)
}

/// The workers of a coordinator with one solve, or with a queue.
async fn roster(line: TokenChannel) -> Result<Response<Roster>, Status> {
    let solve = SolverClient::new(line.clone()).get_status(GetStatusRequest {}).await;
    let (workers, quarantined) = match solve {
        Err(status) if status.code() == Code::FailedPrecondition => {
            let status = QueueClient::new(line).get_queue_status(GetQueueStatusRequest {}).await?;
            let QueueStatus { workers, quarantined, .. } = status.into_inner();
            (workers.into_iter().map(worker_from_wire).collect(), quarantined)
        }
        solve => {
            let SolveStatus { workers, quarantined, .. } = from_wire(solve?.into_inner());
            (workers, quarantined)
        }
    };
    Ok(Response::new(Roster { workers, quarantined }))
}

/// The workers as lines for people.
fn text(roster: &Roster) -> String {
    let mut lines = Vec::new();
    for worker in &roster.workers {
        let mut line = format!(
            "{}: {} of {} slots busy, {} jobs, {} nodes, {} reports refused, heard of {:.0} s ago; {}, \
             {} of its claims confirmed",
            worker.name,
            worker.running,
            worker.slots,
            grouped(worker.jobs),
            grouped(worker.nodes),
            worker.refused,
            worker.silent_seconds,
            worker.machine,
            grouped(worker.confirmed),
        );
        // Writing to a string cannot fail.
        if !worker.build.is_empty() {
            let _ = write!(line, "; build {}", worker.build);
        }
        if let Some(idle) = idle(worker) {
            let _ = write!(line, "; {idle}");
        }
        lines.push(line);
    }
    if roster.workers.is_empty() {
        lines.push("no worker is connected".to_owned());
    }
    let put_out = roster.quarantined.iter();
    lines.extend(put_out.map(|name| format!("the machine of worker {name} is quarantined")));
    lines.join("\n")
}

/// Why a worker takes no jobs, in a few words; nothing if it takes them.
pub fn idle(worker: &WorkerStatus) -> Option<String> {
    let state = match (worker.draining, worker.paused) {
        (true, _) => "draining",
        (false, true) => "paused",
        (false, false) => return None,
    };
    let reason = &worker.idle_reason;
    Some(if reason.is_empty() { state.to_owned() } else { format!("{state}: {reason}") })
}
