//! Closing the trap of link-time registration: a dependency that no code names contributes nothing, without a word.

use std::collections::BTreeSet;

use crate::submission;

/// Links crates for the tools that they submit. One that is not a dependency does not compile.
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

/// Checks at start-up that packages have contributed tools, each by the name in its manifest: gives
/// `Result<(), tools::NotLinked>`.
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

/// Packages that were expected to contribute tools and have not.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "no tool is linked from {}; name each crate in the binary (tools::link!(the_crate) or use the_crate as _), \
     and turn on the feature that brings it in", missing.join(", ")
)]
#[non_exhaustive]
pub struct NotLinked {
    /// The packages, in the order they were asked for.
    pub missing: Vec<String>,
}

/// What [`expect_linked!`](crate::expect_linked!) calls.
///
/// # Errors
/// [`NotLinked`] names the packages without a single submission in this process.
pub fn expect_linked(packages: &[&str]) -> Result<(), NotLinked> {
    let submissions = submission::linked();
    let linked: BTreeSet<&str> = submissions.iter().map(|submission| &*submission.source.crate_name).collect();
    let missing: Vec<String> =
        packages.iter().filter(|package| !linked.contains(*package)).map(|package| (*package).to_owned()).collect();
    if missing.is_empty() { Ok(()) } else { Err(NotLinked { missing }) }
}
