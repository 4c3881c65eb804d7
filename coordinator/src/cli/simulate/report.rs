//! What `jlpns simulate` tells: a table, or JSON.

use std::num::NonZero;

use bytesize::ByteSize;
use jlpns_simulate::{CoordinatorCost, Run, Split};
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
    /// The first seed.
    seed: u64,
    /// How many there are.
    seeds: u64,
    /// For each report; `None` is the real time.
    coordinator_seconds: Option<f64>,
    /// The bytes that each worker has for its table and its searches.
    worker_memory: u64,
    /// The numbers of workers, the single slot first if it was simulated, each with the means over the seeds.
    pub runs: Vec<Row>,
}

/// The runs of one number of workers: one, or the means of one for each seed.
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
    /// How many times faster than the single slot; `None` if one of the two was given up or not
    /// simulated.
    pub speed_up: Option<f64>,
    /// The standard deviation of the speed-ups over the seeds; `None` of a single one.
    speed_up_spread: Option<f64>,
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
    /// What the time of all slots went to; `None` if it was not found out.
    pub time_split: Option<TimeSplit>,
}

/// What the time of all slots went to, as shares of it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TimeSplit {
    /// As much as one slot needs.
    pub needed: f64,
    /// Searches of what another worker had searched before.
    pub searched_elsewhere: f64,
    /// Searches that one slot would not have needed.
    pub in_vain: f64,
    /// Waits for messages.
    pub way: f64,
    /// Waits for jobs.
    pub idle: f64,
    /// Waits that no job ended.
    pub tail: f64,
}

impl From<Split> for TimeSplit {
    fn from(split: Split) -> TimeSplit {
        let Split { needed, elsewhere_first: searched_elsewhere, in_vain, way, idle, tail } = split;
        TimeSplit { needed, searched_elsewhere, in_vain, way, idle, tail }
    }
}

impl TimeSplit {
    const HEADINGS: [&str; 7] =
        ["slots", "needed %", "searched elsewhere %", "in vain %", "way %", "idle %", "tail %"];

    /// In the order of the headings.
    fn shares(&self) -> [f64; 6] {
        let TimeSplit { needed, searched_elsewhere, in_vain, way, idle, tail } = *self;
        [needed, searched_elsewhere, in_vain, way, idle, tail]
    }

    /// The means of several, of one at least.
    fn mean(splits: &[TimeSplit]) -> TimeSplit {
        let mean = |value: fn(&TimeSplit) -> f64| {
            splits.iter().map(value).sum::<f64>() / splits.len() as f64
        };
        TimeSplit {
            needed: mean(|split| split.needed),
            searched_elsewhere: mean(|split| split.searched_elsewhere),
            in_vain: mean(|split| split.in_vain),
            way: mean(|split| split.way),
            idle: mean(|split| split.idle),
            tail: mean(|split| split.tail),
        }
    }
}

impl Row {
    /// A run, beside that of the single slot, if there was one.
    fn new(run: &Run, single: Option<&Run>) -> Row {
        let slots = run.cluster.slots();
        let speed_up = single.and_then(|single| run.speed_up(single));
        Row {
            workers: run.cluster.workers,
            slots_per_worker: run.cluster.slots_per_worker,
            slots,
            solved: run.end.is_some(),
            seconds: run.time.as_secs_f64(),
            speed_up,
            speed_up_spread: None,
            efficiency: speed_up.map(|speed_up| speed_up / slots as f64),
            utilisation: run.utilisation(),
            search_overhead: single.and_then(|single| run.search_overhead(single)),
            coordinator_load: run.coordinator_load(),
            jobs: run.status.jobs,
            cancelled: run.status.cancelled,
            nodes: run.nodes,
            tree_nodes: run.status.peak_tree_nodes,
            time_split: single.and_then(|single| run.split(single)).map(TimeSplit::from),
        }
    }

    /// The means of runs of the same workers, of which there is one at least.
    fn mean(rows: &[Row]) -> Row {
        let count = rows.len() as f64;
        let mean = |value: fn(&Row) -> f64| rows.iter().map(value).sum::<f64>() / count;
        let whole = |value: fn(&Row) -> u64| {
            let sum: u128 = rows.iter().map(|row| u128::from(value(row))).sum();
            u64::try_from(sum / rows.len() as u128).unwrap_or(u64::MAX)
        };
        // There is no mean of what is not known of each.
        let known = |value: fn(&Row) -> Option<f64>| rows.iter().map(value).collect();
        let mean_of_known = |value| {
            let values: Option<Vec<f64>> = known(value);
            values.map(|values| values.iter().sum::<f64>() / count)
        };
        let speed_ups: Option<Vec<f64>> = known(|row| row.speed_up);
        let speed_up = mean_of_known(|row| row.speed_up);
        let spread = speed_ups.zip(speed_up).filter(|_| rows.len() > 1);
        let splits: Option<Vec<TimeSplit>> = rows.iter().map(|row| row.time_split).collect();
        Row {
            solved: rows.iter().all(|row| row.solved),
            seconds: mean(|row| row.seconds),
            speed_up,
            speed_up_spread: spread.map(|(values, mean)| {
                let squares = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
                (squares / (count - 1.0)).sqrt()
            }),
            efficiency: mean_of_known(|row| row.efficiency),
            utilisation: mean(|row| row.utilisation),
            search_overhead: mean_of_known(|row| row.search_overhead),
            coordinator_load: mean(|row| row.coordinator_load),
            jobs: whole(|row| row.jobs),
            cancelled: whole(|row| row.cancelled),
            nodes: whole(|row| row.nodes),
            tree_nodes: whole(|row| row.tree_nodes),
            time_split: splits.map(|splits| TimeSplit::mean(&splits)),
            ..rows[0].clone()
        }
    }

    fn cells(&self) -> [String; COLUMNS] {
        let percent = |share: f64| format!("{:.1}", share * 100.0);
        let unknown = || "-".to_owned();
        [
            grouped(self.slots),
            format!("{:.3}{}", self.seconds, if self.solved { "" } else { " (given up)" }),
            match (self.speed_up, self.speed_up_spread) {
                (None, _) => unknown(),
                (Some(speed_up), None) => format!("{speed_up:.2}"),
                (Some(speed_up), Some(spread)) => format!("{speed_up:.2} ±{spread:.2}"),
            },
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

    /// The line of what its slots' time went to.
    fn split_cells(&self) -> Option<[String; 7]> {
        let [needed, elsewhere, in_vain, way, idle, tail] =
            self.time_split?.shares().map(|share| format!("{:.1}", share * 100.0));
        Some([grouped(self.slots), needed, elsewhere, in_vain, way, idle, tail])
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
    /// What was simulated with each seed, of one at least, shows.
    pub fn new(world: &WorldFlags, simulated: &[Simulated]) -> Report {
        let Simulated { solve, rate, worker_memory, runs } = &simulated[0];
        let start = solve.status(std::time::Duration::ZERO);
        let known = runs.iter().find(|run| run.end.is_some()).or(runs.last());
        let of_cluster = |index: usize| -> Vec<Row> {
            let row = |one: &Simulated| Some(Row::new(one.runs.get(index)?, one.single()));
            simulated.iter().filter_map(row).collect()
        };
        let rows = (0..runs.len()).map(|index| Row::mean(&of_cluster(index))).collect();
        Report {
            answer: Answer::of_solve(known.map_or(&start, |run| &run.status)),
            sub_search: start.sub_search.clone(),
            rate: rate.map(NonZero::get),
            latency_seconds: world.latency.as_secs_f64(),
            jitter: world.jitter,
            seed: world.seed,
            seeds: simulated.len() as u64,
            coordinator_seconds: match world.coordinator_cost {
                CoordinatorCost::Real => None,
                CoordinatorCost::Fixed(cost) => Some(cost.as_secs_f64()),
            },
            worker_memory: *worker_memory,
            runs: rows,
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
        let splits: Vec<_> = self.runs.iter().filter_map(Row::split_cells).collect();
        let split = match &splits[..] {
            [] => String::new(),
            splits => format!("\n\nof the slots' time:\n{}", columns(TimeSplit::HEADINGS, splits)),
        };
        format!(
            "{}\njobs of {} with --rate {rate}, latency {} ms, jitter {}, {}; coordinator \
             {coordinator} a report; {} of memory a worker\n{}{split}",
            self.answer.headline(),
            self.sub_search,
            self.latency_seconds * 1e3,
            self.jitter,
            match self.seeds {
                1 => format!("seed {}", self.seed),
                seeds => format!("means of {seeds} seeds from {} on", self.seed),
            },
            ByteSize(self.worker_memory),
            columns(HEADINGS, &self.runs.iter().map(Row::cells).collect::<Vec<_>>()),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(seconds: f64, speed_up: Option<f64>, nodes: u64) -> Row {
        Row {
            workers: 4,
            slots_per_worker: 2,
            slots: 8,
            solved: speed_up.is_some(),
            seconds,
            speed_up,
            speed_up_spread: None,
            efficiency: speed_up.map(|speed_up| speed_up / 8.0),
            utilisation: 0.5,
            search_overhead: speed_up.map(|_| 0.25),
            coordinator_load: 0.0,
            jobs: 3,
            cancelled: 0,
            nodes,
            tree_nodes: 1,
            time_split: None,
        }
    }

    #[test]
    fn several_seeds_give_means_and_a_spread() {
        let mean = Row::mean(&[row(1.0, Some(4.0), 10), row(3.0, Some(2.0), 13)]);
        assert_eq!((mean.seconds, mean.speed_up, mean.nodes), (2.0, Some(3.0), 11));
        assert_eq!((mean.workers, mean.slots, mean.efficiency), (4, 8, Some(0.375)));
        assert_eq!(mean.cells()[2], "3.00 ±1.41");
        let one = Row::mean(&[row(1.0, Some(4.0), 10)]);
        assert_eq!((one.speed_up_spread, one.cells()[2].as_str()), (None, "4.00"));
        let given_up = Row::mean(&[row(1.0, Some(4.0), 10), row(3.0, None, 13)]);
        assert_eq!((given_up.solved, given_up.speed_up), (false, None));
        assert_eq!(given_up.cells()[1..3], ["2.000 (given up)", "-"]);
    }

    #[test]
    fn what_time_went_to_is_told_of_the_mean() {
        let split = |needed, in_vain| {
            Some(TimeSplit {
                needed,
                searched_elsewhere: 0.1,
                in_vain,
                way: 0.0,
                idle: 0.2,
                tail: 0.1,
            })
        };
        let rows = [split(0.5, 0.1), split(0.3, 0.3)]
            .map(|time_split| Row { time_split, ..row(1.0, Some(4.0), 10) });
        let cells = Row::mean(&rows).split_cells().expect("both are known");
        assert_eq!(cells, ["8", "40.0", "10.0", "20.0", "0.0", "20.0", "10.0"]);
        assert_eq!(Row::mean(&[rows[0].clone(), row(1.0, None, 1)]).split_cells(), None);
    }

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
