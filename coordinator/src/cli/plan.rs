//! `jlpns plan`: what adding machines brings to a solve, where it stops and what limits it, by simulation.

use std::fmt::Write;
use std::num::NonZero;

use bytesize::ByteSize;
use jlpns_games::spec::Games;
use jlpns_simulate::{Cluster, Run};
use serde::Serialize;

use super::output::{self, Answer, Output, columns, grouped};
use super::settings::SettingsFlags;
use super::simulate::{SINGLE_SLOT, Simulated, WorldFlags, simulated};
use super::{CommandError, End, values};

/// Twice as many machines are worth it when they save at least this share of the time.
const WORTH: f64 = 0.2;
/// From this load on the coordinator is what limits.
const FULL_LOAD: f64 = 0.8;

/// What `jlpns plan` is given.
#[derive(Debug, clap::Args)]
pub struct PlanFlags {
    #[command(flatten)]
    settings: SettingsFlags,

    /// How many machines there are, and how many searches each runs at a time, such as 30x16
    #[arg(long, value_name = "MACHINESxSLOTS", env = "JLPNS_MACHINES")]
    #[arg(value_parser = machines, allow_hyphen_values = true)]
    machines: Cluster,

    #[command(flatten)]
    world: WorldFlags,
}

/// Reads `30x16`, or `30` for machines with one slot each.
fn machines(text: &str) -> Result<Cluster, String> {
    let (machines, slots) = text.split_once('x').unwrap_or((text, "1"));
    match (values::workers(machines), slots.parse::<NonZero<u32>>()) {
        (Ok(workers), Ok(_)) => {
            let slots_per_worker = values::slots(slots)?;
            Ok(Cluster { workers, slots_per_worker })
        }
        _ => Err("write the number of machines and the slots of each, such as 30x16".to_owned()),
    }
}

/// The numbers of machines to simulate: doubling up to all of them.
fn steps(all: Cluster) -> Vec<Cluster> {
    let doubling = std::iter::successors(Some(1_u32), |machines| machines.checked_mul(2));
    let below = doubling.take_while(|&machines| machines < all.workers);
    let machines = below.chain([all.workers]);
    machines.map(|workers| Cluster { workers, ..all }).collect()
}

/// What a number of machines brings.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct Step {
    machines: u32,
    slots: u64,
    solved: bool,
    /// Virtual seconds.
    seconds: f64,
    /// How many times faster than one machine; not there if one of the two was given up.
    speed_up: Option<f64>,
    /// The share of the slots' time in which they waited.
    idle: f64,
    /// The share of the slots' time in searches that one slot would not have needed.
    in_vain: Option<f64>,
    /// The share of the slots' time in searches of what another machine had searched before, which is among it.
    searched_elsewhere: Option<f64>,
    /// The share of the coordinator's time on reports.
    coordinator_load: f64,
}

impl Step {
    fn new(run: &Run, slot: &Run, machine: &Run) -> Step {
        let utilisation = run.utilisation();
        let overhead = run.search_overhead(slot).map(|overhead| overhead.max(0.0));
        Step {
            machines: run.cluster.workers,
            slots: run.cluster.slots(),
            solved: run.end.is_some(),
            seconds: run.time.as_secs_f64(),
            speed_up: run.speed_up(machine),
            idle: 1.0 - utilisation,
            in_vain: overhead.map(|overhead| utilisation * overhead / (1.0 + overhead)),
            searched_elsewhere: run.split(slot).map(|split| split.elsewhere_first),
            coordinator_load: run.coordinator_load(),
        }
    }

    /// What keeps this number of machines from being faster.
    fn limit(&self) -> Option<Limit> {
        let in_vain = self.in_vain.filter(|_| self.seconds > 0.0)?;
        Some(if self.coordinator_load >= FULL_LOAD {
            Limit::Coordinator
        } else if self.idle > in_vain {
            Limit::Idle
        } else {
            Limit::InVain
        })
    }
}

/// What keeps machines from being faster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Limit {
    /// The coordinator takes in no more reports.
    Coordinator,
    /// Slots wait: for messages, or for work, of which there is too little at the beginning and at the end.
    Idle,
    /// Slots search what others have searched, or what is not needed in the end.
    InVain,
}

/// The most machines up to which each doubling saves a fifth of the time, of steps that were all solved; nothing where
/// there is nothing to compare.
fn worthwhile(steps: &[Step]) -> Option<u32> {
    if steps.len() < 2 || !steps.iter().all(|step| step.solved && step.seconds > 0.0) {
        return None;
    }
    let mut most = steps.first()?.machines;
    for pair in steps.windows(2) {
        let [before, after] = pair else { continue };
        // The last step may be less than twice the one before.
        let doublings = (f64::from(after.machines) / f64::from(before.machines)).log2();
        if after.seconds > before.seconds * (1.0 - WORTH).powf(doublings) {
            break;
        }
        most = after.machines;
    }
    Some(most)
}

/// What is to be told, as `--output json` prints it.
#[derive(Debug, Serialize)]
struct Plan {
    #[serde(flatten)]
    answer: Answer,
    /// Nodes a second of one slot; `None` if it was not found out.
    rate: Option<u64>,
    /// The bytes that each machine has for its table and its searches.
    machine_memory: u64,
    machines: Vec<Step>,
    /// How many machines are worth it: up to so many, twice as many save a fifth of the time.
    worthwhile_machines: Option<u32>,
    /// What keeps all of them from being faster.
    limit: Option<Limit>,
    /// Whether all numbers of machines were simulated.
    #[serde(skip)]
    is_whole: bool,
}

impl Plan {
    fn new(simulated: &Simulated, single: Option<&Run>, runs: &[Run], is_whole: bool) -> Plan {
        let start = simulated.solve.status(std::time::Duration::ZERO);
        let known = runs.iter().find(|run| run.end.is_some()).or(runs.last());
        let machine = runs.first();
        let steps = single.zip(machine).map(|(slot, machine)| {
            runs.iter().map(|run| Step::new(run, slot, machine)).collect::<Vec<Step>>()
        });
        let machines = steps.unwrap_or_default();
        Plan {
            answer: Answer::of_solve(known.map_or(&start, |run| &run.status)),
            rate: simulated.rate.map(NonZero::get),
            machine_memory: simulated.worker_memory,
            worthwhile_machines: worthwhile(&machines).filter(|_| is_whole),
            is_whole,
            limit: machines.last().and_then(Step::limit),
            machines,
        }
    }

    fn text(&self) -> String {
        let mut text = self.answer.headline();
        let Some(rate) = self.rate else { return text };
        let memory = ByteSize(self.machine_memory);
        let rate = grouped(rate);
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "\nsimulated with {rate} nodes a second a slot and {memory} of memory a machine\n{}",
            table(&self.machines)
        );
        let (Some(first), Some(last)) = (self.machines.first(), self.machines.last()) else {
            return text;
        };
        if last.seconds <= 0.0 {
            return text + "\nthere is nothing to search";
        }
        if let Some(speed_up) = last.speed_up
            && last.machines > 1
        {
            let _ = write!(
                text,
                "\n{} machines take {:.1} s, one takes {:.1} s: they are {speed_up:.1} times as fast",
                last.machines, last.seconds, first.seconds
            );
        }
        match self.worthwhile_machines {
            Some(most) if most == last.machines => {
                text += "\nmore machines than these may be worth it: the last ones still saved a fifth \
                         of the time for each doubling";
            }
            Some(most) => {
                let _ = write!(
                    text,
                    "\nbeyond {most} machine{}, twice as many save less than a fifth of the time",
                    if most == 1 { "" } else { "s" }
                );
            }
            None if !self.is_whole => {
                text += "\nit was stopped before all of them were simulated";
            }
            None if !self.machines.iter().all(|step| step.solved) => {
                text += "\nnot all of them were simulated to the end: raise --max-time";
            }
            None => {}
        }
        if let Some(limit) = self.limit {
            let _ = write!(text, "\n{}", words(limit, last));
        }
        text
    }
}

/// What limits a number of machines, and what helps.
fn words(limit: Limit, step: &Step) -> String {
    let percent = |share: f64| format!("{:.0} %", share * 100.0);
    match limit {
        Limit::Coordinator => format!(
            "what limits them is the coordinator, busy {} of the time: larger jobs (--job-nodes) need it less",
            percent(step.coordinator_load)
        ),
        Limit::Idle => format!(
            "what limits them is work: slots wait {} of their time; a larger game keeps more of them busy",
            percent(step.idle)
        ),
        Limit::InVain => format!(
            "what limits them is what is searched twice or in vain, {} of the slots' time{}: a larger game \
             has more to share, and fewer machines with more memory each know more of it",
            percent(step.in_vain.unwrap_or_default()),
            step.searched_elsewhere.map_or_else(String::new, |share| {
                format!(" ({} on what another machine had searched before)", percent(share))
            }),
        ),
    }
}

/// A row for each number of machines.
fn table(steps: &[Step]) -> String {
    const HEADINGS: [&str; 7] = [
        "machines",
        "slots",
        "seconds",
        "times one machine",
        "waiting %",
        "in vain %",
        "coordinator %",
    ];
    let percent = |share: f64| format!("{:.1}", share * 100.0);
    let unknown = || "-".to_owned();
    let row = |step: &Step| {
        [
            grouped(u64::from(step.machines)),
            grouped(step.slots),
            format!("{:.3}{}", step.seconds, if step.solved { "" } else { " (given up)" }),
            step.speed_up.map_or_else(unknown, |speed_up| format!("{speed_up:.2}")),
            percent(step.idle),
            step.in_vain.map_or_else(unknown, percent),
            percent(step.coordinator_load),
        ]
    };
    columns(HEADINGS, &steps.iter().map(row).collect::<Vec<_>>())
}

/// Simulates numbers of machines up to those that there are, and says what they bring.
pub fn run(flags: &PlanFlags, games: &Games) -> Result<End, CommandError> {
    // A single slot is what tells how much is searched twice.
    let mut clusters = steps(flags.machines);
    let is_a_machine = clusters.first() == Some(&SINGLE_SLOT);
    if !is_a_machine {
        clusters.insert(0, SINGLE_SLOT);
    }
    let simulated = simulated(&flags.settings, &flags.world, &clusters, games)?;
    let machines = simulated.runs.get(usize::from(!is_a_machine)..).unwrap_or_default();
    let is_whole = simulated.runs.len() == clusters.len();
    let plan = Plan::new(&simulated, simulated.single(), machines, is_whole);
    match flags.settings.output {
        Output::Json => output::print_json(&plan)?,
        Output::Text => output::print_text(&plan.text())?,
    }
    Ok(if simulated.has_solved(&clusters) { End::Solved } else { End::Unsolved })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(machines: u32, seconds: f64) -> Step {
        Step {
            machines,
            slots: u64::from(machines) * 16,
            solved: true,
            seconds,
            speed_up: Some(100.0 / seconds),
            idle: 0.1,
            in_vain: Some(0.5),
            searched_elsewhere: Some(0.4),
            coordinator_load: 0.2,
        }
    }

    #[test]
    fn machines_are_a_number_and_their_slots() {
        let cluster = |workers, slots_per_worker| Ok(Cluster { workers, slots_per_worker });
        assert_eq!(machines("30x16"), cluster(30, 16));
        assert_eq!(machines("4"), cluster(4, 1));
        for bad in ["", "x", "30x", "x16", "0x4", "4x0", "30x16x2", "-1x2", "many", "2xauto"] {
            assert!(machines(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_numbers_double_up_to_all() {
        let numbers = |workers| {
            let steps = steps(Cluster { workers, slots_per_worker: 16 });
            steps.iter().map(|step| step.workers).collect::<Vec<u32>>()
        };
        assert_eq!(numbers(1), [1]);
        assert_eq!(numbers(8), [1, 2, 4, 8]);
        assert_eq!(numbers(30), [1, 2, 4, 8, 16, 30]);
    }

    #[test]
    fn machines_are_worth_it_as_long_as_each_doubling_saves_a_fifth() {
        let to = |seconds: &[f64]| {
            let steps = seconds.iter().zip(0..).map(|(&s, i)| step(1 << i, s));
            worthwhile(&steps.collect::<Vec<Step>>())
        };
        assert_eq!(to(&[100.0, 60.0, 40.0]), Some(4));
        assert_eq!(to(&[100.0, 60.0, 55.0]), Some(2));
        assert_eq!(to(&[100.0, 99.0, 10.0]), Some(1));
        assert_eq!((to(&[]), to(&[100.0]), to(&[0.0, 0.0])), (None, None, None));
        // Half a doubling needs to save half as much.
        let steps = [step(16, 100.0), step(24, 87.0)];
        assert_eq!(worthwhile(&steps), Some(24));
        let given_up = Step { solved: false, ..step(2, 10.0) };
        assert_eq!(worthwhile(&[step(1, 100.0), given_up]), None);
    }

    #[test]
    fn the_largest_loss_limits() {
        assert_eq!(step(2, 1.0).limit(), Some(Limit::InVain));
        assert_eq!(Step { idle: 0.6, ..step(2, 1.0) }.limit(), Some(Limit::Idle));
        assert_eq!(
            Step { coordinator_load: 0.9, ..step(2, 1.0) }.limit(),
            Some(Limit::Coordinator)
        );
        assert_eq!(Step { in_vain: None, ..step(2, 1.0) }.limit(), None);
        assert_eq!(step(2, 0.0).limit(), None);
    }
}
