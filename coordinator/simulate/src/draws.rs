//! All that is drawn at random in a run, above all how long messages and searches take.

use std::num::NonZero;
use std::time::Duration;

use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};

/// What is drawn in a run, the same for the same seed on every machine.
#[derive(Debug)]
pub struct Draws {
    latency: Duration,
    rate: NonZero<u64>,
    jitter: f64,
    rng: Xoshiro256PlusPlus,
}

impl Draws {
    /// Messages take `latency`, searches their nodes over `rate` (nodes a second). Each single one
    /// takes up to `jitter` of that less or more; `jitter` is a share from 0 to 1.
    pub fn new(latency: Duration, rate: NonZero<u64>, jitter: f64, seed: u64) -> Draws {
        Draws { latency, rate, jitter, rng: Xoshiro256PlusPlus::seed_from_u64(seed) }
    }

    /// The time that the next message takes on its way.
    pub fn message(&mut self) -> Duration {
        self.spread(self.latency)
    }

    /// How long a message and its answer usually take.
    pub fn round_trip(&self) -> Duration {
        2 * self.latency
    }

    /// How fast the next search is.
    pub fn pace(&mut self) -> Pace {
        Pace { rate: self.rate, factor: self.factor() }
    }

    /// A time of at most `most`.
    pub fn up_to(&mut self, most: Duration) -> Duration {
        Duration::from_micros(self.rng.random_range(0..=most.as_micros() as u64))
    }

    /// A number less than `count`.
    pub fn below(&mut self, count: usize) -> usize {
        self.rng.random_range(0..count)
    }

    fn spread(&mut self, usual: Duration) -> Duration {
        stretched(usual, self.factor())
    }

    /// A number around 1, as the jitter has it.
    fn factor(&mut self) -> f64 {
        if self.jitter == 0.0 {
            return 1.0;
        }
        1.0 + self.jitter * (2.0 * self.rng.random::<f64>() - 1.0)
    }
}

/// How fast a search is.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    rate: NonZero<u64>,
    factor: f64,
}

impl Pace {
    /// So many times as fast.
    pub fn times(self, speed: f64) -> Pace {
        Pace { factor: self.factor / speed, ..self }
    }

    /// The time that the search takes for so many nodes.
    pub fn time(self, nodes: u64) -> Duration {
        let nanos = u128::from(nodes) * 1_000_000_000 / u128::from(self.rate.get());
        let usual = Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX));
        stretched(usual, self.factor)
    }
}

fn stretched(usual: Duration, factor: f64) -> Duration {
    if factor == 1.0 {
        return usual;
    }
    Duration::try_from_secs_f64(usual.as_secs_f64() * factor).unwrap_or(usual)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn draws(jitter: f64, seed: u64) -> Draws {
        let rate = NonZero::new(2_000_000).unwrap();
        Draws::new(Duration::from_millis(3), rate, jitter, seed)
    }

    #[test]
    fn without_jitter_times_are_exact() {
        let mut draws = draws(0.0, 7);
        assert_eq!(draws.message(), Duration::from_millis(3));
        assert_eq!(draws.pace().time(100_000), Duration::from_millis(50));
        assert_eq!(draws.pace().time(0), Duration::ZERO);
        assert_eq!(draws.pace().times(5.0).time(100_000), Duration::from_millis(10));
    }

    #[test]
    fn seeds_differ() {
        assert_ne!(draws(0.1, 1).message(), draws(0.1, 2).message());
    }

    proptest! {
        #[test]
        fn times_stay_within_the_jitter(seed: u64, jitter in 0.0..=1.0, nodes in 0..1_000_000u64) {
            let (exact, mut drawn) = (draws(0.0, 0).pace().time(nodes), draws(jitter, seed));
            let difference = drawn.pace().time(nodes).abs_diff(exact).as_secs_f64();
            prop_assert!(difference <= exact.as_secs_f64() * jitter + 1e-9);
        }
    }
}
