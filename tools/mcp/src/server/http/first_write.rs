//! Joins the head of an answer with the first parts of its body.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use futures_util::FutureExt as _;
use http::Response;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Body, Frame};

/// The number of times that other tasks get their turn before the head of an answer leaves.
const TURNS: usize = 2;

/// The length from which parts of a body leave, in bytes.
const MAX_BYTES: usize = 64 * 1024;

/// Returns the answer with the parts of its body that are there, or soon will be, as the first part.
///
/// The events of a call that ends at once are several parts. Each would be a write, and cost the server as much as the call itself.
pub(super) async fn join_parts(
    answer: Response<BoxBody<Bytes, Infallible>>,
) -> Response<BoxBody<Bytes, Infallible>> {
    let (head, mut rest) = answer.into_parts();
    let mut first = BytesMut::new();
    let mut turns = 0;
    while first.len() < MAX_BYTES {
        match rest.frame().now_or_never() {
            Some(Some(Ok(frame))) => {
                first.extend_from_slice(frame.data_ref().map_or(&[], |data| data))
            }
            Some(None) => return Response::from_parts(head, Full::new(first.freeze()).boxed()),
            None if turns == TURNS => break,
            None => {
                turns += 1;
                tokio::task::yield_now().await;
            }
        }
    }
    let first = (!first.is_empty()).then(|| first.freeze());
    Response::from_parts(head, Joined { first, rest }.boxed())
}

/// A body whose first part is known.
struct Joined {
    first: Option<Bytes>,
    rest: BoxBody<Bytes, Infallible>,
}

impl Body for Joined {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match self.first.take() {
            Some(first) => Poll::Ready(Some(Ok(Frame::data(first)))),
            None => Pin::new(&mut self.rest).poll_frame(cx),
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::stream::StreamExt as _;
    use http_body_util::StreamBody;
    use tokio::sync::mpsc;

    use super::*;

    fn answer(
        parts: mpsc::UnboundedReceiver<&'static str>,
    ) -> Response<BoxBody<Bytes, Infallible>> {
        let parts = futures_util::stream::unfold(parts, async |mut parts| {
            Some((parts.recv().await?, parts))
        });
        let frames = parts.map(|part| Ok(Frame::data(Bytes::from(part))));
        Response::new(BoxBody::new(StreamBody::new(frames)))
    }

    #[tokio::test]
    async fn a_body_that_soon_ends_is_one_part_of_known_length() {
        let (parts, receiver) = mpsc::unbounded_channel();
        parts.send("a").unwrap();
        tokio::spawn(async move { parts.send("b") });
        let joined = join_parts(answer(receiver)).await.into_body();
        assert_eq!(joined.size_hint().exact(), Some(2));
        assert_eq!(joined.collect().await.unwrap().to_bytes(), "ab");
    }

    #[tokio::test]
    async fn the_parts_of_a_body_that_goes_on_leave_before_its_end() {
        let (parts, receiver) = mpsc::unbounded_channel();
        parts.send("a").unwrap();
        parts.send("b").unwrap();
        let mut joined = join_parts(answer(receiver)).await.into_body();
        assert_eq!(
            joined.frame().await.unwrap().unwrap().into_data().unwrap(),
            "ab"
        );
        parts.send("c").unwrap();
        drop(parts);
        assert_eq!(joined.collect().await.unwrap().to_bytes(), "c");
    }
}
