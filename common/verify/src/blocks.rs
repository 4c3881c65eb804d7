//! The file as a stream: a header, blocks of numbers, and nothing after the last block.

use std::io::{self, BufReader, Read};
use std::vec::IntoIter;

use flate2::{Decompress, FlushDecompress, Status};
use sha2::{Digest, Sha256};

use crate::header::{Header, broken};
use crate::{Failure, Progress};

/// More numbers than this no block holds, whatever it says.
pub(crate) const LARGEST: usize = 65_536;

/// What is left of a file.
pub(crate) struct Blocks<'p, R> {
    input: BufReader<Hashed<R>>,
    progress: &'p mut dyn Progress,
    header_crc: u32,
    /// How many bytes each position has.
    pub(crate) entry: usize,
    /// How many blocks were read.
    read: u64,
    ended: bool,
    /// The bytes of a block that wait for their positions.
    pub(crate) rest: IntoIter<u8>,
    /// Why the block that ends a layer does not fit, which is told when the layer's moves have been played.
    pub(crate) beyond: Option<String>,
}

/// Numbers of one layer, with the plans that may go with them, as the file holds them.
pub(crate) struct Block {
    pub(crate) count: usize,
    /// How many bytes each position has.
    entry: usize,
    number: u64,
    crc: u32,
    zlib: Vec<u8>,
}

struct Hashed<R> {
    input: R,
    hash: Sha256,
}

impl<R: Read> Read for Hashed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(buffer)?;
        self.hash.update(&buffer[..count]);
        Ok(count)
    }
}

impl<'p, R: Read> Blocks<'p, R> {
    pub(crate) fn open(
        input: R,
        progress: &'p mut dyn Progress,
    ) -> Result<(Header, Self), Failure> {
        let mut input = BufReader::new(Hashed { input, hash: Sha256::new() });
        let (header, header_crc) = Header::read(&mut input)?;
        progress.opened(&header);
        let (entry, rest) = (header.entry_bytes(), Vec::new().into_iter());
        let (read, ended, beyond) = (0, false, None);
        let blocks = Blocks { input, progress, header_crc, entry, read, ended, rest, beyond };
        Ok((header, blocks))
    }

    /// The next block of numbers; none if it is the file's last block.
    pub(crate) fn next(&mut self) -> Result<Option<Block>, Failure> {
        self.read += 1;
        let number = self.read;
        let broken = broken(format!("block {number}"));
        let mut words = [[0; 4]; 3];
        self.input.read_exact(words.as_flattened_mut()).map_err(&broken)?;
        let [count, size, crc] = words.map(u32::from_le_bytes);
        match (count as usize, size as usize) {
            (0, 0) if crc == self.header_crc => {
                self.ended = true;
                Ok(None)
            }
            (0, 0) => refuse!(
                Unreadable,
                "the header is corrupt: the last block has another CRC-32 for it"
            ),
            (count @ 1..=LARGEST, size) if size <= 2 * count * self.entry + 128 => {
                let mut zlib = vec![0; size];
                self.input.read_exact(&mut zlib).map_err(&broken)?;
                self.progress.advanced(count);
                Ok(Some(Block { count, entry: self.entry, number, crc, zlib }))
            }
            _ => refuse!(
                Unreadable,
                "block {number} is corrupt: it says that it has {count} numbers in {size} bytes, but it may \
                 have 1 to {LARGEST}, in 128 bytes and {} for each at most",
                2 * self.entry
            ),
        }
    }

    /// Reads the file to its end, and gives the SHA-256 of all of it.
    pub(crate) fn finish(mut self) -> Result<String, Failure> {
        while !self.ended {
            self.next()?;
        }
        let mut rest = Vec::new();
        self.input.by_ref().take(1).read_to_end(&mut rest).map_err(broken("its end"))?;
        if !rest.is_empty() {
            refuse!(Unreadable, "the file goes on after its last block");
        }
        Ok(hexadecimal(self.input.into_inner().hash))
    }
}

impl Block {
    /// The numbers, and the plans after each that may have one, if they are what their checksum says.
    pub(crate) fn unpack(&self) -> Result<Vec<u8>, Failure> {
        let &Block { count, entry, number, crc, ref zlib } = self;
        let bytes = count * entry;
        // One byte more than needed shows a stream that holds too many.
        let mut numbers = vec![0; bytes + 1];
        let mut stream = Decompress::new(true);
        let status = stream.decompress(zlib, &mut numbers, FlushDecompress::Finish);
        let whole = (zlib.len() as u64, bytes as u64);
        if !matches!(status, Ok(Status::StreamEnd))
            || (stream.total_in(), stream.total_out()) != whole
        {
            refuse!(
                Unreadable,
                "block {number} is corrupt: it is no zlib stream of {count} numbers"
            );
        }
        numbers.truncate(bytes);
        if crc32fast::hash(&numbers) != crc {
            refuse!(
                Unreadable,
                "block {number} is corrupt: its numbers have another CRC-32 than it says"
            );
        }
        Ok(numbers)
    }
}

/// The SHA-256 of what was hashed, as people and files have it.
pub(crate) fn hexadecimal(hash: Sha256) -> String {
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
