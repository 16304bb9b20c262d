//! The types of the services' own SDKs as a second judge. `.ci/sdk-judge` installs them and runs the test.

use std::io::{BufWriter, Write};
use std::process::{Command, Stdio};

use protocol::wire::{Format, Strictness, WireResult};
use protocol::{Content, Example, Tool, ToolCall, ToolName, ToolResult};
use serde_json::{Value, json};

use crate::corpus::rows_of;
use crate::wire::exchange_rules::images;

#[test]
#[ignore = "needs the data folder and the SDKs: TOOLCRIB_DATA=... bash .ci/sdk-judge"]
fn the_sdks_accept_all_real_tools_and_the_calls_and_results() {
    let python = std::env::var_os("TOOLCRIB_SDK_PYTHON")
        .expect("TOOLCRIB_SDK_PYTHON names a Python with the SDKs");
    let mut judge = Command::new(python)
        .arg(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/tests/it/sdk/judge.py"
        ))
        .args(["tool", "strict tool", "call", "result"])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufWriter::new(judge.stdin.take().unwrap());
    let mut judge_value = |format: Format, kind: &str, value: Value| {
        writeln!(
            lines,
            "{}",
            json!({"format": format.name(), "kind": kind, "value": value})
        )
        .unwrap();
    };
    for tool in tools() {
        for format in Format::ALL {
            judge_value(
                format,
                "tool",
                format.tool(&tool, Strictness::Relaxed).unwrap().value(),
            );
            let wire = format.tool(&tool, Strictness::Strict).unwrap();
            if wire.strict.is_ok() {
                judge_value(format, "strict tool", wire.value());
            }
        }
    }
    let calls = [ToolCall::new(
        "1",
        "fs__read",
        json!({"path": "a", "lines": [1, 2.5, null]}),
    )];
    let calls = calls.map(Into::into);
    for format in Format::ALL {
        format
            .write_calls(&calls)
            .into_iter()
            .for_each(|call| judge_value(format, "call", call));
        for results in results() {
            format
                .write_results(&results)
                .into_iter()
                .for_each(|result| judge_value(format, "result", result));
        }
    }
    lines.into_inner().unwrap();
    assert!(judge.wait().unwrap().success());
}

/// Returns all real tools, after one with every field.
fn tools() -> impl Iterator<Item = Tool> {
    let parameters = json!({"properties": {"path": {"type": "string"}, "limit": {"type": "integer"}}, "required": ["path"]});
    let complete = Tool::new("fs.read", "Reads.", parameters)
        .unwrap()
        .with_title("Read")
        .with_output(json!({"type": "object"}))
        .with_example(Example::new(json!({"path": "a"})));
    let real = rows_of("tools_livemcp_bfcl_ref.jsonl.gz")
        .filter(|row| row["metaschema_ok"] != false)
        .map(|row| {
            let text = |key: &str| row[key].as_str().unwrap_or_default();
            let name = ToolName::from_foreign(text("name")).unwrap();
            Tool::new(name, text("description"), row["parameters"].clone()).unwrap()
        });
    std::iter::once(complete).chain(real)
}

/// Returns the results of several turns.
fn results() -> Vec<Vec<WireResult>> {
    let images = images().map(|(mime_type, data)| Content::Image {
        data: data.to_owned(),
        mime_type: mime_type.to_owned(),
    });
    let content = [Content::text("see")].into_iter().chain(images).collect();
    let shown = ToolResult {
        content,
        ..ToolResult::default()
    };
    let failed = ToolResult {
        is_error: true,
        ..shown.clone()
    };
    let structured = ToolResult::structured(json!({"n": 1}));
    let all = [
        ToolResult::text("a"),
        ToolResult::default(),
        shown,
        failed,
        ToolResult::error("no"),
        structured,
    ];
    let mut turns: Vec<Vec<_>> = all
        .iter()
        .map(|result| vec![WireResult::new("1", "f", result.clone())])
        .collect();
    turns.push(
        all.into_iter()
            .enumerate()
            .map(|(id, result)| WireResult::new(id.to_string(), "f", result))
            .collect(),
    );
    turns
}
