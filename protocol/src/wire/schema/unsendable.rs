//! [`Unsendable`] and [`NotStrict`]: the reasons that a schema cannot be sent.

/// The reason that a tool cannot be offered on a wire. It is skipped, so that the request with the other tools succeeds.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unsendable {
    /// The schema accepts no object, but arguments are always an object.
    #[error("the schema of its parameters accepts no object; set its type to object")]
    NotAnObject,
    /// The schema nests too deep, or its references unfold to too many schemas.
    #[error("the schema of its parameters {problem}; simplify it")]
    TooLarge {
        /// The exceeded limit.
        problem: String,
    },
    /// The dialect is strict, and the schema has no strict form.
    #[error("it has no strict definition, because {0}")]
    NotStrict(#[from] NotStrict),
}

/// The reason that a tool has no strict definition on a wire.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotStrict {
    /// A relaxed definition was requested.
    #[error("no strict definition was requested")]
    NotRequested,
    /// The service has no strict mode.
    #[error("the service has no strict mode")]
    Unavailable,
    /// The strict tools before it in the request leave no room for it.
    #[error("the other strict tools use up the limits of one request; select fewer tools")]
    RequestLimit,
    /// An object accepts properties that its schema does not list.
    #[error(
        "{} accepts properties that it does not list; list them, or set additionalProperties to false",
        place(pointer)
    )]
    OpenObject {
        /// The JSON pointer of the object's schema.
        pointer: String,
    },
    /// A schema accepts any value.
    #[error("{} accepts values of any type; state a type", place(pointer))]
    AnyValue {
        /// The JSON pointer of the schema.
        pointer: String,
    },
    /// An array has a schema per position.
    #[error(
        "{} has a schema per position; use an object, or one schema for all items",
        place(pointer)
    )]
    Tuple {
        /// The JSON pointer of the array's schema.
        pointer: String,
    },
    /// A schema contains itself, which the service does not take.
    #[error(
        "{} contains itself; write out each level as a schema of its own",
        place(pointer)
    )]
    Recursive {
        /// The JSON pointer of the schema.
        pointer: String,
    },
    /// More than one alternative is an object, or more than one is an array. A null in it could not be read back.
    #[error(
        "{} has several alternatives that are objects or arrays; use one object with optional properties",
        place(pointer)
    )]
    Union {
        /// The JSON pointer of the schema with the alternatives.
        pointer: String,
    },
    /// An object requires a property without an entry in `properties`, so that the model could not send it.
    #[error(
        "{} requires {key:?} without an entry in properties; add one",
        place(pointer)
    )]
    Unlisted {
        /// The JSON pointer of the object's schema.
        pointer: String,
        /// The key.
        key: String,
    },
    /// The schema exceeds a limit of the service's strict mode.
    #[error("the schema of its parameters {problem}; simplify it")]
    TooLarge {
        /// The exceeded limit.
        problem: String,
    },
}

fn place(pointer: &str) -> &str {
    if pointer.is_empty() {
        "the root"
    } else {
        pointer
    }
}
