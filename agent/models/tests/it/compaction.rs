//! Conversations that are longer than the model's context, over each format.

use std::sync::{Arc, Mutex};

use agent::{
    CompactionCause, Driver, Event, EventSink, GenerationOptions, ProviderOptions, RunOptions,
    Selection, Session, Summary, SystemText, ToolChoice,
};
use serde_json::{Value, json};
use tools::protocol::wire::Format;
use tools::protocol::{Message, Part, Role};
use tools::{Catalog, Content, Effects, Host, Tool, ToolContext};

use crate::service::read_results::read_results;
use crate::service::wire::{ALL, Block, options, remote, reply};
use crate::service::{Reply, Service, json as whole, sent};
use crate::workshop::{answer, session};

const TURNS: u64 = 40;

/// The tokens of the context, of which Anthropic counts the output limit.
const CONTEXT: u64 = 12_000;

const OUTPUT_LIMIT: u32 = 4000;

/// The bytes that the service counts as a token.
const BYTES_PER_TOKEN: u64 = 3;

/// The tokens of the image.
const IMAGE_TOKENS: u64 = 2000;

const IMAGE: &str = "iVBORw0KGgo=";

const IDENTITY: &str = "You read files.";

/// A service with a small context, whose model makes two calls of `read` in each turn and then answers.
#[derive(Clone)]
struct SmallContext {
    format: Format,
    /// The dialect of chat completions.
    dialect: Option<&'static str>,
    streaming: bool,
    log: Arc<Mutex<Log>>,
}

#[derive(Debug, Default)]
struct Log {
    refused: usize,
    summaries: usize,
    texts: String,
    causes: Vec<CompactionCause>,
}

impl SmallContext {
    /// The services of each format, and Mistral, which takes fewer orders of messages.
    fn all(streaming: bool) -> Vec<Self> {
        let formats = ALL
            .map(|format| (format, None))
            .into_iter()
            .chain([(Format::OpenAiChat, Some("mistral"))]);
        formats
            .map(|(format, dialect)| Self {
                format,
                dialect,
                streaming,
                log: Arc::default(),
            })
            .collect()
    }

    fn reply(&self, body: &Value) -> Reply {
        let mut log = self.log.lock().unwrap();
        let input = body.to_string().len() as u64 / BYTES_PER_TOKEN + IMAGE_TOKENS;
        if let Some(refusal) = self.refusal(input, body) {
            log.refused += 1;
            return refusal;
        }
        let blocks = if is_summary(self.format, body) {
            log.summaries += 1;
            vec![Block::Text("Summary: all is read so far.")]
        } else {
            match last_number(self.format, body) + 1 {
                next if next > TURNS => vec![Block::Text("all read")],
                next => ["a", "b"].map(|end| call(next, end)).to_vec(),
            }
        };
        with_usage(reply(self.format, self.streaming, &blocks), input).in_pieces(997)
    }

    /// Returns the error of the service if the request is longer than the context.
    fn refusal(&self, input: u64, body: &Value) -> Option<Reply> {
        let counted = if self.format == Format::Anthropic {
            body["max_tokens"].as_u64().unwrap()
        } else {
            0
        };
        let invalid = |message: String| json!({"message": message, "type": "invalid_request_error", "param": null});
        let error = match (self.format, self.dialect) {
            (_, Some(_)) => {
                json!({"object": "error", "message": format!("Prompt contains {input} tokens and 0 draft tokens, too large \
                for model with {CONTEXT} maximum context length"), "type": "invalid_request_invalid_args", "code": "3051"})
            }
            (Format::OpenAiChat, _) => {
                json!({"error": invalid(format!("This model's maximum context length is {CONTEXT} tokens. \
                However, you requested {input} tokens."))})
            }
            (Format::OpenAiResponses, _) => {
                json!({"error": {"message": "Your input exceeds the context window of this model. Please \
                adjust your input and try again.", "type": "invalid_request_error", "param": "input", "code": "context_length_exceeded"}})
            }
            (Format::Anthropic, _) => {
                json!({"type": "error", "error": invalid(format!("input length and `max_tokens` exceed context \
                limit: {input} + {counted} > {CONTEXT}, decrease input length or `max_tokens` and try again"))})
            }
            (Format::Gemini, _) => {
                json!({"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": format!("The input token count \
                ({input}) exceeds the maximum number of tokens allowed ({CONTEXT}).")}})
            }
            _ => {
                json!({"error": format!("prompt too long; exceeded max context length by {} tokens", input.saturating_sub(CONTEXT))})
            }
        };
        (input + counted > CONTEXT).then(|| whole(400, error))
    }

    /// Runs a session whose first message has an image.
    async fn run(&self, run_options: RunOptions) -> (Summary, Session, Service) {
        let model = self.clone();
        let service = Service::answering(move |body| model.reply(body)).await;
        let mut generation = GenerationOptions {
            max_output_tokens: Some(OUTPUT_LIMIT),
            ..GenerationOptions::new()
        };
        if self.format != Format::Ollama {
            generation.tool_choice = Some(ToolChoice::Required);
        }
        let options = ProviderOptions {
            generation,
            ..options(self.format, &service, self.streaming)
        };
        let options = self
            .dialect
            .into_iter()
            .fold(options, |options, name| ProviderOptions {
                dialect: Some(name.into()),
                ..options
            });
        let image = Content::Image {
            data: IMAGE.to_owned(),
            mime_type: "image/png".to_owned(),
        };
        let parts = vec![
            Part::Content(Content::text("This is how a file looks.")),
            Part::Content(image),
        ];
        let earlier = vec![
            Message {
                role: Role::User,
                parts,
            },
            Message::text(Role::Assistant, "I see."),
        ];
        let mut session = Session::new(catalog().list(), Selection::new(), Host::new())
            .with_system(SystemText::new().with_section("identity", IDENTITY))
            .with_messages(earlier);
        let driver = Driver::new(Arc::new(remote(self.format, &options))).with_options(run_options);
        let driver = driver.with_max_steps(300).with_events(self.clone());
        let summary = driver.run(&mut session, "Read the files.").await;
        (
            summary.unwrap_or_else(|error| panic!("{self:?}: {error:?}")),
            session,
            service,
        )
    }

    /// Checks a run that compacted its conversation for this cause.
    fn check(
        &self,
        (summary, session, service): (Summary, Session, Service),
        cause: CompactionCause,
    ) {
        let log = self.log.lock().unwrap();
        assert_eq!(
            (answer(&summary).0, u64::from(summary.calls)),
            ("all read", 2 * TURNS),
            "{self:?}"
        );
        // A refusal can name the size of the context, near whose limit the conversation is compacted from then on.
        let is_later =
            |found: &CompactionCause| *found == cause || *found == CompactionCause::NearLimit;
        let is_first = log.causes.first() == Some(&cause);
        assert!(
            log.summaries > 0 && is_first && log.causes.iter().all(is_later),
            "{self:?}: {log:?}"
        );
        assert_eq!(
            log.texts, "all read",
            "{self:?}: a summary is no text of the answer"
        );
        let results = session.messages().iter().flat_map(|message| &message.parts);
        let results = results
            .filter(|part| matches!(part, Part::ToolResult { .. }))
            .count();
        assert_eq!(results as u64, 2 * TURNS, "{self:?}");

        let bodies: Vec<_> = (0..service.requests())
            .map(|index| service.body(index))
            .collect();
        for body in &bodies {
            assert!(
                body.to_string().contains(IDENTITY) && body.to_string().contains(IMAGE),
                "{self:?}: {body:#}"
            );
            self.check_order(body);
        }
        let is_forced = |body: &Value| {
            let choice = [&body["tool_choice"], &body["toolConfig"]]
                .into_iter()
                .find(|choice| !choice.is_null());
            choice.is_some_and(|choice| choice["type"] != "auto")
        };
        assert_eq!(
            is_forced(&bodies[0]),
            self.format != Format::Ollama,
            "{self:?}"
        );
        let mut summaries = bodies.iter().filter(|body| is_summary(self.format, body));
        let forced = summaries.find(|body| is_forced(body));
        assert!(forced.is_none(), "{self:?}: {forced:#?}");
    }

    /// Checks that results follow their calls, and that the format takes the messages in this order.
    #[track_caller]
    fn check_order(&self, body: &Value) {
        let mut awaited = Vec::new();
        let messages = sent::messages(self.format, body);
        for message in &messages {
            let (calls, results) = (
                self.format.read_calls(message),
                read_results(self.format, message),
            );
            for result in &results {
                assert!(
                    !awaited.is_empty(),
                    "{self:?}: a result without a call: {body:#}"
                );
                let id: String = awaited.remove(0);
                assert!(
                    result.id == id || result.id.is_empty(),
                    "{self:?}: {body:#}"
                );
            }
            // The Responses API has an item for each call.
            let is_next = self.format == Format::OpenAiResponses && !calls.is_empty();
            assert!(
                awaited.is_empty() || is_next || !results.is_empty(),
                "{self:?}: a call without a result: {body:#}"
            );
            awaited.extend(calls.into_iter().map(|call| call.unwrap().call.id));
        }
        assert!(
            awaited.is_empty(),
            "{self:?}: calls without results: {body:#}"
        );
        let roles = messages.iter().map(|message| {
            message["role"]
                .as_str()
                .or(message["type"].as_str())
                .unwrap()
        });
        let roles: Vec<_> = roles.skip_while(|role| *role == "system").collect();
        assert_eq!(roles[0], "user", "{self:?}: {body:#}");
        for pair in roles.windows(2) {
            let is_taken = match (self.format, pair) {
                (Format::Anthropic, [first, second]) => first != second,
                // Calls come after a user's turn or after results.
                (Format::Gemini, [first, second]) => *first == "user" || *second == "user",
                (Format::OpenAiResponses, ["reasoning", second]) => {
                    ["assistant", "function_call"].contains(second)
                }
                (_, ["tool", "user"]) => self.dialect.is_none(),
                _ => true,
            };
            assert!(is_taken, "{self:?}: {pair:?} {body:#}");
        }
    }
}

impl std::fmt::Debug for SmallContext {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} {:?} streaming: {}",
            self.format, self.dialect, self.streaming
        )
    }
}

impl EventSink for SmallContext {
    fn send(&self, event: Event) {
        let mut log = self.log.lock().unwrap();
        match event {
            Event::Text { text } => log.texts.push_str(&text),
            Event::Compacted(compacted) => log.causes.push(compacted.cause),
            _ => {}
        }
    }
}

fn call(number: u64, end: &str) -> Block {
    Block::Call(
        format!("c{number}{end}").leak(),
        "read",
        json!({"number": number, "file": end}),
    )
}

/// Returns true if the last message asks for a summary.
fn is_summary(format: Format, body: &Value) -> bool {
    sent::messages(format, body)
        .last()
        .unwrap()
        .to_string()
        .contains("summar")
}

/// Returns the number of the last turn with calls.
fn last_number(format: Format, body: &Value) -> u64 {
    sent::calls(format, body)
        .last()
        .map_or(0, |call| call.arguments.value()["number"].as_u64().unwrap())
}

/// Returns the reply with this number of tokens in the request, of which most were in the cache.
pub(crate) fn with_usage(mut reply: Reply, input: u64) -> Reply {
    let Reply::Answer { body, .. } = &mut reply else {
        unreachable!()
    };
    for field in [
        "prompt_tokens",
        "input_tokens",
        "promptTokenCount",
        "prompt_eval_count",
    ] {
        *body = body.replace(&format!("\"{field}\":70"), &format!("\"{field}\":{input}"));
    }
    for field in [
        "cached_tokens",
        "cache_read_input_tokens",
        "cachedContentTokenCount",
        "prompt_eval_cached_count",
    ] {
        *body = body.replace(
            &format!("\"{field}\":64"),
            &format!("\"{field}\":{}", input - 6),
        );
    }
    reply
}

fn catalog() -> Catalog {
    let mut catalog = Catalog::new();
    let read = Tool::new("read", "Reads a file.", json!({"type": "object"}))
        .unwrap()
        .with_effects(Effects::Pure);
    let handler = |_: ToolContext, arguments: Value| async move {
        format!("line of {arguments}\n").repeat(25)
    };
    catalog.register(read, handler).unwrap();
    catalog
}

#[tokio::test]
async fn a_session_compacts_after_each_service_refused_it_in_its_own_words() {
    for model in SmallContext::all(true) {
        let ended = model.run(RunOptions::default()).await;
        model.check(ended, CompactionCause::ContextLength);
        assert!(model.log.lock().unwrap().refused > 0, "{model:?}");
    }
}

#[tokio::test]
async fn a_session_with_a_known_context_compacts_before_each_service_refuses_it() {
    for model in SmallContext::all(false) {
        let ended = model
            .run(RunOptions {
                context_tokens: Some(CONTEXT),
                ..RunOptions::default()
            })
            .await;
        model.check(ended, CompactionCause::NearLimit);
        assert_eq!(model.log.lock().unwrap().refused, 0, "{model:?}");
    }
}

#[tokio::test]
async fn a_conversation_that_fits_the_context_of_anthropic_without_its_output_limit_is_compacted_first()
 {
    let format = Format::Anthropic;
    let is_too_long = |input: usize, output: u64| input as u64 / 4 + output > 200_000;
    let service = Service::answering(move |body| {
        let (input, output) = (body.to_string().len(), body["max_tokens"].as_u64().unwrap());
        if !is_too_long(input, output) {
            return reply(format, false, &[Block::Text("done")]);
        }
        let message = format!("input length and `max_tokens` exceed context limit: {input} + {output} > 200000");
        whole(400, json!({"type": "error", "error": {"type": "invalid_request_error", "message": message}}))
    })
    .await;
    let said = |number: usize| {
        Message::text(
            [Role::User, Role::Assistant][number % 2],
            "words ".repeat(2350),
        )
    };
    let messages: Vec<_> = (0..40).map(said).collect();
    let bytes = messages.iter().map(|message| message.to_text().len()).sum();
    assert!(is_too_long(bytes, 64_000) && !is_too_long(bytes, 0));
    let mut session = session(&[]).with_messages(messages);
    let driver = Driver::new(Arc::new(remote(format, &options(format, &service, false))));
    let summary = driver.run(&mut session, "go").await.unwrap();
    assert_eq!(answer(&summary).0, "done");
    assert_eq!(service.requests(), 2, "the summary and the answer");
}
