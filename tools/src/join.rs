//! Lists in texts for models and people.

use std::fmt::Display;

/// Returns the texts of the parts with a separator between them.
pub fn join(parts: impl IntoIterator<Item: Display>, separator: &str) -> String {
    let parts: Vec<_> = parts.into_iter().map(|part| part.to_string()).collect();
    parts.join(separator)
}
