//! How often requests without the right token are answered: a token bucket for each address prefix,
//! and one for all of them.
//!
//! Pure: the time is an argument. The memory is bounded, because those who flood the coordinator
//! chooses from how many addresses.

use std::collections::HashMap;
use std::net::IpAddr;
use std::time::Duration;

use super::address_prefix::AddressPrefix;

/// How many prefixes are remembered.
const MAX_PREFIXES: usize = 1024;

/// How often something may happen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    /// How often at once, after a long time of quiet; at least 1.
    pub burst: u32,
    /// How often a second in the long run; above 0.
    pub per_second: f64,
}

/// What has been used up of a [`Rate`].
#[derive(Clone, Copy, Debug, PartialEq)]
struct Bucket {
    left: f64,
    at: Duration,
}

impl Bucket {
    fn full(rate: Rate, now: Duration) -> Bucket {
        Bucket { left: f64::from(rate.burst), at: now }
    }

    /// Puts in what the time since the last look has brought.
    fn refill(&mut self, rate: Rate, now: Duration) {
        let gained = now.saturating_sub(self.at).as_secs_f64() * rate.per_second;
        self.left = (self.left + gained).min(f64::from(rate.burst));
        self.at = now.max(self.at);
    }

    /// How long until there is one to take; zero if there is.
    fn wait(&self, rate: Rate) -> Duration {
        let missing = (1.0 - self.left).max(0.0);
        Duration::try_from_secs_f64(missing / rate.per_second).unwrap_or(Duration::MAX)
    }
}

/// Whether an attempt is within the rates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateCheck {
    /// It is, and counts.
    Within,
    /// It is not; it would be after this time, if no other came.
    Exceeded(Duration),
}

/// What was attempted of late; see the module's page.
#[derive(Debug)]
pub struct RateLimit {
    per_prefix: Rate,
    in_all: Rate,
    together: Bucket,
    prefixes: HashMap<AddressPrefix, Bucket>,
}

impl RateLimit {
    /// Nothing was attempted yet. `per_prefix` holds for an address prefix, `in_all` for all of them
    /// together.
    pub fn new(per_prefix: Rate, in_all: Rate) -> RateLimit {
        let together = Bucket::full(in_all, Duration::ZERO);
        RateLimit { per_prefix, in_all, together, prefixes: HashMap::new() }
    }

    /// Something is attempted from this address; `now` does not go back.
    pub fn attempt(&mut self, from: IpAddr, now: Duration) -> RateCheck {
        let prefix = AddressPrefix::of(from);
        self.together.refill(self.in_all, now);
        let wait = self.together.wait(self.in_all);
        if !wait.is_zero() {
            // Before the prefixes: however many there are, no work is done for them.
            return RateCheck::Exceeded(wait);
        }
        if !self.prefixes.contains_key(&prefix) && self.prefixes.len() >= MAX_PREFIXES {
            self.forget(now);
        }
        let rate = self.per_prefix;
        let bucket = self.prefixes.entry(prefix).or_insert_with(|| Bucket::full(rate, now));
        bucket.refill(rate, now);
        let wait = bucket.wait(rate);
        if !wait.is_zero() {
            return RateCheck::Exceeded(wait);
        }
        bucket.left -= 1.0;
        self.together.left -= 1.0;
        RateCheck::Within
    }

    /// Forgets the prefixes that have their whole burst again, and if there are none, the one that has
    /// attempted nothing for longest.
    fn forget(&mut self, now: Duration) {
        let rate = self.per_prefix;
        self.prefixes.retain(|_, bucket| {
            bucket.refill(rate, now);
            bucket.left < f64::from(rate.burst)
        });
        if self.prefixes.len() >= MAX_PREFIXES {
            // All were refilled just now, so the fullest has been quiet for longest.
            let fullest = self.prefixes.iter().max_by(|a, b| a.1.left.total_cmp(&b.1.left));
            if let Some(prefix) = fullest.map(|(prefix, _)| *prefix) {
                self.prefixes.remove(&prefix);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use proptest::prelude::*;

    use super::*;

    const PER_PREFIX: Rate = Rate { burst: 3, per_second: 1.0 };
    const IN_ALL: Rate = Rate { burst: 10, per_second: 5.0 };

    fn address(number: u32) -> IpAddr {
        IpAddr::V4(Ipv4Addr::from_bits(number))
    }

    fn answered(limit: &mut RateLimit, from: IpAddr, seconds: f64, times: usize) -> usize {
        let now = Duration::from_secs_f64(seconds);
        (0..times).filter(|_| limit.attempt(from, now) == RateCheck::Within).count()
    }

    #[test]
    fn an_address_is_answered_in_a_burst_and_then_at_its_rate() {
        let mut limit = RateLimit::new(PER_PREFIX, IN_ALL);
        assert_eq!(answered(&mut limit, address(1), 0.0, 50), 3);
        let wait = RateCheck::Exceeded(Duration::from_millis(500));
        assert_eq!(limit.attempt(address(1), Duration::from_millis(500)), wait);
        assert_eq!(answered(&mut limit, address(1), 1.0, 50), 1);
        assert_eq!(answered(&mut limit, address(1), 100.0, 50), 3);
    }

    #[test]
    fn one_address_does_not_use_up_what_another_has() {
        let mut limit = RateLimit::new(PER_PREFIX, IN_ALL);
        assert_eq!(answered(&mut limit, address(1), 0.0, 1000), 3);
        assert_eq!(answered(&mut limit, address(2), 0.0, 1), 1);
    }

    #[test]
    fn all_together_have_a_limit_too() {
        let mut limit = RateLimit::new(PER_PREFIX, IN_ALL);
        let burst: usize = (0..100).map(|n| answered(&mut limit, address(n), 0.0, 1)).sum();
        assert_eq!(burst, 10);
        let later: usize = (0..100).map(|n| answered(&mut limit, address(n), 1.0, 1)).sum();
        assert_eq!(later, 5);
    }

    #[test]
    fn addresses_of_one_prefix_share_a_rate() {
        let mut limit = RateLimit::new(PER_PREFIX, IN_ALL);
        let from = |text: &str| text.parse().expect("an address");
        assert_eq!(answered(&mut limit, from("2001:db8::1"), 0.0, 2), 2);
        assert_eq!(answered(&mut limit, from("2001:db8::ffff:1:2"), 0.0, 2), 1);
        assert_eq!(answered(&mut limit, from("2001:db8:0:1::1"), 0.0, 2), 2);
        assert_eq!(answered(&mut limit, from("::ffff:10.0.0.1"), 0.0, 2), 2);
        assert_eq!(answered(&mut limit, from("10.0.0.1"), 0.0, 2), 1);
    }

    #[test]
    fn a_flood_from_many_addresses_takes_no_more_memory() {
        let fast = Rate { burst: 1_000_000, per_second: 1.0 };
        let mut limit = RateLimit::new(PER_PREFIX, fast);
        assert_eq!(answered(&mut limit, address(0), 0.0, 5), 3);
        for number in 1..5_000 {
            assert_eq!(answered(&mut limit, address(number), 0.0, 1), 1);
            assert!(limit.prefixes.len() <= MAX_PREFIXES);
        }
        // The loudest is not the one that is forgotten.
        assert_eq!(answered(&mut limit, address(0), 0.0, 1), 0);
    }

    proptest! {
        /// However the attempts fall, none of the two rates is exceeded.
        #[test]
        fn no_rate_is_exceeded(attempts in prop::collection::vec((0u32..4, 0u64..400), 1..300)) {
            let mut limit = RateLimit::new(PER_PREFIX, IN_ALL);
            let mut now = Duration::ZERO;
            let mut answered = [0u32; 4];
            for (from, pause) in attempts {
                now += Duration::from_millis(pause);
                if limit.attempt(address(from), now) == RateCheck::Within {
                    answered[from as usize] += 1;
                }
                let most = |rate: Rate| {
                    f64::from(rate.burst) + now.as_secs_f64() * rate.per_second + 1e-6
                };
                prop_assert!(answered.iter().all(|&count| f64::from(count) <= most(PER_PREFIX)));
                prop_assert!(f64::from(answered.iter().sum::<u32>()) <= most(IN_ALL));
            }
        }

        /// A prefix that waits for as long as it was told is answered, if no other comes.
        #[test]
        fn waiting_helps(from in 0u32..4, attempts in 1usize..60) {
            let mut limit = RateLimit::new(PER_PREFIX, IN_ALL);
            for number in 0..attempts {
                limit.attempt(address(number as u32 % 4), Duration::ZERO);
            }
            if let RateCheck::Exceeded(wait) = limit.attempt(address(from), Duration::ZERO) {
                let mut now = wait + Duration::from_micros(1);
                // At most once more: for the other of the two rates.
                if let RateCheck::Exceeded(wait) = limit.attempt(address(from), now) {
                    now += wait + Duration::from_micros(1);
                    prop_assert_eq!(limit.attempt(address(from), now), RateCheck::Within);
                }
            }
        }
    }
}
