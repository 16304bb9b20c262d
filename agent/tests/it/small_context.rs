//! A model with a small context, which refuses longer requests as a service does.
#![allow(
    dead_code,
    missing_docs,
    unreachable_pub,
    reason = "each program of tests uses a part of it"
)]

use std::collections::VecDeque;
use std::slice::from_ref;
use std::sync::{Arc, Mutex};

use agent::{
    Driver, FailureKind, Provider, ProviderError, ProviderInfo, Request, Session, Turn, TurnFuture,
    Usage,
};
use serde_json::{Value, json};
use tools::protocol::{Message, Part};
use tools::{Catalog, Effects, Host, OutputStore, Tool, ToolCall, ToolContext};

/// The bytes that this model counts as a token.
const BYTES_PER_TOKEN: u64 = 3;

/// A model that makes two calls of `read` in each turn and then answers. It checks that each request has the first two messages and one
/// result after each call.
#[derive(Clone)]
pub struct SmallContext {
    pub turns: u64,
    /// The tokens of the context.
    pub tokens: u64,
    /// Names the context if the model tells it, and the usage of each request.
    pub info: Arc<ProviderInfo>,
    /// The tokens that it reports for each request, if it does not count them.
    pub counted: Option<u64>,
    pub log: Arc<Mutex<Log>>,
}

#[derive(Debug, Default)]
pub struct Log {
    /// The messages of the answered requests.
    pub requests: Vec<Vec<Message>>,
    pub refused: usize,
    pub summaries: usize,
    /// The tokens of the largest answered request.
    pub largest: u64,
}

impl SmallContext {
    pub fn new(turns: u64, tokens: u64) -> Self {
        Self {
            turns,
            tokens,
            info: Arc::new(ProviderInfo::new("small")),
            counted: None,
            log: Arc::default(),
        }
    }

    /// Creates a model that tells its context, and the usage of each request.
    pub fn open(turns: u64, tokens: u64) -> Self {
        let model = Self::new(turns, tokens);
        model.info.context.learn(tokens);
        model
    }

    fn answer(&self, messages: &[Message], is_summary: bool) -> Result<Turn, ProviderError> {
        check_pairing(messages);
        let tokens = tokens(messages);
        let mut log = self.log.lock().unwrap();
        if tokens > self.tokens {
            log.refused += 1;
            return Err(too_long());
        }
        log.largest = log.largest.max(tokens);
        log.requests.push(messages.to_vec());
        let turn = if is_summary {
            log.summaries += 1;
            let kept = messages
                .iter()
                .find_map(|message| handle(&shown_text(message)))
                .unwrap_or_default();
            let (number, last) = (log.summaries, last_number(messages));
            Turn::answer(format!(
                "Summary {number}: read up to {last}. [Needed: handle {kept}]"
            ))
        } else {
            match last_number(messages) + 1 {
                next if next > self.turns => Turn::answer(format!("read {}", self.turns)),
                next => Turn::calls(["a", "b"].map(|end| {
                    ToolCall::new(
                        format!("c{next}-{end}"),
                        "read",
                        json!({"number": next, "file": end}),
                    )
                })),
            }
        };
        let usage = Usage {
            input_tokens: self.counted.unwrap_or(tokens),
            output_tokens: 40,
            ..Usage::default()
        };
        Ok(if self.info.context.tokens().is_some() {
            Turn {
                usage: Some(usage),
                ..turn
            }
        } else {
            turn
        })
    }
}

impl Provider for SmallContext {
    fn about(&self) -> &ProviderInfo {
        &self.info
    }

    fn complete<'a>(&'a self, request: Request<'a>) -> TurnFuture<'a> {
        let turn = self.answer(request.messages, request.is_summary);
        Box::pin(async move { turn })
    }
}

/// A model that plays these turns, whatever the conversation is.
struct Plays(Mutex<VecDeque<Turn>>);

impl Provider for Plays {
    fn about(&self) -> &ProviderInfo {
        static PLAYS: ProviderInfo = ProviderInfo::new("plays");
        &PLAYS
    }

    fn complete<'a>(&'a self, _: Request<'a>) -> TurnFuture<'a> {
        let turn = self.0.lock().unwrap().pop_front().unwrap();
        Box::pin(async move { Ok(turn) })
    }
}

/// Has a model read results by the handles in their notices. Returns the texts that it reads.
pub async fn read_back(session: &mut Session, handles: &[String]) -> Vec<String> {
    let call = |handle: &String| ToolCall::new("", OutputStore::READER, json!({"handle": handle}));
    let turns = handles
        .chunks(50)
        .map(|some| Turn::calls(some.iter().map(call)));
    let turns = turns.chain([Turn::answer("read again")]).collect();
    let driver = Driver::new(Arc::new(Plays(Mutex::new(turns)))).with_checkpoints(true);
    driver.run(session, "Read them again.").await.unwrap();
    let results = result_texts(session.messages());
    results[results.len() - handles.len()..].to_vec()
}

/// Returns the text of a message and of its results.
fn shown_text(message: &Message) -> String {
    format!(
        "{}\n{}",
        message.to_text(),
        result_texts(from_ref(message)).join("\n")
    )
}

/// Returns the texts of all results, in order.
pub fn result_texts(messages: &[Message]) -> Vec<String> {
    let parts = messages.iter().flat_map(|message| &message.parts);
    let result = |part: &Part| match part {
        Part::ToolResult { result, .. } => Some(result.to_text()),
        _ => None,
    };
    parts.filter_map(result).collect()
}

/// Returns the first handle in a text.
pub fn handle(text: &str) -> Option<String> {
    Some(text.split("handle ").nth(1)?.split(']').next()?.to_owned())
}

/// The error of a service whose context is too small.
pub fn too_long() -> ProviderError {
    let (provider, message, kind) = (
        "small".to_owned(),
        "too long".to_owned(),
        FailureKind::ContextLength,
    );
    ProviderError::Status {
        provider,
        status: 400,
        kind,
        message,
        retry_after: None,
    }
}

pub fn tokens(messages: &[Message]) -> u64 {
    serde_json::to_string(messages).unwrap().len() as u64 / BYTES_PER_TOKEN
}

/// Returns the number of the last turn with calls.
fn last_number(messages: &[Message]) -> u64 {
    let last = messages.iter().rev().flat_map(Message::calls).next();
    last.map_or(0, |call| call.arguments.value()["number"].as_u64().unwrap())
}

/// Checks that the results of each turn follow its calls, in their order.
#[track_caller]
pub fn check_pairing(messages: &[Message]) {
    let mut awaited: Vec<&str> = Vec::new();
    for message in messages {
        let results: Vec<_> = message
            .parts
            .iter()
            .filter_map(|part| match part {
                Part::ToolResult { id, .. } => Some(id.as_str()),
                _ => None,
            })
            .collect();
        assert_eq!(results, awaited, "the results follow their calls");
        awaited = message.calls().map(|call| call.id.as_str()).collect();
    }
    assert!(awaited.is_empty(), "calls without results: {awaited:?}");
}

/// The tools of the session, and `read`, whose result has this many bytes.
pub fn catalog(bytes: usize) -> Catalog {
    let mut catalog = Catalog::new();
    agent::tool::register(&mut catalog).unwrap();
    let read = Tool::new("read", "Reads a file.", json!({"type": "object"}))
        .unwrap()
        .with_effects(Effects::Pure);
    let handler = move |_: ToolContext, arguments: Value| async move { text(&arguments, bytes) };
    catalog.register(read, handler).unwrap();
    catalog
}

/// Returns the result of a call of `read`.
pub fn text(arguments: &Value, bytes: usize) -> String {
    let line = format!("line of {} {}\n", arguments["number"], arguments["file"]);
    line.repeat(bytes / line.len())
}

pub fn context() -> Host {
    Host::new().with_service(OutputStore::default())
}
