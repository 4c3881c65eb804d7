//! Answers that are confirmed by proof: what machines say, however many, is not one.

use super::believed::{Believed, THRESHOLD};
use super::*;
use crate::belief::{Confirm, Judgement, Keys, MachineId, Standing, ThresholdAt, Word};

const PROOF: ProofId = ProofId([7; 32]);

#[test]
fn machines_that_agree_prove_nothing_and_a_certificate_does() {
    let mut believed = Believed::new(2, Confirm::Proof);
    let [one, two] = believed.machines[..] else { unreachable!() };
    assert_eq!(believed.hears(Word::Of(one), true), []);
    assert_eq!(believed.open(Confirm::Answer, true), 1);
    assert_eq!(believed.hears(Word::Of(two), true), []);
    assert_eq!(believed.open(Confirm::Answer, true), 0, "two machines say so");
    assert_eq!(believed.open(Confirm::Proof, true), 1, "nobody has proved it");
    assert_eq!(believed.hears(Word::Proof, true), []);
    assert_eq!(believed.standing(), (true, Standing::Proved));
    assert_eq!(believed.open(Confirm::Proof, true), 0);
    assert_eq!(believed.belief.confirmed(), 1, "it was confirmed before");
}

#[test]
fn nobody_is_outvoted_where_there_will_be_a_certificate() {
    let mut believed = Believed::new(3, Confirm::Proof);
    let [one, two, three] = believed.machines[..] else { unreachable!() };
    believed.hears(Word::Of(one), true);
    believed.hears(Word::Of(two), true);
    assert_eq!(believed.hears(Word::Of(three), false), [Judgement::Overruled]);
    assert!(!believed.belief.is_quarantined(three), "one against two");
    let found = believed.hears(Word::Proof, false);
    assert_eq!(found, [Judgement::FoundOut(one), Judgement::FoundOut(two)]);
    assert_eq!(believed.standing(), (false, Standing::Proved));
    // Whoever says the contrary of what is proved is wrong.
    let found = believed.hears(Word::Of(three), true);
    assert_eq!(found, [Judgement::FoundOut(three)]);
    assert_eq!(believed.standing(), (false, Standing::Proved));
}

#[test]
fn nor_is_anybody_where_two_contradict_each_other_and_a_third_one_agrees() {
    let mut believed = Believed::new(3, Confirm::Proof);
    let [one, two, three] = believed.machines[..] else { unreachable!() };
    believed.hears(Word::Of(one), true);
    assert!(matches!(believed.hears(Word::Of(two), false)[..], [Judgement::Disputed { .. }]));
    assert_eq!(believed.hears(Word::Of(three), true), []);
    assert!(believed.machines.iter().all(|&machine| !believed.belief.is_quarantined(machine)));
    assert_eq!(believed.hears(Word::Proof, false), [Judgement::FoundOut(one)]);
}

#[test]
fn a_certificate_shows_nothing_of_what_else_came_with_it() {
    let mut believed = Believed::new(1, Confirm::Proof);
    let (child, key) = (Move(3), believed.key());
    let keys = Keys { position: key, children: vec![(child, key + 1)] };
    let [yes, no] = [true, false].map(EffortPair::solved);
    for second in [no, EffortPair::UNIT] {
        let below = ChildFindings { mv: child, efforts: vec![yes, yes] };
        let findings = Findings {
            efforts: vec![yes, second],
            children: vec![below],
            nodes: 1,
            most_proving_move: None,
        };
        let about = (&keys, &[][..]);
        assert_eq!(believed.belief.take_in(1, Word::Proof, about, THRESHOLD, &findings), []);
        let claimed: Vec<ThresholdAt> = believed.belief.claims().all().map(|(at, _)| at).collect();
        assert_eq!(claimed, [(key, THRESHOLD.0)]);
    }
}

#[test]
fn a_word_tells_something_if_it_is_the_second_one_or_the_contrary() {
    let mut believed = Believed::new(2, Confirm::Answer);
    let [one, two] = believed.machines[..] else { unreachable!() };
    let [yes, no] = [true, false].map(|holds| [EffortPair::solved(holds)]);
    let key = believed.key();
    let tells = |believed: &Believed, machine, efforts: &[EffortPair]| {
        believed.belief.would_learn(machine, key, THRESHOLD, efforts)
    };
    assert!(!tells(&believed, one, &yes), "nothing is claimed");
    believed.hears(Word::Hearsay(one), true);
    assert!(tells(&believed, one, &yes), "it is nobody's own word");
    believed.hears(Word::Of(one), true);
    assert!(!tells(&believed, one, &yes), "it has said so");
    assert!(tells(&believed, two, &yes) && tells(&believed, one, &no));
    assert!(!tells(&believed, two, &[EffortPair::UNIT]));
    believed.hears(Word::Of(two), true);
    assert!(!tells(&believed, two, &yes) && tells(&believed, two, &no));
}

#[test]
fn what_is_proved_stays_when_the_machine_that_said_it_first_is_put_out() {
    let mut believed = Believed::new(1, Confirm::Proof);
    let one = believed.machines[0];
    believed.hears(Word::Of(one), true);
    believed.hears(Word::Proof, true);
    assert!(believed.belief.put_out(one));
    assert_eq!(believed.standing(), (true, Standing::Proved));
    assert_eq!(believed.open(Confirm::Proof, true), 0);
}

#[test]
fn the_coordinators_own_search_gives_way_to_a_certificate() {
    let mut believed = Believed::new(0, Confirm::Proof);
    believed.hears(Word::Of(MachineId::COORDINATOR), true);
    assert_eq!(believed.open(Confirm::Proof, true), 1, "a search is no proof");
    assert_eq!(believed.hears(Word::Proof, false), [Judgement::TakenBack]);
    assert_eq!(believed.standing(), (false, Standing::Proved));
}

/// A cluster that has an answer by one machine's word, and has to prove one claim.
fn to_be_proved() -> Cluster {
    let mut settings = settings("connect4:4x4", "12212112", Some(">=draw"));
    settings.job_nodes = 1_000_000;
    settings.belief.confirm = Confirm::Proof;
    let mut cluster = Cluster::new(settings);
    cluster.join(1);
    while !cluster.held[0].job.prove {
        let held = cluster.held.remove(0);
        cluster.report(held.worker, &held).unwrap();
        assert!(!cluster.over, "it is one machine's word");
    }
    assert_eq!(cluster.solve.status(cluster.now).answer_claims, Some(1));
    cluster
}

impl Cluster {
    /// Reports what was found, with what was made of its certificate.
    fn report_with(
        &mut self,
        held: &Held,
        certificate: impl FnOnce(Examined) -> Examined,
    ) -> Result<(), Refusal> {
        let findings = run(&self.solve.settings().spec, &held.job);
        let Held { worker, lease, job } = held;
        let examined = self.solve.examiner().examine(&job.moves, job.question, &findings);
        let examined = examined.map(certificate);
        let (worker, lease, elapsed) = (*worker, *lease, Duration::from_millis(1));
        self.send(Event::Reported {
            worker,
            lease,
            subject: None,
            examined,
            findings,
            elapsed,
            hearsay: false,
        })
    }
}

#[test]
fn an_answer_counts_when_a_certificate_has_come() {
    let mut cluster = to_be_proved();
    let held = cluster.held.remove(0);
    assert!(held.job.prove, "the machine that said so is to prove it");
    cluster.report_with(&held, |examined| examined.with_proof(PROOF)).unwrap();
    assert!(cluster.over);
    let status = cluster.solve.status(cluster.now);
    assert_eq!((status.answer_claims, status.answer_confirmed), (Some(1), Some(1)));
}

#[test]
fn an_answer_without_a_certificate_is_refused_and_asked_for_again() {
    for with in [false, true] {
        let mut cluster = to_be_proved();
        let held = cluster.held.remove(0);
        let refused = cluster.report_with(&held, |examined| {
            if with { examined.with_bad_certificate("torn".to_owned()) } else { examined }
        });
        let expected = if with {
            FindingsError::Certificate("torn".to_owned())
        } else {
            FindingsError::NoCertificate
        };
        assert_eq!(refused, Err(Refusal::BadFindings(held.lease, expected)));
        assert!(!cluster.over);
        let again = cluster.held.remove(0);
        assert!(again.job.prove && again.lease != held.lease);
        cluster.report_with(&again, |examined| examined.with_proof(PROOF)).unwrap();
        assert!(cluster.over);
    }
}

#[test]
fn a_wrong_search_of_the_coordinators_own_is_taken_back_in_the_tree_too() {
    let mut settings = settings("connect4:4x4", "12212112", Some(">=draw"));
    settings.job_nodes = 1_000_000;
    settings.belief.confirm = Confirm::Proof;
    let report = Report {
        machine: MachineId::COORDINATOR,
        lease: LeaseId(1),
        moves: settings.moves.clone(),
        question: Question::Threshold(THRESHOLD),
        findings: Findings {
            efforts: vec![EffortPair::solved(false)],
            children: Vec::new(),
            nodes: 5,
            most_proving_move: None,
        },
        hearsay: false,
        elapsed: Duration::from_millis(1),
        at: Duration::from_millis(2),
        proof: None,
    };
    let records = [(1, Record::Secret(3)), (2, Record::Report(report))];
    let mut cluster = Cluster::new(settings.clone());
    cluster.solve = Solve::resume(settings, 10, Vec::new(), records).unwrap();
    cluster.join(1);
    for _ in 0..50 {
        if cluster.over {
            break;
        }
        let held = cluster.held.remove(0);
        if held.job.prove {
            cluster.report_with(&held, |examined| examined.with_proof(PROOF)).unwrap();
        } else {
            cluster.report(held.worker, &held).unwrap();
        }
    }
    assert_eq!(cluster.solve.end().map(|end| end.proved), Some(Some(true)));
}

/// Whoever has made a claim is asked to prove it first, and not again; the coordinator does what others cannot.
#[test]
fn a_machine_that_cannot_prove_what_it_says_does_not_stop_the_solve() {
    let unsolved = Findings {
        efforts: vec![EffortPair::UNIT],
        children: Vec::new(),
        nodes: 1,
        most_proving_move: None,
    };
    for (declines, has_other) in [(true, true), (true, false), (false, true), (false, false)] {
        let mut cluster = to_be_proved();
        if has_other {
            cluster.join(1);
        }
        let mut asked = 0;
        for _ in 0..50 {
            if cluster.over {
                break;
            }
            if let Some((number, job)) = cluster.own_searches.pop() {
                assert!(job.prove && !has_other, "another machine can");
                let findings = run(&cluster.solve.settings().spec, &job);
                let (elapsed, proof) = (Duration::from_millis(1), Some(PROOF));
                cluster.send(Event::Searched { number, findings, elapsed, proof }).unwrap();
                continue;
            }
            if cluster.held.is_empty() {
                cluster.pass(Duration::from_secs(60));
                continue;
            }
            let held = cluster.held.remove(0);
            let Held { worker, lease, .. } = held;
            assert!(held.job.prove);
            if worker != WorkerId(1) {
                cluster.report_with(&held, |examined| examined.with_proof(PROOF)).unwrap();
                continue;
            }
            asked += 1;
            if declines {
                cluster.send(Event::Declined { worker, lease }).unwrap();
                continue;
            }
            let (findings, elapsed) = (unsolved.clone(), Duration::from_millis(1));
            let (subject, examined) = (None, None);
            cluster
                .send(Event::Reported {
                    worker,
                    lease,
                    subject,
                    examined,
                    findings,
                    elapsed,
                    hearsay: false,
                })
                .unwrap();
        }
        assert!(cluster.over, "declines {declines}, another one {has_other}");
        assert!(asked <= 2, "it was asked {asked} times");
    }
}

/// Machines whose owners come back to them have not failed at a proof; but whoever only ever pauses is not waited for.
#[test]
fn a_proof_that_is_given_back_with_a_pause_is_asked_for_again_but_not_for_ever() {
    for times in [5, 8] {
        let mut cluster = to_be_proved();
        cluster.join(1);
        for _ in 0..times {
            let Held { worker, lease, ref job } = cluster.held[0];
            assert!(job.prove && cluster.own_searches.is_empty(), "a machine is there");
            let readiness = Readiness::Paused("somebody is here".to_owned());
            cluster.send(Event::Readiness { worker, readiness }).unwrap();
            cluster.held.remove(0);
            cluster.send(Event::Declined { worker, lease }).unwrap();
            cluster.send(Event::Readiness { worker, readiness: Readiness::Ready }).unwrap();
        }
        let by_workers = cluster.held.iter().filter(|held| held.job.prove).count();
        let by_itself = cluster.own_searches.len();
        let expected = if times < 8 { (1, 0) } else { (0, 1) };
        assert_eq!((by_workers, by_itself), expected, "after {times} times");
    }
}
