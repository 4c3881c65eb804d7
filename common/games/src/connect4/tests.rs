//! The bitboards against the rules written out.

mod double_threat;
mod nearly_full;
mod turned;
mod written_out;

use proptest::prelude::*;

use super::*;

/// A board as rows of cells, with the rules written out: the bitboards are checked against it.
#[derive(Clone)]
struct Cells {
    width: usize,
    height: usize,
    columns: Vec<Vec<Player>>,
    to_move: Player,
}

impl Cells {
    fn at(&self, column: i32, row: i32) -> Option<Player> {
        let column = self.columns.get(usize::try_from(column).ok()?)?;
        column.get(usize::try_from(row).ok()?).copied()
    }

    /// All rows from the top, and the names of the columns below them.
    fn text(&self) -> String {
        let mut text = String::new();
        for row in (0..self.height as i32).rev() {
            text.extend((0..self.width as i32).map(|column| match self.at(column, row) {
                Some(Player::Max) => 'x',
                Some(Player::Min) => 'o',
                None => '.',
            }));
            text.push('\n');
        }
        text + &column_names(self.width as u32)
    }

    fn outcome(&self) -> Option<Outcome> {
        for column in 0..self.width as i32 {
            for row in 0..self.height as i32 {
                for (dc, dr) in [(1, 0), (0, 1), (1, 1), (1, -1)] {
                    let line: Vec<_> =
                        (0..4).map(|i| self.at(column + i * dc, row + i * dr)).collect();
                    if let Some(owner) = line[0]
                        && line.iter().all(|&c| c == Some(owner))
                    {
                        return Some(if owner == Player::Max { WIN } else { LOSS });
                    }
                }
            }
        }
        self.columns.iter().all(|c| c.len() == self.height).then_some(DRAW)
    }
}

/// The names of so many columns.
fn column_names(width: u32) -> String {
    let names = ('1'..='9').chain('a'..='z').chain('A'..='Z').chain(['+', '-', '=']);
    names.take(width as usize).collect()
}

fn follow<B: Bitboard>(width: u32, height: u32, choices: &[usize]) {
    let game = Connect4::<B>::new(width, height).unwrap();
    let mut position = game.start();
    let mut cells = Cells {
        width: width as usize,
        height: height as usize,
        columns: vec![Vec::new(); width as usize],
        to_move: Player::Max,
    };
    let mut mirror = game.start();
    let mut played = Vec::new();
    for &choice in choices {
        assert_eq!(game.show(&position), cells.text());
        assert_eq!(game.outcome(&position), cells.outcome());
        assert_eq!(game.key(&position), game.key(&mirror));
        let bounds = game.static_bounds(&position);
        if let Some(outcome) = cells.outcome() {
            assert_eq!(bounds, Bounds::exactly(outcome));
            break;
        }
        let mut moves = MoveList::new();
        game.moves(&position, &mut moves);
        let expected: Vec<Move> = (0..width)
            .filter(|&c| cells.columns[c as usize].len() < height as usize)
            .map(|c| Move(c as u16))
            .collect();
        assert_eq!(moves.to_vec(), expected);
        assert_eq!(game.mobility(&position) as usize, expected.len());
        let names: String = moves.iter().map(|&mv| game.move_name(&position, mv)).collect();
        let of_all = column_names(width);
        let name = |mv: &Move| char::from(of_all.as_bytes()[usize::from(mv.0)]);
        assert_eq!(names, expected.iter().map(name).collect::<String>());
        assert_eq!(game.to_move(&position), cells.to_move);
        let mv = moves[choice % moves.len()];
        played.push((position, mv));
        let mirrored = game.mirrored_move(&position, mv).expect("Connect Four has mirror images");
        assert_eq!(mirrored, Move(width as u16 - 1 - mv.0));
        for (line, column) in
            (0..=height as usize).flat_map(|l| (0..=width as usize).map(move |c| (l, c)))
        {
            let row = (height as usize).checked_sub(line + 1);
            let stone = row.and_then(|row| cells.columns.get(column)?.get(row).copied());
            assert_eq!(game.piece_at(&position, line, column), stone);
            assert_eq!(
                game.piece_at(&mirror, line, (width as usize).wrapping_sub(column + 1)),
                stone
            );
        }
        game.play(&mut position, mv);
        game.play(&mut mirror, mirrored);
        cells.columns[usize::from(mv.0)].push(cells.to_move);
        cells.to_move = cells.to_move.opponent();
    }
    for (before, mv) in played.into_iter().rev() {
        game.undo(&mut position, mv);
        assert_eq!(position, before);
    }
}

proptest! {
    #[test]
    fn bitboards_follow_the_rules(width in 1u32..=11, height in 1u32..=10,
                                  choices in prop::collection::vec(0usize..64, 0..121)) {
        if width * (height + 1) <= 64 {
            follow::<u64>(width, height, &choices);
        }
        if width * (height + 1) <= 128 {
            follow::<u128>(width, height, &choices);
        }
    }

    #[test]
    fn extreme_shapes_follow_the_rules(shape in prop::sample::select(vec![
        (1, 127), (2, 63), (64, 1), (42, 2), (32, 3), (25, 4), (4, 31), (3, 41), (1, 1)]),
                                       choices in prop::collection::vec(0usize..64, 0..130)) {
        follow::<u128>(shape.0, shape.1, &choices);
    }
}

#[test]
fn sizes_out_of_range_are_refused() {
    assert_eq!(Connect4::<u64>::new(0, 4).unwrap_err(), SizeError::Empty(0, 4));
    assert_eq!(Connect4::<u64>::new(8, 8).unwrap_err(), SizeError::TooLarge(8, 8, 64));
    assert!(Connect4::<u128>::new(8, 15).is_ok());
    assert!(Connect4::<u128>::new(u32::MAX, u32::MAX).is_err());
}

#[test]
fn illegal_moves_are_explained() {
    let game = Connect4::<u64>::new(11, 2).unwrap();
    let mut position = game.start();
    for column in [0, 0, 10, 10, 9] {
        game.play(&mut position, Move(column));
    }
    for (text, why) in [
        ("1", Some("column 1 is full")),
        ("b", Some("column b is full")),
        ("c", Some("the board has 11 columns")),
        ("=", Some("the board has 11 columns")),
        ("2", None),
        ("a", None),
        ("!", None),
        ("", None),
    ] {
        assert_eq!(game.why_illegal(&position, text).as_deref(), why, "{text}");
    }
}
