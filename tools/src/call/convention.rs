//! OpenTelemetry's names for the attributes of a tool's span. Drivers use them for their own spans too.
//!
//! They follow the semantic conventions for generative AI, version 1.41.0, section "Execute tool span" (status: development). Fields
//! with the prefix `otel` are not attributes: the crate `tracing-opentelemetry` uses them to set the span's own properties.

/// The operation's name, and the span's name before the tool's name.
pub(crate) const EXECUTE_TOOL: &str = "execute_tool";

/// The operation.
pub const OPERATION_NAME: &str = "gen_ai.operation.name";
/// The requested tool name.
pub(crate) const TOOL_NAME: &str = "gen_ai.tool.name";
/// The kind of tool, here always [`FUNCTION`].
pub(crate) const TOOL_TYPE: &str = "gen_ai.tool.type";
/// The value of `gen_ai.tool.type`.
pub const FUNCTION: &str = "function";
/// The tool's description.
pub(crate) const TOOL_DESCRIPTION: &str = "gen_ai.tool.description";
/// The call id from the model.
pub(crate) const TOOL_CALL_ID: &str = "gen_ai.tool.call.id";
/// The arguments as JSON, recorded only on request.
pub(crate) const TOOL_CALL_ARGUMENTS: &str = "gen_ai.tool.call.arguments";
/// The result as JSON, recorded only on request.
pub(crate) const TOOL_CALL_RESULT: &str = "gen_ai.tool.call.result";
/// The session.
pub const CONVERSATION_ID: &str = "gen_ai.conversation.id";
/// The host's request. The conventions have no attribute for it.
pub const CORRELATION_ID: &str = "toolcrib.correlation.id";
/// The kind of a failure, such as the error code of a call.
pub const ERROR_TYPE: &str = "error.type";

/// The name of the span with that of the tool, agent or model; `tracing` itself needs a constant one.
pub const OTEL_NAME: &str = "otel.name";
/// The kind of the span.
pub const OTEL_KIND: &str = "otel.kind";
/// The value of [`OTEL_KIND`] for work within the process.
pub const INTERNAL: &str = "internal";
/// The status of a failure. Libraries leave success unset, as the conventions require.
pub const OTEL_STATUS_CODE: &str = "otel.status_code";
/// The value of [`OTEL_STATUS_CODE`] for a failure.
pub const ERROR: &str = "ERROR";
/// The error message.
pub const OTEL_STATUS_DESCRIPTION: &str = "otel.status_description";
