//! What a plan is said to be worth, it is worth: compared with minimax by the rules alone.

use std::collections::HashMap;

use jlpns_verify::plan::{Plans, Stones, Worth};
use jlpns_verify::{Settings, check};

use crate::naive::writer::block;
use crate::naive::{checked, fails, unreadable};

/// A board of Connect Four as plans have it, for minimax.
struct Game {
    columns: u32,
    rows: u32,
    lines: Vec<u64>,
    /// What the player to move gets: -1, 0 or 1.
    values: HashMap<(u64, u64), i32>,
}

impl Game {
    fn new(columns: u32, rows: u32) -> Game {
        let cell = |column: i32, row: i32| {
            let fits = (0..columns as i32).contains(&column) && (0..rows as i32).contains(&row);
            fits.then(|| 1 << (column * (rows as i32 + 1) + row))
        };
        let mut lines = vec![];
        for (column, row) in (0..columns as i32).flat_map(|c| (0..rows as i32).map(move |r| (c, r)))
        {
            for (right, up) in [(0, 1), (1, 0), (1, 1), (1, -1)] {
                let cells = (0..4).map(|step| cell(column + step * right, row + step * up));
                lines.extend(cells.sum::<Option<u64>>());
            }
        }
        Game { columns, rows, lines, values: HashMap::new() }
    }

    fn has_four(&self, stones: u64) -> bool {
        self.lines.iter().any(|line| line & !stones == 0)
    }

    fn heights(&self, all: u64) -> Vec<u32> {
        let column = |index| all >> (index * (self.rows + 1)) & ((1 << self.rows) - 1);
        (0..self.columns).map(|index| column(index).count_ones()).collect()
    }

    /// All stones after each move.
    fn moves(&self, all: u64) -> Vec<u64> {
        let heights = self.heights(all);
        let open = (0..self.columns).filter(|&index| heights[index as usize] < self.rows);
        open.map(|index| all | 1 << (index * (self.rows + 1) + heights[index as usize])).collect()
    }

    /// What the player to move gets; `last` are the stones of the other one.
    fn value(&mut self, last: u64, all: u64) -> i32 {
        if self.has_four(last) {
            return -1;
        }
        if let Some(&value) = self.values.get(&(last, all)) {
            return value;
        }
        let mut value = if self.moves(all).is_empty() { 0 } else { -1 };
        for after in self.moves(all) {
            value = value.max(-self.value(after & !last, after));
        }
        self.values.insert((last, all), value);
        value
    }

    /// All plans that name pairs of columns that are not full, and switches that lie in them.
    fn plans(&self, all: u64) -> Vec<Vec<u8>> {
        let empty: Vec<u32> = self.heights(all).iter().map(|height| self.rows - height).collect();
        let mut plans = vec![];
        add_plans(&empty, 0, &mut vec![0; empty.len()], 1, &mut plans);
        plans
    }
}

fn add_plans(empty: &[u32], index: usize, plan: &mut Vec<u8>, pair: u8, plans: &mut Vec<Vec<u8>>) {
    if index == empty.len() {
        plans.push(plan.clone());
        return;
    }
    add_plans(empty, index + 1, plan, pair, plans);
    if plan[index] != 0 {
        return;
    }
    for other in index + 1..empty.len() {
        if plan[other] == 0 {
            for switch in 0..empty[index].div_ceil(2) {
                for partner in 0..empty[other].div_ceil(2) {
                    plan[index] = pair + 16 * switch as u8;
                    plan[other] = pair + 16 * partner as u8;
                    add_plans(empty, index + 1, plan, pair + 1, plans);
                }
            }
            (plan[index], plan[other]) = (0, 0);
        }
    }
}

/// Numbers that look like chance, and are the same each time.
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }
}

/// How many plans were worth something: those that hold, and those that win.
#[derive(Debug, Default)]
struct Told {
    holds: usize,
    wins: usize,
}

/// Plays a game by chance until `left` cells are empty, and compares all plans there, and on the way.
fn compare(game: &mut Game, chance: &mut Chance, left: u32, told: &mut Told) {
    let plans = Plans::new(game.columns, game.rows);
    let (mut last, mut all) = (0u64, 0u64);
    while !game.has_four(last) && game.columns * game.rows > all.count_ones() {
        if game.columns * game.rows - all.count_ones() <= left {
            let stones = Stones { claimant: last.into(), all: all.into() };
            for plan in game.plans(all) {
                let Ok(worth) = plans.read(stones, &plan) else { continue };
                let value = -game.value(last, all);
                match worth {
                    Worth::Holds => told.holds += 1,
                    Worth::Wins => told.wins += 1,
                }
                let least = if worth == Worth::Wins { 1 } else { 0 };
                assert!(value >= least, "{worth:?} by {plan:?} of {last:#x} in {all:#x}: {value}");
            }
        }
        let moves = game.moves(all);
        let after = moves[chance.below(moves.len())];
        (last, all) = (after & !last, after);
    }
}

fn compare_many(sizes: &[(u32, u32)], left: u32, games: usize) -> Told {
    let (mut told, mut chance) = (Told::default(), Chance(7));
    for &(columns, rows) in sizes {
        let mut game = Game::new(columns, rows);
        for _ in 0..games {
            compare(&mut game, &mut chance, left, &mut told);
            if game.values.len() > 1 << 20 {
                game.values.clear();
            }
        }
    }
    told
}

#[test]
fn plans_on_small_boards_are_worth_what_they_say() {
    let told = compare_many(&[(4, 4), (3, 5), (4, 3), (2, 7), (1, 6)], 20, 400);
    assert!(told.holds > 1000 && told.wins > 50, "{told:?}");
}

#[test]
fn plans_in_late_positions_are_worth_what_they_say() {
    let sizes =
        [(5, 4), (4, 5), (6, 4), (5, 5), (6, 5), (5, 6), (7, 6), (4, 7), (7, 5), (6, 7), (4, 8)];
    let told = compare_many(&sizes, 12, 250);
    assert!(told.holds > 1000 && told.wins > 500, "{told:?}");
}

/// A certificate of one claim after moves, with one entry.
fn compact(spec: &str, moves: &str, claim: &str, entry: &[u8]) -> Vec<u8> {
    let header = format!(
        "jlpns certificate, version 1\ngame: {spec}\nrules: 1\nmoves: {moves}\nkind: compact\n\
         claim: {claim}, positions: 00000000000000000001\n\n"
    );
    let mut file = header.clone().into_bytes();
    let mut entry = block(entry);
    entry[0] = 1;
    file.extend(entry);
    file.extend([0; 8]);
    file.extend(crc32fast::hash(header.as_bytes()).to_le_bytes());
    file
}

/// On a board of three columns and four rows, the other player's columns are followed or paired.
#[test]
fn a_plan_ends_a_claim() {
    // Max begins in the middle, so three cells are left there, and four in each of the others.
    let file = |claim, entry: &[u8]| compact("connect4:3x4", "", claim, entry);
    let proved = |entry| {
        checked(&compact("connect4:3x4", "2", "<=draw", entry)).map(|proved| proved.positions)
    };
    // Min answers in the middle: two cells there, and four to the left and the right.
    assert_eq!(proved(&[128 + 1, 0, 0, 0]), Ok(1));
    // Or to the left, which leaves two odd columns.
    assert_eq!(proved(&[128, 1, 1, 0]), Ok(1));
    assert_eq!(proved(&[128, 17, 1, 0]), Ok(1));
    let why = fails(&compact("connect4:3x4", "2", "<=draw", &[128, 0, 0, 0]));
    assert!(why.contains("after 1, the plan may be without an answer in column 1"), "{why}");
    for plan in [[1, 0, 0], [16, 16, 0], [1, 1, 1], [1, 2, 0]] {
        let [a, b, c] = plan;
        let why = fails(&compact("connect4:3x4", "2", "<=draw", &[128, a, b, c]));
        assert!(why.contains("names no pair"), "{why}");
    }
    let why = fails(&compact("connect4:3x4", "2", "<=draw", &[128, 33, 1, 0]));
    assert!(why.contains("without an answer"), "{why}");
    let why = fails(&compact("connect4:3x4", "2", "<=loss", &[128 + 1, 0, 0, 0]));
    assert!(why.contains("the plan holds the game, but does not win it"), "{why}");
    let why = fails(&compact("connect4:3x4", "2", "<=draw", &[1, 0, 1, 0]));
    assert!(why.contains("there is no plan, but there is one"), "{why}");
    let why = fails(&compact("connect4:3x4", "2", "<=draw", &[128 + 3, 0, 0, 0]));
    assert!(why.contains("number 3 is no legal move's"), "{why}");
    // An odd number of cells is left, and no threat is there.
    let why = fails(&file(">=draw", &[128, 0, 0, 0]));
    assert!(why.contains("without an answer"), "{why}");
}

#[test]
fn an_entry_has_a_number_and_a_plan() {
    for entry in [&[129, 0, 0][..], &[129, 0, 0, 0, 0], &[129]] {
        let why = unreadable(&compact("connect4:3x4", "2", "<=draw", entry));
        assert!(why.contains("block 1 is corrupt"), "{why}");
    }
    let why = unreadable(&compact("woodpush:7", "", ">=-1", &[0]));
    assert!(why.contains("which only Connect Four has"), "{why}");
}

/// Made of what an alpha-beta search of the claim had left, by one thread.
#[test]
fn the_first_player_wins_the_usual_board() {
    let file = include_bytes!("../certificates/7x6-win.compact");
    let proved = check(&file[..], &Settings::default(), &mut ()).unwrap();
    assert_eq!(proved.to_string(), "connect4:7x6 is a win (>=win), 106935 positions");
}
