//! [`Person`]: answers questions of tools.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use super::ToolContext;
use crate::{Answer, Question};

/// The future of a [`Person`]'s answer.
pub type AnswerFuture<'a> = Pin<Box<dyn Future<Output = Result<Answer, NobodyThere>> + Send + 'a>>;

/// Answers the questions of tools: the user at the host's terminal or chat. See [`ToolContext::ask`].
pub trait Person: Send + Sync {
    /// Answers one question of the tool that runs in `cx`. Concurrent calls ask concurrently, so a person must queue the questions.
    ///
    /// The host must show that the words are the tool's or the model's, and not its own. The future is dropped when the call ends or
    /// the time limit of the question passes.
    fn answer<'a>(&'a self, question: &'a Question, cx: &'a ToolContext) -> AnswerFuture<'a>;

    /// Returns false if a program answers that may do so without its user, such as a client of a server. Such an answer consents to
    /// nothing beyond the session.
    fn is_at_host(&self) -> bool {
        true
    }
}

/// The error for a question without a person to answer it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "nobody is there to answer the question; decide without an answer, or end with the question"
)]
pub struct NobodyThere;

impl ToolContext {
    /// Returns true if a person at the host answers questions.
    pub fn has_person_at_host(&self) -> bool {
        self.facts
            .person
            .as_ref()
            .is_some_and(|person| person.is_at_host())
    }

    pub(crate) fn person(&self) -> Option<&Arc<dyn Person>> {
        self.facts.person.as_ref()
    }
}
