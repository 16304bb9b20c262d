//! Matches patterns of sensitive paths against the names of a path.

/// Returns the names of a path below the root.
pub(super) fn names(path: &str) -> Vec<&str> {
    path.split('/').collect()
}

/// A match of a pattern in a path.
pub(super) struct Match {
    /// The number of names before the match.
    pub(super) depth: usize,
    /// True if the pattern matches the path itself, false if it matches only paths below it.
    pub(super) is_whole: bool,
}

impl Match {
    /// Returns the match nearest to the root, or `None` if the pattern matches neither the path nor a path below it.
    pub(super) fn find(pattern: &str, names: &[&str]) -> Option<Self> {
        let (pattern, last) = match pattern.strip_prefix('/') {
            Some(pattern) => (pattern, 1),
            None => (pattern, names.len()),
        };
        (0..last).find_map(|depth| Some(Self { depth, is_whole: is_whole(pattern, &names[depth..])? }))
    }
}

/// Returns true if the pattern matches the names, false if it matches only longer paths that begin with them, and `None` otherwise.
fn is_whole(pattern: &str, names: &[&str]) -> Option<bool> {
    let mut segments = pattern.split('/');
    for name in names {
        match segments.next()? {
            "**" => return Some(true),
            segment if is_name(segment, name) => {}
            _ => return None,
        }
    }
    Some(segments.next().is_none_or(|segment| segment == "**"))
}

/// Returns true if a segment matches a name.
fn is_name(segment: &str, name: &str) -> bool {
    let Some((begin, rest)) = segment.split_once('*') else { return segment.eq_ignore_ascii_case(name) };
    let begins = name.get(..begin.len()).is_some_and(|start| start.eq_ignore_ascii_case(begin));
    begins && {
        let tail = &name[begin.len()..];
        tail.char_indices().map(|(at, _)| at).chain([tail.len()]).any(|at| is_name(rest, &tail[at..]))
    }
}
