//! [`Setting`]: a value and its [`Origin`].

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};
use tools::Clause;

/// A value with its origin.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Setting<T> {
    /// The value.
    pub value: T,
    /// The place that sets it.
    pub origin: Origin,
}

/// The place that sets a value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Origin {
    /// The default of the key.
    #[default]
    Default,
    /// A line of a file, counted from 1.
    File {
        /// The path of the file.
        path: Arc<Path>,
        /// The line.
        line: usize,
    },
    /// An environment variable of this name.
    Environment(String),
    /// The resumed session of this name.
    Session(String),
    /// A flag of the command line.
    Flag(&'static str),
}

impl<T> Setting<T> {
    /// Creates a setting.
    pub fn new(value: T, origin: Origin) -> Self {
        Self { value, origin }
    }

    /// Returns a default value.
    pub fn from_default(value: T) -> Self {
        Self::new(value, Origin::Default)
    }

    /// Returns the value of a flag.
    pub fn from_flag(flag: &'static str, value: T) -> Self {
        Self::new(value, Origin::Flag(flag))
    }

    /// Converts the value and keeps its origin.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Setting<U> {
        Setting::new(change(self.value), self.origin)
    }
}

impl<T: Clone> Setting<T> {
    /// Returns the value with its origin, which rulings about calls name. `label` adds it to the value.
    pub fn label_with(&self, label: impl FnOnce(T, String) -> T) -> T {
        label(self.value.clone(), self.origin.to_string())
    }
}

impl Setting<Vec<Clause>> {
    /// Returns the clauses with their origin.
    pub fn labelled_clauses(&self) -> impl Iterator<Item = Clause> {
        let origin: Arc<str> = self.origin.to_string().into();
        self.value
            .iter()
            .map(move |clause| clause.clone().with_origin(origin.clone()))
    }
}

impl Origin {
    /// Returns the name of the resumed session that sets the value. Returns `None` for other places.
    pub fn session(&self) -> Option<&str> {
        match self {
            Self::Session(name) => Some(name),
            _ => None,
        }
    }

    /// Returns the origin as JSON: `{"kind": "default"}`, `{"kind": "file", "path": …, "line": …}`,
    /// `{"kind": "environment", "variable": …}`, `{"kind": "session", "session": …}` or `{"kind": "flag", "flag": …}`.
    pub fn document(&self) -> Value {
        match self {
            Self::Default => json!({"kind": "default"}),
            Self::File { path, line } => {
                json!({"kind": "file", "path": path.display().to_string(), "line": line})
            }
            Self::Environment(name) => json!({"kind": "environment", "variable": name}),
            Self::Session(name) => json!({"kind": "session", "session": name}),
            Self::Flag(flag) => json!({"kind": "flag", "flag": flag}),
        }
    }
}

/// Formats the origin for people: `default`, `/home/me/toolcrib.toml:3`, `TOOLCRIB_MODEL`, `session 1ng5qd9` or
/// `--model`.
impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File { path, line } => write!(f, "{}:{line}", path.display()),
            Self::Environment(name) => f.write_str(name),
            Self::Session(name) => write!(f, "session {name}"),
            Self::Flag(flag) => f.write_str(flag),
        }
    }
}
