//! Whether a machine is idle, so that a worker on it is in nobody's way: no one is logged in, and other
//! programs leave most of the processor's time.
//!
//! - [`sessions`]: who is logged in.
//! - [`load`]: what other programs take.
//! - [`seen`]: where the system tells both.

use std::time::Duration;

use self::seen::Seen;

pub mod load;
pub mod seen;
pub mod sessions;

/// How often to look.
pub const LOOK_EVERY: Duration = Duration::from_millis(500);

/// Decides whether a worker pauses because its machine is not idle.
#[derive(Clone, Debug)]
pub struct IdleRule {
    busy_above: f64,
    idle_for: Duration,
    /// When the machine was last seen not to be idle, and why it was not at first.
    busy: Option<(Duration, String)>,
}

impl IdleRule {
    /// Other programs may take this share of the machine (0 to 1); once it was not idle, it must have been
    /// idle for so long.
    pub fn new(busy_above: f64, idle_for: Duration) -> IdleRule {
        IdleRule { busy_above, idle_for, busy: None }
    }

    /// Takes in what is seen now, by a clock that begins anywhere. Says why the worker is to pause, in the
    /// same words as long as the pause lasts; nothing if it may work.
    pub fn look(&mut self, now: Duration, seen: &Seen) -> Option<String> {
        let load = seen.load_of_others.filter(|&load| load > self.busy_above);
        let busy = match (seen.logged_in.first(), load) {
            (Some(who), _) => Some(format!("{} is logged in on {}", who.user, who.place)),
            (None, Some(_)) => {
                let percent = 100.0 * self.busy_above;
                Some(format!("other programs take more than {percent:.0}% of the machine"))
            }
            (None, None) => None,
        };
        let (last, why) = match (busy, self.busy.take()) {
            (Some(_), Some((_, why))) => (now, why),
            (Some(why), None) => {
                let idle_for = humantime::format_duration(self.idle_for);
                (now, format!("{why}; the machine must be idle for {idle_for}"))
            }
            (None, before) => before?,
        };
        let goes_on = now.saturating_sub(last) >= self.idle_for;
        self.busy = (!goes_on).then_some((last, why));
        self.busy.as_ref().map(|(_, why)| why.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::sessions::LoggedIn;
    use super::*;

    fn load(load: f64) -> Seen {
        Seen { logged_in: Vec::new(), load_of_others: Some(load) }
    }

    fn anna() -> Seen {
        let anna = LoggedIn { user: "anna".to_owned(), place: "tty2".to_owned() };
        Seen { logged_in: vec![anna], load_of_others: None }
    }

    const ANNA: Option<&str> = Some("anna is logged in on tty2; the machine must be idle for 1m");
    const BUSY: Option<&str> =
        Some("other programs take more than 25% of the machine; the machine must be idle for 1m");

    #[test]
    fn a_machine_that_was_never_busy_is_worked_on_at_once() {
        let mut rule = IdleRule::new(0.25, Duration::from_secs(60));
        let nothing = Seen { logged_in: Vec::new(), load_of_others: None };
        assert_eq!(rule.look(Duration::ZERO, &nothing), None);
        assert_eq!(rule.look(Duration::from_secs(1), &load(0.25)), None);
    }

    #[test]
    fn the_first_sight_of_somebody_pauses_and_a_minute_of_nobody_ends_it() {
        let mut rule = IdleRule::new(0.25, Duration::from_secs(60));
        let at = Duration::from_secs;
        assert_eq!(rule.look(at(10), &load(0.0)), None);
        assert_eq!(rule.look(at(11), &anna()).as_deref(), ANNA);
        assert_eq!(rule.look(at(12), &anna()).as_deref(), ANNA);
        assert_eq!(rule.look(at(13), &load(0.0)).as_deref(), ANNA);
        assert_eq!(rule.look(at(71), &load(0.0)).as_deref(), ANNA);
        assert_eq!(rule.look(at(72), &load(0.0)), None);
        // The next pause has its own reason.
        assert_eq!(rule.look(at(73), &load(0.5)).as_deref(), BUSY);
    }

    #[test]
    fn the_minute_begins_anew_with_each_time_that_others_work_and_the_words_stay() {
        let mut rule = IdleRule::new(0.25, Duration::from_secs(60));
        let at = Duration::from_secs;
        assert_eq!(rule.look(at(0), &load(0.26)).as_deref(), BUSY);
        assert_eq!(rule.look(at(59), &load(0.1)).as_deref(), BUSY);
        assert_eq!(rule.look(at(59), &load(0.9)).as_deref(), BUSY);
        assert_eq!(rule.look(at(60), &anna()).as_deref(), BUSY);
        assert_eq!(rule.look(at(119), &load(0.1)).as_deref(), BUSY);
        assert_eq!(rule.look(at(120), &load(0.1)), None);
    }
}
