//! The token that a coordinator and its workers share, read from a file so that it is in no
//! command line.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use secrecy::{ExposeSecret, SecretString};
use subtle::ConstantTimeEq;
use tonic::metadata::{Ascii, MetadataMap, MetadataValue};

use crate::readers::{readable_by_all, refusal};

/// The fewest characters of a token.
pub const LEAST_TOKEN: usize = 16;
/// The most characters of a token.
pub const MOST_TOKEN: usize = 4096;

/// Where a request carries the token.
const HEADER: &str = "authorization";
/// What stands before it there.
const SCHEME: &str = "Bearer ";

/// A shared token. Never printed: its debug form says only that it is there.
#[derive(Clone, Debug)]
pub struct Token(SecretString);

/// Why a token, or the file that should hold it, is refused. None of the sentences repeats what
/// the file holds.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// The file cannot be read.
    #[error(
        "the token file {} cannot be read: {}",
        path.display(),
        refusal(path, source, "give a file that holds the shared token")
    )]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file holds no token.
    #[error("the token file {} {reason}", path.display())]
    Unfit {
        /// The file.
        path: PathBuf,
        /// What is wrong with its content.
        reason: Unfit,
    },
}

/// What is wrong with a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    /// There is nothing but white space.
    #[error("is empty; put one line of at least {LEAST_TOKEN} random characters into it")]
    Empty,
    /// It can be guessed.
    #[error("holds {0} characters; a token needs at least {LEAST_TOKEN}")]
    Short(usize),
    /// It does not fit into the head of a request.
    #[error("holds more than {MOST_TOKEN} characters; a token is one short line")]
    Long,
    /// It holds what the head of a request cannot carry.
    #[error("holds a character that is not a visible one of ASCII; a token is one word of them")]
    Unprintable,
}

impl Token {
    /// The token in `text`, without the white space around it.
    pub fn new(text: &str) -> Result<Token, Unfit> {
        let text = text.trim();
        if text.is_empty() {
            return Err(Unfit::Empty);
        }
        if text.len() > MOST_TOKEN {
            return Err(Unfit::Long);
        }
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(Unfit::Unprintable);
        }
        if text.len() < LEAST_TOKEN {
            return Err(Unfit::Short(text.len()));
        }
        Ok(Token(SecretString::from(text)))
    }

    /// The token in a file, and a sentence of warning if everybody on this machine can read it.
    pub fn read(path: &Path) -> Result<(Token, Option<String>), TokenError> {
        let unreadable = |source| TokenError::Unreadable { path: path.to_owned(), source };
        let unfit = |reason| TokenError::Unfit { path: path.to_owned(), reason };
        // No more than what tells that it is too long: the path may be of a device.
        let mut bytes = Vec::with_capacity(2 * MOST_TOKEN);
        let file = std::fs::File::open(path).map_err(unreadable)?;
        let most = 2 * MOST_TOKEN as u64;
        file.take(most).read_to_end(&mut bytes).map_err(unreadable)?;
        let text =
            SecretString::from(String::from_utf8(bytes).map_err(|_| unfit(Unfit::Unprintable))?);
        let token = Token::new(text.expose_secret()).map_err(unfit)?;
        Ok((token, readable_by_all(path)))
    }

    /// Puts the token into the head of a request.
    pub fn show(&self, metadata: &mut MetadataMap) {
        let text = SecretString::from(format!("{SCHEME}{}", self.0.expose_secret()));
        let value: Result<MetadataValue<Ascii>, _> = text.expose_secret().parse();
        let mut value = value.expect("a token is visible ASCII");
        // Kept out of debug output and out of the compression of headers.
        value.set_sensitive(true);
        metadata.insert(HEADER, value);
    }

    /// Whether the head of a request shows this token; `None` if it shows none. The time it takes
    /// does not depend on what is shown, but for its length.
    pub fn is_shown(&self, metadata: &http::HeaderMap) -> Option<bool> {
        let shown = metadata.get(HEADER)?.as_bytes().strip_prefix(SCHEME.as_bytes())?;
        Some(self.0.expose_secret().as_bytes().ct_eq(shown).into())
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    use proptest::prelude::*;

    use super::*;

    const WORD: &str = "correct-horse-battery";

    fn file(content: &[u8]) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        fs::write(file.path(), content).expect("written");
        file
    }

    fn headers(token: &Token) -> http::HeaderMap {
        let mut metadata = MetadataMap::new();
        token.show(&mut metadata);
        metadata.into_headers()
    }

    #[test]
    fn a_token_is_read_without_the_white_space_around_it() {
        let file = file(format!("\n  {WORD} \r\n").as_bytes());
        let (token, warning) = Token::read(file.path()).expect("a token");
        assert_eq!(token.is_shown(&headers(&Token::new(WORD).expect("a token"))), Some(true));
        assert_eq!(warning, None);
    }

    #[test]
    fn what_everybody_can_read_is_warned_of() {
        let file = file(WORD.as_bytes());
        fs::set_permissions(file.path(), Permissions::from_mode(0o644)).expect("its mode is set");
        let (_, warning) = Token::read(file.path()).expect("a token");
        assert!(warning.expect("a warning").contains("chmod 600"));
    }

    #[test]
    fn files_without_a_token_are_refused_with_a_sentence_that_does_not_repeat_them() {
        let cases: [(&[u8], &str); 7] = [
            (b"", "is empty"),
            (b" \n\t ", "is empty"),
            (b"hush-hush", "holds 9 characters; a token needs at least 16"),
            (b"hush hush hush hush", "not a visible one of ASCII"),
            (b"hush-hush-hush-hush\nhush", "not a visible one of ASCII"),
            (b"hush-hush-hush-\xff\xfe", "not a visible one of ASCII"),
            (&[b'h'; 5000], "more than 4096 characters"),
        ];
        for (content, words) in cases {
            let file = file(content);
            let sentence = Token::read(file.path()).expect_err(words).to_string();
            assert!(sentence.contains(words), "{sentence}");
            assert!(!sentence.contains("hush"), "{sentence}");
            assert!(sentence.contains(&*file.path().to_string_lossy()), "{sentence}");
        }
        let missing = Token::read(Path::new("/no/such/token")).expect_err("missing").to_string();
        assert!(missing.contains("/no/such/token cannot be read: No such file"), "{missing}");
        let folder = Token::read(Path::new("/")).expect_err("a folder").to_string();
        assert!(folder.contains("cannot be read"), "{folder}");
    }

    #[test]
    fn a_device_without_end_is_not_read_for_ever() {
        assert!(Token::read(Path::new("/dev/zero")).is_err());
    }

    #[test]
    fn its_debug_form_hides_it() {
        let token = Token::new(WORD).expect("a token");
        assert!(!format!("{token:?}").contains("horse"));
        assert!(!format!("{:?}", headers(&token)).contains("horse"));
    }

    proptest! {
        #[test]
        fn only_the_same_token_matches(one in "[!-~]{16,40}", other in "[!-~]{16,40}") {
            let token = Token::new(&one).expect("a token");
            let shown = headers(&Token::new(&other).expect("a token"));
            prop_assert_eq!(token.is_shown(&shown), Some(one == other));
            prop_assert_eq!(token.is_shown(&headers(&token)), Some(true));
        }

        #[test]
        fn a_token_with_more_or_less_does_not_match(one in "[!-~]{17,40}", more in "[!-~]") {
            let token = Token::new(&one).expect("a token");
            let longer = Token::new(&format!("{one}{more}")).expect("a token");
            let shorter = Token::new(&one[..one.len() - 1]).expect("a token");
            prop_assert_eq!(token.is_shown(&headers(&longer)), Some(false));
            prop_assert_eq!(token.is_shown(&headers(&shorter)), Some(false));
        }

        #[test]
        fn no_text_makes_it_panic(text in ".*") {
            if let Ok(token) = Token::new(&text) {
                headers(&token);
            }
        }
    }

    #[test]
    fn a_request_without_a_token_shows_none() {
        let token = Token::new(WORD).expect("a token");
        let mut headers = http::HeaderMap::new();
        assert_eq!(token.is_shown(&headers), None);
        headers.insert(HEADER, http::HeaderValue::from_static("Basic Zm9vOmJhcg=="));
        assert_eq!(token.is_shown(&headers), None);
    }
}
