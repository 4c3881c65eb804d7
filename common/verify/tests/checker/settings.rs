//! Threads, memory and disk change nothing in what a check says.

use std::num::NonZero;

use jlpns_verify::{Boards, Claim, Failure, Header, Moves, Place, Reader, Settings, check, pass};

use crate::naive::{Certificate, Connect4, Naive, Woodpush, true_certificate};

fn files() -> Vec<Certificate> {
    let mut files = vec![
        true_certificate(&Connect4::new(4, 4)),
        true_certificate(
            &Connect4::new(5, 4).play("3").play("3").play("3").play("3").play("1").play("2"),
        ),
        true_certificate(&Woodpush::new("7")),
    ];
    files.iter_mut().for_each(|file| file.block = 30);
    // Some that fail, in more than one place.
    for (claim, number) in [(0, 1), (1, 2), (1, 99)] {
        let mut failing = files[0].clone();
        for layer in failing.claims[claim].1.iter_mut().skip(2) {
            layer.iter_mut().step_by(3).for_each(|old| *old = number);
        }
        files.push(failing);
    }
    // Blocks of which memory holds a part at a time; one of them goes on in the next layer, after wrong moves or not.
    for wrong in [0, 1] {
        let mut beyond = files[0].clone();
        beyond.block = 65_536;
        files.push(beyond.clone());
        let layers = &mut beyond.claims[0].1;
        let next = layers.remove(4);
        layers[3].extend(next);
        layers[3][..wrong].fill(255);
        files.push(beyond);
    }
    files
}

fn settings(threads: usize, memory: usize) -> Settings {
    Settings { threads: NonZero::new(threads).unwrap(), memory, ..Settings::default() }
}

#[test]
fn all_settings_agree() {
    for file in files() {
        let bytes = file.bytes();
        let plain = check(&bytes[..], &settings(1, 1 << 30), &mut ());
        assert!(matches!(plain, Ok(_) | Err(Failure::Fails(_))));
        // With the least memory that Woodpush's boards leave, every few positions are a file, and files are merged.
        let least = if file.spec.starts_with("woodpush") { 1 << 20 } else { 1 };
        for (threads, memory) in [(4, 1 << 30), (1, least), (4, least), (3, 1 << 20)] {
            assert_eq!(
                check(&bytes[..], &settings(threads, memory), &mut ()),
                plain,
                "{threads} threads, {memory} B"
            );
        }
    }
}

/// The file is read ahead of the moves that are played: what is wrong behind a wrong move is told all the same.
#[test]
fn a_file_that_ends_behind_a_wrong_move_says_where() {
    let mut file = files()[0].clone();
    file.block = 1;
    file.claims[0].1[1][0] = 255;
    let bytes = file.bytes();
    let (mut place, mut number) = (file.header().len(), 0);
    while place + 12 < bytes.len() {
        number += 1;
        let size = u32::from_le_bytes(bytes[place + 4..place + 8].try_into().unwrap());
        for end in [place + 5, place + 14] {
            for threads in [1, 4] {
                match check(&bytes[..end], &settings(threads, 1 << 30), &mut ()) {
                    Err(Failure::Unreadable(why)) => {
                        let begin = format!("the file ends within block {number}: ");
                        assert!(why.starts_with(&begin), "{why}, not {begin}");
                    }
                    other => panic!("{other:?}"),
                }
            }
        }
        place += 12 + size as usize;
    }
}

#[test]
fn where_nothing_can_be_written_the_file_is_not_blamed() {
    let bytes = files()[0].bytes();
    let settings = Settings { scratch: "/no/such/directory".into(), ..settings(2, 1) };
    match check(&bytes[..], &settings, &mut ()) {
        Err(Failure::Trouble(why)) => {
            assert!(why.starts_with("positions cannot be spilled to /no/such/directory: "), "{why}")
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn more_boards_than_memory_are_told() {
    let bytes = files()[2].bytes();
    match check(&bytes[..], &settings(1, 10_000), &mut ()) {
        Err(Failure::Trouble(why)) => {
            assert!(why.starts_with("the start leads to more than 39 boards"), "{why}")
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_file_that_cannot_be_read_is_no_bad_certificate() {
    struct Broken;
    impl std::io::Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("the disk is gone"))
        }
    }
    for place in [0, 100, 300] {
        let bytes = files()[0].bytes();
        let input = std::io::Read::chain(&bytes[..place], Broken);
        match check(input, &settings(1, 1 << 30), &mut ()) {
            Err(Failure::Trouble(why)) => assert!(why.ends_with("the disk is gone"), "{why}"),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn who_reads_along_is_told_of_every_position() {
    #[derive(Default)]
    struct Counted {
        named: u64,
        boards: u64,
        entries: u64,
        layers: usize,
    }
    impl Reader for Counted {
        fn claim_begins(&mut self, claim: &Claim) -> Result<(), Failure> {
            self.named += claim.positions;
            Ok(())
        }
        fn moves(&mut self, _: &Claim, boards: Boards<'_>, entries: &[u8]) -> Result<(), Failure> {
            self.boards += boards.len() as u64;
            self.entries += entries.len() as u64;
            Ok(())
        }
        fn layer_ended(&mut self) -> Result<(), Failure> {
            self.layers += 1;
            Ok(())
        }
    }
    for file in &files()[..3] {
        for memory in [1 << 30, 1 << 20] {
            let mut counted = Counted::default();
            let proved = check(&file.bytes()[..], &settings(2, memory), &mut counted).unwrap();
            let Counted { named, boards, entries, layers } = counted;
            assert_eq!([named, boards, entries], [proved.positions; 3]);
            assert_eq!(layers, file.claims.iter().map(|claim| claim.1.len()).sum::<usize>());
        }
    }
}

/// Somebody who never has a move at hand.
struct Silent;

impl Moves for Silent {
    fn at_hand(&mut self, _: Place<'_>) -> Result<usize, Failure> {
        Ok(0)
    }

    fn entries(&mut self, _: Place<'_>, _: Boards<'_>) -> Result<Vec<u8>, Failure> {
        Ok(Vec::new())
    }

    fn layer_ended(&mut self, _: Place<'_>) -> Result<(), Failure> {
        Ok(())
    }
}

#[test]
#[should_panic(expected = "at least one position's entries are at hand")]
fn a_pass_does_not_wait_for_moves_that_never_come() {
    let bytes = true_certificate(&Connect4::new(4, 4)).bytes();
    let header = Header::read(&mut &bytes[..]).unwrap();
    let _ = pass(&header, &settings(2, 1 << 30)).unwrap().run(&header.claims[0], &mut Silent);
}
