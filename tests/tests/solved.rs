//! What `docs/solved.md` says is solved: certificates of the smaller boards are in `tests/certificates`, and hold;
//! and the same solve gives the same file.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use jlpns_tests::cluster::{path, solved_with_certificate, verified};

/// Files that are made again here have at most so many positions.
const SMALL: u64 = 10_000;

/// A row of the page.
#[derive(Debug)]
struct Row {
    value: String,
    positions: u64,
    bytes: u64,
    sha256: String,
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the tests are in a folder").to_owned()
}

/// The rows with a digest, by their specs.
fn rows() -> BTreeMap<String, Row> {
    let page = fs::read_to_string(repository().join("docs/solved.md")).expect("the page");
    let cells = |line: &str| line.split('|').map(|cell| cell.trim().to_owned()).collect::<Vec<_>>();
    let number = |cell: &str| cell.replace(',', "").parse::<u64>().expect("a number");
    let rows = page.lines().map(cells).filter_map(|cells| {
        let [_, spec, value, _, _, _, positions, bytes, sha256, _] = &cells[..] else {
            return None;
        };
        let spec = spec.strip_prefix('`')?.strip_suffix('`')?;
        let sha256 = sha256.strip_prefix('`')?.strip_suffix('`')?;
        let (positions, bytes) = (number(positions), number(bytes));
        let row = Row { value: value.clone(), positions, bytes, sha256: sha256.to_owned() };
        Some((spec.to_owned(), row))
    });
    rows.collect()
}

/// The certificates in the repository, by their specs.
fn certificates() -> BTreeMap<String, PathBuf> {
    let folder = repository().join("tests/certificates");
    let files = fs::read_dir(folder).expect("the certificates");
    let paths = files.map(|entry| entry.expect("an entry").path());
    paths
        .map(|path| {
            let name = path.file_stem().and_then(|name| name.to_str()).expect("a name");
            (name.replacen('-', ":", 1), path)
        })
        .collect()
}

#[test]
fn the_certificates_in_the_repository_hold_and_are_those_of_the_page() {
    let (rows, certificates) = (rows(), certificates());
    for (spec, file) in &certificates {
        let row = rows.get(spec).unwrap_or_else(|| panic!("{spec} is not on the page"));
        let read = verified(file.to_str().expect("a path of letters"));
        assert_eq!(read["spec"], spec.as_str());
        assert_eq!(read["moves"], "");
        let claim = read["claim"].as_str().expect("a claim");
        assert_eq!(claim.trim_start_matches(['<', '>', '=']), row.value, "{spec}");
        assert_eq!(read["positions"], row.positions, "{spec}");
        assert_eq!(read["sha256"], row.sha256.as_str(), "{spec}");
        assert_eq!(fs::metadata(file).expect("it is there").len(), row.bytes, "{spec}");
    }
    for (spec, row) in &rows {
        let is_small = row.bytes < 1 << 20;
        assert_eq!(is_small, certificates.contains_key(spec), "those below a MiB are here: {spec}");
    }
}

#[test]
fn the_same_solve_gives_the_same_certificate() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = path(folder.path(), "certificate");
    let mut made = 0;
    for (spec, row) in rows().iter().filter(|(_, row)| row.positions <= SMALL) {
        let args = [spec, "--sub-search", "pds", "--slots", "1", "--output", "json"];
        let solved = solved_with_certificate(&file, &args).json();
        assert_eq!(solved["value"], row.value.as_str(), "{spec}");
        assert_eq!(solved["certificate"]["sha256"], row.sha256.as_str(), "{spec}");
        made += 1;
    }
    assert!(made > 5, "{made}");
}
