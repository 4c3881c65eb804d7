//! Who gets how many slots of which worker.
//!
//! Each open solve and each sweep is a **taker** with a weight. Slots go, one after the other, to the taker that has had
//! least slot time for its weight, as in stride scheduling; so over time each has its share, however many takers there are
//! for a slot, and what one cannot use the others get. A taker keeps the slots that it has where it can: there is what the
//! worker's table knows.

use std::collections::BTreeMap;
use std::time::Duration;

use jlpns_solve::WorkerId;

/// So many terms of all slots are owed at the most to one that could not use its share.
const MOST_OWED: u32 = 4;

/// The length of time that slots are given out for: what a slot counts against its taker at once.
pub const TERM: Duration = Duration::from_millis(250);

/// Something that takes slots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taker {
    /// Its number.
    pub id: u64,
    /// Its weight, at least 1.
    pub weight: u32,
    /// How many slots it can use at the most.
    pub wants: u32,
    /// The name of its game.
    pub game: String,
    /// Whether its jobs may take as long as they take.
    pub has_long_jobs: bool,
}

/// A worker that takes leases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Giver {
    /// Its connection.
    pub id: WorkerId,
    /// Its slots.
    pub slots: u32,
    /// The games that it takes; all if there are none.
    pub games: Vec<String>,
    /// Whether it takes jobs of a bounded length only.
    pub wants_short_jobs: bool,
}

impl Giver {
    fn takes(&self, taker: &Taker) -> bool {
        (self.games.is_empty() || self.games.contains(&taker.game))
            && !(self.wants_short_jobs && taker.has_long_jobs)
    }
}

/// How many slots of each worker each taker has; where it has none there is no entry.
pub type Allotment = BTreeMap<(WorkerId, u64), u32>;

/// The slots as they are given out, and what each taker has had.
#[derive(Clone, Debug, Default)]
pub struct Shares {
    allotment: Allotment,
    /// The slot time that each taker has had for its weight, in microseconds.
    had: BTreeMap<u64, u64>,
}

impl Shares {
    /// The slots as they were last given out.
    pub fn allotment(&self) -> &Allotment {
        &self.allotment
    }

    /// How many slots a taker has.
    pub fn slots_of(&self, taker: u64) -> u32 {
        self.allotment.iter().filter(|((_, id), _)| *id == taker).map(|(_, slots)| slots).sum()
    }

    /// Gives all slots out anew, `elapsed` after the last time.
    pub fn divide(&mut self, takers: &[Taker], givers: &[Giver], elapsed: Duration) -> &Allotment {
        let slots = givers.iter().map(|giver| giver.slots).sum();
        self.charge(takers, slots, elapsed);
        let mut free: Vec<u32> = givers.iter().map(|giver| giver.slots).collect();
        let mut given: Vec<Vec<u32>> = vec![vec![0; givers.len()]; takers.len()];
        let kept: Vec<Vec<u32>> = takers
            .iter()
            .map(|taker| {
                let of = |giver: &Giver| self.allotment.get(&(giver.id, taker.id)).copied();
                givers.iter().map(|giver| of(giver).unwrap_or(0)).collect()
            })
            .collect();
        let mut open: Vec<usize> = (0..takers.len()).filter(|&i| takers[i].wants > 0).collect();
        let mut due: Vec<u64> = takers.iter().map(|taker| self.had[&taker.id]).collect();
        while let Some(&i) = open.iter().min_by_key(|&&i| (due[i], takers[i].id)) {
            let place = (0..givers.len())
                .filter(|&w| free[w] > 0 && givers[w].takes(&takers[i]))
                // Where it was, then where it is not yet, then where most is free.
                .max_by_key(|&w| {
                    let was_there = kept[i][w] > given[i][w];
                    (was_there, std::cmp::Reverse(given[i][w]), free[w], std::cmp::Reverse(w))
                });
            let Some(w) = place else {
                open.retain(|&other| other != i);
                continue;
            };
            free[w] -= 1;
            given[i][w] += 1;
            due[i] = due[i].saturating_add(cost(TERM, takers[i].weight));
            if given[i].iter().sum::<u32>() >= takers[i].wants {
                open.retain(|&other| other != i);
            }
        }
        self.allotment.clear();
        for (i, taker) in takers.iter().enumerate() {
            for (w, giver) in givers.iter().enumerate().filter(|&(w, _)| given[i][w] > 0) {
                self.allotment.insert((giver.id, taker.id), given[i][w]);
            }
        }
        &self.allotment
    }

    /// Counts what takers have had since the last time. One that is new has had as much as the one that has had least:
    /// it is not owed the time before it came.
    fn charge(&mut self, takers: &[Taker], all: u32, elapsed: Duration) {
        for taker in takers {
            let slots = self.slots_of(taker.id);
            if let Some(had) = self.had.get_mut(&taker.id) {
                let cost = cost(elapsed, taker.weight);
                *had = had.saturating_add(cost.saturating_mul(u64::from(slots)));
            }
        }
        let is_there = |id: &u64| takers.iter().any(|taker| taker.id == *id);
        self.had.retain(|id, _| is_there(id));
        let least = self.had.values().copied().min().unwrap_or(0);
        for taker in takers {
            self.had.entry(taker.id).or_insert(least);
        }
        let most = self.had.values().copied().max().unwrap_or(0);
        // A term of the lightest counts most: less would be less than its turn.
        let lightest = takers.iter().map(|taker| taker.weight).min().unwrap_or(1);
        let owed = cost(TERM * MOST_OWED, lightest).saturating_mul(u64::from(all));
        for taker in takers {
            if let Some(had) = self.had.get_mut(&taker.id) {
                *had = (*had).max(most.saturating_sub(owed));
            }
        }
    }
}

/// What a slot for so long counts against a taker of this weight, in microseconds.
fn cost(time: Duration, weight: u32) -> u64 {
    let time = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
    // Of weights that differ by little, too.
    time.saturating_mul(1_000) / u64::from(weight.max(1))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn taker(id: u64, weight: u32, wants: u32) -> Taker {
        Taker { id, weight, wants, game: "connect4".to_owned(), has_long_jobs: false }
    }

    fn giver(id: u64, slots: u32) -> Giver {
        Giver { id: WorkerId(id), slots, games: Vec::new(), wants_short_jobs: false }
    }

    /// How many slots each taker has had, over so many terms.
    fn had(takers: &[Taker], givers: &[Giver], terms: u32) -> Vec<u64> {
        let mut shares = Shares::default();
        let mut had = vec![0; takers.len()];
        for _ in 0..terms {
            shares.divide(takers, givers, TERM);
            for (had, taker) in had.iter_mut().zip(takers) {
                *had += u64::from(shares.slots_of(taker.id));
            }
        }
        had
    }

    proptest! {
        /// Whatever is wanted: no slot twice, none idle that somebody wants, and over time each has its share.
        #[test]
        fn everybody_gets_their_share(
            weights in prop::collection::vec((1u32..50, 0u32..20), 1..8),
            slots in prop::collection::vec(1u32..6, 1..5),
        ) {
            let takers: Vec<Taker> =
                (1..).zip(&weights).map(|(id, &(weight, wants))| taker(id, weight, wants)).collect();
            let givers: Vec<Giver> = (1..).zip(&slots).map(|(id, &slots)| giver(id, slots)).collect();
            let all: u32 = slots.iter().sum();
            let wanted: u32 = takers.iter().map(|taker| taker.wants).sum();
            let mut shares = Shares::default();
            for _ in 0..5 {
                let allotment = shares.divide(&takers, &givers, TERM).clone();
                for giver in &givers {
                    let given = allotment.iter().filter(|((id, _), _)| *id == giver.id);
                    prop_assert!(given.map(|(_, slots)| slots).sum::<u32>() <= giver.slots);
                }
                for taker in &takers {
                    prop_assert!(shares.slots_of(taker.id) <= taker.wants);
                }
                prop_assert_eq!(allotment.values().sum::<u32>(), all.min(wanted));
            }
            // Of those that want everything each has its weight's share, to a few slots.
            let greedy: Vec<Taker> =
                takers.iter().map(|it| Taker { wants: all, ..it.clone() }).collect();
            let terms = 400;
            let had = had(&greedy, &givers, terms);
            let weight: u64 = greedy.iter().map(|taker| u64::from(taker.weight)).sum();
            for (had, taker) in had.iter().zip(&greedy) {
                let fair = u64::from(terms * all) * u64::from(taker.weight) / weight;
                let off = fair.abs_diff(*had);
                prop_assert!(off <= 4 * u64::from(all) + 4, "{} instead of {}", had, fair);
            }
        }
    }

    #[test]
    fn many_small_takers_do_not_starve_beside_a_large_one() {
        let mut takers: Vec<Taker> = (1..=20).map(|id| taker(id, 10, 1)).collect();
        takers.push(taker(99, 10, u32::MAX));
        let had = had(&takers, &[giver(1, 2)], 210);
        assert!(had.iter().all(|had| (18..=22).contains(had)), "{had:?}");
    }

    #[test]
    fn slots_stay_where_they_are() {
        let givers = [giver(1, 4), giver(2, 4)];
        let takers = [taker(1, 10, 8), taker(2, 10, 8)];
        let mut shares = Shares::default();
        let first = shares.divide(&takers, &givers, TERM).clone();
        assert_eq!(first.len(), 4, "both are on both machines, which can confirm each other");
        for _ in 0..10 {
            assert_eq!(*shares.divide(&takers, &givers, TERM), first);
        }
    }

    #[test]
    fn workers_say_which_jobs_they_take() {
        let mut shares = Shares::default();
        let woodpush = Taker { game: "woodpush".to_owned(), ..taker(2, 10, 8) };
        let long = Taker { has_long_jobs: true, ..taker(3, 10, 8) };
        let only = Giver { games: vec!["woodpush".to_owned()], ..giver(1, 2) };
        let short = Giver { wants_short_jobs: true, ..giver(2, 2) };
        let takers = [taker(1, 10, 8), woodpush, long];
        let allotment = shares.divide(&takers, &[only, short], TERM).clone();
        let has = |worker, taker| allotment.contains_key(&(WorkerId(worker), taker));
        assert!(!has(1, 1) && has(1, 2) && !has(1, 3) && has(2, 1) && !has(2, 3));
    }

    #[test]
    fn one_that_comes_late_or_wanted_nothing_is_not_owed_the_past() {
        let givers = [giver(1, 4)];
        let mut shares = Shares::default();
        let (idle, busy) = (taker(1, 10, 0), taker(2, 10, 4));
        for _ in 0..1_000 {
            shares.divide(&[idle.clone(), busy.clone()], &givers, TERM);
        }
        let now = [taker(1, 10, 4), busy, taker(3, 10, 4)];
        let mut had = [0; 3];
        for _ in 0..40 {
            shares.divide(&now, &givers, TERM);
            for (had, taker) in had.iter_mut().zip(&now) {
                *had += shares.slots_of(taker.id);
            }
        }
        assert!(had.iter().all(|had| *had >= 30), "{had:?} of 160");
    }
}
