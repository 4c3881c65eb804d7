//! Names of moves that begin with one another.

use super::families::Heap;
use super::*;

#[test]
fn a_comma_stands_only_where_another_move_would_be_read() {
    let heap = Heap::new(40);
    for (moves, text) in [
        (&[1, 2][..], "1,2"),
        (&[12], "12"),
        (&[1, 3], "13"),
        (&[1, 1, 1, 1], "1,1,1,1"),
        (&[1, 12, 3], "1,123"),
        (&[1, 1, 2], "1,1,2"),
        (&[11, 1, 3, 10, 10, 1, 4], "1113101014"),
        (&[], ""),
    ] {
        let moves: Vec<Move> = moves.iter().map(|&code| Move(code)).collect();
        assert_eq!(format_moves(&heap, &moves), text);
        assert_eq!(parse_moves(&heap, text), Ok(moves), "{text}");
    }
    // Near the end of the heap 12 is no move any more, and there is nothing to tell apart.
    let moves = [12, 12, 12, 1, 2, 1].map(Move).to_vec();
    assert_eq!(format_moves(&heap, &moves), "121212121");
    assert_eq!(parse_moves(&heap, "121212121"), Ok(moves));
}

/// Reads all ways to cut a text into names of legal moves.
fn readings<G: Game>(game: &G, position: &G::Position, text: &str) -> usize {
    if text.is_empty() {
        return 1;
    }
    if game.outcome(position).is_some() {
        return 0;
    }
    let mut moves = MoveList::new();
    game.moves(position, &mut moves);
    let mut count = 0;
    for mv in moves {
        if let Some(rest) = text.strip_prefix(&game.move_name(position, mv)) {
            let mut next = position.clone();
            game.play(&mut next, mv);
            count += readings(game, &next, rest);
        }
    }
    count
}

proptest! {
    #[test]
    fn moves_of_any_names_come_back(size in 1u16..200,
                                    choices in prop::collection::vec(0usize..64, 0..60)) {
        let heap = Heap::new(size);
        let moves = moves_of(&heap, &choices);
        let text = format_moves(&heap, &moves);
        prop_assert_eq!(parse_moves(&heap, &text), Ok(moves), "{}", text);
    }

    /// On boards of more than ten cells `s1` and `s10` can both be legal, but a name begins with a
    /// letter: no text can be read in two ways, and none needs a comma.
    #[test]
    fn woodpush_needs_no_commas(
        row in prop::collection::vec("[LR..]", 11..=woodpush::MAX_CELLS),
        choices in prop::collection::vec(0usize..64, 0..200)) {
        let start = format!("{}LR", &row.concat()[2..]);
        let game = Woodpush::from_text(&start).unwrap();
        let moves = moves_of(&game, &choices);
        let text = format_moves(&game, &moves);
        prop_assert!(!text.contains(','), "{}", text);
        prop_assert_eq!(readings(&game, &game.start(), &text), 1, "{}", text);
        prop_assert_eq!(parse_moves(&game, &text), Ok(moves), "{}", text);
    }
}
