//! [`InvalidRule`]: what can be wrong with a rule.

/// Why something is no [`Rule`](super::Rule), or not the one that its examples describe.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidRule {
    /// A rule that names neither tools nor targets.
    #[error("a rule has to name `tool`, `target` or both; `tool = \"*\"` is every tool")]
    Empty,
    /// A glob over names of tools that cannot be read.
    #[error("{glob:?} is no glob over names of tools: {reason}; write one such as `fs.*`")]
    Tool {
        /// The glob.
        glob: String,
        /// What is wrong with it.
        reason: String,
    },
    /// An example that is no call.
    #[error(
        "the example {example:?} cannot be read: {reason}; write a tool and what it touches, such as `fs.read fs:read:src/a`, \
         or a tool alone"
    )]
    Example {
        /// The example.
        example: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A rule that does not do what an example says.
    #[error("the rule `{rule}` has to apply to {example:?} and does not{why}; change the one or the other")]
    Unmatched {
        /// The rule.
        rule: String,
        /// The example.
        example: String,
        /// The reason, where the globs are not it.
        why: &'static str,
    },
    /// A rule that does what an example says that it does not.
    #[error("the rule `{rule}` applies to {example:?} and must not; change the one or the other")]
    Matched {
        /// The rule.
        rule: String,
        /// The example.
        example: String,
    },
}
