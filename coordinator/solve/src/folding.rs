//! From a durable record to its fold: what a record does to what is believed and to the tree, and what is taken out of
//! both again.

use jlpns_games::Move;
use jlpns_search::{EffortPair, Findings};

use crate::belief::{Judgement, Keys, MachineId, ThresholdAt, Word};
use crate::ledger::{About, Unrecorded};
use crate::top_level::NodeRef;
use crate::{Action, Notice, Record, Report, Solve, Tidings};

impl Solve {
    /// Lets records count that are durable by now, `most` at the most, unless a snapshot is being
    /// made.
    pub(super) fn apply_durable(&mut self, most: usize) {
        let mut left = most;
        while left > 0
            && !self.snapshots.is_making_one()
            && let Some(durable) = self.ledger.take_durable()
        {
            left -= 1;
            let Unrecorded { number, record, from, about } = durable;
            self.apply(number, &record, about);
            if let Some((worker, lease)) = from {
                self.actions.push(Action::Acknowledge { worker, lease });
            }
        }
    }

    /// Lets a record count: the one way into the tree, for reports of now and of long ago.
    pub(super) fn apply(&mut self, number: u64, record: &Record, about: About) {
        let About { node, keys } = about;
        self.ledger.note_applied(number);
        match record {
            Record::Report(report) => {
                self.ledger.end(report.lease);
                // A record about a position that no legal moves lead to is of other rules, and does
                // not count.
                let keys = keys.or_else(|| self.problem.examiner.keys(&report.moves));
                if let Some(keys) = keys.filter(|_| !self.belief.is_quarantined(report.machine)) {
                    self.believe(number, report, node, keys);
                }
                self.belief.recheck_reported(report.lease);
            }
            Record::Split { moves } => self.split(moves),
            Record::Machine { identity, name } => {
                self.belief.machines_mut().find_or_add(identity, name);
            }
            Record::Secret(secret) => self.dispatch.seals.secret = *secret,
            Record::TakenBack { at, moves } => self.take_back(*at, moves),
            Record::PutOut { machine } => {
                if self.belief.put_out(*machine) {
                    self.withdraw(&[*machine]);
                }
            }
            Record::Reinstated { machine } => self.belief.reinstate(*machine),
        }
        self.leave_memory_to_claims();
        // A fold gives its node back by itself, with one update of the tree for both.
        if let Some(node) = node {
            self.dispatch.put_back(node, &mut *self.tree);
        }
    }

    /// Keeps the tree to the memory that claims and expanded positions leave. Twice what they take is
    /// left to them: they go on growing when the tree is full, and a full tree cannot shrink.
    pub(crate) fn leave_memory_to_claims(&mut self) {
        self.tree.note_held_beside(2 * self.belief.claims().bytes());
    }

    /// Takes the claims of a report in, and folds it into the tree unless its machine is found out
    /// by them.
    fn believe(&mut self, number: u64, report: &Report, node: Option<NodeRef>, keys: Keys) {
        self.tally.time = self.tally.time.max(report.at);
        let about = (&keys, &report.moves[..]);
        let first = report.question.thresholds().0;
        let by = match report.proof {
            // A certificate needs nobody's word.
            Some(_) => Word::Proof,
            None if report.hearsay => Word::Hearsay(report.machine),
            None => Word::Of(report.machine),
        };
        let found = self.belief.take_in(number, by, about, first, &report.findings);
        self.belief.note_confirmed(&keys);
        let (mut found_out, mut taken_back, mut misled) = (Vec::new(), false, false);
        let mut says_the_contrary = false;
        for finding in found {
            says_the_contrary |= finding.leaves_the_contrary();
            match finding {
                Judgement::Disputed { claimant, against, moves } => {
                    let (worker, against) =
                        (self.machine_name(claimant), self.machine_name(against));
                    let moves = self.problem.move_names(&moves);
                    self.notify(Notice::Disputed { worker, against, moves });
                }
                Judgement::FoundOut(machine) => found_out.push(machine),
                Judgement::TakenBack => taken_back = true,
                Judgement::Misled => misled = true,
                Judgement::Overruled => {}
            }
        }
        if let Some(positions) = self.tree.positions() {
            positions.note_searched(keys.position, &report.findings, report.elapsed);
        }
        let has_withdrawn = !found_out.is_empty() || taken_back;
        if !found_out.is_empty() {
            self.withdraw(&found_out);
        } else if taken_back {
            self.regrow();
        }
        if misled {
            self.end_sharing();
        }
        // What contradicts a claim and is nobody's word must not come into the tree either: its job goes out again.
        let is_dropped = misled && matches!(by, Word::Hearsay(_));
        if is_dropped || self.belief.is_quarantined(report.machine) {
            return self.tally.note_work(report.findings.nodes, report.elapsed);
        }
        // What was withdrawn has taken the node with it.
        self.fold(report, node.filter(|_| !has_withdrawn), says_the_contrary);
        self.look_at_position(keys.position);
        keys.children.iter().for_each(|&(_, key)| self.look_at_position(key));
    }

    /// What machines have claimed does not count any more: the tree is grown anew without it, and
    /// they are let go.
    fn withdraw(&mut self, machines: &[MachineId]) {
        for &machine in machines {
            self.notify(Notice::Quarantined { worker: self.machine_name(machine) });
            let (identity, name) =
                (self.belief.machines().of(machine).identity.clone(), self.machine_name(machine));
            self.actions.push(Action::Tidings(Tidings::FoundOut { identity, name }));
            self.dismiss(machine, self.heard);
        }
        // They may have told others what is not true.
        self.end_sharing();
        self.regrow();
        self.notify(Notice::Regrown { claims: self.belief.claims().all().count() as u64 });
    }

    /// Grows the tree anew from the claims that count.
    pub(super) fn regrow(&mut self) {
        self.dispatch.call_off_everything(&mut *self.tree, &mut self.actions);
        self.ledger.forget_nodes();
        self.tree.regrow(self.belief.claims(), self.belief.confirm());
        self.belief.forget_answer();
        self.look_at_all_positions();
    }

    /// Takes back a claim that is too large to be searched again at once: its position is expanded,
    /// and goes out in parts.
    fn take_back(&mut self, place: ThresholdAt, moves: &[Move]) {
        self.belief.take_back(place);
        self.regrow();
        if self.tree.locate(moves).is_some_and(|node| self.tree.is_open(node)) {
            self.split(moves);
        }
    }

    /// `node` is where it is known to belong, if that is known. What is claimed goes before the report where that says the
    /// contrary: the tree holds nothing that claims do not.
    fn fold(&mut self, report: &Report, node: Option<NodeRef>, says_the_contrary: bool) {
        self.tally.note_work(report.findings.nodes, report.elapsed);
        if report.moves.len() == self.problem.settings.moves.len() {
            self.tally.reported_most_proving = report.findings.most_proving_move;
        }
        let known = node.filter(|&node| self.tree.is_open(node));
        let Some(node) = known.or_else(|| self.tree.locate(&report.moves)) else { return };
        self.dispatch.losses.clear(node);
        // A late report makes the search of the worker that has the job now superfluous.
        if self.tree.is_open(node) {
            self.dispatch.release(node, &mut *self.tree, &mut self.actions);
        }
        let (moves, question) = (&report.moves, report.question);
        let completed;
        // What was freed when it was settled, or given up when the memory was full, may be settled still. In a full tree, where
        // there is much below each node, what was claimed of it and its children is enough.
        let has_given_up = self.tree.size().shed.nodes > 0 || self.tally.without_room > 0;
        let below = says_the_contrary || self.belief.has_withdrawn();
        let findings = if below || has_given_up {
            let claims = self.belief.claims();
            completed = self.tree.completed(claims, below, moves, question, &report.findings);
            &completed
        } else {
            &report.findings
        };
        if !self.tree.fold(node, moves, question, findings) {
            self.tally.without_room += 1;
        }
    }

    /// Expands a frontier node without knowing more about it.
    fn split(&mut self, moves: &[Move]) {
        let Some(node) = self.tree.locate(moves) else { return };
        let question = self.problem.question;
        let nothing = Findings {
            efforts: vec![EffortPair::UNIT; question.thresholds().1],
            children: Vec::new(),
            nodes: 0,
            most_proving_move: None,
        };
        self.tree.fold(node, moves, question, &nothing);
        self.belief.note_expanded(node.key);
        self.look_at_position(node.key);
        let children = self.tree.child_keys(node);
        self.dispatch.losses.mark_split(node, children);
    }

    /// The name of a machine, for people.
    fn machine_name(&self, machine: MachineId) -> String {
        self.belief.machines().of(machine).name.clone()
    }
}
