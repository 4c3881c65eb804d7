//! Plans of the compact kind: what they are said to be worth, they are worth, by the rules alone and by minimax.

use std::collections::HashSet;

use jlpns_verify::{Failure, Settings, check};

use crate::naive::writer::block;
use crate::naive::{Bound, Connect4, Naive, Values, bounds, checked, fails, unreadable};

/// A certificate of one claim after moves, with one entry.
fn compact(spec: &str, moves: &str, claim: &str, entry: &[u8]) -> Vec<u8> {
    compact_of_many(spec, moves, claim, 1, entry)
}

/// The same with so many entries, all in one block.
fn compact_of_many(spec: &str, moves: &str, claim: &str, many: u8, entries: &[u8]) -> Vec<u8> {
    let header = format!(
        "jlpns certificate, version 1\ngame: {spec}\nrules: 1\nmoves: {moves}\nkind: compact\n\
         claim: {claim}, positions: {many:020}\n\n"
    );
    let mut file = header.clone().into_bytes();
    let mut entries = block(entries);
    entries[0] = many;
    entries[1..4].fill(0);
    file.extend(entries);
    file.extend([0; 8]);
    file.extend(crc32fast::hash(header.as_bytes()).to_le_bytes());
    file
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

/// A plan in a position, and its file.
struct Planned {
    bound: Bound,
    /// After the claimant's move.
    after: Connect4,
    plan: Vec<u8>,
    file: Vec<u8>,
}

/// Plans in positions of games that are played by chance, when so many cells are left.
fn planned(
    sizes: &[(usize, usize)],
    left: usize,
    games: usize,
    chance: &mut Chance,
) -> Vec<Planned> {
    let mut found = vec![];
    for &(columns, rows) in sizes {
        for _ in 0..games {
            let mut game = Connect4::new(columns, rows);
            let mut empty = columns * rows;
            while game.outcome().is_none() {
                if empty <= left {
                    found.extend(plans_of(&game, columns, rows, chance));
                }
                let legal = game.legal();
                game = game.play(&legal[chance.below(legal.len())]);
                empty -= 1;
            }
        }
    }
    found
}

/// A plan for each bound that the player to move may claim here, and that no move fulfils at once.
fn plans_of(game: &Connect4, columns: usize, rows: usize, chance: &mut Chance) -> Vec<Planned> {
    let claims = bounds(game).into_iter().filter(|bound| bound.0 == game.max_moves());
    let open = claims.filter(|bound| {
        let fulfils = |name| game.play(name).outcome().is_some_and(|outcome| bound.admits(outcome));
        !game.legal().iter().any(|name| fulfils(name))
    });
    let mut plan = |bound: Bound| {
        let (_, position) = game.standard(bound.0);
        let legal = position.legal();
        let number = chance.below(legal.len());
        // Most stones are answered in their own column.
        let follows = 1 + chance.below(8);
        let mut byte = || if chance.below(8) < follows { 0 } else { chance.below(columns) as u8 };
        let plan: Vec<u8> = (0..columns * rows).map(|_| byte()).collect();
        let entry: Vec<u8> = [128 + number as u8].into_iter().chain(plan.clone()).collect();
        let file = compact(&game.spec(), &game.moves(), &bound.text::<Connect4>(), &entry);
        Planned { bound, after: position.play(&legal[number]), plan, file }
    };
    open.map(&mut plan).collect()
}

/// How many plans had which verdict, of claims of a draw and of a win.
#[derive(Debug, Default)]
struct Told {
    draws: usize,
    wins: usize,
    failed: usize,
}

fn compare(sizes: &[(usize, usize)], left: usize, games: usize) -> Told {
    let (mut told, mut chance) = (Told::default(), Chance(7));
    for &size in sizes {
        let mut values = Values::new();
        for Planned { bound, after, plan, file } in planned(&[size], left, games, &mut chance) {
            let holds = after.plan_holds(bound, &plan, &mut HashSet::new());
            match checked(&file) {
                Ok(_) => {
                    assert!(holds, "{plan:?} does not hold {bound:?} in {after:?}");
                    assert!(bound.admits(values.of(&after)), "{bound:?} is wrong in {after:?}");
                    *(if bound.admits(0) { &mut told.draws } else { &mut told.wins }) += 1;
                }
                Err(Failure::Fails(why)) => {
                    assert!(!holds, "{plan:?} holds {bound:?} in {after:?}, but: {why}");
                    told.failed += 1;
                }
                other => panic!("{other:?}"),
            }
        }
    }
    told
}

#[test]
fn plans_on_small_boards_are_worth_what_they_say() {
    let told = compare(&[(4, 4), (3, 5), (4, 3), (2, 7), (1, 6), (5, 3)], 15, 100);
    assert!(told.draws > 500 && told.wins > 50 && told.failed > 500, "{told:?}");
}

#[test]
fn plans_in_late_positions_are_worth_what_they_say() {
    let sizes = [(5, 4), (4, 5), (6, 4), (5, 5), (6, 5), (5, 6), (7, 6), (4, 7), (12, 6)];
    let told = compare(&sizes, 12, 40);
    assert!(told.draws > 200 && told.wins > 50 && told.failed > 500, "{told:?}");
}

/// Files for other checkers.
pub fn files() -> Vec<Vec<u8>> {
    let sizes = [(4, 4), (3, 5), (4, 3), (1, 6), (5, 4), (4, 5), (6, 4), (10, 2)];
    let planned = planned(&sizes, 12, 8, &mut Chance(3));
    let mut files: Vec<Vec<u8>> = planned.into_iter().map(|planned| planned.file).collect();
    let spec = "connect4:3x4";
    for first in [0, 1, 2, 3, 127, 128, 129, 130, 131, 255] {
        for byte in [0, 1, 2, 3, 255] {
            let mut entry = [byte; 13];
            entry[0] = first;
            files.push(compact(spec, "2", "<=draw", &entry));
            entry[1..].fill(0);
            entry[12] = byte;
            files.push(compact(spec, "2", "<=draw", &entry));
            files.push(compact(spec, "2", "<=draw", &entry[..12]));
            files.push(compact_of_many(spec, "2", "<=draw", 2, &entry.repeat(2)));
        }
    }
    files.push(compact("woodpush:7", "", ">=-1", &[0]));
    files.push(too_many());
    files
}

/// Three high columns have more positions than a plan may come to.
fn too_many() -> Vec<u8> {
    let mut entry = [0; 1 + 3 * 41];
    entry[0] = 128;
    compact("connect4:3x41", "2", "<=draw", &entry)
}

#[test]
fn a_plan_has_an_end() {
    let why = fails(&too_many());
    assert!(why.contains("the plan comes to more than 16384 positions"), "{why}");
}

/// On a board of three columns and four rows.
#[test]
fn a_plan_ends_a_claim() {
    let file = |claim, first: u8, plan: [u8; 12]| {
        let entry: Vec<u8> = [first].into_iter().chain(plan).collect();
        compact("connect4:3x4", "2", claim, &entry)
    };
    // Max began in the middle. Min answers there, and follows in all columns.
    assert_eq!(checked(&file("<=draw", 128 + 1, [0; 12])).map(|proved| proved.positions), Ok(1));
    let why = fails(&file("<=loss", 128 + 1, [0; 12]));
    assert!(why.contains("after 2, the plan fills the board, which is a draw"), "{why}");
    let why = fails(&file("<=draw", 128 + 1, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3]));
    assert!(why.contains("after 2, the plan's 3 names no column"), "{why}");
    let why = fails(&file("<=draw", 1, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]));
    assert!(why.contains("there is no plan, but there is one"), "{why}");
    let why = fails(&file("<=draw", 128 + 3, [0; 12]));
    assert!(why.contains("number 3 is no legal move's"), "{why}");
}

#[test]
fn an_entry_has_a_number_and_a_plan() {
    for entry in [&[129; 12][..], &[129; 14], &[129]] {
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
    assert_eq!(proved.to_string(), "connect4:7x6 is a win (>=win), 13059 positions");
}
