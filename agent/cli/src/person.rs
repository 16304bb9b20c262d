//! [`TerminalPerson`]: puts the questions of tools to the person at the terminal.

use std::sync::Arc;

use anstyle::Style;
use terminal::{Dialogue, mark_rows, stderr::width};
use tools::context::{AnswerFuture, NobodyThere};
use tools::question::AnswerKind;
use tools::{Answer, Person, Question, ToolContext};

use crate::notice::{STRONG, paint};
use crate::session_view::SessionView;
use tools::visible::visible;

/// The person at the terminal. An empty line declines a question, unless it may be empty; then `-` declines.
pub(crate) struct TerminalPerson(pub(crate) Arc<SessionView>);

impl TerminalPerson {
    async fn ask(&self, question: &Question, cx: &ToolContext) -> Result<Answer, NobodyThere> {
        let mut dialogue = Dialogue::open(&self.0.console).await;
        let mut text = render_question(question, cx, width()) + &prompt(question);
        loop {
            let line = dialogue.ask(&text).await.ok_or(NobodyThere)?;
            match parse(line.trim_end_matches(['\r', '\n']), question) {
                Some(answer) => return Ok(answer),
                None => text = prompt(question),
            }
        }
    }
}

impl Person for TerminalPerson {
    fn answer<'a>(&'a self, question: &'a Question, cx: &'a ToolContext) -> AnswerFuture<'a> {
        Box::pin(self.ask(question, cx))
    }
}

/// Returns the question. The words of the tool are marked on each line, so that they cannot look like an approval or like other words
/// of this program.
fn render_question(question: &Question, cx: &ToolContext, width: usize) -> String {
    let tool = cx.tool();
    let tool = tool.map_or_else(|| "a tool".into(), |tool| visible(tool));
    let agent = cx
        .agent()
        .map(|agent| format!(" of the sub-agent {}", visible(agent)))
        .unwrap_or_default();
    let mut text = format!("{} asks you:\n", paint(STRONG, format!("{tool}{agent}")));
    let mut lines: Vec<_> = question.text().lines().map(str::to_owned).collect();
    if let AnswerKind::Choice { options } = question.kind() {
        // Each on one line, because a line break could add a number.
        let numbered = options.iter().zip(1..);
        lines.extend(numbered.map(|(option, number)| format!("{number}. {option}")));
    }
    let rows = lines
        .iter()
        .map(|line| mark_rows(&visible(line), Style::new(), width));
    text.extend(rows);
    text
}

/// Returns the last line of the question, which says how to answer.
fn prompt(question: &Question) -> String {
    let how = match question.kind() {
        AnswerKind::Choice { options } => format!("a number from 1 to {}", options.len()),
        AnswerKind::Confirmation => "[y] yes or [n] no".to_owned(),
        _ => "a line of text".to_owned(),
    };
    let otherwise = if question.may_be_empty {
        "empty for the default or none, - to decline"
    } else {
        "empty to decline"
    };
    format!("{} {how}, {otherwise}: ", paint(STRONG, "Answer?"))
}

/// Returns the answer of a line, or `None` if it is unclear.
fn parse(line: &str, question: &Question) -> Option<Answer> {
    let word = line.trim();
    match (question.may_be_empty, word) {
        (true, "") => return Some(Answer::Text(String::new())),
        (true, "-") | (false, "") => return Some(Answer::Declined),
        _ => {}
    }
    match question.kind() {
        AnswerKind::Choice { options } => {
            let position = word.parse::<usize>().ok()?.checked_sub(1);
            let option = position.and_then(|position| options.get(position))?;
            Some(Answer::Choice(option.clone()))
        }
        AnswerKind::Confirmation => match word.to_ascii_lowercase().as_str() {
            "y" | "yes" => Some(Answer::Confirmation(true)),
            "n" | "no" => Some(Answer::Confirmation(false)),
            _ => None,
        },
        _ => Some(Answer::Text(line.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tools::Host;

    fn choice() -> AnswerKind {
        AnswerKind::Choice {
            options: ["red", "green\n3. blue"].map(str::to_owned).to_vec(),
        }
    }

    fn question(kind: AnswerKind) -> Question {
        Question::new("Which?", kind).unwrap()
    }

    #[test]
    fn an_unclear_answer_is_none_and_an_empty_one_declines() {
        for kind in [AnswerKind::Text, AnswerKind::Confirmation, choice()] {
            assert_eq!(parse("  ", &question(kind)), Some(Answer::Declined));
        }
        for line in ["0", "3", "-1", "red", "1 2"] {
            assert_eq!(parse(line, &question(choice())), None, "{line}");
        }
        assert_eq!(
            parse(" 2 ", &question(choice())),
            Some(Answer::Choice("green\n3. blue".to_owned()))
        );
        for line in ["1", "maybe", "y n"] {
            assert_eq!(
                parse(line, &question(AnswerKind::Confirmation)),
                None,
                "{line}"
            );
        }
        assert_eq!(
            parse("NO", &question(AnswerKind::Confirmation)),
            Some(Answer::Confirmation(false))
        );
        assert_eq!(
            parse(" as typed ", &question(AnswerKind::Text)),
            Some(Answer::Text(" as typed ".to_owned()))
        );
        assert_eq!(
            parse("-", &question(AnswerKind::Text)),
            Some(Answer::Text("-".to_owned()))
        );
    }

    #[test]
    fn an_empty_answer_is_one_if_the_question_permits_it() {
        for kind in [AnswerKind::Text, AnswerKind::Confirmation, choice()] {
            let mut question = question(kind);
            question.may_be_empty = true;
            assert_eq!(parse("", &question), Some(Answer::Text(String::new())));
            assert_eq!(parse(" - ", &question), Some(Answer::Declined));
        }
    }

    #[test]
    fn no_line_of_a_question_begins_like_one_of_the_program() {
        let text = format!(
            "Which?\nAllow? [y] once, [n] no: \r\n{}Allow? [y]",
            " ".repeat(76)
        );
        let question = Question::new(text, choice()).unwrap();
        let shown = render_question(&question, &Host::new(), 40);
        let (first, rest) = shown.split_once('\n').unwrap();
        assert!(first.ends_with("asks you:"), "{first}");
        assert!(
            rest.lines()
                .all(|line| line.starts_with("  | ") && line.chars().count() < 40),
            "{rest}"
        );
        assert!(
            rest.contains("  | 1. red\n  | 2. green\\n3. blue\n"),
            "{rest}"
        );
    }
}
