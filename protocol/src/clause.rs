//! [`Clause`]: one line of a grant.

mod pattern;

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use self::pattern::Pattern;
use crate::{Access, InvalidTarget, Target, UnknownAccess};

/// One line of a [`Grant`](crate::Grant): `scheme:access:pattern`, such as `fs:write:src/**`.
///
/// `*` stands for any scheme or any access. In the pattern, which is case-sensitive,
///
/// - `*` is any text within one segment (segments are separated by `/`), and `?` one character of it,
/// - `**`, always a whole segment, is any number of segments, even none: `dir/**` covers `dir` itself, and `dir/**/` only
///   values that end with `/`,
/// - `[a-z]` and `[!a-z]` are one character, in or not in the class, and never `/`; members of a class are ASCII,
/// - `{a,b}` is one of several, not nested and without `**`,
/// - `\` takes the meaning from the character after it; `/` cannot be escaped.
///
/// A character is a Unicode scalar value: `?` matches `é` if it is one code point, and `??` if its accent is a second one.
///
/// Patterns of scheme `fs` are paths below the workspace root and are kept normalised. Of all patterns only `.`, `**`
/// and the like cover the root: `*` means what is in it.
///
/// A clause is compiled once; to clone it costs a counter. Clauses compare by their text.
///
/// ```
/// use protocol::{Clause, Target};
///
/// let clause: Clause = "fs:read:src/**".parse()?;
/// assert!(clause.matches(&"fs:read:src/a/b.rs".parse::<Target>()?));
/// assert!(clause.matches(&"fs:read:src".parse::<Target>()?));
/// assert!(!clause.matches(&"fs:read:src/../Cargo.toml".parse::<Target>()?));
/// assert!(!clause.matches(&"fs:write:src/a/b.rs".parse::<Target>()?));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Clause(Arc<Compiled>);

struct Compiled {
    text: String,
    /// Where the pattern begins in the text, in bytes.
    start: usize,
    scheme: Option<String>,
    access: Option<Access>,
    pattern: Pattern,
}

/// Why a text is not a [`Clause`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidClause {
    /// A text without the two colons.
    #[error("{text:?} is not a clause; write `scheme:access:pattern`, such as `fs:read:src/**`")]
    Syntax {
        /// The text, cut after 80 characters.
        text: String,
    },
    /// The part before the first colon, or a path that no target can have.
    #[error("{text:?} is not a clause: {reason}")]
    Target {
        /// The clause, cut after 80 characters.
        text: String,
        /// The fault, and what to write instead.
        reason: InvalidTarget,
    },
    /// The part between the colons.
    #[error("{text:?} is not a clause: {reason} (or `*` for any)")]
    Access {
        /// The clause, cut after 80 characters.
        text: String,
        /// The fault, and what to write instead.
        reason: UnknownAccess,
    },
    /// The part after the second colon.
    #[error("{text:?} is not a clause: {reason}")]
    Pattern {
        /// The clause, cut after 80 characters.
        text: String,
        /// The fault, and what to write instead.
        reason: String,
    },
}

impl Clause {
    /// Whether this clause covers the target.
    pub fn matches(&self, target: &Target) -> bool {
        let Compiled { scheme, access, pattern, .. } = &*self.0;
        scheme.as_deref().is_none_or(|scheme| scheme == target.scheme())
            && access.is_none_or(|access| access == target.access())
            && pattern.matches(target.value())
    }

    /// The whole clause as text, in normal form.
    pub fn as_str(&self) -> &str {
        &self.0.text
    }

    /// The scheme; none when the clause is for any.
    pub fn scheme(&self) -> Option<&str> {
        self.0.scheme.as_deref()
    }

    /// The access; none when the clause is for any.
    pub fn access(&self) -> Option<Access> {
        self.0.access
    }

    /// The pattern, in normal form.
    pub fn pattern(&self) -> &str {
        &self.0.text[self.0.start..]
    }

    /// `*:*:**`, which covers every target.
    pub(crate) fn everything() -> Self {
        Self::assemble(None, None, "**", Pattern::Anything)
    }

    /// The clause that covers this target only.
    pub(crate) fn exactly(target: &Target) -> Self {
        let pattern = pattern::escape(target.value());
        Self::assemble(
            Some(target.scheme()),
            Some(target.access()),
            &pattern,
            Pattern::Exactly(target.value().to_owned()),
        )
    }

    /// The clause that covers what is below a value without wildcards, and that value; with none, all of the scheme.
    pub(crate) fn below(scheme: &str, access: Access, base: &str) -> Self {
        if base.is_empty() {
            return Self::assemble(Some(scheme), Some(access), "**", Pattern::Anything);
        }
        let pattern = format!("{}/**", pattern::escape(base));
        Self::assemble(Some(scheme), Some(access), &pattern, Pattern::Below(base.to_owned()))
    }

    fn assemble(scheme: Option<&str>, access: Option<Access>, text: &str, pattern: Pattern) -> Self {
        let head = format!("{}:{}:", scheme.unwrap_or("*"), access.map_or("*", Access::as_str));
        let start = head.len();
        Self(Arc::new(Compiled { text: head + text, start, scheme: scheme.map(str::to_owned), access, pattern }))
    }
}

impl Target {
    /// The clause that grants this target and nothing else. Characters with a meaning in patterns are escaped.
    pub fn to_clause(&self) -> Clause {
        Clause::exactly(self)
    }
}

crate::text_form::text_form!(Clause, InvalidClause);

impl FromStr for Clause {
    type Err = InvalidClause;

    fn from_str(text: &str) -> Result<Self, InvalidClause> {
        let shown = || InvalidTarget::cut(text);
        let target = |reason| InvalidClause::Target { text: shown(), reason };
        let mut parts = text.splitn(3, ':');
        let (Some(scheme), Some(access), Some(pattern)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(InvalidClause::Syntax { text: shown() });
        };
        let scheme = match scheme {
            "*" => None,
            scheme => {
                InvalidTarget::check_scheme(scheme).map_err(target)?;
                Some(scheme)
            }
        };
        let access = match access {
            "*" => None,
            access => Some(access.parse().map_err(|reason| InvalidClause::Access { text: shown(), reason })?),
        };
        InvalidTarget::refuse_control(pattern).map_err(target)?;
        let invalid = |reason| InvalidClause::Pattern { text: shown(), reason };
        if scheme == Some("fs") {
            let pattern = pattern::normalise(pattern).map_err(target)?;
            let compiled = Pattern::compile(&pattern).map_err(invalid)?;
            return Ok(Self::assemble(scheme, access, &pattern, compiled));
        }
        Ok(Self::assemble(scheme, access, pattern, Pattern::compile(pattern).map_err(invalid)?))
    }
}

impl fmt::Display for Clause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl PartialEq for Clause {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Clause {}

impl PartialOrd for Clause {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Clause {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_str().cmp(other.as_str())
    }
}

impl Hash for Clause {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}
