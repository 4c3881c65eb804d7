//! How a line has words: apart by spaces, with quotes as in a shell, up to a '#'.

/// The words of a line; none if it is blank or a comment.
pub fn words(line: &str) -> Result<Vec<String>, &'static str> {
    let mut words = Vec::new();
    // A word that is empty is one only if it has quotes.
    let mut word: Option<String> = None;
    let mut rest = line.chars();
    while let Some(next) = rest.next() {
        match next {
            '#' => break,
            c if c.is_whitespace() => words.extend(word.take()),
            '\'' => quoted(&mut rest, word.get_or_insert_default())?,
            '"' => double_quoted(&mut rest, word.get_or_insert_default())?,
            '\\' => {
                let escaped = rest.next().ok_or("a backslash ends the line; leave it out")?;
                word.get_or_insert_default().push(escaped);
            }
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Ok(words)
}

/// Adds what follows up to the next quote.
fn quoted(rest: &mut std::str::Chars<'_>, word: &mut String) -> Result<(), &'static str> {
    for next in rest {
        if next == '\'' {
            return Ok(());
        }
        word.push(next);
    }
    Err("a quote is not closed; write another ' at its end")
}

/// Adds what follows up to the next double quote; a backslash takes a double quote or another backslash as it is.
fn double_quoted(rest: &mut std::str::Chars<'_>, word: &mut String) -> Result<(), &'static str> {
    let open = "a double quote is not closed; write another \" at its end";
    while let Some(next) = rest.next() {
        match next {
            '"' => return Ok(()),
            '\\' => match rest.next().ok_or(open)? {
                escaped @ ('"' | '\\') => word.push(escaped),
                other => word.extend(['\\', other]),
            },
            c => word.push(c),
        }
    }
    Err(open)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_as_in_a_shell() {
        let read = |line: &str| words(line).expect(line);
        assert_eq!(read("connect4:7x6 444  # a comment"), ["connect4:7x6", "444"]);
        assert_eq!(read("a --goal '>=win'"), ["a", "--goal", ">=win"]);
        assert_eq!(read("a --label \"x # 'y' \\\" \\z\""), ["a", "--label", "x # 'y' \" \\z"]);
        assert_eq!(read("a '' b\\ c d'e'f"), ["a", "", "b c", "def"]);
        for blank in ["", "  \t", "# all of it", "  #"] {
            assert!(read(blank).is_empty(), "{blank}");
        }
    }

    #[test]
    fn what_is_not_closed_is_refused() {
        for (line, part) in
            [("a 'b", "quote is not closed"), ("a \"b", "double quote"), ("a \\", "backslash")]
        {
            assert!(words(line).expect_err(line).contains(part), "{line}");
        }
        assert!(words("a \"b\\").expect_err("open").contains("double quote"));
    }
}
