//! The tools of a set as tools of rig's own agents. The only module that uses rig.

use std::sync::Arc;

use agent::ToolSet;
use rig_core::message::{
    DocumentSourceKind, Image, ImageMediaType, MimeType, Text, ToolName as RigName,
    ToolResultContent,
};
use rig_core::tool::{
    DynamicTool, ToolErrorKind as RigErrorKind, ToolExecutionError as RigError,
    ToolOutput as RigOutput,
};
use rig_core::wasm_compat::WasmBoxedFuture;
use serde_json::Value;
use tools::call::CallPlace;
use tools::protocol::wire::schema::ArgumentsCodec;
use tools::protocol::wire::{Format, Strictness, WireTool};
use tools::{Content, Entry, ErrorCode, ToolContext, ToolError, ToolResult};

/// Returns the tools of a set for an agent of [rig](https://docs.rs/rig-agent), whose loop then calls them through
/// [`ToolSet::execute`] with this context.
///
/// `format` is that of the agent's model. Tools that it cannot take are left out; see
/// [`WireToolSet::list_skipped`](agent::WireToolSet::list_skipped). The [example](crate#in-an-agent-of-rig) has the limits of rig's loop.
pub fn tools(set: &ToolSet, cx: &ToolContext, format: Format) -> Vec<DynamicTool> {
    // The place of another call would make the journal take each call for that one.
    let cx = CallPlace::default().enter(cx.clone().with_wire(format));
    let wire = set.wire(format, Strictness::Relaxed);
    wire.entries()
        .zip(wire.list())
        .filter_map(|(entry, wire)| tool(set, &cx, format, entry, wire))
        .collect()
}

/// Returns `None` if the name is empty, which no name on the wire is.
fn tool(
    set: &ToolSet,
    cx: &ToolContext,
    format: Format,
    entry: &Arc<Entry>,
    wire: &WireTool,
) -> Option<DynamicTool> {
    let name = RigName::new(wire.name.as_str()).ok()?;
    let tool = AgentTool {
        set: set.clone(),
        cx: cx.clone(),
        format,
        entry: entry.clone(),
        arguments: wire.arguments.clone(),
    };
    Some(DynamicTool::new(
        name,
        entry.tool().description.as_str(),
        wire.parameters.clone(),
        move |arguments| -> WasmBoxedFuture<'static, _> {
            let tool = tool.clone();
            Box::pin(async move { tool.call(arguments).await })
        },
    ))
}

/// A tool with the context of its calls.
#[derive(Clone)]
struct AgentTool {
    set: ToolSet,
    cx: ToolContext,
    format: Format,
    entry: Arc<Entry>,
    arguments: ArgumentsCodec,
}

impl AgentTool {
    async fn call(&self, arguments: Value) -> Result<RigOutput, RigError> {
        let arguments = self.arguments.decode(&arguments.into());
        match self
            .set
            .execute(&self.cx, self.entry.name(), arguments)
            .await
        {
            Ok(result) if result.is_error => {
                Err(RigError::other(result.to_text()).with_model_output(self.output(result)?))
            }
            Ok(result) => self.output(result),
            Err(error) => {
                let output = self.output(self.cx.error_result(Some(&self.entry), &error))?;
                Err(rig_error(error).with_model_output(output))
            }
        }
    }

    /// Returns the parts of a result that the model is shown. rig moves images to a place where the model takes them.
    fn output(&self, mut result: ToolResult) -> Result<RigOutput, RigError> {
        if result.is_error && self.format == Format::Anthropic {
            // Anthropic takes no image in the result of a failed call, and rig would leave it there.
            result.content.iter_mut().for_each(leave_out_image);
        }
        let shown = self.format.show_result("", &result);
        let images = shown
            .following
            .iter()
            .filter(|content| matches!(content, Content::Image { .. }));
        RigOutput::content(
            shown
                .content
                .iter()
                .chain(images)
                .map(result_content)
                .collect(),
        )
    }
}

fn result_content(content: &Content) -> ToolResultContent {
    match (content, image(content)) {
        (Content::Text { text }, _) => ToolResultContent::Text(Text::new(text.as_str())),
        (_, Some(image)) => ToolResultContent::Image(image),
        _ => ToolResultContent::Text(Text::new(content.describe())),
    }
}

fn image(content: &Content) -> Option<Image> {
    let Content::Image { data, mime_type } = content else {
        return None;
    };
    let media_type = Some(ImageMediaType::from_mime_type(mime_type)?);
    Some(Image {
        data: DocumentSourceKind::base64(data.as_str()),
        media_type,
        ..Image::default()
    })
}

/// Replaces an image by a text about it.
fn leave_out_image(content: &mut Content) {
    if let Content::Image { mime_type, .. } = content {
        *content = Content::text(format!(
            "[an image of type {mime_type} is left out: a failed call is shown as text alone]"
        ));
    }
}

fn rig_error(error: ToolError) -> RigError {
    let code = error.code();
    let kind = match code {
        ErrorCode::NotFound => RigErrorKind::NotFound,
        ErrorCode::InvalidArguments => RigErrorKind::InvalidArgs,
        ErrorCode::PermissionDenied | ErrorCode::Denied | ErrorCode::Unapproved => {
            RigErrorKind::PermissionDenied
        }
        ErrorCode::Overloaded => RigErrorKind::RateLimited,
        ErrorCode::Timeout => RigErrorKind::Timeout,
        ErrorCode::Cancelled => RigErrorKind::Cancelled,
        _ => RigErrorKind::Other,
    };
    // The pipeline repeats calls itself where their effects allow it. Only this call did not run.
    let is_retryable = code == ErrorCode::Overloaded;
    RigError::new(kind, error.to_string())
        .with_code(code.to_string())
        .with_retryable(is_retryable)
        .with_source(error)
}
