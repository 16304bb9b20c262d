//! [`FsError`]: why a file tool could not do its work.

use std::io;

use tools::ToolError;
use tools::protocol::InvalidTarget;

use crate::kind::Kind;
use crate::path::RelativePath;

/// Why a file tool could not do its work, in words for the model that called it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FsError {
    #[error("there is no `{path}`{}", suggested(near))]
    Missing { path: RelativePath, near: Vec<String> },
    #[error("there is no directory `{path}`; set `parents` where the tool has it, or choose one that exists")]
    NoDirectory { path: RelativePath },
    #[error("`{path}` is {kind}, so there is nothing below it; leave out what follows it")]
    NotADirectory { path: RelativePath, kind: Kind },
    #[error("`{path}` is {kind}; name a directory, or read it with fs.read")]
    NotListable { path: RelativePath, kind: Kind },
    #[error("`{path}` is a directory; list it with fs.list, and read one of its files")]
    IsADirectory { path: RelativePath },
    #[error("`{path}` is {kind}, and only regular files are read; choose another one")]
    Special { path: RelativePath, kind: Kind },
    #[error("`{path}` is {kind}, and only regular files are written; choose another path")]
    NotWritable { path: RelativePath, kind: Kind },
    #[error("`{path}` is marked as read-only; leave it, or have the mark taken off")]
    ReadOnly { path: RelativePath },
    #[error("the name `{begin}…` has {length} bytes, more than the file system takes; choose a shorter one")]
    LongName { length: usize, begin: String },
    #[error("names like that of `{path}` are for the file tools themselves; choose another one")]
    Reserved { path: RelativePath },
    #[error("`{path}` is out of reach for file tools, whatever is granted; choose another path")]
    Hidden { path: RelativePath },
    #[error(
        "`{path}` leads to files that file tools may not touch, whatever is granted, so it stays; choose another path"
    )]
    LeadsToHidden { path: RelativePath },
    #[error("the root of the workspace stays as it is and where it is; name something in it")]
    Root,
    #[error("there is {kind} at `{path}` already; {advice}")]
    Taken { path: RelativePath, kind: Kind, advice: &'static str },
    #[error("`{path}` was changed by somebody else meanwhile, and nothing was written; read it and try again")]
    Changed { path: RelativePath },
    #[error("`{path}` has more than {limit} bytes, too much for this tool; work on a smaller file")]
    TooLarge { path: RelativePath, limit: u64 },
    #[error("directories below `{path}` are nested deeper than {limit}; begin at a deeper one")]
    TooDeep { path: RelativePath, limit: usize },
    #[error("there are more than {limit} entries below `{path}`; take its parts one by one")]
    TooMany { path: RelativePath, limit: u64 },
    #[error("`{path}` has entries; remove them first, or set `recursive` to remove it with everything in it")]
    NotEmpty { path: RelativePath },
    #[error("`{path}` has an entry whose name no argument could spell, so it cannot be checked against the grant")]
    Unspeakable { path: RelativePath },
    #[error("`{to}` is below `{from}`, and nothing can be moved into itself; choose a place outside of it")]
    IntoItself { from: RelativePath, to: RelativePath },
    #[error("`{from}` and `{to}` are two names of one file, so there is nothing to move; remove one of the names")]
    SameFile { from: RelativePath, to: RelativePath },
    #[error(
        "`old` does not occur in `{path}`, which is not UTF-8 in lines {lines}: fs.read shows \u{FFFD} for bytes there that \
         nothing can match; choose an `old` without them, such as the text beside them"
    )]
    NotUtf8 { path: RelativePath, lines: String },
    #[error(
        "`{path}` is not UTF-8, and `new` adds `{character}`, which would be in another encoding than the rest; spell it in \
         ASCII, with an escape if the file's format has one"
    )]
    MixedEncodings { path: RelativePath, character: char },
    #[error("`{path}` is text in UTF-16, and only UTF-8 is read and edited; have it converted, or leave it")]
    Utf16 { path: RelativePath },
    #[error(
        "an edit keeps the line ends and the byte order mark of `{path}`, and `old` and `new` name nothing else to change; \
         say what shall be different, or write the file whole with fs.write"
    )]
    Kept { path: RelativePath },
    #[error(
        "`{path}` is text that is not UTF-8, so fs.read cannot show all of it and writing it whole would lose the rest; change \
         it with fs.edit, which keeps its bytes, or remove it first if it shall be lost"
    )]
    LossyOverwrite { path: RelativePath },
    #[error("`old` and `new` are the same, so nothing would change; say what shall be different")]
    SameText,
    #[error("`old` does not occur in `{path}`; {near}")]
    NoMatch { path: RelativePath, near: String },
    #[error("`old` occurs {count} times in `{path}`, in lines {lines}; add some of the text around it, or set `all`")]
    Ambiguous { path: RelativePath, count: String, lines: String },
    #[error("`after` is {after:?}, which no listing ended with; copy it from the note of the listing, or give a name")]
    After { after: String },
    #[error("the pattern is not usable: {reason}; mend it and try again")]
    Pattern { reason: String },
    #[error("cannot {change} `{path}`: {source}; choose another path, or ask for access to it")]
    Change { change: &'static str, path: RelativePath, source: io::Error },
    #[error("the link `{link}` cannot be followed: {reason}; use a path that does not pass it")]
    Link { link: RelativePath, reason: LinkFault },
    #[error("`{path}` passes more than {limit} links, perhaps in a circle; use a path without links")]
    TooManyLinks { path: RelativePath, limit: usize },
    #[error("`{path}` is not text: it has NUL bytes; choose another file")]
    Binary { path: RelativePath },
    #[error("`end` is {end}, which is before `start`, {start}; swap them")]
    Backwards { start: u64, end: u64 },
    #[error("the last line of `{path}` is {lines}, and `start` is {start}; begin at {lines} or before")]
    PastTheEnd { path: RelativePath, lines: u64, start: u64 },
    #[error(
        "line {start} of `{path}` is beyond its first {limit} bytes, and no more is searched; begin at an earlier line"
    )]
    TooFar { path: RelativePath, start: u64, limit: u64 },
    #[error("cannot open `{path}`: {source}; choose another one, or ask for access to it")]
    Io { path: RelativePath, source: io::Error },
    #[error("the time that this call has is nearly up; call the tool again to go on")]
    OutOfTime,
    /// Something was done before it failed.
    #[error("{source}; before that, {done}")]
    Partly { source: Box<Self>, done: String },
    /// The counter's own word, which has to arrive as it is.
    #[error(transparent)]
    Refused(#[from] ToolError),
}

/// Why a link leads nowhere.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LinkFault {
    #[error("it leads out of the workspace")]
    LeavesTheRoot,
    #[error("it leads to a name that is not UTF-8")]
    NotUtf8,
    #[error("{0}")]
    Unspeakable(InvalidTarget),
}

impl FsError {
    pub(crate) fn io(path: &RelativePath) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { path: path.clone(), source }
    }

    pub(crate) fn change(change: &'static str, path: &RelativePath) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Change { change, path: path.clone(), source }
    }

    /// The error, with what had been done until then.
    pub(crate) fn after(self, done: String) -> Self {
        Self::Partly { source: Box::new(self), done }
    }

    /// The error, with the directories that were made until then.
    pub(crate) fn after_making(self, made: &[RelativePath]) -> Self {
        if made.is_empty() {
            return self;
        }
        let made: Vec<_> = made.iter().map(|path| format!("`{path}`")).collect();
        self.after(format!("these directories were made, and stay: {}", made.join(", ")))
    }
}

impl From<FsError> for ToolError {
    fn from(error: FsError) -> Self {
        match error {
            FsError::Refused(error) => error,
            error => Self::execution_failed(error.to_string()),
        }
    }
}

impl From<InvalidTarget> for LinkFault {
    fn from(error: InvalidTarget) -> Self {
        match error {
            InvalidTarget::Absolute { .. } | InvalidTarget::OutsideRoot { .. } => Self::LeavesTheRoot,
            error => Self::Unspeakable(error),
        }
    }
}

fn suggested(near: &[String]) -> String {
    if near.is_empty() {
        "; list its directory with fs.list to see what there is".to_owned()
    } else {
        format!("; did you mean `{}`?", near.join("` or `"))
    }
}
