//! Recorded exchanges with real services, served again in small pieces.

mod permitted;
mod said;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use crate::service::{Reply, Service, retry_policy, wire};
use crate::workshop::result;
use agent::{Driver, DriverError, FailureKind, ProviderError, ProviderOptions, Selection, Session};
use serde_json::{Value, json};
use tools::protocol::wire::Format;
use tools::protocol::{Message, Role};
use tools::{Catalog, Effects, Host, Tool, ToolContext};

use permitted::permitted;
use said::{reply, sent};

type Calls = Vec<(String, Value)>;

/// The APIs of the data, with the number of their rows.
const APIS: [(&str, Format, usize); 4] = [
    ("chat", Format::OpenAiChat, 154),
    ("messages", Format::Anthropic, 32),
    ("responses", Format::OpenAiResponses, 66),
    ("gemini", Format::Gemini, 62),
];

/// The kinds of the recorded errors. All others are about the key.
const KINDS: [(FailureKind, &[u64]); 2] = [
    (
        FailureKind::ContextLength,
        &[2433, 2437, 2439, 2440, 2441, 2442, 2443],
    ),
    (FailureKind::RateLimit, &[2434, 2438]),
];

/// A recorded exchange.
#[derive(Clone)]
struct Row {
    format: Format,
    value: Value,
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the data folder: TOOLCRIB_DATA=..."]
async fn recorded_exchanges_are_understood_in_pieces_of_any_size() {
    let rows = rows();
    let calls: usize = rows.iter().map(|row| expected(row).len()).sum();
    assert!(calls > 220, "the data has few calls: {calls}");
    let short: Vec<_> = rows.iter().filter(|row| !row.is_long()).cloned().collect();
    // The short ones are of every sort.
    let sorts = |rows: &[Row]| rows.iter().map(Row::sort).collect::<BTreeSet<_>>();
    assert_eq!(sorts(&short), sorts(&rows));
    assert_understood(rows, &[7, 97]).await;
    assert_understood(short, &[1]).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the data folder, and takes a minute: TOOLCRIB_DATA=..."]
async fn long_recorded_exchanges_are_understood_byte_by_byte() {
    assert_understood(rows().into_iter().filter(Row::is_long), &[1]).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the data folder: TOOLCRIB_DATA=..."]
async fn no_call_of_a_recorded_reply_that_is_cut_off_is_made() {
    let rows = rows().into_iter().filter(|row| !expected(row).is_empty());
    assert_none_wrong(rows, |row| async move {
        let mut replay = Replay::new(row).await;
        replay
            .at_limit()
            .await
            .map_err(|reason| format!("{} at its limit: {reason}", replay.place()))?;
        replay
            .cut()
            .await
            .map_err(|reason| format!("{} cut {reason}", replay.place()))
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the data folder: TOOLCRIB_DATA=..."]
async fn the_calls_in_the_recordings_of_two_more_libraries_are_made() {
    let lines = lines("llm_traffic_rig_pydantic_half.jsonl.gz");
    let rows = (0..).zip(lines).map(|(number, line): (u64, _)| {
        let mut value: Value = serde_json::from_str(&line).unwrap();
        value["row"] = number.into();
        let apis = APIS.into_iter().map(|(api, format, _)| (api, format));
        let mut apis = apis.chain([("ollama", Format::Ollama)]);
        let (_, format) = apis.find(|(api, _)| value["api"] == *api).unwrap();
        Row { format, value }
    });
    let rows: Vec<_> = rows.filter(|row| row.status() < 400).collect();
    let calls: usize = rows.iter().map(|row| expected(row).len()).sum();
    assert!(calls > 800, "the data has few calls: {calls}");
    assert_none_wrong(rows, |row| async move {
        let mut replay = Replay::new(row).await;
        replay
            .calls()
            .await
            .map_err(|reason| format!("{}: {reason}", replay.place()))
    })
    .await;
}

/// Replays the rows in pieces of each of these sizes in bytes.
async fn assert_understood(rows: impl IntoIterator<Item = Row>, pieces: &'static [usize]) {
    assert_none_wrong(rows, |row| async move {
        let mut replay = Replay::new(row).await;
        for piece in pieces {
            replay
                .whole(*piece)
                .await
                .map_err(|reason| format!("{} in pieces of {piece}: {reason}", replay.place()))?;
        }
        Ok(())
    })
    .await;
}

/// Runs the jobs on all processors and fails with their errors.
async fn assert_none_wrong<T, F>(jobs: impl IntoIterator<Item = T>, job: impl Fn(T) -> F)
where
    F: Future<Output = Result<(), String>> + Send + 'static,
{
    let permits = Arc::new(tokio::sync::Semaphore::new(
        std::thread::available_parallelism().unwrap().get(),
    ));
    let tasks: Vec<_> = jobs
        .into_iter()
        .map(|input| {
            let (permits, job) = (permits.clone(), job(input));
            tokio::spawn(async move {
                let _permit = permits.acquire().await.unwrap();
                job.await
            })
        })
        .collect();
    let mut wrong = Vec::new();
    for task in tasks {
        wrong.extend(task.await.unwrap().err());
    }
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// A service that gives the reply of a row and then answers, and a session with the row's tools.
struct Replay {
    row: Row,
    service: Service,
    driver: Driver,
    session: Session,
    executed: Arc<Mutex<Calls>>,
    /// The requests of earlier sessions.
    earlier: usize,
}

impl Replay {
    async fn new(row: Row) -> Self {
        let service = Service::new([]).await;
        // Gemini's model is in the path.
        let path = row.value["path"]
            .as_str()
            .unwrap()
            .rsplit('/')
            .next()
            .unwrap();
        let model = row.value["request"]["model"]
            .as_str()
            .unwrap_or_else(|| path.split(':').next().unwrap());
        let mut once = retry_policy();
        once.max_retries = 0;
        let options = ProviderOptions {
            base_url: Some(service.url.clone()),
            retry_policy: Some(once),
            ..service.options(model, row.is_streamed())
        };
        let driver = Driver::new(Arc::new(wire::remote(row.format, &options)));
        let (session, executed) = session(&row.value);
        Self {
            row,
            service,
            driver,
            session,
            executed,
            earlier: 0,
        }
    }

    /// Begins a session whose model replies with this body.
    async fn begin(&mut self, body: &str, piece: usize) -> Result<(), DriverError> {
        let status = u16::try_from(self.row.status()).unwrap();
        let headers = format!(
            "content-type: {}\r\n",
            self.row.value["content_type"].as_str().unwrap()
        );
        let recorded = Reply::Answer {
            status,
            headers,
            body: body.to_owned(),
            piece,
        };
        let answer = || {
            wire::reply(
                self.row.format,
                self.row.is_streamed(),
                &[wire::Block::Text("ok")],
            )
        };
        self.service.serve([recorded, answer(), answer()]);
        (self.session, self.executed) = session(&self.row.value);
        self.earlier = self.service.requests();
        self.prompt("go").await
    }

    async fn prompt(&mut self, prompt: &str) -> Result<(), DriverError> {
        self.driver.run(&mut self.session, prompt).await.map(drop)
    }

    fn place(&self) -> String {
        format!("row {}", self.row.value["row"])
    }

    fn called(&self) -> Calls {
        let calls = self.session.messages().iter().flat_map(Message::calls);
        calls
            .map(|call| (call.name.clone(), call.arguments.value().clone()))
            .collect()
    }

    fn executed(&self) -> Calls {
        self.executed.lock().unwrap().clone()
    }

    /// Replays the row, and a second turn after it.
    async fn whole(&mut self, piece: usize) -> Result<(), String> {
        let text = self.row.text();
        let outcome = self.begin(&text, piece).await;
        if self.row.status() >= 400 {
            let expected = self.row.kind();
            return match outcome {
                Err(DriverError::Provider(ProviderError::Status { status, kind, .. }))
                    if u64::from(status) == self.row.status() && kind == expected =>
                {
                    Ok(())
                }
                other => Err(format!("{} {expected} became {other:?}", self.row.status())),
            };
        }
        outcome.map_err(|error| error.to_string())?;
        let (expected, called, executed) = (expected(&self.row), self.called(), self.executed());
        if called != expected || sorted(&executed) != sorted(&expected) {
            return Err(format!(
                "called {called:?}, executed {executed:?}, expected {expected:?}"
            ));
        }
        if expected.is_empty() {
            self.prompt("and now?")
                .await
                .map_err(|error| format!("second turn: {error}"))?;
        }
        let recorded = permitted(self.row.format, reply(self.row.format, &text));
        let again = sent(self.row.format, &self.service.body(self.earlier + 1));
        if again == recorded {
            return Ok(());
        }
        Err(format!(
            "sent back\n{}\nreceived\n{}",
            json!(again),
            json!(recorded)
        ))
    }

    /// Replays the row for its calls.
    async fn calls(&mut self) -> Result<(), String> {
        let text = self.row.text();
        let outcome = self.begin(&text, 97).await;
        let expected: Vec<_> = expected(&self.row)
            .into_iter()
            .map(|(name, arguments)| (name, as_read(arguments)))
            .collect();
        let (called, executed) = (self.called(), self.executed());
        // Arguments that were cut off are a text, and never run.
        let is_run = |call: &(String, Value)| call.1.is_object() && expected.contains(call);
        if called == expected && executed.iter().all(is_run) {
            return Ok(());
        }
        Err(format!(
            "called {called:?}, executed {executed:?}, expected {expected:?}, {outcome:?}"
        ))
    }

    /// Replays the row as if the model's output limit had ended it.
    async fn at_limit(&mut self) -> Result<(), String> {
        let text = self.row.text();
        let limited = match self.row.format {
            Format::OpenAiChat => text.replace(
                "\"finish_reason\":\"tool_calls\"",
                "\"finish_reason\":\"length\"",
            ),
            Format::Anthropic => text.replace(
                "\"stop_reason\":\"tool_use\"",
                "\"stop_reason\":\"max_tokens\"",
            ),
            Format::Gemini => text.replace(
                "\"finishReason\": \"STOP\"",
                "\"finishReason\": \"MAX_TOKENS\"",
            ),
            _ => incomplete(&text),
        };
        self.begin(&limited, 97)
            .await
            .map_err(|error| error.to_string())?;
        let results = self
            .session
            .messages()
            .iter()
            .filter(|message| message.role == Role::Tool);
        let results: Vec<_> = results
            .flat_map(|message| &message.parts)
            .map(result)
            .collect();
        let is_told = results.len() == expected(&self.row).len()
            && results.iter().all(|text| text.contains("cut off"));
        let executed = self.executed();
        if is_told && executed.is_empty() {
            Ok(())
        } else {
            Err(format!("executed {executed:?}: {results:?}"))
        }
    }

    /// Replays the row with a stream that breaks off before it gives the reason of its end.
    async fn cut(&mut self) -> Result<(), String> {
        let reason = match self.row.format {
            _ if !self.row.is_streamed() => return Ok(()),
            Format::OpenAiChat => "\"finish_reason\":\"",
            Format::Anthropic => "\"stop_reason\":\"",
            Format::Gemini => "\"finishReason\"",
            _ => "response.completed",
        };
        let text = self.row.text();
        let end = text.find(reason).unwrap();
        for part in 1..8 {
            let at = (0..=end * part / 8)
                .rfind(|at| text.is_char_boundary(*at))
                .unwrap();
            let outcome = self.begin(&text[..at], 7).await;
            let is_malformed =
                matches!(&outcome, Err(error) if error.kind() == Some(FailureKind::MalformedReply));
            let executed = self.executed();
            if !is_malformed || !executed.is_empty() {
                return Err(format!("at {at}: {outcome:?}, executed {executed:?}"));
            }
        }
        Ok(())
    }
}

impl Row {
    fn is_streamed(&self) -> bool {
        self.value["stream"] == true
    }

    fn status(&self) -> u64 {
        self.value["status"].as_u64().unwrap()
    }

    /// Whether most of the time would be spent on this reply if it came byte by byte.
    fn is_long(&self) -> bool {
        self.text().len() > 16 * 1024
    }

    /// The format, and whether the reply is a stream, an error, or has calls.
    fn sort(&self) -> (&'static str, bool, bool, bool) {
        (
            self.format.name(),
            self.is_streamed(),
            self.status() >= 400,
            !expected(self).is_empty(),
        )
    }

    fn text(&self) -> String {
        self.value["response"].as_str().unwrap().to_owned()
    }

    /// The kind of a recorded error.
    fn kind(&self) -> FailureKind {
        let row = self.value["row"].as_u64().unwrap();
        let known = KINDS.iter().find(|(_, rows)| rows.contains(&row));
        known.map_or(FailureKind::Authentication, |(kind, _)| *kind)
    }
}

/// Returns a reply of the Responses API as if its output had been limited.
fn incomplete(text: &str) -> String {
    let limited = |response: &mut Value| {
        response["status"] = "incomplete".into();
        response["incomplete_details"] = json!({"reason": "max_output_tokens"});
    };
    if let Ok(mut whole) = serde_json::from_str::<Value>(text) {
        limited(&mut whole);
        return whole.to_string();
    }
    let (events, last) = text.split_at(text.rfind("data:").unwrap());
    let mut last: Value = serde_json::from_str(last.strip_prefix("data:").unwrap()).unwrap();
    last["type"] = "response.incomplete".into();
    limited(&mut last["response"]);
    format!("{events}data: {last}\n\n")
}

fn expected(row: &Row) -> Calls {
    let calls = row.value["expected_tool_calls"]
        .as_array()
        .into_iter()
        .flatten();
    calls
        .map(|call| {
            (
                call["name"].as_str().unwrap().to_owned(),
                call["arguments"].clone(),
            )
        })
        .collect()
}

/// Returns arguments of the data as a call has them.
fn as_read(arguments: Value) -> Value {
    match arguments.get("__unparsed__") {
        Some(text) => text.clone(),
        None if arguments.is_null() => json!({}),
        None => arguments,
    }
}

fn sorted(calls: &Calls) -> Vec<String> {
    let mut texts: Vec<_> = calls.iter().map(|call| format!("{call:?}")).collect();
    texts.sort();
    texts
}

/// A session with the tools that the row names. Each records its calls.
fn session(row: &Value) -> (Session, Arc<Mutex<Calls>>) {
    let (mut catalog, executed) = (Catalog::new(), Arc::new(Mutex::new(Calls::new())));
    let offered = row["request"]["tools"].as_array().into_iter().flatten();
    let offered = offered.flat_map(|tool| match tool["functionDeclarations"].as_array() {
        Some(functions) => functions.iter().collect(),
        None => vec![tool.get("function").unwrap_or(tool)],
    });
    for tool in offered {
        let Some(name) = tool["name"].as_str().map(str::to_owned) else {
            continue;
        };
        let definition = Tool::new(&name, "A recorded tool.", json!({"type": "object"})).unwrap();
        let recorded = executed.clone();
        let handler = move |_: ToolContext, arguments: Value| {
            recorded.lock().unwrap().push((name.clone(), arguments));
            async { "done".to_owned() }
        };
        catalog
            .register(definition.with_effects(Effects::Pure), handler)
            .unwrap();
    }
    (
        Session::new(catalog.list(), Selection::new(), Host::new()),
        executed,
    )
}

fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    let mut counts = BTreeMap::new();
    for line in lines("llm_traffic_rubyllm.jsonl.gz") {
        let value: Value = serde_json::from_str(&line).unwrap();
        let Some((api, format, _)) = APIS.into_iter().find(|(api, ..)| value["api"] == *api) else {
            continue;
        };
        *counts.entry(api).or_insert(0) += 1;
        rows.push(Row { format, value });
    }
    assert_eq!(
        counts,
        APIS.into_iter()
            .map(|(api, _, count)| (api, count))
            .collect()
    );
    rows
}

/// Returns the lines of a compressed file in the data folder.
fn lines(file: &str) -> Vec<String> {
    let folder = PathBuf::from(
        std::env::var_os("TOOLCRIB_DATA").expect("TOOLCRIB_DATA names the data folder"),
    );
    let file = std::fs::File::open(folder.join(file)).unwrap();
    let mut text = String::new();
    flate2::read::GzDecoder::new(file)
        .read_to_string(&mut text)
        .unwrap();
    text.lines().map(str::to_owned).collect()
}
