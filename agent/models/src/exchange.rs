//! Sends a request, and reads the reply, whole or as a stream.

use std::future::Future;
use std::time::Duration;

use agent::{FailureKind, Request, TextSink, Turn, WireToolSet};
use bytes::Bytes;
use reqwest::Response;
use reqwest::header::CONTENT_TYPE;
use tokio::time;

use crate::api::Api;
use crate::broken::Broken;
use crate::documents::{DONE, documents};
use crate::lines::Lines;
use crate::model::Model;
use crate::raw::{Fields, Raw};
use crate::retry::Failure;
use crate::split_characters::{SplitCharacters, escape_line};
use crate::turn::{ReadReply, TurnBuilder};
use crate::{anthropic, chat, gemini, ollama, responses};

/// The most bytes of a reply.
const MAX_REPLY: usize = 256 << 20;

/// The most bytes of an error that are read.
const MAX_ERROR: usize = 1 << 20;

/// The longest wait for the end of a stream whose turn is complete. A connection that has ended its response serves the next request.
const LEFTOVER: Duration = Duration::from_millis(100);

const EVENT_STREAM: &str = "text/event-stream";

/// A reply that is being read.
struct Reply<'s> {
    reader: Box<dyn ReadReply>,
    turn: TurnBuilder<'s>,
    characters: SplitCharacters,
    /// True if a document was read.
    has_begun: bool,
}

impl Model {
    /// Makes one attempt at a turn.
    pub(crate) async fn turn(
        &self,
        request: &Request<'_>,
        tools: &WireToolSet,
        streaming: bool,
        text_sink: Option<TextSink<'_>>,
    ) -> Result<Turn, Failure> {
        self.check_context(request, tools).await?;
        let body = self.body(request, tools, streaming)?;
        let provider = self.profile.api.name();
        let mut reply = Reply {
            reader: self.reader(),
            turn: TurnBuilder::new(text_sink),
            characters: SplitCharacters::default(),
            has_begun: false,
        };
        let mut outcome = self.exchange(body, streaming, &mut reply).await;
        if streaming && outcome.as_ref().is_err_and(Broken::refuses_stream) {
            let body = self.body(request, tools, false)?;
            outcome = self.exchange(body, false, &mut reply).await;
        }
        let is_lost = outcome
            .as_ref()
            .is_err_and(|broken| reply.has_begun || broken.is_cut());
        let turn = outcome
            .map_err(|broken: Broken| self.key.explain(broken.failure(provider, &self.key.secret)))
            .and_then(|()| reply.turn.build(provider, &self.origin, tools));
        if let Err(Failure { error, .. }) = &turn
            && error.kind() == Some(FailureKind::ContextLength)
        {
            self.learn_context(error, request, tools).await;
        }
        // The service counts the tokens of such a reply, so the driver counts an estimate of them.
        if is_lost || turn.as_ref().is_err_and(Failure::is_unreadable_turn) {
            request.lost_reply_sink.iter().for_each(|sink| sink());
        }
        turn
    }

    fn reader(&self) -> Box<dyn ReadReply> {
        match self.profile.api {
            Api::OpenAi => Box::<chat::events::Events>::default(),
            Api::OpenAiResponses => Box::<responses::events::Events>::default(),
            Api::Anthropic => Box::<anthropic::events::Events>::default(),
            Api::Gemini => Box::<gemini::events::Events>::default(),
            Api::Ollama => Box::<ollama::events::Events>::default(),
        }
    }

    /// Sends a request, and reads the reply.
    ///
    /// # Errors
    /// Returns the reason if the reply has no turn, or not all of it.
    async fn exchange(
        &self,
        body: Vec<u8>,
        streaming: bool,
        reply: &mut Reply<'_>,
    ) -> Result<(), Broken> {
        let url = self.endpoint.url(&self.profile.name, streaming);
        let request = self.client.post(url).headers(self.headers.clone());
        let request = request.header(CONTENT_TYPE, "application/json").body(body);
        let first_byte = self.timeouts.first_byte;
        let response = within(first_byte, "the first byte", true, request.send()).await?;
        // A service may send the head of a whole reply before the model answers.
        let limit = if streaming {
            self.timeouts.idle
        } else {
            // Without a stream, the wait of the model lies between the head and the body.
            first_byte.max(self.timeouts.idle)
        };
        let status = response.status();
        let headers = response.headers().clone();
        let arriving = Arriving { response, limit };
        if !status.is_success() {
            // A gateway may answer with a page of any length, and only the beginning is shown.
            let body = arriving.read(MAX_ERROR).await?;
            let body = String::from_utf8_lossy(&body).into_owned();
            return Err(Broken::Status {
                status,
                headers,
                body,
            });
        }
        let kind = headers.get(CONTENT_TYPE);
        let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let essence = kind.split(';').next().unwrap_or_default().trim();
        // Types are without case (RFC 9110, section 8.3.1).
        let essence = essence.to_ascii_lowercase();
        let is_stream = match essence.as_str() {
            EVENT_STREAM => true,
            "application/x-ndjson" | "application/ndjson" => self.profile.api == Api::Ollama,
            _ => false,
        };
        if is_stream {
            self.read_stream(arriving, reply).await?;
        } else {
            let body = arriving.read(MAX_REPLY).await?;
            if body.len() >= MAX_REPLY {
                return Err(Broken::TooLong(MAX_REPLY));
            }
            self.read_body(&body, reply)
                .ok_or_else(|| Broken::ContentType(kind.to_owned()))??;
        }
        for document in reply.characters.read(None).into_iter().flatten() {
            reply.read_whole(&document)?;
        }
        reply.reader.finish(&mut reply.turn);
        if reply.turn.has_ended {
            Ok(())
        } else {
            Err(Broken::Truncated)
        }
    }

    async fn read_stream(
        &self,
        mut arriving: Arriving,
        reply: &mut Reply<'_>,
    ) -> Result<(), Broken> {
        let mut lines = Lines::new(self.profile.api == Api::Ollama);
        let mut read = 0;
        while let Some(piece) = arriving.next().await? {
            read += piece.len();
            // An endless reply would fill the memory: no timeout ends a stream that goes on.
            if read.max(lines.held_bytes()) > MAX_REPLY {
                return Err(Broken::TooLong(MAX_REPLY));
            }
            lines.read(&piece, &mut |document| reply.read(document))?;
            if reply.turn.is_over {
                let leftover = async { while let Ok(Some(_)) = arriving.response.chunk().await {} };
                let _ = time::timeout(LEFTOVER, leftover).await;
                return Ok(());
            }
        }
        lines.finish(&mut |document| reply.read(document))
    }

    /// Reads a whole reply or a stream, whatever its type says. Returns `None` if it is neither.
    fn read_body(&self, body: &[u8], reply: &mut Reply<'_>) -> Option<Result<(), Broken>> {
        let text = escape_line(body);
        let start = text.trim_start_matches('\u{feff}').trim_start();
        let mut fields = ["data:", "event:", "id:", ":"].iter();
        let is_stream = fields.any(|field| start.starts_with(field));
        let is_json = start.is_empty() || start.starts_with(['{', '[']);
        let mut read = |document: &str| reply.read(document);
        if is_stream {
            let mut lines = Lines::new(self.profile.api == Api::Ollama);
            let outcome = lines.read(body, &mut read);
            return Some(outcome.and_then(|()| lines.finish(&mut read)));
        }
        match documents(start) {
            // Other text may surround the reply.
            Ok(mut found) if is_json || !found.is_empty() => {
                // Some gateways repeat the reply.
                let first = found.first().copied().unwrap_or_default();
                if found.iter().all(|other| [first, DONE].contains(other)) {
                    found.dedup();
                }
                Some(found.into_iter().try_for_each(read))
            }
            Err(none) if is_json => Some(Err(none.into())),
            _ => None,
        }
    }
}

/// The body of a response, with the limit of the wait for each piece.
struct Arriving {
    response: Response,
    limit: Duration,
}

impl Arriving {
    async fn next(&mut self) -> Result<Option<Bytes>, Broken> {
        let piece = self.response.chunk();
        within(self.limit, "the next piece of the response", false, piece).await
    }

    /// Returns the first bytes.
    async fn read(mut self, most: usize) -> Result<Vec<u8>, Broken> {
        let mut body = Vec::new();
        while let Some(piece) = self.next().await? {
            body.extend_from_slice(&piece);
            if body.len() >= most {
                body.truncate(most);
                break;
            }
        }
        Ok(body)
    }
}

/// Limits the wait for a part of a reply.
async fn within<T>(
    limit: Duration,
    awaited: &'static str,
    is_before_reply: bool,
    part: impl Future<Output = reqwest::Result<T>>,
) -> Result<T, Broken> {
    match time::timeout(limit, part).await {
        Ok(outcome) => outcome.map_err(Broken::Transport),
        Err(_) => Err(Broken::TimedOut {
            awaited,
            limit,
            is_before_reply,
        }),
    }
}

impl Reply<'_> {
    fn read(&mut self, document: &str) -> Result<(), Broken> {
        let mut documents = self.characters.read(Some(document)).into_iter().flatten();
        documents.try_for_each(|document| self.read_whole(&document))
    }

    /// Reads a document whose characters are whole, or several.
    fn read_whole(&mut self, document: &str) -> Result<(), Broken> {
        // A service may say more after the end of the turn.
        if self.turn.is_over {
            return Ok(());
        }
        if document == DONE {
            self.reader.read_mark(&mut self.turn);
            return Ok(());
        }
        let Ok(fields) = serde_json::from_str::<Fields<'_>>(document) else {
            return match documents(document)?.as_slice() {
                several @ [_, _, ..] => several.iter().try_for_each(|one| self.read_whole(one)),
                _ => Err(Broken::garbled(document)),
            };
        };
        if is_error(&fields) {
            return Err(Broken::Reported(document.to_owned()));
        }
        self.reader.read(fields, &mut self.turn)?;
        self.has_begun = true;
        Ok(())
    }
}

/// The members that say in a reply without choices that it is an error.
const WORDS: [&str; 3] = ["message", "detail", "msg"];

/// Returns true if the document is an error, in the form of any API. OpenRouter's has choices.
fn is_error(document: &Fields<'_>) -> bool {
    is_named(document.get("error"))
        || is_of_choice(document)
        || document.get("object").json() == "\"error\""
        || is_worded(document) && document.first(&["choices", "type", "candidates"]).is_null()
}

/// A member of this name may be `null`, empty or `{}` in a good reply.
fn is_named(error: Raw<'_>) -> bool {
    (error.is_object() && !error.is_empty()) || error.words().is_some()
}

fn is_of_choice(document: &Fields<'_>) -> bool {
    let choices = document.get("choices");
    // The search in the text is cheap, and most documents end with it.
    choices.json().contains("\"error\"")
        && choices
            .elements()
            .first()
            .is_some_and(|choice| is_named(choice.get("error")))
}

fn is_worded(document: &Fields<'_>) -> bool {
    WORDS.iter().any(|word| {
        let words = document.get(word);
        words.is_string() || words.json().starts_with('[')
    })
}
