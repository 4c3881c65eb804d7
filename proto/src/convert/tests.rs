use proptest::prelude::*;
use prost::Message;

use super::*;

fn question() -> impl Strategy<Value = Question> {
    prop_oneof![
        any::<u8>().prop_map(|t| Question::Threshold(Threshold(t))),
        (0u8..254).prop_flat_map(|lower| (Just(lower), lower + 1..=254)).prop_map(
            |(lower, upper)| Question::Value(Bounds {
                lower: Outcome(lower),
                upper: Outcome(upper)
            })
        ),
    ]
}

fn job() -> impl Strategy<Value = Job> {
    (
        prop::collection::vec(any::<u16>().prop_map(Move), 0..60),
        question(),
        prop::sample::select(&Algorithm::ALL[..9]),
        prop_oneof![Just(Initialisation::Unit), Just(Initialisation::Mobility)],
        any::<(bool, bool, bool)>(),
        (0.0..f64::MAX, f64::MIN_POSITIVE..f64::MAX, 0.0..f64::MAX),
        1..=u64::MAX,
    )
        .prop_map(
            |(moves, question, sub_search, initialisation, wanted, (a, b, epsilon), budget)| {
                let (knowledge, prove, alone) = wanted;
                Job {
                    moves,
                    question,
                    sub_search,
                    initialisation,
                    knowledge,
                    prove,
                    alone,
                    growth: Growth { a, b },
                    epsilon,
                    budget,
                }
            },
        )
}

fn pair() -> impl Strategy<Value = EffortPair> {
    prop_oneof![
        Just(EffortPair::PROVED),
        Just(EffortPair::DISPROVED),
        (1..u32::MAX, 1..u32::MAX).prop_map(|(p, d)| EffortPair {
            proof: Effort::from_bits(p),
            disproof: Effort::from_bits(d)
        }),
    ]
}

fn findings() -> impl Strategy<Value = Findings> {
    (1usize..6, prop::collection::btree_set(any::<u16>(), 0..8)).prop_flat_map(|(count, codes)| {
        let efforts = prop::collection::vec(pair(), count);
        let codes: Vec<Move> = codes.into_iter().map(Move).collect();
        let child_efforts =
            prop::collection::vec(prop::collection::vec(pair(), count), codes.len());
        let best = if codes.is_empty() {
            prop::option::of(any::<u16>().prop_map(Move)).boxed()
        } else {
            prop::option::of(prop::sample::select(codes.clone())).boxed()
        };
        (efforts, child_efforts, 0..=MAX_NODES, best).prop_map(
            move |(efforts, child_efforts, nodes, most_proving_move)| Findings {
                efforts,
                children: codes
                    .iter()
                    .zip(child_efforts)
                    .map(|(&mv, efforts)| ChildFindings { mv, efforts })
                    .collect(),
                nodes,
                most_proving_move,
            },
        )
    })
}

proptest! {
    #[test]
    fn a_job_survives_the_wire(job in job()) {
        let bytes = v1::Job::from(&job).encode_to_vec();
        let back = Job::try_from(v1::Job::decode(&bytes[..]).expect("it was encoded"));
        prop_assert_eq!(back, Ok(job));
    }

    #[test]
    fn findings_survive_the_wire(findings in findings()) {
        let bytes = v1::Findings::from(&findings).encode_to_vec();
        let back = Findings::try_from(v1::Findings::decode(&bytes[..]).expect("it was encoded"));
        prop_assert_eq!(back, Ok(findings));
    }

    /// Whatever is accepted can be sent again and is then the same.
    #[test]
    fn what_random_bytes_decode_to_is_refused_or_sound(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(Ok(findings)) = v1::Findings::decode(&bytes[..]).map(Findings::try_from) {
            prop_assert_eq!(Findings::try_from(v1::Findings::from(&findings)), Ok(findings));
        }
        if let Ok(Ok(job)) = v1::Job::decode(&bytes[..]).map(Job::try_from) {
            prop_assert_eq!(Job::try_from(v1::Job::from(&job)), Ok(job));
        }
    }
}

fn sound_job() -> v1::Job {
    v1::Job {
        moves: vec![3, 3],
        question: Some(Question::Threshold(Threshold(1)).into()),
        sub_search: v1::Algorithm::Pn2.into(),
        initialisation: v1::Initialisation::Unit.into(),
        budget: 1000,
        knowledge: true,
        prove: true,
        alone: true,
        growth_a: 0.0,
        growth_b: 0.5,
        epsilon: 0.0,
    }
}

fn sound_findings() -> v1::Findings {
    v1::Findings {
        efforts: vec![3, 4],
        children: vec![
            v1::ChildFindings { r#move: 0, efforts: vec![u32::MAX, 0] },
            v1::ChildFindings { r#move: 1, efforts: vec![3, 4] },
        ],
        nodes: 17,
        most_proving_move: Some(1),
    }
}

#[test]
fn each_bad_field_of_a_job_is_named() {
    assert!(Job::try_from(sound_job()).is_ok());
    type Spoil = fn(&mut v1::Job);
    let cases: [(Spoil, &str); 15] = [
        (|job| job.growth_a = -1.0, "job.growth_a is -1; it must be a finite number from 0"),
        (|job| job.growth_a = f64::NAN, "job.growth_a is NaN; it must be a finite number from 0"),
        (|job| job.growth_b = 0.0, "job.growth_b is 0; it must be a finite number above 0"),
        (
            |job| job.growth_b = f64::INFINITY,
            "job.growth_b is inf; it must be a finite number above 0",
        ),
        (|job| job.epsilon = -0.5, "job.epsilon is -0.5; it must be a finite number from 0"),
        (|job| job.moves[1] = 65536, "job.moves is 65536; it must be 0 to 65535"),
        (|job| job.moves = vec![0; 4097], "job.moves has 4097 entries; it may have at most 4096"),
        (|job| job.question = None, "job.question is missing; it must be set"),
        (
            |job| job.question = Some(v1::Question { kind: None }),
            "question.kind is missing; it must be set",
        ),
        (
            |job| {
                job.question =
                    Some(v1::Question { kind: Some(v1::question::Kind::Threshold(256)) });
            },
            "question.threshold is 256; it must be 0 to 255",
        ),
        (
            |job| {
                let bounds = v1::Bounds { lower: 2, upper: 2 };
                job.question = Some(v1::Question { kind: Some(v1::question::Kind::Value(bounds)) });
            },
            "the relevancy bounds 2 to 2 are empty; the lower must be less than the upper",
        ),
        (
            |job| {
                let bounds = v1::Bounds { lower: 2, upper: 255 };
                job.question = Some(v1::Question { kind: Some(v1::question::Kind::Value(bounds)) });
            },
            "question.value.upper is 255; it must be 0 to 254",
        ),
        (
            |job| job.sub_search = 77,
            "job.sub_search is 77, which names nothing; it must be one of the values of Algorithm",
        ),
        (
            |job| job.sub_search = v1::Algorithm::Dichotomic.into(),
            "dichotomic cannot be the sub-search of a job; any other algorithm can",
        ),
        (|job| job.budget = 0, "job.budget is 0; it must be 1 to 18446744073709551615"),
    ];
    for (spoil, sentence) in cases {
        let mut job = sound_job();
        spoil(&mut job);
        let error = Job::try_from(job).expect_err(sentence);
        assert_eq!(error.to_string(), sentence);
    }
}

#[test]
fn each_bad_field_of_findings_is_named() {
    assert!(Findings::try_from(sound_findings()).is_ok());
    type Spoil = fn(&mut v1::Findings);
    let cases: [(Spoil, &str); 9] = [
        (
            |f| f.efforts = vec![],
            "a list of 0 effort numbers is no list of pairs; its length must be even, 2 to 508",
        ),
        (
            |f| f.efforts = vec![1, 2, 3],
            "a list of 3 effort numbers is no list of pairs; its length must be even, 2 to 508",
        ),
        (
            |f| f.efforts = vec![0, 4],
            "the effort numbers 0 and 4 contradict each other; one must be 0 exactly when the \
             other is 4294967295",
        ),
        (
            |f| f.children[1].efforts = vec![0, 0],
            "the effort numbers 0 and 0 contradict each other; one must be 0 exactly when the \
             other is 4294967295",
        ),
        (
            |f| f.children[1].efforts = vec![1, 1, 1, 1],
            "the child of move 1 has 4 effort numbers; it must have 2, as the position",
        ),
        (
            |f| f.children[1].r#move = 0,
            "the findings have two children for move 0; each move must come once",
        ),
        (
            |f| f.children[1].r#move = 70000,
            "findings.children.move is 70000; it must be 0 to 65535",
        ),
        (
            |f| f.nodes = MAX_NODES + 1,
            "findings.nodes is 9007199254740993; it must be 0 to 9007199254740992",
        ),
        (
            |f| f.most_proving_move = Some(2),
            "the best move 2 is not among the children; it must be one of them",
        ),
    ];
    for (spoil, sentence) in cases {
        let mut findings = sound_findings();
        spoil(&mut findings);
        let error = Findings::try_from(findings).expect_err(sentence);
        assert_eq!(error.to_string(), sentence);
    }
}

#[test]
fn every_algorithm_has_its_own_number() {
    for known in Algorithm::ALL {
        assert_eq!(algorithm("field", v1::Algorithm::from(known).into()), Ok(known));
    }
}

#[test]
fn worker_names_can_be_shown_on_one_line() {
    for good in ["a", "host-1234", "Rechner im Keller", &"x".repeat(MAX_NAME)] {
        assert_eq!(worker_name(good), Ok(()));
    }
    for bad in ["", "two\nlines", "bell\u{7}", &"x".repeat(MAX_NAME + 1)] {
        assert_eq!(worker_name(bad), Err(WireError::Name));
    }
}
