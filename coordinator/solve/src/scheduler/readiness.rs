//! Whether a worker takes leases.

/// Whether a worker takes leases; what it holds it may go on to report.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Readiness {
    /// It does.
    #[default]
    Ready,
    /// Not for now, for this reason: it comes back to work.
    Paused(String),
    /// It does not any more, for this reason: it is about to leave.
    Draining(String),
}

impl Readiness {
    /// Whether it takes leases.
    pub fn is_ready(&self) -> bool {
        *self == Readiness::Ready
    }

    /// Whether it pauses.
    pub fn is_paused(&self) -> bool {
        matches!(self, Readiness::Paused(_))
    }

    /// Whether it is about to leave.
    pub fn is_draining(&self) -> bool {
        matches!(self, Readiness::Draining(_))
    }

    /// Why it takes no leases, for people; empty if it does, or does not say.
    pub fn reason(&self) -> &str {
        match self {
            Readiness::Ready => "",
            Readiness::Paused(reason) | Readiness::Draining(reason) => reason,
        }
    }
}
