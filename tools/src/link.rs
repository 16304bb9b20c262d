//! Macros that link tool crates and check that they are linked. Without them, the linker silently drops a dependency that no code
//! names, and its tools are missing.

use std::collections::BTreeSet;

use crate::{Source, submission};

/// Links crates, so that their tools are registered. Fails to compile if a crate is not a dependency.
///
/// ```ignore
/// tools::link!(tools_builtin, my_tools);
/// ```
#[macro_export]
macro_rules! link {
    ($($name:ident),+ $(,)?) => {
        $(#[allow(unused_extern_crates)] extern crate $name as _;)+
    };
}

/// Checks at start-up that crates have submitted tools. Takes the names of packages, as in a manifest, or of libraries, as in `use`:
/// `expect_linked!("toolcrib-fs")` and `expect_linked!("tools_fs")` are the same. Returns `Result<(), tools::linked::NotLinked>`.
///
/// ```
/// let missing = tools::expect_linked!("my-tools").unwrap_err();
/// assert!(missing.to_string().contains("my-tools"));
/// ```
#[macro_export]
macro_rules! expect_linked {
    ($($name:expr),+ $(,)?) => {
        $crate::__private::expect_linked(&[$($name),+])
    };
}

/// The error for expected crates that submitted no tools.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "no tool is linked from {}; name each crate in the binary (tools::link!(the_crate) or use the_crate as _), \
     and turn on the feature that brings it in", missing.join(", ")
)]
#[non_exhaustive]
pub struct NotLinked {
    /// The packages or libraries without tools, in the order in which they were passed.
    pub missing: Vec<String>,
}

/// Implements [`expect_linked!`](crate::expect_linked!).
///
/// # Errors
/// Returns [`NotLinked`] if a package or library has no submission in this process.
pub fn expect_linked(names: &[&str]) -> Result<(), NotLinked> {
    // Cargo replaces `-` in the name of a package to make that of its library.
    let library = |name: &str| name.replace('-', "_");
    let submissions = submission::linked();
    let names_of =
        |source: &'static Source| [library(&source.crate_name), source.library().to_owned()];
    let linked: BTreeSet<_> = submissions
        .iter()
        .flat_map(|submission| names_of(&submission.source))
        .collect();
    let missing = names.iter().filter(|name| !linked.contains(&library(name)));
    let missing: Vec<String> = missing.map(|name| (*name).to_owned()).collect();
    if missing.is_empty() {
        Ok(())
    } else {
        Err(NotLinked { missing })
    }
}
