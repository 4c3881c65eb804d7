//! How often strangers are listened to: a token bucket for each address, and one for all of them.
//!
//! Pure: the time is an argument. The memory is bounded, because strangers choose how many
//! addresses they come from.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::time::Duration;

/// How many addresses are remembered.
const MOST_ADDRESSES: usize = 1024;

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

/// Whether an attempt of a stranger is listened to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hearing {
    /// It is, and counts.
    Heard,
    /// It is not; it would be after this time, if nobody else came.
    TooMany(Duration),
}

/// The attempts of strangers; see the module's page.
#[derive(Debug)]
pub struct Strangers {
    each: Rate,
    all: Rate,
    together: Bucket,
    known: HashMap<IpAddr, Bucket>,
}

impl Strangers {
    /// Nobody has come yet. `each` holds for an address, `all` for all of them together.
    pub fn new(each: Rate, all: Rate) -> Strangers {
        let together = Bucket::full(all, Duration::ZERO);
        Strangers { each, all, together, known: HashMap::new() }
    }

    /// Somebody from this address tries something; `now` does not go back.
    pub fn attempt(&mut self, from: IpAddr, now: Duration) -> Hearing {
        let from = neighbourhood(from);
        self.together.refill(self.all, now);
        let wait = self.together.wait(self.all);
        if !wait.is_zero() {
            // Before the addresses: however many there are, no work is done for them.
            return Hearing::TooMany(wait);
        }
        if !self.known.contains_key(&from) && self.known.len() >= MOST_ADDRESSES {
            self.forget(now);
        }
        let each = self.each;
        let bucket = self.known.entry(from).or_insert_with(|| Bucket::full(each, now));
        bucket.refill(each, now);
        let wait = bucket.wait(each);
        if !wait.is_zero() {
            return Hearing::TooMany(wait);
        }
        bucket.left -= 1.0;
        self.together.left -= 1.0;
        Hearing::Heard
    }

    /// Makes room for an address: forgets those that may do all again, and if there are none, the
    /// one that was heard of least recently.
    fn forget(&mut self, now: Duration) {
        let each = self.each;
        self.known.retain(|_, bucket| {
            bucket.refill(each, now);
            bucket.left < f64::from(each.burst)
        });
        if self.known.len() >= MOST_ADDRESSES {
            // All were refilled just now, so the fullest has been quiet for longest.
            let fullest = self.known.iter().max_by(|a, b| a.1.left.total_cmp(&b.1.left));
            if let Some(address) = fullest.map(|(address, _)| *address) {
                self.known.remove(&address);
            }
        }
    }
}

/// The address by which somebody is known: whoever has one address of IPv6 has all with the same
/// first half.
pub fn neighbourhood(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(address),
        IpAddr::V6(address) => {
            IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX)))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use proptest::prelude::*;

    use super::*;

    const EACH: Rate = Rate { burst: 3, per_second: 1.0 };
    const ALL: Rate = Rate { burst: 10, per_second: 5.0 };

    fn address(number: u32) -> IpAddr {
        IpAddr::V4(Ipv4Addr::from_bits(number))
    }

    fn heard(strangers: &mut Strangers, from: IpAddr, seconds: f64, times: usize) -> usize {
        let now = Duration::from_secs_f64(seconds);
        (0..times).filter(|_| strangers.attempt(from, now) == Hearing::Heard).count()
    }

    #[test]
    fn an_address_is_heard_in_a_burst_and_then_at_its_rate() {
        let mut strangers = Strangers::new(EACH, ALL);
        assert_eq!(heard(&mut strangers, address(1), 0.0, 50), 3);
        let wait = Hearing::TooMany(Duration::from_millis(500));
        assert_eq!(strangers.attempt(address(1), Duration::from_millis(500)), wait);
        assert_eq!(heard(&mut strangers, address(1), 1.0, 50), 1);
        assert_eq!(heard(&mut strangers, address(1), 100.0, 50), 3);
    }

    #[test]
    fn one_address_does_not_use_up_what_another_has() {
        let mut strangers = Strangers::new(EACH, ALL);
        assert_eq!(heard(&mut strangers, address(1), 0.0, 1000), 3);
        assert_eq!(heard(&mut strangers, address(2), 0.0, 1), 1);
    }

    #[test]
    fn all_together_have_a_limit_too() {
        let mut strangers = Strangers::new(EACH, ALL);
        let burst: usize = (0..100).map(|n| heard(&mut strangers, address(n), 0.0, 1)).sum();
        assert_eq!(burst, 10);
        let later: usize = (0..100).map(|n| heard(&mut strangers, address(n), 1.0, 1)).sum();
        assert_eq!(later, 5);
    }

    #[test]
    fn the_neighbours_of_an_address_of_version_6_are_the_same_stranger() {
        let mut strangers = Strangers::new(EACH, ALL);
        let from = |text: &str| text.parse().expect("an address");
        assert_eq!(heard(&mut strangers, from("2001:db8::1"), 0.0, 2), 2);
        assert_eq!(heard(&mut strangers, from("2001:db8::ffff:1:2"), 0.0, 2), 1);
        assert_eq!(heard(&mut strangers, from("2001:db8:0:1::1"), 0.0, 2), 2);
        assert_eq!(heard(&mut strangers, from("::ffff:10.0.0.1"), 0.0, 2), 2);
        assert_eq!(heard(&mut strangers, from("10.0.0.1"), 0.0, 2), 1);
    }

    #[test]
    fn a_flood_from_many_addresses_takes_no_more_memory() {
        let fast = Rate { burst: 1_000_000, per_second: 1.0 };
        let mut strangers = Strangers::new(EACH, fast);
        assert_eq!(heard(&mut strangers, address(0), 0.0, 5), 3);
        for number in 1..5_000 {
            assert_eq!(heard(&mut strangers, address(number), 0.0, 1), 1);
            assert!(strangers.known.len() <= MOST_ADDRESSES);
        }
        // The loudest is not the one that is forgotten.
        assert_eq!(heard(&mut strangers, address(0), 0.0, 1), 0);
    }

    proptest! {
        /// However the attempts fall, none of the two rates is exceeded.
        #[test]
        fn no_rate_is_exceeded(attempts in prop::collection::vec((0u32..4, 0u64..400), 1..300)) {
            let mut strangers = Strangers::new(EACH, ALL);
            let mut now = Duration::ZERO;
            let mut heard = [0u32; 4];
            for (from, pause) in attempts {
                now += Duration::from_millis(pause);
                if strangers.attempt(address(from), now) == Hearing::Heard {
                    heard[from as usize] += 1;
                }
                let most = |rate: Rate| {
                    f64::from(rate.burst) + now.as_secs_f64() * rate.per_second + 1e-6
                };
                prop_assert!(heard.iter().all(|&heard| f64::from(heard) <= most(EACH)));
                prop_assert!(f64::from(heard.iter().sum::<u32>()) <= most(ALL));
            }
        }

        /// Who waits for as long as was said is heard, if nobody else comes.
        #[test]
        fn waiting_helps(from in 0u32..4, attempts in 1usize..60) {
            let mut strangers = Strangers::new(EACH, ALL);
            for number in 0..attempts {
                strangers.attempt(address(number as u32 % 4), Duration::ZERO);
            }
            if let Hearing::TooMany(wait) = strangers.attempt(address(from), Duration::ZERO) {
                let mut now = wait + Duration::from_micros(1);
                // At most once more: for the other of the two rates.
                if let Hearing::TooMany(wait) = strangers.attempt(address(from), now) {
                    now += wait + Duration::from_micros(1);
                    prop_assert_eq!(strangers.attempt(address(from), now), Hearing::Heard);
                }
            }
        }
    }
}
