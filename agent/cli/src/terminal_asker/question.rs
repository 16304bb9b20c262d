//! The text of an approval question, and its answers.

use std::fmt::Write as _;

use agent::consent::{ApprovalQuestion, CHANGED};
use anstyle::Style;
use terminal::{mark_rows, stderr::width};
use tools::{Access, Preview, ToolError, join};

use super::excerpt::{ANSWER_V, Excerpt};
use super::preview;
use crate::notice::{ALERT, BAD, STRONG, paint};
use host::fit;
use tools::visible::visible;

/// The number of characters of the arguments shown at first.
const SHOWN: usize = 2000;

/// The answer that approves one call.
const ONCE: &str = "[y] once,";

/// The answer that approves equal calls, too.
const SESSION: &str = "[s] for this session,";

/// A typed answer to an approval question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TypedAnswer {
    /// Approves this call.
    Once,
    /// Approves this call and later calls of the tool on the same targets.
    Session,
    /// Approves this call and, by a rule of the user, later ones: in the file of MCP servers all calls of the tool, or else those that a
    /// clause covers in this project.
    Always,
    /// Denies this call.
    No,
    /// Shows the whole arguments and the whole preview, and asks again.
    View,
}

impl TypedAnswer {
    /// Parses a line; an empty one denies. Returns `None` if the text is unknown.
    pub(super) fn parse(line: &str) -> Option<Self> {
        match line.trim().to_ascii_lowercase().as_str() {
            "y" | "yes" => Some(Self::Once),
            "s" | "session" => Some(Self::Session),
            "a" | "always" => Some(Self::Always),
            "" | "n" | "no" => Some(Self::No),
            "v" | "view" => Some(Self::View),
            _ => None,
        }
    }
}

/// Returns the question, without the [`choices`]. It shows every target, because a person cannot approve unseen ones.
///
/// The words of the call are marked on each line, so that they cannot look like another question.
pub(super) fn question(
    question: &ApprovalQuestion<'_>,
    preview: Option<&Result<Preview, ToolError>>,
    is_whole: bool,
) -> Excerpt {
    let approval = question.approval;
    let width = width();
    let caller = paint(STRONG, question.caller());
    let mut text = format!("{caller} {}:\n", question.verb());
    for target in approval.targets {
        let is_loss = target.access() == Access::Destroy;
        let style = if is_loss { BAD } else { ALERT };
        let remarks = question.remarks(target);
        text += &mark_rows(
            &format!("{}{remarks}", visible(&target.to_string())),
            style,
            width,
        );
    }
    if question.has_changed {
        text += &format!("{}\n", paint(ALERT, CHANGED));
    }
    let arguments = approval.arguments.to_string();
    // A preview usually repeats long texts of the arguments.
    let shown = match preview {
        Some(Ok(preview)) if !is_whole => question.arguments_beside(preview).to_string(),
        _ => arguments.clone(),
    };
    text += "with:\n";
    let mut asked = Excerpt {
        text,
        is_cut: shown != arguments,
        ..Excerpt::default()
    };
    let most = if is_whole { usize::MAX } else { SHOWN };
    asked.push(Excerpt::from_line(
        &visible(&shown),
        most,
        Style::new(),
        width,
        ANSWER_V,
    ));
    // A URL carries data out by any of its characters, so an excerpt does not suffice.
    for url in question.urls().into_iter().filter(|_| asked.is_cut) {
        asked.text += "the whole URL:\n";
        asked.text += &mark_rows(&visible(url), ALERT, width);
    }
    match preview {
        Some(Ok(preview)) => {
            asked.text += "preview:\n";
            asked.push(preview::lines(preview, is_whole, width, ANSWER_V));
        }
        Some(Err(error)) => {
            asked.is_hidden = question.needs_preview();
            let _ = writeln!(asked.text, "{}", paint(ALERT, "no preview:"));
            asked.text += &mark_rows(&visible(&error.to_string()), Style::new(), width);
        }
        None => {}
    }
    asked
}

/// Returns the last lines of the question. They repeat the call, which may be far above, and list the answers.
/// A yes is one of them only if everything was shown. A rule is one only if it `may_be_kept`, and a clause only if it `may_be_granted`.
pub(super) fn choices(
    question: &ApprovalQuestion<'_>,
    shown: &Excerpt,
    may_be_kept: bool,
    may_be_granted: bool,
) -> String {
    let approval = question.approval;
    let allow = "Allow?";
    let targets = join(
        approval.targets.iter().map(|target| format!(" {target}")),
        ",",
    );
    let call = fit::cut(
        &format!("{}{}", question.caller(), visible(&targets)),
        width().saturating_sub(allow.len() + 2),
    );
    let yes: &[&str] = match (question.holds_for_hosts(), question.may_last()) {
        // Nobody can approve a part of the call that no question showed.
        _ if !shown.is_approvable() => &[],
        (true, _) => &["[y] this host for this session,"],
        (false, true) if may_be_granted => &[ONCE, SESSION, "[a] always in this project,"],
        (false, true) => &[ONCE, SESSION],
        (false, false) if may_be_kept => &[
            ONCE,
            "[a] always any call of this tool (written to mcp.json),",
        ],
        (false, false) => &[ONCE],
    };
    let view = match (shown.is_cut, shown.is_approvable()) {
        (true, true) => Some("[v] view all,"),
        (true, false) => Some("[v] view all, which a yes needs,"),
        (false, _) => None,
    };
    let answers = yes.iter().copied().chain(view).chain(["[n] no: "]);
    let rows = answer_rows(answers, width());
    format!("{} {call}\n{rows}", paint(STRONG, allow))
}

/// Returns the answers in rows of at most this number of columns, which break between answers.
fn answer_rows<'a>(answers: impl Iterator<Item = &'a str>, width: usize) -> String {
    let mut rows = String::new();
    let mut used = width;
    for answer in answers {
        used += 1 + answer.len();
        if used > width {
            used = 2 + answer.len();
            rows += if rows.is_empty() { "  " } else { "\n  " };
        } else {
            rows.push(' ');
        }
        rows += answer;
    }
    rows
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use agent::consent::{ApprovalAnswer, ApprovalAnswerFuture, Asker, SessionConsent};
    use serde_json::{Value, json};
    use tools::{Catalog, Effects, Grant, Host, Tool, ToolContext};

    use super::*;

    /// Denies, and keeps the question and its choices as plain text without marks.
    struct Shown(Arc<Mutex<String>>);

    impl Asker for Shown {
        fn ask<'a>(&'a self, asked: ApprovalQuestion<'a>) -> ApprovalAnswerFuture<'a> {
            let excerpt = question(&asked, None, false);
            let choices = choices(&asked, &excerpt, false, false);
            let text = excerpt.text + &choices;
            *self.0.lock().unwrap() = anstream::adapter::strip_str(&text)
                .to_string()
                .replace("\n  | ", "");
            Box::pin(async {
                ApprovalAnswer::No {
                    reason: String::new(),
                }
            })
        }
    }

    /// Returns the question about a call that reads a host.
    fn shown(grant: &str, arguments: Value) -> String {
        let mut catalog = Catalog::new();
        let effects: Effects =
            serde_json::from_value(json!({"reads": ["net:{url|host}"]})).unwrap();
        let parameters = json!({"type": "object", "required": ["url"], "properties": {"url": {"type": "string"}}});
        let tool = Tool::new("fetch", "Reads a page.", parameters)
            .unwrap()
            .with_effects(effects);
        catalog
            .register(tool, async |_: ToolContext, _: Value| "read")
            .unwrap();
        let text = Arc::default();
        let cx = Host::new().with_grant(Grant::parse([grant]).unwrap());
        let cx = cx.with_approver(Arc::new(SessionConsent::new(Shown(Arc::clone(&text)))));
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime
            .block_on(catalog.execute(&cx, "fetch", arguments))
            .unwrap_err();
        let text = text.lock().unwrap();
        text.clone()
    }

    #[test]
    fn the_whole_url_is_shown_when_other_arguments_are_cut() {
        let url = format!("https://a.example/?q={}\u{202e}end", "x".repeat(8000));
        let text = shown(
            "net:read:**",
            json!({"about": "y".repeat(5000), "url": url}),
        );
        let whole = url.replace('\u{202e}', r"\u{202e}");
        assert!(
            text.contains(&whole) && text.contains("[v] view all") && !text.contains('\u{202e}'),
            "{text}"
        );
        assert!(!text.contains(&"y".repeat(2001)), "{text}");
        // An uncut question has it among the arguments.
        let short = shown("net:read:**", json!({"url": "https://a.example/?q=1"}));
        assert_eq!(short.matches("?q=1").count(), 1, "{short}");
    }

    #[test]
    fn the_choices_say_how_long_a_yes_holds() {
        let arguments = json!({"url": "https://a.example/"});
        let unnamed = shown("net:read:**", arguments.clone());
        assert!(
            unnamed.contains("net:read:a.example (no grant names this host"),
            "{unnamed}"
        );
        assert!(
            unnamed.contains("[y] this host for this session, [n]"),
            "{unnamed}"
        );
        let ungranted = shown("fs:read:**", arguments);
        assert!(
            ungranted.contains("[y] once, [s] for this session, [n]"),
            "{ungranted}"
        );
    }

    #[test]
    fn the_choices_break_between_answers() {
        let answers = [ONCE, SESSION, "[a] always in this project,", "[n] no: "];
        let rows = |width| answer_rows(answers.into_iter(), width);
        assert_eq!(
            rows(80),
            "  [y] once, [s] for this session, [a] always in this project, [n] no: "
        );
        assert_eq!(
            rows(45),
            "  [y] once, [s] for this session,\n  [a] always in this project, [n] no: "
        );
        assert_eq!(
            rows(10),
            "  [y] once,\n  [s] for this session,\n  [a] always in this project,\n  [n] no: "
        );
    }

    #[test]
    fn only_a_clear_yes_is_one() {
        assert_eq!(TypedAnswer::parse("Y\n"), Some(TypedAnswer::Once));
        assert_eq!(
            TypedAnswer::parse(" session \r\n"),
            Some(TypedAnswer::Session)
        );
        assert_eq!(TypedAnswer::parse("a\n"), Some(TypedAnswer::Always));
        for line in ["\n", "n\n", "NO\n"] {
            assert_eq!(TypedAnswer::parse(line), Some(TypedAnswer::No), "{line:?}");
        }
        for line in ["yy\n", "ok\n", "1\n", "y n\n"] {
            assert_eq!(TypedAnswer::parse(line), None, "{line:?}");
        }
    }
}
