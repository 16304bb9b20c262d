//! Previews of calls that a person is asked about.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;
use tools::call::AskError;
use tools::context::{AnswerFuture, ApprovalFuture, NobodyThere};
use tools::handler::PreviewFuture;
use tools::layer::{Layer, Next};
use tools::question::AnswerKind;
use tools::{
    Access, Answer, Approval, Approver, CancellationToken, Catalog, Decision, Effects, ErrorCode,
    Handler, HandlerFuture, Host, Input, Person, Policy, Preview, Progress, ProgressSink, Question,
    Tool, ToolContext, ToolError, ToolErrorKind, ToolResult,
};

use crate::notebook::Notebook;
use crate::sample::{Seen, Viewer, echo, granted, holding, reader};

/// A tool that writes `fs:{path}`.
fn writer() -> Tool {
    let effects: Effects = serde_json::from_value(json!({"writes": ["fs:{path}"]})).unwrap();
    reader("write").with_effects(effects)
}

/// A handler with a preview made by a function.
struct Previewed<F>(F);

impl<F> Handler for Previewed<F>
where
    F: Fn(ToolContext) -> PreviewFuture<'static> + Send + Sync + 'static,
{
    fn call<'a>(&'a self, _: ToolContext, _: Input) -> HandlerFuture<'a> {
        HandlerFuture::ready(Ok(ToolResult::text("written")))
    }

    fn preview<'a>(&'a self, cx: ToolContext, _: Input) -> Option<PreviewFuture<'a>> {
        Some((self.0)(cx))
    }
}

fn writing(
    preview: impl Fn(ToolContext) -> PreviewFuture<'static> + Send + Sync + 'static,
) -> Catalog {
    holding(writer(), Previewed(preview))
}

/// Asks about every write.
fn asking(approver: &Viewer) -> Host {
    granted(&["fs:*:**"])
        .with_policy(Policy::by_effects())
        .with_approver(Arc::new(approver.clone()))
}

/// Calls the tool, which must run, and returns the preview.
async fn view(catalog: &Catalog, cx: &ToolContext, approver: &Viewer) -> Seen {
    let result = catalog
        .execute(cx, "write", json!({"path": "a"}))
        .await
        .unwrap();
    assert_eq!(
        result,
        ToolResult::text("written"),
        "nothing of the preview is in it"
    );
    approver.seen()
}

async fn previewed(
    preview: impl Fn(ToolContext) -> PreviewFuture<'static> + Send + Sync + 'static,
) -> Result<Preview, ToolError> {
    let approver = Viewer::default();
    view(&writing(preview), &asking(&approver), &approver)
        .await
        .unwrap()
}

#[tokio::test]
async fn an_approver_gets_the_preview_of_the_tool() {
    let preview = Preview::diff("-a\n+b\n");
    let made = preview.clone();
    assert_eq!(
        previewed(move |_| Box::pin(std::future::ready(Ok(made.clone())))).await,
        Ok(preview)
    );
}

#[tokio::test]
async fn a_tool_without_a_preview_has_none() {
    let approver = Viewer::default();
    holding(writer(), echo)
        .execute(&asking(&approver), "write", json!({"path": "a"}))
        .await
        .unwrap();
    assert_eq!(approver.seen(), None);
}

#[tokio::test]
async fn no_preview_is_made_unless_an_approver_wants_it() {
    /// Allows without a look at the preview, as for a remembered decision.
    struct Remembers;
    impl Approver for Remembers {
        fn approve<'a>(&'a self, _: Approval<'a>) -> ApprovalFuture<'a> {
            Box::pin(async { Decision::Allow })
        }
    }
    let made = Arc::new(AtomicUsize::new(0));
    let count = made.clone();
    let catalog = writing(move |_| {
        count.fetch_add(1, Ordering::Relaxed);
        Box::pin(async { Ok(Preview::summary("it")) })
    });
    let approver = Viewer::default();
    let all = granted(&["fs:*:**"]);
    let asks = all.clone().with_policy(Policy::by_effects());
    for cx in [
        all.with_approver(Arc::new(approver.clone())),
        asks.clone().with_approver(Arc::new(Remembers)),
    ] {
        catalog
            .execute(&cx, "write", json!({"path": "a"}))
            .await
            .unwrap();
        assert_eq!(made.load(Ordering::Relaxed), 0);
    }
    catalog
        .execute(&asks, "write", json!({"path": "a"}))
        .await
        .unwrap_err();
    assert_eq!(made.load(Ordering::Relaxed), 0, "without an approver");
    catalog
        .execute(
            &asks.with_approver(Arc::new(approver)),
            "write",
            json!({"path": "a"}),
        )
        .await
        .unwrap();
    assert_eq!(
        made.load(Ordering::Relaxed),
        2,
        "to show it, and to compare it after the answer"
    );
}

#[tokio::test(start_paused = true)]
async fn a_preview_that_cannot_be_made_does_not_stop_the_question() {
    let failed =
        previewed(|_| Box::pin(async { Err(ToolError::execution_failed("x".repeat(200_000))) }))
            .await;
    let error = failed.unwrap_err();
    assert_eq!(
        (error.code(), error.tool_name()),
        (ErrorCode::ExecutionFailed, "write")
    );
    assert!(error.to_string().len() < 100_000);

    let panics = previewed(|_| Box::pin(async { panic!("in the future") })).await;
    assert_eq!(panics.unwrap_err().code(), ErrorCode::Panicked);
    let panics = previewed(|_| panic!("before it")).await;
    assert_eq!(panics.unwrap_err().code(), ErrorCode::Panicked);

    let start = tokio::time::Instant::now();
    let late = previewed(|_| Box::pin(pending())).await.unwrap_err();
    assert_eq!(
        late.kind(),
        &ToolErrorKind::Timeout {
            limit: Duration::from_secs(2)
        }
    );
    assert_eq!(start.elapsed(), Duration::from_secs(2));

    let cancelled = previewed(|_| Box::pin(async { Err(ToolErrorKind::Cancelled.into()) }))
        .await
        .unwrap_err();
    assert!(cancelled.is_recoverable(), "{cancelled}");
}

#[tokio::test(start_paused = true)]
async fn the_work_of_a_preview_is_told_to_stop_when_its_time_is_up() {
    let (sender, mut tokens) = tokio::sync::mpsc::unbounded_channel::<CancellationToken>();
    let hangs = move |cx: ToolContext| -> PreviewFuture<'static> {
        sender.send(cx.cancellation().clone()).unwrap();
        Box::pin(pending())
    };
    previewed(hangs).await.unwrap_err();
    assert!(tokens.recv().await.unwrap().is_cancelled());
}

#[tokio::test]
async fn a_preview_reads_what_is_granted_and_changes_nothing() {
    let tries = |cx: ToolContext| -> PreviewFuture<'static> {
        Box::pin(async move {
            cx.require(Access::Read, "fs", "src/a")?;
            assert_eq!(
                cx.previewed_grant(),
                &tools::Grant::parse(["fs:*:src/**"]).unwrap(),
                "shown, but not usable"
            );
            assert!(cx.host().is_none());
            let refused = [
                cx.require(Access::Read, "fs", "other").unwrap_err(),
                cx.require(Access::Write, "fs", "src/a").unwrap_err(),
                cx.require(Access::Destroy, "fs", "src/a").unwrap_err(),
                cx.execute("write", json!({"path": "src/a"}))
                    .await
                    .unwrap_err(),
                holding(writer(), echo)
                    .execute(&cx, "write", json!({"path": "src/a"}))
                    .await
                    .unwrap_err(),
            ];
            Ok(Preview::summary(
                refused.map(|error| error.code().to_string()).join(" "),
            ))
        })
    };
    let approver = Viewer::default();
    let cx = granted(&["fs:*:src/**"])
        .with_policy(Policy::new())
        .with_approver(Arc::new(approver.clone()));
    let expected = "permission_denied permission_denied permission_denied unavailable unavailable";
    let made = view(&writing(tries), &cx, &approver)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(
        made.text(),
        expected,
        "the approval is for `a`, and the grant for `src`"
    );
}

#[tokio::test]
async fn a_preview_asks_nobody() {
    struct Answers;
    impl Person for Answers {
        fn answer<'a>(&'a self, _: &'a Question, _: &'a ToolContext) -> AnswerFuture<'a> {
            Box::pin(async { Ok(Answer::Text("canary".to_owned())) })
        }
    }
    let asks = |cx: ToolContext| -> PreviewFuture<'static> {
        Box::pin(async move {
            let question = Question::new("What is the key?", AnswerKind::Text).unwrap();
            Ok(Preview::summary(format!("{:?}", cx.ask(question).await)))
        })
    };
    let approver = Viewer::default();
    let cx = asking(&approver).with_person(Arc::new(Answers));
    let made = view(&writing(asks), &cx, &approver).await.unwrap().unwrap();
    let expected: Result<Answer, AskError> = Err(NobodyThere.into());
    assert_eq!(made.text(), format!("{expected:?}"));
}

#[tokio::test]
async fn a_preview_leaves_no_trace() {
    struct Seen(AtomicBool);
    impl ProgressSink for Seen {
        fn report(&self, _: &ToolContext, _: Progress) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    let noisy = |cx: ToolContext| -> PreviewFuture<'static> {
        Box::pin(async move {
            cx.report(Progress::message("canary"));
            drop(cx.execute("write", json!({"path": "canary"})).await);
            Ok(Preview::summary("canary"))
        })
    };
    let (approver, seen, notebook) = (
        Viewer::default(),
        Arc::new(Seen(AtomicBool::new(false))),
        Notebook::default(),
    );
    let cx = asking(&approver)
        .with_progress(seen.clone())
        .with_journal(Arc::new(notebook.clone()));
    let _ = view(&writing(noisy), &cx, &approver)
        .await
        .unwrap()
        .unwrap();
    assert!(!seen.0.load(Ordering::Relaxed));
    let lines = notebook.lines();
    assert!(
        !lines.is_empty() && !format!("{lines:?}").contains("canary"),
        "{lines:?}"
    );
}

/// The content of a file that other programs write too.
#[derive(Clone, Default)]
struct Page(Arc<AtomicUsize>);

impl Page {
    fn edit(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn shown(&self) -> Preview {
        Preview::summary(format!("edition {}", self.0.load(Ordering::Relaxed)))
    }
}

/// Allows each call, and lets another program edit the page before the first answers.
struct Slow {
    page: Page,
    edits: AtomicUsize,
    asked: std::sync::Mutex<Vec<(String, bool)>>,
}

impl Slow {
    fn new(page: &Page, edits: usize) -> Arc<Self> {
        Arc::new(Self {
            page: page.clone(),
            edits: edits.into(),
            asked: std::sync::Mutex::default(),
        })
    }

    fn asked(&self) -> Vec<(String, bool)> {
        std::mem::take(&mut *self.asked.lock().unwrap())
    }
}

impl Approver for Slow {
    fn approve<'a>(&'a self, approval: Approval<'a>) -> ApprovalFuture<'a> {
        Box::pin(async move {
            let shown = approval
                .preview()
                .await
                .unwrap()
                .map_or_else(|error| error.to_string(), |it| it.text().into());
            if self.edits.load(Ordering::Relaxed) > 0 {
                self.edits.fetch_sub(1, Ordering::Relaxed);
                self.page.edit();
            }
            let again = approval
                .preview()
                .await
                .unwrap()
                .map_or_else(|error| error.to_string(), |it| it.text().into());
            assert_eq!(shown, again, "one question shows one effect");
            self.asked
                .lock()
                .unwrap()
                .push((shown, approval.has_changed));
            Decision::Allow
        })
    }
}

fn on_page(page: &Page, show: fn(&Page) -> Result<Preview, ToolError>) -> Catalog {
    let page = page.clone();
    writing(move |_| Box::pin(std::future::ready(show(&page))))
}

#[tokio::test]
async fn an_effect_that_changes_before_the_answer_is_asked_about_again() {
    type Show = fn(&Page) -> Result<Preview, ToolError>;
    let basis: Show = |page| {
        let content = tools::Digest::hash_bytes(page.shown().text().as_bytes());
        Ok(Preview::summary("runs").with_basis(tools::Basis::Content(content)))
    };
    let beyond: Show = |page| {
        Ok(Preview::diff(format!(
            "{}+{}\n",
            "+a\n".repeat(5000),
            page.shown().text()
        )))
    };
    let fails_later: Show = |page| match page.0.load(Ordering::Relaxed) {
        0 => Ok(page.shown()),
        _ => Err(ToolError::execution_failed("gone")),
    };
    for show in [
        (|page| Ok(page.shown())) as Show,
        basis,
        beyond,
        fails_later,
    ] {
        let page = Page::default();
        let (catalog, approver) = (on_page(&page, show), Slow::new(&page, 1));
        let cx = granted(&["fs:*:**"])
            .with_policy(Policy::by_effects())
            .with_approver(approver.clone());
        catalog
            .execute(&cx, "write", json!({"path": "a"}))
            .await
            .unwrap();
        let again: Vec<bool> = approver
            .asked()
            .into_iter()
            .map(|(_, again)| again)
            .collect();
        assert_eq!(again, [false, true]);
    }
}

#[tokio::test]
async fn lines_around_a_change_and_the_time_of_day_are_not_asked_about_again() {
    type Show = fn(&Page) -> Result<Preview, ToolError>;
    let around: Show = |page| {
        Ok(Preview::diff(format!(
            "@@ -1 +1 @@\n {}\n-a\n+b\n",
            page.shown().text()
        )))
    };
    let time: Show = |page| Ok(Preview::summary("daily\n").with_unbound_text(page.shown().text()));
    for show in [around, time] {
        let page = Page::default();
        let (catalog, approver) = (on_page(&page, show), Slow::new(&page, 1));
        let cx = granted(&["fs:*:**"])
            .with_policy(Policy::by_effects())
            .with_approver(approver.clone());
        catalog
            .execute(&cx, "write", json!({"path": "a"}))
            .await
            .unwrap();
        assert_eq!(approver.asked().len(), 1);
    }
}

#[tokio::test]
async fn an_effect_that_never_stays_the_same_is_refused() {
    let page = Page::default();
    let (catalog, approver) = (
        on_page(&page, |page| Ok(page.shown())),
        Slow::new(&page, usize::MAX),
    );
    let cx = granted(&["fs:*:**"])
        .with_policy(Policy::by_effects())
        .with_approver(approver.clone());
    let error = catalog
        .execute(&cx, "write", json!({"path": "a"}))
        .await
        .unwrap_err();
    assert_eq!(error, ToolError::new("write", ToolErrorKind::Outdated));
    assert!(approver.asked().len() < 10);
}

#[tokio::test(start_paused = true)]
async fn an_effect_that_changes_while_the_approved_call_waits_for_its_turn_is_refused() {
    let page = Page::default();
    let mut catalog = on_page(&page, |page| Ok(page.shown()));
    // Another call works on the same path, edits the page, and needs no approval.
    let (editor, effects) = (
        page.clone(),
        serde_json::from_value::<Effects>(json!({"writes": ["fs:{path}"]})).unwrap(),
    );
    let edit = move |_: ToolContext, _: serde_json::Value| {
        let editor = editor.clone();
        async move {
            tokio::time::sleep(Duration::from_secs(1)).await;
            editor.edit();
        }
    };
    catalog
        .register(reader("edit").with_effects(effects), edit)
        .unwrap();
    let approver = Slow::new(&page, 0);
    let free = granted(&["fs:*:**"]);
    let cx = free
        .clone()
        .with_policy(Policy::by_effects())
        .with_approver(approver.clone());
    let path = || json!({"path": "a"});
    let (edited, outdated) = tokio::join!(
        catalog.execute(&free, "edit", path()),
        catalog.execute(&cx, "write", path())
    );
    edited.unwrap();
    assert_eq!(
        outdated.unwrap_err(),
        ToolError::new("write", ToolErrorKind::Outdated)
    );
    assert_eq!(approver.asked().len(), 1);
    catalog.execute(&cx, "write", path()).await.unwrap();
}

/// Keeps the previews of granted calls.
#[derive(Default)]
struct Previews(std::sync::Mutex<Vec<Result<String, ErrorCode>>>);

impl Layer for Previews {
    fn call<'a>(&'a self, cx: ToolContext, next: Next<'a>) -> HandlerFuture<'a> {
        HandlerFuture::new(async move {
            let made = next.preview().unwrap().await;
            let made = made.map(|preview| preview.text().to_owned());
            self.0
                .lock()
                .unwrap()
                .push(made.map_err(|error| error.code()));
            next.call(cx).await
        })
    }
}

#[tokio::test]
async fn a_layer_gets_the_preview_of_a_call_that_nobody_is_asked_about() {
    let layer = Arc::new(Previews::default());
    let cx = granted(&["fs:*:**"]).with_layer(layer.clone());
    let catalogs = [
        writing(|cx| {
            Box::pin(async move {
                cx.require(Access::Read, "fs", "a")?;
                assert!(cx.require(Access::Write, "fs", "a").is_err());
                Ok(Preview::diff("+a\n".repeat(Preview::MAX_LINES + 1)))
            })
        }),
        writing(|_| Box::pin(async { panic!("no picture") })),
    ];
    for catalog in catalogs {
        let result = catalog.execute(&cx, "write", json!({"path": "a"})).await;
        assert_eq!(result.unwrap().to_text(), "written");
    }
    let made = std::mem::take(&mut *layer.0.lock().unwrap());
    let text = made[0].as_ref().unwrap();
    assert!(
        text.ends_with("[… 3 more bytes are not shown …]\n"),
        "{text}"
    );
    assert_eq!(made[1], Err(ErrorCode::Panicked));
}
