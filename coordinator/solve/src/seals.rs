//! Seals of leases: they show, after the solve was started anew, that a lease was granted, and to whom.

use std::hash::{Hash, Hasher};

use jlpns_games::Move;
use jlpns_search::Question;
use siphasher::sip::SipHasher13;

use crate::LeaseId;
use crate::belief::MachineId;

/// What leases are sealed with.
#[derive(Debug, Default)]
pub struct Seals {
    /// The secret of the solve, which never leaves its journal; 0 before the solve has begun.
    pub secret: u128,
}

impl Seals {
    /// The seal of a lease that is granted to a machine.
    pub fn seal(
        &self,
        LeaseId(lease): LeaseId,
        machine: MachineId,
        moves: &[Move],
        question: Question,
        budget: u64,
    ) -> u64 {
        self.keyed_hash((lease, machine, moves, question, budget))
    }

    /// A number that only the coordinator can know, another one for each `number`.
    pub fn draw(&self, number: u64) -> u64 {
        self.keyed_hash(number)
    }

    fn keyed_hash(&self, of: impl Hash) -> u64 {
        let mut hasher = SipHasher13::new_with_key(&self.secret.to_le_bytes());
        of.hash(&mut hasher);
        hasher.finish()
    }
}
