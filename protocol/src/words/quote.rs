//! Writes words so that a POSIX shell, and [`lex`](super::lexer::lex), read them back.

use std::fmt::Write;

use super::lexer::variable;
use crate::invisible::is_invisible;

/// Quotes a known word if necessary.
pub(crate) fn quote(word: &str) -> String {
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    // Invisible characters could make one command look like another to the person who approves it.
    if !word.contains(is_invisible) {
        return format!("'{}'", word.replace('\'', r"'\''"));
    }
    let mut quoted = "$'".to_owned();
    for c in word.chars() {
        let _ = match c {
            '\'' | '\\' => write!(quoted, "\\{c}"),
            '\n' => write!(quoted, r"\n"),
            '\r' => write!(quoted, r"\r"),
            '\t' => write!(quoted, r"\t"),
            c if !is_invisible(c) => write!(quoted, "{c}"),
            c if c.is_ascii() => write!(quoted, r"\x{:02x}", u32::from(c)),
            c if u32::from(c) <= 0xffff => write!(quoted, r"\u{:04x}", u32::from(c)),
            c => write!(quoted, r"\U{:08x}", u32::from(c)),
        };
    }
    quoted.push('\'');
    quoted
}

/// Writes one word whose text is not known, in double quotes.
pub(super) fn unknown_word(text: &str) -> String {
    let mut quoted = "\"".to_owned();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        match c {
            // `"$@"` would be read back as any number of words.
            '$' if rest.starts_with('@') => quoted.push_str("$\"\""),
            '$' => match variable(rest) {
                Some(name) => {
                    quoted.extend(["$", name]);
                    rest = &rest[name.len()..];
                }
                // A substitution would not be read back.
                None if rest.starts_with(['(', '{', '[']) => quoted.push_str("$\"\""),
                None => quoted.push('$'),
            },
            '"' | '\\' | '`' => quoted.extend(['\\', c]),
            c => quoted.push(c),
        }
    }
    quoted + "\""
}

/// Writes any number of words that are not known, without quotes.
pub(super) fn unknown_words(text: &str) -> String {
    let mut quoted = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        match c {
            '$' => {
                let name = variable(rest).unwrap_or_default();
                quoted.extend(["$", name]);
                rest = &rest[name.len()..];
            }
            c if is_plain(c) => quoted.push(c),
            c => quoted.extend(['\\', c]),
        }
    }
    quoted
}

/// Returns true if the character has no meaning outside quotes, in any position.
pub(crate) fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_@%+=:,./-".contains(c)
}
