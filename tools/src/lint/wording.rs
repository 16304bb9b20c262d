//! The rules of names and descriptions.

use std::collections::HashMap;
use std::sync::Arc;

use super::fault::{Fault, LintRule};
use crate::entry::Entry;
use crate::near::fold;

/// The maximum length of a description, in characters.
const MAX_DESCRIPTION: usize = 1_024;

/// The maximum length of the first sentence of a description, in characters.
const MAX_FIRST_SENTENCE: usize = 160;

pub(super) fn check(
    entries: &[Arc<Entry>],
    entry: &Entry,
    prefix: Option<&str>,
    faults: &mut Vec<Fault>,
) {
    let mut broken = |rule, message: String| faults.push(Fault::warning(entry, rule, message));
    let name = entry.name().as_str();
    if !is_grouped(name) {
        broken(
            LintRule::Name,
            "the name has another form than `group.word`; use a-z, 0-9 and _ around a dot"
                .to_owned(),
        );
    }
    if let Some(prefix) = prefix
        && !name
            .strip_prefix(prefix)
            .is_some_and(|rest| rest.starts_with('.'))
    {
        broken(
            LintRule::Name,
            format!("the name does not begin with `{prefix}.`; add the prefix"),
        );
    }
    let description = entry.tool().description.as_str();
    if !is_sentence(description) {
        let message =
            "the description is not a sentence; begin it in upper case and end it with a full stop";
        broken(LintRule::Description, message.to_owned());
    }
    let names_it =
        |other: &Entry| other.name() != entry.name() && description.contains(other.name().as_str());
    if let Some(other) = entries
        .iter()
        .find(|other| is_grouped(other.name()) && names_it(other))
    {
        let message = format!(
            "the description names the tool {}, which models know by another name; describe it instead",
            other.name()
        );
        broken(LintRule::Description, message);
    }
    for (part, text, most) in [
        ("description", description, MAX_DESCRIPTION),
        (
            "first sentence of the description",
            first_sentence(description),
            MAX_FIRST_SENTENCE,
        ),
    ] {
        let length = text.chars().count();
        if length > most {
            let message =
                format!("the {part} has {length} characters; shorten it to at most {most}");
            broken(LintRule::Description, message);
        }
    }
}

/// Reports names that differ only in case and separators, such as `math.gcd` and `math_gcd`: a model confuses them.
pub(super) fn check_similar(entries: &[Arc<Entry>], faults: &mut Vec<Fault>) {
    let mut similar: HashMap<String, Vec<&Entry>> = HashMap::new();
    for entry in entries {
        let letters = fold(entry.name()).replace(['/', ':', '%'], "");
        similar.entry(letters).or_default().push(entry);
    }
    for group in similar.values().filter(|group| group.len() > 1) {
        for entry in group {
            let others = group.iter().filter(|other| other.name() != entry.name());
            let others: Vec<_> = others.map(|other| other.name().as_str()).collect();
            let message = format!(
                "a model could confuse the name with {}; rename one of them",
                others.join(" and ")
            );
            faults.push(Fault::warning(entry, LintRule::Name, message));
        }
    }
}

/// Returns true if a text begins like a sentence and ends with a full stop.
pub(super) fn is_sentence(text: &str) -> bool {
    text.ends_with('.') && !text.starts_with(char::is_lowercase)
}

fn first_sentence(text: &str) -> &str {
    let end = text
        .match_indices('.')
        .map(|(at, _)| at + 1)
        .find(|end| text[*end..].starts_with(char::is_whitespace));
    &text[..end.unwrap_or(text.len())]
}

/// Returns true if a name has at least two parts around dots, each a word in lower case.
fn is_grouped(name: &str) -> bool {
    name.contains('.')
        && name.split('.').all(|part| {
            part.starts_with(|first: char| first.is_ascii_lowercase())
                && part
                    .chars()
                    .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
        })
}
