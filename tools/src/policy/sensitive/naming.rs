//! Decides whether a clause names a sensitive path.

use protocol::{Clause, Target};

use super::{SensitivePath, dot_name};

/// Returns true if the clause covers the target and names the entry: the clause contains the entry's anchor as a literal segment.
/// Only a clause without wildcards names an entry without an anchor. A clause names a dot file if it contains each of its unknown
/// names that begin with a dot.
pub(super) fn covers(clause: &Clause, target: &Target, entry: &SensitivePath) -> bool {
    if !clause.matches(target) {
        return false;
    }
    if !dot_name::is_entry(entry) {
        return is_anchored(clause, entry);
    }
    target
        .value()
        .split('/')
        .filter(|name| dot_name::is_unknown(name))
        .all(|name| contains(clause, name))
}

/// Returns true if the clause names the entry, and can cover a path that the entry matches.
pub(super) fn is_spelled(clause: &Clause, entry: &SensitivePath) -> bool {
    let literal: Option<Vec<String>> = segments(clause.pattern()).collect();
    is_anchored(clause, entry) && literal.is_none_or(|names| entry.is_whole(&names.join("/")))
}

/// Returns true if the clause covers the target and has no wildcards.
pub(super) fn is_literal(clause: &Clause, target: &Target) -> bool {
    clause.matches(target) && segments(clause.pattern()).all(|segment| segment.is_some())
}

/// Returns true if the clause contains the first segment of the entry without wildcards, or all of them for an entry from the root: that is
/// one place with ordinary names, and who names a folder around it may not know of it.
fn is_anchored(clause: &Clause, entry: &SensitivePath) -> bool {
    let literal = entry.pattern.split('/');
    let mut literal = literal
        .filter(|it| !it.is_empty() && !it.contains('*'))
        .peekable();
    if literal.peek().is_none() {
        return segments(clause.pattern()).all(|segment| segment.is_some());
    }
    let is_rooted = entry.pattern.starts_with('/');
    literal
        .take(if is_rooted { usize::MAX } else { 1 })
        .all(|name| contains(clause, name))
}

/// Returns true if the clause contains the name as a literal segment.
fn contains(clause: &Clause, name: &str) -> bool {
    segments(clause.pattern())
        .any(|segment| segment.is_some_and(|segment| segment.eq_ignore_ascii_case(name)))
}

/// Returns the segments of a clause's pattern with escapes removed. A segment with wildcards or in braces is `None`.
fn segments(pattern: &str) -> impl Iterator<Item = Option<String>> {
    let mut is_in_braces = false;
    pattern.split('/').map(move |segment| {
        let mut literal = (!is_in_braces).then(String::new);
        let mut chars = segment.chars();
        while let Some(c) = chars.next() {
            match c {
                // `{.git,src}` may be written for the sake of `src`.
                '{' | '}' => {
                    is_in_braces = c == '{';
                    literal = None;
                }
                // A brace inside of a character class is literal.
                '[' => {
                    chars.by_ref().find(|c| *c == ']');
                    literal = None;
                }
                '*' | '?' => literal = None,
                '\\' => {
                    if let (Some(literal), Some(escaped)) = (&mut literal, chars.next()) {
                        literal.push(escaped);
                    }
                }
                c => {
                    if let Some(literal) = &mut literal {
                        literal.push(c);
                    }
                }
            }
        }
        literal
    })
}
