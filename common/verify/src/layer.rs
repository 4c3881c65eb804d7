//! A layer's positions, sorted, each once: threads collect them in runs, and a merge reads them back.
//! Runs that memory does not hold are files without a name, which vanish with the process.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};
use std::mem;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::vec::IntoIter;

use crate::{Failure, Settings};

/// So many files of one size become one of the next size, as open files are few.
const FAN: usize = 64;
/// Positions are sorted for the first time when they take so much: a core's own cache holds it.
const FIRST_SORT: usize = 1 << 19;

/// A position in standard form, as it is sorted and spilled.
pub(crate) trait Position: Ord + Send + Sync + Sized {
    /// How many bytes of memory it takes.
    fn bytes(&self) -> usize {
        size_of::<Self>()
    }

    fn write(&self, output: &mut impl Write) -> io::Result<()>;
    fn read(input: &mut impl Read) -> io::Result<Self>;
}

/// Positions in order.
pub(crate) enum Run<P> {
    Kept(IntoIter<P>),
    Spilled { file: BufReader<File>, left: u64 },
}

impl<P: Position> Run<P> {
    fn next(&mut self) -> io::Result<Option<P>> {
        match self {
            Run::Kept(positions) => Ok(positions.next()),
            Run::Spilled { left: 0, .. } => Ok(None),
            Run::Spilled { file, left } => {
                *left -= 1;
                P::read(file).map(Some)
            }
        }
    }
}

/// Several runs as one, in which each position comes once.
pub(crate) struct Merge<P> {
    /// About how many bytes of positions are taken at once.
    at_once: usize,
    runs: Vec<Run<P>>,
    heads: BinaryHeap<Reverse<(P, usize)>>,
}

impl<P: Position> Merge<P> {
    pub(crate) fn new(mut runs: Vec<Run<P>>, at_once: usize) -> io::Result<Merge<P>> {
        let mut heads = BinaryHeap::with_capacity(runs.len());
        for (index, run) in runs.iter_mut().enumerate() {
            heads.extend(run.next()?.map(|head| Reverse((head, index))));
        }
        Ok(Merge { at_once, runs, heads })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.heads.is_empty()
    }

    pub(crate) fn next(&mut self) -> io::Result<Option<P>> {
        let first = self.pop()?;
        while first.is_some() && self.heads.peek().map(|head| &head.0.0) == first.as_ref() {
            self.pop()?;
        }
        Ok(first)
    }

    /// The next positions; fewer than `count` if these are the last, or if they take much memory.
    pub(crate) fn take(&mut self, count: usize) -> Result<Vec<P>, Failure> {
        let mut positions = Vec::new();
        let mut bytes = 0;
        while positions.len() < count
            && (bytes < self.at_once || positions.is_empty())
            && let Some(position) = self.next().map_err(unreadable_spill)?
        {
            bytes += position.bytes();
            positions.push(position);
        }
        Ok(positions)
    }

    /// The head of all runs, which may come again.
    fn pop(&mut self) -> io::Result<Option<P>> {
        let Some(mut head) = self.heads.peek_mut() else { return Ok(None) };
        let run = &mut self.runs[head.0.1];
        Ok(Some(match run.next()? {
            Some(next) => mem::replace(&mut head.0.0, next),
            None => PeekMut::pop(head).0.0,
        }))
    }
}

/// The files of a layer, with their sizes: 0 from memory, 1 from files of size 0, and so on.
pub(crate) struct Spill<'s, P> {
    scratch: &'s Path,
    at_once: usize,
    files: Mutex<Vec<(u32, Run<P>)>>,
}

impl<'s, P: Position> Spill<'s, P> {
    pub(crate) fn new(settings: &'s Settings) -> Spill<'s, P> {
        // Each thread has a piece, another waits for it, and one is being read.
        let at_once = settings.memory / 4 / (2 * settings.threads.get() + 1);
        Spill { scratch: &settings.scratch, at_once, files: Mutex::default() }
    }

    fn spill(&self, positions: Vec<P>) -> Result<(), Failure> {
        let mut runs = vec![Run::Kept(positions.into_iter())];
        for size in 0.. {
            let file = self.write(runs).map_err(|error| self.trouble(error))?;
            let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
            files.push((size, file));
            if files.iter().filter(|file| file.0 == size).count() < FAN {
                break;
            }
            runs = files.extract_if(.., |file| file.0 == size).map(|file| file.1).collect();
        }
        Ok(())
    }

    fn write(&self, runs: Vec<Run<P>>) -> io::Result<Run<P>> {
        let mut merge = Merge::new(runs, 0)?;
        let mut file = BufWriter::with_capacity(1 << 16, tempfile::tempfile_in(self.scratch)?);
        let mut left = 0;
        while let Some(position) = merge.next()? {
            position.write(&mut file)?;
            left += 1;
        }
        let mut file = file.into_inner()?;
        file.rewind()?;
        Ok(Run::Spilled { file: BufReader::with_capacity(1 << 15, file), left })
    }

    /// All files, and what the threads still have in memory.
    pub(crate) fn merge(self, kept: Vec<Vec<P>>) -> Result<Merge<P>, Failure> {
        let files = self.files.into_inner().unwrap_or_else(PoisonError::into_inner);
        let kept = kept.into_iter().map(|positions| Run::Kept(positions.into_iter()));
        let runs = kept.chain(files.into_iter().map(|file| file.1)).collect();
        Merge::new(runs, self.at_once).map_err(unreadable_spill)
    }

    fn trouble(&self, error: io::Error) -> Failure {
        Failure::Trouble(format!(
            "positions cannot be spilled to {}: {error}; a scratch directory with more space, or more memory, would do",
            self.scratch.display()
        ))
    }
}

/// What it means that a file just written cannot be read.
pub(crate) fn unreadable_spill(error: io::Error) -> Failure {
    Failure::Trouble(format!("spilled positions cannot be read back: {error}"))
}

/// The positions of the next layer that one thread has come to.
pub(crate) struct Collector<'s, P> {
    /// Where new positions go, in any order.
    pub(crate) positions: Vec<P>,
    spill: &'s Spill<'s, P>,
    counted: usize,
    bytes: usize,
    sort_at: usize,
    limit: usize,
}

impl<'s, P: Position> Collector<'s, P> {
    pub(crate) fn new(settings: &Settings, spill: &'s Spill<'s, P>) -> Collector<'s, P> {
        // The vector may have grown to twice its content, sorting takes as much again, and the layer being read is there too.
        let limit = settings.memory / 4 / settings.threads;
        let sort_at = limit.min(FIRST_SORT);
        Collector { positions: Vec::new(), spill, counted: 0, bytes: 0, sort_at, limit }
    }

    /// To be called when positions were added.
    pub(crate) fn added(&mut self) -> Result<(), Failure> {
        self.bytes += self.positions[self.counted..].iter().map(P::bytes).sum::<usize>();
        self.counted = self.positions.len();
        if self.bytes < self.sort_at {
            return Ok(());
        }
        self.sort();
        if self.bytes > self.limit / 2 {
            self.spill.spill(mem::take(&mut self.positions))?;
            (self.counted, self.bytes) = (0, 0);
        }
        self.sort_at = (self.bytes * 2).clamp(FIRST_SORT.min(self.limit), self.limit);
        Ok(())
    }

    fn sort(&mut self) {
        // Much of it is sorted already, from the last time: a stable sort makes use of that.
        self.positions.sort();
        self.positions.dedup();
        self.counted = self.positions.len();
        self.bytes = self.positions.iter().map(P::bytes).sum();
    }

    pub(crate) fn finish(mut self) -> Vec<P> {
        self.sort();
        self.positions.shrink_to_fit();
        self.positions
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every position takes so many bytes, or says so.
    #[derive(PartialEq, Eq, PartialOrd, Ord)]
    struct Large(usize);

    impl Position for Large {
        fn bytes(&self) -> usize {
            1000
        }

        fn write(&self, _: &mut impl Write) -> io::Result<()> {
            unreachable!("nothing is spilled")
        }

        fn read(_: &mut impl Read) -> io::Result<Large> {
            unreachable!("nothing is spilled")
        }
    }

    #[test]
    fn positions_are_taken_as_memory_holds_them_and_at_least_one() {
        for (memory, taken) in [(0, 1), (3 * 4 * 5000, 5), (usize::MAX, 65_536)] {
            let settings = Settings {
                threads: std::num::NonZero::<usize>::MIN,
                memory,
                ..Settings::default()
            };
            let run = (0..100_000).map(Large).collect();
            let mut layer = Spill::new(&settings).merge(vec![run]).unwrap();
            let positions = layer.take(65_536).unwrap();
            assert_eq!(positions.len(), taken);
            assert_eq!(layer.take(1).unwrap()[0].0, taken, "the next one follows");
        }
    }
}
