//! [`Source`]: the place of a tool's declaration.

use std::borrow::Cow;
use std::fmt;
use std::panic::Location;

use serde::Serialize;

/// The place in source code that declares a tool.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Source {
    /// The package name, as in the manifest.
    pub crate_name: Cow<'static, str>,
    /// The package version, or an empty string if it is unknown.
    pub version: Cow<'static, str>,
    /// The path of the module, as in `module_path!()`, which begins with the name of the library. Empty if it is unknown.
    #[serde(skip)]
    pub module: Cow<'static, str>,
    /// The source file, as in `file!()`.
    pub file: Cow<'static, str>,
    /// The line in the file, from 1.
    pub line: u32,
}

/// Returns the [`Source`] of the line of its invocation.
///
/// ```
/// let source = tools::source!();
/// assert_eq!(source.crate_name, env!("CARGO_PKG_NAME"));
/// ```
#[macro_export]
macro_rules! source {
    () => {
        // A literal, because a reference to a constant that calls a function does not live long enough for a submission.
        $crate::Source {
            crate_name: ::std::borrow::Cow::Borrowed(env!("CARGO_PKG_NAME")),
            version: ::std::borrow::Cow::Borrowed(env!("CARGO_PKG_VERSION")),
            module: ::std::borrow::Cow::Borrowed(module_path!()),
            file: ::std::borrow::Cow::Borrowed(file!()),
            line: line!(),
        }
    };
}

impl Source {
    /// Creates a source of an unknown module, also in constants such as a [`Submission`](crate::Submission).
    pub const fn new(
        crate_name: &'static str,
        version: &'static str,
        file: &'static str,
        line: u32,
    ) -> Self {
        Self {
            crate_name: Cow::Borrowed(crate_name),
            version: Cow::Borrowed(version),
            module: Cow::Borrowed(""),
            file: Cow::Borrowed(file),
            line,
        }
    }

    /// Returns the name of the library, which can differ from the name of its package. Empty if it is unknown.
    ///
    /// ```
    /// let source = tools::Source { module: "tools_fs::read".into(), ..tools::source!() };
    /// assert_eq!(source.library(), "tools_fs");
    /// ```
    pub fn library(&self) -> &str {
        self.module.split("::").next().unwrap_or_default()
    }

    /// Returns the caller's place, with the first segment of `type_name` (as from `std::any::type_name`) as the crate name.
    ///
    /// A function cannot see its caller's package, but the type name of a closure contains it. The version is empty;
    /// [`source!`](crate::source!) sets both.
    #[track_caller]
    pub(crate) fn from_caller(type_name: &'static str) -> Self {
        let place = Location::caller();
        let path = type_name.trim_start_matches(|c: char| !c.is_alphanumeric() && c != '_');
        let crate_name = path.split("::").next().unwrap_or(path);
        Self {
            module: Cow::Borrowed(crate_name),
            ..Self::new(crate_name, "", place.file(), place.line())
        }
    }

    /// Joins sources into one text for error messages.
    pub(crate) fn join(sources: &[Self]) -> String {
        crate::join(sources, " and by ")
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
