mod families;
mod names;

use proptest::prelude::*;

use super::*;

fn refused(text: &str) -> SpecError {
    text.parse::<GameSpec>().expect_err(text)
}

fn unknown(name: &str) -> SpecError {
    SpecError::UnknownGame(name.to_owned(), Games::built_in().notations())
}

#[test]
fn specs_that_name_no_game_are_refused() {
    for (text, name) in [("", ""), (":", ""), ("chess:8x8", "chess"), ("7x6", "7x6")] {
        assert_eq!(refused(text), unknown(name), "{text}");
    }
    let long = "g".repeat(100_000);
    assert_eq!(refused(&long), unknown(&format!("{}...", "g".repeat(40))));
}

#[test]
fn sizes_that_are_none_are_refused() {
    for size in ["", "7", "7x", "x6", "7x6x5", "-7x6", "7 x6", "+7x6", "7x6.0", "7*6", "٧x6"] {
        let text = format!("connect4:{size}");
        assert_eq!(refused(&text), SpecError::Connect4Size(size.to_owned()), "{text}");
    }
    for (width, height) in [(0, 4), (4, 0), (0, 0)] {
        let empty = SpecError::Connect4(connect4::SizeError::Empty(width, height));
        assert_eq!(refused(&format!("connect4:{width}x{height}")), empty);
    }
    let large = |width, height| connect4::SizeError::TooLarge(width, height, 128).into();
    assert_eq!(refused("connect4:12x12"), large(12, 12));
    assert_eq!(refused("connect4:129x0"), connect4::SizeError::Empty(129, 0).into());
    // Numbers beyond 32 bits are too large, not malformed.
    assert_eq!(refused("connect4:99999999999x2"), large(u32::MAX, 2));
    assert_eq!(refused("connect4:1x99999999999999999999"), large(1, u32::MAX));
}

#[test]
fn starts_of_woodpush_that_are_none_are_refused() {
    for start in ["", "-8", "8.5", "L.L5.R", "1e1"] {
        let text = format!("woodpush:{start}");
        assert_eq!(refused(&text), SpecError::WoodpushStart(start.to_owned()), "{text}");
    }
    for (start, error) in [
        ("5", woodpush::BoardError::Length(5)),
        ("33", woodpush::BoardError::Length(33)),
        ("99999999999999999999", woodpush::BoardError::Length(u32::MAX as usize)),
        ("L...R", woodpush::BoardError::Length(5)),
        ("L.x..R", woodpush::BoardError::Cell('x', 2)),
        ("......", woodpush::BoardError::NoPieces),
        ("R.....", woodpush::BoardError::OneSided),
    ] {
        assert_eq!(refused(&format!("woodpush:{start}")), SpecError::Woodpush(error), "{start}");
    }
}

#[test]
fn errors_say_what_was_wrong_and_what_would_be_right() {
    for (text, wrong, right) in [
        ("chess:8x8", "'chess'", "write connect4:COLUMNSxROWS, woodpush:CELLS or woodpush:BOARD"),
        ("connect4:7", "'7'", "connect4:7x6"),
        ("connect4:0x4", "0x4", "at least one column and one row"),
        ("connect4:12x12", "12 columns and 12 rows", "at most 128"),
        ("woodpush:-8", "'-8'", "L.L...R.R"),
        ("woodpush:40", "not 40", "6 to 32 cells"),
        ("woodpush:L.x..R", "'x' in cell 2", "write L, R, or ."),
        ("woodpush:......", "without pieces", "at least one L and one R"),
        ("woodpush:L.....", "one side only", "at least one L and one R"),
    ] {
        let message = refused(text).to_string();
        assert!(message.contains(wrong) && message.contains(right), "{text}: {message}");
    }
}

#[test]
fn specs_have_a_standard_form() {
    for (text, standard) in [
        (" Connect4:7X6 ", "connect4:7x6"),
        ("connect4:007x06", "connect4:7x6"),
        ("WOODPUSH:ll..r.", "woodpush:LL..R."),
        ("woodpush:010", "woodpush:10"),
    ] {
        let spec: GameSpec = text.parse().expect(text);
        assert_eq!((spec.as_str(), spec.to_string().as_str()), (standard, standard));
    }
    let wide = |text: &str| {
        let spec: GameSpec = text.parse().expect(text);
        matches!(spec.game(), AnyGame::WideConnect4(_))
    };
    assert_eq!((wide("connect4:8x7"), wide("connect4:9x7")), (false, true));
}

/// A spec of any game in its standard form.
fn spec() -> impl Strategy<Value = String> {
    let connect4 = (1u32..=64)
        .prop_flat_map(|width| (Just(width), 1..=128 / width - 1))
        .prop_map(|(width, height)| format!("connect4:{width}x{height}"));
    let cells = (woodpush::MIN_CELLS..=woodpush::MAX_CELLS).prop_map(|n| format!("woodpush:{n}"));
    let rows = prop::collection::vec("[LR.]", woodpush::MIN_CELLS..=woodpush::MAX_CELLS)
        .prop_map(|row| format!("woodpush:L{}R", &row.concat()[2..]));
    prop_oneof![connect4, cells, rows]
}

/// The name of a game, a colon, and a text.
fn after_a_name(text: &'static str) -> BoxedStrategy<String> {
    let names: Vec<&str> = BUILT_IN.iter().map(|family| family.name).collect();
    (prop::sample::select(names), text).prop_map(|(name, text)| format!("{name}:{text}")).boxed()
}

/// The moves of a game that are chosen by these numbers.
fn moves_of<G: Game>(game: &G, choices: &[usize]) -> Vec<Move> {
    let mut position = game.start();
    let mut played = Vec::new();
    for &choice in choices {
        if game.outcome(&position).is_some() {
            break;
        }
        let mut moves = MoveList::new();
        game.moves(&position, &mut moves);
        let mv = moves[choice % moves.len()];
        game.play(&mut position, mv);
        played.push(mv);
    }
    played
}

/// The names of moves, each before one of these separators.
fn separated<G: Game>(game: &G, moves: &[Move], separators: &[&str]) -> String {
    let mut position = game.start();
    let mut text = String::new();
    for (index, &mv) in moves.iter().enumerate() {
        text += &game.move_name(&position, mv);
        text += separators[index % separators.len()];
        game.play(&mut position, mv);
    }
    text
}

proptest! {
    #[test]
    fn specs_come_back_from_their_text(text in spec()) {
        let spec: GameSpec = text.parse().unwrap();
        prop_assert_eq!(spec.as_str(), &text);
        let lower = text.to_lowercase();
        let again: GameSpec = lower.parse().unwrap();
        prop_assert_eq!(again.as_str(), &text);
        with_game!(spec.game(), game => {
            let start = game.show(&game.start());
            with_game!(again.game(), other => prop_assert_eq!(other.show(&other.start()), start));
        });
    }

    #[test]
    fn moves_come_back_from_their_names(
        text in spec(), choices in prop::collection::vec(0usize..64, 0..80),
        separators in prop::collection::vec(
            prop::sample::select(vec!["", " ", ",", ", ", "\n", " ,,\t"]), 1..5)) {
        let spec: GameSpec = text.parse().unwrap();
        with_game!(spec.game(), game => {
            let moves = moves_of(game, &choices);
            let names = format_moves(game, &moves);
            prop_assert_eq!(parse_moves(game, &names), Ok(moves.clone()), "{}", names);
            let spaced = separated(game, &moves, &separators);
            prop_assert_eq!(parse_moves(game, &spaced), Ok(moves.clone()), "{:?}", spaced);
            let mut position = game.start();
            moves.iter().for_each(|&mv| game.play(&mut position, mv));
            let found = position_after(game, &moves).unwrap();
            prop_assert_eq!(game.key(&found), game.key(&position));
            prop_assert_eq!(game.show(&found), game.show(&position));
        });
    }

    #[test]
    fn any_text_is_read_or_refused_in_one_short_sentence(
        text in prop_oneof![
            "\\PC{0,60}".boxed(), after_a_name("\\PC{0,60}"), after_a_name("[0-9x]{0,12}"),
            after_a_name("[LRlr.0-9]{0,40}")],
        moves in prop_oneof!["\\PC{0,60}", "[sp0-9 ,]{0,40}", "[0-9a-z]{0,40}"]) {
        match text.parse::<GameSpec>() {
            Err(error) => {
                let message = error.to_string();
                prop_assert!(!message.contains('\n') && message.len() < 400, "{message}");
            }
            Ok(spec) => with_game!(spec.game(), game => match parse_moves(game, &moves) {
                Ok(played) => prop_assert_eq!(
                    format_moves(game, &played),
                    moves.replace(|c: char| c.is_whitespace() || c == ',', "")),
                Err(error) => prop_assert!(!error.to_string().contains('\n'), "{error}"),
            }),
        }
    }
}

#[test]
fn illegal_moves_are_named_with_what_is_legal() {
    let connect4 = Connect4::<u64>::new(3, 4).unwrap();
    let illegal = |number, text: &str, reason: &str, legal: &str| MoveError::Illegal {
        number,
        text: text.to_owned(),
        reason: reason.to_owned(),
        legal: legal.to_owned(),
    };
    for (text, error) in [
        ("4", illegal(1, "4", " (the board has 3 columns)", "1 2 3")),
        ("11111", illegal(5, "1", " (column 1 is full)", "2 3")),
        ("12!3", illegal(3, "!3", "", "1 2 3")),
        ("1 2;3", illegal(3, ";3", "", "1 2 3")),
    ] {
        assert_eq!(parse_moves(&connect4, text), Err(error), "{text}");
    }
    let woodpush = Woodpush::from_text(".RL...").unwrap();
    for (text, error) in [
        ("s3", illegal(1, "s3", " (Left has no piece on cell 3)", "s2 p2")),
        ("p2p0", illegal(2, "p0", " (the push would recreate an earlier board)", "s0")),
        ("p2, s9", illegal(2, "s9", " (the board has cells 0 to 5)", "s0")),
    ] {
        assert_eq!(parse_moves(&woodpush, text), Err(error), "{text}");
    }
    let message = parse_moves(&connect4, "11111").unwrap_err().to_string();
    assert_eq!(message, "move 5, '1', is not legal (column 1 is full); legal here: 2 3");
    let long = parse_moves(&connect4, &"!".repeat(100_000)).unwrap_err().to_string();
    assert!(long.len() < 200, "{} bytes", long.len());
}

#[test]
fn moves_after_the_end_are_refused() {
    let game = Connect4::<u64>::new(3, 4).unwrap();
    let error = parse_moves(&game, "1 2 1 2 1 2 1 3").unwrap_err();
    let over = MoveError::GameOver {
        number: 8,
        text: "3".to_owned(),
        outcome: "win".to_owned(),
        end: "1212121".to_owned(),
    };
    assert_eq!(error, over);
    assert_eq!(
        error.to_string(),
        "move 8, '3', comes after the end: the game was over (win) after 1212121"
    );
}

#[test]
fn codes_that_are_no_legal_move_are_refused() {
    let game = Connect4::<u64>::new(3, 4).unwrap();
    let codes = |codes: &[u16]| {
        position_after(&game, &codes.iter().map(|&c| Move(c)).collect::<Vec<_>>()).unwrap_err()
    };
    assert_eq!(codes(&[3]), MoveError::IllegalCode { number: 1, code: 3 });
    assert_eq!(codes(&[0, 0, 0, 0, 0]), MoveError::IllegalCode { number: 5, code: 0 });
    // After the end no move is legal.
    assert_eq!(codes(&[0, 1, 0, 1, 0, 1, 0, 2]), MoveError::IllegalCode { number: 8, code: 2 });
    let message = codes(&[u16::MAX]).to_string();
    assert_eq!(message, "move 1 has code 65535, which is no legal move there");
}
