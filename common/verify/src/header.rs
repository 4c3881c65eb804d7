//! The header. Each line has one spelling, so that no two headers mean the same.

use std::fmt;
use std::io::{self, BufRead, Read};

use crate::Failure;

/// How a certificate begins, before its version.
const BEGINS: &str = "jlpns certificate, version ";
/// Longer headers are refused: the longest games of these boards take a fraction of it.
const MOST_BYTES: u64 = 1 << 20;

/// What a certificate says that it shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// The game, as `connect4:7x6` or `woodpush:8`.
    pub spec: String,
    /// The moves from the game's start to the position in question.
    pub moves: String,
    /// One claim, or two of which the first is `>=`.
    pub claims: Vec<Claim>,
    /// Whether its kind is `compact`, and not `full`: positions may end in a plan.
    pub compact: bool,
    pub(crate) game: Game,
    /// The CRC-32 of its bytes, with the empty line.
    pub(crate) crc: u32,
}

/// A bound for the value of the position in question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// Whether it is `>=`, so that Max is the claimant; else it is `<=`, and Min is.
    pub at_least: bool,
    /// The name of the outcome that bounds the value.
    pub outcome: String,
    /// How many numbers the file has for it.
    pub positions: u64,
    bound: i32,
    /// Whether no outcome is beyond the bound.
    extreme: bool,
}

/// A game and its board.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Game {
    /// At least one column and row.
    Connect4 { columns: u32, rows: u32 },
    /// Bit `i` of `board` is Left's piece on cell `i`, bit 32 + `i` is Right's; both have pieces.
    Woodpush { cells: u32, board: u64 },
}

impl Claim {
    /// Whether a game that ends in `outcome` fulfils the claim.
    pub(crate) fn admits(&self, outcome: i32) -> bool {
        if self.at_least { outcome >= self.bound } else { outcome <= self.bound }
    }
}

impl fmt::Display for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.at_least { ">=" } else { "<=" }, self.outcome)
    }
}

impl Header {
    /// Reads a header up to its empty line.
    pub fn read(input: &mut impl BufRead) -> Result<Header, Failure> {
        let mut input = input.take(MOST_BYTES);
        let mut bytes = Vec::new();
        while !bytes.ends_with(b"\n\n") {
            let read = input.read_until(b'\n', &mut bytes).map_err(broken("its header"))?;
            // The first line tells whether the rest is to be read at all.
            if read == bytes.len() {
                version(&String::from_utf8_lossy(&bytes))?;
            }
            if read == 0 || !bytes.ends_with(b"\n") {
                match input.limit() {
                    0 => refuse!(Unreadable, "the header is longer than {MOST_BYTES} bytes"),
                    _ => refuse!(Unreadable, "the file ends within its header"),
                }
            }
        }
        if !bytes.is_ascii() {
            refuse!(Unreadable, "the header holds a character that is not ASCII");
        }
        let text = String::from_utf8_lossy(&bytes);
        let lines: Vec<&str> = text.trim_end_matches('\n').split('\n').skip(1).collect();
        Header::parse(&lines, crc32fast::hash(&bytes))
    }

    /// Reads the lines after the version.
    fn parse(lines: &[&str], crc: u32) -> Result<Header, Failure> {
        let mut rest = lines.iter();
        let mut field = |name| match rest.next() {
            Some(line) => match line.strip_prefix(name) {
                Some(value) => Ok(value),
                None => {
                    refuse!(Unreadable, "the header has {} where `{name}` belongs", Quoted(line))
                }
            },
            None => refuse!(Unreadable, "the header ends before its line `{name}`"),
        };
        let spec = field("game: ")?;
        let game = Game::parse(spec)?;
        let rules = field("rules: ")?;
        if rules != "1" {
            refuse!(Unreadable, "the rules have version {}, and only 1 is known", Quoted(rules));
        }
        let moves = field("moves: ")?;
        let compact = match (field("kind: ")?, &game) {
            ("full", _) => false,
            ("compact", Game::Connect4 { .. }) => true,
            ("compact", Game::Woodpush { .. }) => {
                refuse!(Unreadable, "the kind is `compact`, which only Connect Four has")
            }
            (kind, _) => refuse!(
                Unreadable,
                "the kind is {}, and only `full` and `compact` are known",
                Quoted(kind)
            ),
        };
        let mut claims = vec![game.claim(field("claim: ")?)?];
        if lines.len() > 5 {
            claims.push(game.claim(field("claim: ")?)?);
        }
        if let Some(line) = rest.next() {
            refuse!(Unreadable, "the header goes on after its claims, with {}", Quoted(line));
        }
        if claims.len() == 2 && (!claims[0].at_least || claims[1].at_least) {
            refuse!(Unreadable, "of two claims, the first must be `>=` and the second `<=`");
        }
        Ok(Header { spec: spec.into(), moves: moves.into(), claims, compact, game, crc })
    }

    /// How many bytes the file has for each position.
    pub fn entry_bytes(&self) -> usize {
        match self.game {
            Game::Connect4 { columns, rows } if self.compact => 1 + (columns * rows) as usize,
            _ => 1,
        }
    }

    /// All claims in one: `>=win`, `=draw` if both bounds are the same, or `>=-1 and <=1`.
    pub fn claim(&self) -> String {
        match self.value() {
            Some(outcome) => format!("={outcome}"),
            None => joined(&self.claims, Claim::to_string),
        }
    }

    /// The claims as a sentence without its end: `connect4:6x5 is a draw (>=draw and <=draw)`.
    pub fn statement(&self) -> String {
        let article = if matches!(self.game, Game::Connect4 { .. }) { "a " } else { "" };
        let bound = |claim: &Claim| {
            let bound = match claim.at_least {
                _ if claim.extreme => "",
                true => "at least ",
                false => "at most ",
            };
            format!("{bound}{article}{}", claim.outcome)
        };
        let told = match self.value() {
            Some(outcome) => format!("{article}{outcome}"),
            None => joined(&self.claims, bound),
        };
        let after = if self.moves.is_empty() { "" } else { " after " };
        let claims = joined(&self.claims, Claim::to_string);
        format!("{}{after}{} is {told} ({claims})", self.spec, self.moves)
    }

    /// The outcome that the claims bound from both sides.
    fn value(&self) -> Option<&str> {
        match &self.claims[..] {
            [lower, upper] if lower.bound == upper.bound => Some(&lower.outcome),
            _ => None,
        }
    }
}

impl Game {
    fn parse(spec: &str) -> Result<Game, Failure> {
        let shown = Quoted(spec);
        let game = match spec.split_once(':') {
            Some(("connect4", board)) => connect4(board),
            Some(("woodpush", board)) => woodpush(board),
            _ => refuse!(Unreadable, "the game {shown} is neither connect4: nor woodpush:"),
        };
        let Some(game) = game else {
            refuse!(
                Unreadable,
                "the game {shown} is not spelled as connect4:COLUMNSxROWS, woodpush:CELLS or \
                 woodpush:BOARD, of 6 to 32 cells and with pieces of both"
            )
        };
        match game {
            Game::Connect4 { columns: 0, .. } | Game::Connect4 { rows: 0, .. } => {
                refuse!(Unreadable, "a Connect Four board has 1 or more columns and rows")
            }
            Game::Connect4 { columns, rows } if columns as u64 * (rows as u64 + 1) > 128 => {
                refuse!(Unreadable, "{spec} is too large: columns times rows and one is above 128")
            }
            game => Ok(game),
        }
    }

    fn claim(&self, text: &str) -> Result<Claim, Failure> {
        let (claim, count) = text.split_once(", positions: ").unwrap_or((text, ""));
        let shown = Quoted(claim);
        let (at_least, name) = match claim.split_at_checked(2) {
            Some((">=", name)) => (true, name),
            Some(("<=", name)) => (false, name),
            _ => refuse!(Unreadable, "the claim {shown} begins with neither `>=` nor `<=`"),
        };
        let outcomes = self.outcomes();
        let Some(place) = outcomes.iter().position(|outcome| outcome.1 == name) else {
            refuse!(Unreadable, "the claim {shown} names no outcome of the game");
        };
        let (worst, best) = (place == 0, place == outcomes.len() - 1);
        if if at_least { worst } else { best } {
            refuse!(Unreadable, "the claim {shown} says nothing, as it holds in any case");
        }
        let digits = count.len() == 20 && count.bytes().all(|digit| digit.is_ascii_digit());
        let Some(positions) = count.parse().ok().filter(|_| digits) else {
            refuse!(
                Unreadable,
                "the claim {shown} names no number of positions, of 20 digits and below 2^64"
            );
        };
        let (bound, outcome) = outcomes[place].clone();
        Ok(Claim { at_least, outcome, positions, bound, extreme: worst || best })
    }

    /// What games can end in, from Max's view and worst first, with names.
    fn outcomes(&self) -> Vec<(i32, String)> {
        let Game::Woodpush { board, .. } = self else {
            return vec![(-1, "loss".into()), (0, "draw".into()), (1, "win".into())];
        };
        let (left, right) = (*board as u32, (board >> 32) as u32);
        let all = -(right.count_ones() as i32)..=left.count_ones() as i32;
        all.filter(|&outcome| outcome != 0).map(|outcome| (outcome, outcome.to_string())).collect()
    }
}

/// What a read that failed at `place` means.
pub(crate) fn broken(place: impl Into<String>) -> impl Fn(io::Error) -> Failure {
    let place = place.into();
    move |error| match error.kind() {
        io::ErrorKind::UnexpectedEof => {
            Failure::Unreadable(format!("the file ends within {place}: the rest is missing"))
        }
        _ => Failure::Trouble(format!("the file cannot be read at {place}: {error}")),
    }
}

fn version(line: &str) -> Result<(), Failure> {
    match line.strip_prefix(BEGINS).and_then(|rest| rest.strip_suffix('\n')) {
        Some("1") => Ok(()),
        Some(other) => refuse!(
            Unreadable,
            "the certificate has version {}, and only 1 is known",
            Quoted(other)
        ),
        None if line.is_empty() => {
            refuse!(Unreadable, "the file is empty, so it is no certificate")
        }
        None => refuse!(Unreadable, "the file is no certificate, as these begin with `{BEGINS}1`"),
    }
}

fn connect4(board: &str) -> Option<Game> {
    let (columns, rows) = board.split_once('x')?;
    Some(Game::Connect4 { columns: number(columns)?, rows: number(rows)? })
}

fn woodpush(text: &str) -> Option<Game> {
    let (cells, board) = match number(text) {
        Some(cells) if (6..=32).contains(&cells) => (cells, 0b101 | 0b101u64 << (32 + cells - 3)),
        None if (6..=32).contains(&text.len()) => {
            let bit = |(cell, piece)| match piece {
                b'L' => Some(1u64 << cell),
                b'R' => Some(1u64 << (32 + cell)),
                b'.' => Some(0),
                _ => None,
            };
            (text.len() as u32, text.bytes().enumerate().map(bit).sum::<Option<u64>>()?)
        }
        _ => return None,
    };
    // Without pieces of both sides the game is over before it begins.
    (board as u32 != 0 && board >> 32 != 0).then_some(Game::Woodpush { cells, board })
}

fn joined(claims: &[Claim], text: impl Fn(&Claim) -> String) -> String {
    claims.iter().map(text).collect::<Vec<_>>().join(" and ")
}

/// A number in its one spelling: no sign, no zeros in front.
fn number(text: &str) -> Option<u32> {
    text.parse().ok().filter(|number: &u32| number.to_string() == text)
}

/// The beginning of what a file says, without characters that a terminal would obey.
pub(crate) struct Quoted<'a>(pub(crate) &'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let short: String = self.0.chars().take(60).collect();
        let more = if short.len() < self.0.len() { "..." } else { "" };
        write!(f, "`{}{more}`", short.escape_debug())
    }
}
