//! [`Program`]: one background program.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use tokio::sync::{OnceCell, watch};
use tools::tasks::{TaskFuture, TaskState};
use tools::{Task, Tasks, ToolContext, ToolError, ToolResult};

use super::interpreted::Interpreted;
use super::screen::Screen;
use crate::prepare::{Prepared, fail, not_started, settle_at_end};
use crate::report::end;
use crate::supervise::{self, Collect, Recent, Ring, Running, Status, StdinError};

/// The time without output after which an answer is complete.
const PAUSE: Duration = Duration::from_millis(200);

/// The longest time in which an answer can become complete.
const ANSWER: Duration = Duration::from_secs(1);

/// The longest time that a program may take to read its input.
const INPUT: Duration = Duration::from_secs(10);

/// A program that was started in the background. A drop ends it with all its descendants.
pub(super) struct Program {
    // Dropped before the folder of its temporary files.
    running: Running<Output>,
    pub(super) prepared: Arc<Prepared>,
    /// The command line, quoted.
    pub(super) command: String,
    /// `None` if the program reads its input as data.
    pub(super) input: Option<Interpreted>,
    started: Instant,
    has_terminal: bool,
    news: watch::Receiver<()>,
    /// The notes on protected files that changed, once the program has ended.
    changes: OnceCell<Vec<String>>,
    /// The reason for which it was stopped.
    stopped: OnceLock<String>,
    /// The report of the end, once it was read as a result.
    last: OnceCell<String>,
}

/// Returns the program of this agent with the handle.
pub(super) fn find(tasks: &Tasks, handle: &str) -> Result<Arc<Program>, ToolError> {
    tasks.find_as(handle, "program")
}

impl Program {
    pub(super) async fn start(
        prepared: Prepared,
        command: String,
        input: Option<Interpreted>,
        has_terminal: bool,
    ) -> Result<Self, ToolError> {
        let prepared = prepared.record().await?;
        let (publish, news) = watch::channel(());
        let stdout = if has_terminal {
            Text::Terminal(Box::new(Screen::new(KEPT)))
        } else {
            Text::Pipe(Ring::new(KEPT))
        };
        let stderr = Output::new(Text::Pipe(Ring::new(KEPT)), &publish);
        let stdout = Output::new(stdout, &publish);
        let running = supervise::start(&prepared.launch, stdout, stderr).await;
        let running = running.map_err(not_started)?;
        let prepared = Arc::new(prepared);
        settle_at_end(&prepared, &running);
        Ok(Self {
            running,
            prepared,
            command,
            input,
            started: Instant::now(),
            has_terminal,
            news,
            changes: OnceCell::new(),
            stopped: OnceLock::new(),
            last: OnceCell::new(),
        })
    }

    /// Stops the program when it exceeds the limit of its disks. Must be called in a Tokio runtime.
    pub(super) fn watch_disk(self: &Arc<Self>) {
        // The look at the disk must not keep a program whose drop ends it.
        let disk = self.prepared.disk.clone();
        let program = Arc::downgrade(self);
        let mut ended = self.news.clone();
        tokio::spawn(async move {
            // The sender goes with the program.
            let gone = async { while ended.changed().await.is_ok() {} };
            tokio::select! {
                reason = disk.watch_limit() => if let Some(program) = program.upgrade().filter(|program| program.is_running()) {
                    let _ = program.stopped.set(reason);
                    program.running.stop();
                },
                () = gone => {}
            }
        });
    }

    pub(super) fn is_running(&self) -> bool {
        self.running.status() == Status::Running
    }

    /// Waits up to `wait` for output or the end, and then until the output pauses.
    pub(super) async fn settle(&self, wait: Duration) {
        let mut news = self.news.clone();
        news.mark_unchanged();
        let output = async { while !self.is_unread() && news.changed().await.is_ok() {} };
        tokio::select! {
            () = output => {}
            _ = self.running.wait() => return,
            () = tokio::time::sleep(wait) => return,
        }
        let pause =
            async { while let Ok(Ok(())) = tokio::time::timeout(PAUSE, news.changed()).await {} };
        tokio::select! {
            () = pause => {}
            _ = self.running.wait() => {}
            () = tokio::time::sleep(ANSWER) => {}
        }
    }

    /// Writes to the standard input.
    pub(super) async fn write(&self, text: &str) -> Result<(), ToolError> {
        self.in_time(self.running.write(text.as_bytes())).await
    }

    /// Ends the standard input.
    pub(super) async fn end_input(&self) -> Result<(), ToolError> {
        self.in_time(self.running.end_stdin()).await
    }

    /// Ends the program with all its descendants.
    pub(super) async fn stop(&self) {
        self.running.stop();
        // The state says how it ended.
        let _ = self.running.wait().await;
    }

    /// Takes the output since the last report, and returns it with the state.
    pub(super) async fn report(
        &self,
        cx: &ToolContext,
        handle: &str,
        notes: &[String],
    ) -> Result<String, ToolError> {
        self.report_as(cx, |state| format!("[{handle}: {state}]"), notes)
            .await
    }

    async fn report_as(
        &self,
        cx: &ToolContext,
        head: impl FnOnce(TaskState) -> String,
        notes: &[String],
    ) -> Result<String, ToolError> {
        self.prepared.record_contents(cx).await?;
        let is_over = !self.is_running();
        let changes = if is_over {
            self.changes(cx).await?
        } else {
            &[]
        };
        let mut text = head(self.state());
        for note in notes.iter().chain(changes).chain(&self.prepared.requests()) {
            text += &format!("\n[{note}]");
        }
        let out = if self.has_terminal {
            "terminal"
        } else {
            "stdout"
        };
        let streams = [
            (out, self.running.with_stdout(Output::read)),
            ("stderr", self.running.with_stderr(Output::read)),
        ];
        let mut is_silent = true;
        for (
            name,
            Recent {
                skipped, text: new, ..
            },
        ) in streams
        {
            let lost = if skipped > 0 {
                format!("[… {skipped} bytes were not kept …]\n")
            } else {
                String::new()
            };
            if skipped > 0 || !new.is_empty() {
                text += &format!("\n{name}:\n{lost}{new}");
                is_silent = false;
            }
        }
        if is_silent {
            text += "\n[no new output]";
        }
        Ok(text)
    }

    /// Returns the notes on protected files that changed. The first call asks about those that were moved aside.
    async fn changes(&self, cx: &ToolContext) -> Result<&[String], ToolError> {
        Ok(self
            .changes
            .get_or_try_init(|| self.prepared.changes(cx))
            .await?)
    }

    fn is_unread(&self) -> bool {
        self.running.with_stdout(|output| output.is_unread)
            || self.running.with_stderr(|output| output.is_unread)
    }

    async fn in_time(
        &self,
        written: impl Future<Output = Result<(), StdinError>>,
    ) -> Result<(), ToolError> {
        match tokio::time::timeout(INPUT, written).await {
            Ok(written) => written.map_err(fail),
            Err(_) => Err(ToolError::execution_failed(format!(
                "the program has not read all of the text within {} s; read its output, or stop it",
                INPUT.as_secs()
            ))),
        }
    }
}

impl Task for Program {
    fn title(&self) -> String {
        self.command.clone()
    }

    fn state(&self) -> TaskState {
        match self.running.status() {
            Status::Running => TaskState::Running(format!(
                "runs for {:.1} s",
                self.started.elapsed().as_secs_f64()
            )),
            Status::Ended(ended) => TaskState::Ended(match self.stopped.get() {
                Some(reason) => format!("stopped because {reason} ({})", end(ended)),
                None => end(ended),
            }),
            Status::Lost(lost) => TaskState::Ended(lost.to_string()),
        }
    }

    fn wait_end(&self) -> TaskFuture<'_, ()> {
        Box::pin(async {
            // The state says how it ended.
            let _ = self.running.wait().await;
        })
    }

    /// Returns the rest of the output.
    fn result<'a>(&'a self, cx: &'a ToolContext) -> TaskFuture<'a, Result<ToolResult, ToolError>> {
        Box::pin(async move {
            let last = self
                .last
                .get_or_try_init(|| self.report_as(cx, |state| format!("[{state}]"), &[]));
            last.await.map(ToolResult::text)
        })
    }

    fn cancel(&self) {
        self.running.stop();
    }
}

/// The unread bytes of each stream that are kept.
const KEPT: usize = 256 * 1024;

/// One output stream of a program.
struct Output {
    text: Text,
    /// True if bytes came since the last read.
    is_unread: bool,
    /// Changes when bytes come.
    news: watch::Sender<()>,
}

enum Text {
    Pipe(Ring),
    Terminal(Box<Screen>),
}

impl Output {
    fn new(text: Text, news: &watch::Sender<()>) -> Self {
        Self {
            text,
            is_unread: false,
            news: news.clone(),
        }
    }

    /// Takes the text since the last read.
    pub(super) fn read(&mut self) -> Recent {
        self.is_unread = false;
        match &mut self.text {
            Text::Pipe(ring) => ring.read(),
            Text::Terminal(screen) => screen.read(),
        }
    }
}

impl Collect for Output {
    fn push(&mut self, bytes: &[u8]) {
        match &mut self.text {
            Text::Pipe(ring) => ring.push(bytes),
            Text::Terminal(screen) => screen.push(bytes),
        }
        self.is_unread = true;
        self.news.send_replace(());
    }

    fn finish(&mut self) {
        match &mut self.text {
            Text::Pipe(ring) => ring.finish(),
            Text::Terminal(screen) => screen.finish(),
        }
    }
}
