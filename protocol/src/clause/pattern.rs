//! [`Pattern`]: the compiled third part of a clause.
//!
//! A pattern with wildcards becomes a regular expression. `?` and classes match whole characters; `*` and `**` match bytes, which
//! compiles much faster and gives the same result, because their neighbours match whole characters. [`Scan`] rejects ambiguous
//! patterns.

use regex::bytes::Regex;

use crate::invalid_target::InvalidTarget;
use crate::normalise::resolve;
use crate::target::Target;
use crate::words::WordsPattern;

/// The maximum length of a pattern with `*`, `?`, `[` or `{`, in bytes. Does not apply to `dir/**`.
const MAX_LENGTH: usize = 1024;

/// A compiled pattern.
pub(super) enum Pattern {
    /// `**`.
    Any,
    /// A pattern without wildcards.
    Literal(String),
    /// `dir/**` without wildcards in `dir`: the path of `dir`.
    Subtree(String),
    /// A pattern of scheme `exec` other than `**`.
    Words(WordsPattern),
    /// All other patterns.
    Glob(Regex),
}

impl Pattern {
    /// Compiles a pattern without control characters.
    pub(super) fn compile(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Err(
                "the pattern is empty; write `**` for everything or `.` for the root".to_owned(),
            );
        }
        let base = text.trim_end_matches("/**");
        let is_subtree = base.len() < text.len();
        if base == "**" {
            return Ok(Self::Any);
        }
        let scan = Scan::new(base)?;
        match (scan.has_wildcards, is_subtree) {
            (false, false) => Ok(Self::Literal(scan.plain)),
            (false, true) => Ok(Self::Subtree(scan.plain)),
            // Only wildcards are limited: the longest of these patterns still compiles within the limit of `regex`.
            (true, _) if text.len() > MAX_LENGTH => Err(format!(
                "a pattern with wildcards has at most {MAX_LENGTH} bytes; write several shorter clauses"
            )),
            (true, _) => {
                let below = if is_subtree { "(?-u:/(?s:.*))?" } else { "" };
                let regex = Regex::new(&format!(r"\A{}{below}\z", scan.regex));
                regex
                    .map(Self::Glob)
                    .map_err(|error| format!("{error}; write several simpler clauses"))
            }
        }
    }

    /// Returns true if the pattern covers the value of the target.
    pub(super) fn matches(&self, target: &Target) -> bool {
        let value = target.value();
        match self {
            Self::Any => true,
            Self::Words(words) => words.matches(value),
            // A pattern for any scheme is not a list of words.
            _ if target.scheme() == Target::COMMAND_SCHEME => false,
            Self::Literal(text) => text == value,
            Self::Subtree(base) => value
                .strip_prefix(&**base)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/')),
            // A grant for the entries of the root excludes the root: `fs:destroy:*` must not remove the workspace.
            Self::Glob(regex) => value != "." && regex.is_match(value.as_bytes()),
        }
    }
}

/// Escapes every character that has a meaning in patterns of the scheme, or is an error there.
pub(super) fn escape(scheme: &str, value: &str) -> String {
    let mut escaped = String::with_capacity(value.len());
    for (start, c) in value.char_indices() {
        let is_error =
            || c.is_ascii_uppercase() || !c.is_ascii() || value[start..].starts_with("://");
        if matches!(c, '*' | '?' | '[' | ']' | '{' | '}' | '\\') || scheme == "net" && is_error() {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

/// Normalises the pattern of a path. `..` is resolved if the pattern has no wildcards, and rejected otherwise, because its meaning
/// after `**` is ambiguous.
pub(super) fn normalise(text: &str) -> Result<String, InvalidTarget> {
    if text.is_empty() {
        return Err(InvalidTarget::Empty);
    }
    if text.contains(['*', '?', '[', '{']) && text.split('/').any(|segment| segment == "..") {
        return Err(InvalidTarget::DotSegment {
            value: InvalidTarget::excerpt(text),
        });
    }
    resolve(text.to_owned())
}

/// The result of parsing a pattern without its trailing `/**`.
#[derive(Default)]
struct Scan {
    /// The pattern as a regular expression.
    regex: String,
    /// The unescaped pattern, used if it has no wildcards.
    plain: String,
    has_wildcards: bool,
}

impl Scan {
    fn new(pattern: &str) -> Result<Self, String> {
        let mut scan = Self::default();
        let mut rest = pattern;
        let mut in_braces = false;
        let mut previous = None;
        while let Some(c) = rest.chars().next() {
            rest = &rest[c.len_utf8()..];
            scan.has_wildcards |= matches!(c, '*' | '?' | '[' | '{');
            let mut before_next = c;
            match c {
                '\\' => match rest.chars().next() {
                    None | Some('/') => {
                        return Err(
                            "a `\\` has no character to escape; write `\\\\` for a backslash"
                                .to_owned(),
                        );
                    }
                    Some(escaped) => {
                        rest = &rest[escaped.len_utf8()..];
                        scan.literal(escaped);
                        // An escaped `{` or `,` must not affect the next character.
                        before_next = '\0';
                    }
                },
                '*' => {
                    match rest.strip_prefix('*') {
                        None => scan.regex.push_str("(?-u:[^/]*)"),
                        Some(after) => {
                            let segment = after
                                .strip_prefix('/')
                                .filter(|_| !in_braces && matches!(previous, None | Some('/')));
                            rest = segment.ok_or("`**` is only part of a segment; write `*`, or `**` between slashes")?;
                            scan.regex.push_str("(?-u:(?s:.*)/)?");
                            before_next = '/';
                        }
                    }
                }
                '?' => scan.regex.push_str("[^/]"),
                '[' => rest = scan.class(rest)?,
                '{' if in_braces => {
                    return Err(
                        "braces are nested; write all alternatives in one pair of braces"
                            .to_owned(),
                    );
                }
                '{' => {
                    in_braces = true;
                    scan.regex.push_str("(?:");
                }
                ',' | '}' if in_braces => {
                    if matches!(previous, Some('{' | ',')) {
                        return Err(
                            "an alternative in braces is empty; write a second clause for it"
                                .to_owned(),
                        );
                    }
                    in_braces = c == ',';
                    scan.regex.push(if in_braces { '|' } else { ')' });
                }
                '}' => return Err("a `}` has no `{`; write `\\}` for a brace".to_owned()),
                c => scan.literal(c),
            }
            previous = Some(before_next);
        }
        if in_braces {
            Err("a `{` is not closed; write `\\{` for a brace".to_owned())
        } else {
            Ok(scan)
        }
    }

    /// Adds a literal character.
    fn literal(&mut self, c: char) {
        self.plain.push(c);
        self.regex
            .push_str(&regex::escape(c.encode_utf8(&mut [0; 4])));
    }

    /// Parses a class from the pattern after its `[`. Returns the pattern after its `]`.
    fn class<'a>(&mut self, pattern: &'a str) -> Result<&'a str, String> {
        let (members, rest) = pattern
            .split_once(']')
            .ok_or("a `[` is not closed; write `\\[` for a bracket")?;
        let (members, start) = match members.strip_prefix(['!', '^']) {
            Some(members) => (members, "[^/"),
            None => (members, "["),
        };
        let invalid = "a class in `[…]` is invalid; write ASCII characters and ranges such as `a-z`, and a `-` last";
        if members.is_empty()
            || members.contains(|c: char| !c.is_ascii_graphic() || "/\\[!^".contains(c))
        {
            return Err(invalid.to_owned());
        }
        // A `-` is a member only at the end, where it cannot form a range.
        let (ranges, dash) = members
            .strip_suffix('-')
            .map_or((members, ""), |ranges| (ranges, r"\x2d"));
        self.regex.extend([start, dash]);
        let mut left = ranges.as_bytes();
        while let [first, after @ ..] = left {
            let (last, after) = match after {
                [b'-', last, after @ ..] => (last, after),
                after => (first, after),
            };
            if last < first || [first, last].contains(&&b'-') {
                return Err(invalid.to_owned());
            }
            if (first..=last).contains(&&b'/') {
                return Err("a range in `[…]` contains `/`; write two ranges".to_owned());
            }
            self.regex.push_str(&format!(r"\x{first:02x}-\x{last:02x}"));
            left = after;
        }
        self.regex.push(']');
        Ok(rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, value: &str) -> bool {
        let target = Target::new(crate::Access::Read, "world", value).unwrap();
        Pattern::compile(pattern).unwrap().matches(&target)
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
        for pattern in [
            "src/**",
            "s*/**",
            "{src,doc}/**",
            "**/src/**",
            "src/**/**",
            "s*/**/**",
        ] {
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
    fn ambiguous_patterns_are_refused() {
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
            "[a-c-e]",
            "[a--]",
            "[+--]",
            "[a-cc--]",
            "[a-c--.]",
            "a\\",
            "a\\/b",
            "{x\\,**}",
        ] {
            assert!(Pattern::compile(pattern).is_err(), "{pattern:?}");
        }
    }

    #[test]
    fn an_escaped_wildcard_is_literal() {
        assert!(matches(r"\*\[a\]\{b\}\?\\", r"*[a]{b}?\"));
        assert!(!matches(r"\*", "a"));
        assert!(matches(r"\*/**", "*/a"));
        assert!(matches(r"*\[x\]", "a[x]"));
    }
}
