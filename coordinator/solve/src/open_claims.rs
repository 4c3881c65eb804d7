//! The claims that wait to be searched again, so that a worker's next one is found at once: where
//! one worker does nearly all of the work, nearly all of them are its own, and not for it.

use std::collections::{BTreeMap, BTreeSet};

use super::trust::Claim;

/// Who may not search a claim again: who makes it, and who contradicts it.
type Parties = (String, Option<String>);

/// Claims that wait, by who may not search them again.
#[derive(Debug, Default)]
pub struct OpenClaims {
    groups: BTreeMap<Parties, BTreeSet<u64>>,
    /// The first claim of each group; disputed ones before all others, because much may hang on
    /// them.
    firsts: BTreeSet<(bool, u64, Parties)>,
}

impl OpenClaims {
    /// Whether none waits.
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// Adds a claim.
    pub fn insert(&mut self, claim: &Claim) {
        self.change(claim, |numbers| _ = numbers.insert(claim.number));
    }

    /// Removes a claim, if it is there with the same parties.
    pub fn remove(&mut self, claim: &Claim) {
        self.change(claim, |numbers| _ = numbers.remove(&claim.number));
    }

    /// The next claim that `worker` may search again.
    pub fn next_for(&self, worker: &str) -> Option<u64> {
        let party = |(claimant, against): &Parties| {
            claimant == worker || against.as_deref() == Some(worker)
        };
        // Of all groups, a worker is a party of one that is not disputed, and of few others.
        let mut firsts = self.firsts.iter();
        firsts.find(|(_, _, parties)| !party(parties)).map(|&(_, number, _)| number)
    }

    fn change(&mut self, claim: &Claim, change: impl FnOnce(&mut BTreeSet<u64>)) {
        let parties = (claim.worker.clone(), claim.against.clone());
        let mut numbers = self.groups.remove(&parties).unwrap_or_default();
        let before = numbers.first().copied();
        change(&mut numbers);
        let after = numbers.first().copied();
        if before != after {
            let undisputed = claim.against.is_none();
            if let Some(before) = before {
                self.firsts.remove(&(undisputed, before, parties.clone()));
            }
            if let Some(after) = after {
                self.firsts.insert((undisputed, after, parties.clone()));
            }
        }
        if after.is_some() {
            self.groups.insert(parties, numbers);
        }
    }
}

#[cfg(test)]
mod tests {
    use jlpns_games::Threshold;
    use jlpns_search::Question;
    use proptest::prelude::*;

    use super::*;

    fn claim(number: u64, worker: u8, against: Option<u8>) -> Claim {
        let name = |worker: u8| format!("w{worker}");
        let asked = (Vec::new(), Question::Threshold(Threshold(1)));
        let mut claim = Claim::new(number, name(worker), asked, vec![Some(true)], 1);
        claim.against = against.map(name);
        claim
    }

    proptest! {
        /// As a look at all claims, the disputed ones first, would find it.
        #[test]
        fn the_next_claim_is_the_first_that_is_for_a_worker(
            steps in prop::collection::vec((any::<bool>(), 0u64..12, 0u8..4, prop::option::of(0u8..4)), 0..60),
        ) {
            let mut open = OpenClaims::default();
            let mut all: BTreeMap<u64, Claim> = BTreeMap::new();
            for (insert, number, worker, against) in steps {
                if let Some(claim) = all.remove(&number) {
                    open.remove(&claim);
                }
                if insert {
                    let claim = claim(number, worker, against.filter(|&it| it != worker));
                    open.insert(&claim);
                    all.insert(number, claim);
                }
                prop_assert_eq!(open.is_empty(), all.is_empty());
                for worker in (0..5).map(|worker| format!("w{worker}")) {
                    let fits = all.values().filter(|claim| {
                        claim.worker != worker && claim.against.as_ref() != Some(&worker)
                    });
                    let next = fits.min_by_key(|claim| (claim.against.is_none(), claim.number));
                    prop_assert_eq!(open.next_for(&worker), next.map(|claim| claim.number));
                }
            }
        }
    }
}
