use super::phrase;

/// An error in a JSON Schema.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaError {
    /// The schema is neither a JSON object nor `true` or `false`.
    #[error("a schema is a JSON object, not {found}: write for example {{\"type\": \"object\"}}")]
    NotASchema {
        /// The kind of the value, such as `an array`.
        found: &'static str,
    },

    /// The schema accepts no object, but the arguments of a call are an object.
    #[error(
        "arguments are a JSON object, which this schema refuses: set its `type` to \"object\" (found {found})"
    )]
    NotForArguments {
        /// The schema's `type`, or the schema itself if it is not an object.
        found: String,
    },

    /// The schema breaks the rules of its dialect.
    #[error("the schema is not valid at {}: expected {expected}, found {found}; correct it there", phrase::place(.pointer))]
    Invalid {
        /// JSON pointer into the schema.
        pointer: String,
        /// The value that the dialect expects.
        expected: String,
        /// The value found, shortened.
        found: String,
    },

    /// `$schema` names a dialect that is not supported.
    #[error(
        "the dialect {dialect} is not supported: use https://json-schema.org/draft/2020-12/schema (or 2019-09, draft-07, -06, -04)"
    )]
    UnknownDialect {
        /// The value of `$schema`, shortened.
        dialect: String,
    },

    /// A `$ref` leads out of the document. References are never fetched.
    #[error("the reference {reference} leads out of the schema: copy its target into `$defs`")]
    ExternalRef {
        /// The reference, shortened.
        reference: String,
    },

    /// A `$ref` has no target in the document.
    #[error("the reference {reference} has no target: define it, for example in `$defs`")]
    UnresolvedRef {
        /// The reference, shortened.
        reference: String,
    },

    /// A `$ref` leads back to itself for the same value, which is an endless recursion.
    #[error(
        "the reference {reference} leads back to itself at the same value: put `properties` or `items` between them"
    )]
    EndlessRef {
        /// A reference of the cycle, shortened.
        reference: String,
    },

    /// A pattern is not a regular expression, or compiles to too large a program.
    #[error(
        "the pattern {pattern} is not a usable regular expression: correct it, or lower its repetition counts"
    )]
    Pattern {
        /// The pattern, shortened.
        pattern: String,
    },

    /// The schema would cost too much to compile or to check against.
    #[error(
        "the schema is over budget, more than {limit} {measure}: simplify it, or split the tool"
    )]
    OverBudget {
        /// The quantity, such as `bytes` or `levels of nesting`.
        measure: &'static str,
        /// The largest accepted value.
        limit: u64,
    },

    /// The schema is valid, but this implementation does not support it.
    #[error("the schema is not supported: {reason}")]
    Unsupported {
        /// The unsupported feature and an alternative.
        reason: String,
    },
}
