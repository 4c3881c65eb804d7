//! A true certificate with one thing changed: each change has its sentence.

use jlpns_verify::Failure;

use crate::naive::{
    Certificate, Connect4, Naive, Woodpush, checked, fails, true_certificate, unreadable,
};

/// Connect Four 4x4 after 1221: a draw, with two claims and some layers each.
fn connect_four() -> Certificate {
    let game = ["1", "2", "2", "1"].iter().fold(Connect4::new(4, 4), |game, name| game.play(name));
    true_certificate(&game)
}

fn woodpush() -> Certificate {
    true_certificate(&Woodpush::new("6"))
}

#[track_caller]
fn assert_says(why: &str, part: &str) {
    assert!(why.contains(part), "`{why}` should say `{part}`");
}

#[test]
fn undamaged_they_are_proved() {
    let proved = checked(&connect_four().bytes()).unwrap();
    assert_eq!(proved.header.claim(), "=draw");
    let woodpush = woodpush();
    let proved = checked(&woodpush.bytes()).unwrap();
    assert_eq!(proved.positions, woodpush.positions() as u64);
}

#[test]
fn no_prefix_is_proved() {
    for file in [connect_four(), woodpush()] {
        let bytes = Certificate { block: 40, ..file }.bytes();
        for end in 0..bytes.len() {
            let why = unreadable(&bytes[..end]);
            assert!(why.starts_with("the file "), "{why}");
        }
        assert_says(&unreadable(&bytes[..bytes.len() - 1]), "ends within block");
        assert_says(&unreadable(&bytes[..60]), "ends within its header");
        assert_says(&unreadable(&[]), "the file is empty, so it is no certificate");
    }
}

/// Some bits of a zlib stream mean nothing, as those that tell how hard the writer tried: so a file with one bit
/// changed is refused, or shows the very same with the same numbers.
#[test]
fn no_changed_bit_proves_anything_else() {
    for file in [connect_four(), woodpush()] {
        let bytes = Certificate { block: 40, ..file }.bytes();
        let whole = checked(&bytes).unwrap();
        let mut let_through = 0;
        for place in 0..bytes.len() {
            for bit in 0..8 {
                let mut damaged = bytes.clone();
                damaged[place] ^= 1 << bit;
                if let Ok(proved) = checked(&damaged) {
                    assert_eq!(
                        (&proved.header, proved.positions),
                        (&whole.header, whole.positions)
                    );
                    assert_ne!(proved.sha256, whole.sha256);
                    let_through += 1;
                }
            }
            let mut damaged = bytes.clone();
            damaged[place] = !damaged[place];
            assert!(checked(&damaged).is_err(), "byte {place}");
        }
        assert!(let_through < bytes.len() / 2, "{let_through} of {} bits", bytes.len() * 8);
    }
}

#[test]
fn every_byte_is_guarded_by_something() {
    let mut file = connect_four();
    file.block = 40;
    let bytes = file.bytes();
    let header = file.header().len();
    let with = |place: usize, byte: u8| {
        let mut damaged = bytes.clone();
        damaged[place] = byte;
        damaged
    };
    assert_says(&unreadable(&with(0, b'J')), "no certificate, as these begin with");
    assert_says(&unreadable(&with(27, b'2')), "has version `2`, and only 1 is known");
    assert_says(
        &unreadable(&with(header, 0)),
        "block 1 is corrupt: it says that it has 0 numbers in",
    );
    assert_says(&unreadable(&with(header + 3, 255)), "1 to 65536, in");
    assert_says(&unreadable(&with(header + 6, 1)), "block 1 is corrupt: it says");
    assert_says(&unreadable(&with(header + 8, !bytes[header + 8])), "another CRC-32");
    assert_says(&unreadable(&with(header + 12, 0)), "no zlib stream");
    let last = bytes.len() - 1;
    assert_says(
        &unreadable(&with(last, !bytes[last])),
        "the header is corrupt: the last block has another CRC-32 for it",
    );
    // A header that is changed and still is one.
    let moved = String::from_utf8_lossy(&bytes[..header]).find("moves: 1221").unwrap() + 7;
    assert!(checked(&with(moved, b'2')).is_err());
}

#[test]
fn nothing_may_follow() {
    let mut bytes = connect_four().bytes();
    bytes.push(0);
    assert_eq!(unreadable(&bytes), "the file goes on after its last block");
}

#[test]
fn numbers_too_few_or_too_many_fail() {
    let file = connect_four();
    let claim = |changed: &dyn Fn(&mut Vec<Vec<u8>>)| {
        let mut file = file.clone();
        changed(&mut file.claims[1].1);
        fails(&file.bytes())
    };
    let layers = file.claims[1].1.len();
    assert!(layers >= 3);
    // One less in the last layer, and the header says so; one more there, and after it.
    assert_says(&claim(&|layers| layers.last_mut().unwrap().truncate(1)), "needs more than the");
    assert_says(&claim(&|layers| layers[0].push(0)), "has a block that goes beyond the ");
    assert_says(&claim(&|layers| layers.push(vec![0])), "but the header names");
    assert_says(&claim(&|layers| layers[0].insert(0, 0)), "has a block that goes beyond the ");
    // The strategy stops one layer early.
    assert_says(&claim(&|layers| drop(layers.pop())), "needs more than the");
    // The numbers of a layer go on in the next one.
    assert_says(
        &claim(&|layers| {
            let number = layers[1].pop().unwrap();
            layers[2].insert(0, number);
        }),
        "claim <=draw",
    );

    // What the header counts is not what there is.
    let header = file.header();
    let count: usize = file.claims[0].1.iter().map(Vec::len).sum();
    let named = |count: usize| {
        header.replacen(&format!("{:020}", self::count(&file)), &format!("{count:020}"), 1)
    };
    assert_says(&fails(&file.bytes_with(&named(count + 1))), "but the header names");
    assert_says(&fails(&file.bytes_with(&named(count - 1))), "needs more than the");
    assert_says(
        &fails(&file.bytes_with(&named(0))),
        "needs more than the 0 numbers that the header names",
    );
    let most = header.replacen(&format!("{count:020}"), &u64::MAX.to_string(), 2);
    assert!(matches!(checked(&file.bytes_with(&most)), Err(Failure::Fails(_))));

    // Numbers of nobody, after all claims.
    let mut file = file.clone();
    file.claims[1].1.push(vec![0]);
    let header = connect_four().header();
    assert_says(&fails(&file.bytes_with(&header)), "more numbers than its claims need");
}

fn count(file: &Certificate) -> usize {
    file.claims[0].1.iter().map(Vec::len).sum()
}

/// Every number of the file is changed to each other value, one at a time. What still is proved is true.
#[test]
fn changed_moves_fail_or_are_as_good() {
    for (file, illegal) in [(connect_four(), 4), (woodpush(), 4)] {
        let mut failed = 0;
        for claim in 0..file.claims.len() {
            for layer in 0..file.claims[claim].1.len() {
                for index in 0..file.claims[claim].1[layer].len() {
                    let mut changed = file.clone();
                    let number = &mut changed.claims[claim].1[layer][index];
                    *number = (*number + 1) % 3;
                    let changed = checked(&changed.bytes());
                    failed += usize::from(matches!(changed, Err(Failure::Fails(_))));
                    assert!(!matches!(changed, Err(Failure::Unreadable(_))));
                }
            }
        }
        assert!(failed > file.positions() / 4, "{failed} of {}", file.positions());

        let mut changed = file.clone();
        changed.claims[0].1[0][0] = illegal;
        let why = fails(&changed.bytes());
        assert_says(
            &why,
            "fails in layer 1, position 1: number 4 is no legal move's, as there are ",
        );
        changed.claims[0].1[0][0] = 255;
        assert_says(&fails(&changed.bytes()), "number 255 is no legal move's");
    }
}

#[test]
fn other_statements_with_the_same_numbers_fail() {
    let file = connect_four();
    let with = |from: &str, to: &str| {
        let header = file.header();
        assert!(header.contains(from), "{header}");
        file.bytes_with(&header.replace(from, to))
    };
    for (from, to) in [
        (">=draw", ">=win"),
        ("<=draw", "<=loss"),
        ("4x4", "5x4"),
        ("4x4", "4x5"),
        ("moves: 1221", "moves: "),
    ] {
        let why = fails(&with(from, to));
        assert!(why.starts_with("claim "), "{from} to {to}: {why}");
    }
    assert_says(
        &unreadable(&with("connect4:4x4\nrules: 1\nmoves: 1221", "woodpush:8\nrules: 1\nmoves: ")),
        "names no outcome",
    );

    // The numbers of one claim in the place of the other's.
    let mut swapped = file.clone();
    let layers = swapped.claims.iter().map(|claim| claim.1.clone()).rev().collect::<Vec<_>>();
    swapped.claims.iter_mut().zip(layers).for_each(|(claim, layers)| claim.1 = layers);
    assert!(fails(&swapped.bytes()).starts_with("claim >=draw"));
    let mut swapped = file.clone();
    swapped.claims.reverse();
    assert_eq!(
        unreadable(&swapped.bytes()),
        "of two claims, the first must be `>=` and the second `<=`"
    );

    // A claim of Max as one of Min, and the other way round.
    let woodpush = woodpush();
    for (claim, layers) in woodpush.claims.clone() {
        let flipped = if let Some(bound) = claim.strip_prefix(">=") {
            format!("<={bound}")
        } else {
            claim.replace('<', ">")
        };
        let flipped = Certificate { claims: vec![(flipped, layers)], ..woodpush.clone() };
        assert!(checked(&flipped.bytes()).is_err());
    }
}

#[test]
fn numbers_in_another_order_fail() {
    let mut file = connect_four();
    file.claims[0].1.iter_mut().for_each(|layer| layer.reverse());
    assert!(fails(&file.bytes()).starts_with("claim >=draw fails in layer "));
    let mut file = connect_four();
    file.claims[0].1.reverse();
    assert!(fails(&file.bytes()).starts_with("claim >=draw "));
}

#[test]
fn blocks_hold_one_layer_and_no_more_than_they_say() {
    let file = connect_four();
    let header = file.header();
    let end = |bytes: &mut Vec<u8>| {
        bytes.extend([0; 8]);
        bytes.extend(crc32fast::hash(header.as_bytes()).to_le_bytes());
    };
    // Two layers in one block.
    let mut bytes = header.as_bytes().to_vec();
    bytes.extend(crate::naive::writer::block(&file.claims[0].1.concat()));
    end(&mut bytes);
    assert_says(&fails(&bytes), "goes beyond the 1 positions of layer 1");

    // A stream of a million numbers that says it is of one.
    let mut bytes = header.as_bytes().to_vec();
    let mut bomb = crate::naive::writer::block(&vec![0; 1 << 20]);
    bomb[..4].copy_from_slice(&1u32.to_le_bytes());
    bytes.extend(&bomb);
    assert_says(&unreadable(&bytes), "in 128 bytes and 2 for each at most");
    bomb[..4].copy_from_slice(&(file.claims[0].1[0].len() as u32).to_le_bytes());
    let mut many = file.clone();
    many.claims[0].1[0] = vec![0; 60_000];
    let mut bytes = many.header().into_bytes();
    bomb[..4].copy_from_slice(&1u32.to_le_bytes());
    bomb.truncate(12 + 100);
    bomb[4..8].copy_from_slice(&100u32.to_le_bytes());
    bytes.extend(bomb);
    assert_says(&unreadable(&bytes), "no zlib stream of 1 numbers");

    // A stream with something after it.
    let mut bytes = header.as_bytes().to_vec();
    let mut block = crate::naive::writer::block(&file.claims[0].1[0]);
    let size = u32::from_le_bytes(block[4..8].try_into().unwrap());
    block[4..8].copy_from_slice(&(size + 1).to_le_bytes());
    block.push(0);
    bytes.extend(block);
    assert_says(&unreadable(&bytes), "no zlib stream");
}
