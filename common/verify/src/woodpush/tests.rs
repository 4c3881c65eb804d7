use super::*;

fn game(cells: u32) -> Woodpush {
    Woodpush { cells, components: HashMap::new(), position: Box::new([0]), left: true }
}

fn board(text: &str) -> u64 {
    let bit = |(cell, piece)| match piece {
        'L' => 1u64 << cell,
        'R' => 1u64 << (32 + cell),
        _ => 0,
    };
    text.chars().enumerate().map(bit).sum()
}

/// All moves of a side, and the boards that they make.
fn made(text: &str, left: bool) -> Vec<(String, String)> {
    let game = game(text.len() as u32);
    let made = moves(game.cells, board(text), left);
    made.map(|(made, board)| (made.name(), game.text(board))).collect()
}

#[track_caller]
fn assert_moves(text: &str, left: bool, expected: &[(&str, &str)]) {
    let expected: Vec<(String, String)> =
        expected.iter().map(|&(name, board)| (name.into(), board.into())).collect();
    assert_eq!(made(text, left), expected, "{text}");
    // What is on no cell would be seen in no text.
    for (_, board) in moves(text.len() as u32, board(text), left) {
        let cells = (1 << text.len()) - 1;
        assert_eq!(board & !(cells | cells << 32), 0, "{text}");
    }
}

#[test]
fn slides_go_over_pieces_to_the_nearest_empty_cell_or_leave_the_board() {
    assert_moves("L.L.R.", true, &[("s0", ".LL.R."), ("s2", "L..LR.")]);
    assert_moves("LLR..R", true, &[("s0", ".LRL.R"), ("s1", "L.RL.R")]);
    assert_moves("....LR", true, &[("s4", ".....R")]);
    assert_moves("L..R.R", false, &[("s3", "L.R..R"), ("s5", "L..RR.")]);
    assert_moves("R.L..R", false, &[("s0", "..L..R"), ("s5", "R.L.R.")]);
}

#[test]
fn pushes_move_the_string_behind_a_piece_and_what_is_on_the_edge_is_gone() {
    assert_moves("RL....", true, &[("s1", "R.L..."), ("p1", "L.....")]);
    assert_moves("....RL", false, &[("s4", "...R.L"), ("p4", ".....R")]);
    assert_moves(".LRL..", true, &[("s1", "..RLL."), ("s3", ".LR.L."), ("p3", "LRL...")]);
    assert_moves(
        "LRRL.L",
        true,
        &[("s0", ".RRLLL"), ("s3", "LRR.LL"), ("p3", "RRL..L"), ("s5", "LRRL..")],
    );
    assert_moves("L.RL.R", false, &[("s2", "LR.L.R"), ("p2", "L..RLR"), ("s5", "L.RLR.")]);
    assert_moves(
        "..RLRL",
        false,
        &[("s2", ".R.LRL"), ("p2", "...RLR"), ("s4", ".RRL.L"), ("p4", "..RL.R")],
    );
    assert_moves("LR....", true, &[("s0", ".RL...")]);
}

#[test]
fn boards_of_all_32_cells_have_room() {
    let text = format!("RL{}RL", ".".repeat(28));
    let pushed = format!("L{}RL", ".".repeat(29));
    assert!(made(&text, true).contains(&("p1".into(), pushed)));
    let pushed = format!("RL{}R", ".".repeat(29));
    assert!(made(&text, false).contains(&("p30".into(), pushed)));
}

#[test]
fn boards_belong_together_if_each_leads_to_the_other() {
    let found = components(6, board("L.LR.R"), usize::MAX).unwrap();
    let leads = |from: u64| {
        let mut seen = vec![from];
        let mut next = 0;
        while next < seen.len() {
            for (_, after) in moves(6, seen[next], true).chain(moves(6, seen[next], false)) {
                if !seen.contains(&after) {
                    seen.push(after);
                }
            }
            next += 1;
        }
        seen
    };
    let all: HashMap<u64, Vec<u64>> = found.keys().map(|&board| (board, leads(board))).collect();
    for (one, from_one) in &all {
        for (other, from_other) in &all {
            let together = from_one.contains(other) && from_other.contains(one);
            assert_eq!(found[one] == found[other], together);
        }
    }
}
