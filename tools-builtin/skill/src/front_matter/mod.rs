//! [`SkillText`]: the text of a `SKILL.md`, read as leniently as people write it.

mod fault;
mod fields;
mod lines;
mod parts;
mod value;
mod yaml;

use std::collections::BTreeMap;

use serde::Serialize;
use tools_text::{TextEncoding, decode_input};

pub use fault::Fault;

use self::fields::Fields;
use self::parts::Parts;

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
