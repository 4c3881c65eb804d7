//! How systemd reads words and paths, after systemd.syntax(7) and systemd.service(5).

use std::path::Path;

/// Whether a word needs no quotes with this character in it.
fn is_plain(c: char) -> bool {
    c.is_alphanumeric() || "-_./:=,+@%$".contains(c)
}

/// A word in quotation marks where it needs them, with what systemd unescapes escaped.
fn quoted(word: &str) -> String {
    if !word.is_empty() && word.chars().all(is_plain) { word.to_owned() } else { in_marks(word) }
}

fn in_marks(word: &str) -> String {
    let mut text = String::from("\"");
    for c in word.chars() {
        match c {
            '"' | '\\' => text.extend(['\\', c]),
            '\n' => text += "\\n",
            '\t' => text += "\\t",
            c if c.is_control() => {
                let mut bytes = [0; 4];
                for byte in c.encode_utf8(&mut bytes).bytes() {
                    text += &format!("\\x{byte:02x}");
                }
            }
            c => text.push(c),
        }
    }
    text.push('"');
    text
}

/// The program of a command line: specifiers are replaced in it, variables are not.
pub fn program(path: &Path) -> String {
    quoted(&path.to_string_lossy().replace('%', "%%"))
}

/// An argument of a command line: neither a specifier nor a variable is replaced in it. Quotation marks are around the
/// whole of it, as they may not begin within a word.
pub fn argument(text: &str) -> String {
    quoted(&text.replace('%', "%%").replace('$', "$$"))
}

/// A path that is one of several words of a setting; outside quotation marks a colon has a meaning there.
pub fn path_in_list(path: &Path) -> String {
    let text = path.to_string_lossy().replace('%', "%%");
    if text.contains(':') { in_marks(&text) } else { quoted(&text) }
}

/// A path that is all the rest of a setting.
pub fn path_to_the_end(path: &Path) -> String {
    path.to_string_lossy().replace('%', "%%")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_words_are_left_alone_and_others_are_quoted() {
        for plain in [
            "--slots=4",
            "--coordinator=http://a:1,https://b:2",
            "--coordinator-file=/srv/lab@1/url",
            "--name=Größe",
        ] {
            assert_eq!(argument(plain), plain);
        }
        assert_eq!(argument(""), "\"\"");
        assert_eq!(argument("--a=two words"), "\"--a=two words\"");
        assert_eq!(argument("--a=it's"), "\"--a=it's\"");
        for alone in [";", "#", "{"] {
            assert_eq!(argument(alone), format!("\"{alone}\""));
        }
        assert_eq!(argument("\"\\"), "\"\\\"\\\\\"");
        assert_eq!(argument("x\ny\tz\u{1}"), "\"x\\ny\\tz\\x01\"");
    }

    #[test]
    fn specifiers_and_variables_are_not_replaced() {
        assert_eq!(argument("--a=100%"), "--a=100%%");
        assert_eq!(argument("$HOME ${X}"), "\"$$HOME $${X}\"");
        assert_eq!(program(Path::new("/opt/100%/$x y")), "\"/opt/100%%/$x y\"");
        assert_eq!(path_to_the_end(Path::new("/a b/100%/$c")), "/a b/100%%/$c");
    }

    #[test]
    fn colons_in_lists_of_paths_are_quoted() {
        assert_eq!(path_in_list(Path::new("/a")), "/a");
        assert_eq!(path_in_list(Path::new("/a b")), "\"/a b\"");
        assert_eq!(path_in_list(Path::new("/a:b%")), "\"/a:b%%\"");
    }
}
