//! Requests that a server answers with questions of its own first.
#![expect(deprecated, reason = "servers still ask for roots")]

use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{
    ClientRequest, InputRequest, InputRequests, InputResponses, ListRootsResult, ServerResult,
};
use rmcp::service::Peer;
use serde_json::Value;
use tokio::time::sleep;
use tools::{ToolContext, ToolErrorKind};

use crate::client::elicitation::elicit;
use crate::client::imported::Imported;
use crate::client::sampling::{Refused, sample};

/// The maximum number of times that a request is repeated with answers.
const MAX_ROUNDS: usize = 10;

/// The maximum number of questions in one round.
const MAX_QUESTIONS: usize = 16;

/// The time before a request is repeated for a server that asks for nothing.
const PAUSE: Duration = Duration::from_millis(500);

/// The answers to the questions of the round before, and the server's state, which it gets back as it is.
#[derive(Default)]
pub(super) struct Answers {
    pub(super) responses: Option<InputResponses>,
    pub(super) state: Option<String>,
}

/// Sends a request for a call, and repeats it with answers as long as the server asks.
pub(super) async fn request(
    imported: &Imported,
    peer: &Peer<RoleClient>,
    cx: &ToolContext,
    request: impl Fn(Answers) -> ClientRequest,
) -> Result<ServerResult, ToolErrorKind> {
    let mut answers = Answers::default();
    for _ in 0..=MAX_ROUNDS {
        let result = imported.calls.request(peer, cx, request(answers)).await;
        let required = match result {
            Ok(ServerResult::InputRequiredResult(required)) => required,
            Ok(other) => return Ok(other),
            Err(error) => return Err(imported.failure(error).await),
        };
        let responses = match required.input_requests {
            Some(questions) => Some(responses(imported, cx, questions).await?),
            None => {
                sleep(PAUSE).await;
                None
            }
        };
        let state = required.request_state;
        answers = Answers { responses, state };
    }
    let reason = format!("asked for input more than {MAX_ROUNDS} times");
    Err(fail(imported, &reason))
}

/// Asks the person of a call, and the host's model, for the answers to a server's questions.
pub(super) async fn responses(
    imported: &Imported,
    cx: &ToolContext,
    questions: InputRequests,
) -> Result<InputResponses, ToolErrorKind> {
    if questions.len() > MAX_QUESTIONS {
        let reason = format!("asked more than {MAX_QUESTIONS} questions at once");
        return Err(fail(imported, &reason));
    }
    let mut responses = InputResponses::new();
    for (key, question) in questions {
        responses.insert(key, answer(imported, cx, question).await?);
    }
    Ok(responses)
}

async fn answer(
    imported: &Imported,
    cx: &ToolContext,
    question: InputRequest,
) -> Result<Value, ToolErrorKind> {
    let answer = match question {
        InputRequest::Elicitation(request) => {
            serde_json::to_value(elicit(imported.name(), Some(cx), request.params).await)
        }
        InputRequest::CreateMessage(request) => {
            match sample(imported, Some(cx), request.params).await {
                Ok(result) => serde_json::to_value(result),
                Err(Refused(reason)) => {
                    let reason = format!("needs an answer of a model: {reason}");
                    return Err(fail(imported, &reason));
                }
            }
        }
        InputRequest::ListRoots(_) => serde_json::to_value(ListRootsResult::default()),
        _ => return Err(fail(imported, "asked for input of an unknown kind")),
    };
    answer.map_err(|error| {
        let reason = format!("asked for input that is no JSON: {error}");
        fail(imported, &reason)
    })
}

pub(super) fn fail(imported: &Imported, reason: &str) -> ToolErrorKind {
    ToolErrorKind::ExecutionFailed {
        message: format!("the MCP server {} {reason}", imported.name()),
    }
}
