//! Calls of careless services, of which none runs with fewer arguments than the model wrote.

use agent_models::Remote;
use serde_json::{Value, json};
use tools::protocol::wire::Format;

use crate::service::reply::completion;
use crate::service::wire::{self, Block, options, remote};
use crate::service::{Reply, Service, events};
use crate::workshop::{answer, run};

fn ok(format: Format) -> Reply {
    wire::reply(format, true, &[Block::Text("ok")])
}

/// Returns the paths with which `fs.list` and `fs.read` ran, and the number of failed calls.
async fn ran(format: Format, reply: Reply, streaming: bool) -> (Vec<Value>, u32) {
    let service = Service::new([reply, wire::reply(format, streaming, &[Block::Text("ok")])]).await;
    let (summary, _, ran) = run(
        remote(format, &options(format, &service, streaming)),
        &["fs.list", "fs.read"],
    )
    .await;
    assert_eq!(answer(&summary).0, "ok");
    let mut paths: Vec<_> = ran
        .lock()
        .unwrap()
        .iter()
        .map(|(_, arguments)| arguments["path"].clone())
        .collect();
    paths.sort_by_key(Value::to_string);
    (paths, summary.failed_calls)
}

fn chat(deltas: &[Value]) -> Reply {
    let chunk = |delta: &Value| {
        format!(
            "data: {}\n\n",
            json!({"id": "x", "choices": [{"index": 0, "delta": delta}]})
        )
    };
    let end = json!({"id": "x", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]});
    events(
        deltas.iter().map(chunk).collect::<String>() + &format!("data: {end}\n\ndata: [DONE]\n\n"),
    )
}

fn function(arguments: &str) -> Value {
    json!({"name": "fs__list", "arguments": arguments})
}

#[tokio::test]
async fn a_call_of_chat_completions_runs_however_it_is_written() {
    let arguments = r#"{"path":"sub"}"#;
    let (start, end) = arguments.split_at(4);
    for deltas in [
        vec![
            json!({"function_call": {"name": "fs__list", "arguments": start}}),
            json!({"function_call": {"arguments": end}}),
        ],
        vec![json!({"tool_calls": {"index": 0, "id": "c", "function": function(arguments)}})],
        vec![
            json!({"tool_calls": [{"index": 0, "id": "c", "type": "", "function": function(arguments)}]}),
        ],
        vec![
            json!({"tool_calls": [{"index": 0, "id": "c", "type": "tool", "function": function(arguments)}]}),
        ],
        vec![
            json!({"tool_calls": [{"index": 0, "id": "c", "name": "fs__list", "arguments": arguments}]}),
        ],
        vec![
            json!({"tool_calls": [{"index": 0, "id": "c", "function": function(&format!("{{}}{arguments}"))}]}),
        ],
        vec![
            json!({"tool_calls": [{"index": 0, "id": "c", "function": function(&arguments.repeat(2))}]}),
        ],
        vec![
            json!({"tool_calls": [{"index": "0", "id": "c", "function": function(start)}]}),
            json!({"tool_calls": [{"index": "0", "function": {"arguments": end}}]}),
        ],
        vec![
            json!({"tool_calls": [{"index": 0, "id": "c", "function": function("")}]}),
            json!({"tool_calls": [{"index": 1, "id": "d", "function": {"name": "", "arguments": arguments}}]}),
        ],
    ] {
        assert_eq!(
            ran(Format::OpenAiChat, chat(&deltas), true).await,
            (vec![json!("sub")], 0),
            "{deltas:?}"
        );
        if let [delta] = &deltas[..] {
            let message = json!({"index": 0, "message": delta, "finish_reason": "stop"});
            assert_eq!(
                ran(Format::OpenAiChat, completion(message), false).await,
                (vec![json!("sub")], 0),
                "{delta}"
            );
        }
    }
}

#[tokio::test]
async fn the_only_choice_of_a_reply_counts_whatever_its_place() {
    let call = json!({"tool_calls": [{"index": 0, "id": "c", "type": "function", "function": function(r#"{"path":"sub"}"#)}]});
    let choice = |key: &str, finish: Value| {
        let mut choice = json!({"index": 1, "finish_reason": finish});
        choice[key] = if finish.is_null() || key == "message" {
            call.clone()
        } else {
            json!({})
        };
        choice
    };
    let documents = [Value::Null, json!("tool_calls")]
        .map(|finish| json!({"id": "x", "choices": [choice("delta", finish)]}));
    for (reply, streaming) in [
        (stream(&documents), true),
        (completion(choice("message", json!("tool_calls"))), false),
    ] {
        assert_eq!(
            ran(Format::OpenAiChat, reply, streaming).await,
            (vec![json!("sub")], 0)
        );
    }
}

#[tokio::test]
async fn a_second_call_without_a_name_is_a_failed_one_and_the_first_runs() {
    for name in [json!(""), Value::Null] {
        let fragments = [
            json!({"index": 0, "id": "c", "function": function(r#"{"path":"sub"}"#)}),
            json!({"index": 1, "id": "d", "function": {"name": name, "arguments": "{\"path\":\"b\"}"}}),
        ];
        let deltas = fragments.map(|fragment| json!({"tool_calls": [fragment]}));
        assert_eq!(
            ran(Format::OpenAiChat, chat(&deltas), true).await,
            (vec![json!("sub")], 1),
            "{name}"
        );
    }
}

#[tokio::test]
async fn two_calls_with_indices_as_text_are_apart() {
    let start = |index: &str| json!({"index": index, "id": index, "function": function("")});
    let more = |index: &str| json!({"index": index, "function": {"arguments": format!(r#"{{"path":"{index}"}}"#)}});
    let fragments = [start("0"), start("1"), more("1"), more("0")]
        .map(|fragment| json!({"tool_calls": [fragment]}));
    assert_eq!(
        ran(Format::OpenAiChat, chat(&fragments), true).await,
        (vec![json!("0"), json!("1")], 0)
    );
}

#[tokio::test]
async fn different_arguments_of_one_call_are_a_fault() {
    let arguments = r#"{"path":"a"}{"path":"b"}"#;
    let call = json!({"tool_calls": [{"index": 0, "id": "c", "function": function(arguments)}]});
    assert_eq!(
        ran(Format::OpenAiChat, chat(&[call]), true).await,
        (vec![], 1)
    );
}

fn stream(documents: &[Value]) -> Reply {
    events(
        documents
            .iter()
            .map(|document| format!("data: {document}\n\n"))
            .collect::<String>(),
    )
}

#[tokio::test]
async fn a_fragment_of_anthropic_at_no_open_block_belongs_to_the_only_one() {
    let start = |index: u64, id: &str| {
        json!({"type": "content_block_start", "index": index,
        "content_block": {"type": "tool_use", "id": id, "name": "fs__list", "input": {}}})
    };
    let more = |index: Value, path: &str| {
        json!({"type": "content_block_delta", "index": index,
        "delta": {"type": "input_json_delta", "partial_json": json!({"path": path}).to_string()}})
    };
    let end = |index: u64| json!({"type": "content_block_stop", "index": index});
    let reply = |blocks: &[Value]| {
        let message = json!({"id": "m", "type": "message", "role": "assistant", "model": "m", "content": [], "usage": {}});
        let first = json!({"type": "message_start", "message": message});
        let last =
            json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {}});
        stream(&[&[first], blocks, &[last, json!({"type": "message_stop"})]].concat())
    };
    for index in [json!(7), Value::Null, json!("0")] {
        let reply = reply(&[start(0, "a"), more(index, "sub"), end(0)]);
        assert_eq!(
            ran(Format::Anthropic, reply, true).await,
            (vec![json!("sub")], 0)
        );
    }
    let again = reply(&[
        start(0, "a"),
        more(json!(0), "1"),
        start(0, "b"),
        more(json!(0), "2"),
        end(0),
    ]);
    assert_eq!(
        ran(Format::Anthropic, again, true).await,
        (vec![json!("1"), json!("2")], 0)
    );
}

#[tokio::test]
async fn arguments_that_the_responses_api_states_at_the_end_alone_are_those_of_the_call() {
    let arguments = r#"{"path":"sub"}"#;
    let event = |kind: &str, rest: Value| {
        let mut event =
            json!({"type": format!("response.{kind}"), "output_index": 0, "item_id": "i"});
        event
            .as_object_mut()
            .unwrap()
            .extend(rest.as_object().unwrap().clone());
        event
    };
    let added = |arguments: &str| {
        event(
            "output_item.added",
            json!({"item": {"type": "function_call", "id": "i",
        "call_id": "c", "name": "fs__list", "arguments": arguments}}),
        )
    };
    let delta = |delta: &str| event("function_call_arguments.delta", json!({"delta": delta}));
    let done = event(
        "function_call_arguments.done",
        json!({"arguments": arguments}),
    );
    let end = json!({"type": "response.completed", "response": {"id": "r", "status": "completed", "output": []}});
    for events in [
        vec![added(""), done.clone()],
        vec![added(""), delta(&arguments[..4]), done.clone()],
        vec![added(""), delta(arguments), done.clone()],
        vec![added(arguments), done],
    ] {
        let reply = stream(&[&events[..], std::slice::from_ref(&end)].concat());
        assert_eq!(
            ran(Format::OpenAiResponses, reply, true).await,
            (vec![json!("sub")], 0),
            "{events:?}"
        );
    }
}

#[tokio::test]
async fn two_calls_of_the_responses_api_at_one_place_keep_their_own_arguments() {
    let item = |call: &str, arguments: &str| json!({"type": "function_call", "id": call, "call_id": call, "name": "fs__list", "arguments": arguments});
    let at_first = |kind: &str, rest: Value| {
        let mut event = json!({"type": format!("response.{kind}"), "output_index": 0});
        let fields = event.as_object_mut().unwrap();
        fields.extend(rest.as_object().unwrap().clone());
        event
    };
    let delta = |call: &str, delta: &str| {
        at_first(
            "function_call_arguments.delta",
            json!({"item_id": call, "delta": delta}),
        )
    };
    let (one, two) = (r#"{"path":"one"}"#, r#"{"path":"two"}"#);
    let reply = stream(&[
        at_first("output_item.added", json!({"item": item("i", "")})),
        at_first("output_item.added", json!({"item": item("j", "")})),
        delta("i", one),
        delta("j", two),
        at_first("output_item.done", json!({"item": item("i", one)})),
        at_first("output_item.done", json!({"item": item("j", two)})),
        json!({"type": "response.completed", "response": {"id": "r", "status": "completed", "output": []}}),
    ]);
    assert_eq!(
        ran(Format::OpenAiResponses, reply, true).await,
        (vec![json!("one"), json!("two")], 0)
    );
}

#[tokio::test]
async fn arguments_without_the_name_of_their_call_are_asked_for_again() {
    let gemini = |call: Value| json!({"candidates": [{"content": {"role": "model", "parts": [{"functionCall": call}]}}]});
    let end = json!({"candidates": [{"content": {"role": "model", "parts": []}, "finishReason": "STOP"}]});
    let ollama = |call: Value, done: bool| {
        json!({"model": "m", "message": {"role": "assistant", "content": "",
        "tool_calls": [{"function": call}]}, "done": done})
    };
    let (named, nameless) = (
        json!({"name": "fs__list"}),
        |key: &str| json!({key: {"path": "sub"}}),
    );
    for (format, reply) in [
        (
            Format::Gemini,
            wire::stream(
                Format::Gemini,
                &[gemini(named.clone()), gemini(nameless("args")), end],
            ),
        ),
        (
            Format::Ollama,
            wire::stream(
                Format::Ollama,
                &[ollama(named, false), ollama(nameless("arguments"), true)],
            ),
        ),
    ] {
        let service = Service::new([reply, ok(format)]).await;
        let model: Remote = remote(format, &options(format, &service, true));
        let (summary, _, ran) = run(model, &["fs.list"]).await;
        assert_eq!(
            (
                answer(&summary).0,
                ran.lock().unwrap().len(),
                service.requests()
            ),
            ("ok", 0, 2),
            "{format}"
        );
    }
}

#[tokio::test]
async fn a_call_without_a_name_beside_whole_ones_is_told_to_the_model_and_the_others_run() {
    let whole = json!({"name": "fs__list", "args": {"path": "sub"}, "arguments": {"path": "sub"}});
    let nameless = json!({"args": {"path": "a"}, "arguments": {"path": "a"}});
    let gemini =
        |call: &Value| json!({"functionCall": {"name": call["name"], "args": call["args"]}});
    let ollama =
        |call: &Value| json!({"function": {"name": call["name"], "arguments": call["arguments"]}});
    let of_gemini = json!({"candidates": [{"content": {"role": "model", "parts": [gemini(&whole), gemini(&nameless)]}, "finishReason": "STOP"}]});
    let of_ollama = json!({"model": "m", "message": {"role": "assistant", "content": "",
        "tool_calls": [ollama(&whole), ollama(&nameless)]}, "done": true});
    for (format, event) in [(Format::Gemini, of_gemini), (Format::Ollama, of_ollama)] {
        let service = Service::new([wire::stream(format, &[event]), ok(format)]).await;
        let model: Remote = remote(format, &options(format, &service, true));
        let (summary, _, ran) = run(model, &["fs.list"]).await;
        assert_eq!(
            (
                answer(&summary).0,
                ran.lock().unwrap().len(),
                service.requests()
            ),
            ("ok", 1, 2),
            "{format}"
        );
    }
}
