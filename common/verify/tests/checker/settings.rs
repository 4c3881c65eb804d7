//! Threads, memory and disk change nothing in what a check says.

use std::num::NonZero;

use jlpns_verify::{Failure, Header, Progress, Settings, check};

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
fn progress_counts_every_position() {
    struct Counted(u64, u64);
    impl Progress for Counted {
        fn opened(&mut self, header: &Header) {
            self.0 = header.claims.iter().map(|claim| claim.positions).sum();
        }
        fn advanced(&mut self, positions: usize) {
            self.1 += positions as u64;
        }
    }
    for file in &files()[..3] {
        let mut counted = Counted(0, 0);
        let proved = check(&file.bytes()[..], &settings(2, 1 << 30), &mut counted).unwrap();
        assert_eq!((counted.0, counted.1), (proved.positions, proved.positions));
    }
}
