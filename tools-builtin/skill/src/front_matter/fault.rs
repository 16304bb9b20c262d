//! [`Fault`]: a deviation of a `SKILL.md` from the specification.

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
