//! Macros that link tool crates and check that they are linked. Without them, the linker silently drops a dependency that no code
//! names, and its tools are missing.

use std::collections::BTreeSet;

use crate::submission;

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

/// Checks at start-up that packages have submitted tools. Takes package names as in the manifest, or the library names that cargo
/// derives from them (`my_tools` for `my-tools`), and returns `Result<(), tools::NotLinked>`.
///
/// ```
/// let missing = tools::expect_linked!("my-tools").unwrap_err();
/// assert!(missing.to_string().contains("my-tools"));
/// ```
#[macro_export]
macro_rules! expect_linked {
    ($($package:expr),+ $(,)?) => {
        $crate::expect_linked(&[$($package),+])
    };
}

/// The error for expected packages that submitted no tools.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "no tool is linked from {}; name each crate in the binary (tools::link!(the_crate) or use the_crate as _), \
     and turn on the feature that brings it in", missing.join(", ")
)]
#[non_exhaustive]
pub struct NotLinked {
    /// The packages without tools, in the order in which they were passed.
    pub missing: Vec<String>,
}

/// Implements [`expect_linked!`](crate::expect_linked!).
///
/// # Errors
/// Returns [`NotLinked`] if a package has no submission in this process.
pub fn expect_linked(packages: &[&str]) -> Result<(), NotLinked> {
    let submissions = submission::linked();
    let library = |package: &str| package.replace('-', "_");
    let linked: BTreeSet<_> = submissions.iter().map(|submission| library(&submission.source.crate_name)).collect();
    let missing = packages.iter().filter(|package| !linked.contains(&library(package)));
    let missing: Vec<String> = missing.map(|package| (*package).to_owned()).collect();
    if missing.is_empty() { Ok(()) } else { Err(NotLinked { missing }) }
}
