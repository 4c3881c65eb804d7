//! Reports about leases that the solve granted before it was started anew.

use super::*;
use crate::belief::{Confirm, MachineId, Standing};

/// A solve with a journal, what it has written and which leases it has granted.
struct Life {
    solve: Solve,
    written: Vec<(u64, Record)>,
    leases: Vec<(WorkerId, LeaseId, Job, u64)>,
}

impl Life {
    fn begin(solve: Solve, written: Vec<(u64, Record)>) -> Life {
        let mut life = Life { solve, written, leases: Vec::new() };
        life.act();
        life
    }

    fn send(&mut self, event: Event) -> Result<(), Refusal> {
        let outcome = self.solve.handle(event, Duration::ZERO);
        self.act();
        outcome
    }

    /// Whatever is to be recorded is durable at once.
    fn act(&mut self) {
        loop {
            let before = self.written.len();
            for action in self.solve.take_actions() {
                match action {
                    Action::Record { number, record } => {
                        self.written.push((number, (*record).clone()));
                    }
                    Action::Lease { worker, lease, job, seal, .. } => {
                        self.leases.push((worker, lease, job, seal));
                    }
                    _ => {}
                }
            }
            if self.written.len() == before {
                return;
            }
            let through = self.written[self.written.len() - 1].0;
            self.solve.handle(Event::Recorded { through }, Duration::ZERO).unwrap();
        }
    }

    fn join(&mut self, worker: u64, name: &str) {
        self.send(Event::Joined { worker: WorkerId(worker), info: info(name, 1) }).unwrap();
    }

    fn report(
        &mut self,
        worker: u64,
        lease: LeaseId,
        subject: Option<Subject>,
        findings: &Findings,
        proof: Option<ProofId>,
    ) -> Result<(), Refusal> {
        let examined = subject.as_ref().and_then(|about| {
            self.solve.examiner().examine(&about.moves, about.question, findings)
        });
        let examined = match (examined, proof) {
            (Some(examined), Some(proof)) => Some(examined.with_proof(proof)),
            (examined, _) => examined,
        };
        self.send(Event::Reported {
            worker: WorkerId(worker),
            lease,
            subject,
            examined,
            findings: findings.clone(),
            elapsed: Duration::from_millis(1),
            hearsay: false,
        })
    }
}

/// What a solve was doing when it ended: searching a claim of "one" again, for a second word by "two" or for a certificate
/// by "one" itself; the lease, and how its job is sealed.
struct Before {
    settings: SolveSettings,
    written: Vec<(u64, Record)>,
    lease: LeaseId,
    subject: Subject,
    findings: Findings,
}

const FIRST_LEASE: u64 = 1_000;

fn before(confirm: Confirm) -> Before {
    let mut settings = settings("connect4:4x4", "12212112", Some(">=draw"));
    (settings.journal, settings.job_nodes) = (true, 1_000_000);
    settings.belief.confirm = confirm;
    let mut life = Life::begin(Solve::new(settings.clone()).unwrap(), Vec::new());
    let prove = confirm == Confirm::Proof;
    life.join(1, "one");
    if !prove {
        life.join(2, "two");
    }
    let (_, lease, job, _) = life.leases.remove(0);
    life.report(1, lease, None, &run(&settings.spec, &job), None).unwrap();
    // Whoever makes a claim is asked to prove it; a second word is another one's.
    let expected = WorkerId(if prove { 1 } else { 2 });
    let again =
        life.leases.iter().find(|(worker, _, job, _)| (*worker, job.prove) == (expected, prove));
    let (_, lease, job, seal) = again.expect("a claim to be searched again").clone();
    assert_eq!(life.solve.end(), None);
    let findings = run(&settings.spec, &job);
    let Job { moves, question, budget, .. } = job;
    let subject = Subject { moves, question, budget, seal };
    Before { settings, written: life.written, lease, subject, findings }
}

impl Before {
    fn taken_up(&self) -> Life {
        let written = self.written.clone();
        let solve =
            Solve::resume(self.settings.clone(), FIRST_LEASE, Vec::new(), written.clone()).unwrap();
        Life::begin(solve, written)
    }

    fn standing(&self, life: &Life) -> Option<Standing> {
        let key = life.solve.examiner().keys(&self.subject.moves).unwrap().position;
        let claim = life.solve.belief.claims().about(key).next();
        claim.map(|(_, claim)| claim.standing)
    }
}

#[test]
fn a_second_word_that_was_on_its_way_counts_after_a_restart() {
    let before = before(Confirm::Answer);
    let mut life = before.taken_up();
    assert_eq!(before.standing(&life), Some(Standing::Claimed));
    life.join(11, "two");
    life.report(11, before.lease, Some(before.subject.clone()), &before.findings, None).unwrap();
    let by_two = Standing::Confirmed { by: MachineId(2) };
    assert_eq!(before.standing(&life), Some(by_two));
    assert!(life.solve.end().is_some());
    // And it is in the journal.
    let life = Life::begin(
        Solve::resume(before.settings.clone(), 2 * FIRST_LEASE, Vec::new(), life.written).unwrap(),
        Vec::new(),
    );
    assert_eq!(before.standing(&life), Some(by_two));
}

#[test]
fn a_certificate_that_was_on_its_way_counts_after_a_restart() {
    let before = before(Confirm::Proof);
    let mut life = before.taken_up();
    life.join(11, "one");
    let (subject, proof) = (Some(before.subject.clone()), Some(ProofId([7; 32])));
    life.report(11, before.lease, subject, &before.findings, proof).unwrap();
    assert_eq!(before.standing(&life), Some(Standing::Proved));
    assert!(life.solve.end().is_some());
}

#[test]
fn a_report_that_comes_twice_after_a_restart_counts_once() {
    let before = before(Confirm::Answer);
    let mut life = before.taken_up();
    life.join(11, "two");
    life.report(11, before.lease, Some(before.subject.clone()), &before.findings, None).unwrap();
    let records = life.written.len();
    let again = life.report(11, before.lease, Some(before.subject), &before.findings, None);
    assert_eq!(again, Err(Refusal::Duplicate(before.lease)));
    assert_eq!(life.written.len(), records);
}

#[test]
fn a_lease_of_an_earlier_life_is_its_machines_alone_and_about_nothing_else() {
    let before = before(Confirm::Answer);
    let right = &before.subject;
    let mut longer = right.moves.clone();
    longer.push(longer[0]);
    let other = Question::Threshold(Threshold(2));
    assert_ne!(other, right.question);
    let wrong = [
        (11, Subject { moves: longer, ..right.clone() }),
        (11, Subject { question: other, ..right.clone() }),
        (11, Subject { budget: right.budget + 1, ..right.clone() }),
        (11, Subject { seal: right.seal.wrapping_add(1), ..right.clone() }),
        (12, right.clone()),
    ];
    let mut life = before.taken_up();
    life.join(11, "two");
    life.join(12, "three");
    for (worker, subject) in wrong {
        assert!(!life.solve.awaits_report(WorkerId(worker), before.lease, &subject));
        let refused =
            life.report(worker, before.lease, Some(subject.clone()), &before.findings, None);
        assert_eq!(refused, Err(Refusal::UnknownLease(before.lease)), "{worker}: {subject:?}");
    }
    assert!(life.solve.awaits_report(WorkerId(11), before.lease, right));
    // None of them has used the lease up.
    life.report(11, before.lease, Some(right.clone()), &before.findings, None).unwrap();
    assert_eq!(before.standing(&life), Some(Standing::Confirmed { by: MachineId(2) }));
}

/// What a clock that was ahead has numbered is as good, and so is what was lost so many leases ago that it is forgotten.
#[test]
fn a_lease_that_is_not_remembered_counts_whatever_its_number() {
    let before = before(Confirm::Answer);
    let written = before.written.clone();
    let behind = Solve::resume(before.settings.clone(), 0, Vec::new(), written.clone()).unwrap();
    let mut life = Life::begin(behind, written);
    life.join(11, "two");
    assert!(life.leases.iter().all(|(_, lease, ..)| *lease < before.lease));
    life.report(11, before.lease, Some(before.subject.clone()), &before.findings, None).unwrap();
    assert_eq!(before.standing(&life), Some(Standing::Confirmed { by: MachineId(2) }));
}

/// The second time it would not be known any more what its job asked for.
#[test]
fn a_refused_report_does_not_come_again_under_its_seal() {
    let mut settings = settings("connect4:4x4", "12212112", Some(">=draw"));
    settings.journal = true;
    let mut life = Life::begin(Solve::new(settings.clone()).unwrap(), Vec::new());
    life.join(1, "one");
    let (_, lease, job, seal) = life.leases.remove(0);
    let found = run(&settings.spec, &job);
    let nothing = Findings { efforts: Vec::new(), ..found.clone() };
    let refused = life.report(1, lease, None, &nothing, None).unwrap_err();
    assert!(matches!(refused, Refusal::BadFindings(..)), "{refused}");
    let Job { moves, question, budget, .. } = job;
    let subject = Subject { moves, question, budget, seal };
    let again = life.report(1, lease, Some(subject), &found, None);
    assert_eq!(again, Err(Refusal::Duplicate(lease)));
}
