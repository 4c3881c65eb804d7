//! The searches, by their names.

use std::fmt;
use std::str::FromStr;

/// The searches; each can run alone, and all but `Dichotomic` as the sub-search of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// Proof-number search for one threshold.
    Pns,
    /// Proof-number search for all outcomes at once (GPNS paper).
    Gpns,
    /// Proof-number search with a nested one at its frontier (PDS-PN paper, section 3.2).
    Pn2,
    /// GPNS whose new frontier nodes start with the numbers of a nested GPNS (GPNS paper, section
    /// 4.6).
    Gpns2,
    /// GPNS with a nested GPNS at its frontier, of which the root's children are kept, as PN2 does.
    GpnsPn2,
    /// Depth-first proof- and disproof-number search (PDS-PN paper, section 3.3).
    Pds,
    /// PDS with a nested PNS at its frontier (PDS-PN paper, section 4 and appendix).
    PdsPn,
    /// Depth-first proof-number search with the 1 + epsilon threshold rule.
    DfPn,
    /// Zero-window alpha-beta with a transposition table: the baseline.
    AlphaBeta,
    /// PNS for one threshold after the other, halving the outcomes that are left.
    Dichotomic,
}

impl Algorithm {
    /// All of them, in the order of the documentation.
    pub const ALL: [Algorithm; 10] = [
        Algorithm::Pns,
        Algorithm::Gpns,
        Algorithm::Pn2,
        Algorithm::Gpns2,
        Algorithm::GpnsPn2,
        Algorithm::Pds,
        Algorithm::PdsPn,
        Algorithm::DfPn,
        Algorithm::AlphaBeta,
        Algorithm::Dichotomic,
    ];

    /// The name that users read and type.
    pub const fn name(self) -> &'static str {
        match self {
            Algorithm::Pns => "pns",
            Algorithm::Gpns => "gpns",
            Algorithm::Pn2 => "pn2",
            Algorithm::Gpns2 => "gpns2",
            Algorithm::GpnsPn2 => "gpns-pn2",
            Algorithm::Pds => "pds",
            Algorithm::PdsPn => "pds-pn",
            Algorithm::DfPn => "dfpn",
            Algorithm::AlphaBeta => "alpha-beta",
            Algorithm::Dichotomic => "dichotomic",
        }
    }

    /// Whether one run answers one threshold only.
    pub const fn is_binary(self) -> bool {
        !self.answers_all() && !matches!(self, Algorithm::Dichotomic)
    }

    /// Whether it searches one tree for all thresholds.
    pub const fn answers_all(self) -> bool {
        matches!(self, Algorithm::Gpns | Algorithm::Gpns2 | Algorithm::GpnsPn2)
    }

    /// Whether a second search of the same kind searches the frontier nodes.
    pub const fn is_two_level(self) -> bool {
        matches!(self, Algorithm::Pn2 | Algorithm::Gpns2 | Algorithm::GpnsPn2)
    }

    /// Whether the search remembers positions in a transposition table.
    pub const fn uses_table(self) -> bool {
        matches!(self, Algorithm::Pds | Algorithm::PdsPn | Algorithm::DfPn | Algorithm::AlphaBeta)
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A text that names no search.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown algorithm '{0}'; known are {names}", names = Algorithm::ALL.map(Algorithm::name).join(", "))]
pub struct UnknownAlgorithm(pub String);

impl FromStr for Algorithm {
    type Err = UnknownAlgorithm;

    fn from_str(text: &str) -> Result<Algorithm, UnknownAlgorithm> {
        let known = Algorithm::ALL.into_iter().find(|a| a.name() == text);
        known.ok_or_else(|| UnknownAlgorithm(text.to_owned()))
    }
}
