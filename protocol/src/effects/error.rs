//! [`EffectsError`]: effects that do not match the parameters of their tool.

use crate::target_error::TargetError;

/// An error in the declared effects of a tool.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EffectsError {
    /// The effects are an object without templates and without `open_world`.
    #[error(
        "the effects are empty; write `pure` if a call touches nothing, otherwise `reads`, `writes`, `destroys` or `open_world`"
    )]
    Empty,
    /// A template uses a field that is not a parameter.
    #[error(
        "the template `{template}` uses `{field}`, which is not a top-level parameter; use one of: {}",
        list(known)
    )]
    UnknownField {
        /// The template.
        template: String,
        /// The field.
        field: String,
        /// The existing parameters, sorted.
        known: Vec<String>,
    },
    /// A template uses a parameter that is optional and has no default.
    #[error(
        "the template `{template}` uses `{field}`, which is optional; make it required or give it a `default` in the schema"
    )]
    Optional {
        /// The template.
        template: String,
        /// The field.
        field: String,
    },
    /// A default that cannot be part of a target.
    #[error("the template `{template}` cannot use the default of `{field}`: {reason}")]
    Default {
        /// The template.
        template: String,
        /// The field.
        field: String,
        /// The fault and its repair.
        reason: TargetError,
    },
}

fn list(names: &[String]) -> String {
    if names.is_empty() {
        "(there are none)".to_owned()
    } else {
        names.join(", ")
    }
}
