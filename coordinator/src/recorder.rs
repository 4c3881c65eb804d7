//! Keeping a solve in a journal, and taking it up from there.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use jlpns_games::spec::{Games, format_moves, parse_moves};
use jlpns_games::{Game, with_game};
use jlpns_journal::{Header, Journal, JournalError, Opened, WriteRequest, Writer, WriterEvent};
use jlpns_search::Initialisation;
use jlpns_solve::{Record, ResumeError, Snapshot, Solve, SolveSettings};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::{JoinError, spawn_blocking};

use crate::written::{self, ReadError};

/// Why a journal cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RecorderError {
    /// The journal cannot be opened or written.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A record cannot be read, though it is whole.
    #[error("record {number} of the journal is none of this release: {reason}")]
    Record {
        /// Its number.
        number: u64,
        /// What is wrong with it.
        reason: ReadError,
    },
    /// A fact about the solve that this release does not know.
    #[error("the journal says '{value}' of its {name}, which this jlpns does not know")]
    Fact {
        /// The name of the fact.
        name: String,
        /// What it says.
        value: String,
    },
    /// No snapshot can be read, and there is nothing else.
    #[error("{0}; and there are no records")]
    Unreadable(String),
    /// The solve cannot be taken up.
    #[error("the solve cannot be taken up: {0}")]
    Resume(#[from] ResumeError),
    /// There is no thread to write with.
    #[error("the thread that writes the journal cannot be started: {0}")]
    Thread(#[from] io::Error),
    /// The thread that reads the journal died.
    #[error("reading the journal failed: {0}")]
    Read(#[from] JoinError),
}

/// A solve with the journal that it is kept in.
pub struct TakenUp {
    /// The solve; a new one if the journal is new.
    pub solve: Solve,
    /// What keeps it.
    pub recorder: Recorder,
    /// The name of the solve.
    pub solve_id: String,
    /// Whether the journal was there before.
    pub resumed: bool,
    /// What was found damaged in it and what became of that, in sentences.
    pub repairs: Vec<String>,
}

/// What becomes of another process that has the journal open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OtherProcess {
    /// It keeps the journal: this process does not get it.
    Keeps,
    /// It is frozen or cut off, and is to stop when it comes to.
    Stops,
}

impl OtherProcess {
    /// Opens the journal in `directory`, or begins one.
    pub(crate) fn open(self, directory: &Path, header: &Header) -> Result<Opened, JournalError> {
        match self {
            OtherProcess::Keeps => Journal::open(directory, header),
            OtherProcess::Stops => Journal::take_over(directory, header),
        }
    }
}

/// Takes a solve up from the journal in `directory`, or begins both. `solve_id` names a new solve.
pub fn take_up(
    directory: &Path,
    other: OtherProcess,
    solve_id: String,
    settings: SolveSettings,
) -> Result<TakenUp, RecorderError> {
    let header = Header { solve_id, facts: facts(&settings) };
    let opened = other.open(directory, &header)?;
    let settings = SolveSettings { journal: true, ..settings };
    let (solve, unreadable) = resume(&settings, opened.snapshots, opened.records)?;
    let (events, inbox) = unbounded_channel();
    let recorder = Recorder {
        writer: start(opened.journal, events.clone())?,
        pace: 0,
        _events: events,
        inbox,
    };
    let solve_id = opened.header.solve_id;
    let repairs = opened.repairs.into_iter().chain(unreadable).collect();
    Ok(TakenUp { solve, recorder, solve_id, resumed: opened.resumed, repairs })
}

/// The settings of the solve that is kept in `directory`, as far as they must be the same when it is taken up.
pub fn settings_of(directory: &Path, games: &Games) -> Result<SolveSettings, RecorderError> {
    let header = Journal::header(directory)?;
    let unknown = |name: &str, value: &str| {
        let (name, value) = (name.to_owned(), value.to_owned());
        RecorderError::Fact { name, value }
    };
    let fact = |name: &str| {
        let fact = header.facts.iter().find(|fact| fact.0 == name);
        fact.map(|fact| fact.1.as_str()).ok_or_else(|| unknown(name, "nothing"))
    };
    let game = fact("game")?;
    let spec = games.spec(game).map_err(|_| unknown("game", game))?;
    let (moves, goal) = (fact("moves")?, fact("goal")?);
    let (moves_read, goal_read) = with_game!(spec.game(), known => (
        if moves == NO_MOVES { Ok(Vec::new()) } else { parse_moves(known, moves) },
        if goal == NO_GOAL { Ok(None) } else { known.scale().parse_goal(goal).map(Some) },
    ));
    let initialisation = fact("initialisation")?;
    let initialisation = Initialisation::ALL
        .into_iter()
        .find(|known| known.name() == initialisation)
        .ok_or_else(|| unknown("initialisation", initialisation))?;
    let knowledge = fact("knowledge")?;
    Ok(SolveSettings {
        moves: moves_read.map_err(|_| unknown("moves", moves))?,
        goal: goal_read.map_err(|_| unknown("goal", goal))?,
        initialisation,
        merge: fact("store")? == GRAPH,
        knowledge: knowledge.parse().map_err(|_| unknown("knowledge", knowledge))?,
        ..SolveSettings::new(spec)
    })
}

/// How facts are worded that are no names of a game.
const NO_MOVES: &str = "none";
const NO_GOAL: &str = "the value";
const GRAPH: &str = "graph";

/// What must be the same of the way in which games are solved.
pub(crate) fn facts_of_way(
    merge: bool,
    initialisation: Initialisation,
    knowledge: bool,
) -> [(String, String); 3] {
    let store = if merge { GRAPH } else { "tree" };
    [
        ("store", store.to_owned()),
        ("initialisation", initialisation.name().to_owned()),
        ("knowledge", knowledge.to_string()),
    ]
    .map(|(name, value)| (name.to_owned(), value))
}

/// What must be the same when a solve is taken up.
fn facts(settings: &SolveSettings) -> Vec<(String, String)> {
    let fact = |name: &str, value: String| (name.to_owned(), value);
    let (moves, goal) = with_game!(settings.spec.game(), game => (
        Some(format_moves(game, &settings.moves)).filter(|moves| !moves.is_empty()),
        settings.goal.map_or(NO_GOAL.to_owned(), |g| g.display(game.scale()).to_string()),
    ));
    let mut facts = vec![
        fact("game", settings.spec.to_string()),
        fact("moves", moves.unwrap_or_else(|| NO_MOVES.to_owned())),
        fact("goal", goal),
    ];
    facts.extend(facts_of_way(settings.merge, settings.initialisation, settings.knowledge));
    if settings.positions.is_some() {
        facts.push(fact("asks for", "many positions".to_owned()));
    }
    facts
}

/// A solve as it stands, with other settings.
pub fn taken_up_again(solve: &Solve, settings: &SolveSettings) -> Result<Solve, RecorderError> {
    let snapshots = vec![solve.snapshot()];
    let first_lease = first_lease(SystemTime::now(), &snapshots, &[]);
    Ok(Solve::resume(settings.clone(), first_lease, snapshots, [])?)
}

/// Above the numbers of all leases that an earlier process has given: the milliseconds since 1970,
/// with room for a million leases in each. Where the clock is behind, above those that have ended.
fn first_lease(now: SystemTime, snapshots: &[Snapshot], records: &[(u64, Record)]) -> u64 {
    const ROOM: u64 = 1 << 20;
    let now = now.duration_since(UNIX_EPOCH).unwrap_or_default();
    let by_clock = u64::try_from(now.as_millis()).unwrap_or(u64::MAX).saturating_mul(ROOM);
    let in_snapshots = snapshots.iter().flat_map(|snapshot| &snapshot.ended).map(|&(_, last)| last);
    let in_records = records.iter().filter_map(|(_, record)| match record {
        Record::Report(report) => Some(report.lease.0),
        _ => None,
    });
    let ended = in_snapshots.chain(in_records).max();
    by_clock.max(ended.map_or(0, |last| last.saturating_add(ROOM)))
}

/// Takes a solve up. What the newest snapshot stands for is not even read, unless that snapshot is
/// unfit.
fn resume(
    settings: &SolveSettings,
    snapshots: Vec<jlpns_journal::Snapshot>,
    mut records: Vec<jlpns_journal::Record>,
) -> Result<(Solve, Vec<String>), RecorderError> {
    let now = SystemTime::now();
    if let Some(newest) = snapshots.first() {
        let after = records.partition_point(|record| record.number <= newest.through);
        let rest = records.split_off(after);
        let (newest, later, unreadable) = read(vec![newest.clone()], rest.clone())?;
        let first_lease = first_lease(now, &newest, &later);
        if unreadable.is_empty()
            && let Ok(solve) = Solve::resume(settings.clone(), first_lease, newest, later)
        {
            return Ok((solve, unreadable));
        }
        records.extend(rest);
    }
    let (snapshots, records, unreadable) = read(snapshots, records)?;
    if snapshots.is_empty()
        && records.is_empty()
        && let Some(reason) = unreadable.first()
    {
        return Err(RecorderError::Unreadable(reason.clone()));
    }
    let first_lease = first_lease(now, &snapshots, &records);
    Ok((Solve::resume(settings.clone(), first_lease, snapshots, records)?, unreadable))
}

/// The snapshots and records, and sentences about snapshots that cannot be read.
type Remembered = (Vec<Snapshot>, Vec<(u64, Record)>, Vec<String>);

fn read(
    snapshots: Vec<jlpns_journal::Snapshot>,
    records: Vec<jlpns_journal::Record>,
) -> Result<Remembered, RecorderError> {
    let mut unreadable = Vec::new();
    let mut sound = Vec::new();
    for snapshot in snapshots {
        match written::snapshot_from_bytes(snapshot.through, &snapshot.bytes) {
            Ok(snapshot) => sound.push(snapshot),
            Err(error) => unreadable.push(format!(
                "the snapshot after record {} is not used: {error}",
                snapshot.through
            )),
        }
    }
    let records: Result<Vec<(u64, Record)>, RecorderError> = records
        .into_iter()
        .map(|jlpns_journal::Record { number, bytes }| {
            let record = written::record_from_bytes(&bytes);
            record.map(|r| (number, r)).map_err(|reason| RecorderError::Record { number, reason })
        })
        .collect();
    Ok((sound, records?, unreadable))
}

/// What the thread of the writer is to encode and write: neither is done on the driver's task, which
/// everybody waits for.
#[derive(Debug)]
enum Unwritten {
    Records(Vec<(u64, Arc<Record>)>),
    Pace(Duration),
    Snapshot(Box<Snapshot>),
}

fn encode(unwritten: Unwritten) -> WriteRequest {
    match unwritten {
        Unwritten::Records(records) => {
            let encode = |(number, record): (u64, Arc<Record>)| jlpns_journal::Record {
                number,
                bytes: written::record_to_bytes(&record),
            };
            WriteRequest::Append(records.into_iter().map(encode).collect())
        }
        Unwritten::Pace(pace) => WriteRequest::Pace(pace),
        Unwritten::Snapshot(snapshot) => {
            let through = snapshot.through;
            let bytes = written::snapshot_to_bytes(*snapshot);
            WriteRequest::Snapshot { through, settled: true, bytes }
        }
    }
}

fn start(journal: Journal, events: UnboundedSender<WriterEvent>) -> io::Result<Writer<Unwritten>> {
    Writer::start_with(journal, encode, move |event| {
        // A driver that is gone needs no events.
        let _ = events.send(event);
    })
}

/// The part of the time of a mean search that a record may wait for others to share its commit. Its
/// node is locked so long, while its slot has work already.
const SHARE_OF_SEARCH: u32 = 16;
/// The longest such wait, in milliseconds: commits that are farther apart spare little.
const LONGEST_PACE: u64 = 10;

/// Writes what a solve wants to be kept.
#[derive(Debug)]
pub struct Recorder {
    writer: Writer<Unwritten>,
    /// The pace that the writer was told last, in milliseconds.
    pace: u64,
    /// Keeps the other end open when the writer has gone.
    _events: UnboundedSender<WriterEvent>,
    inbox: UnboundedReceiver<WriterEvent>,
}

impl Recorder {
    /// Requests that records be written; how long a search takes on average sets how long they may wait
    /// for others.
    pub(crate) fn record(&mut self, records: Vec<(u64, Arc<Record>)>, mean_search: Duration) {
        let pace = (mean_search / SHARE_OF_SEARCH).as_millis();
        let pace = u64::try_from(pace).unwrap_or(u64::MAX).min(LONGEST_PACE);
        if std::mem::replace(&mut self.pace, pace) != pace {
            self.writer.request(Unwritten::Pace(Duration::from_millis(pace)));
        }
        self.writer.request(Unwritten::Records(records));
    }

    /// Requests that a snapshot be written: what it stands for need not be kept otherwise.
    pub(crate) fn snapshot(&self, snapshot: Box<Snapshot>) {
        self.writer.request(Unwritten::Snapshot(snapshot));
    }

    /// What the writer tells next.
    pub(crate) async fn event(&mut self) -> WriterEvent {
        // This end of the channel is never the last.
        self.inbox.recv().await.unwrap_or(WriterEvent::Room)
    }

    /// Waits until all that was requested is on disk.
    pub(crate) async fn finish(self) -> Result<(), RecorderError> {
        Ok(spawn_blocking(move || self.writer.finish()).await??)
    }
}
