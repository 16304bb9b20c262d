//! [`Answer`]: the answer of a person.

/// The answer of a [`Person`](crate::Person) to a [`Question`](crate::Question). It is data from a user: a tool must not take it for an
/// approval of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Answer {
    /// The text as typed, without the line break.
    Text(String),
    /// The chosen option.
    Choice(String),
    /// True for yes.
    Confirmation(bool),
    /// The person is there and does not want to answer.
    Declined,
}
