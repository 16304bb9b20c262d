//! Preview functions of tools.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json};
use tools::{Host, JsonSchema, Preview, Submission, ToolContext, ToolError, tool};

use super::catalog;
use crate::sample::Viewer;

/// Repeats a text.
#[tool(writes = "log:{text}", preview = self::previews::repeated)]
fn repeat(
    /// The text.
    text: String,
    _cx: &ToolContext,
    /// The number of repetitions.
    #[serde(default)]
    times: Option<usize>,
) -> String {
    text.repeat(times.unwrap_or(1))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Shout {
    /// The text.
    text: String,
}

/// Shouts a text.
#[tool(writes = "log:{text}", preview = previews::shouted)]
async fn shout(cx: ToolContext, #[args] args: Shout) -> String {
    drop(cx);
    args.text.to_uppercase()
}

/// Clears the log.
#[tool(destroys = "log:all", preview = previews::cleared)]
fn clear() {}

mod previews {
    use super::*;

    pub(super) fn repeated(
        text: String,
        cx: &ToolContext,
        times: Option<usize>,
    ) -> Result<Preview, ToolError> {
        assert_eq!(cx.tool().unwrap().as_str(), "repeat");
        Ok(Preview::summary(format!("{text} {times:?}")))
    }

    pub(super) async fn shouted(_: ToolContext, Shout { text }: Shout) -> Preview {
        tokio::task::yield_now().await;
        Preview::diff(format!("+{text}"))
    }

    pub(super) fn cleared() -> Result<Preview, String> {
        Err("the log is gone".to_owned())
    }
}

async fn preview(submission: &'static Submission, arguments: Value) -> Result<Preview, ToolError> {
    let approver = Viewer::default();
    let cx = Host::new().with_approver(Arc::new(approver.clone()));
    catalog(submission)
        .execute(&cx, submission.name, arguments)
        .await
        .unwrap();
    approver.seen().unwrap()
}

#[tokio::test]
async fn a_preview_gets_the_arguments_of_the_tool() {
    let made = preview(&REPEAT_TOOL, json!({"text": "a", "times": 3})).await;
    assert_eq!(made, Ok(Preview::summary("a Some(3)")));
    assert_eq!(
        preview(&SHOUT_TOOL, json!({"text": "a"})).await,
        Ok(Preview::diff("+a"))
    );
    let error = preview(&CLEAR_TOOL, json!({})).await.unwrap_err();
    assert!(error.to_string().contains("the log is gone"), "{error}");
}
