//! Carrying a plan out on a stage: each fault is proved, and healed in time.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::plan::{Fault, Step};
use super::proxy::Weather;
use super::signals::Signal;
use super::stage::{Seat, Stage};
use super::tmpfs::Tmpfs;
use super::watch::within;

/// How long a fault may take to show, while others last that may hide it.
const PATIENCE: Duration = Duration::from_secs(4);

/// What became of a fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It happened, and this proves it.
    Fired(String),
    /// It did not show, because of another fault, or because there is nothing to do it with.
    Hidden,
    /// The solve was over.
    Over,
}

/// A cluster in bad weather.
#[derive(Debug)]
pub struct Storm {
    /// The coordinator.
    pub stage: Stage,
    seats: Vec<Seat>,
    disk: Option<Tmpfs>,
    /// What lasts, and for how many faults more.
    lasting: Vec<(usize, Lasting)>,
}

/// A fault that lasts.
#[derive(Clone, Copy, Debug)]
enum Lasting {
    Frozen(usize),
    Weather(usize, Weather),
    Noise(usize),
}

impl Storm {
    /// A cluster of so many workers. The journal is on `disk`, if that can be filled.
    pub fn new(stage: Stage, disk: Option<Tmpfs>, workers: usize, seed: u64) -> Storm {
        let seats = (0..workers).map(|index| {
            let seed = seed.wrapping_add(index as u64);
            Seat::take(&stage, &format!("worker-{index}"), index % 2 == 0, seed)
        });
        Storm { seats: seats.collect(), stage, disk, lasting: Vec::new() }
    }

    /// Waits until so many more reports are acknowledged. If the faults that last let nothing through,
    /// they are healed.
    pub fn go_on(&mut self, jobs: u64) {
        let ledger = self.stage.ledger().clone();
        let goal = ledger.acknowledged() + jobs as usize;
        let stage = &self.stage;
        let there = || (stage.is_over() || ledger.acknowledged() >= goal).then_some(());
        if within(PATIENCE, there).is_none() {
            self.calm();
            let stage = &self.stage;
            super::watch::soon("work goes on when all is calm", || {
                (stage.is_over() || ledger.acknowledged() >= goal).then_some(())
            });
        }
    }

    /// Lets a fault happen.
    ///
    /// # Panics
    ///
    /// If the cluster takes it in another way than it should.
    pub fn inflict(&mut self, step: Step) -> Outcome {
        self.heal();
        if self.stage.is_over() {
            return Outcome::Over;
        }
        match step.fault {
            Fault::KillWorker(index) => {
                if !self.is_connected(index) {
                    return Outcome::Hidden;
                }
                let ended = self.seats[index].replace(Signal::KILL);
                if ended.code == Some(0) {
                    return Outcome::Over;
                }
                assert_eq!(ended.signal, Some(9), "{ended:?}");
                Outcome::Fired("signal 9".to_owned())
            }
            Fault::TerminateWorker(index) => {
                // Whoever cannot tell what it has waits for the coordinator.
                self.heal_seat(index);
                let ended = self.seats[index].replace(Signal::TERM);
                // It may not have come so far that it listens to signals.
                if ended.signal == Some(15) && ended.stderr.is_empty() {
                    return Outcome::Hidden;
                }
                assert_eq!(ended.code, Some(0), "{ended:?}");
                match ended.stderr.lines().find(|line| line.contains("draining")) {
                    Some(line) => Outcome::Fired(line.to_owned()),
                    None => Outcome::Hidden,
                }
            }
            Fault::FreezeWorker(index) => {
                if !self.is_connected(index) {
                    return Outcome::Hidden;
                }
                if !self.seats[index].worker().freeze() {
                    return Outcome::Over;
                }
                self.lasting.push((step.lasts, Lasting::Frozen(index)));
                Outcome::Fired("state T".to_owned())
            }
            Fault::KillCoordinator => {
                self.stage.kill_and_resume().map_or(Outcome::Over, Outcome::Fired)
            }
            Fault::TerminateCoordinator => {
                let ended = self.stage.stop(Signal::TERM);
                if ended.code == Some(0) {
                    return Outcome::Over;
                }
                assert_eq!(ended.code, Some(3), "{ended:?}");
                Outcome::Fired(self.stage.resume())
            }
            Fault::FreezeCoordinator(time) => {
                let frozen = self.stage.coordinator().freeze();
                // This wait is the fault itself.
                std::thread::sleep(time);
                self.stage.coordinator().thaw();
                if frozen { Outcome::Fired("state T".to_owned()) } else { Outcome::Over }
            }
            Fault::Cut(index) => {
                let seat = &self.seats[index];
                let cut = within(PATIENCE, || Some(seat.proxy.cut()).filter(|&cut| cut > 0));
                cut.map_or(Outcome::Hidden, |cut| Outcome::Fired(format!("{cut} connections")))
            }
            Fault::Weather(index, weather) => self.change_weather(index, weather, step.lasts),
            Fault::Noise(index) => {
                let relay = &self.seats[index].relay;
                relay.disturb(true);
                let noise = relay.noise();
                let counts = [&noise.duplicated, &noise.reordered];
                self.lasting.push((step.lasts, Lasting::Noise(index)));
                rises(&counts).map_or(Outcome::Hidden, Outcome::Fired)
            }
            Fault::FillDisk => self.fill_disk(false),
            Fault::FillDiskAndKill => self.fill_disk(true),
        }
    }

    /// Whether a worker has a connection, or gets one soon.
    fn is_connected(&self, index: usize) -> bool {
        within(PATIENCE, || (self.seats[index].proxy.open() > 0).then_some(())).is_some()
    }

    fn change_weather(&mut self, index: usize, weather: Weather, lasts: usize) -> Outcome {
        let proxy = &self.seats[index].proxy;
        let counts = proxy.counts();
        let count = match weather {
            Weather::Fair => return Outcome::Hidden,
            Weather::Delay { .. } => &counts.delayed,
            Weather::Slow { .. } => &counts.slowed,
            Weather::Hang => &counts.stuck,
            Weather::Refuse => &counts.refused,
        };
        proxy.set(weather);
        if weather == Weather::Refuse {
            proxy.cut();
        }
        let proof = rises(&[count]);
        self.lasting.push((lasts, Lasting::Weather(index, weather)));
        proof.map_or(Outcome::Hidden, Outcome::Fired)
    }

    fn fill_disk(&mut self, kill: bool) -> Outcome {
        let Some(disk) = &self.disk else { return Outcome::Hidden };
        let stage = &mut self.stage;
        let filled = disk.fill();
        let mut halted = halted(stage);
        if kill && halted.is_some() {
            // What is on the disk is whole, so that nothing need be written to go on.
            if stage.kill_and_resume().is_none() {
                disk.clear();
                return Outcome::Over;
            }
            halted = self::halted(stage).or(halted);
        }
        disk.clear();
        let Some(reason) = halted else { return Outcome::Hidden };
        super::watch::soon("there is room again", || {
            let room = stage.watch().status().is_some_and(|status| status.halted.is_none());
            (room || stage.is_over()).then_some(())
        });
        Outcome::Fired(format!("{filled} bytes; {reason}"))
    }

    /// Ends the faults that have lasted long enough.
    fn heal(&mut self) {
        for (lasts, what) in std::mem::take(&mut self.lasting) {
            match lasts.checked_sub(1) {
                Some(lasts) => self.lasting.push((lasts, what)),
                None => self.end(what),
            }
        }
    }

    fn heal_seat(&mut self, seat: usize) {
        for (lasts, what) in std::mem::take(&mut self.lasting) {
            let (Lasting::Frozen(of) | Lasting::Weather(of, _) | Lasting::Noise(of)) = what;
            if of == seat { self.end(what) } else { self.lasting.push((lasts, what)) }
        }
    }

    /// Ends all faults that last.
    pub fn calm(&mut self) {
        for (_, what) in std::mem::take(&mut self.lasting) {
            self.end(what);
        }
        if let Some(disk) = &self.disk {
            disk.clear();
        }
    }

    fn end(&self, what: Lasting) {
        match what {
            Lasting::Frozen(index) => self.seats[index].worker().thaw(),
            Lasting::Weather(index, weather) => {
                let proxy = &self.seats[index].proxy;
                // What hangs goes on after all, or is cut without a byte.
                if weather == Weather::Hang && index % 2 == 0 {
                    proxy.cut();
                }
                proxy.set(Weather::Fair);
            }
            Lasting::Noise(index) => self.seats[index].relay.disturb(false),
        }
    }
}

/// Why the coordinator is halted; `None` if it is not in time.
fn halted(stage: &Stage) -> Option<String> {
    within(PATIENCE, || stage.watch().status().and_then(|status| status.halted))
}

/// Waits until one of these counters rises; which value it has then.
fn rises(counts: &[&AtomicU64]) -> Option<String> {
    let sum = || counts.iter().map(|count| count.load(Ordering::Relaxed)).sum::<u64>();
    let before = sum();
    within(PATIENCE, || Some(sum()).filter(|&now| now > before))
        .map(|now| format!("the count rose from {before} to {now}"))
}
