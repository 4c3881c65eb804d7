//! `jlpns simulate`: a solve on virtual workers, for a list of their numbers.

mod plot;
mod report;

use std::fs::OpenOptions;
use std::num::NonZero;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use bytesize::ByteSize;
use jlpns_games::spec::Games;
use jlpns_search::sub_search::SubSearches;
use jlpns_simulate::{
    Cluster, CoordinatorCost, Run, Simulation, SimulationError, SoFar, Spectator, measure_rate,
    simulate,
};
use jlpns_solve::belief::Confirm;
use jlpns_solve::{Solve, SolveSettings};
use report::Report;
use tracing::info;

use super::confirm::check_sharing;
use super::interrupt::Interrupt;
use super::output::{self, Output, grouped, pace};
use super::progress::Progress;
use super::settings::SettingsFlags;
use super::{CommandError, End, values};

/// How long the rate is measured.
const MEASURING: Duration = Duration::from_millis(500);
/// The least memory of a virtual worker, in bytes: with less, the searches of a job could come to
/// no end.
const LEAST_SHARE: u64 = 64 << 10;
/// That of one of which nothing is said, if there is enough.
const USUAL_MEMORY: u64 = 1 << 30;

/// What speed-ups compare with.
pub const SINGLE_SLOT: Cluster = Cluster { workers: 1, slots_per_worker: 1 };

/// What `jlpns simulate` is given.
#[derive(Debug, clap::Args)]
pub struct SimulateFlags {
    #[command(flatten)]
    settings: SettingsFlags,

    /// For how many workers; one worker with one slot is simulated first, for the speed-up
    #[arg(long, value_name = "LIST", default_value = "1,2,4,8,16,32,64", value_delimiter = ',')]
    #[arg(env = "JLPNS_WORKERS")]
    #[arg(value_parser = values::workers, allow_hyphen_values = true)]
    workers: Vec<u32>,

    /// How many searches each worker runs at a time
    #[arg(long, value_name = "N", default_value = "1", env = "JLPNS_SLOTS_PER_WORKER")]
    #[arg(value_parser = values::slots, allow_hyphen_values = true)]
    slots_per_worker: u32,

    /// Whether one worker with one slot is simulated first. Without it no speed-up is told, and what takes one slot
    /// hours does not take them here: for another seed, say, of a run whose single slot is known
    #[arg(long, value_name = "BOOL", default_value = "true", env = "JLPNS_SINGLE_SLOT")]
    #[arg(action = clap::ArgAction::Set, num_args = 0..=1, default_missing_value = "true")]
    #[arg(require_equals = true)]
    single_slot: bool,

    #[command(flatten)]
    world: WorldFlags,

    /// How many times each number of workers is simulated, with seeds from --seed on: what is told are
    /// means, and how far the speed-ups spread
    #[arg(long, value_name = "N", default_value = "1", env = "JLPNS_SEEDS")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1000), allow_hyphen_values = true)]
    seeds: u32,

    /// Draw speed-up, efficiency and utilisation into this file
    #[arg(long, value_name = "FILE.svg", env = "JLPNS_PLOT")]
    plot: Option<PathBuf>,
}

/// The virtual world: what takes how long, and what there is.
#[derive(Clone, Debug, clap::Args)]
pub struct WorldFlags {
    /// How long a message takes from the coordinator to a worker or back
    #[arg(long, value_name = "TIME", default_value = "0.5ms", env = "JLPNS_LATENCY")]
    #[arg(value_parser = values::duration, allow_hyphen_values = true)]
    pub latency: Duration,

    /// How many nodes a search creates in a second [default: measured for half a second, and
    /// printed]
    #[arg(long, value_name = "NODES", env = "JLPNS_RATE")]
    #[arg(value_parser = values::node_count, allow_hyphen_values = true)]
    rate: Option<u64>,

    /// The coordinator's time for each report, in microseconds; 'real' takes the time that it
    /// really needs here, and no two runs are the same then
    #[arg(long, value_name = "MICROSECONDS|real", default_value = "20")]
    #[arg(env = "JLPNS_COORDINATOR_COST")]
    #[arg(value_parser = values::coordinator_cost, allow_hyphen_values = true)]
    coordinator_cost: CoordinatorCost,

    /// By which share each message and each search may take less or more time
    #[arg(long, value_name = "SHARE", default_value = "0.1", env = "JLPNS_JITTER")]
    #[arg(value_parser = values::share, allow_hyphen_values = true)]
    jitter: f64,

    /// What the jitter is drawn from
    #[arg(long, value_name = "N", default_value = "1", env = "JLPNS_SEED")]
    #[arg(value_parser = values::seed, allow_hyphen_values = true)]
    seed: u64,

    /// The virtual time after which each simulated solve is given up
    #[arg(long, value_name = "TIME", env = "JLPNS_MAX_TIME")]
    #[arg(value_parser = values::duration, allow_hyphen_values = true)]
    max_time: Option<Duration>,

    /// How much memory the top-level tree may take
    #[arg(long, value_name = "SIZE", default_value = "1GiB", allow_hyphen_values = true)]
    #[arg(env = "JLPNS_TREE_MEMORY")]
    #[arg(value_parser = values::memory)]
    tree_memory: u64,

    /// How much memory the transposition tables may take together: each worker has an equal share
    /// for the most workers of the list, and the same for fewer. A search without a table may take
    /// all of it, as one runs after the other [default: 1 GiB for each worker, or as much as half of this
    /// machine's memory allows]
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true, env = "JLPNS_TABLE_MEMORY")]
    #[arg(value_parser = values::memory)]
    table_memory: Option<u64>,

    /// Whether what one worker has solved goes into the tables of the others [default: true, but with --confirm sample]
    #[arg(long, value_name = "BOOL", env = "JLPNS_SHARE")]
    #[arg(action = clap::ArgAction::Set, num_args = 0..=1, default_missing_value = "true")]
    #[arg(require_equals = true)]
    share: Option<bool>,

    /// What is made sure of before an answer counts, as by 'jlpns serve', each worker on a machine of its own:
    /// that all that it rests on was claimed by two machines or searched again by the coordinator (answer), that
    /// a share of what is claimed was (sample), or nothing (none)
    #[arg(long, value_name = "WHAT", default_value = "none", env = "JLPNS_CONFIRM")]
    #[arg(value_parser = values::confirm())]
    confirm: Confirm,
}

impl SimulateFlags {
    /// The clusters to simulate, the single slot first if it is wanted, then by size.
    fn clusters(&self) -> Vec<Cluster> {
        let mut workers = self.workers.clone();
        workers.sort_unstable();
        workers.dedup();
        let asked = workers
            .iter()
            .map(|&w| Cluster { workers: w, slots_per_worker: self.slots_per_worker });
        let single = self.single_slot.then_some(SINGLE_SLOT);
        single.into_iter().chain(asked.filter(|&cluster| Some(cluster) != single)).collect()
    }
}

impl WorldFlags {
    /// The bytes of one of so many workers.
    fn worker_memory(&self, settings: &SolveSettings, most: u32) -> Result<u64, CommandError> {
        let Some(table_memory) = self.table_memory else {
            let half = values::memory("50%").unwrap_or(USUAL_MEMORY);
            return Ok((half / u64::from(most)).clamp(LEAST_SHARE, USUAL_MEMORY));
        };
        if !settings.sub_search.uses_table() {
            return Ok(table_memory);
        }
        let share = table_memory / u64::from(most);
        if share < LEAST_SHARE {
            return Err(CommandError::BadInput(format!(
                "{} for '--table-memory' is {} for each of {most} workers; give at least {}",
                ByteSize(table_memory),
                ByteSize(share),
                ByteSize(LEAST_SHARE * u64::from(most)),
            )));
        }
        Ok(share)
    }
}

/// What was simulated.
pub struct Simulated {
    /// The solve as it is before any search.
    pub solve: Solve,
    /// Nodes a second; `None` if the user stopped it before that was found out.
    pub rate: Option<NonZero<u64>>,
    /// The bytes that each worker has.
    pub worker_memory: u64,
    /// In the order of the clusters; fewer if the user stopped it.
    pub runs: Vec<Run>,
}

/// Simulates the solve on each of these clusters, or goes on until a signal comes.
pub fn simulated(
    flags: &SettingsFlags,
    world: &WorldFlags,
    clusters: &[Cluster],
    games: &Games,
) -> Result<Simulated, CommandError> {
    let mut settings = flags.settings(world.tree_memory, false, games)?;
    settings.share = world.share.unwrap_or(world.confirm.goes_with_sharing());
    if world.confirm == Confirm::Proof {
        return Err(CommandError::BadInput(
            "certificates are not simulated; write 'answer', 'sample' or 'none' for '--confirm'"
                .to_owned(),
        ));
    }
    settings.belief.confirm = world.confirm;
    check_sharing(&settings)?;
    settings.leases_ahead = !world.latency.is_zero();
    let solve =
        Solve::new(settings.clone()).map_err(|error| CommandError::BadInput(error.to_string()))?;
    let most = clusters.iter().map(|cluster| cluster.workers).max().unwrap_or(1);
    let worker_memory = world.worker_memory(&settings, most)?;
    let mut desk = Desk {
        interrupt: Interrupt::listen(None)?,
        progress: Progress::start(),
        slots: 0,
        began: Instant::now(),
    };
    let mut runs = Vec::new();
    let rate = find_rate(world, &settings, worker_memory, &mut desk)?;
    if let Some(rate) = rate {
        let simulation = Simulation {
            settings,
            worker_memory,
            rate,
            latency: world.latency,
            jitter: world.jitter,
            seed: world.seed,
            coordinator_cost: world.coordinator_cost,
            max_time: world.max_time,
        };
        simulate_all(&simulation, clusters, &mut runs, &mut desk)?;
    }
    desk.progress.finish();
    Ok(Simulated { solve, rate, worker_memory, runs })
}

/// Simulates the solve for each number of workers, or goes on until a signal comes.
pub fn run(flags: &SimulateFlags, games: &Games) -> Result<End, CommandError> {
    if let Some(path) = &flags.plot {
        if path.extension().is_none_or(|extension| !extension.eq_ignore_ascii_case("svg")) {
            let reason = "plots are drawn as SVG; write a name that ends with .svg";
            return Err(CommandError::bad_value("--plot", &path.to_string_lossy(), reason));
        }
        // Before the searches: they may take hours.
        let opened = OpenOptions::new().create(true).append(true).open(path);
        let bad = |error| CommandError::bad_value("--plot", &path.to_string_lossy(), error);
        opened.map_err(|error| bad(format!("the file cannot be written: {error}")))?;
    }
    let clusters = flags.clusters();
    let simulated = flags.simulated(&clusters, games)?;
    let report = Report::new(&flags.world, &simulated);
    if let Some(path) = &flags.plot
        && !report.runs.is_empty()
    {
        let svg = plot::svg(&report.title(), &report.runs)?;
        std::fs::write(path, svg)
            .with_context(|| format!("cannot write the plot to {}", path.display()))?;
    }
    match flags.settings.output {
        Output::Json => output::print_json(&report)?,
        Output::Text => output::print_text(&report.text())?,
    }
    let all = simulated.len() == flags.seeds as usize
        && simulated.iter().all(|simulated| simulated.has_solved(&clusters));
    Ok(if all { End::Solved } else { End::Unsolved })
}

impl SimulateFlags {
    /// What was simulated with each seed, of the first at least; fewer if the user stopped it.
    fn simulated(
        &self,
        clusters: &[Cluster],
        games: &Games,
    ) -> Result<Vec<Simulated>, CommandError> {
        let mut world = self.world.clone();
        let mut all: Vec<Simulated> = Vec::new();
        for seed in (0..u64::from(self.seeds)).map(|later| self.world.seed.wrapping_add(later)) {
            world.seed = seed;
            let one = simulated(&self.settings, &world, clusters, games)?;
            // It is measured once: with another rate they would not be compared.
            world.rate = one.rate.map(NonZero::get);
            let is_whole = one.runs.len() == clusters.len();
            all.push(one);
            if !is_whole {
                break;
            }
        }
        Ok(all)
    }
}

impl Simulated {
    /// The run of the single slot, if it was simulated.
    pub fn single(&self) -> Option<&Run> {
        self.runs.iter().find(|run| run.cluster == SINGLE_SLOT)
    }

    /// Whether all of these clusters have solved it.
    pub fn has_solved(&self, clusters: &[Cluster]) -> bool {
        self.runs.len() == clusters.len() && self.runs.iter().all(|run| run.end.is_some())
    }
}

/// The rate that was given, or else the measured one; `None` if the user stopped it.
fn find_rate(
    flags: &WorldFlags,
    settings: &SolveSettings,
    worker_memory: u64,
    desk: &mut Desk,
) -> anyhow::Result<Option<NonZero<u64>>> {
    if let Some(given) = flags.rate.and_then(NonZero::new) {
        return Ok(Some(given));
    }
    match measure_rate(settings, worker_memory, MEASURING, &SubSearches, desk) {
        Ok(measured) => {
            // If there is nothing to search, no rate matters.
            let measured = measured.unwrap_or(NonZero::<u64>::MIN);
            info!("measured a rate of {measured} nodes a second; repeat with --rate {measured}");
            Ok(Some(measured))
        }
        Err(SimulationError::Stopped) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Simulates one cluster after the other, until the user stops it.
fn simulate_all(
    simulation: &Simulation,
    clusters: &[Cluster],
    runs: &mut Vec<Run>,
    desk: &mut Desk,
) -> anyhow::Result<()> {
    for &cluster in clusters {
        (desk.slots, desk.began) = (cluster.slots(), Instant::now());
        let run = match simulate(simulation, cluster, &SubSearches, desk) {
            Ok(run) => run,
            Err(SimulationError::Stopped) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        info!(
            "{}: {} after {:.3} virtual seconds; {:.1} s here",
            count(cluster.slots()),
            if run.end.is_some() { "solved" } else { "given up" },
            run.time.as_secs_f64(),
            desk.began.elapsed().as_secs_f64(),
        );
        let solved = runs.iter().find(|other| other.end.is_some());
        if let Some(other) = solved
            && run.end.is_some()
            && run.end != other.end
        {
            bail!(
                "the answers differ: {:?} with {}, {:?} with {}; this is a mistake in jlpns",
                other.end,
                count(other.cluster.slots()),
                run.end,
                count(cluster.slots()),
            );
        }
        runs.push(run);
    }
    Ok(())
}

/// `1 slot` or `64 slots`.
pub fn count(slots: u64) -> String {
    format!("{} slot{}", grouped(slots), if slots == 1 { "" } else { "s" })
}

/// Shows how far a run has come, and stops it on a signal.
struct Desk {
    interrupt: Interrupt,
    progress: Progress,
    /// The slots of the present run.
    slots: u64,
    /// When the present run really began.
    began: Instant,
}

impl Spectator for Desk {
    fn look(&mut self, so_far: SoFar) -> ControlFlow<()> {
        let slots = self.slots;
        self.progress.show_when_due(so_far.nodes, |_, a_second| {
            format!(
                "{}: {:.3} virtual seconds, {} jobs begun, {} nodes, {} here",
                count(slots),
                so_far.time.as_secs_f64(),
                grouped(so_far.jobs),
                grouped(so_far.nodes),
                pace(a_second, "nodes"),
            )
        });
        if self.interrupt.is_asked() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}
