//! Sizes of memory as people write them.

use bytesize::ByteSize;

/// The least memory that searches are given, in bytes.
pub const LEAST: u64 = 1 << 20;
/// The most, which no machine has.
pub const MOST: u64 = 1 << 44;

/// Reads a size such as `2GiB`, `512MB` or `1000000`; returns bytes. The error is one sentence.
pub fn parse(text: &str) -> Result<u64, String> {
    let ByteSize(bytes) = text
        .trim()
        .parse()
        .map_err(|_| "write a number with its unit, such as 512MiB, 2GiB or 1.5GB".to_owned())?;
    if (LEAST..=MOST).contains(&bytes) {
        Ok(bytes)
    } else {
        let (least, most) = (ByteSize(LEAST), ByteSize(MOST));
        Err(format!("write an amount of memory from {least} to {most}, such as 2GiB"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_with_their_units() {
        assert_eq!(parse("2GiB"), Ok(2 << 30));
        assert_eq!(parse("512MB"), Ok(512_000_000));
        assert_eq!(parse("1048576"), Ok(1 << 20));
        for bad in ["", "much", "-1GiB", "2 parsecs"] {
            let sentence = "write a number with its unit, such as 512MiB, 2GiB or 1.5GB";
            assert_eq!(parse(bad), Err(sentence.to_owned()));
        }
        for bad in ["10KiB", "17TiB"] {
            let sentence = "write an amount of memory from 1.0 MiB to 16.0 TiB, such as 2GiB";
            assert_eq!(parse(bad), Err(sentence.to_owned()));
        }
    }
}
