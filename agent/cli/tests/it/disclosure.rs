use serde_json::Value;
#[cfg(feature = "default")]
use serde_json::json;

use crate::Crib;
use crate::config::write_user;
#[cfg(feature = "default")]
use crate::model::{ANSWER, serve};

fn names(documents: &[Value]) -> Vec<&str> {
    documents
        .iter()
        .map(|found| found["name"].as_str().unwrap())
        .collect()
}

#[test]
fn search_finds_what_the_session_may_call_and_says_why() {
    let crib = Crib::new();
    let ended = crib.run(&["search", "read", "a", "text", "file"]).expect(0);
    let (first, reasons) = ended.stdout.split_once('\n').unwrap();
    assert!(
        first.starts_with("fs.read ") && reasons.contains("read (name"),
        "{ended:#?}"
    );
    assert!(ended.stderr.contains("left out: "), "{ended:#?}");

    let search = |more: &[&str]| {
        crib.run(&[&["search", "write a file", "--limit", "50", "--json"], more].concat())
            .expect(0)
    };
    let ungranted = search(&[]).documents();
    assert!(
        !names(&ungranted).contains(&"fs.write") && names(&ungranted).contains(&"fs.read"),
        "{ungranted:?}"
    );
    let granted = search(&["--grant", "fs:write:**"]).documents();
    let write = granted
        .iter()
        .find(|found| found["name"] == "fs.write")
        .unwrap();
    assert!(
        write["granted"] == true && write["parameters"]["properties"]["path"].is_object(),
        "{write}"
    );
    assert!(
        write["matches"]
            .as_array()
            .unwrap()
            .iter()
            .any(|word| word["word"] == "write"),
        "{write}"
    );
    let selected = search(&["--select", "fs.*", "--select", "!fs.read"]).documents();
    assert!(
        !selected.is_empty()
            && names(&selected)
                .iter()
                .all(|name| name.starts_with("fs.") && *name != "fs.read")
    );

    let nothing = crib.run(&["search", "qqqq"]).expect(0);
    assert!(
        nothing.stdout.is_empty() && nothing.stderr.contains("try other words"),
        "{nothing:#?}"
    );
}

#[test]
fn doctor_says_what_the_definitions_cost_in_each_mode() {
    let crib = Crib::new();
    let line = |crib: &Crib| {
        let page = crib.run(&["doctor"]).expect(0).stdout.replace("\n  ", " ");
        page.lines()
            .find(|line| line.starts_with("definitions "))
            .unwrap()
            .to_owned()
    };
    let auto = line(&crib);
    assert!(
        auto.contains("offers all tools") && auto.contains(" with a search"),
        "{auto}"
    );
    write_user(&crib, "disclosure.mode = 'search'");
    let search = line(&crib);
    assert!(
        search.contains("(7 tools) with a search") && search.contains(" searches"),
        "{search}"
    );
    write_user(&crib, "disclosure.mode = 'some'");
    let finding = crib
        .run(&["doctor", "--json"])
        .expect(8)
        .documents()
        .remove(0);
    assert!(
        finding["message"]
            .as_str()
            .unwrap()
            .contains("must be all, auto or search"),
        "{finding}"
    );
}

/// The chunks of a turn with one call.
#[cfg(feature = "default")]
fn calling(name: &str, arguments: &Value) -> &'static str {
    let call = json!({"index": 0, "id": "c", "type": "function", "function": {"name": name, "arguments": arguments.to_string()}});
    let chunk = json!({"id": "x", "choices": [{"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": "tool_calls"}]});
    format!("data: {chunk}\n\ndata: [DONE]\n\n").leak()
}

#[cfg(feature = "default")]
#[test]
fn a_model_finds_a_tool_and_calls_it_and_each_step_is_shown() {
    let search = calling(
        "tools__search",
        &json!({"query": "read a text file", "limit": 1}),
    );
    let call = calling(
        "tools__call",
        &json!({"name": "fs__read", "arguments": {"path": "README.md"}}),
    );
    let crib = Crib::new();
    std::fs::write(crib.root().join("README.md"), "hello from the file\n").unwrap();
    let run = |more: &[&str]| {
        let (url, requests) = serve([Some(search), Some(call), Some(ANSWER)]);
        let arguments = [
            "run",
            "what is in it?",
            "--provider",
            "openai",
            "--model",
            "m",
            "--base-url",
            &url,
        ];
        let ended = crib
            .run(&[&arguments[..], &["--disclosure", "search"], more].concat())
            .expect(0);
        (
            ended,
            requests
                .iter()
                .map(|body| serde_json::from_str(&body).unwrap())
                .collect::<Vec<Value>>(),
        )
    };
    let (ended, requests) = run(&[]);
    assert!(
        ended.stderr.contains("searched read a text file: fs.read"),
        "{ended:#?}"
    );
    assert!(
        ended
            .stderr
            .contains("-> fs.read path=README.md  fs:read:README.md"),
        "{ended:#?}"
    );
    let offered = |request: &Value| {
        let tools = request["tools"].as_array().unwrap().iter();
        tools
            .map(|tool| tool["function"]["name"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let first = offered(&requests[0]);
    assert!(
        first.contains(&"fs__read".to_owned()) && first.contains(&"tools__search".to_owned()),
        "{first:?}"
    );
    assert!(!first.contains(&"time__now".to_owned()), "{first:?}");
    assert!(
        requests
            .iter()
            .all(|request| request["tools"] == requests[0]["tools"])
    );
    let sent = requests[2]["messages"].to_string();
    assert!(
        sent.contains("tools__call") && sent.contains("hello from the file"),
        "{sent}"
    );

    let (ended, _) = run(&["--output", "stream-json"]);
    let lines = ended.documents();
    let searched = lines
        .iter()
        .find(|line| line["type"] == "tools_searched")
        .unwrap();
    assert_eq!(searched["found"], json!(["fs.read"]));
    assert!(
        searched["query"] == "read a text file" && searched["others"].is_number(),
        "{searched}"
    );
}

/// The most bytes of 2,500 tokens: tokenizers of small models need a token for about 3.2 bytes of definitions.
#[cfg(feature = "default")]
const MOST_BYTES: usize = 8000;

#[cfg(feature = "default")]
#[test]
fn a_search_leaves_room_in_a_context_of_4096_tokens() {
    let (url, requests) = serve([Some(ANSWER)]);
    let arguments = [
        "run",
        "hello",
        "--base-url",
        &url,
        "--model",
        "m",
        "--context-tokens",
        "4096",
    ];
    Crib::new().run(&arguments).expect(0);
    let body: Value = serde_json::from_str(&requests.recv().unwrap()).unwrap();
    let offered: Vec<_> = body["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| &tool["function"]["name"])
        .collect();
    assert!(
        offered.contains(&&json!("tools__search")) && offered.contains(&&json!("fs__read")),
        "{offered:?}"
    );
    let bytes = body["tools"].to_string().len() + body["messages"][0].to_string().len();
    assert!(bytes <= MOST_BYTES, "{bytes}");
}
