//! [`ToolContext::ask`]: puts a question of a tool to the person at the host.

use std::future::Future;
use std::time::Duration;

use super::clock::{NoAnswer, until_answered};
use crate::context::{NobodyThere, ToolContext};
use crate::isolate::{Isolated, Panic};
use crate::question::{Answer, Question};
use crate::tool_error::{ToolError, ToolErrorKind};

/// The error for a question without an answer. [`Answer::Declined`] is an answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AskError {
    /// The host has no person.
    #[error(transparent)]
    NobodyThere(#[from] NobodyThere),
    /// The time limit of the question passed.
    #[error(
        "the question was not answered within {limit:?}; decide without an answer, or end with the question"
    )]
    Unanswered {
        /// The time limit.
        limit: Duration,
    },
    /// The call was cancelled.
    #[error("the call was cancelled while its question was open")]
    Cancelled,
    /// The host's [`Person`](crate::Person) panicked, or its answer does not fit the question.
    #[error(
        "the host failed to ask the question: {reason}; decide without an answer, and report this fault of the host"
    )]
    Host {
        /// The fault.
        reason: String,
    },
}

impl ToolContext {
    /// Asks the person at the host a question and waits for the answer.
    ///
    /// - The wait does not count against the deadlines of the running call and its outer calls.
    /// - The question has the time limit of an [approval](crate::Host::with_approval_timeout), and ends with the call or at the
    ///   [host's deadline](crate::Host::with_deadline).
    /// - The answer is data. It approves no call.
    ///
    /// # Errors
    /// Returns [`AskError::NobodyThere`] if the host has [no person](crate::Host::with_person), and other errors if there is no answer.
    pub async fn ask(&self, question: Question) -> Result<Answer, AskError> {
        let Some(person) = self.person() else {
            return Err(NobodyThere.into());
        };
        // A fault of the host must not look like a panic of the tool.
        let answer = async { Isolated::new(|| person.answer(&question, self)).await };
        match self.wait_for_answer(answer).await? {
            Ok(Ok(answer)) if question.accepts(&answer) => Ok(answer),
            // The tool relies on the choices that it offered, and the answer may come from a client over a wire.
            Ok(Ok(_)) => Err(AskError::Host {
                reason: "its answer is of another kind".to_owned(),
            }),
            Ok(Err(nobody)) => Err(nobody.into()),
            Err(Panic(message)) => Err(AskError::Host {
                reason: format!("it panicked: {message}"),
            }),
        }
    }

    /// Waits for an answer that does not come from the tool, such as that of a person at the other end of a connection. The wait has the
    /// limits of [`ask`](Self::ask), and counts against no deadline of the running call and its outer calls either.
    ///
    /// # Errors
    /// Returns [`AskError::Unanswered`] or [`AskError::Cancelled`] if the wait ended before the answer.
    pub async fn wait_for_answer<F: Future>(&self, answer: F) -> Result<F::Output, AskError> {
        let (by, limit) = self.answer_by();
        let _stopped = self.stop_clocks(by);
        until_answered(self, by, answer)
            .await
            .map_err(|reason| match reason {
                NoAnswer::Late => AskError::Unanswered { limit },
                NoAnswer::Cancelled => AskError::Cancelled,
            })
    }
}

impl From<AskError> for ToolError {
    fn from(error: AskError) -> Self {
        match error {
            AskError::NobodyThere(_) => ToolErrorKind::unavailable(error).into(),
            AskError::Cancelled => ToolErrorKind::Cancelled.into(),
            AskError::Unanswered { .. } | AskError::Host { .. } => {
                Self::execution_failed(error.to_string())
            }
        }
    }
}
