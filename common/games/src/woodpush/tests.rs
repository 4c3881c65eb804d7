//! The rules against a second implementation of them, cell by cell.

mod keys;
mod sure_moves;

use proptest::prelude::*;

use super::*;

/// A game as a row of cells and the list of all rows that there have been, with the rules written
/// out: the masks are checked against it.
#[derive(Clone)]
struct Cells {
    row: Vec<char>,
    left_to_move: bool,
    earlier: Vec<Vec<char>>,
}

impl Cells {
    fn new(text: &str) -> Cells {
        Cells { row: text.chars().collect(), left_to_move: true, earlier: Vec::new() }
    }

    fn text(&self) -> String {
        self.row.iter().collect()
    }

    /// The row as the player to move sees it, going up, so that all rules need but one direction.
    fn seen(&self) -> Vec<char> {
        let mut row = self.row.clone();
        if !self.left_to_move {
            row.reverse();
        }
        row
    }

    /// The row after a slide or a push from `cell`, if there may be one but for the repetition.
    fn after(&self, cell: usize, push: bool) -> Option<Vec<char>> {
        let (own, enemy) = if self.left_to_move { ('L', 'R') } else { ('R', 'L') };
        let cell = if self.left_to_move { cell } else { self.row.len() - 1 - cell };
        let mut row = self.seen();
        if row[cell] != own {
            return None;
        }
        if push {
            if cell == 0 || row[cell - 1] != enemy {
                return None;
            }
            let mut end = cell;
            while end > 0 && row[end - 1] != '.' {
                end -= 1;
            }
            for from in end..=cell {
                if from > 0 {
                    row[from - 1] = row[from];
                }
                row[from] = '.';
            }
        } else {
            row[cell] = '.';
            if let Some(target) = (cell + 1..row.len()).find(|&ahead| row[ahead] == '.') {
                row[target] = own;
            }
        }
        if !self.left_to_move {
            row.reverse();
        }
        Some(row)
    }

    /// The legal moves by name, each with the row that it leads to.
    fn moves(&self) -> Vec<(String, Vec<char>)> {
        let mut moves = Vec::new();
        for cell in 0..self.row.len() {
            for (letter, push) in [("s", false), ("p", true)] {
                if let Some(next) = self.after(cell, push)
                    && next != self.row
                    && !self.earlier.contains(&next)
                {
                    moves.push((format!("{letter}{cell}"), next));
                }
            }
        }
        moves
    }

    fn play(&mut self, next: Vec<char>) {
        let row = std::mem::replace(&mut self.row, next);
        self.earlier.push(row);
        self.left_to_move = !self.left_to_move;
    }

    fn count(row: &[char], piece: char) -> i32 {
        row.iter().filter(|&&cell| cell == piece).count() as i32
    }

    fn score(&self) -> Option<i32> {
        let (left, right) = (Self::count(&self.row, 'L'), Self::count(&self.row, 'R'));
        if left == 0 || right == 0 {
            Some(left - right)
        } else if self.moves().is_empty() {
            Some(if self.left_to_move { -1 } else { 1 })
        } else {
            None
        }
    }
}

/// Plays the moves that are chosen by these numbers, in both implementations.
fn follow(text: &str, choices: &[usize]) {
    let game = Woodpush::from_text(text).unwrap();
    let mut position = game.start();
    let mut cells = Cells::new(text);
    let mut played = Vec::new();
    for &choice in choices {
        assert_eq!(game.show(&position), cells.text());
        for (line, character) in (0..2).flat_map(|line| (0..=text.len()).map(move |c| (line, c))) {
            let owner = match cells.row.get(character).filter(|_| line == 0) {
                Some('L') => Some(Player::Max),
                Some('R') => Some(Player::Min),
                _ => None,
            };
            assert_eq!(game.piece_at(&position, line, character), owner, "{line} {character}");
        }
        assert_eq!(game.to_move(&position) == Player::Max, cells.left_to_move);
        let outcome = game.outcome(&position);
        assert_eq!(outcome, cells.score().map(|score| game.scale().with_score(score).unwrap()));
        if outcome.is_some() {
            break;
        }
        let mut moves = MoveList::new();
        game.moves(&position, &mut moves);
        let names: Vec<String> = moves.iter().map(|&mv| game.move_name(&position, mv)).collect();
        let expected = cells.moves();
        assert_eq!(names, expected.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>());
        assert_eq!(game.mobility(&position) as usize, expected.len());
        let index = choice % moves.len();
        played.push((format!("{position:?}"), moves[index]));
        game.play(&mut position, moves[index]);
        cells.play(expected[index].1.clone());
    }
    for (before, mv) in played.into_iter().rev() {
        game.undo(&mut position, mv);
        assert_eq!(format!("{position:?}"), before);
    }
}

/// A board of `cells` cells with at least one piece of each side.
fn board(cells: impl Strategy<Value = usize>) -> impl Strategy<Value = String> {
    let row = cells.prop_flat_map(|cells| prop::collection::vec("[LR.]", cells));
    row.prop_map(|row| row.concat())
        .prop_filter("pieces of both sides", |text| text.contains('L') && text.contains('R'))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn masks_follow_the_rules(text in board(MIN_CELLS..=MAX_CELLS),
                              choices in prop::collection::vec(0usize..64, 0..120)) {
        follow(&text, &choices);
    }

    #[test]
    fn short_boards_follow_the_rules(text in board(MIN_CELLS..=8),
                                     choices in prop::collection::vec(0usize..64, 0..60)) {
        follow(&text, &choices);
    }
}

/// The board after moves by their names, and the names of the moves that are legal then.
fn after(text: &str, names: &[&str]) -> (String, Vec<String>) {
    let (game, position) = line_after(text, names);
    let mut moves = MoveList::new();
    game.moves(&position, &mut moves);
    (game.show(&position), moves.iter().map(|&mv| game.move_name(&position, mv)).collect())
}

fn line_after(text: &str, names: &[&str]) -> (Woodpush, Line) {
    let game = Woodpush::from_text(text).unwrap();
    let mut position = game.start();
    for &name in names {
        let mut moves = MoveList::new();
        game.moves(&position, &mut moves);
        let mv = moves.iter().copied().find(|&mv| game.move_name(&position, mv) == name);
        game.play(&mut position, mv.unwrap_or_else(|| panic!("{name} is not legal")));
    }
    (game, position)
}

#[test]
fn pieces_slide_jump_and_push() {
    let cases = [
        // To the next cell, over pieces of both sides, and off the board.
        ("L....R", &["s0"][..], ".L...R"),
        ("LLR..R", &["s0"], ".LRL.R"),
        ("R....L", &["s5"], "R....."),
        ("L...R.", &["s0", "s4"], ".L.R.."),
        ("..LLR.", &["s2", "s4"], "..RL.L"),
        ("RL...L", &["s1", "s0"], "..L..L"),
        // One piece and one behind it, a mixed string, a string that ends at a gap.
        ("..RL..", &["p3"], ".RL..."),
        (".RLRL.", &["p4"], "RLRL.."),
        ("L.RL.R", &["p3"], "LRL..R"),
        ("L..RL.", &["s0", "p3"], ".L..RL"),
        // Over the edge, one's own pieces too.
        ("RL...R", &["p1"], "L....R"),
        ("LRL..R", &["p2"], "RL...R"),
        ("L...RL", &["s0", "p4"], ".L...R"),
        ("L..RLR", &["s0", "p3"], ".L..RL"),
    ];
    for (text, names, board) in cases {
        assert_eq!(after(text, names).0, board, "{names:?} from {text}");
    }
}

#[test]
fn a_push_needs_an_enemy_directly_behind() {
    for (text, legal) in [
        ("R.L..R", &["s2"][..]),
        ("LL...R", &["s0", "s1"]),
        ("RLL..R", &["s1", "p1", "s2"]),
        ("RLRL.R", &["s1", "p1", "s3", "p3"]),
    ] {
        assert_eq!(after(text, &[]).1, legal, "{text}");
    }
}

#[test]
fn no_board_comes_back_whoever_is_to_move() {
    // Right's push would bring back the start board.
    assert_eq!(after(".RL...", &["p2"]), ("RL....".to_owned(), vec!["s0".to_owned()]));
    // Right's slide from 5 would bring back the board after three moves, where Right was to move.
    let three = ["s2", "s5", "s0"];
    assert_eq!(after("L.L.RR", &three).0, ".LRLR.");
    let (board, legal) = after("L.L.RR", &[&three[..], &["p2", "p4"]].concat());
    assert_eq!(board, ".LRL.R");
    assert!(!legal.contains(&"s5".to_owned()), "{legal:?}");
}

#[test]
fn illegal_moves_are_explained() {
    let (game, position) = line_after(".RL...", &["p2"]);
    for (text, why) in [
        ("p0", Some("the push would recreate an earlier board")),
        ("s1", Some("Right has no piece on cell 1")),
        ("s6", Some("the board has cells 0 to 5")),
        ("x0", None),
        ("s", None),
        ("", None),
        ("s99999999999", None),
    ] {
        assert_eq!(game.why_illegal(&position, text).as_deref(), why, "{text}");
    }
    let (game, position) = line_after("..RL.R", &["p3"]);
    let why = game.why_illegal(&position, "p1");
    assert_eq!(why.as_deref(), Some("the push would recreate an earlier board"));
    let (game, position) = line_after("L.L.RR", &["s2", "s5", "s0", "p2", "p4"]);
    let why = game.why_illegal(&position, "s5");
    assert_eq!(why.as_deref(), Some("the slide would recreate an earlier board"));
    let (game, position) = line_after("L.L.RR", &[]);
    let why = game.why_illegal(&position, "p2");
    assert_eq!(why.as_deref(), Some("there is no enemy piece directly behind cell 2"));
}

/// A board of two masks and the boards before it are a position of which all is told as of one that
/// was played, whether or not there are tables. Boards with more pieces than the last one cannot come
/// back, and are left out.
#[test]
fn positions_are_made_of_boards_as_they_are_of_moves() {
    for (text, names) in [
        ("..RL.R", &["p3"][..]),
        ("L.L.RR", &["s2", "s5", "s0", "p2"]),
        ("RLL..R", &["p1", "s5", "s0", "s4", "s1", "p3"]),
    ] {
        let (game, played) = line_after(text, names);
        let bits = |board: Board| u64::from(board.left) | u64::from(board.right) << 32;
        let pieces = played.board.pieces();
        let same = played.past.iter().filter(|past| past.board.pieces() == pieces);
        let earlier: Vec<u64> = same.map(|past| bits(past.board)).collect();
        for game in [game.clone().with_memory(0), game] {
            let made = game.position(bits(played.board), played.to_move, &earlier);
            assert_eq!(game.show(&made), game.show(&played), "{text}");
            assert_eq!(game.key(&made), game.key(&played), "{text}");
            let (mut moves, mut of_played) = (MoveList::new(), MoveList::new());
            game.moves(&made, &mut moves);
            game.moves(&played, &mut of_played);
            assert_eq!(moves, of_played, "{text}");
        }
    }
}

/// No game was found in which a player gets stuck, so the past is made up here.
#[test]
fn a_player_without_a_move_loses_by_one() {
    let game = Woodpush::from_text("L....R").unwrap();
    for (to_move, only_next, score) in [(Player::Max, 1, -1), (Player::Min, 4, 1)] {
        let mut position = game.start();
        position.to_move = to_move;
        assert_eq!(game.outcome(&position), None);
        let board = match to_move {
            Player::Max => Board { left: 1 << only_next, ..position.board },
            Player::Min => Board { right: 1 << only_next, ..position.board },
        };
        position.past.push(Past { board, since: 0, past_hash: 0 });
        assert_eq!(game.mobility(&position), 0);
        assert_eq!(game.outcome(&position), game.scale().with_score(score));
    }
}

#[test]
fn a_game_is_over_when_a_side_has_no_pieces() {
    for (text, names, score) in [
        ("R....L", &["s5"][..], -1),
        ("RR...L", &["s5"], -2),
        ("RLL...", &["p1"], 2),
        ("R.L..L", &["s2", "s0"], 2),
        ("RL....", &["p1"], 1),
    ] {
        let (game, position) = line_after(text, names);
        assert_eq!(game.outcome(&position), game.scale().with_score(score), "{text} {names:?}");
    }
}

#[test]
fn boards_that_are_no_start_are_refused() {
    let refused = |text: &str| Woodpush::from_text(text).unwrap_err();
    assert_eq!(refused(""), BoardError::Length(0));
    assert_eq!(refused("L...R"), BoardError::Length(5));
    assert_eq!(refused(&"LR".repeat(17)), BoardError::Length(34));
    assert_eq!(refused("L.é..R"), BoardError::Cell('é', 2));
    assert_eq!(refused("L..1.R"), BoardError::Cell('1', 3));
    assert_eq!(refused("......"), BoardError::NoPieces);
    assert_eq!(refused("L.L..."), BoardError::OneSided);
    assert_eq!(refused("...R.R"), BoardError::OneSided);
    assert_eq!(Woodpush::standard(5).unwrap_err(), BoardError::Length(5));
    assert_eq!(Woodpush::standard(33).unwrap_err(), BoardError::Length(33));
    assert_eq!(Woodpush::standard(usize::MAX).unwrap_err(), BoardError::Length(usize::MAX));
}

#[test]
fn the_standard_starts_and_their_scores() {
    for (cells, board) in [(6, "L.LR.R"), (9, "L.L...R.R"), (10, "L.L....R.R")] {
        let game = Woodpush::standard(cells).unwrap();
        assert_eq!(game.show(&game.start()), board);
        assert_eq!(game.scale().names(), "-2, -1, 1, 2");
    }
    let longest = Woodpush::standard(32).unwrap();
    assert_eq!(longest.show(&longest.start()), format!("L.L{}R.R", ".".repeat(26)));
    let lower_case = Woodpush::from_text("ll..r.").unwrap();
    assert_eq!(lower_case.show(&lower_case.start()), "LL..R.");
    assert_eq!(lower_case.scale().names(), "-1, 1, 2");
}
