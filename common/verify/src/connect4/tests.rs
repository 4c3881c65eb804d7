use std::collections::BTreeSet;

use super::*;

fn header(moves: &str, claim: &str) -> Header {
    let text = format!(
        "jlpns certificate, version 1\ngame: connect4:7x6\nrules: 1\nmoves: {moves}\nkind: full\n\
         claim: {claim}, positions: 00000000000000000000\n\n"
    );
    Header::read(&mut text.as_bytes()).unwrap()
}

fn claim(text: &str) -> Claim {
    header("", text).claims[0].clone()
}

fn rules<B: Bits>(columns: u32, rows: u32, moves: &str) -> Connect4<B> {
    Connect4::new(columns, rows, &header(moves, ">=win")).unwrap()
}

#[test]
fn positions_are_the_numbers_of_the_page() {
    // Three columns of two cells; Max has put a stone to the left, and Min one on it.
    let game = rules::<u64>(3, 2, "11");
    let mut layer = vec![];
    game.first(&claim(">=draw"), &mut layer).unwrap();
    // As it is, 001 001 101 with the leftmost column last; its mirror image is 101 001 001, which is larger.
    assert_eq!(layer, [0b001_001_101]);
    assert_eq!(game.mirror(0b001_001_101), 0b101_001_001);
    let mut layer = vec![];
    rules::<u64>(3, 2, "3").first(&claim("<=draw"), &mut layer).unwrap();
    // Min's view of Max's stone to the right: 010 001 001, so the mirror image is the standard form.
    assert_eq!(layer, [0b001_001_010]);
}

/// The same moves from the same positions, in integers of both sizes.
#[test]
fn integers_of_both_sizes_agree() {
    for (columns, rows) in [(7, 6), (4, 4), (5, 11), (8, 7), (3, 20), (31, 1)] {
        let narrow = rules::<u64>(columns, rows, "");
        let wide = rules::<u128>(columns, rows, "");
        for claim in [claim(">=win"), claim(">=draw"), claim("<=draw"), claim("<=loss")] {
            let mut layer = vec![];
            narrow.first(&claim, &mut layer).unwrap();
            for _ in 0..rows * columns / 2 {
                let mut next = BTreeSet::new();
                for (index, position) in layer.iter().enumerate() {
                    for number in [0, 1, index as u8 % 7, 255] {
                        let (mut small, mut large) = (vec![], vec![]);
                        let played = narrow.play(&claim, position, &[number], &mut small);
                        let wide = wide.play(&claim, &u128::from(*position), &[number], &mut large);
                        assert_eq!(played, wide);
                        assert!(small.iter().map(|&small| u128::from(small)).eq(large));
                        next.extend(small);
                    }
                }
                // Some of all stages are enough.
                let step = next.len() / 50 + 1;
                layer = next.into_iter().step_by(step).collect();
            }
        }
    }
}
