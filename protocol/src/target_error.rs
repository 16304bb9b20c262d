//! [`TargetError`]: a call whose targets cannot be computed.

use crate::InvalidTarget;

/// Why the targets of a call cannot be told. Such a call may not run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TargetError {
    /// Arguments that are something other than an object.
    #[error("the arguments are not an object; pass an object with `{field}`")]
    NotAnObject {
        /// An argument that is needed.
        field: String,
    },
    /// An argument that is neither passed nor has a default.
    #[error("the argument `{field}` is missing and has no default; pass it")]
    Missing {
        /// The argument.
        field: String,
    },
    /// An argument, or an element of one, that is no single value.
    #[error("the argument `{field}` is or contains {found}; pass a text, number or boolean, or a list of those")]
    NotScalar {
        /// The argument.
        field: String,
        /// `null`, `a list` or `an object`.
        found: &'static str,
    },
    /// A list of nothing, which some programs take for everything.
    #[error("the argument `{field}` is an empty list; name at least one element")]
    EmptyList {
        /// The argument.
        field: String,
    },
    /// An argument that cannot be part of a target.
    #[error("the argument `{field}` is refused: {reason}")]
    Argument {
        /// The argument.
        field: String,
        /// The fault, and what to pass instead.
        reason: InvalidTarget,
    },
    /// Arguments that make no target together.
    #[error("the arguments make no target `{template}`: {reason}")]
    Target {
        /// The template.
        template: String,
        /// The fault, and what to pass instead.
        reason: InvalidTarget,
    },
    /// Lists that make too many targets.
    #[error(
        "the call touches more than {} targets of `{template}`; make several calls with shorter lists",
        Self::MAX_TARGETS
    )]
    TooMany {
        /// The template at which the limit was passed.
        template: String,
    },
}

impl TargetError {
    /// The greatest number of targets of one call.
    pub(crate) const MAX_TARGETS: usize = 1024;

    /// The JSON pointer (RFC 6901) of the argument that is refused; empty where it is the arguments as a whole.
    pub fn pointer(&self) -> String {
        match self {
            Self::NotScalar { field, .. } | Self::EmptyList { field } | Self::Argument { field, .. } => {
                format!("/{}", field.replace('~', "~0").replace('/', "~1"))
            }
            _ => String::new(),
        }
    }
}
