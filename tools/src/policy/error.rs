//! [`InvalidRule`]: an error in a rule or its examples.

/// An error from creating a [`Rule`](super::Rule) or from checking it against its examples.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidRule {
    /// The rule names neither tools nor targets.
    #[error(
        "the rule has neither `tool` nor `target`; add one, such as `tool = \"*\"` for every tool"
    )]
    Empty,
    /// The glob over tool names is invalid.
    #[error("{glob:?} is not a glob over tool names: {reason}; write one such as `fs.*`")]
    Tool {
        /// The glob.
        glob: String,
        /// The error of the glob.
        reason: String,
    },
    /// The example does not describe a call.
    #[error(
        "the example {example:?} cannot be read: {reason}; write a tool and a target, such as `fs.read fs:read:src/a`, \
         or a tool alone"
    )]
    Example {
        /// The example.
        example: String,
        /// The error of the example.
        reason: String,
    },
    /// The rule does not apply to an example that it must apply to.
    #[error(
        "the rule `{rule}` does not apply to its example {example:?}{why}; change the rule or the example"
    )]
    Unmatched {
        /// The rule.
        rule: String,
        /// The example.
        example: String,
        /// The reason, or an empty string if the globs do not match.
        why: &'static str,
    },
    /// The rule applies to an example that it must not apply to.
    #[error(
        "the rule `{rule}` applies to its counterexample {example:?}; change the rule or the example"
    )]
    Matched {
        /// The rule.
        rule: String,
        /// The example.
        example: String,
    },
}
