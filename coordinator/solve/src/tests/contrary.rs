//! What says the contrary of claims that stand does not come into the tree: nothing that is claimed would take it out again.

use super::hearsay::sharing;
use super::*;
use crate::belief::{Confirm, MachineId, Standing};

/// The root of a solve and one of its children, which two machines have searched.
struct Family {
    settings: SolveSettings,
    root: Job,
    child: Job,
    /// What a glance at the root finds: it settles nothing.
    glance: Findings,
    /// What is true of the child.
    truth: Findings,
}

impl Family {
    fn new(confirm: Confirm) -> Family {
        let mut settings = sharing().solve.settings().clone();
        settings.belief.confirm = confirm;
        let root = sharing().held[0].job.clone();
        let glance = run(&settings.spec, &Job { budget: 1, ..root.clone() });
        let moves = [&root.moves[..], &[glance.children[0].mv]].concat();
        let child = Job { moves, alone: true, budget: 1_000_000, ..root.clone() };
        let truth = run(&settings.spec, &child);
        assert!(truth.efforts.iter().all(|pair| pair.is_solved()));
        Family { settings, root, child, glance, truth }
    }

    /// The contrary of what is true of the child.
    fn contrary(&self) -> Vec<EffortPair> {
        let contrary = |pair: &EffortPair| EffortPair::solved(pair.verdict() == Some(false));
        self.truth.efforts.iter().map(contrary).collect()
    }

    /// What the tree of a solve has of the child, of that.
    fn in_tree<'a>(&self, solve: &'a Solve) -> &'a [EffortPair] {
        let all = solve.tree.efforts_after(&self.child.moves).expect("it is in the tree");
        let (Threshold(first), width) = self.child.question.thresholds();
        let (Threshold(least), _) = solve.problem.question.thresholds();
        &all[usize::from(first - least)..][..width]
    }

    /// The solve after these records.
    fn after(
        &self,
        machines: &[WorkerInfo],
        first: &[u32],
        says: Vec<EffortPair>,
        hearsay: bool,
    ) -> Solve {
        let records = self.records(machines, first, says, hearsay);
        Solve::resume(self.settings.clone(), 10, Vec::new(), (1..).zip(records)).unwrap()
    }

    /// That `first` of these machines have said what is true of the child, and that the last one has glanced at the root and
    /// says this of the child.
    fn records(
        &self,
        machines: &[WorkerInfo],
        first: &[u32],
        says: Vec<EffortPair>,
        hearsay: bool,
    ) -> Vec<Record> {
        let joined = machines.iter().cloned().map(|info| {
            let WorkerInfo { identity, name, .. } = info;
            Record::Machine { identity, name }
        });
        let report = |lease, machine, job: &Job, findings: Findings, hearsay| {
            Record::Report(Report {
                machine: MachineId(machine),
                lease: LeaseId(lease),
                moves: job.moves.clone(),
                question: job.question,
                findings,
                hearsay,
                elapsed: Duration::from_millis(1),
                at: Duration::from_millis(lease),
                proof: None,
            })
        };
        let words = first
            .iter()
            .map(|&one| report(one.into(), one, &self.child, self.truth.clone(), false));
        let mut glance = self.glance.clone();
        glance.children[0].efforts = says;
        let last = report(3, machines.len() as u32, &self.root, glance, hearsay);
        joined.chain(words).chain([last]).collect()
    }
}

#[test]
fn hearsay_that_contradicts_what_two_machines_say_does_not_come_into_the_tree() {
    let family = Family::new(Confirm::Answer);
    let machines = ["one", "two"].map(|name| info(name, 1));
    let after = |says| {
        let solve = family.after(&machines, &[1, 2], says, true);
        (solve.tree.locate(&family.child.moves).is_some(), solve.shares())
    };
    assert_eq!(after(family.truth.efforts.clone()), (true, true));
    assert_eq!(after(family.contrary()), (false, false), "its job goes out again");
}

/// Nobody is found out by it: a third machine where a certificate decides, and one that may be a machine with the second.
#[test]
fn a_word_that_contradicts_what_two_machines_say_does_not_come_into_the_tree_either() {
    for confirm in [Confirm::Proof, Confirm::Answer] {
        let family = Family::new(confirm);
        let mut machines = ["one", "two", "three"].map(|name| info(name, 1));
        if confirm == Confirm::Answer {
            machines[2].identity.address = machines[1].identity.address.clone();
        }
        for says in [family.truth.efforts.clone(), family.contrary()] {
            let solve = family.after(&machines, &[1, 2], says, false);
            assert_eq!(family.in_tree(&solve), family.truth.efforts, "{confirm}");
            let key = solve.examiner().keys(&family.child.moves).unwrap().position;
            let claims = solve.belief.claims().about(key);
            let standings: Vec<Standing> = claims.map(|(_, claim)| claim.standing).collect();
            assert!(!standings.is_empty());
            let confirmed = Standing::Confirmed { by: MachineId(2) };
            assert!(standings.iter().all(|&standing| standing == confirmed), "{standings:?}");
            assert!((1..=3).all(|one| !solve.belief.is_quarantined(MachineId(one))));
        }
    }
}

/// A tree that was full has given up what was settled as well: what is claimed of that is not searched again.
#[test]
fn what_a_full_tree_has_given_up_is_settled_still() {
    let family = Family::new(Confirm::Answer);
    let unknown = vec![EffortPair::UNIT; family.truth.efforts.len()];
    for without_room in [0, 1] {
        let mut solve = Solve::new(family.settings.clone()).unwrap();
        let records = family.records(&[info("one", 1)], &[1], unknown.clone(), false);
        solve.tally.without_room = without_room;
        for (number, record) in (solve.ledger.written() + 1..).zip(&records) {
            solve.apply(number, record, Default::default());
        }
        let is_settled = *family.in_tree(&solve) == family.truth.efforts;
        assert_eq!(is_settled, without_room > 0);
    }
}

/// What two machines dispute is in the tree as the first one has it, until somebody decides.
#[test]
fn a_word_against_a_word_does_not_change_the_tree() {
    let family = Family::new(Confirm::Answer);
    let machines = ["one", "two"].map(|name| info(name, 1));
    let solve = family.after(&machines, &[1], family.contrary(), false);
    assert_eq!(family.in_tree(&solve), family.truth.efforts);
    assert_eq!(solve.status(Duration::ZERO).disputes, family.truth.efforts.len() as u64);
}
