//! [`RunError`]: the errors of a caller of a run.

/// An error for input that a run does not expect.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// A turn was given, but the step is not [`Step::Ask`](crate::Step::Ask).
    #[error("the run does not expect a turn; call `step` for the next action")]
    UnexpectedTurn,
    /// The id matches no call of this turn.
    #[error("no call of this turn has the id {id:?}; use an id from the step")]
    UnknownCall {
        /// The given id.
        id: String,
    },
    /// A deserialised run has two calls of one turn with the same id.
    #[error("two calls of the turn have the id {id:?}; give each call a unique id")]
    RepeatedId {
        /// The repeated id.
        id: String,
    },
    /// The call already has a result.
    #[error("the call {id:?} already has a result; give each call one result")]
    AlreadyAnswered {
        /// The id of the call.
        id: String,
    },
}
