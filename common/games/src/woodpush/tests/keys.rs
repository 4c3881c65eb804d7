//! The key against the histories that it stands for.

use std::collections::{BTreeSet, HashMap};

use super::*;

/// What a key stands for, taken from the rows of [`Cells`] and not from masks and tables: the row,
/// who is to move, and the earlier rows that could come back but for the rule.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct View {
    row: Vec<char>,
    left_to_move: bool,
    forbidden: BTreeSet<Vec<char>>,
}

/// The rows that a row leads to if the players move in any turn and may repeat.
#[derive(Default)]
struct Ways(HashMap<Vec<char>, BTreeSet<Vec<char>>>);

impl Ways {
    fn from(&mut self, row: &[char]) -> &BTreeSet<Vec<char>> {
        self.0.entry(row.to_vec()).or_insert_with(|| {
            let (mut met, mut open) = (BTreeSet::new(), vec![row.to_vec()]);
            while let Some(row) = open.pop() {
                if Cells::count(&row, 'L') == 0 || Cells::count(&row, 'R') == 0 {
                    continue;
                }
                for left_to_move in [true, false] {
                    let cells = Cells { row: row.clone(), left_to_move, earlier: Vec::new() };
                    for (_, next) in cells.moves() {
                        if met.insert(next.clone()) {
                            open.push(next);
                        }
                    }
                }
            }
            met
        })
    }

    fn view(&mut self, cells: &Cells) -> View {
        let back = self.from(&cells.row);
        View {
            row: cells.row.clone(),
            left_to_move: cells.left_to_move,
            forbidden: cells.earlier.iter().filter(|row| back.contains(*row)).cloned().collect(),
        }
    }
}

/// What was seen of the positions with one key.
#[derive(Debug)]
struct Seen {
    view: View,
    moves: Vec<Move>,
    value: Option<Outcome>,
}

/// A walk through the positions below one, without any merging.
#[derive(Default)]
struct Walk {
    by_key: HashMap<u128, Seen>,
    keys: HashMap<View, u128>,
    ways: Ways,
    positions: usize,
    /// How many more positions to visit.
    left: usize,
}

impl Walk {
    /// Visits `position` and what is below; gives back its minimax value if there were visits
    /// enough.
    fn visit(&mut self, game: &Woodpush, position: &mut Line, cells: &Cells) -> Option<Outcome> {
        self.left = self.left.checked_sub(1)?;
        self.positions += 1;
        let mut moves = MoveList::new();
        let outcome = game.outcome(position);
        if outcome.is_none() {
            game.moves(position, &mut moves);
        }
        let mut values = outcome.map(Some).into_iter().collect::<Vec<_>>();
        let next = cells.moves();
        for (index, &mv) in moves.iter().enumerate() {
            let mut cells = cells.clone();
            cells.play(next[index].1.clone());
            game.play(position, mv);
            values.push(self.visit(game, position, &cells));
            game.undo(position, mv);
        }
        let known: Option<Vec<Outcome>> = values.into_iter().collect();
        let value = known.and_then(|known| match game.to_move(position) {
            Player::Max => known.into_iter().max(),
            Player::Min => known.into_iter().min(),
        });
        let view = self.ways.view(cells);
        self.note(game.key(position), view, &moves, value);
        value
    }

    fn note(&mut self, key: u128, view: View, moves: &[Move], value: Option<Outcome>) {
        assert_eq!(*self.keys.entry(view.clone()).or_insert(key), key, "two keys for {view:?}");
        let new = || Seen { view: view.clone(), moves: moves.to_vec(), value };
        let seen = self.by_key.entry(key).or_insert_with(new);
        assert_eq!(seen.view, view, "one key for two histories");
        assert_eq!(seen.moves, moves, "{view:?}");
        if let (Some(one), Some(other)) = (seen.value, value) {
            assert_eq!(one, other, "{view:?}");
        }
        seen.value = seen.value.or(value);
    }
}

/// Walks through at most `limit` positions below the one after these moves.
fn walk(text: &str, choices: &[usize], limit: usize) -> Walk {
    let game = Woodpush::from_text(text).unwrap();
    let (mut position, mut cells) = (game.start(), Cells::new(text));
    for &choice in choices {
        let mut moves = MoveList::new();
        game.moves(&position, &mut moves);
        if game.outcome(&position).is_some() {
            break;
        }
        let index = choice % moves.len();
        cells.play(cells.moves()[index].1.clone());
        game.play(&mut position, moves[index]);
    }
    let mut walk = Walk { left: limit, ..Walk::default() };
    walk.visit(&game, &mut position, &cells);
    walk
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    #[test]
    fn a_key_stands_for_the_board_and_the_set_of_forbidden_boards(
        text in board(MIN_CELLS..=8), choices in prop::collection::vec(0usize..64, 0..30)) {
        walk(&text, &choices, 1000);
    }
}

#[test]
fn histories_with_one_key_have_one_value() {
    for text in ["L.L.RR", "L.LR.R", "LR..LR", "RL...RL"] {
        let walk = walk(text, &[], 100_000);
        assert!(walk.by_key.values().all(|seen| seen.value.is_some()), "the walk is complete");
        let (positions, keys) = (walk.positions, walk.by_key.len());
        assert!(positions > 3 * keys, "{text}: {positions} positions with {keys} keys");
        let mut boards: HashMap<_, BTreeSet<u128>> = HashMap::default();
        for (&key, Seen { view, .. }) in &walk.by_key {
            boards.entry((&view.row, view.left_to_move)).or_default().insert(key);
        }
        assert!(boards.values().any(|keys| keys.len() > 1), "{text}: history tells boards apart");
    }
}
