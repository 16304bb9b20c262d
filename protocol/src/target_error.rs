//! [`TargetError`]: the error for a call whose targets cannot be computed.

use crate::invalid_target::InvalidTarget;
use crate::target::Target;

/// The error for a call whose targets cannot be computed. Such a call must not run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TargetError {
    /// The arguments are not an object.
    #[error("the arguments are not an object; pass an object with `{field}`")]
    NotAnObject {
        /// A required argument.
        field: String,
    },
    /// An argument is missing and has no default.
    #[error("the argument `{field}` is missing and has no default; pass it")]
    Missing {
        /// The argument.
        field: String,
    },
    /// An argument, or an element of its list, is not a text, number or boolean.
    #[error(
        "the argument `{field}` is or contains {found}; pass a text, number or boolean, or a list of those"
    )]
    NotScalar {
        /// The argument.
        field: String,
        /// `null`, `a list` or `an object`.
        found: &'static str,
    },
    /// A list argument is empty. Some programs treat an empty list as everything.
    #[error("the argument `{field}` is an empty list; pass at least one element")]
    EmptyList {
        /// The argument.
        field: String,
    },
    /// An argument cannot be part of a target.
    #[error("the argument `{field}` is invalid: {reason}")]
    Argument {
        /// The argument.
        field: String,
        /// The fault and its repair.
        reason: InvalidTarget,
    },
    /// The arguments make no valid target together.
    #[error("the arguments make no valid target for `{template}`: {reason}")]
    Target {
        /// The template.
        template: String,
        /// The fault and its repair.
        reason: InvalidTarget,
    },
    /// A function of the tool computes the targets, and the tool has none.
    #[error(
        "a function of the tool computes the targets of `{template}`, and its handler has none; implement `Handler::targets`"
    )]
    Computed {
        /// The template.
        template: String,
    },
    /// A template names a field of a service that the context does not have.
    #[error(
        "the target needs `{field}` of a service that this context does not have; add the service, or the setting that it is made from"
    )]
    NoService {
        /// The name of the field, such as `Tracker.base_url`.
        field: String,
    },
    /// The function of the tool cannot compute the targets.
    #[error("the targets cannot be computed: {reason}")]
    Function {
        /// The fault and its repair.
        reason: String,
    },
    /// The function of the tool computed a target that no template of the tool covers.
    #[error(
        "the function of the tool computed the target `{target}`, which its effects do not declare; declare it"
    )]
    Undeclared {
        /// The target.
        target: Target,
    },
    /// The list arguments make too many targets.
    #[error(
        "the call touches more than {} targets of `{template}`; make several calls with shorter lists",
        Self::MAX_TARGETS
    )]
    TooMany {
        /// The template that exceeded the limit.
        template: String,
    },
}

impl TargetError {
    /// The maximum number of targets of one call.
    pub(crate) const MAX_TARGETS: usize = 1024;

    /// Creates an [`Argument`](Self::Argument) error.
    pub fn argument(field: &str, reason: InvalidTarget) -> Self {
        let field = field.to_owned();
        Self::Argument { field, reason }
    }

    /// Returns the JSON pointer (RFC 6901) of the invalid argument. Returns `""` if the error concerns the arguments as a whole.
    pub fn pointer(&self) -> String {
        match self {
            Self::NotScalar { field, .. }
            | Self::EmptyList { field }
            | Self::Argument { field, .. } => {
                format!("/{}", field.replace('~', "~0").replace('/', "~1"))
            }
            _ => String::new(),
        }
    }
}
