//! Prepares the stream of a reply for rig: its type, its errors, its calls and its end.

use std::borrow::Cow;
use std::future::ready;

use bytes::Bytes;
use futures_util::{StreamExt, TryStreamExt, stream};
use rig_core::http_client::{BoxedStream, Error, Result, StreamingResponse};
use rig_reqwest::reqwest::header::{CONTENT_TYPE, HeaderValue};

use super::call_fragments::CallFragments;
use super::documents::{DONE, documents, in_one_line};
use super::message_blocks::MessageBlocks;
use super::payload::{WrongContentType, WrongPayload, checked};
use super::split_characters::{SplitCharacters, escaped};
use super::stated_texts::StatedTexts;
use super::{Api, chat_reply};

const EVENT_STREAM: &str = "text/event-stream";

/// The end of a stream of Anthropic, for a service that marks it as others do.
const MESSAGE_STOP: &str = "{\"type\":\"message_stop\"}";

/// The content types of JSON, and those that say nothing.
const UNCLEAR: [&str; 6] = [
    "application/json",
    "application/octet-stream",
    "application/x-ndjson",
    "application/ndjson",
    "text/plain",
    "",
];

/// Returns a stream of checked events, or with Ollama of lines. The documents of a reply with another content type become such events.
///
/// # Errors
/// - Returns [`WrongContentType`] if the reply is neither a stream nor JSON.
/// - Returns [`WrongPayload`] if the reply or one of its events is an error, or no JSON.
pub(super) async fn events(api: Api, mut response: StreamingResponse) -> Result<StreamingResponse> {
    let kind = response
        .headers()
        .get(CONTENT_TYPE)
        .and_then(|kind| kind.to_str().ok())
        .unwrap_or_default()
        .to_owned();
    let essence = kind
        .split(';')
        .next()
        .unwrap_or_default()
        .trim()
        .to_ascii_lowercase();
    match (api, essence.as_str()) {
        (Api::Ollama, "application/x-ndjson" | "application/ndjson") | (_, EVENT_STREAM) => {
            return Ok(response.map(|body| checked_stream(api, body)));
        }
        (_, other) if UNCLEAR.contains(&other) || other.ends_with("+json") => {}
        _ => return Err(Error::instance(WrongContentType(kind))),
    }
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static(EVENT_STREAM));
    let (parts, body) = response.into_parts();
    let pieces: Vec<Bytes> = body.try_collect().await?;
    let whole = pieces.concat();
    let start = escaped(&whole);
    let start = start.trim_start_matches('\u{feff}').trim_start();
    let is_stream = ["data:", "event:", "id:", ":"]
        .iter()
        .any(|field| start.starts_with(field));
    let body = if is_stream {
        checked_stream(api, Box::pin(stream::iter([Ok(whole.into())])))
    } else if start.is_empty() || start.starts_with(['{', '[']) {
        let mut lines = Lines::new(api);
        let events = lines.read_last(start).map_err(Error::instance)?;
        Box::pin(stream::iter([Ok(Bytes::from(events))]))
    } else {
        return Err(Error::instance(WrongContentType(kind)));
    };
    Ok(StreamingResponse::from_parts(parts, body))
}

/// Returns the body of a stream in whole events, or with Ollama in whole lines.
fn checked_stream(api: Api, body: BoxedStream) -> BoxedStream {
    let mut lines = Lines::new(api);
    // The last item marks the end, at which a last line may lack its line break.
    let pieces = body.map_ok(Some).chain(stream::iter([Ok(None)]));
    let lines = pieces.and_then(move |piece| ready(lines.read(piece).map_err(Error::instance)));
    Box::pin(lines.try_filter(|lines| ready(!lines.is_empty())))
}

/// The state of a stream that is read in lines.
struct Lines {
    api: Api,
    characters: SplitCharacters,
    blocks: MessageBlocks,
    calls: CallFragments,
    stated: StatedTexts,
    /// The incomplete last line.
    rest: Vec<u8>,
    /// The data of the incomplete last event, which may span lines.
    data: String,
    /// True if the incomplete last event has the name of an error.
    is_error: bool,
}

impl Lines {
    fn new(api: Api) -> Self {
        Self {
            api,
            characters: SplitCharacters::default(),
            blocks: MessageBlocks::default(),
            calls: CallFragments::default(),
            stated: StatedTexts::default(),
            rest: Vec::new(),
            data: String::new(),
            is_error: false,
        }
    }

    /// Returns the lines that end in this piece, or at the end of the stream.
    fn read(&mut self, piece: Option<Bytes>) -> std::result::Result<Bytes, WrongPayload> {
        let mut complete = Vec::new();
        let Some(piece) = piece else {
            let line = std::mem::take(&mut self.rest);
            self.write_line(&line, &mut complete)?;
            self.write_event(&mut complete)?;
            complete.extend(self.read_last("")?);
            return Ok(complete.into());
        };
        for part in piece.split_inclusive(|byte| *byte == b'\n') {
            self.rest.extend_from_slice(part);
            if part.ends_with(b"\n") {
                let line = std::mem::take(&mut self.rest);
                self.write_line(&line, &mut complete)?;
            }
        }
        Ok(complete.into())
    }

    /// Adds a line to `complete`, or to the data of its event.
    fn write_line(
        &mut self,
        line: &[u8],
        complete: &mut Vec<u8>,
    ) -> std::result::Result<(), WrongPayload> {
        let text = escaped(line);
        let text = text.trim_start_matches('\u{feff}');
        // GPUStack reports an error of a stream in a field of this name, which is not of the standard.
        if let Some(error) = text.strip_prefix("error:") {
            return Err(WrongPayload::Error(error.trim().to_owned()));
        }
        // A line that is a document is one of a stream without the names of fields.
        if self.api == Api::Ollama || text.starts_with('{') {
            complete.extend(self.read_documents(text)?);
        } else if let Some(data) = text.strip_prefix("data:") {
            self.data.push_str(data);
        } else if text.trim().is_empty() {
            self.write_event(complete)?;
        } else if let Some(name) = text.strip_prefix("event:") {
            self.is_error = name.trim() == "error";
        }
        Ok(())
    }

    /// Adds the data of an event to `complete`.
    fn write_event(&mut self, complete: &mut Vec<u8>) -> std::result::Result<(), WrongPayload> {
        let data = std::mem::take(&mut self.data);
        if std::mem::take(&mut self.is_error) && !data.trim().is_empty() {
            return Err(WrongPayload::Error(data.trim().to_owned()));
        }
        complete.extend(self.read_documents(&data)?);
        Ok(())
    }

    /// Returns the documents in a text as events, or with Ollama as lines.
    fn read_documents(&mut self, text: &str) -> std::result::Result<Vec<u8>, WrongPayload> {
        let mut events = String::new();
        for document in documents(text)? {
            for document in self.characters.read(Some(document)) {
                self.write_document(&document, &mut events)?;
            }
        }
        Ok(events.into_bytes())
    }

    /// Returns the last documents of the stream.
    fn read_last(&mut self, text: &str) -> std::result::Result<Vec<u8>, WrongPayload> {
        let mut events = self.read_documents(text)?;
        let mut last = String::new();
        for document in self.characters.read(None) {
            self.write_document(&document, &mut last)?;
        }
        events.extend(last.into_bytes());
        Ok(events)
    }

    fn write_document(
        &mut self,
        document: &str,
        events: &mut String,
    ) -> std::result::Result<(), WrongPayload> {
        let document = match self.api {
            _ if document != DONE => document,
            Api::OpenAi | Api::OpenAiResponses => DONE,
            Api::Anthropic => MESSAGE_STOP,
            Api::Gemini | Api::Ollama => return Ok(()),
        };
        for document in self.corrected(document) {
            let checked = checked(self.api, &document)?;
            *events += &match self.api {
                Api::Ollama => format!("{}\n", in_one_line(&checked)),
                _ => format!("data:{}\n\n", in_one_line(&checked)),
            };
        }
        Ok(())
    }

    /// Returns a document, or those in its place, with what belongs together at one place.
    fn corrected<'a>(&mut self, document: &'a str) -> Vec<Cow<'a, str>> {
        match self.api {
            Api::Anthropic => self.blocks.read(document),
            Api::OpenAi => {
                let document = match chat_reply::read(document) {
                    Cow::Borrowed(document) => self.calls.placed(document),
                    Cow::Owned(document) => self.calls.placed(&document).into_owned().into(),
                };
                vec![document]
            }
            Api::OpenAiResponses => vec![
                self.stated
                    .corrected(document)
                    .map_or(document.into(), Cow::from),
            ],
            Api::Gemini | Api::Ollama => vec![document.into()],
        }
    }
}
