//! A layer's positions, sorted, each once: threads collect them in runs, and a merge reads them back.
//! Runs that memory does not hold are files without a name, which vanish with the process.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};
use std::mem;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::{Failure, Settings};

/// So many files of one size become one of the next size, as open files are few.
const FAN: usize = 64;
/// Positions are sorted for the first time when they take so much: a core's own cache holds it.
const FIRST_SORT: usize = 1 << 19;

/// A position in standard form, as it is sorted and spilled.
pub(crate) trait Position: Ord + Send + Sync + Sized + 'static {
    /// How many bytes of memory it takes.
    fn bytes(&self) -> usize {
        size_of::<Self>()
    }

    fn write(&self, output: &mut impl Write) -> io::Result<()>;
    fn read(input: &mut impl Read) -> io::Result<Self>;
}

/// Positions in order, in memory or in a file.
type Run<P> = Box<dyn Iterator<Item = io::Result<P>> + Send>;

/// Several runs as one, in which each position comes once.
pub(crate) struct Layer<P> {
    /// About how many bytes of positions are taken at once.
    at_once: usize,
    runs: Vec<Run<P>>,
    /// The first position of each run, and which run that is.
    heads: BinaryHeap<Reverse<(P, usize)>>,
}

impl<P: Position> Layer<P> {
    fn merge(mut runs: Vec<Run<P>>, at_once: usize) -> io::Result<Layer<P>> {
        let mut heads = BinaryHeap::with_capacity(runs.len());
        for (index, run) in runs.iter_mut().enumerate() {
            heads.extend(run.next().transpose()?.map(|head| Reverse((head, index))));
        }
        Ok(Layer { at_once, runs, heads })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.heads.is_empty()
    }

    fn next(&mut self) -> io::Result<Option<P>> {
        let first = self.pop()?;
        while first.is_some() && self.heads.peek().map(|head| &head.0.0) == first.as_ref() {
            self.pop()?;
        }
        Ok(first)
    }

    /// The head of all runs, which may come again.
    fn pop(&mut self) -> io::Result<Option<P>> {
        let Some(mut head) = self.heads.peek_mut() else { return Ok(None) };
        Ok(Some(match self.runs[head.0.1].next().transpose()? {
            Some(next) => mem::replace(&mut head.0.0, next),
            None => PeekMut::pop(head).0.0,
        }))
    }

    /// The next positions; fewer than `count` if these are the last, or if they take much memory.
    pub(crate) fn take(&mut self, count: usize) -> Result<Vec<P>, Failure> {
        let mut positions = Vec::new();
        let mut bytes = 0;
        while positions.len() < count
            && (bytes < self.at_once || positions.is_empty())
            && let Some(position) = self.next().map_err(unreadable)?
        {
            bytes += position.bytes();
            positions.push(position);
        }
        Ok(positions)
    }
}

/// A layer that threads still collect.
pub(crate) struct NextLayer<'s, P> {
    settings: &'s Settings,
    /// With the sizes of those that are files: 0 from memory, 1 from files of size 0, and so on.
    runs: Mutex<Vec<(Option<u32>, Run<P>)>>,
}

impl<'s, P: Position> NextLayer<'s, P> {
    pub(crate) fn new(settings: &'s Settings) -> NextLayer<'s, P> {
        NextLayer { settings, runs: Mutex::default() }
    }

    /// Takes in positions that are sorted, to be kept in memory.
    fn keep(&self, positions: Vec<P>) {
        self.lock().push((None, in_memory(positions)));
    }

    /// Takes in positions that are sorted, and writes them to a file.
    fn spill(&self, positions: Vec<P>) -> Result<(), Failure> {
        let mut merged = vec![in_memory(positions)];
        for size in (0..).map(Some) {
            let file = self.write(merged).map_err(|error| self.unwritable(error))?;
            let mut runs = self.lock();
            runs.push((size, file));
            if runs.iter().filter(|run| run.0 == size).count() < FAN {
                break;
            }
            merged = runs.extract_if(.., |run| run.0 == size).map(|run| run.1).collect();
        }
        Ok(())
    }

    fn write(&self, runs: Vec<Run<P>>) -> io::Result<Run<P>> {
        let mut merged = Layer::merge(runs, 0)?;
        let file = tempfile::tempfile_in(&self.settings.scratch)?;
        let mut file = BufWriter::with_capacity(1 << 16, file);
        let mut count = 0u64;
        while let Some(position) = merged.next()? {
            position.write(&mut file)?;
            count += 1;
        }
        let mut file = file.into_inner()?;
        file.rewind()?;
        let mut file = BufReader::with_capacity(1 << 15, file);
        Ok(Box::new((0..count).map(move |_| P::read(&mut file))))
    }

    /// The layer, when all threads have collected what they come to.
    pub(crate) fn finish(self) -> Result<Layer<P>, Failure> {
        // Each thread has a piece, another waits for it, and one is being read.
        let at_once = self.settings.memory
            / 4
            / self.settings.threads.get().saturating_mul(2).saturating_add(1);
        let runs = self.runs.into_inner().unwrap_or_else(PoisonError::into_inner);
        Layer::merge(runs.into_iter().map(|run| run.1).collect(), at_once).map_err(unreadable)
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(Option<u32>, Run<P>)>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn unwritable(&self, error: io::Error) -> Failure {
        Failure::Trouble(format!(
            "positions cannot be spilled to {}: {error}; a scratch directory with more space, or more memory, would do",
            self.settings.scratch.display()
        ))
    }
}

fn in_memory<P: Position>(positions: Vec<P>) -> Run<P> {
    Box::new(positions.into_iter().map(Ok))
}

/// What it means that a file just written cannot be read.
fn unreadable(error: io::Error) -> Failure {
    Failure::Trouble(format!("spilled positions cannot be read back: {error}"))
}

/// The positions of the next layer that one thread has come to.
pub(crate) struct Collector<'s, P> {
    layer: &'s NextLayer<'s, P>,
    positions: Vec<P>,
    bytes: usize,
    sort_at: usize,
    most_bytes: usize,
}

impl<'s, P: Position> Collector<'s, P> {
    pub(crate) fn new(layer: &'s NextLayer<'s, P>) -> Collector<'s, P> {
        // The vector may have grown to twice its content, sorting takes as much again, and the layer being read is there too.
        let most_bytes = layer.settings.memory / 4 / layer.settings.threads;
        let sort_at = most_bytes.min(FIRST_SORT);
        Collector { layer, positions: Vec::new(), bytes: 0, sort_at, most_bytes }
    }

    /// Takes in positions, in any order.
    pub(crate) fn add(&mut self, positions: &mut Vec<P>) -> Result<(), Failure> {
        self.bytes += positions.iter().map(P::bytes).sum::<usize>();
        self.positions.append(positions);
        if self.bytes < self.sort_at {
            return Ok(());
        }
        self.sort();
        if self.bytes > self.most_bytes / 2 {
            self.layer.spill(mem::take(&mut self.positions))?;
            self.bytes = 0;
        }
        self.sort_at = (self.bytes * 2).clamp(FIRST_SORT.min(self.most_bytes), self.most_bytes);
        Ok(())
    }

    fn sort(&mut self) {
        // Much of it is sorted already, from the last time: a stable sort makes use of that.
        self.positions.sort();
        self.positions.dedup();
        self.bytes = self.positions.iter().map(P::bytes).sum();
    }

    /// Gives the layer what is still in memory.
    pub(crate) fn finish(mut self) {
        self.sort();
        self.positions.shrink_to_fit();
        self.layer.keep(self.positions);
    }
}

#[cfg(test)]
mod tests;
