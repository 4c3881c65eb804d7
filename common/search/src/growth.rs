//! The constants of searches that come from their papers.

use crate::algorithm::Algorithm;

/// The epsilon of df-pn's 1 + epsilon rule, unless another is asked for.
pub const EPSILON: f64 = 0.25;

/// The logistic growth of second-level searches, f(x) = 1 / (1 + e^((a - x) / b)), where x is the
/// size of the first level (PDS-PN paper, formula 1). Both are numbers of nodes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Growth {
    /// The size at which the second level may be half as large as the first.
    pub a: f64,
    /// How slowly the fraction grows around that size.
    pub b: f64,
}

impl Growth {
    /// What the paper takes for PN2, after Breuker (section 3.4).
    const PN2: Growth = Growth { a: 1_800_000.0, b: 240_000.0 };
    /// What the paper finds best for PDS-PN (table 3).
    const PDS_PN: Growth = Growth { a: 450_000.0, b: 300_000.0 };

    /// The papers' growth for an algorithm. Those without a second level by size have no use for it.
    pub const fn of(algorithm: Algorithm) -> Growth {
        match algorithm {
            Algorithm::PdsPn => Growth::PDS_PN,
            _ => Growth::PN2,
        }
    }

    /// How many nodes a second-level search may have in memory when the first level has `size`
    /// nodes and there is room for `left` more (formula 2).
    pub fn second_level(self, size: u64, left: u64) -> u64 {
        let size = size as f64;
        let share = 1.0 / (1.0 + ((self.a - size) / self.b).exp());
        ((size * share) as u64).min(left)
    }
}
