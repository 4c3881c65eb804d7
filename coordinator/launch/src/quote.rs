//! Words for a shell.

/// The word as a shell reads it back, whatever it holds; only a zero byte cannot be in one.
pub fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=@,+".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use proptest::prelude::*;

    use super::*;

    /// The words that a shell makes of a text.
    fn read_back(text: &str) -> Vec<String> {
        let script = format!(r#"set -- {text}; for word; do printf '%s\0' "$word"; done"#);
        let output = Command::new("sh").args(["-c", &script]).output().expect("sh runs");
        assert!(output.status.success(), "{script}: {output:?}");
        let words = String::from_utf8(output.stdout).expect("text");
        words.split_terminator('\0').map(str::to_owned).collect()
    }

    #[test]
    fn words_that_a_shell_would_change_are_read_back_as_they_were() {
        let words = [
            "", " ", "it's", "'", "''", "$HOME", "`id`", "$(id)", "a\\", "\\'", "*", "~", "a\nb",
            "-n", "#", "!", "\"", "a;b", "&", "|", ">x", "{a,b}", "\t",
        ];
        let text: Vec<String> = words.iter().map(|word| quoted(word)).collect();
        assert_eq!(read_back(&text.join(" ")), words);
    }

    #[test]
    fn plain_words_stay_readable() {
        assert_eq!(quoted("--slots=4"), "--slots=4");
        assert_eq!(["connect4:7x6", ">=win", ""].map(quoted), ["connect4:7x6", "'>=win'", "''"]);
        assert_eq!(quoted("http://[::1]:7070"), "'http://[::1]:7070'");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn any_words_are_read_back_as_they_were(words in prop::collection::vec("[^\0]{0,12}", 1..8)) {
            let text: Vec<String> = words.iter().map(|word| quoted(word)).collect();
            prop_assert_eq!(read_back(&text.join(" ")), words);
        }

        #[test]
        fn words_of_a_shells_own_characters_are_read_back(words in prop::collection::vec("['\"\\\\$`!*?~#&;|<> \n()-]{0,8}", 1..8)) {
            let text: Vec<String> = words.iter().map(|word| quoted(word)).collect();
            prop_assert_eq!(read_back(&text.join(" ")), words);
        }
    }
}
