//! [`Question`]: a question of a tool to the person at the host.

use crate::tool_error::ToolError;

/// A question to a [`Person`](crate::Person): a text, and the kind of its answer. See [`ToolContext::ask`](crate::ToolContext::ask).
///
/// ```
/// use tools::question::AnswerKind;
/// use tools::Question;
///
/// let options = ["staging", "production"].map(str::to_owned).to_vec();
/// let question = Question::new("Which server gets the release?", AnswerKind::Choice { options })?;
/// assert!(Question::new("Which?", AnswerKind::Choice { options: Vec::new() }).is_err());
/// # let _ = question;
/// # Ok::<(), tools::question::InvalidQuestion>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    text: String,
    kind: AnswerKind,
    /// True if an empty answer is permitted, as the asker's default or none: `Answer::Text` without characters, whatever the kind is.
    pub may_be_empty: bool,
}

/// The kind of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AnswerKind {
    /// Any text.
    Text,
    /// One of several options.
    Choice {
        /// The options: 2 to [`MAX_OPTIONS`](Question::MAX_OPTIONS), each different and of at most
        /// [`MAX_OPTION_CHARS`](Question::MAX_OPTION_CHARS).
        options: Vec<String>,
    },
    /// Yes or no.
    Confirmation,
}

impl Question {
    /// The maximum length of the text, in characters.
    pub const MAX_CHARS: usize = 2000;
    /// The maximum number of options.
    pub const MAX_OPTIONS: usize = 20;
    /// The maximum length of an option, in characters.
    pub const MAX_OPTION_CHARS: usize = 200;

    /// Creates a question.
    ///
    /// # Errors
    /// Returns an error if the text or the options are empty, repeated, too few, too many or too long.
    pub fn new(text: impl Into<String>, kind: AnswerKind) -> Result<Self, InvalidQuestion> {
        let text = text.into();
        if text.trim().is_empty() {
            return Err(InvalidQuestion::Empty);
        }
        let length = text.chars().count();
        // A longer one would be cut where it is shown, and a person would answer a part of it.
        if length > Self::MAX_CHARS {
            return Err(InvalidQuestion::TooLong { length });
        }
        if let AnswerKind::Choice { options } = &kind {
            check_options(options)?;
        }
        Ok(Self {
            text,
            kind,
            may_be_empty: false,
        })
    }

    /// Returns the text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the kind of the answer.
    pub fn kind(&self) -> &AnswerKind {
        &self.kind
    }

    /// Returns true if the answer is of the question's kind. A declined question has no answer, so it accepts that too.
    pub(crate) fn accepts(&self, answer: &Answer) -> bool {
        match (answer, &self.kind) {
            (Answer::Declined, _)
            | (Answer::Text(_), AnswerKind::Text)
            | (Answer::Confirmation(_), AnswerKind::Confirmation) => true,
            // The tool goes on with the option as text.
            (Answer::Choice(chosen), AnswerKind::Choice { options }) => options.contains(chosen),
            (Answer::Text(text), _) => self.may_be_empty && text.is_empty(),
            _ => false,
        }
    }
}

fn check_options(options: &[String]) -> Result<(), InvalidQuestion> {
    if !(2..=Question::MAX_OPTIONS).contains(&options.len()) {
        return Err(InvalidQuestion::OptionCount {
            count: options.len(),
        });
    }
    for (position, option) in options.iter().enumerate() {
        let number = position + 1;
        let length = option.chars().count();
        if option.trim().is_empty() {
            return Err(InvalidQuestion::EmptyOption { number });
        }
        if length > Question::MAX_OPTION_CHARS {
            return Err(InvalidQuestion::LongOption { number, length });
        }
        if let Some(first) = options[..position]
            .iter()
            .position(|earlier| earlier == option)
        {
            return Err(InvalidQuestion::RepeatedOption {
                first: first + 1,
                number,
            });
        }
    }
    Ok(())
}

/// The answer of a [`Person`](crate::Person) to a [`Question`]. It is data from a user: a tool must not take it for an
/// approval of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Answer {
    /// The text as typed, without the line break.
    Text(String),
    /// The chosen option.
    Choice(String),
    /// True for yes.
    Confirmation(bool),
    /// The person is there and does not want to answer.
    Declined,
}

/// The error for a question that cannot be put to a person. Options are numbered from 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidQuestion {
    /// The text is empty.
    #[error("the question is empty; write its text")]
    Empty,
    /// The text is too long.
    #[error(
        "the question has {length} characters, and {} are allowed; shorten it",
        Question::MAX_CHARS
    )]
    TooLong {
        /// Its length in characters.
        length: usize,
    },
    /// There are too few or too many options.
    #[error(
        "the question has {count} options; give 2 to {} of them, or ask for a text",
        Question::MAX_OPTIONS
    )]
    OptionCount {
        /// The number of options.
        count: usize,
    },
    /// An option is empty.
    #[error("option {number} is empty; write its text")]
    EmptyOption {
        /// The number of the option.
        number: usize,
    },
    /// An option is too long.
    #[error(
        "option {number} has {length} characters, and {} are allowed; shorten it",
        Question::MAX_OPTION_CHARS
    )]
    LongOption {
        /// The number of the option.
        number: usize,
        /// Its length in characters.
        length: usize,
    },
    /// Two options are equal.
    #[error("options {first} and {number} are equal; remove one of them")]
    RepeatedOption {
        /// The number of the first one.
        first: usize,
        /// The number of its repetition.
        number: usize,
    },
}

impl From<InvalidQuestion> for ToolError {
    fn from(error: InvalidQuestion) -> Self {
        Self::execution_failed(error.to_string())
    }
}
