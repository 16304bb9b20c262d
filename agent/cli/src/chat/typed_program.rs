//! `!COMMAND`: a program that the person starts in the conversation.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use agent::{Provider, ProviderInfo, Request, ToolSet, Turn, TurnFuture, Usage};
use tools::ToolCall;

use super::{Chat, usage_error};
use crate::detail::Detail;
use crate::error::Error;
use crate::prompt_runner::RunInput;
use host::exit::Exit;

/// The answer to the result of the program.
const ANSWER: &str = "You ran this command.";

impl Chat {
    /// Runs a command line as a call of the model would: under the same grant, walls and questions, and into the same record.
    pub(super) async fn run_program(&mut self, text: &str) -> Result<Exit, Error> {
        let call = match typed_call(text, self.opened.session.tools()) {
            Ok(call) => call,
            Err(reason) => return Ok(usage_error(&reason)),
        };
        let runner = &mut self.opened.runner;
        let former = (runner.driver.clone(), runner.detail);
        let typed = TypedCall {
            call,
            is_made: AtomicBool::new(false),
            model: former.0.provider().clone(),
        };
        runner.driver = former.0.clone().with_provider(Arc::new(typed));
        if runner.detail == Detail::Usual {
            runner.detail = Detail::Results;
        }
        let ended = self
            .run_input(RunInput::Prompt(format!("!{text}").into()))
            .await;
        let runner = &mut self.opened.runner;
        (runner.driver, runner.detail) = former;
        ended
    }
}

/// Returns the call that runs a command line.
fn typed_call(text: &str, tools: &ToolSet) -> Result<ToolCall, String> {
    let call = host::typed_call(text);
    let (tool, arguments) = call.ok_or("no tool of this program runs commands")??;
    if tools.get(tool).is_err() {
        return Err(format!(
            "this session has no {tool}, which runs the command; add it with /select"
        ));
    }
    Ok(ToolCall::new("typed", tool, arguments))
}

/// A provider whose first turn is a call of the person's. The model takes all other turns.
struct TypedCall {
    call: ToolCall,
    is_made: AtomicBool,
    model: Arc<dyn Provider>,
}

impl TypedCall {
    fn turn(&self, request: Request<'_>) -> Option<Turn> {
        if request.is_summary {
            return None;
        }
        let last = request.messages.last()?;
        let mut turn = if !self.is_made.swap(true, Ordering::Relaxed) {
            Turn::calls([self.call.clone()])
        } else if last.role == tools::protocol::Role::Tool {
            Turn::answer(ANSWER)
        } else {
            return None;
        };
        // Without it, tokens of the model would be estimated.
        turn.usage = Some(Usage::default());
        Some(turn)
    }
}

impl Provider for TypedCall {
    /// Returns the facts about the model, whose cache keeps the conversation.
    fn about(&self) -> &ProviderInfo {
        self.model.about()
    }

    fn complete<'a>(&'a self, request: Request<'a>) -> TurnFuture<'a> {
        match self.turn(request) {
            Some(turn) => Box::pin(std::future::ready(Ok(turn))),
            None => self.model.complete(request),
        }
    }
}
