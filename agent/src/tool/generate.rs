//! `llm.generate`: asks a model for text, without tools.

use tools::policy::Verdict;
use tools::protocol::{Message, Role};
use tools::{Access, Content, Json, Target, ToolContext, ToolError, ToolErrorKind, ToolResult, ValueSchema, tool};

use crate::driver::Meter;
use crate::json_answer::{bound_prompt, checked, repair_prompt};
use crate::{Budget, ModelChoice, Models, Price, Provider, Request, StopReason, ToolSet, Turn};

/// The provider argument that stands for the session's.
const SESSION: &str = "session";

/// The model argument that stands for the provider's default.
const DEFAULT: &str = "default";

/// Asks a language model once and returns its text, or JSON that matches a schema.
///
/// Use it for work on text that needs no tools: to summarise, to translate, to classify, to extract fields. The model sees the
/// prompt and nothing else of this session.
#[tool(
    name = "llm.generate",
    title = "Ask a model",
    reads = "llm:{provider}/{model}",
    open_world,
    needs = Models,
    timeout = "10m",
    delegates,
    tags = ["session"],
    example({"prompt": "Summarise in one sentence: …"}),
    example({
        "prompt": "Which languages is this text written in? …",
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
    /// The provider: `session` for that of this session, or the name of another, such as `openai`.
    #[serde(default = "session")]
    #[schemars(length(min = 1, max = 64), regex(pattern = "^[A-Za-z0-9._-]+$"))]
    provider: String,
    /// The model as the provider spells it, or `default`.
    #[serde(default = "default_model")]
    #[schemars(length(min = 1, max = 200), regex(pattern = r"^[A-Za-z0-9._:@/+-]+$"))]
    model: String,
    /// A JSON Schema. If present, the result is JSON that matches it.
    schema: Option<serde_json::Map<String, serde_json::Value>>,
) -> Result<ToolResult, ToolError> {
    let models = cx.need::<Models>()?;
    let named = |name: String, stands_for: &str| (name != stands_for).then_some(name);
    let choice = ModelChoice { provider: named(provider, SESSION), model: named(model, DEFAULT) };
    check_denied(cx, &models.real_name(&choice))?;
    let schema = schema.map(|schema| ValueSchema::new(schema.into())).transpose();
    let schema = schema.map_err(|error| ToolError::execution_failed(format!("the schema cannot be used: {error}")))?;
    let provider = models.open(&choice).map_err(failed)?;

    let mut messages: Vec<_> = system.into_iter().map(|text| Message::text(Role::System, text)).collect();
    let prompt = schema.as_ref().map_or_else(|| prompt.clone(), |schema| bound_prompt(&prompt, schema));
    messages.push(Message::text(Role::User, prompt));
    let price = models.price(&choice);
    let ask = async |messages: &[Message]| ask(cx, &*provider, messages, price).await;
    let turn = ask(&messages).await?;
    let Some(schema) = schema else { return Ok(ToolResult::text(turn.message.to_text())) };
    let problem = match checked(&turn.message.to_text(), &schema) {
        Ok(value) => return Ok(json_result(value)),
        Err(problem) => problem,
    };
    messages.push(turn.message);
    messages.push(Message::text(Role::User, repair_prompt(&problem)));
    let turn = ask(&messages).await?;
    checked(&turn.message.to_text(), &schema).map(json_result).map_err(|problem| {
        let next = "simplify the schema, or ask for text";
        ToolError::execution_failed(format!(
            "the model gave no JSON that matches the schema, twice; {next}:\n{problem}"
        ))
    })
}

fn session() -> String {
    SESSION.to_owned()
}

fn default_model() -> String {
    DEFAULT.to_owned()
}

/// Requests one turn, which counts for the budget of the run.
async fn ask(
    cx: &ToolContext,
    provider: &dyn Provider,
    messages: &[Message],
    price: Option<Price>,
) -> Result<Turn, ToolError> {
    let budget = cx.service::<Budget>().map_or_else(Budget::default, |budget| Budget::clone(&budget));
    let tools = ToolSet::default();
    let request = Request::new(messages, &tools, cx.cancellation()).with_deadline(cx.deadline());
    let meter = Meter { cx, budget: &budget, price, definitions: 0 };
    let turn = meter.whole_turn(provider, request).await.ok_or(ToolErrorKind::Cancelled)?;
    complete(turn.map_err(failed)?)
}

/// Checks that no rule denies the model by its real name, which may differ from the one in the call.
fn check_denied(cx: &ToolContext, name: &str) -> Result<(), ToolError> {
    let target =
        Target::new(Access::Read, "llm", name).map_err(|error| ToolError::execution_failed(error.to_string()))?;
    let Some(tool) = cx.tool() else { return Ok(()) };
    let targets = [target];
    let denied = cx.rulings(tool, &targets).find(|ruling| ruling.verdict() == Verdict::Deny);
    denied.map_or(Ok(()), |ruling| Err(ToolErrorKind::Denied { reason: ruling.denial() }.into()))
}

/// Returns the turn if it is a whole answer.
fn complete(turn: Turn) -> Result<Turn, ToolError> {
    let fault = match turn.stop {
        StopReason::Length => "the answer was cut off at the model's length limit; ask for less",
        StopReason::Refusal => "the model refused to answer; change the prompt",
        _ if turn.message.to_text().trim().is_empty() => "the model answered without text; use another model or prompt",
        _ => return Ok(turn),
    };
    Err(ToolError::execution_failed(fault))
}

fn json_result(value: Json) -> ToolResult {
    ToolResult { content: vec![Content::text(value.to_string())], structured: Some(value), ..ToolResult::default() }
}

fn failed(error: impl std::fmt::Display) -> ToolError {
    ToolError::execution_failed(error.to_string())
}
