//! [`IgnoreRule`]: a pattern of an ignore file.

use fast_glob::{glob_match, validate};

/// The maximum length of a pattern, in bytes. Matching takes time proportional to its length times that of the path.
const MAX_PATTERN: usize = 1024;

/// A pattern of an ignore file, with the semantics of git. As in git, `?` matches one byte.
///
/// The pattern is not compiled: a compiled matcher would be faster, but its memory would depend on untrusted input.
#[derive(Debug)]
pub(crate) struct IgnoreRule {
    glob: String,
    /// True if the rule re-includes the entries that it matches.
    pub(crate) is_negated: bool,
    only_directories: bool,
    /// True if the pattern has no slash and therefore matches names at any depth.
    by_name: bool,
}

/// A parsed line of an ignore file.
#[derive(Debug)]
pub(crate) enum ParsedLine {
    Rule(IgnoreRule),
    /// An empty line or a comment.
    Blank,
    /// An invalid pattern.
    Invalid,
}

impl IgnoreRule {
    pub(crate) fn parse(line: &[u8]) -> ParsedLine {
        let Ok(line) = str::from_utf8(line) else {
            return ParsedLine::Invalid;
        };
        let line = if line.ends_with("\\ ") {
            line
        } else {
            line.trim_end()
        };
        if line.is_empty() || line.starts_with('#') {
            return ParsedLine::Blank;
        }
        let (is_negated, line) = line
            .strip_prefix('!')
            .map_or((false, line), |rest| (true, rest));
        let directory = line.strip_suffix("\\/").or_else(|| line.strip_suffix('/'));
        let (only_directories, line) = directory.map_or((false, line), |rest| (true, rest));
        let by_name = !line.contains('/');
        let Some(glob) = glob(line.strip_prefix('/').unwrap_or(line)) else {
            return ParsedLine::Invalid;
        };
        ParsedLine::Rule(Self {
            glob,
            is_negated,
            only_directories,
            by_name,
        })
    }

    /// Returns true if the pattern matches an entry. `below` is its path relative to the directory of the ignore file.
    pub(crate) fn matches(&self, below: &str, name: &str, is_directory: bool) -> bool {
        (is_directory || !self.only_directories)
            && glob_match(&self.glob, if self.by_name { name } else { below })
    }

    /// Returns the length of the pattern, in bytes.
    pub(crate) fn len(&self) -> usize {
        self.glob.len()
    }
}

/// Converts a pattern of git to the syntax of the matcher. Returns `None` if it is invalid.
///
/// In git, braces and a letter after a backslash are literal, and `**` equals `*` unless it is a whole path component.
fn glob(pattern: &str) -> Option<String> {
    let mut glob = String::with_capacity(pattern.len() + 2);
    let mut characters = pattern.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\\' => {
                let escaped = characters.next()?;
                if !escaped.is_alphanumeric() {
                    glob.push('\\');
                }
                glob.push(escaped);
            }
            '*' => {
                let is_first = glob.is_empty() || glob.ends_with('/');
                let more = std::iter::from_fn(|| characters.next_if_eq(&'*')).count();
                let is_last = characters.peek().is_none_or(|next| *next == '/');
                glob.push_str(if more == 1 && is_first && is_last {
                    "**"
                } else {
                    "*"
                });
            }
            '{' | '}' => glob.extend(['\\', character]),
            // The matcher would negate the pattern.
            '!' if glob.is_empty() => glob.push_str("\\!"),
            _ => glob.push(character),
        }
    }
    // Matches the contents of a directory, and not the directory itself.
    if glob == "**" || glob.ends_with("/**") {
        glob.push_str("/*");
    }
    (!glob.is_empty() && glob.len() <= MAX_PATTERN && validate(&glob).is_ok()).then_some(glob)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns true if the pattern matches the path. A trailing slash marks a directory.
    fn is_about(line: &str, path: &str) -> bool {
        let ParsedLine::Rule(rule) = IgnoreRule::parse(line.as_bytes()) else {
            panic!("{line:?} is not a rule")
        };
        let below = path.strip_suffix('/').unwrap_or(path);
        rule.matches(
            below,
            below.rsplit('/').next().unwrap_or_default(),
            path.ends_with('/'),
        )
    }

    #[test]
    fn a_line_is_read_as_git_reads_it() {
        for (line, about, not) in [
            (
                "foo",
                &["foo", "a/foo", "a/b/foo/"][..],
                &["foobar", "foo/a"][..],
            ),
            ("/foo", &["foo", "foo/"], &["a/foo"]),
            ("foo/", &["foo/", "a/foo/"], &["foo", "a/foo"]),
            ("a/b", &["a/b"], &["x/a/b", "b"]),
            ("a/b/", &["a/b/"], &["a/b"]),
            ("*.o", &["x.o", "a/b/.o"], &["o", "x.oo", "x.o/y"]),
            ("/*.o", &["x.o"], &["a/x.o"]),
            ("a/*", &["a/b", "a/b/"], &["a/b/c", "a"]),
            ("**/foo", &["foo", "a/foo", "a/b/foo"], &["foo/a"]),
            ("**/a/b", &["a/b", "x/a/b", "x/y/a/b"], &["a/x/b"]),
            ("a/**/b", &["a/b", "a/x/b", "a/x/y/b"], &["b", "x/a/b"]),
            ("foo/**", &["foo/a", "foo/a/b"], &["foo", "foo/"]),
            ("**", &["a", "a/b"], &[]),
            ("a**/**", &["ab/c", "a/b/c"], &["ab", "a"]),
            ("a**b", &["ab", "axb", "x/axb"], &["a/b"]),
            ("foo\\/", &["foo/"], &["foo"]),
            ("[!a]", &["b"], &["a"]),
            ("a[!b]c", &["axc"], &["abc", "a/c"]),
            ("?.[ch]", &["a.c", "b/a.h"], &["ab.c", "a.d", "a.cc"]),
            ("[!a]x", &["bx"], &["ax"]),
            ("[^a]x", &["bx"], &["ax"]),
            ("[a-c]x", &["bx"], &["dx"]),
            ("*.{js,ts}", &["a.{js,ts}"], &["a.js", "a.ts"]),
            ("\\#x", &["#x"], &["\\#x"]),
            ("\\!x", &["!x"], &["x"]),
            ("!!x", &["!x"], &["x"]),
            ("\\n\\*", &["n*"], &["nx", "\n*"]),
            ("x  ", &["x"], &["x  "]),
            ("x\\ ", &["x "], &["x"]),
            (
                "**/a*b/c",
                &["axb/c", "x/ayb/c", "axb/d/ayb/c"],
                &["axb/d/c"],
            ),
            ("é?*", &["éü", "éx"], &["é"]),
            ("x\r", &["x"], &[]),
        ] {
            assert!(
                about.iter().all(|path| is_about(line, path)),
                "{line:?} is about {about:?}"
            );
            assert!(
                !not.iter().any(|path| is_about(line, path)),
                "{line:?} is not about {not:?}"
            );
        }
    }

    #[test]
    fn lines_that_say_nothing_are_no_faults_and_those_that_cannot_be_read_are() {
        for line in ["", "  ", "# x", "\r"] {
            assert!(
                matches!(IgnoreRule::parse(line.as_bytes()), ParsedLine::Blank),
                "{line:?}"
            );
        }
        for line in [
            &b"[a"[..],
            b"a\\",
            b"\xff",
            b"/",
            b"!",
            b"[",
            &[b'x'; MAX_PATTERN + 1],
        ] {
            assert!(
                matches!(IgnoreRule::parse(line), ParsedLine::Invalid),
                "{line:?}"
            );
        }
    }

    #[test]
    fn negated_patterns_are_marked() {
        assert!(matches!(IgnoreRule::parse(b"!a"), ParsedLine::Rule(rule) if rule.is_negated));
        assert!(matches!(IgnoreRule::parse(b"\\!a"), ParsedLine::Rule(rule) if !rule.is_negated));
    }
}
