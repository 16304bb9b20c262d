//! [`Source`]: where a tool was declared.

use std::borrow::Cow;
use std::fmt;
use std::panic::Location;

use serde::Serialize;

/// The place in somebody's code that put a tool into a catalog.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Source {
    /// The package, as in its manifest.
    pub crate_name: Cow<'static, str>,
    /// The package's version; empty where it is not known.
    pub version: Cow<'static, str>,
    /// The source file, as the compiler names it.
    pub file: Cow<'static, str>,
    /// The line in that file, from 1.
    pub line: u32,
}

/// The [`Source`] of the line it stands on.
///
/// ```
/// let source = tools::source!();
/// assert_eq!(source.crate_name, env!("CARGO_PKG_NAME"));
/// ```
#[macro_export]
macro_rules! source {
    () => {
        // A literal and not `new`: a reference to a constant that calls a function does not live long enough to be submitted.
        $crate::Source {
            crate_name: ::std::borrow::Cow::Borrowed(env!("CARGO_PKG_NAME")),
            version: ::std::borrow::Cow::Borrowed(env!("CARGO_PKG_VERSION")),
            file: ::std::borrow::Cow::Borrowed(file!()),
            line: line!(),
        }
    };
}

impl Source {
    /// A source; const, so that a [`Submission`](crate::Submission) can hold one.
    pub const fn new(crate_name: &'static str, version: &'static str, file: &'static str, line: u32) -> Self {
        Self { crate_name: Cow::Borrowed(crate_name), version: Cow::Borrowed(version), file: Cow::Borrowed(file), line }
    }

    /// The caller's place, with the crate that a type's path begins with (`std::any::type_name`): no function can see its
    /// caller's package, but closures and functions carry their path. The version stays unknown; [`source!`](crate::source!)
    /// has both.
    #[track_caller]
    pub fn from_caller(type_name: &'static str) -> Self {
        let place = Location::caller();
        let path = type_name.trim_start_matches(|c: char| !c.is_alphanumeric() && c != '_');
        let crate_name = path.split("::").next().unwrap_or(path);
        Self::new(crate_name, "", place.file(), place.line())
    }

    /// Several as one text.
    pub(crate) fn listed(sources: &[Self]) -> String {
        sources.iter().map(Self::to_string).collect::<Vec<_>>().join(" and by ")
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.crate_name)?;
        if !self.version.is_empty() {
            write!(f, " {}", self.version)?;
        }
        write!(f, " ({}:{})", self.file, self.line)
    }
}
