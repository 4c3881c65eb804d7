//! Which faults come in which order: from a seed, so that they can come again.

use std::time::Duration;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::proxy::Weather;

/// The seed of the faults, if the environment says nothing.
const USUAL_SEED: u64 = 20_261_121;

/// What happens to a cluster. Workers are numbered from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A worker is killed, and another takes its place under its name.
    KillWorker(usize),
    /// A worker is asked to end, and another takes its place.
    TerminateWorker(usize),
    /// A worker stands still.
    FreezeWorker(usize),
    /// The coordinator is killed, and started again.
    KillCoordinator,
    /// The coordinator is asked to end, and started again.
    TerminateCoordinator,
    /// The coordinator stands still for so long.
    FreezeCoordinator(Duration),
    /// A worker's connection is reset.
    Cut(usize),
    /// The network of a worker changes.
    Weather(usize, Weather),
    /// Batches of a worker come twice and in another order.
    Noise(usize),
    /// The disk of the journal is full.
    FillDisk,
    /// The disk is full, and the coordinator is killed and started again.
    FillDiskAndKill,
}

/// A fault with its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// How many jobs are reported before it.
    pub after: u64,
    /// What happens.
    pub fault: Fault,
    /// Over how many more faults it lasts, if it is one that lasts.
    pub lasts: usize,
}

/// A schedule of faults without an end.
#[derive(Debug)]
pub struct Plan {
    chance: StdRng,
    workers: usize,
}

/// The seed that the environment asks for (`JLPNS_FAULT_SEED`), or the usual one.
///
/// # Panics
///
/// If it is no number.
pub fn seed() -> u64 {
    number("JLPNS_FAULT_SEED").unwrap_or(USUAL_SEED)
}

/// How many faults the environment asks for (`JLPNS_FAULTS`), or `usual`.
///
/// # Panics
///
/// If it is no number.
pub fn wanted(usual: u64) -> u64 {
    number("JLPNS_FAULTS").unwrap_or(usual)
}

fn number(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name} is '{text}'; write a whole number")))
}

impl Plan {
    /// The schedule of a seed, for so many workers.
    pub fn new(seed: u64, workers: usize) -> Plan {
        Plan { chance: StdRng::seed_from_u64(seed), workers }
    }

    fn millis(&mut self, least: u64, most: u64) -> Duration {
        Duration::from_millis(self.chance.random_range(least..=most))
    }

    fn weather(&mut self) -> Weather {
        match self.chance.random_range(0..5) {
            0 | 1 => Weather::Hang,
            2 => Weather::Refuse,
            3 => {
                let least = self.millis(0, 10);
                Weather::Delay { least, most: least + self.millis(1, 40) }
            }
            _ => Weather::Slow { bytes_per_second: self.chance.random_range(2_000..50_000) },
        }
    }
}

impl Iterator for Plan {
    type Item = Step;

    fn next(&mut self) -> Option<Step> {
        let worker = self.chance.random_range(0..self.workers);
        let fault = match self.chance.random_range(0..100) {
            0..18 => Fault::KillWorker(worker),
            18..22 => Fault::TerminateWorker(worker),
            22..34 => Fault::FreezeWorker(worker),
            34..46 => Fault::KillCoordinator,
            46..49 => Fault::TerminateCoordinator,
            49..53 => Fault::FreezeCoordinator(self.millis(1, 300)),
            53..66 => Fault::Cut(worker),
            66..84 => Fault::Weather(worker, self.weather()),
            84..94 => Fault::Noise(worker),
            94..98 => Fault::FillDisk,
            _ => Fault::FillDiskAndKill,
        };
        let after = self.chance.random_range(0..20);
        let lasts = self.chance.random_range(0..3);
        Some(Step { after, fault, lasts })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_faults_again_and_all_kinds_come() {
        let steps = |seed| Plan::new(seed, 3).take(500).collect::<Vec<Step>>();
        assert_eq!(steps(1), steps(1));
        assert_ne!(steps(1), steps(2));
        let kinds: std::collections::HashSet<_> =
            steps(1).iter().map(|step| std::mem::discriminant(&step.fault)).collect();
        assert_eq!(kinds.len(), 11);
    }
}
