//! What is true and shown is proved; what is not shown is not, whoever wrote the file.

use jlpns_verify::Failure;
use proptest::prelude::*;
use proptest::sample::Index;

use crate::naive::{
    Bound, Certificate, Connect4, Fault, Naive, Values, Woodpush, bounds, certificate, checked,
    fails, good_move,
};

/// Plays moves by choice, as long as the game goes on.
fn after<G: Naive>(mut game: G, choices: &[Index]) -> G {
    for choice in choices {
        if game.outcome().is_some() {
            break;
        }
        let legal = game.legal();
        game = game.play(&legal[choice.index(legal.len())]);
    }
    game
}

/// Every claim: with the best moves it is proved if and only if it is true; with moves by choice, if and only
/// if these show it.
fn every_claim<G: Naive>(game: &G, choices: &[Index], block: usize) {
    let mut values = Values::new();
    let value = values.of(game);
    for bound in bounds(game) {
        let mut file = Certificate { block, ..Certificate::new(game) };
        let (layers, fault) =
            certificate(game, bound, &mut |game| good_move(&mut values, bound, game));
        let holds = bound.admits(value);
        assert_eq!(fault.is_none(), holds, "the tests' own strategy for {bound:?} of {game:?}");
        file.claims = vec![(bound.text::<G>(), layers)];
        agrees(&file, fault);

        // Among these are numbers of no move.
        let mut turn = 0;
        let (layers, fault) = certificate(game, bound, &mut |game| {
            turn += 1;
            let many = game.legal().len() + usize::from(turn % 16 == 0);
            choices.get(turn % (choices.len() + 1)).map_or(0, |choice| choice.index(many))
        });
        assert!(fault.is_some() || holds, "{bound:?} of {game:?} is false, and was shown");
        file.claims = vec![(bound.text::<G>(), layers)];
        agrees(&file, fault);
    }
}

/// The file is proved, or it fails at the very position where its strategy does.
fn agrees(file: &Certificate, fault: Fault) {
    let place = fault.map(|(layer, position)| match layer {
        0 => format!("claim {} fails before any move of the file: ", file.claims[0].0),
        _ => format!("claim {} fails in layer {layer}, position {position}: ", file.claims[0].0),
    });
    match (checked(&file.bytes()), place) {
        (Ok(proved), None) => {
            assert_eq!(proved.positions, file.positions() as u64);
            assert_eq!((&proved.header.spec, &proved.header.moves), (&file.spec, &file.moves));
        }
        (Err(Failure::Fails(why)), Some(place)) => {
            assert!(why.starts_with(&place), "{why}, not {place}")
        }
        (found, place) => panic!("found {found:?}, expected {place:?} of {file:?}"),
    }
}

fn choices(most: usize) -> impl Strategy<Value = Vec<Index>> {
    prop::collection::vec(any::<Index>(), 0..=most)
}

fn woodpush_board() -> impl Strategy<Value = String> {
    (
        6..=7usize,
        any::<Index>(),
        any::<Index>(),
        prop::collection::vec(any::<(bool, Index)>(), 0..=1),
    )
        .prop_map(|(cells, left, right, more)| {
            let mut board = vec!['.'; cells];
            board[left.index(cells)] = 'L';
            for (is_left, place) in more {
                board[place.index(cells)] = if is_left { 'L' } else { 'R' };
            }
            board[right.index(cells)] = 'R';
            if !board.contains(&'L') {
                let free = board.iter().position(|&cell| cell == '.').unwrap();
                board[free] = 'L';
            }
            board.into_iter().collect()
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn connect_four_claims_agree_with_brute_force(
        (columns, rows) in prop::sample::select(vec![(4, 4), (4, 5), (5, 4), (3, 5), (6, 3), (1, 6), (4, 1), (2, 2), (7, 3)]),
        before in choices(20), choices in choices(9), block in 1..50usize,
    ) {
        let cells: usize = columns * rows;
        prop_assume!(before.len() + 13 >= cells);
        every_claim(&after(Connect4::new(columns, rows), &before), &choices, block);
    }

    #[test]
    fn woodpush_claims_agree_with_brute_force(
        board in woodpush_board(), before in choices(4), choices in choices(9), block in 1..50usize,
    ) {
        every_claim(&after(Woodpush::new(&board), &before), &choices, block);
    }

    #[test]
    fn numbers_by_chance_never_prove_what_is_false(
        layers in prop::collection::vec(prop::collection::vec(0..7u8, 1..4), 0..12),
        before in choices(16),
    ) {
        let game = after(Connect4::new(4, 4), &before);
        prop_assume!(before.len() >= 6);
        let value = Values::new().of(&game);
        for bound in bounds(&game) {
            let claims = vec![(bound.text::<Connect4>(), layers.clone())];
            let file = Certificate { claims, ..Certificate::new(&game) };
            prop_assert!(checked(&file.bytes()).is_err() || bound.admits(value));
        }
    }
}

#[test]
fn whole_games_are_proved() {
    let games = [(4, 4), (5, 3), (3, 6), (4, 2), (10, 1), (1, 63), (1, 127)];
    for (columns, rows) in games {
        let proved =
            checked(&crate::naive::true_certificate(&Connect4::new(columns, rows)).bytes());
        assert_eq!(proved.unwrap().header.claim(), "=draw", "{columns}x{rows}");
    }
    for board in ["6", "7", "L.R...", ".LR.LR"] {
        checked(&crate::naive::true_certificate(&Woodpush::new(board)).bytes()).unwrap();
    }
}

#[test]
fn every_small_board_of_woodpush_agrees_with_brute_force() {
    for code in 0..3usize.pow(6) {
        let board: String =
            (0..6).map(|cell| ['.', 'L', 'R'][code / 3usize.pow(cell) % 3]).collect();
        let count = |piece| board.matches(piece).count();
        if matches!((count('L'), count('R')), (1..=2, 1..=2)) {
            every_claim(&Woodpush::new(&board), &[], 65_536);
        }
    }
}

/// Boards of more than 64 bits go another way through the program.
#[test]
fn wide_boards_are_proved_after_moves() {
    // Max has three in a row with both ends open, and it is Min's turn.
    let mut game = Connect4::new(12, 9);
    for name in ["5", "5", "6", "6", "7"] {
        game = game.play(name);
    }
    assert_eq!(game.moves(), "55667");
    let file = Certificate { claims: vec![(">=win".into(), vec![])], ..Certificate::new(&game) };
    let proved = checked(&file.bytes()).unwrap();
    assert_eq!(proved.to_string(), "connect4:12x9 after 55667 is a win (>=win), 0 positions");

    // Two pairs with room: whatever Min does, one of them becomes three with both ends open.
    let mut game = Connect4::new(12, 9);
    for name in ["4", "1", "5", "1", "9", "2", "a"] {
        game = game.play(name);
    }
    let keeps = |game: &Connect4| {
        let legal = game.legal();
        let wins = |name: &&String| {
            let after = game.play(name);
            let stopped = |reply: &String| {
                let answered = after.play(reply);
                answered.outcome().is_some()
                    || answered.legal().iter().all(|name| answered.play(name).outcome() != Some(1))
            };
            !after.legal().iter().any(stopped)
        };
        legal.iter().position(|name| wins(&name)).unwrap_or(0)
    };
    let (layers, fault) = certificate(&game, Bound(true, 1), &mut |game| keeps(game));
    assert_eq!(fault, None);
    let file = Certificate { claims: vec![(">=win".into(), layers)], ..Certificate::new(&game) };
    assert_eq!(checked(&file.bytes()).unwrap().positions, file.positions() as u64);
    // One reply makes a third stone in a column, which is to be stopped first: so there are two layers.
    assert_eq!(file.positions(), 24);
}

/// The lists of the page lose nothing: with the whole history in its place, values stay the same.
#[test]
fn woodpush_values_do_not_depend_on_what_the_lists_leave_out() {
    type Known = std::collections::HashMap<(Vec<Vec<u8>>, Vec<u8>, bool), i32>;
    fn value(game: &Woodpush, known: &mut Known) -> i32 {
        if let Some(outcome) = game.outcome() {
            return outcome;
        }
        let mut earlier = game.earlier.clone();
        earlier.sort();
        let key = (earlier, game.board.clone(), game.max_moves());
        if let Some(&value) = known.get(&key) {
            return value;
        }
        let values: Vec<i32> =
            game.legal().iter().map(|name| value(&game.play(name), known)).collect();
        let found =
            if game.max_moves() { values.into_iter().max() } else { values.into_iter().min() }
                .unwrap();
        known.insert(key, found);
        found
    }
    for board in ["6", "L.R...", ".LR...", "RL....", "..RL..", "R.LL.."] {
        let game = Woodpush::new(board);
        assert_eq!(value(&game, &mut Default::default()), Values::new().of(&game), "{board}");
    }
}

#[test]
fn a_false_claim_is_told_with_its_place() {
    let game = Connect4::new(4, 4);
    let bound = Bound(true, 1);
    let (layers, _) = certificate(&game, bound, &mut |_| 0);
    let file =
        Certificate { claims: vec![(bound.text::<Connect4>(), layers)], ..Certificate::new(&game) };
    let why = fails(&file.bytes());
    assert!(why.starts_with("claim >=win fails in layer "), "{why}");
    assert!(why.contains("(x is Max, the claimant, o is Min)\n"), "{why}");
}
