//! Each header has one spelling, and what another one says is not known.

use crate::naive::{Certificate, checked, fails, unreadable};

const HEADER: &str = "jlpns certificate, version 1\n\
    game: connect4:4x1\n\
    rules: 1\n\
    moves: \n\
    kind: full\n\
    claim: <=draw, positions: 00000000000000000000\n\n";

/// The sentence for a file whose header has one part replaced.
fn with(from: &str, to: &str) -> String {
    assert!(HEADER.contains(from));
    unreadable(&bytes(&HEADER.replacen(from, to, 1)))
}

fn bytes(header: &str) -> Vec<u8> {
    let none = Certificate { spec: String::new(), moves: String::new(), claims: vec![], block: 1 };
    none.bytes_with(header)
}

/// The page's words as bytes, put together by hand: on a board of two cells Max fills one, and Min the other.
#[test]
fn a_file_written_by_hand_is_proved() {
    let mut file =
        b"jlpns certificate, version 1\ngame: connect4:2x1\nrules: 1\nmoves: \nkind: full\n\
        claim: >=win, positions: 00000000000000000001\n\n"
            .to_vec();
    let header = file.len();
    // One number, 0, in nine bytes.
    let block =
        [1, 0, 0, 0, 9, 0, 0, 0, 0x8d, 0xef, 0x02, 0xd2, 0x78, 0x9c, 0x63, 0, 0, 0, 1, 0, 1];
    file.extend(block);
    file.extend([0; 8]);
    file.extend(crc32fast::hash(&file[..header]).to_le_bytes());
    assert_eq!(
        fails(&file),
        "claim >=win fails in layer 1, position 1: after 1, Min fills the board, which is a draw\n\
         (x is Max, the claimant, o is Min)\n.."
    );
    // For a draw it is enough.
    let mut file = String::from_utf8_lossy(&file[..header]).replace(">=win", ">=draw").into_bytes();
    let header = file.len();
    file.extend(block);
    file.extend([0; 8]);
    file.extend(crc32fast::hash(&file[..header]).to_le_bytes());
    let proved = checked(&file).unwrap();
    assert_eq!(proved.to_string(), "connect4:2x1 is at least a draw (>=draw), 1 positions");
    assert_eq!(proved.sha256.len(), 64);
}

#[test]
fn other_versions_are_not_known() {
    assert!(with("version 1", "version 2").contains("has version `2`, and only 1 is known"));
    assert!(
        with("version 1", "version 18446744073709551615")
            .contains("has version `18446744073709551615`")
    );
    assert!(with("version 1", "version 01").contains("has version `01`"));
    assert!(with("version 1\n", "version 1 \n").contains("has version `1 `"));
    assert!(
        with("rules: 1", "rules: 2").contains("the rules have version `2`, and only 1 is known")
    );
    assert!(with("rules: 1", "rules: 1 ").contains("the rules have version `1 `"));
    assert!(
        with("kind: full", "kind: counts")
            .contains("the kind is `counts`, and only `full` and `compact` are known")
    );
}

#[test]
fn lines_are_all_there_and_in_order() {
    assert!(with("rules: 1\n", "").contains("the header has `moves: ` where `rules: ` belongs"));
    assert!(with("rules: 1\n", "rules: 1\nrules: 1\n").contains("where `moves: ` belongs"));
    assert!(with("moves: \n", "moves:\n").contains("where `moves: ` belongs"));
    assert!(with("kind: full\n", "kind: full\nnote: true\n").contains("where `claim: ` belongs"));
    assert!(
        with("kind: full\n", "kind: full\n\n")
            .contains("the header ends before its line `claim: `")
    );
    assert!(with("game: ", "Game: ").contains("where `game: ` belongs"));
    assert!(with("\nrules", "\r\nrules").contains("is not spelled as"));
    let claim = "claim: <=draw, positions: 00000000000000000000\n";
    assert!(with(claim, &claim.repeat(2)).contains("the first must be `>=`"));
    assert!(with(claim, &claim.repeat(3)).contains("the header goes on after its claims"));
    assert!(checked(&bytes(&HEADER.replace("\n\n", "\n\n\n"))).is_err());
}

#[test]
fn games_have_one_spelling() {
    for spec in [
        "connect4:",
        "connect4:4",
        "connect4:04x1",
        "connect4:+4x1",
        "connect4:4X1",
        "connect4:4x1 ",
    ] {
        assert!(with("connect4:4x1", spec).contains("is not spelled as"), "{spec}");
    }
    for spec in [
        "woodpush:",
        "woodpush:5",
        "woodpush:33",
        "woodpush:08",
        "woodpush:L...R",
        "woodpush:l....r",
    ] {
        assert!(with("connect4:4x1", spec).contains("is not spelled as"), "{spec}");
    }
    for spec in [
        "woodpush:L.....",
        "woodpush:.....R",
        "woodpush:......",
        "woodpush:L................................R",
    ] {
        assert!(with("connect4:4x1", spec).contains("with pieces of both"), "{spec}");
    }
    assert!(
        with("connect4:4x1", "chess:8x8")
            .contains("the game `chess:8x8` is neither connect4: nor woodpush:")
    );
    assert!(with("connect4:4x1", "connect4:0x1").contains("1 or more columns and rows"));
    for spec in
        ["connect4:12x10", "connect4:4294967295x4294967295", "connect4:65x1", "connect4:1x128"]
    {
        assert!(
            with("connect4:4x1", spec).contains("columns times rows and one is above 128"),
            "{spec}"
        );
    }
    let long = with("connect4:4x1", &"x".repeat(1000));
    assert!(long.contains("...") && long.len() < 200, "{long}");
    assert!(with("connect4:4x1", "\u{1b}[2J").contains("`\\u{1b}[2J`"));
}

#[test]
fn claims_have_one_spelling() {
    for (claim, why) in [
        ("<=win", "says nothing, as it holds in any case"),
        (">=loss", "says nothing, as it holds in any case"),
        ("=draw", "begins with neither `>=` nor `<=`"),
        ("", "begins with neither"),
        ("<=Draw", "names no outcome"),
        ("<= draw", "names no outcome"),
        (">=0", "names no outcome"),
    ] {
        assert!(with("<=draw", claim).contains(why), "{claim}");
    }
    for count in [
        "0",
        "000000000000000000000",
        "+0000000000000000000",
        "99999999999999999999",
        "0000000000000000000x",
    ] {
        let why = with("00000000000000000000", count);
        assert!(why.contains("names no number of positions, of 20 digits"), "{count}: {why}");
    }
    let woodpush = |claim: &str| {
        let header = HEADER.replace("connect4:4x1", "woodpush:L..R.R").replace("<=draw", claim);
        checked(&bytes(&header)).unwrap_err().to_string()
    };
    assert!(woodpush(">=0").contains("names no outcome"));
    assert!(woodpush(">=-0").contains("names no outcome"));
    assert!(woodpush(">=2").contains("names no outcome"));
    assert!(woodpush(">=+1").contains("names no outcome"));
    assert!(woodpush(">=-2").contains("says nothing"));
    assert!(woodpush("<=1").contains("says nothing"));
    assert!(woodpush("<=-1").contains("needs more than the 0 numbers that the file has for it"));
}

#[test]
fn moves_have_one_spelling_and_are_legal() {
    let connect_four = |spec: &str, moves: &str| {
        let header =
            HEADER.replace("connect4:4x1", spec).replace("moves: ", &format!("moves: {moves}"));
        checked(&bytes(&header)).unwrap_err().to_string()
    };
    assert_eq!(connect_four("connect4:4x1", "11"), "move 2 of the header, `1`, is not legal there");
    assert_eq!(connect_four("connect4:4x1", "5"), "move 1 of the header, `5`, is not legal there");
    assert_eq!(connect_four("connect4:4x1", "0"), "move 1 of the header, `0`, is not legal there");
    assert_eq!(
        connect_four("connect4:4x1", "1,2"),
        "move 2 of the header, `,`, is not legal there"
    );
    assert_eq!(
        connect_four("connect4:4x4", "12121211"),
        "move 8 of the header, `1`, is not legal there"
    );
    assert_eq!(
        connect_four("connect4:10x4", "1b"),
        "move 2 of the header, `b`, is not legal there"
    );
    assert_eq!(
        connect_four("connect4:10x4", "a,"),
        "move 2 of the header, `,`, is not legal there"
    );
    assert_eq!(
        connect_four("connect4:10x4", "a1A"),
        "move 3 of the header, `A`, is not legal there"
    );

    let woodpush = |board: &str, moves: &str| {
        let header = HEADER.replace("connect4:4x1", &format!("woodpush:{board}"));
        let header =
            header.replace("moves: ", &format!("moves: {moves}")).replace("<=draw", "<=-1");
        checked(&bytes(&header)).unwrap_err().to_string()
    };
    assert_eq!(woodpush("6", "s5"), "move 1 of the header, `s5`, is not legal there");
    assert_eq!(woodpush("6", "s00"), "move 1 of the header, `s00`, is not legal there");
    assert_eq!(woodpush("6", "0s"), "move 1 of the header, `0`, is not legal there");
    assert_eq!(woodpush("6", "s0,s5"), "move 1 of the header, `s0,`, is not legal there");
    assert_eq!(woodpush("6", "s"), "move 1 of the header, `s`, is not legal there");
    // Left leaves the board with the last piece: that is the end.
    assert_eq!(woodpush("R....L", "s5s0"), "move 2 of the header, `s0`, is not legal there");
    // Right pushes, Left pushes back: that board was there before.
    assert_eq!(
        woodpush("L....RL", "p6"),
        "claim <=-1 needs more than the 0 numbers that the file has for it"
    );
}

#[test]
fn a_finished_game_needs_no_numbers() {
    let file = |claim: &str| {
        let header = HEADER.replace("4x1", "4x4").replace("moves: ", "moves: 1212121");
        bytes(&header.replace("<=draw", claim))
    };
    let proved = checked(&file(">=win")).unwrap();
    assert_eq!(proved.to_string(), "connect4:4x4 after 1212121 is a win (>=win), 0 positions");
    let why = fails(&file("<=draw"));
    assert!(
        why.starts_with("claim <=draw fails before any move of the file: the other player has won"),
        "{why}"
    );

    let header = HEADER.replace("connect4:4x1", "woodpush:R....L").replace("moves: ", "moves: s5");
    assert!(checked(&bytes(&header.replace("<=draw", "<=-1"))).is_ok());
}

#[test]
fn headers_have_a_limit_and_are_ascii() {
    assert!(with("full", "f\u{fc}ll").contains("not ASCII"));
    let mut bytes = HEADER.replace("full", "f#ll").into_bytes();
    let place = bytes.iter().position(|&byte| byte == b'#').unwrap();
    bytes[place] = 0xff;
    assert!(unreadable(&bytes).contains("not ASCII"));
    assert!(
        with("moves: ", &format!("moves: {}", "1".repeat(2 << 20)))
            .contains("longer than 1048576 bytes")
    );
    assert!(unreadable(&vec![b'\n'; 3 << 20]).contains("no certificate"));
}
