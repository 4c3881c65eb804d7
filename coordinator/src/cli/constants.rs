//! The numbers that two searches of the papers leave open, as flags of whatever runs searches.

use jlpns_search::Algorithm;
use jlpns_search::search::{EPSILON, Growth};

use super::values;

/// The flags.
#[derive(Clone, Debug, clap::Args)]
pub struct ConstantFlags {
    /// Two-level searches: the size of the first level, in nodes, at which the second may have
    /// half as many [default: that of its paper: 1800000 for pn2, 450000 for pds-pn]
    #[arg(long, value_name = "NODES", env = "JLPNS_GROWTH_A")]
    #[arg(value_parser = values::not_negative, allow_hyphen_values = true)]
    growth_a: Option<f64>,

    /// Two-level searches: how slowly that fraction grows around it, in nodes [default: that of its
    /// paper: 240000 for pn2, 300000 for pds-pn]
    #[arg(long, value_name = "NODES", env = "JLPNS_GROWTH_B")]
    #[arg(value_parser = values::positive, allow_hyphen_values = true)]
    growth_b: Option<f64>,

    /// df-pn: the epsilon of the 1 + epsilon threshold rule
    #[arg(long, default_value_t = EPSILON, value_parser = values::not_negative)]
    #[arg(allow_hyphen_values = true, env = "JLPNS_EPSILON")]
    pub epsilon: f64,
}

impl ConstantFlags {
    /// How an algorithm sizes its second level.
    pub fn growth(&self, algorithm: Algorithm) -> Growth {
        let papers = Growth::of(algorithm);
        Growth { a: self.growth_a.unwrap_or(papers.a), b: self.growth_b.unwrap_or(papers.b) }
    }
}
