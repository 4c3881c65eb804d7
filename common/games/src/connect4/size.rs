//! Sizes of boards that are refused.

/// Why a board size is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SizeError {
    /// A side of length 0.
    #[error("a Connect Four board needs at least one column and one row, not {0}x{1}")]
    Empty(u32, u32),
    /// More cells than a bitboard has.
    #[error(
        "a Connect Four board of {0} columns and {1} rows is too large: columns * (rows + 1) may \
         be at most {2}"
    )]
    TooLarge(u32, u32, u32),
}
