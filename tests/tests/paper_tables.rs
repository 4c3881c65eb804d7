//! Tables 1 to 4 of "Generalized Proof-Number Search", by `jlpns search`. The figures that it is
//! to give are those of docs/results.md, where the paper's are beside them.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::time::Duration;

use jlpns_tests::{jlpns, run};
use serde::Deserialize;
use serde_json::Value;

/// Far more than any row takes.
const LIMIT: Duration = Duration::from_secs(600);

/// The figures in print that are not met: spec, initialisation, column. A second implementation of
/// PNS, written for this comparison, agrees with the program and not with print on the first, in
/// either order of the moves and with either rule for equal minima.
const NOT_AS_PRINTED: [(&str, &str, Column); 2] = [
    ("connect4:5x3", "mobility", Column::AtLeast),
    ("woodpush:11", "mobility", Column::Dichotomic),
];

#[derive(Deserialize)]
struct Tables {
    connect_four: Initialisations<ConnectFour>,
    woodpush: Initialisations<Woodpush>,
}

#[derive(Deserialize)]
struct Initialisations<Row> {
    unit_init: Vec<Row>,
    mobility_init: Vec<Row>,
}

/// Size, PNS for at most a draw, PNS for at least a draw, GPNS.
type ConnectFour = (String, u64, u64, u64);
/// Size, value, PNS for at most the value, PNS for at least the value, dichotomic PNS, GPNS.
type Woodpush = (u32, i32, u64, u64, u64, u64);

/// A column of the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    /// PNS for at most the value.
    AtMost,
    /// PNS for at least the value.
    AtLeast,
    /// PNS that halves the paper's range of scores.
    Dichotomic,
}

/// One position of the tables, with what the paper has on it and what docs/results.md has.
#[derive(Clone, Debug)]
struct Row {
    spec: String,
    init: &'static str,
    value: String,
    at_most: Figure,
    at_least: Figure,
    /// Only of Woodpush: over the paper's range of scores.
    dichotomic: Option<Figure>,
    /// Only of Woodpush: over the scores that can occur.
    halving: Option<u64>,
    /// What the paper has of GPNS, what a tree takes and what a graph takes.
    gpns: [u64; 3],
}

/// A figure of the paper, and ours.
#[derive(Clone, Copy, Debug)]
struct Figure {
    paper: u64,
    ours: u64,
}

/// The tables of docs/results.md that begin with a column of this name: rows of cells.
fn page(first_column: &str) -> Vec<Vec<Vec<String>>> {
    let mut tables: Vec<Vec<Vec<String>>> = Vec::new();
    let mut is_inside = false;
    for line in include_str!("../../docs/results.md").lines() {
        let cells = line.trim_matches('|').split('|').map(|cell| cell.trim().replace(',', ""));
        let cells: Vec<String> = cells.collect();
        if !line.starts_with('|') {
            is_inside = false;
        } else if cells[0] == first_column {
            is_inside = true;
            tables.push(Vec::new());
        } else if is_inside && !cells[0].starts_with('-') {
            tables.last_mut().expect("a table was begun").push(cells);
        }
    }
    tables
}

fn rows() -> (Vec<Row>, Vec<Row>) {
    let tables: Tables = toml::from_str(include_str!("gpns_tables.toml")).expect("the tables");
    let number = |cell: &String| cell.parse::<u64>().unwrap_or_else(|e| panic!("{cell}: {e}"));
    let figure = |paper, cells: &[String]| {
        assert_eq!(number(&cells[0]), paper, "the paper's figure in docs/results.md");
        Figure { paper, ours: number(&cells[1]) }
    };
    let gpns = |paper, cells: &[String]| {
        let Figure { ours: tree, .. } = figure(paper, cells);
        [paper, tree, number(&cells[2])]
    };
    let connect_four = |init, rows: Vec<ConnectFour>, page: &Vec<Vec<String>>| {
        assert_eq!(rows.len(), page.len());
        let row = |((size, at_most, at_least, paper), cells): (ConnectFour, &Vec<String>)| {
            assert_eq!(cells[0], size);
            Row {
                spec: format!("connect4:{size}"),
                init,
                value: "draw".to_owned(),
                at_most: figure(at_most, &cells[1..]),
                at_least: figure(at_least, &cells[3..]),
                dichotomic: None,
                halving: None,
                gpns: gpns(paper, &cells[5..]),
            }
        };
        rows.into_iter().zip(page).map(row).collect::<Vec<_>>()
    };
    let woodpush = |init, rows: Vec<Woodpush>, page: &Vec<Vec<String>>| {
        assert_eq!(rows.len(), page.len());
        let row = |(row, page): (Woodpush, &Vec<String>)| {
            let (cells, value, at_most, at_least, dichotomic, paper) = row;
            assert_eq!(page[..2], [cells.to_string(), value.to_string()]);
            Row {
                spec: format!("woodpush:{cells}"),
                init,
                value: value.to_string(),
                at_most: figure(at_most, &page[2..]),
                at_least: figure(at_least, &page[4..]),
                dichotomic: Some(figure(dichotomic, &page[6..])),
                halving: Some(number(&page[8])),
                gpns: gpns(paper, &page[9..]),
            }
        };
        rows.into_iter().zip(page).map(row).collect::<Vec<_>>()
    };
    let Tables { connect_four: c, woodpush: w } = tables;
    let (c_page, w_page) = (page("size"), page("cells"));
    assert_eq!((c_page.len(), w_page.len()), (2, 2));
    let c_unit = connect_four("unit", c.unit_init, &c_page[0]);
    let w_unit = woodpush("unit", w.unit_init, &w_page[0]);
    (
        [c_unit, connect_four("mobility", c.mobility_init, &c_page[1])].concat(),
        [w_unit, woodpush("mobility", w.mobility_init, &w_page[1])].concat(),
    )
}

/// The figure that the page has is the paper's, unless it is known not to be.
fn as_in_the_paper(row: &Row, column: Column, figure: Figure) -> Result<(), String> {
    let not_as_printed = NOT_AS_PRINTED.contains(&(row.spec.as_str(), row.init, column));
    if (figure.paper == figure.ours) != not_as_printed {
        return Ok(());
    }
    Err(format!("{row:?}: {column:?} is not as in the paper"))
}

/// Runs `check` on each item, two at a time and the last ones first, because they take longest;
/// gives back all complaints.
fn all<T: Send>(items: Vec<T>, check: impl Fn(T) -> Result<(), String> + Sync) -> Vec<String> {
    let queue = Mutex::new(VecDeque::from(items));
    let complaints = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let item = queue.lock().expect("no check panics with it").pop_back();
                    let Some(item) = item else { break };
                    if let Err(complaint) = check(item) {
                        complaints.lock().expect("no check panics with it").push(complaint);
                    }
                }
            });
        }
    });
    complaints.into_inner().expect("no check panics with it")
}

/// The result of a search of a row; it must have the answer.
fn search(row: &Row, args: &[&str]) -> Result<Value, String> {
    let command = ["search", &row.spec, "--init", row.init, "--output", "json"];
    let ended = run(jlpns(command).args(args), LIMIT);
    if ended.code != Some(0) {
        return Err(format!("{row:?} {args:?}: {ended:?}"));
    }
    Ok(ended.json())
}

/// The PNS run for `goal`.
fn pns(row: &Row, goal: &str) -> Result<Value, String> {
    search(row, &["--algorithm", "pns", "--store", "tree", "--goal", goal])
}

/// `found` has the value of its row, after exactly so many descents.
fn has_value_after(row: &Row, descents: Option<u64>, found: &Value) -> Result<(), String> {
    if found["value"] == row.value.as_str() && found["descents"].as_u64() == descents {
        return Ok(());
    }
    Err(format!("{row:?}: expected the value after {descents:?} descents, found {found}"))
}

/// Both PNS figures of each row; gives back how many figures were checked.
fn pns_tables(rows: Vec<Row>) -> usize {
    let figures: Vec<(Row, Column)> = rows
        .into_iter()
        .flat_map(|row| [(row.clone(), Column::AtMost), (row, Column::AtLeast)])
        .collect();
    let count = figures.len();
    let complaints = all(figures, |(row, column)| {
        let (comparison, figure) = match column {
            Column::AtMost => ("<=", row.at_most),
            _ => (">=", row.at_least),
        };
        as_in_the_paper(&row, column, figure)?;
        let found = pns(&row, &format!("{comparison}{}", row.value))?;
        if found["proved"] == true && found["descents"] == figure.ours {
            return Ok(());
        }
        Err(format!("{row:?} {column:?}: {figure:?}, found {found}"))
    });
    assert!(complaints.is_empty(), "{complaints:#?}");
    count
}

#[test]
fn every_pns_figure_of_connect_four_but_one_is_met_exactly() {
    assert_eq!(pns_tables(rows().0), 44);
}

#[test]
fn every_pns_figure_of_woodpush_is_met_exactly() {
    assert_eq!(pns_tables(rows().1), 24);
}

/// The paper's dichotomic search knows no more of the outcomes than that they lie between -16 and
/// 16, and halves that range. Goals beyond the scores that can occur take it a whole search each.
#[test]
fn every_dichotomic_figure_but_one_is_a_sum_of_pns_figures() {
    let complaints = all(rows().1, |row| {
        let mut sum = 0;
        let (mut lower, mut above) = (-16, 16);
        while above - lower > 1 {
            let middle = (lower + above) / 2;
            // The scale has -2, -1, 1 and 2: a goal below it asks as much as its lowest one.
            let found = pns(&row, &format!(">={}", middle.max(-2)))?;
            sum += found["descents"].as_u64().ok_or_else(|| found.to_string())?;
            if found["proved"] == true { lower = middle } else { above = middle }
        }
        let figure = row.dichotomic.ok_or("a row of Woodpush")?;
        as_in_the_paper(&row, Column::Dichotomic, figure)?;
        if lower.to_string() == row.value && sum == figure.ours {
            return Ok(());
        }
        Err(format!("{row:?}: {sum} descents to the value {lower}"))
    });
    assert!(complaints.is_empty(), "{complaints:#?}");
}

#[test]
fn dichotomic_search_finds_the_value_of_every_row_of_woodpush() {
    let complaints = all(rows().1, |row| {
        let found = search(&row, &["--algorithm", "dichotomic", "--store", "tree"])?;
        has_value_after(&row, row.halving, &found)
    });
    assert!(complaints.is_empty(), "{complaints:#?}");
}

/// GPNS finds the value of each row; on a graph, in at most `most` times the paper's descents.
fn gpns_tables(rows: Vec<Row>, most: f64) {
    let searches = rows.into_iter().flat_map(|row| [(row.clone(), "tree"), (row, "graph")]);
    let complaints = all(searches.collect(), |(row, store)| {
        let [paper, tree, graph] = row.gpns;
        let descents = if store == "tree" { tree } else { graph };
        let found = search(&row, &["--algorithm", "gpns", "--store", store])?;
        has_value_after(&row, Some(descents), &found)?;
        if store == "tree" || descents as f64 <= most * paper as f64 {
            return Ok(());
        }
        Err(format!("{row:?}: more than {most} times the paper's descents"))
    });
    assert!(complaints.is_empty(), "{complaints:#?}");
}

#[test]
fn gpns_on_connect_four_finds_every_value_in_at_most_one_and_a_half_times_the_papers_descents() {
    gpns_tables(rows().0, 1.5);
}

#[test]
fn gpns_on_woodpush_finds_every_value_in_no_more_than_the_papers_descents() {
    gpns_tables(rows().1, 1.0);
}
