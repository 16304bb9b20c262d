//! Tells the host and the model about the tasks of a session that have ended.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

use tools::Tasks;

use super::RunContext;
use crate::event::Event;
use crate::run::Run;

/// The tool that reads the result of a task.
const READER: &str = "task.result";

/// Runs a future of a run to its end, and sends the ends of tasks meanwhile.
pub(super) async fn reporting<F: Future>(run_cx: &RunContext<'_>, future: F) -> F::Output {
    let Some(tasks) = run_cx.cx.service::<Tasks>() else {
        return future.await;
    };
    let send = async {
        loop {
            let ended = tasks.next_ended().await;
            run_cx.sink.send(|| Event::TaskEnded {
                task: ended.handle,
                name: ended.tool,
                title: ended.title,
                state: ended.state.to_string(),
            });
        }
    };
    let mut send = pin!(send);
    let mut future = pin!(future);
    poll_fn(|task| {
        // First, so that an end that is known by now comes before the run's last event.
        let Poll::<std::convert::Infallible>::Pending = send.as_mut().poll(task);
        future.as_mut().poll(task)
    })
    .await
}

/// Tells the model about tasks that have ended, or wait for a call, with its next request. The text has nothing that another party
/// wrote, because it can be a part of a prompt.
pub(super) fn note_tasks(run: &mut Run, run_cx: &RunContext<'_>) {
    let Some(tasks) = run_cx.cx.service::<Tasks>().filter(|_| run.can_be_noted()) else {
        return;
    };
    let is_readable = run_cx.tools.get(READER).is_ok();
    for task in tasks.take_untold() {
        let (fact, verb) = if task.state.has_ended() {
            ("has ended", "reads it")
        } else {
            ("waits", "goes on with it")
        };
        let how = is_readable.then(|| format!("; {READER} {verb}"));
        let handle = task.handle;
        let tool = task.tool;
        let how = how.unwrap_or_default();
        run.add_note(&format!("[task {handle} ({tool}) {fact}{how}]"));
    }
}
