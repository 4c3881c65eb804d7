//! What machines have claimed, threshold by threshold, and what stands behind each claim.

use std::collections::{BTreeMap, BTreeSet};

use jlpns_games::Threshold;

use super::machine::MachineId;
use super::rechecks::Claimed;

/// A threshold of a position: what a claim is about.
pub type ThresholdAt = (u128, u8);

/// What stands behind a claim beside the machine that made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Not even that machine: its search used what others had told it, so that it may be wrong without being to
    /// blame.
    Hearsay,
    /// Nothing.
    Claimed,
    /// Another machine found the contrary, and no third machine has decided.
    Contradicted {
        /// That machine.
        by: MachineId,
    },
    /// Another machine found the same.
    Confirmed {
        /// That machine.
        by: MachineId,
    },
    /// A certificate shows it that the coordinator has checked.
    Proved,
}

/// That the value of a position reaches a threshold, or that it does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    /// Which of the two.
    pub holds: bool,
    /// Who says so.
    pub by: MachineId,
    /// The work that it took by its word, in nodes.
    pub work: u64,
    /// What else stands behind it.
    pub standing: Standing,
}

impl Claim {
    /// Whether more than its machine stands behind it: another one, the coordinator, or a certificate.
    pub fn is_confirmed(&self) -> bool {
        self.by == MachineId::COORDINATOR
            || matches!(self.standing, Standing::Confirmed { .. } | Standing::Proved)
    }

    /// How it is claimed, for whoever searches it again.
    pub(super) fn claimed(&self) -> Claimed {
        let against = match self.standing {
            Standing::Contradicted { by } => Some(by),
            _ => None,
        };
        let parties = [Some(self.by), against];
        Claimed { parties, is_hearsay: self.is_hearsay(), work: self.work }
    }

    /// Whether it is nobody's own word: it neither confirms nor contradicts anything.
    pub fn is_hearsay(&self) -> bool {
        self.standing == Standing::Hearsay
    }
}

/// Every claim that counts, and which positions have been expanded: what the proof tree of an answer
/// is made of. The tree itself frees what is settled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Claims {
    settled: BTreeMap<ThresholdAt, Claim>,
    expanded: BTreeSet<u128>,
}

impl Claims {
    /// The claim about just this threshold.
    pub fn get(&self, place: ThresholdAt) -> Option<&Claim> {
        self.settled.get(&place)
    }

    /// All claims, by their places.
    pub fn all(&self) -> impl Iterator<Item = (ThresholdAt, &Claim)> {
        self.settled.iter().map(|(&place, claim)| (place, claim))
    }

    /// The positions that have been expanded.
    pub fn expanded(&self) -> impl Iterator<Item = u128> {
        self.expanded.iter().copied()
    }

    /// Whether a position has been expanded.
    pub fn is_expanded(&self, key: u128) -> bool {
        self.expanded.contains(&key)
    }

    /// Notes that a position has been expanded.
    pub fn expand(&mut self, key: u128) {
        self.expanded.insert(key);
    }

    /// Puts a claim in the place of an earlier one about the same threshold.
    pub fn insert(&mut self, place: ThresholdAt, claim: Claim) {
        self.settled.insert(place, claim);
    }

    /// Takes a claim away.
    pub fn remove(&mut self, place: ThresholdAt) -> Option<Claim> {
        self.settled.remove(&place)
    }

    /// Changes what stands behind a claim.
    pub fn set_standing(&mut self, place: ThresholdAt, standing: Standing) {
        if let Some(claim) = self.settled.get_mut(&place) {
            claim.standing = standing;
        }
    }

    /// The claims about a position.
    pub fn about(&self, key: u128) -> impl Iterator<Item = (Threshold, &Claim)> {
        self.settled.range((key, 0)..=(key, u8::MAX)).map(|(&(_, t), claim)| (Threshold(t), claim))
    }

    /// The claims from which it follows whether a position reaches a threshold: a position that
    /// reaches a better outcome reaches all worse ones.
    pub fn implying(
        &self,
        key: u128,
        threshold: Threshold,
    ) -> impl Iterator<Item = (ThresholdAt, &Claim)> {
        self.about(key)
            .filter(
                move |(at, claim)| if claim.holds { *at >= threshold } else { *at <= threshold },
            )
            .map(move |(at, claim)| ((key, at.0), claim))
    }

    /// A claim that says the contrary of `holds`, of this threshold or of another one.
    pub fn contrary(
        &self,
        key: u128,
        threshold: Threshold,
        holds: bool,
    ) -> Option<(ThresholdAt, Claim)> {
        let mut implying = self.implying(key, threshold);
        implying.find(|(_, claim)| claim.holds != holds).map(|(place, claim)| (place, *claim))
    }

    /// Withdraws the claims that only `machine` stands behind, its confirmations of others, and its
    /// contradictions. Gives the places of the claims that were withdrawn.
    pub fn withdraw(&mut self, machine: MachineId) -> Vec<ThresholdAt> {
        let mut gone = Vec::new();
        self.settled.retain(|&place, claim| match claim.standing {
            Standing::Confirmed { by } if by == machine => {
                claim.standing = Standing::Claimed;
                true
            }
            Standing::Confirmed { by } if claim.by == machine => {
                // It stands without the machine that made it: by the word of the other alone.
                (claim.by, claim.standing) = (by, Standing::Claimed);
                true
            }
            Standing::Proved if claim.by == machine => {
                claim.by = MachineId::COORDINATOR;
                true
            }
            _ if claim.by == machine => {
                gone.push(place);
                false
            }
            Standing::Contradicted { by } if by == machine => {
                claim.standing = Standing::Claimed;
                true
            }
            _ => true,
        });
        gone
    }

    /// The bytes that it takes, about.
    pub fn bytes(&self) -> u64 {
        // A node of the maps is two thirds full as a rule.
        let claim = size_of::<ThresholdAt>() + size_of::<Claim>();
        (3 * (self.settled.len() * claim + self.expanded.len() * size_of::<u128>()) / 2) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: MachineId = MachineId(1);
    const TWO: MachineId = MachineId(2);
    const THREE: MachineId = MachineId(3);
    const PLACE: ThresholdAt = (7, 1);

    /// What is left of a claim of the first machine when a machine is withdrawn.
    fn left(standing: Standing, without: MachineId) -> Option<(MachineId, Standing)> {
        let mut claims = Claims::default();
        claims.insert(PLACE, Claim { holds: true, by: ONE, work: 1, standing });
        let gone = claims.withdraw(without);
        let claim = claims.get(PLACE).copied();
        assert_eq!(gone.is_empty(), claim.is_some());
        claim.map(|claim| {
            assert!(claim.holds);
            (claim.by, claim.standing)
        })
    }

    #[test]
    fn a_claim_stands_by_whoever_is_left_behind_it() {
        let confirmed = Standing::Confirmed { by: TWO };
        assert_eq!(left(confirmed, TWO), Some((ONE, Standing::Claimed)));
        assert_eq!(left(confirmed, ONE), Some((TWO, Standing::Claimed)));
        assert_eq!(left(confirmed, THREE), Some((ONE, confirmed)));
        for alone in [Standing::Hearsay, Standing::Claimed, Standing::Contradicted { by: TWO }] {
            assert_eq!(left(alone, ONE), None);
            assert_eq!(left(alone, THREE), Some((ONE, alone)));
        }
        let contradicted = Standing::Contradicted { by: TWO };
        assert_eq!(left(contradicted, TWO), Some((ONE, Standing::Claimed)));
        let proved = Some((MachineId::COORDINATOR, Standing::Proved));
        assert_eq!(left(Standing::Proved, ONE), proved);
    }
}
