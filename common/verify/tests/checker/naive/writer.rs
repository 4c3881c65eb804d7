//! Certificates as bytes.

use std::io::Write;

use flate2::Compression;
use flate2::write::ZlibEncoder;

/// A certificate before it is bytes.
#[derive(Debug, Clone)]
pub struct Certificate {
    pub spec: String,
    pub moves: String,
    /// Claims as the header has them, and their numbers by layer.
    pub claims: Vec<(String, Vec<Vec<u8>>)>,
    /// The most numbers of a block.
    pub block: usize,
}

impl Certificate {
    pub fn header(&self) -> String {
        let mut header = format!(
            "jlpns certificate, version 1\ngame: {}\nrules: 1\nmoves: {}\nkind: full\n",
            self.spec, self.moves
        );
        for (claim, layers) in &self.claims {
            let count: usize = layers.iter().map(Vec::len).sum();
            header += &format!("claim: {claim}, positions: {count:020}\n");
        }
        header + "\n"
    }

    pub fn bytes(&self) -> Vec<u8> {
        self.bytes_with(&self.header())
    }

    pub fn bytes_with(&self, header: &str) -> Vec<u8> {
        let mut bytes = header.as_bytes().to_vec();
        for layer in self.claims.iter().flat_map(|claim| &claim.1) {
            for numbers in layer.chunks(self.block) {
                bytes.extend(block(numbers));
            }
        }
        bytes.extend([0; 8]);
        bytes.extend(crc32fast::hash(header.as_bytes()).to_le_bytes());
        bytes
    }

    pub fn positions(&self) -> usize {
        self.claims.iter().flat_map(|claim| &claim.1).map(Vec::len).sum()
    }
}

pub fn block(numbers: &[u8]) -> Vec<u8> {
    let mut zlib = ZlibEncoder::new(Vec::new(), Compression::default());
    zlib.write_all(numbers).unwrap();
    let zlib = zlib.finish().unwrap();
    let words = [numbers.len() as u32, zlib.len() as u32, crc32fast::hash(numbers)];
    words.into_iter().flat_map(u32::to_le_bytes).chain(zlib).collect()
}
