//! Requests a turn of the model, after a compaction if it is necessary.

use std::borrow::Cow;
use std::sync::atomic::Ordering;

use tools::protocol::{Message, Part};

use super::checkpoint::LastCheckpoint;
use super::metering::charge;
use super::rejected_reply::is_empty;
use super::{Driver, DriverError, RunContext};
use crate::budget::Spending;
use crate::disclosure::Hidden;
use crate::event::Event;
use crate::provider::{ProviderError, Request, TextSink, Turn};
use crate::run::{AnswerCheck, Run, Step};

impl Driver {
    /// Requests a turn and writes its checkpoint, which must precede its calls. Ends the run if its budget has no step left.
    pub(super) async fn turn(
        &self,
        run: &mut Run,
        last: &mut Option<LastCheckpoint>,
        check: &mut AnswerCheck<'_>,
        run_cx: &RunContext<'_>,
    ) -> Result<(), DriverError> {
        if let Some(exhausted) = charge(run_cx.budget, Spending::steps(1)).await? {
            run.exhaust(exhausted);
            return self.checkpoint(run, last, run_cx).await;
        }
        let mut is_compacted = self.compact_if_full(run, run_cx).await?;
        let mut repeats = 0;
        while run.is_asking() {
            if is_compacted {
                // If the next request fails, the resumed run has the summary.
                self.checkpoint(run, last, run_cx).await?;
            }
            match self.request_turn(run, run_cx).await {
                Ok(()) => break,
                Err(error) if self.asks_again(&error, &mut repeats, run, run_cx).await? => {}
                Err(error) => is_compacted = self.compact_after(error, run, run_cx).await?,
            }
        }
        run_cx.session.record_turn(run.turns());
        self.reject_answer(run, run_cx);
        run.check_answer(check);
        self.checkpoint(run, last, run_cx).await
    }

    async fn request_turn(
        &self,
        run: &mut Run,
        run_cx: &RunContext<'_>,
    ) -> Result<(), DriverError> {
        let sink = run_cx.sink;
        let is_streamed = &run_cx.rejected.is_streamed;
        is_streamed.store(false, Ordering::Relaxed);
        let send = |text: &str| {
            // A retry of the provider and a rejection of the driver both withdraw text, and only text that was sent.
            is_streamed.store(true, Ordering::Relaxed);
            sink.send(|| Event::Text {
                text: text.to_owned(),
            });
        };
        run.shrink_to_fit();
        let request = run.request_messages();
        let replies = matches!(request, Cow::Borrowed(_)).then(|| run.replies());
        let sent = self.complete(&request, replies, Some(&send), 0, run_cx);
        let Some(turn) = sent.await else {
            run.cancel();
            return Ok(());
        };
        let turn = turn?;
        // An empty turn is no part of the conversation: services refuse it in later requests. Its tokens count all the same.
        if is_empty(&turn, self.about()) {
            run.record_usage(turn.usage);
            return Err(ProviderError::NoAnswer {
                provider: self.about().name.to_string(),
            }
            .into());
        }
        // A provider that does not stream sends no text by itself, and streamed text is not sent again.
        let is_unsent = !is_streamed.load(Ordering::Relaxed) && sink.is_active();
        let mut texts: Vec<_> = turn.message.parts.iter().filter_map(text_of).collect();
        texts.retain(|_| is_unsent);
        if let Some(usage) = turn.usage {
            let bytes = self.request_size(run, run_cx).bytes;
            run.compaction.measure(bytes, usage.input_tokens);
        }
        run.record_writer(self.about());
        run.turn(turn)?;
        texts
            .into_iter()
            .for_each(|text| sink.send(|| Event::Text { text }));
        self.charge_calls(run, run_cx).await?;
        let session = run_cx.session;
        let tools = run_cx.tools;
        if tools.is_disclosing()
            && let Step::Call(calls) = run.step()
        {
            Hidden {
                tools,
                wire: self.wire_tools(tools),
                cx: run_cx.cx,
                found_turns: session.disclosure.found_turns(),
            }
            .refuse_unseen(run, calls);
        }
        Ok(())
    }

    /// Requests the turn that follows these messages, or without a sink a summary of them with at least so many tokens as output limit.
    /// Returns `None` if the run is cancelled meanwhile.
    pub(super) async fn complete(
        &self,
        messages: &[Message],
        replies: Option<usize>,
        text_sink: Option<TextSink<'_>>,
        min_output_tokens: u32,
        run_cx: &RunContext<'_>,
    ) -> Option<Result<Turn, DriverError>> {
        let cx = run_cx.session.context();
        let request = Request {
            replies,
            agent: cx.agent(),
            deadline: cx.deadline(),
            retry_sink: Some(&|retry| {
                if retry.withdraws_text {
                    run_cx.rejected.is_streamed.store(false, Ordering::Relaxed);
                }
                run_cx.sink.send(|| Event::RequestRetried(retry));
            }),
            is_summary: text_sink.is_none(),
            text_sink,
            min_output_tokens,
            ..Request::new(messages, run_cx.tools, run_cx.token)
        };
        let meter = self.meter(run_cx);
        let provider = &*self.provider;
        if request.is_summary {
            meter.whole_turn(provider, request).await
        } else {
            meter.request(provider, request).await
        }
    }
}

fn text_of(part: &Part) -> Option<String> {
    match part {
        Part::Content(content) => content.as_text().map(str::to_owned),
        _ => None,
    }
}
