//! Which clauses name a sensitive path.

use protocol::{Clause, Target};

use super::SensitivePath;

/// Returns true if the clause covers the target and names the entry: each path that the clause covers has the entry's anchor in
/// it. An entry without an anchor is named by a clause without wildcards alone.
pub(super) fn covers(clause: &Clause, target: &Target, entry: &SensitivePath) -> bool {
    let is_named = || {
        let mut segments = segments(clause.pattern());
        match anchor(entry.pattern()) {
            Some(anchor) => segments.any(|segment| segment.is_some_and(|name| name.eq_ignore_ascii_case(anchor))),
            None => segments.all(|segment| segment.is_some()),
        }
    };
    clause.matches(target) && is_named()
}

/// Returns the first segment without wildcards.
fn anchor(pattern: &str) -> Option<&str> {
    pattern.split('/').find(|segment| !segment.is_empty() && !segment.contains('*'))
}

/// The segments of a clause's pattern, without escapes; `None` for those with wildcards or in braces.
fn segments(pattern: &str) -> impl Iterator<Item = Option<String>> {
    let mut is_in_braces = false;
    pattern.split('/').map(move |segment| {
        let mut literal = (!is_in_braces).then(String::new);
        let mut chars = segment.chars();
        while let Some(c) = chars.next() {
            match c {
                '{' | '}' => {
                    is_in_braces = c == '{';
                    literal = None;
                }
                // A brace in a class opens and closes nothing.
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
