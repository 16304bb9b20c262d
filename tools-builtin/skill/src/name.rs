//! Names of skills.

use tools::protocol::is_invisible;
use tools::visible_line;

use crate::front_matter::Fault;

/// The maximum length of a name, in characters.
pub(crate) const MAX_NAME: usize = 64;

/// Returns true if a skill can be called by this name: letters, digits, `-`, `_` and `.`, of any script, beginning with a letter or digit.
pub(crate) fn is_usable(name: &str) -> bool {
    let is_allowed =
        |c: char| (c.is_alphanumeric() && !is_invisible(c)) || matches!(c, '-' | '_' | '.');
    name.starts_with(char::is_alphanumeric)
        && name.chars().all(is_allowed)
        && name.chars().count() <= MAX_NAME
}

/// Chooses the name of a skill: that of the front matter, or else that of the folder. Returns `None` if neither can be used.
pub(crate) fn choose(
    declared: Option<&str>,
    folder: &str,
    faults: &mut Vec<Fault>,
) -> Option<String> {
    let name = match declared {
        None => {
            faults.push(Fault::NoName);
            folder
        }
        Some(name) if !is_usable(name) => {
            faults.push(Fault::UnusableName {
                name: visible_line(name, MAX_NAME),
            });
            folder
        }
        Some(name) => {
            if name != folder {
                faults.push(Fault::OtherName {
                    name: name.to_owned(),
                    folder: visible_line(folder, MAX_NAME),
                });
            }
            name
        }
    };
    if !is_usable(name) {
        return None;
    }
    if !is_specified(name) {
        faults.push(Fault::Spelling {
            name: name.to_owned(),
        });
    }
    Some(name.to_owned())
}

/// Returns true if the specification permits the name.
fn is_specified(name: &str) -> bool {
    name.split('-').all(|part| {
        !part.is_empty()
            && part
                .chars()
                .all(|c| c.is_alphanumeric() && (!c.is_alphabetic() || !c.is_uppercase()))
    })
}
