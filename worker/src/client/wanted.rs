//! What is wanted of a worker, and how it may change.

/// What is wanted of a worker.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Wanted {
    /// To work.
    #[default]
    Work,
    /// To stop its searches, report what they have and take no leases until it is to work again, for
    /// this reason.
    Pause(String),
    /// To take no more leases, report what it has, and end, for this reason.
    Drain(String),
    /// To end at once.
    Abort,
}

impl Wanted {
    /// Takes another wish up, and tells whether that changes anything. Who is to end does not come back
    /// to work.
    pub fn change_to(&mut self, other: Wanted) -> bool {
        let changes = match (&*self, &other) {
            (Wanted::Abort, _) => false,
            (Wanted::Drain(_), other) => *other == Wanted::Abort,
            (now, other) => now != other,
        };
        if changes {
            *self = other;
        }
        changes
    }

    /// Why it takes no leases; `None` if it does, or ends at once.
    pub(super) fn reason(&self) -> Option<&str> {
        match self {
            Wanted::Pause(reason) | Wanted::Drain(reason) => Some(reason),
            Wanted::Work | Wanted::Abort => None,
        }
    }

    /// Why a lease that comes now is declined; `None` if it is taken.
    pub(super) fn why_none_is_taken(&self) -> Option<&'static str> {
        match self {
            Wanted::Work => None,
            Wanted::Pause(_) => Some("the worker pauses"),
            Wanted::Drain(_) | Wanted::Abort => Some("the worker is about to leave"),
        }
    }

    pub(super) fn is_to_drain(&self) -> bool {
        matches!(self, Wanted::Drain(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_end_and_the_end_does_not() {
        let pause = || Wanted::Pause("busy".to_owned());
        let drain = || Wanted::Drain("SIGTERM".to_owned());
        let mut wanted = Wanted::Work;
        assert!(!wanted.change_to(Wanted::Work));
        assert!(wanted.change_to(pause()) && !wanted.change_to(pause()));
        assert!(wanted.change_to(Wanted::Pause("still busy".to_owned())));
        assert!(wanted.change_to(Wanted::Work) && wanted == Wanted::Work);
        assert!(wanted.change_to(pause()) && wanted.change_to(drain()));
        for other in [Wanted::Work, pause(), Wanted::Drain("07:30".to_owned())] {
            assert!(!wanted.change_to(other));
            assert_eq!(wanted, drain());
        }
        assert!(wanted.change_to(Wanted::Abort));
        for other in [Wanted::Work, pause(), drain(), Wanted::Abort] {
            assert!(!wanted.change_to(other));
            assert_eq!(wanted, Wanted::Abort);
        }
    }
}
