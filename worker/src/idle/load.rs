//! What other programs take of a machine: its processor time, but for what is niced and for the worker's own.
//! Who is nice is in nobody's way, be it a worker or not.

/// Processor time since the system began, over all cores, in ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MachineTime {
    /// All of it, idle time included.
    pub all: u64,
    /// What programs took that are not niced, and the system for all programs.
    pub busy: u64,
}

/// Reads `/proc/stat`.
pub fn of_machine(text: &str) -> Option<MachineTime> {
    let line = text.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let ticks: Vec<u64> = line.split_whitespace().map_while(|ticks| ticks.parse().ok()).collect();
    let &[user, nice, system, idle, waiting, interrupts, soft_interrupts, ..] = &ticks[..] else {
        return None;
    };
    let busy = user + system + interrupts + soft_interrupts;
    Some(MachineTime { all: busy + nice + idle + waiting, busy })
}

/// Processor time of one process, in ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OwnTime {
    /// What of it counts as busy time of the machine.
    pub busy: u64,
}

/// Reads `/proc/self/stat`.
pub fn of_process(text: &str) -> Option<OwnTime> {
    // The program's name may hold spaces and brackets.
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let number = |index: usize| fields.get(index)?.parse::<i64>().ok();
    // The fields 14, 15 and 19 of the whole line.
    let (user, system, nice) = (number(11)?, number(12)?, number(16)?);
    let busy = if nice > 0 { system } else { user + system };
    Some(OwnTime { busy: busy.try_into().ok()? })
}

/// How many samples are kept: the load is that of the time between the first and the last.
const SAMPLES: usize = 3;

/// The load of others over the last moments.
#[derive(Clone, Debug, Default)]
pub struct LoadOfOthers {
    samples: Vec<(MachineTime, OwnTime)>,
}

impl LoadOfOthers {
    /// Takes a sample in; the share of the machine that others took since the sample before the last,
    /// from 0 to 1. Nothing after the first one.
    pub fn sample(&mut self, machine: MachineTime, own: OwnTime) -> Option<f64> {
        if self.samples.len() == SAMPLES {
            self.samples.remove(0);
        }
        self.samples.push((machine, own));
        let &(before, own_before) = self.samples.first()?;
        let all = machine.all.saturating_sub(before.all);
        let busy = machine.busy.saturating_sub(before.busy);
        let others = busy.saturating_sub(own.busy.saturating_sub(own_before.busy));
        (all > 0).then(|| others as f64 / all as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_waiting_and_niced_time_is_not_busy() {
        let text = "cpu  100 20 30 1000 40 5 6 7 8 9\ncpu0 1 2 3 4 5 6 7 8 9 10\n";
        assert_eq!(of_machine(text), Some(MachineTime { all: 1201, busy: 141 }));
        for text in ["", "cpu0 1 2 3 4 5 6 7", "cpu  1 2 3", "cpu  1 2 x 4 5 6 7"] {
            assert_eq!(of_machine(text), None, "{text}");
        }
    }

    #[test]
    fn own_time_counts_as_the_machine_counts_it() {
        let line = |nice: i32| {
            format!("12 (a (b) c) R 1 12 12 0 -1 4194304 99 0 0 0 700 50 0 0 20 {nice} 3 0 5 6 7")
        };
        assert_eq!(of_process(&line(0)), Some(OwnTime { busy: 750 }));
        assert_eq!(of_process(&line(-5)), Some(OwnTime { busy: 750 }));
        assert_eq!(of_process(&line(19)), Some(OwnTime { busy: 50 }));
        assert_eq!(of_process("12 (x) R 1"), None);
        assert!(of_process(&std::fs::read_to_string("/proc/self/stat").unwrap()).is_some());
    }

    #[test]
    fn the_load_is_that_of_others_over_the_last_moments() {
        let mut load = LoadOfOthers::default();
        let mut sample =
            |all, busy, own| load.sample(MachineTime { all, busy }, OwnTime { busy: own });
        assert_eq!(sample(1000, 500, 300), None);
        // A hundred more, of which sixty busy and fifty own.
        assert_eq!(sample(1100, 560, 350), Some(0.1));
        assert_eq!(sample(1200, 660, 350), Some(0.55));
        // The first sample counts no more.
        assert_eq!(sample(1300, 660, 350), Some(0.5));
        assert_eq!(sample(1400, 660, 350), Some(0.0));
        // Ticks are not exact: others never take less than nothing.
        assert_eq!(sample(1500, 661, 360), Some(0.0));
    }
}
