//! The judge accepts a right connection, and refuses each violation that is planted in it.

use serde_json::{Value, json};

use crate::judge::{Judge, MAX_LINE};

/// A line, and its side.
#[derive(Clone, Debug)]
enum Line {
    Client(Value),
    Agent(Value),
}

use Line::{Agent, Client};

/// Returns a connection with a load, a question, a cancellation and a second session.
fn connection() -> Vec<Line> {
    fn request(id: Value, method: &str, params: Value) -> Value {
        json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
    }
    let client = |id: u32, method: &str, params: Value| Client(request(json!(id), method, params));
    let result =
        |id: u32, result: Value| Agent(json!({"jsonrpc": "2.0", "id": id, "result": result}));
    let update = |session: &str, update: Value| {
        let params = json!({"sessionId": session, "update": update});
        Agent(json!({"jsonrpc": "2.0", "method": "session/update", "params": params}))
    };
    let text = |text: &str| json!({"type": "text", "text": text});
    let options = json!([
        {"optionId": "once", "name": "Allow once", "kind": "allow_once"},
        {"optionId": "no", "name": "Reject", "kind": "reject_once"},
    ]);
    let ask = |id: &str, session: &str, call: &str| {
        let params =
            json!({"sessionId": session, "toolCall": {"toolCallId": call}, "options": options});
        Agent(request(json!(id), "session/request_permission", params))
    };
    let answer = |id: &str, option: &str| {
        let outcome = json!({"outcome": "selected", "optionId": option});
        Client(json!({"jsonrpc": "2.0", "id": id, "result": {"outcome": outcome}}))
    };
    vec![
        client(
            0,
            "initialize",
            json!({"protocolVersion": 1, "clientCapabilities": {}}),
        ),
        result(
            0,
            json!({"protocolVersion": 1, "agentCapabilities": {"loadSession": true}, "authMethods": []}),
        ),
        client(1, "session/new", json!({"cwd": "/w", "mcpServers": []})),
        result(1, json!({"sessionId": "a"})),
        update(
            "a",
            json!({"sessionUpdate": "available_commands_update", "availableCommands": []}),
        ),
        client(
            2,
            "session/prompt",
            json!({"sessionId": "a", "prompt": [text("write")]}),
        ),
        update(
            "a",
            json!({"sessionUpdate": "agent_message_chunk", "content": text("I write.")}),
        ),
        update(
            "a",
            json!({"sessionUpdate": "tool_call", "toolCallId": "c1", "title": "fs.write", "kind": "edit", "status": "pending", "locations": [{"path": "/w/x"}]}),
        ),
        ask("q1", "a", "c1"),
        answer("q1", "once"),
        update(
            "a",
            json!({"sessionUpdate": "tool_call_update", "toolCallId": "c1", "status": "in_progress"}),
        ),
        update(
            "a",
            json!({"sessionUpdate": "tool_call_update", "toolCallId": "c1", "status": "completed"}),
        ),
        result(2, json!({"stopReason": "end_turn"})),
        client(
            3,
            "session/prompt",
            json!({"sessionId": "a", "prompt": [text("again")]}),
        ),
        update(
            "a",
            json!({"sessionUpdate": "tool_call", "toolCallId": "c2", "title": "fs.write", "status": "pending"}),
        ),
        ask("q2", "a", "c2"),
        Client(json!({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": "a"}})),
        Client(
            json!({"jsonrpc": "2.0", "id": "q2", "result": {"outcome": {"outcome": "cancelled"}}}),
        ),
        update(
            "a",
            json!({"sessionUpdate": "tool_call_update", "toolCallId": "c2", "status": "failed"}),
        ),
        result(3, json!({"stopReason": "cancelled"})),
        client(
            4,
            "session/load",
            json!({"sessionId": "b", "cwd": "/w", "mcpServers": []}),
        ),
        update(
            "b",
            json!({"sessionUpdate": "user_message_chunk", "content": text("hello")}),
        ),
        update(
            "b",
            json!({"sessionUpdate": "agent_message_chunk", "content": text("hi")}),
        ),
        result(4, json!({})),
        client(5, "session/nothing", json!({})),
        Agent(
            json!({"jsonrpc": "2.0", "id": 5, "error": {"code": -32601, "message": "no such method"}}),
        ),
        client(6, "session/close", json!({"sessionId": "b"})),
        result(6, json!({})),
    ]
}

fn judge(lines: &[Line]) -> Vec<String> {
    let mut judge = Judge::new();
    for line in lines {
        match line {
            Client(value) => judge.client(&value.to_string()),
            Agent(value) => judge.agent(&value.to_string()),
        }
    }
    judge.end()
}

/// Returns the place of the first line that has the text, with its keys sorted.
fn place(lines: &[Line], text: &str) -> usize {
    let mut lines = lines.iter();
    let found = lines.position(|line| match line {
        Client(value) | Agent(value) => {
            // The order of keys depends on the features that other crates of a build need.
            let mut value = value.clone();
            value.sort_all_objects();
            value.to_string().contains(text)
        }
    });
    found.unwrap_or_else(|| panic!("no line has {text}"))
}

#[test]
fn a_right_connection_has_no_violation() {
    assert_eq!(judge(&connection()), Vec::<String>::new());
}

#[test]
fn each_planted_violation_is_refused() {
    type Plant = fn(&mut Vec<Line>);
    fn swap(lines: &mut [Line], one: &str, other: &str) {
        let (one, other) = (place(lines, one), place(lines, other));
        lines.swap(one, other);
    }
    fn edit(lines: &mut [Line], text: &str, edit: impl FnOnce(&mut Value)) {
        let at = place(lines, text);
        match &mut lines[at] {
            Client(value) | Agent(value) => edit(value),
        }
    }
    fn duplicate(lines: &mut Vec<Line>, text: &str) {
        let at = place(lines, text);
        lines.insert(at, lines[at].clone());
    }
    fn remove(lines: &mut Vec<Line>, text: &str) {
        let at = place(lines, text);
        lines.remove(at);
    }
    fn behind(lines: &mut Vec<Line>, text: &str, line: Value) {
        let at = place(lines, text) + 1;
        lines.insert(at, Agent(line));
    }
    let plants: &[(&str, Plant)] = &[
        ("an update before the answer of new", |lines| {
            swap(lines, r#""result":{"sessionId":"a"}"#, "available_commands")
        }),
        ("an update of an unknown session", |lines| {
            edit(lines, "I write.", |line| {
                line["params"]["sessionId"] = json!("z")
            })
        }),
        ("an unknown kind of update", |lines| {
            edit(lines, "I write.", |line| {
                line["params"]["update"]["sessionUpdate"] = json!("agent_message")
            })
        }),
        ("an update in camel case", |lines| {
            edit(lines, "I write.", |line| {
                line["params"]["update"]["sessionUpdate"] = json!("agentMessageChunk")
            })
        }),
        ("a stop reason of its own", |lines| {
            edit(lines, "end_turn", |line| {
                line["result"]["stopReason"] = json!("error")
            })
        }),
        ("no stop reason", |lines| {
            edit(lines, "end_turn", |line| line["result"] = json!({}))
        }),
        ("a second answer", |lines| duplicate(lines, "end_turn")),
        ("no answer to a prompt", |lines| remove(lines, "end_turn")),
        ("no answer to an unknown method", |lines| {
            remove(lines, "no such method")
        }),
        ("an answer with another id", |lines| {
            edit(lines, "end_turn", |line| line["id"] = json!("2"))
        }),
        ("result and error", |lines| {
            edit(lines, "end_turn", |line| {
                line["error"] = json!({"code": 1, "message": ""})
            })
        }),
        ("an error without a code", |lines| {
            edit(lines, "no such method", |line| {
                line["error"] = json!({"message": ""})
            })
        }),
        ("a text after the answer", |lines| {
            swap(lines, "I write.", "end_turn")
        }),
        ("a question before its call", |lines| {
            swap(lines, r#""sessionUpdate":"tool_call","#, "q1")
        }),
        ("a call twice", |lines| {
            duplicate(lines, r#""toolCallId":"c2""#)
        }),
        ("an update of an unknown call", |lines| {
            edit(lines, "in_progress", |line| {
                line["params"]["update"]["toolCallId"] = json!("c9")
            })
        }),
        ("an end twice", |lines| duplicate(lines, "completed")),
        ("an open call at the answer", |lines| {
            remove(lines, "completed")
        }),
        ("an earlier status", |lines| {
            edit(lines, "completed", |line| {
                line["params"]["update"]["status"] = json!("pending")
            })
        }),
        ("a call that runs before the answer", |lines| {
            swap(lines, r#""outcome":"selected""#, "in_progress")
        }),
        ("a refused call that runs", |lines| {
            edit(lines, r#""outcome":"selected""#, |line| {
                line["result"]["outcome"]["optionId"] = json!("no")
            })
        }),
        ("a cancelled call that completes", |lines| {
            edit(lines, r#""status":"failed""#, |line| {
                line["params"]["update"]["status"] = json!("completed")
            })
        }),
        ("a question without a no", |lines| {
            edit(lines, r#""id":"q1""#, |line| {
                line["params"]["options"].as_array_mut().unwrap().pop();
            })
        }),
        ("two options of one id", |lines| {
            edit(lines, r#""id":"q1""#, |line| {
                line["params"]["options"][1]["optionId"] = json!("once")
            })
        }),
        ("two requests of one id", |lines| {
            edit(lines, r#""id":"q2""#, |line| line["id"] = json!("q1"))
        }),
        ("a cancelled prompt that ends otherwise", |lines| {
            edit(lines, r#""stopReason":"cancelled""#, |line| {
                line["result"]["stopReason"] = json!("end_turn")
            })
        }),
        ("an error for a cancelled prompt", |lines| {
            edit(
                lines,
                r#""stopReason":"cancelled""#,
                |line| {
                    *line =
                        json!({"jsonrpc": "2.0", "id": 3, "error": {"code": -32603, "message": ""}})
                },
            )
        }),
        ("a cancelled prompt that nobody cancelled", |lines| {
            edit(lines, "end_turn", |line| {
                line["result"]["stopReason"] = json!("cancelled")
            })
        }),
        ("an answer while a question is open", |lines| {
            remove(lines, r#"{"outcome":{"outcome":"cancelled"}}"#)
        }),
        ("a replay after the answer of load", |lines| {
            swap(
                lines,
                r#""text":"hi""#,
                r#""id":4,"jsonrpc":"2.0","result""#,
            )
        }),
        ("a replay of a resumed session", |lines| {
            edit(lines, "session/load", |line| {
                line["method"] = json!("session/resume")
            })
        }),
        ("commands before the answer of load", |lines| {
            behind(
                lines,
                r#""text":"hi""#,
                json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "b", "update": {"sessionUpdate": "available_commands_update", "availableCommands": []}}}),
            )
        }),
        ("a relative path", |lines| {
            edit(lines, "locations", |line| {
                line["params"]["update"]["locations"][0]["path"] = json!("x")
            })
        }),
        ("a read of the client's files", |lines| {
            behind(
                lines,
                "I write.",
                json!({"jsonrpc": "2.0", "id": "f", "method": "fs/read_text_file", "params": {"sessionId": "a", "path": "/w/x"}}),
            )
        }),
        ("a form that the client has not offered", |lines| {
            behind(
                lines,
                "I write.",
                json!({"jsonrpc": "2.0", "id": "f", "method": "elicitation/create", "params": {"sessionId": "a", "mode": "form", "message": "?", "requestedSchema": {"type": "object", "properties": {}}}}),
            )
        }),
        ("a notice that the client has not offered", |lines| {
            behind(
                lines,
                "I write.",
                json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "a", "update": {"sessionUpdate": "notice", "severity": "info", "message": "x"}}}),
            )
        }),
        ("a request that the client does not know", |lines| {
            behind(
                lines,
                "I write.",
                json!({"jsonrpc": "2.0", "id": "f", "method": "session/prompt", "params": {}}),
            )
        }),
        ("a withdrawal of no request", |lines| {
            behind(
                lines,
                "I write.",
                json!({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": "z"}}),
            )
        }),
        ("another version of JSON-RPC", |lines| {
            edit(lines, "I write.", |line| line["jsonrpc"] = json!("1.0"))
        }),
        ("a line that is too long", |lines| {
            edit(lines, "I write.", |line| {
                line["params"]["update"]["content"]["text"] = json!("x".repeat(MAX_LINE))
            })
        }),
        ("a number as session", |lines| {
            edit(lines, r#""result":{"sessionId":"a"}"#, |line| {
                line["result"]["sessionId"] = json!(1)
            })
        }),
    ];
    let mut accepted = Vec::new();
    for (name, plant) in plants {
        let mut lines = connection();
        plant(&mut lines);
        accepted.extend(judge(&lines).is_empty().then_some(*name));
    }
    assert!(accepted.is_empty(), "not refused: {accepted:?}");
}

#[test]
fn a_line_that_is_no_json_is_refused() {
    let mut judge = Judge::new();
    judge.agent("note: loading");
    assert_eq!(judge.violations().len(), 1);
}
