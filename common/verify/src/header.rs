//! The header. Each line has one spelling, so that no two headers mean the same.

use std::fmt;
use std::io::{self, BufRead, Read};
use std::str::FromStr;

use crate::Failure;

/// How a certificate begins, before its version.
const BEGINS: &str = "jlpns certificate, version ";
/// Longer headers are refused: the longest games of these boards take a fraction of it.
const LIMIT: u64 = 1 << 20;

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
    /// Reads a header up to its empty line, and gives it with the CRC-32 of its bytes.
    pub(crate) fn read(input: &mut impl BufRead) -> Result<(Header, u32), Failure> {
        let mut bytes = Vec::new();
        let mut lines = Vec::new();
        loop {
            let start = bytes.len();
            // The first line tells whether the rest is to be read at all.
            let limit = if start == 0 { 64 } else { LIMIT - start as u64 };
            let mut limited = input.by_ref().take(limit);
            limited.read_until(b'\n', &mut bytes).map_err(broken("its header"))?;
            let room = limited.limit() > 0;
            let line = String::from_utf8_lossy(&bytes[start..]);
            if start == 0 {
                version(&line)?;
            }
            match line.strip_suffix('\n') {
                Some("") => break,
                Some(line) => lines.push(line.to_owned()),
                None if room => refuse!(Unreadable, "the file ends within its header"),
                None => refuse!(Unreadable, "the header is longer than {LIMIT} bytes"),
            }
        }
        if !bytes.is_ascii() {
            refuse!(Unreadable, "the header holds a character that is not ASCII");
        }
        Ok((Header::parse(&lines[1..])?, crc32fast::hash(&bytes)))
    }

    fn parse(lines: &[String]) -> Result<Header, Failure> {
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
        let kind = field("kind: ")?;
        let compact = match (kind, &game) {
            ("full", _) => false,
            ("compact", Game::Connect4 { .. }) => true,
            ("compact", _) => {
                refuse!(Unreadable, "the kind is `compact`, which only Connect Four has")
            }
            _ => refuse!(
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
        Ok(Header { spec: spec.into(), moves: moves.into(), claims, compact, game })
    }

    /// A header of these claims about the position after `moves`, such as `>=win`, to be certified, in the
    /// compact kind or the full one. It is refused with a sentence if there is no such game, claim or kind of it.
    pub fn new(spec: &str, moves: &str, claims: &[&str], compact: bool) -> Result<Header, Failure> {
        let lines = [format!("game: {spec}"), "rules: 1".into(), format!("moves: {moves}")];
        let claims = claims.iter().map(|claim| format!("claim: {claim}, positions: {:020}", 0));
        let lines = lines.into_iter().chain([format!("kind: {}", kind(compact))]).chain(claims);
        Header::parse(&lines.collect::<Vec<_>>())
    }

    /// The header as a file has it, with the empty line.
    pub fn text(&self) -> String {
        let Header { spec, moves, claims, compact, .. } = self;
        let mut text = format!(
            "{BEGINS}1\ngame: {spec}\nrules: 1\nmoves: {moves}\nkind: {}\n",
            kind(*compact)
        );
        for claim in claims {
            text += &format!("claim: {claim}, positions: {:020}\n", claim.positions);
        }
        text + "\n"
    }

    /// How many bytes the file has for each position.
    pub(crate) fn entry_bytes(&self) -> usize {
        match self.game {
            Game::Connect4 { columns, rows } if self.compact => 1 + (columns * rows) as usize,
            _ => 1,
        }
    }

    /// All claims in one: `>=win`, `=draw` if both bounds are the same, or `>=-1 and <=1`.
    pub fn claim(&self) -> String {
        match &self.claims[..] {
            [lower, upper] if lower.bound == upper.bound => format!("={}", lower.outcome),
            claims => joined(claims, Claim::to_string),
        }
    }

    /// The claims as a sentence without its end: `connect4:6x5 is a draw (>=draw and <=draw)`.
    pub fn statement(&self) -> String {
        let article = if matches!(self.game, Game::Connect4 { .. }) { "a " } else { "" };
        let value = match &self.claims[..] {
            [lower, upper] if lower.bound == upper.bound => format!("{article}{}", lower.outcome),
            claims => joined(claims, |claim| match (claim.extreme, claim.at_least) {
                (true, _) => format!("{article}{}", claim.outcome),
                (_, true) => format!("at least {article}{}", claim.outcome),
                (_, false) => format!("at most {article}{}", claim.outcome),
            }),
        };
        let after = if self.moves.is_empty() { "" } else { " after " };
        let claims = joined(&self.claims, Claim::to_string);
        format!("{}{after}{} is {value} ({claims})", self.spec, self.moves)
    }
}

impl Game {
    fn parse(spec: &str) -> Result<Game, Failure> {
        let shown = Quoted(spec);
        let parsed = match spec.split_once(':') {
            Some(("connect4", board)) => board.split_once('x').and_then(|(columns, rows)| {
                Some(Game::Connect4 { columns: plain(columns)?, rows: plain(rows)? })
            }),
            Some(("woodpush", board)) => woodpush(board),
            _ => refuse!(Unreadable, "the game {shown} is neither connect4: nor woodpush:"),
        };
        match parsed {
            Some(Game::Connect4 { columns: 0, .. } | Game::Connect4 { rows: 0, .. }) => {
                refuse!(Unreadable, "a Connect Four board has 1 or more columns and rows")
            }
            Some(Game::Connect4 { columns, rows }) if columns as u64 * (rows as u64 + 1) > 128 => {
                refuse!(Unreadable, "{spec} is too large: columns times rows and one is above 128")
            }
            Some(game) => Ok(game),
            None => refuse!(
                Unreadable,
                "the game {shown} is not spelled as connect4:COLUMNSxROWS, woodpush:CELLS or \
                 woodpush:BOARD, of 6 to 32 cells and with pieces of both"
            ),
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

fn kind(compact: bool) -> &'static str {
    if compact { "compact" } else { "full" }
}

fn version(line: &str) -> Result<(), Failure> {
    let number = line.strip_prefix(BEGINS).and_then(|rest| rest.strip_suffix('\n'));
    match number.and_then(plain::<u64>) {
        Some(1) => Ok(()),
        Some(other) => {
            refuse!(Unreadable, "the certificate has version {other}, and only 1 is known")
        }
        None if line.is_empty() => {
            refuse!(Unreadable, "the file is empty, so it is no certificate")
        }
        None => refuse!(
            Unreadable,
            "the file is no certificate, as these begin with `jlpns certificate, version 1`"
        ),
    }
}

fn woodpush(text: &str) -> Option<Game> {
    let (cells, board) = match plain(text) {
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

/// A number in its one spelling: no sign that is not needed, no zeros in front.
fn plain<N: FromStr + ToString>(text: &str) -> Option<N> {
    text.parse().ok().filter(|number: &N| number.to_string() == text)
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
