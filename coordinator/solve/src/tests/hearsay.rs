//! What workers tell each other steers the search, and nothing else: it confirms nothing, and nobody is
//! blamed for having believed it.

use super::believed::Believed;
use super::*;
use crate::belief::{Confirm, Judgement, MachineId, NoResult, Rechecker, Standing, Why, Word};

#[test]
fn hearsay_confirms_nothing_and_two_words_of_machines_do() {
    let mut believed = Believed::new(3, Confirm::Answer);
    let [one, two, three] = believed.machines[..] else { unreachable!() };
    believed.hears(Word::Hearsay(one), true);
    believed.hears(Word::Hearsay(two), true);
    assert_eq!(believed.standing(), (true, Standing::Hearsay));
    assert_eq!(believed.open(Confirm::Answer, true), 1);
    believed.hears(Word::Of(one), true);
    assert_eq!(believed.standing(), (true, Standing::Claimed));
    believed.hears(Word::Hearsay(three), true);
    assert_eq!(believed.standing(), (true, Standing::Claimed), "it is still the word of one");
    assert_eq!(believed.open(Confirm::Answer, true), 1);
    believed.hears(Word::Of(three), true);
    assert_eq!(believed.standing(), (true, Standing::Confirmed { by: three }));
    assert_eq!(believed.open(Confirm::Answer, true), 0);
}

#[test]
fn the_coordinators_search_confirms_hearsay_alone() {
    let mut believed = Believed::new(1, Confirm::Answer);
    believed.hears(Word::Hearsay(believed.machines[0]), true);
    assert_eq!(believed.hears(Word::Of(MachineId::COORDINATOR), true), []);
    assert_eq!(believed.open(Confirm::Answer, true), 0);
}

#[test]
fn nobody_is_blamed_for_hearsay_and_a_word_counts_for_more() {
    for confirm in [Confirm::Answer, Confirm::Proof] {
        let mut believed = Believed::new(3, confirm);
        let [one, two, three] = believed.machines[..] else { unreachable!() };
        believed.hears(Word::Hearsay(one), true);
        believed.hears(Word::Hearsay(two), true);
        // What one has found itself counts for more, and waits for a second word.
        let found = believed.hears(Word::Of(one), false);
        assert_eq!(found, [Judgement::Misled, Judgement::TakenBack], "its own word, the other way");
        assert_eq!(believed.standing(), (false, Standing::Claimed));
        assert_eq!(believed.open(Confirm::Answer, false), 1);
        assert!(believed.is_wanted(), "it is looked into");
        // No hearsay takes it back.
        assert_eq!(believed.hears(Word::Hearsay(two), true), [Judgement::Misled]);
        assert_eq!(believed.standing(), (false, Standing::Claimed));
        believed.hears(Word::Of(three), false);
        assert_eq!(believed.standing(), (false, Standing::Confirmed { by: three }));
        assert_eq!(believed.hears(Word::Hearsay(one), true), [Judgement::Misled]);
        assert_eq!(believed.standing(), (false, Standing::Confirmed { by: three }));
        assert!(believed.machines.iter().all(|&machine| !believed.belief.is_quarantined(machine)));
    }
}

#[test]
fn a_certificate_blames_nobody_for_hearsay() {
    let mut believed = Believed::new(2, Confirm::Proof);
    let [one, two] = believed.machines[..] else { unreachable!() };
    believed.hears(Word::Hearsay(one), true);
    assert_eq!(believed.hears(Word::Proof, false), [Judgement::Misled, Judgement::TakenBack]);
    assert_eq!(believed.standing(), (false, Standing::Proved));
    assert_eq!(believed.hears(Word::Hearsay(two), true), [Judgement::Misled]);
    assert_eq!(believed.standing(), (false, Standing::Proved));
    assert!([one, two].iter().all(|&machine| !believed.belief.is_quarantined(machine)));
}

#[test]
fn hearsay_that_machines_cannot_prove_is_left_to_the_coordinator() {
    let mut believed = Believed::new(2, Confirm::Proof);
    let machines = believed.machines.clone();
    believed.hears(Word::Hearsay(machines[0]), true);
    let wanted = believed.ask_to_confirm(true);
    for _ in 0..2 {
        let (number, _) = believed.belief.next_for(machines[0], Why::Answer, false).unwrap();
        let by = Rechecker::Lease(LeaseId(number));
        believed.belief.recheck_taken(number, by);
        believed.belief.recheck_given_back(number, by, NoResult::Failed);
    }
    let of_machines =
        machines.iter().find_map(|&machine| believed.belief.next_for(machine, Why::Answer, false));
    assert_eq!(of_machines, None);
    let of_coordinator = believed.belief.next_for_coordinator(&machines);
    assert_eq!(of_coordinator.map(|(_, recheck)| recheck.place), Some(wanted));
}

#[test]
fn whoever_takes_back_what_it_was_told_and_lies_is_found_out_by_two_others() {
    let mut believed = Believed::new(4, Confirm::Answer);
    let [one, liar, two, three] = believed.machines[..] else { unreachable!() };
    believed.hears(Word::Hearsay(one), true);
    believed.hears(Word::Of(liar), false);
    assert!(matches!(believed.hears(Word::Of(two), true)[..], [Judgement::Disputed { .. }]));
    assert_eq!(believed.hears(Word::Of(three), true), [Judgement::FoundOut(liar)]);
    assert_eq!(believed.standing(), (true, Standing::Claimed));
}

/// A cluster of three machines that share, and look for an answer that one machine's word is not enough for.
pub(super) fn sharing() -> Cluster {
    let mut settings = settings("connect4:4x4", "12212112", None);
    settings.sub_search = Algorithm::AlphaBeta;
    settings.share = true;
    settings.belief.confirm = Confirm::Answer;
    let mut cluster = Cluster::new(settings);
    (0..3).for_each(|_| cluster.join(1));
    cluster
}

impl Cluster {
    /// Reports what it found, or the contrary, as hearsay or as its word.
    fn report_as(&mut self, held: &Held, hearsay: bool, truth: bool) -> Result<(), Refusal> {
        let mut findings = run(&self.solve.settings().spec, &held.job);
        if !truth {
            let below = findings.children.iter_mut().flat_map(|child| &mut child.efforts);
            for pair in findings.efforts.iter_mut().chain(below).filter(|pair| pair.is_solved()) {
                *pair = EffortPair::solved(pair.verdict() == Some(false));
            }
        }
        let (worker, lease, elapsed) = (held.worker, held.lease, Duration::from_millis(1));
        self.send(Event::Reported {
            worker,
            lease,
            subject: None,
            examined: None,
            findings,
            elapsed,
            hearsay,
        })
    }
}

#[test]
fn where_others_are_believed_what_an_answer_rests_on_is_searched_alone_by_two_machines() {
    let mut cluster = sharing();
    let mut alone = 0;
    while !cluster.over {
        let held = cluster.held.remove(0);
        alone += u64::from(held.job.alone);
        cluster.report_as(&held, !held.job.alone, true).unwrap();
    }
    let status = cluster.solve.status(cluster.now);
    assert_eq!(status.answer_claims, status.answer_confirmed);
    assert!(alone >= 2 * status.answer_claims.unwrap(), "{alone}, {:?}", status.answer_claims);
    assert!(cluster.solve.shares());
}

#[test]
fn hearsay_is_refused_of_what_was_to_be_searched_alone() {
    let mut cluster = sharing();
    while !cluster.held[0].job.alone {
        let held = cluster.held.remove(0);
        cluster.report_as(&held, true, true).unwrap();
    }
    let held = cluster.held.remove(0);
    let refused = cluster.report_as(&held, true, true);
    assert_eq!(refused, Err(Refusal::BadFindings(held.lease, FindingsError::Hearsay)));
}

#[test]
fn sharing_ends_with_the_first_contradiction_and_the_answer_is_right() {
    let mut cluster = sharing();
    let value = true_value(cluster.solve.settings());
    let mut told = 0;
    for _ in 0..10_000 {
        if cluster.over {
            break;
        }
        let held = cluster.held.remove(0);
        // All that is not searched alone is wrong.
        cluster.report_as(&held, !held.job.alone, held.job.alone).unwrap();
        if !cluster.solve.shares() && told == 0 {
            told = cluster.ended_sharing;
            assert_eq!(told, 3, "every worker is told");
        }
    }
    let end = cluster.solve.end().expect("it comes to an end");
    assert_eq!(end.bounds, Bounds::exactly(value));
    assert!(!cluster.solve.shares() && cluster.ended_sharing == 3, "it ends once");
    let status = cluster.solve.status(cluster.now);
    assert_eq!(status.quarantined, Vec::<String>::new());
}

#[test]
fn a_solve_that_shares_nothing_has_all_of_it_searched_alone() {
    let mut cluster = Cluster::new(settings("connect4:4x4", "12212112", None));
    cluster.join(1);
    while !cluster.over {
        let held = cluster.held.remove(0);
        assert!(held.job.alone);
        cluster.report(held.worker, &held).unwrap();
    }
}

#[test]
fn a_sample_of_hearsay_is_for_another_machine_than_the_one_that_reported_it() {
    let mut believed = Believed::new(2, Confirm::Answer);
    let [one, two] = believed.machines[..] else { unreachable!() };
    believed.hears(Word::Hearsay(one), true);
    assert!(believed.is_wanted(), "the first claims of a machine are drawn");
    let next_for = |believed: &Believed, machine| {
        believed.belief.next_for(machine, Why::Sample, false).is_some()
    };
    assert!(!next_for(&believed, one) && next_for(&believed, two));
    // It says so by its own word, whatever it was asked.
    believed.hears(Word::Of(one), true);
    assert!(!next_for(&believed, one) && next_for(&believed, two), "nobody else has looked yet");
    believed.hears(Word::Of(two), true);
    assert!(!believed.is_wanted());
}

#[test]
fn whoever_is_put_out_may_have_told_others_what_is_not_true() {
    let mut cluster = sharing();
    cluster.solve.order("w1", Order::Kick, cluster.now).unwrap();
    assert!(!cluster.solve.shares());
    // And that outlives a restart, from a snapshot too.
    let settings = cluster.solve.settings().clone();
    let taken_up = Solve::resume(settings, 1_000, vec![cluster.solve.snapshot()], []).unwrap();
    assert!(!taken_up.shares());
}

#[test]
fn sharing_ends_when_two_tell_the_contrary() {
    let mut cluster = sharing();
    let told = |holds| {
        vec![jlpns_search::SolvedPosition { key: 7, threshold: Threshold(1), holds, work: 2_000 }]
    };
    let (one, two) = (cluster.workers[0], cluster.workers[1]);
    let mut tell = |worker, holds| {
        let event = Event::Solved { worker, solved: told(holds) };
        cluster.solve.handle(event, cluster.now).unwrap();
        cluster.solve.shares()
    };
    assert!(tell(one, true) && tell(two, true));
    assert!(!tell(two, false));
}
