//! Prepares the stream of a reply for rig: its type, its errors, its calls and its end.

use std::future::ready;

use bytes::Bytes;
use futures_util::{StreamExt, TryStreamExt, stream};
use rig_core::http_client::{BoxedStream, Error, Result, StreamingResponse};
use rig_reqwest::reqwest::header::{CONTENT_TYPE, HeaderValue};
use serde::de::IgnoredAny;

use super::Api;
use super::call_fragments::CallFragments;
use super::message_end::MessageEnd;
use super::payload::{ReportedError, WrongContentType, checked};

const EVENT_STREAM: &str = "text/event-stream";

/// Returns a stream of checked events, or with Ollama of lines. A whole JSON reply becomes one of them.
///
/// # Errors
/// - Returns [`WrongContentType`] if the reply is neither a stream nor JSON.
/// - Returns [`ReportedError`] if the reply or one of its events is an error.
pub(super) async fn events(api: Api, mut response: StreamingResponse) -> Result<StreamingResponse> {
    let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default().to_owned();
    let essence = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match (api, essence.as_str()) {
        (Api::Ollama, "application/x-ndjson" | "application/ndjson") => {
            return Ok(response.map(|body| checked_stream(api, body)));
        }
        (Api::Ollama, EVENT_STREAM) => return Err(Error::instance(WrongContentType(kind))),
        (_, EVENT_STREAM) => return Ok(response.map(|body| checked_stream(api, body))),
        (_, json) if json == "application/json" || json.ends_with("+json") => {}
        _ => return Err(Error::instance(WrongContentType(kind))),
    }
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(EVENT_STREAM));
    let (parts, body) = response.into_parts();
    let pieces: Vec<Bytes> = body.try_collect().await?;
    let whole = pieces.concat();
    let one = |piece: Bytes| -> BoxedStream { Box::pin(stream::iter([Ok(piece)])) };
    let body = match api {
        Api::Ollama => checked_stream(api, one(in_one_line(whole).into())),
        _ => one(event_of(api, &whole).map_err(Error::instance)?),
    };
    Ok(StreamingResponse::from_parts(parts, body))
}

/// Returns a body as one event.
fn event_of(api: Api, body: &[u8]) -> std::result::Result<Bytes, ReportedError> {
    let text = String::from_utf8_lossy(body);
    Ok((in_lines(&checked(api, &text)?) + "\n").into())
}

/// Returns a JSON document in one line. A body of several documents, one a line, is unchanged.
fn in_one_line(mut body: Vec<u8>) -> Vec<u8> {
    if serde_json::from_slice::<IgnoredAny>(&body).is_ok() {
        // The strings of JSON hold no line breaks.
        body.iter_mut().filter(|byte| matches!(byte, b'\r' | b'\n')).for_each(|byte| *byte = b' ');
    }
    body
}

/// Returns the body of a stream in whole events, or with Ollama in whole lines.
fn checked_stream(api: Api, body: BoxedStream) -> BoxedStream {
    let end = (api == Api::Anthropic).then(MessageEnd::default);
    let calls = (api == Api::OpenAi).then(CallFragments::default);
    let mut lines = Lines { api, end, calls, rest: Vec::new(), data: String::new() };
    // The last item marks the end, at which a last line may lack its line break.
    let pieces = body.map_ok(Some).chain(stream::iter([Ok(None)]));
    let lines = pieces.and_then(move |piece| ready(lines.read(piece).map_err(Error::instance)));
    Box::pin(lines.try_filter(|lines| ready(!lines.is_empty())))
}

/// The state of a stream that is read in lines.
struct Lines {
    api: Api,
    end: Option<MessageEnd>,
    calls: Option<CallFragments>,
    /// The incomplete last line.
    rest: Vec<u8>,
    /// The data of the incomplete last event, which may span lines.
    data: String,
}

impl Lines {
    /// Returns the lines that end in this piece, or at the end of the stream.
    fn read(&mut self, piece: Option<Bytes>) -> std::result::Result<Bytes, ReportedError> {
        let mut complete = Vec::new();
        let Some(piece) = piece else {
            let line = std::mem::take(&mut self.rest);
            self.write_line(&line, &mut complete)?;
            self.write_event(&mut complete)?;
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
    fn write_line(&mut self, line: &[u8], complete: &mut Vec<u8>) -> std::result::Result<(), ReportedError> {
        let text = String::from_utf8_lossy(line);
        // GPUStack reports an error of a stream in a field of this name, which is not of the standard.
        if let Some(error) = text.strip_prefix("error:") {
            return Err(ReportedError(error.trim().to_owned()));
        }
        if self.api == Api::Ollama {
            complete.extend_from_slice(checked(self.api, &text)?.as_bytes());
        } else if let Some(data) = text.strip_prefix("data:") {
            self.data.push_str(data);
        } else {
            if text.trim().is_empty() {
                self.write_event(complete)?;
            }
            complete.extend_from_slice(line);
        }
        Ok(())
    }

    /// Adds the data of an event to `complete`.
    fn write_event(&mut self, complete: &mut Vec<u8>) -> std::result::Result<(), ReportedError> {
        let data = std::mem::take(&mut self.data);
        let missing = self.end.as_mut().and_then(|end| end.missing_reason(&data));
        let data = match &mut self.calls {
            Some(calls) => calls.placed(&data),
            None => data.as_str().into(),
        };
        complete.extend(in_lines(&checked(self.api, &data)?).into_bytes());
        complete.extend(missing.into_iter().flat_map(|event| format!("\ndata: {event}\n").into_bytes()));
        Ok(())
    }
}

/// Returns a payload as the data of an event.
fn in_lines(payload: &str) -> String {
    payload.lines().map(|line| format!("data:{line}\n")).collect()
}
