//! [`Grant`]: the permissions of a session.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::clause::{Clause, InvalidClause};
use crate::target::Target;
use crate::words::UnspelledWord;

/// The permission to touch targets: layers of [clauses](Clause). A target is permitted if every layer has a clause that covers
/// it.
///
/// The clauses of one layer are alternatives. Narrowing a grant adds a layer, so the result never permits more than either
/// side. The default grant has no clauses and permits nothing, which suffices for pure tools.
///
/// The JSON form is a list of layers, each a list of clauses. Layers and clauses are kept sorted and without duplicates. Of duplicates
/// one remains, with the [origins](crate::Origins) of all.
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
#[must_use]
pub struct Grant {
    /// Sorted and without duplicates, like the clauses of each layer, so that equal grants compare equal. Never empty: zero layers
    /// would permit everything, whereas an empty layer permits nothing.
    layers: Arc<[Layer]>,
}

type Layer = Vec<Clause>;

impl Grant {
    /// Creates a grant of one layer.
    pub fn new(clauses: impl IntoIterator<Item = Clause>) -> Self {
        Self::from_layers(vec![clauses.into_iter().collect()])
    }

    /// Parses the clauses of a grant of one layer.
    ///
    /// # Errors
    /// Returns [`InvalidClause`] for the first clause that cannot be parsed.
    pub fn parse(clauses: impl IntoIterator<Item: AsRef<str>>) -> Result<Self, InvalidClause> {
        let clauses: Layer = clauses
            .into_iter()
            .map(|clause| clause.as_ref().parse())
            .collect::<Result<_, _>>()?;
        Ok(Self::new(clauses))
    }

    /// Creates a grant that permits nothing.
    pub fn none() -> Self {
        Self::new([])
    }

    /// Creates a grant that permits everything, including tools with undeclared effects.
    pub fn all() -> Self {
        Self::new([Clause::all()])
    }

    /// Adds an origin to every clause.
    pub fn with_origin(self, origin: impl Into<Arc<str>>) -> Self {
        let origin = origin.into();
        let layers = self.layers.iter().map(|layer| {
            let clauses = layer.iter();
            clauses
                .map(|clause| clause.clone().with_origin(origin.clone()))
                .collect()
        });
        Self {
            layers: layers.collect(),
        }
    }

    /// Returns true if a call may touch the target.
    pub fn permits(&self, target: &Target) -> bool {
        self.layers
            .iter()
            .all(|layer| layer.iter().any(|clause| clause.permits(target)))
    }

    /// Returns each clause that matches the target and does not permit it for a [word](UnspelledWord) that it does not spell, if the grant
    /// does not permit the target.
    pub fn unspelled(&self, target: &Target) -> Vec<(&Clause, UnspelledWord)> {
        if self.permits(target) {
            return Vec::new();
        }
        self.clauses()
            .filter_map(|clause| Some((clause, clause.unspelled(target)?)))
            .collect()
    }

    /// Returns false if the grant permits no target of this clause. Returns true if it may permit one, as far as
    /// [`Clause::may_overlap`] can tell with a few hundred of the combinations of its clauses.
    ///
    /// ```
    /// use protocol::{Clause, Grant};
    ///
    /// let grant = Grant::parse(["fs:read:src/**"])?.narrow(["fs:*:**".parse::<Clause>()?]);
    /// assert!(grant.may_permit(&"fs:read:**".parse()?));
    /// assert!(!grant.may_permit(&"fs:write:**".parse()?));
    /// # Ok::<(), protocol::InvalidClause>(())
    /// ```
    pub fn may_permit(&self, clause: &Clause) -> bool {
        common(&self.layers, &mut vec![clause], &mut { MAX_TRIED })
    }

    /// Returns the grant that permits a target if both grants do.
    pub fn intersect(&self, other: &Self) -> Self {
        if Arc::ptr_eq(&self.layers, &other.layers) {
            return self.clone();
        }
        Self::from_layers([&*self.layers, &*other.layers].concat())
    }

    /// Returns the grant that permits a target if this grant does and one of the clauses covers it.
    pub fn narrow(&self, clauses: impl IntoIterator<Item = Clause>) -> Self {
        self.intersect(&Self::new(clauses))
    }

    /// Returns the layers, at least one, each with its clauses. Layers and clauses are sorted.
    pub fn layers(&self) -> impl Iterator<Item = &[Clause]> {
        self.layers.iter().map(Vec::as_slice)
    }

    /// Returns the clauses of all layers, layer by layer. A clause of two layers appears twice.
    pub fn clauses(&self) -> impl Iterator<Item = &Clause> {
        self.layers.iter().flatten()
    }

    /// Returns the grant as text for an error about these targets. Of a layer with more than a few clauses, the text has those of the
    /// targets' schemes, and the number of the others. For a command that a clause matches and does not permit, the text says which word the
    /// clause does not spell.
    ///
    /// ```
    /// use protocol::{Grant, Target};
    ///
    /// let grant = Grant::parse(["a:read:x", "b:read:x", "c:read:x", "d:read:x", "e:read:x", "fs:read:**"])?;
    /// let needed = "fs:write:README.md".parse::<Target>()?;
    /// assert_eq!(grant.excerpt(&[needed]), "fs:read:** or 5 other clauses");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn excerpt(&self, needed: &[Target]) -> String {
        let layer = |layer: &Layer| {
            if layer.len() <= MAX_SHOWN {
                return alternatives(layer);
            }
            let near = layer.iter().filter(|clause| {
                clause
                    .scheme()
                    .is_none_or(|scheme| needed.iter().any(|target| target.scheme() == scheme))
            });
            let near: Vec<_> = near.take(MAX_SHOWN).collect();
            let others = layer.len() - near.len();
            match near[..] {
                [] => format!("{others} clauses, none of them of this scheme"),
                _ if others == 0 => alternatives(near),
                _ => format!(
                    "{} or {others} other clause{}",
                    alternatives(near),
                    if others == 1 { "" } else { "s" }
                ),
            }
        };
        let unspelled = needed
            .iter()
            .flat_map(|target| self.unspelled(target))
            .take(MAX_SHOWN);
        let unspelled =
            unspelled.map(|(clause, word)| format!(", where {clause} does not cover it: {word}"));
        self.text(layer) + &unspelled.collect::<String>()
    }

    /// Returns the layers in these words.
    fn text(&self, layer: impl Fn(&Layer) -> String) -> String {
        if self.layers.iter().any(Layer::is_empty) {
            return "nothing".to_owned();
        }
        let layers: Vec<_> = self.layers.iter().map(layer).collect();
        match &layers[..] {
            [only] => only.clone(),
            several => format!("({})", several.join(") and (")),
        }
    }

    fn from_layers(mut layers: Vec<Layer>) -> Self {
        // A layer that permits everything stays: access to a sensitive path needs a clause that names it in every layer.
        if layers.is_empty() {
            layers.push(Layer::new());
        }
        for layer in &mut layers {
            sort_and_merge(layer, Clause::merge_origins);
        }
        sort_and_merge(&mut layers, |layer, equal| {
            layer
                .iter_mut()
                .zip(equal)
                .for_each(|(clause, equal)| clause.merge_origins(equal));
        });
        Self {
            layers: layers.into(),
        }
    }
}

/// The most clauses that [`Grant::may_permit`] tries, because combinations of many layers are many.
const MAX_TRIED: usize = 300;

/// The most clauses of a layer that [`Grant::excerpt`] shows.
const MAX_SHOWN: usize = 5;

fn alternatives<'a>(clauses: impl IntoIterator<Item = &'a Clause>) -> String {
    clauses
        .into_iter()
        .map(Clause::as_str)
        .collect::<Vec<_>>()
        .join(" or ")
}

/// Returns true if one clause of each layer overlaps the others and the chosen ones. Subtrees and single values that overlap in pairs have
/// a common target. Also returns true once too many were tried.
fn common<'a>(layers: &'a [Layer], chosen: &mut Vec<&'a Clause>, left: &mut usize) -> bool {
    let Some((layer, deeper)) = layers.split_first() else {
        return true;
    };
    layer.iter().any(|clause| {
        *left = left.saturating_sub(1);
        // The answer may then be wrong in this direction only: a tool is shown, and its call is still decided by the grant.
        if *left == 0 {
            return true;
        }
        if !chosen.iter().all(|other| other.may_overlap(clause)) {
            return false;
        }
        chosen.push(clause);
        let is_common = common(deeper, chosen, left);
        chosen.pop();
        is_common
    })
}

/// Sorts the items and keeps the first of equal ones, after merging each of the others into it.
fn sort_and_merge<T: Ord>(items: &mut Vec<T>, merge: impl Fn(&mut T, &T)) {
    items.sort();
    items.dedup_by(|later, first| {
        let is_equal = later == first;
        if is_equal {
            merge(first, later);
        }
        is_equal
    });
}

impl Default for Grant {
    fn default() -> Self {
        Self::none()
    }
}

/// Writes `nothing`, `a or b`, or `(a or b) and (c)`.
impl fmt::Display for Grant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(|layer| alternatives(layer)))
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
        Vec::deserialize(deserializer).map(Self::from_layers)
    }
}
