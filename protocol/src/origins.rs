//! [`Origins`]: the places that set a clause or a rule.

use std::fmt;
use std::sync::Arc;

use serde::Serialize;

/// The places that set a [`Clause`](crate::Clause) of a grant or a rule of a policy: labels of the host, such as `toolcrib.toml:3` or
/// `--grant`, in the order in which they were added.
///
/// Origins explain a decision and have no influence on it. The equality, order, hash and serialized form of a clause, a grant and a
/// rule leave them out. Of equal clauses in a grant one remains, with the origins of all.
///
/// ```
/// use protocol::{Clause, Grant};
///
/// let clause: Clause = "fs:read:**".parse()?;
/// let grant = Grant::new([clause.clone().with_origin("toolcrib.toml:3"), clause.clone().with_origin("--grant")]);
///
/// assert_eq!(grant.clauses().next().unwrap().origins().to_string(), "toolcrib.toml:3, --grant");
/// assert_eq!(grant, Grant::new([clause]));
/// # Ok::<(), protocol::InvalidClause>(())
/// ```
#[derive(Clone, Debug, Default, Serialize)]
pub struct Origins(Vec<Arc<str>>);

impl Origins {
    /// Adds an origin, unless it is present.
    pub fn add(&mut self, origin: impl Into<Arc<str>>) {
        let origin = origin.into();
        if !self.0.contains(&origin) {
            self.0.push(origin);
        }
    }

    /// Adds the origins of `other` that are not present.
    pub fn merge(&mut self, other: &Self) {
        other.0.iter().for_each(|origin| self.add(origin.clone()));
    }

    /// Returns the item with these origins, such as "`fs:read:**` (toolcrib.toml:3)", or alone if no origin is known.
    pub fn locate(&self, item: impl fmt::Display) -> String {
        if self.is_empty() {
            format!("`{item}`")
        } else {
            format!("`{item}` ({self})")
        }
    }

    /// Returns true if no origin is known.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Writes `toolcrib.toml:3, --grant`.
impl fmt::Display for Origins {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(", "))
    }
}
