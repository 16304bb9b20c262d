//! [`Extent`]: the values that a clause covers, for enforcement that knows no wildcards.

use super::Clause;
use super::pattern::Pattern;

/// The values that a clause covers, returned by [`Clause::extent`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Extent<'a> {
    /// Every value of its schemes.
    Everything,
    /// This path and every path below it.
    Subtree(&'a str),
    /// Only this value.
    Exactly(&'a str),
    /// The values that the pattern matches.
    Pattern,
}

impl Clause {
    /// Returns the values that the clause covers, so that a host can hand a path or a subtree to an operating system.
    ///
    /// ```
    /// use protocol::{Clause, Extent};
    ///
    /// let extent = |text: &str| text.parse::<Clause>().map(|clause| format!("{:?}", clause.extent()));
    /// assert_eq!(extent("fs:read:**")?, format!("{:?}", Extent::Everything));
    /// assert_eq!(extent("fs:read:./src/**")?, format!("{:?}", Extent::Subtree("src")));
    /// assert_eq!(extent(r"fs:read:a\*")?, format!("{:?}", Extent::Exactly("a*")));
    /// assert_eq!(extent("fs:read:src/*.rs")?, format!("{:?}", Extent::Pattern));
    /// # Ok::<(), protocol::InvalidClause>(())
    /// ```
    pub fn extent(&self) -> Extent<'_> {
        match &self.compiled.pattern {
            Pattern::Any => Extent::Everything,
            Pattern::Subtree(path) => Extent::Subtree(path),
            Pattern::Literal(value) => Extent::Exactly(value),
            _ => Extent::Pattern,
        }
    }
}
