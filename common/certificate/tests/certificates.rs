//! Certificates that are made of what searches know, and read by the checker.

use std::io::Cursor;
use std::num::NonZero;

use jlpns_certificate::{Size, certify, check_piece, is_compactible};
use jlpns_games::spec::GameSpec;
use jlpns_games::{Game, Threshold, with_game};
use jlpns_minimax::{after_choices, value};
use jlpns_search::TranspositionTable;
use jlpns_search::strategy::Claim;
use jlpns_verify::{Failure, Settings, check};
use proptest::prelude::*;

/// Makes and reads the certificate of claims.
fn certificate(
    spec: &GameSpec,
    moves: &[jlpns_games::Move],
    claims: &[Claim],
    size: Size,
    threads: usize,
) -> Result<(Vec<u8>, String), String> {
    let table = TranspositionTable::with_bytes(1 << 20).unwrap();
    let settings = Settings { threads: NonZero::new(threads).unwrap(), ..Settings::default() };
    let mut file = Cursor::new(Vec::new());
    let made = certify(spec, moves, claims, size, &table, &|| false, &mut file, &settings, &mut ());
    let made = made.map_err(|error| error.to_string())?;
    let bytes = file.into_inner();
    let read = check(&bytes[..], &settings, &mut ()).expect("what was made holds");
    assert_eq!(read, made);
    Ok((bytes, read.header.statement()))
}

#[test]
fn what_the_papers_solved_is_certified() {
    for (spec, claims, statement) in [
        ("connect4:5x5", vec![(1, true), (2, false)], "connect4:5x5 is a draw (>=draw and <=draw)"),
        ("connect4:6x4", vec![(1, false)], "connect4:6x4 is a loss (<=loss)"),
        ("woodpush:11", vec![(1, true), (2, false)], "woodpush:11 is -1 (>=-1 and <=-1)"),
    ] {
        let spec: GameSpec = spec.parse().unwrap();
        let claims: Vec<Claim> = claims
            .into_iter()
            .map(|(threshold, holds)| Claim { threshold: Threshold(threshold), holds })
            .collect();
        let found = certificate(&spec, &[], &claims, Size::Quick, 2);
        assert_eq!(found.map(|(_, statement)| statement), Ok(statement.to_owned()));
    }
}

#[test]
fn one_thread_and_several_make_a_certificate_of_the_same_claim() {
    let spec: GameSpec = "connect4:5x5".parse().unwrap();
    let claim = [Claim { threshold: Threshold(1), holds: true }];
    let (one, statement) = certificate(&spec, &[], &claim, Size::Quick, 1).unwrap();
    assert_eq!(
        certificate(&spec, &[], &claim, Size::Quick, 1).unwrap().0,
        one,
        "the same file each time"
    );
    assert_eq!(certificate(&spec, &[], &claim, Size::Quick, 4).unwrap().1, statement);
}

/// How many numbers the certificate of one claim has, of each size.
fn positions(spec: &str, threshold: u8, holds: bool) -> [u64; 3] {
    let spec: GameSpec = spec.parse().unwrap();
    let claim = [Claim { threshold: Threshold(threshold), holds }];
    [Size::Quick, Size::Minimized, Size::Compact].map(|size| {
        let (file, _) = certificate(&spec, &[], &claim, size, 1).unwrap();
        assert_eq!(
            certificate(&spec, &[], &claim, size, 1).unwrap().0,
            file,
            "the same file each time"
        );
        check(&file[..], &Settings::default(), &mut ()).unwrap().positions
    })
}

#[test]
fn certificates_can_be_made_smaller() {
    for (spec, threshold, holds, most) in [
        ("connect4:4x4", 1, true, 10),
        ("connect4:4x4", 2, false, 2),
        ("connect4:5x4", 2, false, 3),
        ("connect4:6x4", 1, false, 200),
    ] {
        let [quick, minimized, compact] = positions(spec, threshold, holds);
        assert!(minimized < quick, "{spec}: {minimized} instead of {quick}");
        assert!(compact <= most && compact < minimized, "{spec}: {compact} of {minimized}");
    }
}

#[test]
fn only_connect_four_has_compact_certificates() {
    let spec: GameSpec = "woodpush:7".parse().unwrap();
    let claim = [Claim { threshold: Threshold(1), holds: true }];
    let refused = certificate(&spec, &[], &claim, Size::Compact, 1).unwrap_err();
    assert!(refused.contains("no compact certificates of woodpush:7"), "{refused}");
}

/// Of a file about something else no more is read than its header: its board may be one that takes long.
#[test]
fn a_piece_about_something_else_is_refused_by_its_header() {
    let spec: GameSpec = "woodpush:8".parse().unwrap();
    let claim = [Claim { threshold: Threshold(1), holds: true }];
    let (bytes, _) = certificate(&spec, &[], &claim, Size::Quick, 1).unwrap();
    let refused = |bytes: &[u8], spec: &str, moves: &str, goal: &str| {
        let spec = spec.parse().unwrap();
        match check_piece(bytes, &spec, moves, goal, &Settings::default()) {
            Err(Failure::Fails(why)) => why,
            other => panic!("{other:?}"),
        }
    };
    let whole = check_piece(&bytes[..], &spec, "", ">=-1", &Settings::default());
    assert_eq!(whole.unwrap().header.statement(), "woodpush:8 is at least -1 (>=-1)");

    let many = String::from_utf8_lossy(&bytes).find("\n\n").unwrap() + 2;
    let header = &bytes[..many];
    for (spec, moves, goal) in
        [("woodpush:9", "", ">=-1"), ("woodpush:8", "s0", ">=-1"), ("woodpush:8", "", ">=1")]
    {
        let why = format!(
            "it is to show that woodpush:8 is at least -1 (>=-1), and was to show {goal} of {spec} after '{moves}'"
        );
        assert_eq!(refused(header, spec, moves, goal), why);
    }
    let large = format!("woodpush:{}{}", "LR".repeat(12), ".".repeat(8));
    let large = String::from_utf8_lossy(header).replace("woodpush:8", &large);
    assert!(refused(large.as_bytes(), "woodpush:8", "", ">=-1").starts_with("it is to show that"));
}

#[test]
fn a_certificate_that_is_stopped_is_none() {
    let spec: GameSpec = "connect4:7x6".parse().unwrap();
    let claim = [Claim { threshold: Threshold(2), holds: true }];
    let table = TranspositionTable::with_bytes(1 << 20).unwrap();
    let (settings, mut file) = (Settings::default(), Cursor::new(Vec::new()));
    let made =
        certify(&spec, &[], &claim, Size::Quick, &table, &|| true, &mut file, &settings, &mut ());
    assert!(matches!(made, Err(jlpns_certificate::CertifyError::Stopped)), "{made:?}");
    let read = check(&file.into_inner()[..], &settings, &mut ());
    assert!(matches!(read, Err(Failure::Unreadable(_))), "{read:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn true_claims_are_certified_and_false_ones_are_not(
        spec in prop::sample::select(vec![
            "connect4:4x4", "connect4:5x3", "connect4:3x6", "connect4:10x2", "woodpush:7",
            "woodpush:8", "woodpush:LL..RR.R", "woodpush:LRL..RLR",
        ]),
        choices in prop::collection::vec(any::<usize>(), 0..8),
        size in prop::sample::select(vec![Size::Quick, Size::Minimized, Size::Compact]),
    ) {
        let spec: GameSpec = spec.parse().unwrap();
        let size = if is_compactible(&spec) || size != Size::Compact { size } else { Size::Quick };
        with_game!(spec.game(), game => {
            let (mut position, moves) = after_choices(game, &choices);
            if let Some(value) = value(game, &mut position, 1_000_000) {
                for threshold in (1..game.scale().len() as u8).map(Threshold) {
                    let claim = Claim { threshold, holds: threshold.holds(value) };
                    let found = certificate(&spec, &moves, &[claim], size, 1);
                    prop_assert!(found.is_ok(), "{:?} {:?}", claim, found);
                    let claim = Claim { holds: !claim.holds, ..claim };
                    let found = certificate(&spec, &moves, &[claim], size, 1);
                    prop_assert!(found.is_err(), "{:?} {:?}", claim, found);
                }
            }
        });
    }
}
