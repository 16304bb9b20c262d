//! [`WrittenThoughts`]: separates the thoughts and the end marks that some services leave in a text.
//!
//! A server that does not know the template of its model sends `<think>…</think>` before the answer, and the mark that ends the turn
//! after it. Both count only at these places, because elsewhere a model may write about them.

use std::borrow::Cow;

/// The tags around thoughts.
const TAGS: [(&str, &str); 9] = [
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("<|channel>thought", "<channel|>"),
    ("<seed:think>", "</seed:think>"),
    ("[THINK]", "[/THINK]"),
    ("◁think▷", "◁/think▷"),
    ("<|channel|>analysis<|message|>", "<|end|>"),
];

/// The marks that begin a turn, or its answer, in the templates of models.
const START_MARKS: [&str; 5] = [
    "<|im_start|>assistant",
    "<start_of_turn>model",
    "<|assistant|>",
    "<|start|>assistant",
    "<|channel|>final<|message|>",
];

/// The marks that end a turn in the templates of models.
const END_MARKS: [&str; 10] = [
    "<|im_end|>",
    "<|endoftext|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|end|>",
    "<|end_of_text|>",
    "<|return|>",
    "<end_of_turn>",
    "</s>",
    "<｜end▁of▁sentence｜>",
];

/// A text that is read piece by piece.
#[derive(Debug, Default)]
pub(crate) struct WrittenThoughts {
    state: ThoughtState,
    /// The part of the text that is not decided yet.
    held: String,
    thoughts: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum ThoughtState {
    #[default]
    Start,
    /// Inside of the tag with this closing tag.
    Thinking(&'static str),
    /// Between the thoughts and the answer.
    Between,
    Answer,
}

impl WrittenThoughts {
    /// Separates a whole text into thoughts and answer.
    pub(crate) fn separate(text: &str) -> (String, String) {
        let mut reader = Self::default();
        let mut answer = reader.read(text).into_owned();
        answer += &reader.finish();
        if reader.thoughts.is_empty()
            && let Some((thoughts, rest)) = split_unopened(&answer)
        {
            return (thoughts.trim().to_owned(), rest.trim_start().to_owned());
        }
        (reader.thoughts.trim().to_owned(), answer)
    }

    /// Adds a piece of the text. Returns the part of the answer that is decided by now.
    pub(crate) fn read<'a>(&mut self, piece: &'a str) -> Cow<'a, str> {
        // Most pieces of an answer are decided by themselves.
        if self.state == ThoughtState::Answer && self.held.is_empty() && !piece.contains('<') {
            return piece.into();
        }
        self.read_held(piece).into()
    }

    fn read_held(&mut self, piece: &str) -> String {
        self.held += piece;
        loop {
            match self.state {
                ThoughtState::Start => {
                    let start = self.held.trim_start();
                    if let Some((tag, end)) = TAGS.iter().find(|(tag, _)| start.starts_with(tag)) {
                        self.held = start[tag.len()..].to_owned();
                        self.state = ThoughtState::Thinking(end);
                    } else if let Some(rest) =
                        START_MARKS.iter().find_map(|mark| start.strip_prefix(mark))
                    {
                        self.held = rest.trim_start().to_owned();
                    } else if START_MARKS
                        .iter()
                        .chain(TAGS.iter().map(|(tag, _)| tag))
                        // The piece may end inside of a tag, whose rest decides whether this is a thought.
                        .any(|tag| tag.starts_with(start))
                    {
                        return String::new();
                    } else {
                        self.state = ThoughtState::Answer;
                    }
                }
                ThoughtState::Thinking(end) => {
                    let Some(at) = self.held.find(end) else {
                        return String::new();
                    };
                    self.thoughts += &self.held[..at];
                    self.held = self.held[at + end.len()..].to_owned();
                    self.state = ThoughtState::Between;
                }
                ThoughtState::Between => {
                    // White space between thoughts and answer belongs to neither, and a further tag may follow it.
                    self.held = self.held.trim_start().to_owned();
                    if self.held.is_empty() {
                        return String::new();
                    }
                    self.state = ThoughtState::Start;
                }
                ThoughtState::Answer => return self.take_decided(),
            }
        }
    }

    /// Returns the rest of the answer at the end of the text.
    pub(crate) fn finish(&mut self) -> String {
        let held = std::mem::take(&mut self.held);
        if let ThoughtState::Thinking(_) = self.state {
            self.thoughts += &held;
            return String::new();
        }
        match end_mark(&held) {
            Some(at) => held[..at].to_owned(),
            None => held,
        }
    }

    /// Takes the held text up to the beginning of a possible end mark.
    fn take_decided(&mut self) -> String {
        let mut marks = self.held.match_indices('<').map(|(at, _)| at);
        let at = marks.find(|at| may_end(&self.held[*at..]));
        let rest = self.held.split_off(at.unwrap_or(self.held.len()));
        std::mem::replace(&mut self.held, rest)
    }
}

/// Separates thoughts whose opening tag is a part of the prompt: the closing tag alone ends a line. A stream has sent them as text already.
fn split_unopened(answer: &str) -> Option<(&str, &str)> {
    let (open, close) = TAGS[0];
    let (thoughts, rest) = answer.split_once(close)?;
    let ends_line = rest.is_empty() || rest.starts_with(['\n', '\r']);
    (ends_line && !thoughts.contains(open) && !rest.contains(close)).then_some((thoughts, rest))
}

/// Returns true if the rest of a text has end marks only, of which the last one may be incomplete.
fn may_end(rest: &str) -> bool {
    let rest = rest.trim_start();
    match END_MARKS.iter().find_map(|mark| rest.strip_prefix(mark)) {
        Some(rest) => may_end(rest),
        None => END_MARKS.iter().any(|mark| mark.starts_with(rest)),
    }
}

/// Returns the start of the end marks that the text ends with.
fn end_mark(text: &str) -> Option<usize> {
    let mut rest = text.trim_end();
    while let Some(mark) = END_MARKS.iter().find(|mark| rest.ends_with(*mark)) {
        rest = rest[..rest.len() - mark.len()].trim_end();
    }
    (rest.len() < text.trim_end().len()).then_some(rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closing_tag_at_the_end_of_a_line_ends_thoughts_that_the_prompt_opened() {
        let separated = WrittenThoughts::separate;
        assert_eq!(
            separated("Hm.\n</think>\n\nIt is 4."),
            ("Hm.".to_owned(), "It is 4.".to_owned())
        );
        let prose = "The tag </think> ends them.";
        assert_eq!(separated(prose), (String::new(), prose.to_owned()));
    }

    #[test]
    fn thoughts_and_end_marks_are_separated_however_the_text_arrives() {
        for (text, thoughts, answer) in [
            ("<think>\nHm.\n</think>\n\nIt is 4.", "Hm.", "It is 4."),
            ("\n<think>a < b</think>x", "a < b", "x"),
            ("<thinking>a</thinking>b<|im_end|>", "a", "b"),
            ("It is 4.<|im_end|>\n", "", "It is 4."),
            ("4</s>", "", "4"),
            (
                "<|im_start|>assistant\n<think>a</think>4<|im_end|>",
                "a",
                "4",
            ),
            ("4<|eot_id|><|im_end|>", "", "4"),
            ("<think>never closed", "never closed", ""),
            ("<think></think>x", "", "x"),
            ("[THINK]a[/THINK]b", "a", "b"),
            ("◁think▷a◁/think▷b", "a", "b"),
            ("<think>a</think>\n<think>b</think>c", "ab", "c"),
            (
                "<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>b<|return|>",
                "a",
                "b",
            ),
            (
                "Use <think> and </think>, then <|im_end|> ends it.",
                "",
                "Use <think> and </think>, then <|im_end|> ends it.",
            ),
            ("a <b>x</b> < c <", "", "a <b>x</b> < c <"),
            ("<thin", "", "<thin"),
            ("<|im_end|>", "", ""),
            ("", "", ""),
            ("  padded  ", "", "  padded  "),
        ] {
            for size in [1, 3, 1000] {
                let mut reader = WrittenThoughts::default();
                let chars: Vec<_> = text.chars().collect();
                let mut read: String = chars
                    .chunks(size)
                    .map(|piece| reader.read(&piece.iter().collect::<String>()).into_owned())
                    .collect();
                read += &reader.finish();
                assert_eq!(
                    (reader.thoughts.trim(), read.as_str()),
                    (thoughts, answer),
                    "{text:?} in pieces of {size}"
                );
            }
            assert_eq!(
                WrittenThoughts::separate(text),
                (thoughts.to_owned(), answer.to_owned())
            );
        }
    }
}
