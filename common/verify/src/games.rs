//! The games that the checker knows, listed once.

/// Runs an expression with the rules of a header's game.
macro_rules! with_rules {
    ($header:expr, $settings:expr, $rules:ident => $run:expr) => {
        match $header.game {
            $crate::header::Game::Connect4 { columns, rows } if columns * (rows + 1) <= 64 => {
                let $rules =
                    &$crate::connect4::Connect4::<u64>::new(columns, rows, &$header.moves)?
                        .of_kind($header.compact);
                $run
            }
            $crate::header::Game::Connect4 { columns, rows } => {
                let $rules =
                    &$crate::connect4::Connect4::<u128>::new(columns, rows, &$header.moves)?
                        .of_kind($header.compact);
                $run
            }
            $crate::header::Game::Woodpush { cells, board } => {
                let $rules =
                    &$crate::woodpush::Woodpush::new(cells, board, &$header.moves, $settings)?;
                $run
            }
        }
    };
}
pub(crate) use with_rules;
