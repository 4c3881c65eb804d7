//! Sizes of memory as people write them.

use bytesize::ByteSize;

/// The least memory that searches are given, in bytes.
pub const LEAST: u64 = 1 << 20;

/// Reads a size such as `2GiB`, `512MB` or `1000000`; returns bytes. The error is one sentence.
pub fn parse(text: &str) -> Result<u64, String> {
    let ByteSize(bytes) = text
        .parse()
        .map_err(|_| format!("'{text}' is no size; write a number with a unit, such as 2GiB"))?;
    if bytes < LEAST {
        return Err(format!("{text} is too little memory; give at least 1MiB"));
    }
    Ok(bytes)
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
            let sentence = format!("'{bad}' is no size; write a number with a unit, such as 2GiB");
            assert_eq!(parse(bad), Err(sentence));
        }
        assert_eq!(parse("10KiB"), Err("10KiB is too little memory; give at least 1MiB".into()));
    }
}
