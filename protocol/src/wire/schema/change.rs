//! [`Change`]: one difference between a schema and its form on a wire.

use std::collections::BTreeSet;
use std::fmt;

/// One difference between the canonical schema and its form on a wire.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Change {
    /// The place in the canonical schema, as a JSON pointer. Empty for the root.
    pub pointer: String,
    /// The rule that changed it.
    pub rule: Rule,
    /// Its effect on the arguments that the schema accepts.
    pub fidelity: Fidelity,
}

/// The effect of a change on the arguments that a schema accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fidelity {
    /// The wire schema accepts the same arguments.
    Exact,
    /// The wire schema accepts more. The canonical schema still judges each call.
    Loosened,
    /// Some arguments that the canonical schema accepts have no form on the wire. Only strict mode does this.
    Narrowed,
}

/// The rule that changed a schema.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Rule {
    /// A keyword of an older draft became one of draft 2020-12.
    Draft,
    /// A reference was replaced by its target.
    Reference,
    /// A schema that contains itself, or that is too large or too deep, was cut off.
    CutOff,
    /// A reference to an anchor, to a place outside of the schema, or to a schema with its own base, was removed.
    Unresolved,
    /// A `true` or `false` became an object.
    Boolean,
    /// A `const` became an `enum`.
    Constant,
    /// A `oneOf` became an `anyOf`.
    Alternative,
    /// An `allOf` was merged into the schema around it.
    Conjunction,
    /// An `anyOf` or `oneOf` at the root became one list of properties.
    RootUnion,
    /// An exclusive bound became an inclusive one.
    Bound,
    /// A `minItems` became the largest one that the service takes.
    MinItems,
    /// Values of an `enum` that the service does not take were replaced.
    Enumeration,
    /// A `format` that the service does not know was removed.
    Format,
    /// A keyword was removed.
    Keyword(String),
    /// An empty `properties` was added.
    Properties,
    /// An `items` for any value was added.
    Items,
    /// The root's `type` became `object`.
    RootType,
    /// A property key was replaced by another on the wire.
    Key {
        /// The key on the wire.
        wire: String,
    },
    /// An optional property became required and may be null.
    Optional,
    /// A null for an optional property that accepts null means that the property is absent.
    Null,
    /// An object without `additionalProperties` no longer accepts other properties.
    Closed,
}

/// The changes so far, and the place of the next ones.
#[derive(Debug, Default)]
pub(super) struct Changes {
    pub(super) all: BTreeSet<Change>,
    pub(super) place: String,
}

impl Changes {
    pub(super) fn exact(&mut self, rule: Rule) {
        self.add(rule, Fidelity::Exact);
    }

    pub(super) fn add_loosened(&mut self, rule: Rule) {
        self.add(rule, Fidelity::Loosened);
    }

    pub(super) fn exact_if(&mut self, is_exact: bool, rule: Rule) {
        self.add(
            rule,
            if is_exact {
                Fidelity::Exact
            } else {
                Fidelity::Loosened
            },
        );
    }

    pub(super) fn add(&mut self, rule: Rule, fidelity: Fidelity) {
        self.all.insert(Change {
            pointer: self.place.clone(),
            rule,
            fidelity,
        });
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.pointer.is_empty() {
            "the root"
        } else {
            &self.pointer
        };
        write!(f, "{place}: {}", self.rule)?;
        match self.fidelity {
            Fidelity::Exact => Ok(()),
            Fidelity::Loosened => f.write_str("; accepts more"),
            Fidelity::Narrowed => f.write_str("; accepts less"),
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Draft => "keywords of an older draft are those of draft 2020-12",
            Self::Reference => "the reference is replaced by its target",
            Self::CutOff => "the schema is cut off",
            Self::Unresolved => "the reference is removed",
            Self::Boolean => "the boolean is an object",
            Self::Constant => "const is enum",
            Self::Alternative => "oneOf is anyOf",
            Self::Conjunction => "allOf is merged",
            Self::RootUnion => "the alternatives are one list of properties",
            Self::Bound => "the exclusive bound is inclusive",
            Self::MinItems => "minItems is lower",
            Self::Enumeration => "values of enum are replaced",
            Self::Format => "format is removed",
            Self::Keyword(keyword) => return write!(f, "{keyword} is removed"),
            Self::Properties => "properties is added",
            Self::Items => "items is added",
            Self::RootType => "type is object",
            Self::Key { wire } => return write!(f, "the key is {wire}"),
            Self::Optional => "the optional property is required and may be null",
            Self::Null => "a null is read as absence",
            Self::Closed => "other properties are refused",
        })
    }
}
