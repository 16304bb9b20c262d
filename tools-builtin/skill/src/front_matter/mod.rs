//! [`SkillText`]: the text of a `SKILL.md`, read as leniently as people write it.

mod fields;
mod lines;
mod yaml;

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::json;
use tools_text::{TextEncoding, decode_input};

use self::fields::Fields;

/// The maximum length of a front matter that is read, in bytes.
const MAX_FRONT_MATTER: usize = 64 * 1024;

/// The text of a `SKILL.md`: its front matter, its body and the faults of both.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SkillText {
    /// The front matter. A field that is missing or cannot be read is empty.
    pub front_matter: FrontMatter,
    /// The Markdown after the front matter.
    pub body: String,
    /// The deviations from the specification, in the order in which they were found.
    pub faults: Vec<Fault>,
}

/// The fields of the specification. All of them are text from outside: characters that nobody sees are still in them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct FrontMatter {
    /// The name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The description, which says what the skill does and when to use it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The licence, or the file that has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub license: Option<String>,
    /// The requirements on the environment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compatibility: Option<String>,
    /// Further properties. A value that is no text is shown as JSON.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<String, String>,
    /// The tools that the author wants to be permitted. No code obeys this list.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allowed_tools: Vec<String>,
}

impl SkillText {
    /// Reads the bytes of a `SKILL.md`. Every file has a result: faults are listed instead of returned.
    ///
    /// ```
    /// use tools_skill::SkillText;
    ///
    /// let text = SkillText::from_bytes(b"---\nname: tides\ndescription: Use when: the sea matters\n---\nLook it up.\n");
    /// assert_eq!(text.front_matter.description.as_deref(), Some("Use when: the sea matters"));
    /// assert_eq!((text.body.as_str(), text.faults.len()), ("Look it up.\n", 1));
    /// ```
    pub fn from_bytes(bytes: &[u8]) -> Self {
        let mut faults = Vec::new();
        if decode_input(bytes).is_err() {
            faults.push(Fault::NotUtf8);
        }
        let text = TextEncoding::of(bytes)
            .decode(bytes)
            .replace("\r\n", "\n")
            .replace('\r', "\n");
        let Parts { front_matter, body } = Parts::split(&text, &mut faults);
        let mut front_matter = match front_matter {
            None => FrontMatter::default(),
            Some(lines) if lines.len() > MAX_FRONT_MATTER => {
                faults.push(Fault::TooLong {
                    most: MAX_FRONT_MATTER,
                });
                FrontMatter::default()
            }
            Some(lines) => {
                let fields = yaml::read(&lines).unwrap_or_else(|error| {
                    faults.push(error);
                    lines::read(&lines)
                });
                Fields::new(fields, &mut faults).into_front_matter()
            }
        };
        if front_matter.description.is_none() {
            faults.push(Fault::NoDescription);
            front_matter.description = first_sentence(&body);
        }
        Self {
            front_matter,
            body,
            faults,
        }
    }
}

/// Returns the first line of a body that has words, without the marks of a heading.
fn first_sentence(body: &str) -> Option<String> {
    let mut lines = body
        .lines()
        .map(|line| line.trim_start_matches(['#', '>', '-', '*', ' ']).trim());
    lines
        .find(|line| line.chars().any(char::is_alphanumeric))
        .map(str::to_owned)
}

/// A deviation of a `SKILL.md` from the specification. The skill is read all the same.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// The file is not UTF-8.
    #[error("SKILL.md is not UTF-8; characters were replaced; save it as UTF-8")]
    NotUtf8,
    /// The file has no front matter.
    #[error(
        "there is no front matter; begin SKILL.md with a line `---`, then name and description, then a line `---`"
    )]
    NoFrontMatter,
    /// The front matter has no last line.
    #[error("the front matter has no closing line `---`; add it before the text")]
    NoClosingLine,
    /// The front matter was not read.
    #[error("the front matter has more than {most} bytes and was not read; shorten it")]
    TooLong {
        /// The limit.
        most: usize,
    },
    /// The front matter is not YAML, so its lines were read one by one.
    #[error(
        "line {line} of the front matter is not YAML ({reason}); put values with a colon in quotation marks, and indent with spaces"
    )]
    Yaml {
        /// The line of the file, counted from 1.
        line: usize,
        /// The reason.
        reason: String,
    },
    /// A field has a value of another type.
    #[error("{field} is not {expected}; its text was used")]
    Type {
        /// The field.
        field: &'static str,
        /// The type of the specification.
        expected: &'static str,
    },
    /// A field of the specification occurs more than once.
    #[error("the field {field:?} occurs twice; the first one counts; remove the other")]
    Twice {
        /// The field.
        field: String,
    },
    /// There is no description.
    #[error(
        "there is no description; the first line of the text stands for it; say what the skill does and when to use it"
    )]
    NoDescription,
    /// A field is longer than the specification permits.
    #[error("{field} has more than {most} characters; shorten it")]
    Long {
        /// The field.
        field: &'static str,
        /// The limit of the specification.
        most: usize,
    },
    /// There is no name.
    #[error("there is no name; that of the folder stands for it")]
    NoName,
    /// The name cannot be used.
    #[error(
        "the name {name:?} cannot be used, so that of the folder stands for it; use letters, digits and hyphens"
    )]
    UnusableName {
        /// The name, cut and with visible characters.
        name: String,
    },
    /// The name is not that of the folder.
    #[error("the name {name:?} is not that of the folder, {folder:?}; rename one of them")]
    OtherName {
        /// The name.
        name: String,
        /// The folder.
        folder: String,
    },
    /// The name is not spelled as the specification wants it.
    #[error("the name {name:?} is not of lower-case letters, digits and single hyphens")]
    Spelling {
        /// The name.
        name: String,
    },
    /// The file has another name than `SKILL.md`.
    #[error("the file is called {name:?}; rename it to SKILL.md")]
    FileName {
        /// The name.
        name: String,
    },
}

/// The front matter and the body of a `SKILL.md`.
struct Parts {
    /// The lines between the two lines `---`. `None` if there are none.
    pub(super) front_matter: Option<String>,
    pub(super) body: String,
}

impl Parts {
    /// Splits a text whose lines end with `\n`. Blank lines before the front matter are skipped.
    pub(super) fn split(text: &str, faults: &mut Vec<Fault>) -> Self {
        let mut rest = text;
        while let Some((line, after)) = rest
            .split_once('\n')
            .filter(|(line, _)| line.trim().is_empty())
        {
            let _ = line;
            rest = after;
        }
        let (first, after) = rest.split_once('\n').unwrap_or((rest, ""));
        if !is_boundary(first) {
            faults.push(Fault::NoFrontMatter);
            return Self {
                front_matter: None,
                body: text.to_owned(),
            };
        }
        let mut length = 0;
        for line in after.split_inclusive('\n') {
            if is_boundary(line) || line.trim_end() == "..." {
                let body = after[length + line.len()..]
                    .trim_start_matches('\n')
                    .to_owned();
                return Self {
                    front_matter: Some(after[..length].to_owned()),
                    body,
                };
            }
            length += line.len();
        }
        faults.push(Fault::NoClosingLine);
        let end = end_of_fields(after);
        let body = after[end..].trim_start_matches('\n').to_owned();
        Self {
            front_matter: Some(after[..end].to_owned()),
            body,
        }
    }
}

/// Returns true for a line of three or more hyphens.
fn is_boundary(line: &str) -> bool {
    let line = line.trim_end();
    line.len() >= 3 && line.bytes().all(|byte| byte == b'-')
}

/// Returns the end of the first lines that look like fields: the first blank line or heading.
fn end_of_fields(text: &str) -> usize {
    let lines = text.split_inclusive('\n');
    lines
        .take_while(|line| !line.trim().is_empty() && !line.starts_with('#'))
        .map(str::len)
        .sum()
}

/// A value of a front matter. YAML's numbers, dates and truth values are texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    Text(String),
    List(Vec<Value>),
    Map(Vec<(String, Value)>),
}

impl Value {
    /// Returns the text of a value. Of a list, it is that of its items.
    pub(super) fn to_text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::List(items) => tools::join(items.iter().map(Self::to_text), ", "),
            Self::Map(fields) => {
                let fields = fields.iter();
                let fields = fields.map(|(key, value)| format!("{key}: {}", value.to_text()));
                tools::join(fields, ", ")
            }
        }
    }

    /// Returns a text as it is, and any other value as JSON.
    pub(super) fn render(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            value => value.to_json().to_string(),
        }
    }

    fn to_json(&self) -> serde_json::Value {
        match self {
            Self::Text(text) => json!(text),
            Self::List(items) => items.iter().map(Self::to_json).collect(),
            Self::Map(fields) => fields
                .iter()
                .map(|(key, value)| (key.clone(), value.to_json()))
                .collect(),
        }
    }
}
