//! The file as a stream: a header, blocks of entries, and nothing after the last block. An entry is what a position
//! has: the number of its move, and in the compact kind the plan after it.

use std::io::{self, BufReader, Read};

use flate2::{Decompress, FlushDecompress, Status};
use sha2::{Digest, Sha256};

use crate::Failure;
use crate::header::{Header, broken};

/// No block has more entries than this, whatever it says.
/// How many numbers a block has at most.
pub const MOST_ENTRIES: usize = 65_536;

/// A certificate, from which the header was read.
pub struct Certificate<R> {
    pub(crate) header: Header,
    input: BufReader<Hashed<R>>,
    /// How many blocks were read.
    blocks: u64,
    /// Whether the last block was read, or why what follows cannot be.
    ended: Result<bool, Failure>,
}

/// Entries of one layer, as the file holds them.
pub(crate) struct Block {
    /// Which block of the file it is, from 1 on.
    number: u64,
    pub(crate) entries: usize,
    entry_bytes: usize,
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

impl<R: Read> Certificate<R> {
    /// Reads the header.
    pub fn open(input: R) -> Result<Certificate<R>, Failure> {
        let mut input = BufReader::new(Hashed { input, hash: Sha256::new() });
        let header = Header::read(&mut input)?;
        Ok(Certificate { header, input, blocks: 0, ended: Ok(false) })
    }

    /// What the file says that it shows.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The next block of entries; none if it is the file's last block.
    pub(crate) fn next_block(&mut self) -> Result<Option<Block>, Failure> {
        let block = self.read();
        self.ended = block.as_ref().map(Option::is_none).map_err(Failure::clone);
        block
    }

    fn read(&mut self) -> Result<Option<Block>, Failure> {
        self.blocks += 1;
        let (number, entry_bytes) = (self.blocks, self.header.entry_bytes());
        let broken = broken(format!("block {number}"));
        let mut words = [[0; 4]; 3];
        self.input.read_exact(words.as_flattened_mut()).map_err(&broken)?;
        let [entries, size, crc] = words.map(u32::from_le_bytes);
        match (entries as usize, size as usize) {
            (0, 0) if crc == self.header.crc => Ok(None),
            (0, 0) => refuse!(
                Unreadable,
                "the header is corrupt: the last block has another CRC-32 for it"
            ),
            (entries @ 1..=MOST_ENTRIES, size) if size <= 2 * entries * entry_bytes + 128 => {
                let mut zlib = vec![0; size];
                self.input.read_exact(&mut zlib).map_err(&broken)?;
                Ok(Some(Block { number, entries, entry_bytes, crc, zlib }))
            }
            _ => refuse!(
                Unreadable,
                "block {number} is corrupt: it says that it has {entries} numbers in {size} bytes, but it may \
                 have 1 to {MOST_ENTRIES}, in 128 bytes and {} for each at most",
                2 * entry_bytes
            ),
        }
    }

    /// Reads the file to its end, and gives the SHA-256 of all of it, in hexadecimal.
    pub(crate) fn finish(mut self) -> Result<String, Failure> {
        while !self.ended.clone()? {
            self.next_block()?;
        }
        let mut rest = Vec::new();
        self.input.by_ref().take(1).read_to_end(&mut rest).map_err(broken("its end"))?;
        if !rest.is_empty() {
            refuse!(Unreadable, "the file goes on after its last block");
        }
        let hash = self.input.into_inner().hash.finalize();
        Ok(hash.iter().map(|byte| format!("{byte:02x}")).collect())
    }
}

impl Block {
    /// The bytes of the entries, if they are what their checksum says.
    pub(crate) fn unpack(&self) -> Result<Vec<u8>, Failure> {
        let &Block { number, entries, entry_bytes, crc, ref zlib } = self;
        let size = entries * entry_bytes;
        // One byte more than needed shows a stream that holds too many.
        let mut bytes = vec![0; size + 1];
        let mut stream = Decompress::new(true);
        let status = stream.decompress(zlib, &mut bytes, FlushDecompress::Finish);
        let is_whole = matches!(status, Ok(Status::StreamEnd))
            && (stream.total_in(), stream.total_out()) == (zlib.len() as u64, size as u64);
        if !is_whole {
            refuse!(
                Unreadable,
                "block {number} is corrupt: it is no zlib stream of {entries} numbers"
            );
        }
        bytes.truncate(size);
        if crc32fast::hash(&bytes) != crc {
            refuse!(
                Unreadable,
                "block {number} is corrupt: its numbers have another CRC-32 than it says"
            );
        }
        Ok(bytes)
    }
}
