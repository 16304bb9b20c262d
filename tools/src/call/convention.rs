//! What OpenTelemetry calls the attributes of a span around a tool.
//!
//! The names are those of its semantic conventions for generative AI, version 1.41.0, section "Execute tool span" (status:
//! development). Those with `otel` are no attributes: the crate `tracing-opentelemetry` reads them to fill in the span itself.

/// Name of the span, followed by that of the tool; also the name of the operation.
pub(super) const EXECUTE_TOOL: &str = "execute_tool";

/// Which operation this is.
pub(super) const OPERATION_NAME: &str = "gen_ai.operation.name";
/// The tool, as it was asked for.
pub(super) const TOOL_NAME: &str = "gen_ai.tool.name";
/// The kind of tool: one that is run here is a [`FUNCTION`].
pub(super) const TOOL_TYPE: &str = "gen_ai.tool.type";
/// See [`TOOL_TYPE`].
pub(super) const FUNCTION: &str = "function";
/// What the model is told about the tool.
pub(super) const TOOL_DESCRIPTION: &str = "gen_ai.tool.description";
/// The call, as the model named it.
pub(super) const TOOL_CALL_ID: &str = "gen_ai.tool.call.id";
/// The arguments, as JSON. To be recorded on request only.
pub(super) const TOOL_CALL_ARGUMENTS: &str = "gen_ai.tool.call.arguments";
/// The result, as JSON. To be recorded on request only.
pub(super) const TOOL_CALL_RESULT: &str = "gen_ai.tool.call.result";
/// The session.
pub(super) const CONVERSATION_ID: &str = "gen_ai.conversation.id";
/// Why it failed, in one word.
pub(super) const ERROR_TYPE: &str = "error.type";

/// The name of the span, which cannot vary in `tracing`.
pub(super) const OTEL_NAME: &str = "otel.name";
/// The kind of the span.
pub(super) const OTEL_KIND: &str = "otel.kind";
/// A call that is made and run in one process.
pub(super) const INTERNAL: &str = "internal";
/// How it ended. Success is left unset, as the conventions want it of libraries.
pub(super) const OTEL_STATUS_CODE: &str = "otel.status_code";
/// See [`OTEL_STATUS_CODE`].
pub(super) const ERROR: &str = "ERROR";
/// What the error says.
pub(super) const OTEL_STATUS_DESCRIPTION: &str = "otel.status_description";
