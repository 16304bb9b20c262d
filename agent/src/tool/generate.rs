//! `llm.generate`: asks a model for text, without tools.

use tools::protocol::{Message, Role};
use tools::schema::ValueSchema;
use tools::{Content, Json, ToolContext, ToolError, ToolErrorKind, ToolResult, tool};

use crate::budget::Budget;
use crate::driver::{ActiveRun, DriverError, Meter};
use crate::event::Event;
use crate::json_answer::{bound_prompt, parse_answer, repair_prompt};
use crate::models::{ModelChoice, Models};
use crate::provider::{Provider, Request, StopReason, Turn};
use crate::tool_set::ToolSet;

/// Asks a language model once and returns its text, or JSON that matches a schema.
///
/// Use it for work on text that needs no tools: to summarise, to translate, to classify, to extract fields. The model sees the
/// prompt and nothing else of this session.
#[tool(
    name = "llm.generate",
    title = "Ask a model",
    reads = "llm:{model}",
    open_world,
    needs = Models,
    timeout = "10m",
    delegates,
    tags = ["session"],
    example({"prompt": "Summarise in one sentence: …", "model": "openai/gpt-5.1"}),
    example({
        "prompt": "Which languages is this text written in? …",
        "model": "openai/gpt-5.1",
        "schema": {"type": "array", "items": {"type": "string"}},
    }),
)]
pub(crate) async fn generate(
    cx: &ToolContext,
    /// The text for the model, with everything that it needs to know.
    #[schemars(length(min = 1, max = 500_000))]
    prompt: String,
    /// Instructions for the model that precede the prompt.
    #[schemars(length(max = 20_000))]
    system: Option<String>,
    /// The model with its provider, such as `openai/gpt-5.1`. The name of a model may contain `/`.
    #[schemars(
        length(min = 3, max = 300),
        regex(pattern = r"^[A-Za-z0-9._-]+/[A-Za-z0-9._:@/+-]+$")
    )]
    model: String,
    /// A JSON Schema. If present, the result is JSON that matches it.
    schema: Option<serde_json::Map<String, serde_json::Value>>,
) -> Result<ToolResult, ToolError> {
    let models = cx.need::<Models>()?;
    let choice = ModelChoice::from_text(&model).ok_or_else(|| {
        ToolError::execution_failed("the model has no provider; write provider/model")
    })?;
    let schema = schema.map(|schema| ValueSchema::new(schema.into()));
    let schema = schema.transpose();
    let schema = schema.map_err(|error| {
        ToolError::execution_failed(format!("the schema cannot be used: {error}"))
    })?;
    let provider = models.open(&choice).map_err(fail)?;

    let mut messages: Vec<_> = system
        .into_iter()
        .map(|text| Message::text(Role::System, text))
        .collect();
    let prompt = schema
        .as_ref()
        .map_or_else(|| prompt.clone(), |schema| bound_prompt(&prompt, schema));
    messages.push(Message::text(Role::User, prompt));
    let turn = ask(cx, &*provider, &messages).await?;
    let Some(schema) = schema else {
        return Ok(ToolResult::text(turn.message.to_text()));
    };
    let problem = match parse_answer(&turn.message.to_text(), &schema) {
        Ok(value) => return Ok(json_result(value)),
        Err(problem) => problem,
    };
    // Services refuse a call without its result, so those that the model invents are left out.
    messages.push(Message::text(Role::Assistant, turn.message.to_text()));
    messages.push(Message::text(Role::User, repair_prompt(&problem)));
    let turn = ask(cx, &*provider, &messages).await?;
    parse_answer(&turn.message.to_text(), &schema)
        .map(json_result)
        .map_err(|problem| {
            let next = "simplify the schema, or ask for text";
            ToolError::execution_failed(format!(
                "the model gave no JSON that matches the schema, twice; {next}:\n{problem}"
            ))
        })
}

/// Requests one turn as a step of the run. The end of the budget ends the run too.
async fn ask(
    cx: &ToolContext,
    provider: &dyn Provider,
    messages: &[Message],
) -> Result<Turn, ToolError> {
    let run = cx.service::<ActiveRun>();
    let tools = ToolSet::default();
    let request = Request {
        deadline: cx.deadline(),
        retry_sink: Some(&|retry| {
            if let Some(run) = &run {
                run.send(|| Event::RequestRetried(retry));
            }
        }),
        ..Request::new(messages, &tools, cx.cancellation())
    };
    let meter = Meter {
        cx,
        budget: &Budget::of_call(cx),
        definitions: 0,
    };
    let turn = meter.whole_turn(provider, request).await;
    let turn = turn.ok_or(ToolErrorKind::Cancelled)?;
    let turn = turn.map_err(|error| {
        if let (DriverError::Budget(error), Some(run)) = (&error, &run) {
            // Otherwise the model would be asked once more, only to be refused.
            run.end_by_budget(error.clone());
        }
        fail(error)
    });
    complete(turn?)
}

/// Returns the turn if it is a whole answer.
fn complete(turn: Turn) -> Result<Turn, ToolError> {
    let fault = match turn.stop {
        StopReason::Length => "the answer was cut off at the model's length limit; ask for less",
        StopReason::Refusal => "the model refused to answer; change the prompt",
        _ if turn.message.to_text().trim().is_empty() => {
            "the model answered without text; use another model or prompt"
        }
        _ => return Ok(turn),
    };
    Err(ToolError::execution_failed(fault))
}

fn json_result(value: Json) -> ToolResult {
    ToolResult {
        content: vec![Content::text(value.to_string())],
        structured: Some(value),
        ..ToolResult::default()
    }
}

fn fail(error: impl std::fmt::Display) -> ToolError {
    ToolError::execution_failed(error.to_string())
}
