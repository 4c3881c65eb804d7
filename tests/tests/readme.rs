//! What README.md has its readers try.

use std::fs;
use std::path::Path;

/// A page of this repository.
fn page(path: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    fs::read_to_string(root.join(path)).expect("the page is there")
}

#[test]
fn the_board_of_the_three_terminals_lasts_longer_than_typing() {
    let (readme, solved) = (page("README.md"), page("docs/solved.md"));
    let serve = readme.lines().find(|line| line.contains("jlpns serve connect4:"));
    let words: Vec<&str> = serve.expect("there is one").split(' ').collect();
    let row = solved.lines().find(|line| line.starts_with(&format!("| `{}` |", words[2])));
    let row = row.expect("the board is among those that are solved");
    let seconds = row.split('|').nth(3).expect("the seconds of the solve").trim();
    assert!(seconds.parse::<f64>().expect("a number") > 60.0, "{row}");
    // What it came to can be looked at after the end.
    let directory = words.iter().skip_while(|word| **word != "--data").nth(1).expect("a directory");
    assert!(readme.contains(&format!("jlpns status {directory}`")), "{directory}");
}
