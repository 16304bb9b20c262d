//! Conversations that a service would refuse as they are.

use agent::{Provider as _, Request};
use serde_json::{Value, json};
use tools::protocol::wire::Format;
use tools::protocol::{Message, Part, Role};
use tools::{CancellationToken, ToolCall, ToolResult};

use crate::service::wire::{ALL, Block, options, remote, reply};
use crate::service::{Service, json as whole, sent};
use crate::workshop::{run, session};

/// Returns the body of a request after a call with these arguments and its result.
async fn after_call(format: Format, tools: &[&str], arguments: Value) -> Value {
    let (id, name) = ("c1".to_owned(), "fs.read".to_owned());
    let result = ToolResult::text("the text");
    let call = ToolCall::new(&*id, &*name, arguments);
    let message = |role, part| Message {
        role,
        parts: vec![part],
    };
    let messages = [
        Message::text(Role::User, "go"),
        message(Role::Assistant, Part::ToolCall(call)),
        message(Role::Tool, Part::ToolResult { id, name, result }),
    ];
    let service = Service::new([reply(format, false, &[Block::Text("ok")])]).await;
    let (session, token) = (session(tools), CancellationToken::new());
    let model = remote(format, &options(format, &service, false));
    let request = Request::new(&messages, session.tools(), &token);
    model.complete(request).await.unwrap();
    service.body(0)
}

#[tokio::test]
async fn calls_are_text_in_a_request_without_tools() {
    for format in ALL {
        let body = after_call(format, &[], json!({"path": "a"})).await;
        assert!(sent::calls(format, &body).is_empty(), "{format}: {body:#}");
        assert!(
            sent::results(format, &body).is_empty(),
            "{format}: {body:#}"
        );
        let text = body.to_string();
        assert!(
            text.contains("fs__read") && text.contains("the text"),
            "{format}: {text}"
        );
        let body = after_call(format, &["fs.read"], json!({"path": "a"})).await;
        assert_eq!(sent::calls(format, &body).len(), 1, "{format}: {body:#}");
    }
}

#[tokio::test]
async fn arguments_that_are_no_object_go_back_in_one() {
    for format in ALL {
        let body = after_call(format, &["fs.read"], json!("{\"pa")).await;
        let call = sent::calls(format, &body).remove(0);
        assert_eq!(call.arguments, json!({"arguments": "{\"pa"}), "{format}");
    }
}

#[tokio::test]
async fn a_services_own_call_goes_back_with_its_result_alone() {
    let call =
        |id: &str| json!({"type": "server_tool_use", "id": id, "name": "web_search", "input": {}});
    let found =
        |id: &str| json!({"type": "web_search_tool_result", "tool_use_id": id, "content": []});
    let (text, own) = (
        json!({"type": "text", "text": "So."}),
        json!({"type": "tool_use", "id": "a", "name": "fs__read", "input": {}}),
    );
    for (content, kept) in [
        (json!([call("1"), found("1"), text, own]), vec![0, 1, 2, 3]),
        (json!([call("1"), text, found("2"), own]), vec![1, 3]),
        // The call goes on, and a result is of an earlier turn.
        (json!([found("1"), text, own, call("2")]), vec![0, 1, 2, 3]),
    ] {
        let message = json!({"id": "m", "type": "message", "role": "assistant", "model": "m", "content": content,
            "stop_reason": "tool_use", "usage": {}});
        let format = Format::Anthropic;
        let service = Service::new([
            whole(200, message),
            reply(format, false, &[Block::Text("ok")]),
        ])
        .await;
        run(
            remote(format, &options(format, &service, false)),
            &["fs.read"],
        )
        .await;
        let sent = service.body(1)["messages"][1]["content"].clone();
        let kept: Vec<_> = kept
            .into_iter()
            .map(|at: usize| content[at].clone())
            .collect();
        assert_eq!(sent, json!(kept), "{content}");
    }
}
