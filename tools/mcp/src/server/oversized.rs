//! [`Oversized`]: the answers to messages that are too long, or none of the protocol.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, ready};

use rmcp::RoleServer;
use rmcp::model::{ErrorData, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use serde::Deserializer as _;
use serde::de::{IgnoredAny, MapAccess, Visitor};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tools::IgnorePoison as _;

use crate::server::batch::{self, Batch, Batches, Joined};
use crate::server::client_message::{self, Kind, Read, Refused};

/// The length of the begin and of the end of a message that are searched for the id, in bytes.
const SEARCHED: usize = 1024;

/// The memory that is kept for the next line, in bytes.
const KEPT: usize = 64 * 1024;

/// The number of requests that wait for their refusal.
const MAX_REFUSALS: usize = 16;

/// A transport of lines, which refuses requests that are too long and lines that are no message.
pub(super) struct Oversized<R: AsyncRead + Unpin, W: AsyncWrite + Unpin> {
    lines: AsyncRwTransport<RoleServer, Watched<R>, Joined<W>>,
    refused: mpsc::Receiver<Refused>,
    /// The refusals that are being sent.
    refusals: JoinSet<()>,
}

impl<R, W> Oversized<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    pub(super) fn new(read: R, write: W, max_bytes: usize) -> Self {
        let (refuse, refused) = mpsc::channel(MAX_REFUSALS);
        let batches = Arc::<Mutex<Batches>>::default();
        let write = Joined::new(write, batches.clone());
        let read = Watched {
            read,
            max_bytes,
            length: 0,
            begin: Vec::new(),
            end: Vec::new(),
            line: Vec::new(),
            ready: VecDeque::new(),
            has_begun: false,
            takes_batches: false,
            batches,
            refuse,
        };
        Self {
            // `rmcp` sets no limit of its own to the length of a line.
            lines: AsyncRwTransport::new_server(read, write).with_max_line_length(max_bytes),
            refused,
            refusals: JoinSet::new(),
        }
    }

    /// Begins to send the answer to a line, which leaves even if the caller is dropped.
    fn refuse(&mut self, (error, id): (ErrorData, Option<RequestId>)) {
        let refusal = self
            .lines
            .send(TxJsonRpcMessage::<RoleServer>::error(error, id));
        while self.refusals.try_join_next().is_some() {}
        // A client that is gone reads no answer.
        self.refusals.spawn(async { drop(refusal.await) });
    }
}

impl<R, W> Transport<RoleServer> for Oversized<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.lines.send(item)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let message = tokio::select! {
                biased;
                Some(refused) = self.refused.recv() => {
                    self.refuse(*refused);
                    continue;
                }
                message = self.lines.receive() => message,
            };
            if message.is_none() {
                // The process may end with its input.
                while let Ok(refused) = self.refused.try_recv() {
                    self.refuse(*refused);
                }
                while self.refusals.join_next().await.is_some() {}
            }
            return message;
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.lines.close().await
    }
}

/// A stream of lines that are messages, which finds the ids of the others.
struct Watched<R> {
    read: R,
    max_bytes: usize,
    /// The length of the line so far, with its end.
    length: usize,
    begin: Vec<u8>,
    end: Vec<u8>,
    /// The line so far, unless it is too long.
    line: Vec<u8>,
    /// The messages that were not read yet.
    ready: VecDeque<u8>,
    /// True after the first request.
    has_begun: bool,
    /// True if the session's revision has batches.
    takes_batches: bool,
    batches: Arc<Mutex<Batches>>,
    refuse: mpsc::Sender<Refused>,
}

impl<R> Watched<R> {
    /// Takes a whole line.
    fn take_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        let elements = self.takes_batches.then(|| batch::elements(&line)).flatten();
        if let Some(elements) = elements {
            let batches = self.batches.clone();
            // No answer is sent before all ids are known.
            let mut batches = batches.lock().ignore_poison();
            let mut batch = Batch::default();
            for element in elements {
                self.take_message(element, &batches, Some(&mut batch));
            }
            batches.open(batch);
        } else if !line.trim_ascii().is_empty() {
            let batches = self.batches.clone();
            self.take_message(&line, &batches.lock().ignore_poison(), None);
        }
        self.line = line;
    }

    /// Takes a message, which may be one of a batch.
    fn take_message(&mut self, text: &[u8], batches: &Batches, batch: Option<&mut Batch>) {
        let mut awaited = None;
        match client_message::read(text) {
            Ok(Read { text, kind }) => {
                match kind {
                    Kind::Request(id, takes_batches) => {
                        self.has_begun = true;
                        self.takes_batches |= takes_batches;
                        awaited = Some(Some(id));
                    }
                    Kind::Answer => self.has_begun = true,
                    Kind::Notification => {
                        if let Some(id) = batches.find_cancelled(&text) {
                            let error =
                                ErrorData::invalid_request("the request is cancelled", None);
                            self.refuse(Box::new((error, Some(id))));
                        }
                    }
                }
                // A notification before the first request is about nothing, and would end the handshake.
                if self.has_begun {
                    self.ready.extend(text.iter().chain(b"\n"));
                }
            }
            Err(refused) => {
                let id = refused.1.clone();
                if self.refuse(refused) {
                    awaited = Some(id);
                }
            }
        }
        if let Some(batch) = batch {
            batch.awaited.extend(awaited);
        }
    }

    /// Passes a line on that is to be refused. Returns false if too many others wait.
    fn refuse(&self, refused: Refused) -> bool {
        self.refuse.try_send(refused).is_ok()
    }

    fn watch(&mut self, bytes: &[u8]) {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.length = self.length.saturating_add(part.len());
            let text = part.strip_suffix(b"\n").unwrap_or(part);
            let room = SEARCHED - self.begin.len();
            self.begin.extend_from_slice(&text[..text.len().min(room)]);
            self.end
                .extend_from_slice(&text[text.len().saturating_sub(SEARCHED)..]);
            self.end.drain(..self.end.len().saturating_sub(SEARCHED));
            let fits = self.length <= self.max_bytes;
            if fits {
                self.line.extend_from_slice(text);
            }
            if text.len() < part.len() {
                if fits {
                    self.take_line();
                } else if let Some(id) = request_id(&self.begin, &self.end) {
                    let reason = format!("the message is longer than {} bytes", self.max_bytes);
                    let error = ErrorData::invalid_request(reason, None);
                    self.refuse(Box::new((error, Some(id))));
                }
                self.line.clear();
                self.line.shrink_to(KEPT);
                self.length = 0;
                self.begin.clear();
                self.end.clear();
            }
        }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Watched<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        while self.ready.is_empty() {
            ready!(Pin::new(&mut self.read).poll_read(cx, buffer))?;
            let read = buffer.filled()[before..].to_vec();
            buffer.set_filled(before);
            match (read.is_empty(), self.line.is_empty()) {
                (true, true) => return Poll::Ready(Ok(())),
                // The last line may lack its end.
                (true, false) => self.watch(b"\n"),
                _ => self.watch(&read),
            }
        }
        let (ready, _) = self.ready.as_slices();
        let length = ready.len().min(buffer.remaining());
        buffer.put_slice(&ready[..length]);
        self.ready.drain(..length);
        Poll::Ready(Ok(()))
    }
}

/// Returns the id of a request, of which the begin and the end are known. Returns `None` if it is no request, or its id is not there.
fn request_id(begin: &[u8], end: &[u8]) -> Option<RequestId> {
    let fields = Fields::read(begin);
    if fields.is_answer || fields.id.is_some() {
        return fields.id.filter(|_| !fields.is_answer);
    }
    let mut starts = end
        .windows(4)
        .enumerate()
        .filter(|(_, text)| text == br#""id""#);
    starts.find_map(|(start, _)| {
        // The rest of an object after a field of its own is an object too.
        let rest = [b"{", &end[start..]].concat();
        let is_whole = serde_json::from_slice::<IgnoredAny>(&rest).is_ok();
        let fields = Fields::read(&rest);
        fields.id.filter(|_| is_whole && !fields.is_answer)
    })
}

/// The fields of a message that has a beginning only.
#[derive(Default)]
struct Fields {
    id: Option<RequestId>,
    /// True if the message answers a request.
    is_answer: bool,
}

impl Fields {
    fn read(json: &[u8]) -> Self {
        let mut fields = Self::default();
        // It ends with an error if the text does.
        let _ = serde_json::Deserializer::from_slice(json).deserialize_map(&mut fields);
        fields
    }
}

impl<'de> Visitor<'de> for &mut Fields {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a message")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            match &*key {
                "id" => self.id = Some(map.next_value()?),
                "result" | "error" => {
                    self.is_answer = true;
                    map.next_value::<IgnoredAny>()?;
                }
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }
}
