//! Suggestions for misspelled names.

/// The maximum length of a compared name, in bytes: comparing takes quadratic time.
const COMPARED: usize = 128;
/// The maximum number of suggestions.
const MOST: usize = 3;

/// See [`ToolError::near`](crate::ToolError::near).
pub(crate) fn near<'a>(wanted: &str, candidates: impl Iterator<Item = &'a str>) -> Vec<String> {
    if wanted.is_empty() || wanted.len() > COMPARED {
        return Vec::new();
    }
    let folded = fold(wanted);
    let mut found: Vec<(usize, &str)> = candidates
        .filter(|name| name.len() <= COMPARED)
        .filter_map(|name| Some((distance(&folded, &fold(name))?, name)))
        .collect();
    found.sort_unstable();
    found.dedup();
    found.truncate(MOST);
    found.into_iter().map(|(_, name)| name.to_owned()).collect()
}

fn distance(wanted: &str, name: &str) -> Option<usize> {
    let (short, long) = if wanted.len() <= name.len() { (wanted, name) } else { (name, wanted) };
    // Names with a common prefix may differ by one more letter: `retry` and `retries`.
    let alike = short.bytes().zip(long.bytes()).take_while(|(own, other)| own == other).count();
    let allowed = (long.len() / 3).max(1) + usize::from(alike > 3);
    let edits = (long.len() - short.len() <= allowed * 2)
        .then(|| strsim::osa_distance(wanted, name))
        .filter(|edits| *edits <= allowed && *edits < long.chars().count());
    // A prefix or suffix ranks behind every misspelling.
    let is_long = short.len() >= 3 && short.len() * 3 >= long.len();
    let part = (is_long && (long.starts_with(short) || long.ends_with(short))).then_some(COMPARED);
    edits.or(part)
}

/// Returns the letters and digits of a name in lower case.
pub(crate) fn fold(name: &str) -> String {
    name.chars().filter(|character| !matches!(character, '_' | '-' | '.' | ' ')).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn among(wanted: &str, names: &[&str]) -> Vec<String> {
        near(wanted, names.iter().copied())
    }

    #[test]
    fn a_slip_of_the_pen_is_near() {
        assert_eq!(among("ftle", &["file", "line", "zone"]), ["file"]);
        assert_eq!(among("fs.raed", &["fs.read", "fs.list", "time.now"]), ["fs.read"]);
    }

    #[test]
    fn case_and_separators_hardly_count() {
        assert_eq!(among("filePath", &["file_path", "path", "mode"]), ["file_path", "path"]);
    }

    #[test]
    fn a_stranger_is_not_near() {
        assert!(among("x", &["path", "zone"]).is_empty());
        assert!(among("a", &["b"]).is_empty());
        assert!(among("", &["a"]).is_empty());
    }

    #[test]
    fn long_names_are_not_compared() {
        let long = "a".repeat(100_000);
        assert!(among(&long, &[&long[1..]]).is_empty());
    }
}
