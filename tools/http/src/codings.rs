//! The content codings of a body, such as gzip.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::{io, mem};

use async_compression::tokio::bufread::{BrotliDecoder, DeflateDecoder, GzipDecoder, ZlibDecoder};
use http::{HeaderMap, HeaderValue, header};
use tokio::io::{AsyncBufRead, AsyncRead, AsyncReadExt as _, BufReader, ReadBuf};

/// The codings that requests ask for.
pub(crate) const ACCEPTED: HeaderValue = HeaderValue::from_static("gzip, deflate, br");

/// The maximum number of codings of a body.
const MAX_CODINGS: usize = 4;

/// The bytes of a body.
pub(crate) type Source = Pin<Box<dyn AsyncBufRead + Send + Sync>>;

/// A content coding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Coding {
    Gzip,
    Deflate,
    Brotli,
}

impl Coding {
    /// Returns the codings of a body, in the order in which they were applied.
    ///
    /// # Errors
    /// Returns the fault if there is an unknown coding, or too many.
    pub(crate) fn of(headers: &HeaderMap) -> Result<Vec<Self>, String> {
        let mut codings = Vec::new();
        for value in headers.get_all(header::CONTENT_ENCODING) {
            let names = value.as_bytes().split(|byte| *byte == b',');
            for name in names.map(<[u8]>::trim_ascii) {
                codings.extend(match name.to_ascii_lowercase().as_slice() {
                    // Some servers name a charset here.
                    b"" | b"identity" | b"none" | b"utf-8" => None,
                    b"gzip" | b"x-gzip" => Some(Self::Gzip),
                    b"deflate" | b"x-deflate" => Some(Self::Deflate),
                    b"br" => Some(Self::Brotli),
                    name => {
                        let name = name.escape_ascii();
                        return Err(format!("its content coding \"{name}\" is unknown"));
                    }
                });
            }
        }
        match codings.len() {
            0..=MAX_CODINGS => Ok(codings),
            count => Err(format!("it has {count} content codings")),
        }
    }

    /// Returns the codings that the body of a media type may have without a name for them. Each is undone only if the bytes begin so,
    /// as no text does.
    pub(crate) fn guess(media_type: Option<&str>) -> &'static [Self] {
        let is_text = media_type.is_some_and(|kind| {
            kind.starts_with("text/")
                || ["json", "xml", "javascript"]
                    .iter()
                    .any(|word| kind.contains(word))
        });
        if is_text { &[Self::Gzip; 2] } else { &[] }
    }

    /// Returns the bytes before the codings.
    pub(crate) fn decode(codings: &[Self], source: Source) -> Source {
        codings.iter().rev().fold(source, |source, coding| {
            Box::pin(BufReader::new(Coded {
                coding: *coding,
                state: State::Begin {
                    seen: Vec::new(),
                    source,
                },
            }))
        })
    }

    /// Returns the decoded bytes of `seen` and `rest`, which begin with `begin` unless there are fewer.
    fn decoder(
        self,
        begin: Option<[u8; 2]>,
        seen: Vec<u8>,
        rest: Source,
    ) -> Box<dyn AsyncRead + Send + Sync + Unpin> {
        let whole = io::Cursor::new(seen).chain(rest);
        match (self, begin) {
            (Self::Gzip, Some([0x1F, 0x8B])) => {
                let mut decoder = GzipDecoder::new(whole);
                // RFC 1952 allows several members, and the decoder would end after the first one.
                decoder.multiple_members(true);
                Box::new(decoder)
            }
            // Some servers name a coding that they did not apply.
            (Self::Gzip, _) | (_, None) => Box::new(whole),
            // The header of zlib (RFC 1950, section 2.2).
            (Self::Deflate, Some([method, flags]))
                if method & 0x0F == 8 && u16::from_be_bytes([method, flags]).is_multiple_of(31) =>
            {
                Box::new(ZlibDecoder::new(whole))
            }
            // Without the header of zlib, as some servers send it.
            (Self::Deflate, _) => Box::new(DeflateDecoder::new(whole)),
            (Self::Brotli, _) => Box::new(BrotliDecoder::new(whole)),
        }
    }
}

/// The decoded bytes of one coding, whose form depends on the first bytes.
struct Coded {
    coding: Coding,
    state: State,
}

enum State {
    Begin { seen: Vec<u8>, source: Source },
    Decoding(Box<dyn AsyncRead + Send + Sync + Unpin>),
}

impl AsyncRead for Coded {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let coding = self.coding;
        loop {
            match &mut self.state {
                State::Begin { seen, source } => {
                    let arrived = ready!(source.as_mut().poll_fill_buf(cx))?;
                    let mut bytes = seen.iter().chain(arrived).copied();
                    let begin = bytes.next().zip(bytes.next()).map(<[u8; 2]>::from);
                    if begin.is_none() && !arrived.is_empty() {
                        seen.extend_from_slice(arrived);
                        source.as_mut().consume(1);
                        continue;
                    }
                    let source = mem::replace(source, Box::pin(io::Cursor::new([])));
                    self.state = State::Decoding(coding.decoder(begin, mem::take(seen), source));
                }
                State::Decoding(decoder) => return Pin::new(decoder).poll_read(cx, buffer),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codings_are_read_from_any_number_of_headers_in_any_case() {
        for (values, expected) in [
            (&[][..], Ok(vec![])),
            (&["identity", "", " , UTF-8"], Ok(vec![])),
            (&["X-GZip"], Ok(vec![Coding::Gzip])),
            (
                &["gzip, gzip", "br,deflate"],
                Ok(vec![
                    Coding::Gzip,
                    Coding::Gzip,
                    Coding::Brotli,
                    Coding::Deflate,
                ]),
            ),
            (
                &["gzip, zstd"],
                Err("its content coding \"zstd\" is unknown".to_owned()),
            ),
            (
                &["gzip,gzip,gzip,gzip,gzip"],
                Err("it has 5 content codings".to_owned()),
            ),
        ] {
            let headers = values
                .iter()
                .map(|value| (header::CONTENT_ENCODING, HeaderValue::from_static(value)));
            assert_eq!(Coding::of(&headers.collect()), expected);
        }
    }
}
