//! Who is more likely to win on an empty board, or whether most likely nobody does.
//!
//! With an even number of rows the second player can answer every stone in its own column, and gets the cells of every
//! second row (zugzwang: Allis 1988, section 3.3). With an odd number nobody can do so for long. On narrow boards there is
//! no room for threats enough, and seven columns are the first player's with an even number of rows, nobody's with an odd
//! one: that is how it turned out. Of the 52 boards whose values are published (John Tromp; Christophe Steininger's c4) 49
//! are as expected here; two are drawn that are expected to be won (6x5, 7x4), and one is won that is expected to be lost
//! (10x6).

use crate::Player;

/// A board of so many columns or fewer is expected to be drawn.
const NARROW: u32 = 5;

/// The number of columns with which the rows count the other way round.
const TURNED: u32 = 7;

/// Who is favoured on a board of this size, if either is: who wins, or on a board that is expected to be drawn who would
/// on a wider one.
pub(super) fn favoured(width: u32, height: u32) -> Option<Player> {
    match (width.is_multiple_of(2), height.is_multiple_of(2)) {
        (_, false) => Some(Player::Max),
        (false, true) if width <= NARROW => None,
        (false, true) if width == TURNED => Some(Player::Max),
        (_, true) => Some(Player::Min),
    }
}

/// Whether a board of this size is expected to be drawn.
pub(super) fn is_drawish(width: u32, height: u32) -> bool {
    width <= NARROW || width == TURNED && !height.is_multiple_of(2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Game;
    use crate::connect4::Connect4;

    /// The published values: numbers of rows by the number of columns, of boards that the first player wins, of drawn and
    /// of lost ones.
    const WON: [(u32, &[u32]); 6] = [
        (6, &[7, 9, 11]),
        (7, &[6, 8, 10]),
        (8, &[5, 7, 9]),
        (9, &[5, 7]),
        (10, &[5, 6]),
        (11, &[5]),
    ];
    const DRAWN: [(u32, &[u32]); 4] = [
        (4, &[4, 5, 6, 7, 8, 9, 10, 11, 12, 13]),
        (5, &[4, 5, 6, 7, 8, 9, 10, 11, 12, 13]),
        (6, &[5]),
        (7, &[4, 5, 7, 9]),
    ];
    const LOST: [(u32, &[u32]); 6] = [
        (6, &[4, 6, 8, 10, 12]),
        (8, &[4, 6, 8]),
        (9, &[4, 6]),
        (10, &[4]),
        (11, &[4]),
        (12, &[4]),
    ];

    /// The boards that are not as expected.
    fn surprises(
        boards: &[(u32, &[u32])],
        is_as_expected: fn(u32, u32) -> bool,
    ) -> Vec<(u32, u32)> {
        let sizes = boards.iter().flat_map(|&(width, rows)| rows.iter().map(move |&h| (width, h)));
        sizes.filter(|&(width, height)| !is_as_expected(width, height)).collect()
    }

    #[test]
    fn nearly_all_published_values_are_as_expected() {
        assert_eq!(
            surprises(&WON, |w, h| !is_drawish(w, h) && favoured(w, h) == Some(Player::Max)),
            [(10, 6)]
        );
        assert_eq!(surprises(&DRAWN, is_drawish), [(6, 5), (7, 4)]);
        assert_eq!(
            surprises(&LOST, |w, h| !is_drawish(w, h) && favoured(w, h) == Some(Player::Min)),
            []
        );
    }

    #[test]
    fn a_draw_is_expected_whatever_the_outcomes_are() {
        let board = |width, height| Connect4::<u64>::new(width, height).expect("a size in range");
        for game in [board(7, 7), board(7, 7).with_last_moves()] {
            let expected = game.expected_value().expect("a draw");
            assert_eq!(game.scale().winner(expected), Ok(None));
        }
        for game in [board(7, 6), board(7, 6).with_last_moves()] {
            assert_eq!(game.expected_value(), None);
        }
    }
}
