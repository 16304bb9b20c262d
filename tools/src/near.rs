//! Suggestions for misspelled names.

use std::collections::BTreeSet;

/// The maximum length of a compared name, in bytes: comparing takes quadratic time.
const COMPARED: usize = 128;
/// The maximum number of suggestions.
const MOST: usize = 3;

/// See [`ToolError::near`](crate::ToolError::near).
pub(crate) fn near<'a>(wanted: &str, candidates: impl Iterator<Item = &'a str>) -> Vec<String> {
    near_present(wanted, candidates.map(|name| (name, name)))
}

/// Returns the present names of the similar candidates, given with each candidate.
pub(crate) fn near_present<'a>(
    wanted: &str,
    candidates: impl Iterator<Item = (&'a str, &'a str)>,
) -> Vec<String> {
    if wanted.is_empty() || wanted.len() > COMPARED {
        return Vec::new();
    }
    let folded = fold(wanted);
    let mut found: Vec<(usize, &str)> = candidates
        .filter(|(name, _)| name.len() <= COMPARED)
        .filter_map(|(name, present)| Some((distance(&folded, &fold(name))?, present)))
        .collect();
    found.sort_unstable();
    let mut seen = BTreeSet::new();
    // A present name and a former one of the same tool may both be near.
    found.retain(|(_, present)| seen.insert(*present));
    found.truncate(MOST);
    found
        .into_iter()
        .map(|(_, present)| present.to_owned())
        .collect()
}

fn distance(wanted: &str, name: &str) -> Option<usize> {
    let (short, long) = if wanted.len() <= name.len() {
        (wanted, name)
    } else {
        (name, wanted)
    };
    // Names with a common prefix may differ by one more letter: `retry` and `retries`.
    let alike = short
        .bytes()
        .zip(long.bytes())
        .take_while(|(own, other)| own == other)
        .count();
    let allowed = (long.len() / 3).max(1) + usize::from(alike > 3);
    let edits = (long.len() - short.len() <= allowed * 2)
        .then(|| strsim::osa_distance(wanted, name))
        // Two short names without a common letter are no slip of the pen.
        .filter(|edits| *edits <= allowed && *edits < long.chars().count());
    // A prefix or suffix ranks behind every misspelling.
    let is_long = short.len() >= 3 && short.len() * 3 >= long.len();
    let part = (is_long && (long.starts_with(short) || long.ends_with(short))).then_some(COMPARED);
    edits.or(part)
}

/// Returns the letters and digits of a name in lower case.
pub(crate) fn fold(name: &str) -> String {
    name.chars()
        .filter(|character| !matches!(character, '_' | '-' | '.' | ' '))
        .flat_map(char::to_lowercase)
        .collect()
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
        assert_eq!(
            among("fs.raed", &["fs.read", "fs.list", "time.now"]),
            ["fs.read"]
        );
    }

    #[test]
    fn case_and_separators_hardly_count() {
        assert_eq!(
            among("filePath", &["file_path", "path", "mode"]),
            ["file_path", "path"]
        );
    }

    #[test]
    fn a_name_near_to_a_former_one_is_led_to_the_present_one_once() {
        let names = [
            ("text.upper", "text.upper"),
            ("string.upper", "text.upper"),
            ("string.lower", "text.lower"),
        ];
        assert_eq!(
            near_present("string.uper", names.into_iter()),
            ["text.upper", "text.lower"]
        );
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
