//! The prompt prefix, which services cache, is sent with the same bytes again.

use std::sync::Arc;

use crate::service::Service;
use crate::service::wire::{self, ALL, Block, options, remote};
use crate::workshop::catalog;
use agent::{Driver, Selection, Session, SystemText, tool_guidance};
use serde_json::{Deserializer, Value, json};
use tools::Host;
use tools::protocol::wire::Format;

const TOOLS: [&str; 3] = ["fs.read", "fs.list", "time.now"];

/// Returns the bytes of a field of a body, or an empty text if it has none.
pub(crate) fn field<'a>(body: &'a str, name: &str) -> &'a str {
    let Some(at) = body.find(&format!("\"{name}\":")) else {
        return "";
    };
    let value = &body[at + name.len() + 3..];
    let mut values = Deserializer::from_str(value).into_iter::<Value>();
    values.next().unwrap().unwrap();
    &value[..values.byte_offset()]
}

/// Returns the name of the field with the conversation.
pub(crate) fn conversation(format: Format) -> &'static str {
    match format {
        Format::OpenAiResponses => "input",
        Format::Gemini => "contents",
        _ => "messages",
    }
}

/// Returns a body without its conversation.
fn settings(format: Format, body: &str) -> Value {
    let mut body: Value = serde_json::from_str(body).unwrap();
    body.as_object_mut()
        .unwrap()
        .remove(conversation(format))
        .unwrap();
    body
}

fn session(tools: &[&str]) -> Session {
    let system = SystemText::new()
        .with_section("identity", "You are \"it\".")
        .with_tool_section("tools", tool_guidance);
    Session::new(catalog(tools).0.list(), Selection::new(), Host::new()).with_system(system)
}

#[tokio::test]
async fn the_requests_of_a_session_begin_with_the_bytes_of_the_one_before() {
    for format in ALL {
        let blocks = [
            Block::Text("let me see"),
            Block::Call("c1", "fs__read", json!({"b": 1, "a": 2.5})),
        ];
        let call = || wire::reply(format, false, &blocks);
        let answer = || wire::reply(format, false, &[Block::Text("ok")]);
        let service = Service::new([call(), answer(), call(), answer(), answer()]).await;
        let driver = Driver::new(Arc::new(remote(format, &options(format, &service, false))));
        let mut session = session(&TOOLS);
        driver.run(&mut session, "one").await.unwrap();
        session.refresh(catalog(&TOOLS).0.list());
        driver.run(&mut session, "two").await.unwrap();
        driver.run(&mut session, "three").await.unwrap();

        let bodies: Vec<_> = (0..5).map(|index| service.text(index)).collect();
        assert!(field(&bodies[0], "tools").contains("fs__read"));
        for pair in bodies.windows(2) {
            let [before, after] = pair else {
                unreachable!()
            };
            for name in ["tools", "system", "instructions", "systemInstruction"] {
                assert_eq!(field(after, name), field(before, name), "{format}");
            }
            let said = field(before, conversation(format))
                .strip_suffix(']')
                .unwrap();
            assert!(
                field(after, conversation(format)).starts_with(said),
                "{format}: {before}\n{after}"
            );
            assert_eq!(
                settings(format, after),
                settings(format, before),
                "{format}"
            );
        }
    }
}

#[tokio::test]
async fn equal_sessions_send_equal_bytes() {
    for format in ALL {
        let answer = || wire::reply(format, true, &[Block::Text("ok")]);
        let service = Service::new([answer(), answer()]).await;
        let mut reversed = TOOLS;
        reversed.reverse();
        for tools in [TOOLS, reversed] {
            let driver = Driver::new(Arc::new(remote(format, &options(format, &service, true))));
            driver.run(&mut session(&tools), "one").await.unwrap();
        }
        assert_eq!(service.text(0), service.text(1), "{format}");
    }
}
