//! [`Grant`]: what the calls of a session may touch.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{Clause, InvalidClause, Target};

/// What calls may touch: layers of clauses. A target is permitted when every layer has a clause that covers it.
///
/// A grant of one layer is a list of alternatives. To narrow a grant is to add a layer, so what comes out is never wider
/// than either side, and no pattern has to be intersected with another. A grant without clauses, the default, permits
/// nothing; pure tools touch nothing and need none.
///
/// As JSON it is a list of layers, each a list of clauses. Order and repetition mean nothing and are not kept.
///
/// ```
/// use protocol::{Grant, Target};
///
/// let parent = Grant::parse(["fs:read:**", "fs:write:src/**"])?;
/// let child = parent.intersect(&Grant::parse(["fs:*:src/**"])?);
///
/// assert!(parent.permits(&"fs:read:README.md".parse::<Target>()?));
/// assert!(!child.permits(&"fs:read:README.md".parse::<Target>()?));
/// assert!(child.permits(&"fs:write:src/lib.rs".parse::<Target>()?));
/// assert!(!child.permits(&"fs:destroy:src/lib.rs".parse::<Target>()?));
/// assert_eq!(child.to_string(), "(fs:*:src/**) and (fs:read:** or fs:write:src/**)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Grant {
    /// Sorted, and so is each layer, without duplicates: equal grants look equal. Never empty, since no layers would
    /// permit everything; an empty layer permits nothing.
    layers: Arc<[Layer]>,
}

type Layer = Vec<Clause>;

impl Grant {
    /// A grant of one layer.
    pub fn new(clauses: impl IntoIterator<Item = Clause>) -> Self {
        Self::of(vec![clauses.into_iter().collect()])
    }

    /// A grant of one layer, from text.
    ///
    /// # Errors
    /// [`InvalidClause`] for the first clause that cannot be parsed.
    pub fn parse(clauses: impl IntoIterator<Item: AsRef<str>>) -> Result<Self, InvalidClause> {
        let clauses: Layer = clauses.into_iter().map(|clause| clause.as_ref().parse()).collect::<Result<_, _>>()?;
        Ok(Self::new(clauses))
    }

    /// Permits nothing.
    pub fn none() -> Self {
        Self::new([])
    }

    /// Permits everything, tools that do not say what they touch among it.
    pub fn all() -> Self {
        Self::new([Clause::everything()])
    }

    /// Whether a call may touch the target.
    pub fn permits(&self, target: &Target) -> bool {
        self.layers.iter().all(|layer| layer.iter().any(|clause| clause.matches(target)))
    }

    /// What both grants permit.
    #[must_use]
    pub fn intersect(&self, other: &Self) -> Self {
        if self == other {
            return self.clone();
        }
        Self::of([&*self.layers, &*other.layers].concat())
    }

    /// What this grant and one of the clauses permit.
    #[must_use]
    pub fn narrowed(&self, clauses: impl IntoIterator<Item = Clause>) -> Self {
        self.intersect(&Self::new(clauses))
    }

    /// The layers in order, each with its clauses in order. There is at least one.
    pub fn layers(&self) -> impl Iterator<Item = &[Clause]> {
        self.layers.iter().map(Vec::as_slice)
    }

    /// The clauses of all layers, layer by layer. A clause of two layers comes twice.
    pub fn clauses(&self) -> impl Iterator<Item = &Clause> {
        self.layers.iter().flatten()
    }

    fn of(mut layers: Vec<Layer>) -> Self {
        // A layer that covers everything stays: it permits every target, but it names none.
        if layers.is_empty() {
            layers.push(Layer::new());
        }
        for layer in &mut layers {
            layer.sort();
            layer.dedup();
        }
        layers.sort();
        layers.dedup();
        Self { layers: layers.into() }
    }
}

impl Default for Grant {
    fn default() -> Self {
        Self::none()
    }
}

/// For people: `nothing`, `a or b`, or `(a or b) and (c)`.
impl fmt::Display for Grant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.layers.iter().any(Layer::is_empty) {
            return f.write_str("nothing");
        }
        let alternatives = |layer: &Layer| layer.iter().map(Clause::as_str).collect::<Vec<_>>().join(" or ");
        let layers: Vec<String> = self.layers.iter().map(alternatives).collect();
        match &layers[..] {
            [only] => f.write_str(only),
            several => write!(f, "({})", several.join(") and (")),
        }
    }
}

impl fmt::Debug for Grant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Grant({self})")
    }
}

impl Serialize for Grant {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.layers.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Grant {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::deserialize(deserializer).map(Self::of)
    }
}
