//! Which entries are meant: numbers, and ranges of them such as `5..20`.

use std::collections::BTreeSet;

use super::super::CommandError;

/// The most entries that one command may name.
const MOST: u64 = 1 << 20;

/// The entries that are named, each once.
pub fn numbers(words: &[String]) -> Result<BTreeSet<u64>, CommandError> {
    let mut all = BTreeSet::new();
    for word in words {
        let (first, last) =
            range(word).map_err(|why| CommandError::bad_value("NUMBER", word, why))?;
        if last - first >= MOST || all.len() as u64 + (last - first) >= MOST {
            let why = format!("that makes more than {MOST} entries; name fewer in one command");
            return Err(CommandError::bad_value("NUMBER", word, why));
        }
        all.extend(first..=last);
    }
    Ok(all)
}

/// The first and the last of a range; of a number, itself.
fn range(word: &str) -> Result<(u64, u64), &'static str> {
    let number = |text: &str| text.parse::<u64>().ok().filter(|&number| number > 0);
    let (first, last) = word.split_once("..").unwrap_or((word, word));
    match (number(first), number(last)) {
        (Some(first), Some(last)) if first <= last => Ok((first, last)),
        (Some(_), Some(_)) => Err("the range is empty; write the lower number first, as in 5..20"),
        _ => Err("write the number of an entry, from 1, or a range such as 5..20"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &[&str]) -> Result<Vec<u64>, String> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        match numbers(&words) {
            Ok(numbers) => Ok(numbers.into_iter().collect()),
            Err(CommandError::BadInput(sentence)) => Err(sentence),
            Err(other) => panic!("{other:?}"),
        }
    }

    #[test]
    fn ranges_have_both_ends_and_each_number_counts_once() {
        assert_eq!(read(&[]), Ok(Vec::new()));
        assert_eq!(read(&["7", "3", "7"]), Ok(vec![3, 7]));
        assert_eq!(read(&["5..8", "7..9", "1"]), Ok(vec![1, 5, 6, 7, 8, 9]));
        assert_eq!(read(&["4..4"]), Ok(vec![4]));
    }

    #[test]
    fn what_is_no_number_is_refused_with_what_would_be_right() {
        for bad in ["", "x", "0", "-1", "1.5", "..5", "5..", "0..5", "1..2..3"] {
            let sentence = read(&[bad]).expect_err(bad);
            assert!(sentence.contains("a range such as 5..20"), "{sentence}");
        }
        assert!(read(&["20..5"]).expect_err("empty").contains("the lower number first"));
        for bad in [&["1..18446744073709551615"][..], &["1..1048576", "1048577"]] {
            assert!(read(bad).expect_err("too many").contains("more than 1048576"), "{bad:?}");
        }
    }
}
