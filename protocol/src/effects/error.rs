//! [`EffectsError`]: effects that do not fit their tool.

use crate::TargetError;

/// Why effects do not fit the parameters of their tool.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EffectsError {
    /// An object that says nothing about what is touched.
    #[error(
        "the effects declare nothing; write `pure` if nothing is touched, or `reads`, `writes`, `destroys` or `open_world`"
    )]
    Empty,
    /// A field that is not a parameter.
    #[error(
        "the template `{template}` uses `{field}`, which is not a top-level parameter; use one of: {}",
        list(known)
    )]
    UnknownField {
        /// The template.
        template: String,
        /// The field.
        field: String,
        /// The parameters there are, sorted.
        known: Vec<String>,
    },
    /// A field that a call may leave out.
    #[error(
        "the template `{template}` uses `{field}`, which is optional; make it required or give it a `default` in the schema"
    )]
    Optional {
        /// The template.
        template: String,
        /// The field.
        field: String,
    },
    /// A default that makes no target.
    #[error("the template `{template}` cannot use the default of `{field}`: {reason}")]
    Default {
        /// The template.
        template: String,
        /// The field.
        field: String,
        /// What is wrong with it and what it may be.
        reason: TargetError,
    },
}

fn list(names: &[String]) -> String {
    if names.is_empty() { "(there are none)".to_owned() } else { names.join(", ") }
}
