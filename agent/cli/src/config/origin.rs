//! [`Setting`]: a value and its [`Origin`].

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};

/// A value, and who said it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Setting<T> {
    pub(crate) value: T,
    pub(crate) origin: Origin,
}

/// Who said a value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Nobody.
    #[default]
    Default,
    /// A file, at a line counted from 1.
    File { path: Arc<Path>, line: usize },
    /// The command line.
    Flag(&'static str),
}

impl<T> Setting<T> {
    /// A value that holds where nobody says another.
    pub(crate) fn by_default(value: T) -> Self {
        Self { value, origin: Origin::Default }
    }

    /// The value of a flag.
    pub(crate) fn of_flag(flag: &'static str, value: T) -> Self {
        Self { value, origin: Origin::Flag(flag) }
    }

    /// Another value of the same origin.
    pub(crate) fn map<U>(self, change: impl FnOnce(T) -> U) -> Setting<U> {
        Setting { value: change(self.value), origin: self.origin }
    }
}

impl Origin {
    /// For programs: `{"kind": "default"}`, `{"kind": "file", "path": …, "line": …}` or `{"kind": "flag", "flag": …}`.
    pub(crate) fn document(&self) -> Value {
        match self {
            Self::Default => json!({"kind": "default"}),
            Self::File { path, line } => json!({"kind": "file", "path": path.display().to_string(), "line": line}),
            Self::Flag(flag) => json!({"kind": "flag", "flag": flag}),
        }
    }
}

/// For people: `default`, `/home/me/toolcrib.toml:3` or `--model`.
impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File { path, line } => write!(f, "{}:{line}", path.display()),
            Self::Flag(flag) => f.write_str(flag),
        }
    }
}
