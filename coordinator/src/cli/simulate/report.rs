//! What `jlpns simulate` tells: a table, or JSON.

use std::num::NonZero;

use bytesize::ByteSize;
use jlpns_simulate::{CoordinatorCost, Run};
use serde::Serialize;

use super::{Simulated, WorldFlags};
use crate::cli::output::{Answer, columns, grouped};

/// The result of all runs, as `--output json` prints it.
#[derive(Debug, Serialize)]
pub struct Report {
    #[serde(flatten)]
    answer: Answer,
    sub_search: String,
    /// Nodes a second; `None` if it was not found out.
    rate: Option<u64>,
    latency_seconds: f64,
    jitter: f64,
    seed: u64,
    /// For each report; `None` is the real time.
    coordinator_seconds: Option<f64>,
    /// The bytes that each worker has for its table and its searches.
    worker_memory: u64,
    /// The runs, the single slot first.
    pub runs: Vec<Row>,
}

/// One run.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The workers.
    pub workers: u32,
    slots_per_worker: u32,
    /// All slots together.
    pub slots: u64,
    /// Whether the solve came to its end.
    pub solved: bool,
    /// Virtual seconds.
    pub seconds: f64,
    /// How many times faster than the single slot; `None` if one of the two was given up.
    pub speed_up: Option<f64>,
    /// The speed-up a slot.
    pub efficiency: Option<f64>,
    /// The share of the slots' time in searches.
    pub utilisation: f64,
    /// The nodes beyond those of the single slot, as a share of these.
    pub search_overhead: Option<f64>,
    /// The share of the coordinator's time on reports.
    pub coordinator_load: f64,
    /// Jobs reported.
    jobs: u64,
    /// Jobs that became moot while they were out.
    cancelled: u64,
    /// Nodes of all searches, the stopped ones included.
    nodes: u64,
    /// The most nodes of the top-level tree at one time.
    tree_nodes: u64,
}

impl Row {
    fn new(run: &Run, single: &Run) -> Row {
        let slots = run.cluster.slots();
        let speed_up = run.speed_up(single);
        Row {
            workers: run.cluster.workers,
            slots_per_worker: run.cluster.slots_per_worker,
            slots,
            solved: run.end.is_some(),
            seconds: run.time.as_secs_f64(),
            speed_up,
            efficiency: speed_up.map(|speed_up| speed_up / slots as f64),
            utilisation: run.utilisation(),
            search_overhead: run.search_overhead(single),
            coordinator_load: run.coordinator_load(),
            jobs: run.status.jobs,
            cancelled: run.status.cancelled,
            nodes: run.nodes,
            tree_nodes: run.status.peak_tree_nodes,
        }
    }

    fn cells(&self) -> [String; COLUMNS] {
        let percent = |share: f64| format!("{:.1}", share * 100.0);
        let unknown = || "-".to_owned();
        [
            grouped(self.slots),
            format!("{:.3}{}", self.seconds, if self.solved { "" } else { " (given up)" }),
            self.speed_up.map_or_else(unknown, |speed_up| format!("{speed_up:.2}")),
            self.efficiency.map_or_else(unknown, percent),
            percent(self.utilisation),
            self.search_overhead.map_or_else(unknown, percent),
            percent(self.coordinator_load),
            grouped(self.jobs),
            grouped(self.cancelled),
            grouped(self.nodes),
            grouped(self.tree_nodes),
        ]
    }
}

const COLUMNS: usize = 11;
const HEADINGS: [&str; COLUMNS] = [
    "slots",
    "seconds",
    "speed-up",
    "efficiency %",
    "utilisation %",
    "overhead %",
    "coordinator %",
    "jobs",
    "cancelled",
    "nodes",
    "tree nodes",
];

impl Report {
    /// What the runs show, of which the first is that of the single slot.
    pub fn new(
        world: &WorldFlags,
        Simulated { solve, rate, worker_memory, runs }: &Simulated,
    ) -> Report {
        let start = solve.status(std::time::Duration::ZERO);
        let known = runs.iter().find(|run| run.end.is_some()).or(runs.last());
        let rows =
            runs.first().map(|single| runs.iter().map(|run| Row::new(run, single)).collect());
        Report {
            answer: Answer::of_solve(known.map_or(&start, |run| &run.status)),
            sub_search: start.sub_search.clone(),
            rate: rate.map(NonZero::get),
            latency_seconds: world.latency.as_secs_f64(),
            jitter: world.jitter,
            seed: world.seed,
            coordinator_seconds: match world.coordinator_cost {
                CoordinatorCost::Real => None,
                CoordinatorCost::Fixed(cost) => Some(cost.as_secs_f64()),
            },
            worker_memory: *worker_memory,
            runs: rows.unwrap_or_default(),
        }
    }

    /// What is simulated, in a few words.
    pub fn title(&self) -> String {
        format!("{} by jobs of {}", self.answer.spec, self.sub_search)
    }

    /// The report for people.
    pub fn text(&self) -> String {
        let Some(rate) = self.rate else { return self.answer.headline() };
        let coordinator = match self.coordinator_seconds {
            Some(seconds) => format!("{} us", seconds * 1e6),
            None => "its real time".to_owned(),
        };
        format!(
            "{}\njobs of {} with --rate {rate}, latency {} ms, jitter {}, seed {}; coordinator \
             {coordinator} a report; {} of memory a worker\n{}",
            self.answer.headline(),
            self.sub_search,
            self.latency_seconds * 1e3,
            self.jitter,
            self.seed,
            ByteSize(self.worker_memory),
            columns(HEADINGS, &self.runs.iter().map(Row::cells).collect::<Vec<_>>()),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_lines_up() {
        let row = std::array::from_fn(|column| "x".repeat(column + 5));
        let table = columns(HEADINGS, &[row]);
        let lines: Vec<&str> = table.lines().collect();
        assert_eq!(lines.len(), 2);
        assert_eq!(lines[0].len(), lines[1].len());
        assert!(lines[0].starts_with("slots  seconds  speed-up"), "{table}");
        assert!(lines[1].starts_with("xxxxx   xxxxxx   xxxxxxx"), "{table}");
    }
}
