//! Prepares the stream of a reply for rig: its type, its errors, its calls and its end.

use std::future::ready;

use bytes::Bytes;
use futures_util::{StreamExt, TryStreamExt, stream};
use rig_core::http_client::{BoxedStream, Error, Result, StreamingResponse};
use rig_reqwest::reqwest::header::{CONTENT_TYPE, HeaderValue};

use super::Api;
use super::message_end::MessageEnd;
use super::payload::{ReportedError, WrongContentType, checked};

const EVENT_STREAM: &str = "text/event-stream";

/// Returns a stream of events. A whole JSON reply becomes one event.
///
/// # Errors
/// - Returns [`WrongContentType`] if the reply is neither a stream of events nor JSON.
/// - Returns [`ReportedError`] if the reply or one of its events is an error.
pub(super) async fn events(api: Api, mut response: StreamingResponse) -> Result<StreamingResponse> {
    let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default().to_owned();
    let essence = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if essence == EVENT_STREAM {
        return Ok(response.map(|body| lines(api, body)));
    }
    if essence != "application/json" && !essence.ends_with("+json") {
        return Err(Error::instance(WrongContentType(kind)));
    }
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(EVENT_STREAM));
    let (parts, body) = response.into_parts();
    let pieces: Vec<Bytes> = body.try_collect().await?;
    let event = event_of(&pieces.concat()).map_err(Error::instance)?;
    Ok(StreamingResponse::from_parts(parts, Box::pin(stream::iter([Ok(event)]))))
}

/// Returns a body as one event.
fn event_of(body: &[u8]) -> std::result::Result<Bytes, ReportedError> {
    let text = String::from_utf8_lossy(body);
    let checked = checked(&text)?;
    let lines = checked.lines().map(|line| format!("data: {line}\n"));
    Ok(lines.chain(["\n".to_owned()]).collect::<String>().into())
}

/// Returns the body of a stream in whole lines. Each is an event's, or with Ollama a document.
pub(super) fn lines(api: Api, body: BoxedStream) -> BoxedStream {
    let end = (api == Api::Anthropic).then(MessageEnd::default);
    let mut lines = Lines { api, end, rest: Vec::new() };
    // The last item marks the end, at which a last line may lack its line break.
    let pieces = body.map_ok(Some).chain(stream::iter([Ok(None)]));
    let lines = pieces.and_then(move |piece| ready(lines.read(piece).map_err(Error::instance)));
    Box::pin(lines.try_filter(|lines| ready(!lines.is_empty())))
}

/// The state of a stream that is read in lines.
struct Lines {
    api: Api,
    end: Option<MessageEnd>,
    /// The incomplete last line.
    rest: Vec<u8>,
}

impl Lines {
    /// Returns the lines that end in this piece, or at the end of the stream.
    fn read(&mut self, piece: Option<Bytes>) -> std::result::Result<Bytes, ReportedError> {
        let mut complete = Vec::new();
        let Some(piece) = piece else {
            let line = std::mem::take(&mut self.rest);
            self.write_line(&line, &mut complete)?;
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

    /// Adds a line to `complete`.
    fn write_line(&mut self, line: &[u8], complete: &mut Vec<u8>) -> std::result::Result<(), ReportedError> {
        let text = std::str::from_utf8(line).unwrap_or_default();
        // GPUStack reports an error of a stream in a field of this name, which is not of the standard.
        if let Some(error) = text.strip_prefix("error:") {
            return Err(ReportedError(error.trim().to_owned()));
        }
        let field = if self.api == Api::Ollama { "" } else { "data:" };
        match text.strip_prefix(field).map(checked).transpose()? {
            Some(payload) if !text.is_empty() => complete.extend([field.as_bytes(), payload.as_bytes()].concat()),
            _ => complete.extend_from_slice(line),
        }
        let missing = self.end.as_mut().and_then(|end| end.missing_reason(line));
        complete.extend(missing.into_iter().flat_map(|event| format!("\n\ndata: {event}\n\n").into_bytes()));
        Ok(())
    }
}
