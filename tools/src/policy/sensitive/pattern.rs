//! Matches patterns of sensitive paths against the names of a path.

/// Returns the names of a path below the root.
pub(super) fn names(path: &str) -> Vec<&str> {
    path.split('/').collect()
}

/// Looks for the match nearest to the root. Returns true if it matches the path itself, false if it matches only paths below it, and
/// `None` if there is none.
pub(super) fn find(pattern: &str, names: &[&str]) -> Option<bool> {
    (0..names.len()).find_map(|depth| find_at(pattern, names, depth))
}

/// Looks for the match that begins after this number of names, as [`find`] does.
pub(super) fn find_at(pattern: &str, names: &[&str], depth: usize) -> Option<bool> {
    let pattern = match pattern.strip_prefix('/') {
        Some(_) if depth > 0 => return None,
        rooted => rooted.unwrap_or(pattern),
    };
    is_whole(pattern, &names[depth..])
}

/// Returns the number of names that a match of the pattern covers. The names below a folder with `**` count.
pub(super) fn count_names(pattern: &str) -> usize {
    if pattern.ends_with("/**") {
        usize::MAX
    } else {
        pattern.trim_start_matches('/').split('/').count()
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

/// Returns the parts of a pattern behind segments that match the last of these names.
pub(super) fn rests<'a>(pattern: &'a str, names: &[&str]) -> impl Iterator<Item = &'a str> {
    let ends = pattern.match_indices('/').filter(|(end, _)| *end > 0);
    ends.filter_map(|(end, _)| {
        let begin: Vec<&str> = pattern[..end].split('/').collect();
        let first = names.len().checked_sub(begin.len())?;
        let is_there = begin
            .iter()
            .zip(&names[first..])
            .all(|(segment, name)| is_name(segment, name));
        is_there.then(|| &pattern[end + 1..])
    })
}

/// Returns true if a segment matches a name.
fn is_name(segment: &str, name: &str) -> bool {
    let Some((begin, rest)) = segment.split_once('*') else {
        return segment.eq_ignore_ascii_case(name);
    };
    let begins = name
        .get(..begin.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(begin));
    begins && {
        let tail = &name[begin.len()..];
        tail.char_indices()
            .map(|(at, _)| at)
            .chain([tail.len()])
            .any(|at| is_name(rest, &tail[at..]))
    }
}
