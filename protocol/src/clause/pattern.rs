//! [`Pattern`]: the compiled third part of a clause.
//!
//! `globset` matches the patterns, but it reads more than can be promised to a person who grants something: `[!a]`
//! matches `/`, a class with non-ASCII members matches single bytes, `a**b` does not cross segments, and `\` before `/`
//! or in braces around `**` changes the meaning of neighbours. [`Scan`] lets through the part of the language on which
//! the documentation of [`Clause`](super::Clause) is true.

use globset::{GlobBuilder, GlobMatcher};

use crate::InvalidTarget;
use crate::normalise::resolve;

/// The greatest length of a pattern with `*`, `?`, `[` or `{`, in bytes; `dir/**` does not count.
const MAX_LENGTH: usize = 1024;

/// A pattern, ready to be held against values.
pub(super) enum Pattern {
    /// `**`.
    Anything,
    /// No wildcards.
    Exactly(String),
    /// `dir/**` with a `dir` that has no wildcards: the path of `dir`.
    Below(String),
    /// The rest, and the same without a `/**` at the end.
    Glob(Box<GlobMatcher>, Option<Box<GlobMatcher>>),
}

impl Pattern {
    /// Compiles a pattern without control characters.
    pub(super) fn compile(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Err("the pattern is empty; write `**` for everything or `.` for a root".to_owned());
        }
        let scan = Scan::of(text)?;
        let base = scan.glob.trim_end_matches("/**");
        let is_subtree = base.len() < scan.glob.len();
        let is_literal = scan.wildcard.is_none_or(|at| at >= base.len());
        match (is_literal, is_subtree) {
            _ if base == "**" => Ok(Self::Anything),
            (true, false) => Ok(Self::Exactly(unescape(base))),
            (true, true) => Ok(Self::Below(unescape(base))),
            (false, _) if text.len() > MAX_LENGTH => {
                Err(format!("a pattern with wildcards has at most {MAX_LENGTH} bytes; write several shorter clauses"))
            }
            (false, false) => Ok(Self::Glob(glob(base)?, None)),
            (false, true) => Ok(Self::Glob(glob(&scan.glob)?, Some(glob(base)?))),
        }
    }

    pub(super) fn matches(&self, value: &str) -> bool {
        match self {
            Self::Anything => true,
            Self::Exactly(text) => text == value,
            Self::Below(base) => {
                value.strip_prefix(&**base).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            }
            // To grant what is in a root is not to grant the root: `fs:destroy:*` would take all of it away.
            Self::Glob(..) if value == "." => false,
            Self::Glob(glob, base) => glob.is_match(value) || base.as_ref().is_some_and(|base| base.is_match(value)),
        }
    }
}

/// Puts a backslash before every character that has a meaning in patterns.
pub(super) fn escape(value: &str) -> String {
    let mut escaped = String::with_capacity(value.len());
    for c in value.chars() {
        if matches!(c, '*' | '?' | '[' | ']' | '{' | '}' | '\\') {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

/// Normalises the pattern of a path. Steps upwards are resolved where there are no wildcards, and refused elsewhere:
/// what `..` undoes after `**` is anybody's guess.
pub(super) fn normalise(text: &str) -> Result<String, InvalidTarget> {
    if text.is_empty() {
        return Err(InvalidTarget::Empty);
    }
    if text.contains(['*', '?', '[', '{']) && text.split('/').any(|segment| segment == "..") {
        return Err(InvalidTarget::DotSegment { value: InvalidTarget::cut(text) });
    }
    resolve(text)
}

fn glob(text: &str) -> Result<Box<GlobMatcher>, String> {
    let glob = GlobBuilder::new(text).literal_separator(true).backslash_escape(true).build();
    glob.map(|glob| Box::new(glob.compile_matcher())).map_err(|error| format!("{}; write it differently", error.kind()))
}

fn unescape(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        plain.extend(if c == '\\' { chars.next() } else { Some(c) });
    }
    plain
}

/// A pattern that has been looked through.
struct Scan {
    /// For `globset`: classes are kept from matching `/`.
    glob: String,
    /// Where in it the first wildcard stands, in bytes.
    wildcard: Option<usize>,
}

impl Scan {
    fn of(text: &str) -> Result<Self, String> {
        let mut scan = Self { glob: String::with_capacity(text.len()), wildcard: None };
        let mut rest = text;
        let mut in_braces = false;
        let mut previous = None;
        while let Some(c) = rest.chars().next() {
            let at_segment = previous.is_none_or(|c| c == '/');
            rest = &rest[c.len_utf8()..];
            if matches!(c, '*' | '?' | '[' | '{') {
                scan.wildcard.get_or_insert(scan.glob.len());
            }
            scan.glob.push(c);
            match c {
                '\\' => match rest.chars().next() {
                    None | Some('/') => {
                        return Err("a `\\` has nothing to escape; write `\\\\` for a backslash".to_owned());
                    }
                    Some(escaped) => {
                        rest = &rest[escaped.len_utf8()..];
                        scan.glob.push(escaped);
                    }
                },
                '*' if rest.starts_with('*') => {
                    rest = &rest[1..];
                    scan.glob.push('*');
                    if in_braces || !at_segment || !(rest.is_empty() || rest.starts_with('/')) {
                        return Err("`**` is part of a segment; write it between slashes, or `*`".to_owned());
                    }
                }
                '[' => rest = scan.class(rest)?,
                '{' if in_braces => {
                    return Err("braces are nested; write the alternatives out".to_owned());
                }
                '{' => in_braces = true,
                ',' | '}' if in_braces => {
                    if matches!(previous, Some('{' | ',')) {
                        return Err("an alternative in braces is empty; write two patterns".to_owned());
                    }
                    in_braces = c == ',';
                }
                '}' => return Err("a `}` has no `{`; write `\\}` for a brace".to_owned()),
                _ => {}
            }
            // What was escaped has no meaning for what comes next.
            previous = Some(if c == '\\' { '\0' } else { c });
        }
        if in_braces { Err("a `{` is not closed; write `\\{` for a brace".to_owned()) } else { Ok(scan) }
    }

    /// Takes over a class after its `[`, and returns what follows it.
    fn class<'a>(&mut self, text: &'a str) -> Result<&'a str, String> {
        let (members, rest) = text.split_once(']').ok_or("a `[` is not closed; write `\\[` for a bracket")?;
        let members = match members.strip_prefix(['!', '^']) {
            Some(members) => {
                self.glob.push_str("!/");
                members
            }
            None => members,
        };
        let is_plain = |c: char| c.is_ascii_graphic() && !matches!(c, '/' | '\\' | '[' | '!' | '^');
        if members.is_empty() || members.starts_with('-') || !members.chars().all(is_plain) {
            return Err("a class in `[…]` is unclear; write ASCII characters and ranges such as `a-z`, and a `-` last"
                .to_owned());
        }
        let spans_slash = |range: &[u8]| range[1] == b'-' && range[0] < b'/' && range[2] > b'/';
        if members.as_bytes().windows(3).any(spans_slash) {
            return Err("a range in `[…]` contains `/`; write two ranges".to_owned());
        }
        self.glob.push_str(members);
        self.glob.push(']');
        Ok(rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, value: &str) -> bool {
        Pattern::compile(pattern).unwrap().matches(value)
    }

    #[test]
    fn a_star_stays_in_its_segment() {
        assert!(matches("src/*.rs", "src/a.rs"));
        assert!(!matches("src/*.rs", "src/a/b.rs"));
        assert!(matches("src/**/*.rs", "src/a.rs"));
        assert!(matches("src/**/*.rs", "src/a/b/c.rs"));
        assert!(!matches("src/**/*.rs", "srcs/a.rs"));
    }

    #[test]
    fn two_stars_at_the_end_cover_the_directory_itself() {
        for pattern in ["src/**", "s*/**", "{src,doc}/**", "**/src/**", "src/**/**", "s*/**/**"] {
            assert!(matches(pattern, "src"), "{pattern}");
            assert!(matches(pattern, "src/a/b"), "{pattern}");
            assert!(!matches(pattern, "a.rs"), "{pattern}");
        }
    }

    #[test]
    fn only_the_root_and_everything_cover_the_root() {
        for pattern in ["**", "**/**", "."] {
            assert!(matches(pattern, "."), "{pattern}");
        }
        for pattern in ["*", "?", ".*", "[.]", "**/*", "*/**", "{.,a}"] {
            assert!(!matches(pattern, "."), "{pattern}");
        }
    }

    #[test]
    fn a_class_never_matches_a_slash() {
        assert!(matches("a[!b]c", "axc"));
        assert!(!matches("a[!b]c", "a/c"));
        assert!(matches("[a-c_-]", "-"));
        assert!(Pattern::compile("a[+-9]c").is_err());
        assert!(Pattern::compile("a[/]c").is_err());
    }

    #[test]
    fn what_reads_in_two_ways_is_refused() {
        for pattern in [
            "",
            "a**",
            "**a",
            "a/**b",
            "***",
            "{a,**}",
            "{a/**,b}",
            "{a,{b,c}}",
            "{a,}",
            "{}",
            "{,a}",
            "{a",
            "a}",
            "[a",
            "[]",
            "[]a]",
            "[é]",
            "[!]",
            "[-a]",
            "[z-a]",
            "a\\",
            "a\\/b",
            "{x\\,**}",
        ] {
            assert!(Pattern::compile(pattern).is_err(), "{pattern:?}");
        }
    }

    #[test]
    fn an_escape_takes_the_meaning_away() {
        assert!(matches(r"\*\[a\]\{b\}\?\\", r"*[a]{b}?\"));
        assert!(!matches(r"\*", "a"));
        assert!(matches(r"\*/**", "*/a"));
        assert!(matches(r"*\[x\]", "a[x]"));
    }
}
