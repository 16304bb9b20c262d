//! `memory.save`: saves a memory.

use jiff::Timestamp;
use tools::call::AskError;
use tools::question::AnswerKind;
use tools::{Answer, Question, ToolContext, ToolError, ToolErrorKind, tool};

use crate::limits::MAX_TAGS;
use crate::memory::{Memory, principal};
use crate::row::{MemoryEntry, insert};
use crate::scope::PATTERN;

/// Saves a fact for later sessions, such as a preference of the user or how a project is built. Save no secrets, and nothing that a
/// file of the workspace says. The same text is saved once.
#[tool(
    name = "memory.save",
    title = "Save a memory",
    writes = "memory:{scope}",
    idempotent,
    needs = Memory,
    tags = ["memory"],
    example({"text": "The tests need PostgreSQL on port 5433.", "tags": ["tests"]}),
    example({"text": "The user prefers short answers.", "scope": "user"}),
)]
pub(crate) async fn save(
    cx: &ToolContext,
    /// The fact, in a sentence that is understood without this conversation. At most 4096 bytes.
    text: String,
    /// `project`: for sessions in this workspace. `user`: for all sessions of the user.
    #[serde(default = "crate::scope::default_scope")]
    #[schemars(regex(pattern = PATTERN))]
    scope: String,
    /// Words by which the memory is found.
    #[serde(default)]
    #[schemars(length(max = MAX_TAGS), inner(regex(pattern = "^[a-z0-9_.-]{1,32}$")))]
    tags: Vec<String>,
) -> Result<String, ToolError> {
    let memory = cx.need::<Memory>()?;
    // A host that does not say what its sessions read may have shown them anything.
    let confirmed = !cx.is_exposed() || agrees(cx, text.trim(), &tags).await?;
    let entry = MemoryEntry {
        id: 0,
        principal: principal(cx),
        scope: memory.scope(&scope)?.to_string(),
        text: text.trim().to_owned(),
        tags,
        author: cx.agent().map_or_else(
            || "the agent".to_owned(),
            |agent| format!("the sub-agent {agent}"),
        ),
        session: cx.session().map(str::to_owned),
        saved: Timestamp::now(),
        confirmed,
    };
    let limits = memory.limits();
    let write = memory.write(move |transaction| insert(transaction, limits, &entry));
    let (saved, is_new) = write.await?;
    let known = if is_new { "saved" } else { "known already" };
    let later = if saved.confirmed {
        ""
    } else {
        "; this session has read text from outside, so later sessions do not begin with it until the user confirms it"
    };
    Ok(format!("{known} as memory {}{later}", saved.id))
}

/// Returns true if the person at the host confirms the memory of a session that has read text of strangers. Without a person, or if the
/// question could show only a part of the text, the memory waits.
async fn agrees(cx: &ToolContext, text: &str, tags: &[String]) -> Result<bool, ToolError> {
    if !cx.has_person_at_host() {
        return Ok(false);
    }
    let tags = if tags.is_empty() {
        String::new()
    } else {
        format!("\nTags: {}", tags.join(", "))
    };
    // No line of the memory looks like a line of the question.
    let lines = text.split('\n').map(|line| format!("\n  | {line}"));
    let lines: String = lines.collect();
    let question = format!(
        "This session has read text that may be from strangers. May later sessions begin with this memory? Without a yes, it waits \
         until you confirm it.{lines}{tags}"
    );
    let Ok(question) = Question::new(question, AnswerKind::Confirmation) else {
        return Ok(false);
    };
    match cx.ask(question).await {
        Ok(answer) => Ok(answer == Answer::Confirmation(true)),
        Err(AskError::Cancelled) => Err(ToolErrorKind::Cancelled.into()),
        Err(_) => Ok(false),
    }
}
