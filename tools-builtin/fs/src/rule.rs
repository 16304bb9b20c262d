//! [`Rule`]: one line of an ignore file.

use fast_glob::{glob_match, validate};

/// How long a pattern may be, in bytes. Matching takes its length times that of a path, and no name is longer.
const MAX_PATTERN: usize = 1024;

/// One line of an ignore file, by the rules of git, also in that `?` is one byte. It is matched as it stands: a compiled matcher would be faster, and take
/// as much memory as whoever wrote the file wants.
#[derive(Debug)]
pub(crate) struct Rule {
    glob: String,
    keeps: bool,
    only_directories: bool,
    /// Without a slash, it is about names, wherever they are.
    by_name: bool,
}

/// What a line says.
#[derive(Debug)]
pub(crate) enum Line {
    Rule(Rule),
    /// Nothing: it is empty, or a comment.
    Nothing,
    /// It is no pattern.
    Fault,
}

impl Rule {
    pub(crate) fn parse(line: &[u8]) -> Line {
        let Ok(line) = str::from_utf8(line) else { return Line::Fault };
        let line = if line.ends_with("\\ ") { line } else { line.trim_end() };
        if line.is_empty() || line.starts_with('#') {
            return Line::Nothing;
        }
        let (keeps, line) = line.strip_prefix('!').map_or((false, line), |rest| (true, rest));
        let directory = line.strip_suffix("\\/").or_else(|| line.strip_suffix('/'));
        let (only_directories, line) = directory.map_or((false, line), |rest| (true, rest));
        let by_name = !line.contains('/');
        let Some(glob) = glob(line.strip_prefix('/').unwrap_or(line)) else { return Line::Fault };
        Line::Rule(Self { glob, keeps, only_directories, by_name })
    }

    /// Whether the rule is about something, given by its path below the directory of the file and by its name.
    pub(crate) fn is_about(&self, below: &str, name: &str, is_directory: bool) -> bool {
        (is_directory || !self.only_directories) && glob_match(&self.glob, if self.by_name { name } else { below })
    }

    /// Whether what it is about is seen all the same.
    pub(crate) fn keeps(&self) -> bool {
        self.keeps
    }

    /// How much text there is to match, in bytes.
    pub(crate) fn len(&self) -> usize {
        self.glob.len()
    }
}

/// A pattern as the matcher spells it: in git, braces stand for themselves, and so does a letter after a backslash, and two
/// stars are one unless they stand alone between slashes.
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
                glob.push_str(if more == 1 && is_first && is_last { "**" } else { "*" });
            }
            '{' | '}' => glob.extend(['\\', character]),
            // To the matcher, it would turn the pattern around.
            '!' if glob.is_empty() => glob.push_str("\\!"),
            _ => glob.push(character),
        }
    }
    // All that is in a directory, and not the directory.
    if glob == "**" || glob.ends_with("/**") {
        glob.push_str("/*");
    }
    (!glob.is_empty() && glob.len() <= MAX_PATTERN && validate(&glob).is_ok()).then_some(glob)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a line is about a path, which is one of a directory if it ends with a slash.
    fn is_about(line: &str, path: &str) -> bool {
        let Line::Rule(rule) = Rule::parse(line.as_bytes()) else { panic!("{line:?} is no pattern") };
        let below = path.strip_suffix('/').unwrap_or(path);
        rule.is_about(below, below.rsplit('/').next().unwrap_or_default(), path.ends_with('/'))
    }

    #[test]
    fn a_line_is_read_as_git_reads_it() {
        for (line, about, not) in [
            ("foo", &["foo", "a/foo", "a/b/foo/"][..], &["foobar", "foo/a"][..]),
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
            ("**/a*b/c", &["axb/c", "x/ayb/c", "axb/d/ayb/c"], &["axb/d/c"]),
            ("é?*", &["éü", "éx"], &["é"]),
            ("x\r", &["x"], &[]),
        ] {
            assert!(about.iter().all(|path| is_about(line, path)), "{line:?} is about {about:?}");
            assert!(!not.iter().any(|path| is_about(line, path)), "{line:?} is not about {not:?}");
        }
    }

    #[test]
    fn lines_that_say_nothing_are_no_faults_and_those_that_cannot_be_read_are() {
        for line in ["", "  ", "# x", "\r"] {
            assert!(matches!(Rule::parse(line.as_bytes()), Line::Nothing), "{line:?}");
        }
        for line in [&b"[a"[..], b"a\\", b"\xff", b"/", b"!", b"[", &[b'x'; MAX_PATTERN + 1]] {
            assert!(matches!(Rule::parse(line), Line::Fault), "{line:?}");
        }
    }

    #[test]
    fn what_is_kept_is_marked() {
        assert!(matches!(Rule::parse(b"!a"), Line::Rule(rule) if rule.keeps()));
        assert!(matches!(Rule::parse(b"\\!a"), Line::Rule(rule) if !rule.keeps()));
    }
}
