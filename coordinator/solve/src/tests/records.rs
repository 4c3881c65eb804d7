//! A solve without workers of its own around it: what it takes in, has recorded and acknowledges.

use super::*;

/// What a solve asks to have recorded, and the snapshots that it makes.
fn kept(solve: &mut Solve) -> (Vec<u64>, Vec<Snapshot>, Vec<(LeaseId, Job)>) {
    let (mut records, mut snapshots, mut leases) = (Vec::new(), Vec::new(), Vec::new());
    for action in solve.take_actions() {
        match action {
            Action::Record { number, .. } => records.push(number),
            Action::Snapshot(snapshot) => snapshots.push(*snapshot),
            Action::Lease { lease, job, .. } => leases.push((lease, job)),
            _ => {}
        }
    }
    (records, snapshots, leases)
}

#[test]
fn while_a_snapshot_is_made_slots_get_jobs_and_records_wait() {
    let mut settings = settings("connect4:4x4", "", None);
    (settings.journal, settings.snapshot_records, settings.snapshot_slice) = (true, 20, 3);
    let spec = settings.spec.clone();
    let mut solve = Solve::new(settings.clone()).unwrap();
    let worker = WorkerId(1);
    let mut now = Duration::ZERO;
    solve.handle(Event::Joined { worker, info: info("w", 2) }, now).unwrap();
    let mut out = Vec::new();
    let (mut slices, mut granted_meanwhile, mut at_once, mut made) = (0, 0, None, None);
    while made.is_none() {
        let (records, snapshots, leases) = kept(&mut solve);
        let making = solve.snapshots.is_making_one();
        granted_meanwhile += if making { leases.len() } else { 0 };
        out.extend(leases);
        let through = records.last().copied();
        made = snapshots.into_iter().next();
        let applied = solve.ledger.applied();
        if let Some(through) = through {
            solve.handle(Event::Recorded { through }, now).unwrap();
        }
        assert!(!making || solve.ledger.applied() == applied, "what is durable waits");
        if out.is_empty() || making {
            slices += u32::from(making);
            if making {
                at_once.get_or_insert_with(|| solve.snapshot());
            }
            now = solve.next_deadline().expect("the next slice").max(now);
            solve.tick(now);
        } else if made.is_none() {
            let (lease, job) = out.remove(0);
            let (findings, elapsed) = (run(&spec, &job), Duration::from_millis(1));
            let subject = None;
            let report = Event::Reported {
                worker,
                lease,
                subject,
                examined: None,
                findings,
                elapsed,
                hearsay: false,
            };
            solve.handle(report, now).unwrap();
        }
    }
    assert!(slices > 5 && granted_meanwhile > 0, "{slices} slices, {granted_meanwhile} leases");
    let made = made.unwrap();
    assert!(solve.ledger.applied() >= made.through, "what waited counts now");
    // What leases pretend of nodes above the frontier is in neither.
    let taken_up =
        |snapshot| Solve::resume(settings.clone(), 1_000, vec![snapshot], []).unwrap().snapshot();
    let (made, at_once) = (taken_up(made), taken_up(at_once.unwrap()));
    assert!(made == at_once, "it is not what it was after that record");
}

#[test]
fn the_time_of_earlier_lives_counts() {
    let mut settings = settings("connect4:4x4", "", None);
    (settings.journal, settings.job_nodes) = (true, 5);
    let mut solve = Solve::new(settings.clone()).unwrap();
    let mut written: Vec<(u64, Record)> = Vec::new();
    for life in 1..=3_u64 {
        let (worker, now) = (WorkerId(life), Duration::from_secs(10));
        solve.handle(Event::Joined { worker, info: info("w", 1) }, Duration::ZERO).unwrap();
        let mut lease = None;
        for action in solve.take_actions() {
            match action {
                Action::Lease { lease: id, job, .. } => lease = Some((id, job)),
                Action::Record { number, record } => written.push((number, (*record).clone())),
                _ => {}
            }
        }
        let (lease, job) = lease.expect("a job");
        let (findings, elapsed) = (run(&settings.spec, &job), Duration::from_millis(1));
        let report = Event::Reported {
            worker,
            lease,
            subject: None,
            examined: None,
            findings,
            elapsed,
            hearsay: false,
        };
        solve.handle(report, now).unwrap();
        for action in solve.take_actions() {
            if let Action::Record { number, record } = action {
                written.push((number, (*record).clone()));
            }
        }
        let through = written.last().expect("the report").0;
        solve.handle(Event::Recorded { through }, now).unwrap();
        let before = Duration::from_secs(10 * life);
        assert_eq!(solve.status(now).seconds, before.as_secs_f64());
        // From a snapshot and from records alike.
        let snapshot = solve.snapshot();
        assert_eq!(snapshot.time, before);
        let first = 1_000 * life;
        let taken_up = Solve::resume(settings.clone(), first, vec![snapshot], []).unwrap();
        solve = Solve::resume(settings.clone(), first, Vec::new(), written.clone()).unwrap();
        for taken_up in [&taken_up, &solve] {
            let now = before + Duration::from_secs(3);
            assert_eq!(taken_up.status(Duration::from_secs(3)).seconds, now.as_secs_f64());
        }
    }
}

#[test]
fn what_was_examined_for_another_job_counts_for_none() {
    let mut settings = settings("connect4:4x4", "", None);
    (settings.goal, settings.sub_search) = (Some(Goal::AtLeast(Outcome(1))), Algorithm::Pns);
    let mut solve = Solve::new(settings.clone()).unwrap();
    let (worker, now) = (WorkerId(1), Duration::ZERO);
    solve.handle(Event::Joined { worker, info: info("w", 2) }, now).unwrap();
    let (_, _, leases) = kept(&mut solve);
    let (lease, job) = leases[0].clone();
    let elapsed = Duration::from_millis(1);
    let findings = run(&settings.spec, &Job { budget: 5, ..job });
    let (subject, examined) = (None, None);
    solve
        .handle(
            Event::Reported { worker, lease, subject, examined, findings, elapsed, hearsay: false },
            now,
        )
        .unwrap();
    let (_, _, leases) = kept(&mut solve);
    let [(lease, job), (_, other)] = &leases[..] else { panic!("two slots, two jobs: {leases:?}") };
    // That the position of `job` is settled, with what was examined for the position of `other`.
    let findings = Findings {
        efforts: vec![EffortPair::solved(true)],
        children: Vec::new(),
        nodes: 1,
        most_proving_move: None,
    };
    let examined = solve.examiner().examine(&other.moves, other.question, &findings);
    let key = solve.examiner().keys(&job.moves).unwrap().position;
    assert_ne!(key, solve.examiner().keys(&other.moves).unwrap().position);
    let (lease, subject) = (*lease, None);
    solve
        .handle(
            Event::Reported { worker, lease, subject, examined, findings, elapsed, hearsay: false },
            now,
        )
        .unwrap();
    let claimed: Vec<u128> = solve.belief.claims().all().map(|((key, _), _)| key).collect();
    assert!(claimed.contains(&key), "the job was about {:?}", job.moves);
    let of_other = solve.examiner().keys(&other.moves).unwrap().position;
    assert!(!claimed.contains(&of_other), "nothing was said about {:?}", other.moves);
}

#[test]
fn a_search_that_counts_on_by_ones_does_not_keep_its_lease_for_ever() {
    let settings = settings("connect4:4x4", "", None);
    let mut solve = Solve::new(settings.clone()).unwrap();
    let (worker, mut now) = (WorkerId(1), Duration::ZERO);
    solve.handle(Event::Joined { worker, info: info("w", 1) }, now).unwrap();
    let (_, _, mut leases) = kept(&mut solve);
    let (lease, job) = leases.remove(0);
    let mut findings = run(&settings.spec, &job);
    let (subject, examined, elapsed) = (None, None, Duration::from_millis(20));
    let report = Event::Reported {
        worker,
        lease,
        subject,
        examined,
        findings: findings.clone(),
        elapsed,
        hearsay: false,
    };
    solve.handle(report, now).unwrap();
    let (_, _, leases) = kept(&mut solve);
    let [(lease, _)] = leases[..] else { panic!("one slot, one job: {leases:?}") };
    findings.efforts.iter_mut().for_each(|pair| *pair = EffortPair::UNIT);
    (findings.children, findings.most_proving_move, findings.nodes) = (Vec::new(), None, 0);
    while solve.status(now).leases_stalled == 0 {
        assert!(now < 2 * settings.stall_after, "its search gets no further");
        findings.nodes += 1;
        solve.handle(Event::Progress { worker, lease, findings: findings.clone() }, now).unwrap();
        now += settings.lease_length / 3;
        solve.tick(now);
    }
}

#[test]
fn a_report_that_waits_to_be_durable_is_acknowledged_to_its_own_machine() {
    let mut settings = settings("connect4:4x4", "", None);
    settings.journal = true;
    let spec = settings.spec.clone();
    let mut solve = Solve::new(settings).unwrap();
    let (honest, thief, now) = (WorkerId(1), WorkerId(2), Duration::ZERO);
    for (worker, name) in [(honest, "honest"), (thief, "thief")] {
        solve.handle(Event::Joined { worker, info: info(name, 1) }, now).unwrap();
    }
    let (records, _, leases) = kept(&mut solve);
    let (lease, job) = leases[0].clone();
    let findings = run(&spec, &job);
    let elapsed = Duration::from_millis(1);
    let report = |worker| {
        let (subject, examined, findings) = (None, None, findings.clone());
        Event::Reported { worker, lease, subject, examined, findings, elapsed, hearsay: false }
    };
    let refused = solve.handle(report(thief), now).unwrap_err();
    assert_eq!(refused, Refusal::NotTheHolder(thief, lease), "it is the other one's");
    solve.take_actions();
    solve.handle(report(honest), now).unwrap();
    let refused = solve.handle(report(thief), now).unwrap_err();
    assert_eq!(refused, Refusal::NotTheHolder(thief, lease));
    let through = records.last().unwrap() + 1;
    let early = solve.take_actions().into_iter();
    let mut early = early.filter(|action| matches!(action, Action::Acknowledge { .. }));
    assert_eq!(early.next(), None, "it is not durable yet");
    solve.handle(Event::Recorded { through }, now).unwrap();
    let told = solve.take_actions().into_iter().find_map(|action| match action {
        Action::Acknowledge { worker, lease: of } if of == lease => Some(worker),
        _ => None,
    });
    assert_eq!(told, Some(honest));
}

#[test]
fn a_lease_that_was_lost_is_still_its_machines() {
    let settings = settings("connect4:4x4", "", None);
    let mut solve = Solve::new(settings.clone()).unwrap();
    let now = Duration::ZERO;
    let [honest, thief, again] = [1, 2, 3].map(WorkerId);
    solve.handle(Event::Joined { worker: honest, info: info("honest", 1) }, now).unwrap();
    let (_, _, leases) = kept(&mut solve);
    let (lease, job) = leases[0].clone();
    let findings = run(&settings.spec, &job);
    solve.handle(Event::Left { worker: honest }, now).unwrap();
    for (worker, name) in [(thief, "thief"), (again, "honest")] {
        solve.handle(Event::Joined { worker, info: info(name, 1) }, now).unwrap();
    }
    let report = |worker| Event::Reported {
        worker,
        lease,
        subject: None,
        examined: None,
        findings: findings.clone(),
        elapsed: Duration::from_millis(1),
        hearsay: false,
    };
    let refused = solve.handle(report(thief), now).unwrap_err();
    assert_eq!(refused, Refusal::NotTheHolder(thief, lease));
    solve.handle(report(again), now).unwrap();
    assert_eq!(solve.status(now).jobs, 1);
}

#[test]
fn a_machine_that_was_put_out_does_not_come_back_in_the_same_life() {
    let mut solve = Solve::new(settings("connect4:4x4", "", None)).unwrap();
    let now = Duration::ZERO;
    solve.handle(Event::Joined { worker: WorkerId(1), info: info("w", 1) }, now).unwrap();
    solve.order("w", Order::Kick, now).unwrap();
    let worker = WorkerId(2);
    let refused = solve.handle(Event::Joined { worker, info: info("w", 1) }, now).unwrap_err();
    assert!(matches!(refused, Refusal::Quarantined { .. }), "{refused}");
    solve.take_actions();
    solve.handle(Event::Joined { worker: WorkerId(3), info: info("other", 1) }, now).unwrap();
    let (_, _, leases) = kept(&mut solve);
    assert!(!leases.is_empty(), "others come as ever");
}

#[test]
fn a_snapshot_that_is_unfit_and_no_records_are_no_empty_solve() {
    let mut settings = settings("connect4:4x4", "", None);
    settings.journal = true;
    let snapshot = Solve::new(settings.clone()).unwrap().snapshot();
    let unfit = Snapshot { tree: vec![9], through: 44, ..snapshot };
    let refused = Solve::resume(settings, 1_000, vec![unfit], []).err().expect("nothing is known");
    assert!(matches!(refused, ResumeError::NoBeginning { reason: Some(_), first: None }));
    assert!(refused.to_string().ends_with("and there are no records"), "{refused}");
}

/// A slot that stood still is free when it says something, whatever that is worth.
#[test]
fn a_slot_that_was_stuck_works_again_after_a_report_that_is_refused() {
    let settings = settings("connect4:4x4", "", None);
    let mut solve = Solve::new(settings.clone()).unwrap();
    let (worker, mut now) = (WorkerId(1), Duration::ZERO);
    solve.handle(Event::Joined { worker, info: info("w", 1) }, now).unwrap();
    let (_, _, leases) = kept(&mut solve);
    let lease = leases[0].0;
    while solve.status(now).leases_stalled == 0 {
        assert!(now < 2 * settings.stall_after, "its search gets no further");
        solve.handle(Event::Renewed { worker, leases: vec![lease] }, now).unwrap();
        now += settings.lease_length / 3;
        solve.tick(now);
    }
    assert!(kept(&mut solve).2.is_empty(), "nobody knows when its slot will be free");
    let findings =
        Findings { efforts: Vec::new(), children: Vec::new(), nodes: 1, most_proving_move: None };
    let (subject, examined, elapsed) = (None, None, Duration::from_millis(1));
    let report =
        Event::Reported { worker, lease, subject, examined, findings, elapsed, hearsay: false };
    let refused = solve.handle(report, now).unwrap_err();
    assert!(matches!(refused, Refusal::BadFindings(..)), "{refused}");
    assert_eq!(kept(&mut solve).2.len(), 1, "it gets another lease");
}
