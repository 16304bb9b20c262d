//! OpenTelemetry's names for the attributes of a tool's span.
//!
//! They follow the semantic conventions for generative AI, version 1.41.0, section "Execute tool span" (status: development). Fields
//! with the prefix `otel` are not attributes: the crate `tracing-opentelemetry` uses them to set the span's own properties.

/// The operation's name, and the span's name before the tool's name.
pub(super) const EXECUTE_TOOL: &str = "execute_tool";

/// The operation.
pub(super) const OPERATION_NAME: &str = "gen_ai.operation.name";
/// The requested tool name.
pub(super) const TOOL_NAME: &str = "gen_ai.tool.name";
/// The kind of tool, here always [`FUNCTION`].
pub(super) const TOOL_TYPE: &str = "gen_ai.tool.type";
/// The value of [`TOOL_TYPE`].
pub(super) const FUNCTION: &str = "function";
/// The tool's description.
pub(super) const TOOL_DESCRIPTION: &str = "gen_ai.tool.description";
/// The call id from the model.
pub(super) const TOOL_CALL_ID: &str = "gen_ai.tool.call.id";
/// The arguments as JSON, recorded only on request.
pub(super) const TOOL_CALL_ARGUMENTS: &str = "gen_ai.tool.call.arguments";
/// The result as JSON, recorded only on request.
pub(super) const TOOL_CALL_RESULT: &str = "gen_ai.tool.call.result";
/// The session.
pub(super) const CONVERSATION_ID: &str = "gen_ai.conversation.id";
/// The host's request. The conventions have no attribute for it.
pub(super) const CORRELATION_ID: &str = "toolcrib.correlation.id";
/// The error code.
pub(super) const ERROR_TYPE: &str = "error.type";

/// The name of the span with the tool's name; `tracing` itself needs a constant one.
pub(super) const OTEL_NAME: &str = "otel.name";
/// The kind of the span.
pub(super) const OTEL_KIND: &str = "otel.kind";
/// The value of [`OTEL_KIND`] for a call within one process.
pub(super) const INTERNAL: &str = "internal";
/// The status of a failed call. Libraries leave success unset, as the conventions require.
pub(super) const OTEL_STATUS_CODE: &str = "otel.status_code";
/// The value of [`OTEL_STATUS_CODE`] for a failure.
pub(super) const ERROR: &str = "ERROR";
/// The error message.
pub(super) const OTEL_STATUS_DESCRIPTION: &str = "otel.status_description";
