//! The source of a key or a secret for people, without the key.

use agent::KeySource;
use serde_json::{Value, json};

/// Returns the source, and whether it holds something.
pub(crate) fn document(source: &KeySource) -> Value {
    let is_found = is_found(source);
    match source {
        KeySource::Environment(name) => json!({"variable": name, "found": is_found}),
        KeySource::File(path) => json!({"file": path.display().to_string(), "found": is_found}),
        _ => Value::Null,
    }
}

/// Returns the name of the variable, or the path of the file.
#[cfg(feature = "web")]
pub(crate) fn place(source: &KeySource) -> String {
    match source {
        KeySource::Environment(name) => name.clone(),
        KeySource::File(path) => path.display().to_string(),
        _ => String::new(),
    }
}

/// Returns true if the source holds something.
pub(crate) fn is_found(source: &KeySource) -> bool {
    match source {
        KeySource::Environment(name) => std::env::var_os(name).is_some_and(|key| !key.is_empty()),
        KeySource::File(path) => path.metadata().is_ok_and(|file| !file.is_dir() && file.len() > 0),
        _ => false,
    }
}
