//! What people order by hand: that a worker takes no more jobs, that its machine goes, or may come
//! again.

use std::time::Duration;

use crate::belief::{Identity, MachineId};
use crate::{Action, Readiness, Record, Solve, WorkerId};

/// What is to become of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// It gets no more leases; what it has it may finish.
    Drain,
    /// Its machine is put out: its workers are let go, and what only it has claimed is withdrawn.
    Kick,
    /// Its machine, which was put out, may come again.
    Reinstate,
}

/// There is no such worker.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OrderError {
    /// None that is connected has this name.
    #[error("no worker that is connected is called '{0}'; 'jlpns workers URL' lists them")]
    NotConnected(String),
    /// No machine that is put out has this name.
    #[error("no machine that is quarantined is called '{0}'; 'jlpns workers URL' lists them")]
    NotQuarantined(String),
}

impl Solve {
    /// A machine is put out, or may come again, as it is elsewhere; nothing if it is not known here, or so already.
    pub(super) fn judge_machine(&mut self, identity: &Identity, is_out: bool) {
        let Some(machine) = self.belief.machines().find(identity) else { return };
        match (is_out, self.belief.is_quarantined(machine)) {
            (true, false) => self.record(Record::PutOut { machine }),
            (false, true) => {
                // At once: its workers are about to come.
                self.belief.reinstate(machine);
                self.record(Record::Reinstated { machine });
            }
            _ => {}
        }
    }

    /// Takes over what is judged of machines elsewhere, before anybody is told anything in this life of the solve: at once, as
    /// whoever has judged them keeps that.
    pub fn begin_with_judged(&mut self, judged: impl IntoIterator<Item = (Identity, bool)>) {
        let mut has_put_out = false;
        for (identity, is_out) in judged {
            self.judge_machine(&identity, is_out);
            let machine = self.belief.machines().find(&identity).filter(|_| is_out);
            has_put_out |= machine.is_some_and(|machine| self.belief.put_out(machine));
        }
        if has_put_out {
            // It was about to be told by the word of who is out.
            self.actions.retain(|action| !matches!(action, Action::Tidings(_) | Action::Over));
            self.over = false;
            self.end_sharing();
            self.regrow();
            self.tell_of_positions_anew();
            self.announce_end();
        }
    }

    /// Carries an order out for all workers of this name; gives how many workers or machines that is.
    pub fn order(&mut self, name: &str, order: Order, now: Duration) -> Result<usize, OrderError> {
        let named =
            self.dispatch.scheduler.workers().filter(|(_, worker)| worker.info.name == name);
        let workers: Vec<(WorkerId, MachineId)> =
            named.map(|(id, worker)| (id, worker.machine)).collect();
        let mut machines: Vec<MachineId> = workers.iter().map(|(_, machine)| *machine).collect();
        machines.sort_unstable();
        machines.dedup();
        if order == Order::Reinstate {
            let out = self.belief.machines().others();
            let out = out.filter(|(_, machine)| machine.quarantined && machine.name == name);
            machines = out.map(|(machine, _)| machine).collect();
            if machines.is_empty() {
                return Err(OrderError::NotQuarantined(name.to_owned()));
            }
        } else if workers.is_empty() {
            return Err(OrderError::NotConnected(name.to_owned()));
        }
        match order {
            Order::Drain => {
                for &(worker, _) in &workers {
                    // It is connected.
                    let readiness = Readiness::Draining("ordered".to_owned());
                    let _ = self.dispatch.scheduler.set_readiness(worker, readiness);
                }
            }
            Order::Kick => {
                machines.iter().for_each(|&machine| self.record(Record::PutOut { machine }))
            }
            Order::Reinstate => {
                machines.iter().for_each(|&machine| self.record(Record::Reinstated { machine }))
            }
        }
        self.settle(now);
        Ok(if order == Order::Drain { workers.len() } else { machines.len() })
    }
}
