//! What Connect Four tells of a position without search is true: on every position that can be
//! reached on small boards, of even and odd height, and on late positions of larger boards, which
//! a solver decides that knows nothing but the rules. Every piece of the knowledge is checked alone,
//! and all of them together.

use std::cell::Cell;
use std::collections::HashMap;

use jlpns_games::connect4::{Bitboard, Connect4, Rules};
use jlpns_games::{Bounds, Game, Move, MoveList, Outcome, Player, Threshold};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

/// Pieces of the knowledge: all that is left without one, and the same with it.
const PIECES: [(&str, Rules, Rules); 18] = {
    let none = Rules {
        double_threat: false,
        follow_up: false,
        pairs: false,
        vertical: false,
        led_threats: false,
        tempo: false,
        lines_left: false,
        turned_column: false,
        turned_pair: false,
        aftereven: false,
        wins_by_follow_up: false,
    };
    let follow_up = Rules { follow_up: true, ..none };
    let lines_left = Rules { lines_left: true, ..follow_up };
    let wins = Rules { wins_by_follow_up: true, ..follow_up };
    let pairs = Rules { pairs: true, ..wins };
    // Double threats would settle positions of which the others say something wrong.
    let all = Rules {
        vertical: true,
        led_threats: true,
        tempo: true,
        lines_left: true,
        turned_column: true,
        turned_pair: true,
        aftereven: true,
        ..pairs
    };
    // With one, what is known of lines that are left is known once more.
    let no_turned_column = Rules { turned_column: false, ..all };
    [
        ("double threat", none, Rules { double_threat: true, ..none }),
        ("double threat and the rest", all, Rules { double_threat: true, ..all }),
        ("follow-up", none, follow_up),
        ("wins", follow_up, wins),
        ("pairs", wins, pairs),
        ("vertical", pairs, Rules { vertical: true, ..pairs }),
        ("led threats", wins, Rules { led_threats: true, ..wins }),
        ("tempo", pairs, Rules { tempo: true, ..pairs }),
        ("tempo and the rest", Rules { tempo: false, ..all }, all),
        ("lines left", follow_up, lines_left),
        ("lines left and the rest", Rules { lines_left: false, ..all }, no_turned_column),
        ("turned column", lines_left, Rules { turned_column: true, ..lines_left }),
        ("turned column and the rest", no_turned_column, all),
        ("turned pair", wins, Rules { turned_pair: true, ..wins }),
        ("turned pair and the rest", Rules { turned_pair: false, ..all }, all),
        ("aftereven", wins, Rules { aftereven: true, ..wins }),
        ("aftereven and the rest", Rules { aftereven: false, ..all }, all),
        ("vertical and the rest", Rules { vertical: false, ..all }, all),
    ]
};

/// Minimax by the rules, with a memory, that checks all knowledge about each position it visits.
struct Checker<B: Bitboard> {
    game: Connect4<B>,
    values: HashMap<B, Outcome>,
    /// Positions where the bounds say more than the rules do.
    judged: u64,
    /// Positions with fewer relevant moves than legal ones.
    narrowed: u64,
    /// The game with each of the pieces and what goes with it.
    pieces: [Connect4<B>; PIECES.len()],
}

type Stones<B> = <Connect4<B> as Game>::Position;

impl<B: Bitboard> Checker<B> {
    fn new(width: u32, height: u32) -> Checker<B> {
        Checker::of(Connect4::new(width, height).expect("a size in range"))
    }

    fn of(game: Connect4<B>) -> Checker<B> {
        Checker {
            pieces: PIECES.map(|(_, _, with)| game.clone().with_rules(with)),
            game,
            values: HashMap::default(),
            judged: 0,
            narrowed: 0,
        }
    }

    fn value(&mut self, position: &mut Stones<B>) -> Outcome {
        if let Some(outcome) = self.game.outcome(position) {
            assert_eq!(self.game.static_bounds(position), Bounds::exactly(outcome));
            return outcome;
        }
        let key = self.game.key(position);
        if let Some(&value) = self.values.get(&key) {
            return value;
        }
        let mut moves = MoveList::new();
        self.game.moves(position, &mut moves);
        let mut children = Vec::new();
        for &mv in &moves {
            self.game.play(position, mv);
            children.push((mv, self.value(position)));
            self.game.undo(position, mv);
        }
        let player = self.game.to_move(position);
        let best = |values: &mut dyn Iterator<Item = Outcome>| match player {
            Player::Max => values.max(),
            Player::Min => values.min(),
        };
        let value = best(&mut children.iter().map(|child| child.1)).expect("a move");
        self.values.insert(key, value);
        self.check_pieces(position, value);

        let shown = || format!("{} is {value:?}", self.game.show(position));
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

        let settled = bounds.value().is_some();
        self.check_survey(position, self.game.scale().bounds(), bounds, settled, &relevant);
        let all = self.game.scale().bounds();
        for threshold in (all.lower.0 + 1..=all.upper.0).map(Threshold) {
            let asked = threshold.relevancy_bounds();
            let survey = self.game.survey(position, asked);
            assert_eq!(survey.bounds.verdict(threshold), bounds.verdict(threshold), "{}", shown());
            assert!((survey.bounds.lower..=survey.bounds.upper).contains(&value), "{}", shown());
            let settled = bounds.verdict(threshold).is_some();
            self.check_survey(position, asked, survey.bounds, settled, &relevant);
        }
        value
    }

    fn check_pieces(&self, position: &Stones<B>, value: Outcome) {
        for (game, (piece, ..)) in self.pieces.iter().zip(PIECES) {
            let bounds = game.static_bounds(position);
            let shown = || format!("{} is {value:?}", game.show(position));
            assert!(
                (bounds.lower..=bounds.upper).contains(&value),
                "{piece} {bounds:?}: {}",
                shown()
            );
        }
    }

    fn check_survey(
        &self,
        position: &Stones<B>,
        asked: Bounds,
        bounds: Bounds,
        settled: bool,
        relevant: &[Move],
    ) {
        let survey = self.game.survey(position, asked);
        let shown = || self.game.show(position);
        assert_eq!(survey.bounds, bounds, "{}", shown());
        let only = (relevant.len() == 1).then(|| relevant[0]);
        if settled {
            assert_eq!(survey.forced, None, "{}", shown());
        } else {
            assert_eq!(survey.resistance, self.game.resistance(position), "{}", shown());
            assert_eq!(survey.forced, only, "{}", shown());
        }
    }
}

/// Checks every position that can be reached.
fn check_all(width: u32, height: u32) -> Checker<u64> {
    let mut checker = Checker::new(width, height);
    let mut start = checker.game.start();
    checker.value(&mut start);
    checker
}

#[test]
fn every_position_of_a_board_of_even_height_is_told_right() {
    for size in [(4, 4), (6, 2), (3, 6), (2, 8)] {
        check_all(size.0, size.1);
    }
    let checker = check_all(5, 4);
    assert!(checker.judged * 4 > checker.values.len() as u64, "{}", checker.judged);
    assert!(checker.narrowed > 0);
}

#[test]
fn every_position_of_a_board_of_odd_height_is_told_right() {
    for size in [(5, 3), (3, 5), (7, 1), (4, 3), (1, 9)] {
        check_all(size.0, size.1);
    }
    let checker = check_all(4, 5);
    assert!(checker.judged * 4 > checker.values.len() as u64, "{}", checker.judged);
    assert!(checker.narrowed > 0);
}

/// Where it counts on which move the game ends, knowledge must be right about the move as well.
#[test]
fn every_position_is_told_right_with_its_last_move() {
    for (width, height) in [
        (4, 4),
        (6, 2),
        (3, 6),
        (2, 8),
        (5, 3),
        (3, 5),
        (7, 1),
        (4, 3),
        (1, 9),
        (1, 1),
        (5, 4),
        (4, 5),
    ] {
        let game = Connect4::new(width, height).expect("a size in range").with_last_moves();
        let mut start = game.start();
        let mut checker = Checker::<u64>::of(game);
        checker.value(&mut start);
    }
}

/// Plays `choices` of the safe moves, until so many cells are left.
fn late_position<B: Bitboard>(game: &Connect4<B>, choices: &[usize], left: u32) -> Stones<B> {
    let mut position = game.start();
    let cells = game.width() * game.height();
    for &choice in choices.iter().take((cells - left) as usize) {
        let mut moves = MoveList::new();
        // Where a player can win or must lose, so that the game would soon be over, any move goes.
        game.relevant_moves(&position, &mut moves);
        if game.static_bounds(&position).value().is_some() {
            moves.clear();
            game.moves(&position, &mut moves);
        }
        let before = position;
        game.play(&mut position, moves[choice % moves.len()]);
        if game.outcome(&position).is_some() {
            return before;
        }
    }
    position
}

/// Checks the positions below a late one; how many there were.
fn check_late<B: Bitboard>(game: Connect4<B>, choices: &[usize], left: u32) -> usize {
    let (width, height) = (game.width(), game.height());
    let mut checker = Checker::<B>::of(game);
    let mut position = late_position(&checker.game, choices, left);
    let stones = checker.game.show(&position).chars().filter(|c| "xo".contains(*c)).count() as u32;
    // Games that ended early leave too much for a solver without knowledge.
    if width * height - stones <= left + 2 {
        checker.value(&mut position);
    }
    checker.values.len()
}

/// Checks the positions below random late ones of these boards, and that they were enough.
fn check_random<B: Bitboard>(sizes: &'static [(u32, u32)], cases: u32, enough: usize) {
    let mut runner = TestRunner::new(ProptestConfig { cases, ..ProptestConfig::default() });
    let checked = Cell::new(0);
    let cases = (prop::sample::select(sizes), prop::collection::vec(0usize..64, 70), 6u32..13);
    let outcome = runner.run(&cases, |((width, height), choices, left)| {
        let game = Connect4::<B>::new(width, height).expect("a size in range");
        let with_last_moves = game.clone().with_last_moves();
        let found = check_late(game, &choices, left) + check_late(with_last_moves, &choices, left);
        checked.set(checked.get() + found);
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
    assert!(checked.get() >= enough, "{} positions", checked.get());
}

#[test]
fn late_positions_of_larger_boards_are_told_right() {
    const SIZES: &[(u32, u32)] = &[
        (7, 6),
        (6, 6),
        (8, 6),
        (5, 8),
        (7, 4),
        (9, 4),
        (7, 5),
        (8, 5),
        (9, 5),
        (7, 7),
        (5, 7),
        (6, 7),
        (4, 11),
        (10, 5),
        (6, 9),
        (8, 7),
    ];
    check_random::<u64>(SIZES, 4000, 200_000);
}

#[test]
fn late_positions_on_wide_words_are_told_right() {
    check_random::<u128>(&[(9, 7), (8, 8), (11, 6), (13, 4)], 2000, 100_000);
}

/// Whether Max reaches `wanted` by the rules alone.
fn reaches<B: Bitboard>(
    game: &Connect4<B>,
    position: &mut Stones<B>,
    wanted: Outcome,
    known: &mut HashMap<B, bool>,
) -> bool {
    if let Some(outcome) = game.outcome(position) {
        return outcome >= wanted;
    }
    let key = game.key(position);
    if let Some(&reached) = known.get(&key) {
        return reached;
    }
    let mut moves = MoveList::new();
    game.moves(position, &mut moves);
    let max = game.to_move(position) == Player::Max;
    // Max looks for a move that reaches it, Min for one that does not.
    let found = moves.iter().any(|&mv| {
        game.play(position, mv);
        let reached = reaches(game, position, wanted, known);
        game.undo(position, mv);
        reached == max
    });
    known.insert(key, found == max);
    found == max
}

/// Whether the rules alone confirm what `bounds` say.
fn confirmed<B: Bitboard>(game: &Connect4<B>, position: &Stones<B>, bounds: Bounds) -> bool {
    let reaches = |wanted| reaches(game, &mut position.clone(), wanted, &mut HashMap::default());
    let scale = game.scale().bounds();
    (bounds.lower == scale.lower || reaches(bounds.lower))
        && (bounds.upper == scale.upper || !reaches(Outcome(bounds.upper.0 + 1)))
}

/// Of 100,000 positions in the middle of a game, those of which a piece of the knowledge says more
/// than is known without it, until there are enough for this piece.
#[test]
fn every_piece_is_right_where_it_makes_a_difference() {
    const SIZES: &[(u32, u32)] =
        &[(5, 5), (6, 5), (7, 5), (8, 5), (5, 6), (6, 6), (7, 6), (6, 7), (7, 7)];
    const ENOUGH: usize = 100;
    let told = Cell::new([0; PIECES.len()]);
    let mut runner =
        TestRunner::new(ProptestConfig { cases: 100_000, ..ProptestConfig::default() });
    let cases = (prop::sample::select(SIZES), prop::collection::vec(0usize..64, 50), 10u32..18);
    let outcome = runner.run(&cases, |((width, height), choices, left)| {
        let game = Connect4::<u64>::new(width, height).expect("a size in range");
        let position = late_position(&game, &choices, left);
        let bounds = |rules| game.clone().with_rules(rules).static_bounds(&position);
        let mut counts = told.get();
        for (count, (piece, without, with)) in counts.iter_mut().zip(PIECES) {
            let told = bounds(with);
            if *count < ENOUGH && told != bounds(without) {
                *count += 1;
                let right = confirmed(&game, &position, told);
                prop_assert!(right, "{piece} {told:?}: {}", game.show(&position));
            }
        }
        told.set(counts);
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
    let told = told.get();
    assert!(told.iter().all(|&count| count >= 20), "{told:?}");
}
