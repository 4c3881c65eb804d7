//! What Woodpush tells of a position without search is true, and positions that share a key have
//! one value: against minimax by the rules that remembers the whole history, on every position of
//! small boards and on random positions of larger ones that it can decide.

use std::collections::HashMap;

use jlpns_games::woodpush::Woodpush;
use jlpns_games::{Bounds, Game, MoveList, Outcome, Player};
use jlpns_minimax::after_choices;
use proptest::prelude::*;

type Line = <Woodpush as Game>::Position;

/// Minimax by the rules alone, without any merging, that checks what the game says of each
/// position it has decided.
struct Checker {
    game: Woodpush,
    by_key: HashMap<u128, Outcome>,
    /// How many more positions may be visited.
    left: u64,
    decided: u64,
    /// Positions where the bounds say more than the rules do.
    judged: u64,
    /// Positions with fewer relevant moves than legal ones.
    narrowed: u64,
}

impl Checker {
    fn new(text: &str, limit: u64) -> Checker {
        Checker::of(Woodpush::from_text(text).expect("a board"), limit)
    }

    fn of(game: Woodpush, limit: u64) -> Checker {
        Checker {
            game,
            by_key: HashMap::default(),
            left: limit,
            decided: 0,
            judged: 0,
            narrowed: 0,
        }
    }

    /// The value, if there are visits enough.
    fn value(&mut self, position: &mut Line) -> Option<Outcome> {
        self.left = self.left.checked_sub(1)?;
        if let Some(outcome) = self.game.outcome(position) {
            assert_eq!(self.game.static_bounds(position), Bounds::exactly(outcome));
            self.note(position, outcome);
            return Some(outcome);
        }
        let mut moves = MoveList::new();
        self.game.moves(position, &mut moves);
        let mut children = Vec::new();
        for &mv in &moves {
            self.game.play(position, mv);
            let value = self.value(position);
            self.game.undo(position, mv);
            children.push((mv, value?));
        }
        let player = self.game.to_move(position);
        let best = |values: &mut dyn Iterator<Item = Outcome>| match player {
            Player::Max => values.max(),
            Player::Min => values.min(),
        };
        let value = best(&mut children.iter().map(|child| child.1)).expect("a move");
        self.note(position, value);

        let shown = || format!("{} {position:?} is {value:?}", self.game.show(position));
        let bounds = self.game.static_bounds(position);
        assert!((bounds.lower..=bounds.upper).contains(&value), "{bounds:?}: {}", shown());
        self.judged += u64::from(bounds != self.game.scale().bounds());

        let mut relevant = MoveList::new();
        self.game.relevant_moves(position, &mut relevant);
        self.narrowed += u64::from(relevant.len() < moves.len());
        assert_eq!(self.game.resistance(position) as usize, relevant.len(), "{}", shown());
        let of = |mv| children.iter().find(|child| child.0 == mv).expect("legal").1;
        let of_relevant = best(&mut relevant.iter().map(|&mv| of(mv)));
        assert_eq!(of_relevant, Some(value), "{relevant:?}: {}", shown());

        let survey = self.game.survey(position, self.game.scale().bounds());
        assert_eq!(survey.bounds, bounds, "{}", shown());
        if bounds.value().is_none() {
            assert_eq!(survey.resistance, self.game.resistance(position), "{}", shown());
            let only = (relevant.len() == 1).then(|| relevant[0]);
            assert_eq!(survey.forced, only, "{}", shown());
        } else {
            assert_eq!(survey.forced, None);
        }
        Some(value)
    }

    fn note(&mut self, position: &Line, value: Outcome) {
        self.decided += 1;
        let known = *self.by_key.entry(self.game.key(position)).or_insert(value);
        assert_eq!(known, value, "one key, two values: {position:?}");
    }
}

/// All boards of these cells with so many pieces of each side.
fn boards(cells: usize, left: usize, right: usize) -> Vec<String> {
    let mut boards = vec![String::new()];
    for _ in 0..cells {
        boards = boards
            .iter()
            .flat_map(|b| ['.', 'L', 'R'].map(|piece| format!("{b}{piece}")))
            .collect();
    }
    let count = |board: &str, piece| board.chars().filter(|&c| c == piece).count();
    boards.retain(|board| count(board, 'L') == left && count(board, 'R') == right);
    boards
}

/// Checks every position of every game from every such board that takes at most `limit` visits;
/// gives back how many of the boards those are, and how many there are.
fn check_all(cells: usize, left: usize, right: usize, limit: u64) -> (Checker, usize, usize) {
    let mut total = Checker::new("L....R", 0);
    let (mut whole, mut all) = (0, 0);
    for text in boards(cells, left, right) {
        let mut checker = Checker::new(&text, limit);
        let mut start = checker.game.start();
        whole += usize::from(checker.value(&mut start).is_some());
        all += 1;
        total.decided += checker.decided;
        total.judged += checker.judged;
        total.narrowed += checker.narrowed;
    }
    println!("{cells} cells, {left}+{right}: {whole} of {all} boards, {} positions", total.decided);
    (total, whole, all)
}

#[test]
fn every_game_from_every_small_board_is_told_right() {
    for (cells, left, right) in [(6, 1, 1), (7, 1, 1), (8, 1, 1), (6, 1, 2), (6, 2, 1), (7, 2, 1)] {
        let (checker, whole, all) = check_all(cells, left, right, 1_000_000);
        assert_eq!(whole, all, "{cells} {left} {right}");
        assert!(checker.judged > 0);
    }
}

#[test]
fn every_game_from_boards_with_two_a_side_is_told_right() {
    let (checker, whole, all) = check_all(6, 2, 2, 300_000);
    assert!(whole * 10 > all * 9, "{whole} of {all}");
    assert!(checker.judged * 4 > checker.decided, "{} of {}", checker.judged, checker.decided);
    assert!(checker.narrowed > 0);
}

#[test]
fn games_that_are_short_enough_from_larger_boards_are_told_right() {
    for (cells, left, right) in [(7, 2, 2), (8, 2, 2), (8, 1, 3), (6, 3, 3), (7, 3, 3), (8, 3, 3)] {
        let (checker, ..) = check_all(cells, left, right, 3000);
        assert!(checker.judged > 0 && checker.narrowed > 0);
    }
}

/// Random positions, late in games from boards of 8 to 14 cells. Each takes its own tables, so
/// that they come from one board in runs.
#[test]
fn a_hundred_thousand_random_positions_of_larger_boards_are_told_right() {
    let starts = [
        "L.L..R.R",
        "L.L...R.R",
        "L.L....R.R",
        "L.L......R.R",
        "L.L........R.R",
        "LL.....RR",
        "L.L.LR.R.R",
        "L.L.L.R.R.R",
        "LLL...RRR",
        "L.L.L..R.R.R",
        "L.L.R..L.R.R",
        ".LRLR.LR.R",
        "RLRL..LR",
        "R.L.RL.R.L",
        "LRLRLRL..R",
        "..LR.LRL.R",
        "LR..LRL.R...",
    ];
    // A linear congruential generator: the same positions in every run.
    let mut seed = 20_150_611u64;
    let mut next = move || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize
    };
    let (mut decided, mut distinct) = (0, 0);
    for text in starts {
        let mut checker = Checker::new(text, 0);
        let mut roots = 0;
        while roots < 14_000 {
            let choices: Vec<usize> = (0..4 + next() % 40).map(|_| next()).collect();
            let (mut position, _) = after_choices(&checker.game, &choices);
            checker.left = 600;
            roots += 1;
            decided += u64::from(checker.value(&mut position).is_some());
        }
        distinct += checker.by_key.len();
        println!("{text}: {} positions below, {} keys", checker.decided, checker.by_key.len());
    }
    println!("{decided} random positions decided, {distinct} different keys");
    assert!(decided >= 100_000, "{decided}");
}

/// Every position of every game from every such board, without tables.
fn check_without_tables(cells: usize, left: usize, right: usize) -> (u64, u64) {
    let (mut judged, mut narrowed) = (0, 0);
    for text in boards(cells, left, right) {
        let game = Woodpush::from_text(&text).expect("a board").with_memory(0);
        assert_eq!(game.memory(), 0);
        let mut start = game.start();
        let mut checker = Checker::of(game, 300_000);
        checker.value(&mut start);
        judged += checker.judged;
        narrowed += checker.narrowed;
        // Keys with tables and without may meet where solved positions are shared.
        checker.game = Woodpush::from_text(&text).expect("a board");
        checker.left = 300_000;
        checker.value(&mut start);
    }
    (judged, narrowed)
}

#[test]
fn without_tables_the_pieces_tell_right() {
    for (cells, left, right) in [(6, 1, 1), (7, 1, 1), (6, 1, 2), (6, 2, 1), (7, 2, 1), (6, 2, 2)] {
        let (judged, narrowed) = check_without_tables(cells, left, right);
        assert!(judged > 0 && narrowed > 0, "{cells} {left} {right}");
    }
}

/// A start that no tables are made for, whatever the memory: the bounds follow the pieces.
#[test]
fn boards_without_tables_have_bounds_by_their_pieces() {
    let text = "LRLRLRLRLRLRLRLRLRLRLRLRLRLRLRL.";
    let game = Woodpush::from_text(text).expect("a board").with_memory(u64::MAX);
    assert_eq!(game.memory(), 0);
    let mut position = game.start();
    for step in 0..400 {
        let pieces = |side| game.show(&position).matches(side).count() as i32;
        let (left, right) = (pieces('L'), pieces('R'));
        let bounds = game.static_bounds(&position);
        let outcome = |score| game.scale().with_score(score).expect("on the scale");
        if game.outcome(&position).is_none() {
            assert!(bounds.lower >= outcome(-right) && bounds.upper <= outcome(left));
        } else {
            assert!(bounds.value().is_some());
            break;
        }
        let mut moves = MoveList::new();
        game.moves(&position, &mut moves);
        game.play(&mut position, moves[step * step % moves.len()]);
    }
    let left = game.show(&position).matches(['L', 'R']).count();
    assert!(left < 20, "{left} pieces are left");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn positions_of_random_boards_are_told_right(
        row in prop::collection::vec("[LR..]", 6..=12),
        choices in prop::collection::vec(0usize..64, 0..60),
    ) {
        let text = row.concat();
        let pieces = text.chars().filter(|&cell| cell != '.').count();
        prop_assume!(text.contains('L') && text.contains('R') && pieces <= 7);
        let mut checker = Checker::new(&text, 3000);
        let (mut position, _) = after_choices(&checker.game, &choices);
        checker.value(&mut position);
    }
}
