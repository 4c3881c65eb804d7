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
        for taker in takers {
            let owed = cost(TERM * MOST_OWED, taker.weight).saturating_mul(u64::from(all));
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
