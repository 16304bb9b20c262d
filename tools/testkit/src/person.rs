//! [`RecordingPerson`]: a person who answers by script, and a record of the questions.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};

use tools::IgnorePoison as _;
use tools::context::{AnswerFuture, NobodyThere};
use tools::{Answer, Person, Question, ToolContext};

/// A [`Person`] who gives one answer of a script for each question, and is not there after the last. Clones share the record.
///
/// ```
/// use serde_json::json;
/// use tools::question::AnswerKind;
/// use tools::{Answer, Question, ToolContext, ToolError, tool};
/// use tools_testkit::{RecordingPerson, TestHost};
///
/// /// Names a branch.
/// #[tool(name = "branch.name", reads = "user:answer")]
/// async fn name(cx: &ToolContext) -> Result<String, ToolError> {
///     match cx.ask(Question::new("Which name?", AnswerKind::Text)?).await? {
///         Answer::Text(name) => Ok(name),
///         _ => Ok("unnamed".to_owned()),
///     }
/// }
///
/// let person = RecordingPerson::new([Answer::Text("main".to_owned()), Answer::Declined]);
/// let host = TestHost::new(&[&NAME_TOOL]).with_person(person.clone());
/// assert_eq!(host.call_blocking("branch.name", json!({}))?.to_text(), "main");
/// assert_eq!(host.call_blocking("branch.name", json!({}))?.to_text(), "unnamed");
/// assert!(host.call_blocking("branch.name", json!({})).is_err());
/// assert_eq!(person.questions()[0].text(), "Which name?");
/// # Ok::<(), ToolError>(())
/// ```
#[derive(Clone, Debug)]
pub struct RecordingPerson(Arc<Mutex<Record>>);

#[derive(Debug)]
struct Record {
    script: VecDeque<Answer>,
    questions: Vec<Question>,
}

impl RecordingPerson {
    /// Creates a person who gives these answers in turn.
    pub fn new(answers: impl IntoIterator<Item = Answer>) -> Self {
        Self(Arc::new(Mutex::new(Record {
            script: answers.into_iter().collect(),
            questions: Vec::new(),
        })))
    }

    /// Returns the questions so far, oldest first.
    pub fn questions(&self) -> Vec<Question> {
        self.record().questions.clone()
    }

    fn record(&self) -> MutexGuard<'_, Record> {
        self.0.lock().ignore_poison()
    }
}

impl Person for RecordingPerson {
    fn answer<'a>(&'a self, question: &'a Question, _cx: &'a ToolContext) -> AnswerFuture<'a> {
        let mut record = self.record();
        record.questions.push(question.clone());
        let answer = record.script.pop_front().ok_or(NobodyThere);
        Box::pin(std::future::ready(answer))
    }
}
