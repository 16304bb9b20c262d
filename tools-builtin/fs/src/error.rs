//! [`FsError`]: the errors of the file tools.

use std::io;

use tools::ToolError;
use tools::protocol::InvalidTarget;
use tools_text::{UnknownEncoding, UnmappableCharacter};

use crate::kind::Kind;
use crate::path::RelativePath;

/// An error of a file tool. The messages are written for the calling model.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FsError {
    #[error("there is no `{path}`{}", suggest(near))]
    Missing {
        path: RelativePath,
        near: Vec<String>,
    },
    #[error(
        "there is no directory `{path}`; set `parents` if the tool has it, or choose an existing directory"
    )]
    NoDirectory { path: RelativePath },
    #[error("`{path}` is {kind}, not a directory; shorten the path, or choose a directory")]
    NotADirectory { path: RelativePath, kind: Kind },
    #[error("`{path}` is {kind}, not a directory; name a directory, or read the file instead")]
    NotListable { path: RelativePath, kind: Kind },
    #[error("`{path}` is a directory; list it, then choose one of its files")]
    IsADirectory { path: RelativePath },
    #[error("`{path}` is {kind}, and only regular files can be read; choose another path")]
    Special { path: RelativePath, kind: Kind },
    #[error("`{path}` is {kind}, and only regular files can be written; choose another path")]
    NotWritable { path: RelativePath, kind: Kind },
    #[error(
        "`{path}` is marked as read-only; leave it unchanged, or ask the user to make it writable"
    )]
    ReadOnly { path: RelativePath },
    #[error(
        "the name `{begin}…` has {length} bytes, more than the file system allows; choose a shorter name"
    )]
    LongName { length: usize, begin: String },
    #[error(
        "the name of `{path}` is reserved for temporary files of the file tools; choose another name"
    )]
    Reserved { path: RelativePath },
    #[error(
        "`{path}` is out of reach for file tools, and no grant changes that; choose another path"
    )]
    Hidden { path: RelativePath },
    #[error(
        "`{path}` leads to files that file tools may not touch, and no grant changes that; choose another path"
    )]
    LeadsToHidden { path: RelativePath },
    #[error(
        "`{path}` would be a new script in the root or a program of dependencies, and a link leads to it; name `{path}` itself, so that it can be asked about"
    )]
    NewScript { path: RelativePath },
    #[error(
        "`{path}` decides which programs run, such as a part of a git repository, and the call did not name it, so nobody was asked about \
         it; name `{path}` itself in a file tool"
    )]
    Unasked { path: RelativePath },
    #[error("the workspace root cannot be moved, replaced or removed; name an entry below it")]
    Root,
    #[error("`{path}` already exists and is {kind}; {advice}")]
    Taken {
        path: RelativePath,
        kind: Kind,
        advice: &'static str,
    },
    #[error(
        "another program changed `{path}` during this call, so it was left unchanged; read it and try again"
    )]
    Changed { path: RelativePath },
    #[error("`{path}` has more than {limit} bytes, the limit of this tool; choose a smaller file")]
    TooLarge { path: RelativePath, limit: u64 },
    #[error(
        "the whole content for `{to}`, which runs by itself, cannot be shown to the user; write it with fs.write, or ask the user to \
         move it"
    )]
    LongMove { to: RelativePath },
    #[error(
        "`{path}` has another name (a hard link), by which programs could change it at the new path, where it runs by itself; write a \
         new file there"
    )]
    OtherName { path: RelativePath },
    #[error(
        "`{path}` is nested more than {limit} directories deep; start at a directory further down"
    )]
    TooDeep { path: RelativePath, limit: usize },
    #[error(
        "there are more than {limit} entries below `{path}`; process its subdirectories one by one"
    )]
    TooMany { path: RelativePath, limit: u64 },
    #[error(
        "`{path}` is not empty; remove its entries first, or set `recursive` to remove it with its contents"
    )]
    NotEmpty { path: RelativePath },
    #[error(
        "`{path}` has an entry with a name that is not valid in a path argument, so the grant cannot be checked; ask the user to \
         rename it"
    )]
    InvalidName { path: RelativePath },
    #[error(
        "`{to}` is below `{from}`, and a directory cannot be moved into itself; choose a path outside `{from}`"
    )]
    IntoItself {
        from: RelativePath,
        to: RelativePath,
    },
    #[error(
        "`{from}` and `{to}` are two names of the same file, so nothing was moved; remove one of them instead"
    )]
    SameFile {
        from: RelativePath,
        to: RelativePath,
    },
    #[error(
        "`old` does not occur in `{path}`, which is not UTF-8 in lines {lines}: such bytes are read as \u{FFFD}, which `old` \
         cannot match; choose an `old` without them, such as the text beside them"
    )]
    NotUtf8 { path: RelativePath, lines: String },
    #[error(
        "`{path}` is not UTF-8, so `{character}` in `new` would mix encodings; name the `encoding` of the file, such as gb18030 \
         or windows-1252, or write it in ASCII"
    )]
    MixedEncodings { path: RelativePath, character: char },
    #[error(
        "`{path}` is UTF-16 with bytes that are no text, which an edit would not keep; ask the user to repair it, or leave it"
    )]
    Utf16 { path: RelativePath },
    #[error(
        "`old` and `new` differ only in line endings or a byte order mark, and an edit keeps those of `{path}`; change other \
         text, or write the whole file"
    )]
    Kept { path: RelativePath },
    #[error(
        "`{path}` is text that is not UTF-8, so replacing it whole would lose bytes that cannot be shown; edit it, which keeps \
         them, with its `encoding` if it has NUL bytes, or remove the file first"
    )]
    LossyOverwrite { path: RelativePath },
    #[error(
        "`{path}` is text in {encoding}, whose characters would be lost; convert it with a program such as iconv, or remove it \
         first; an edit with the `encoding` utf-8 takes its bytes as they are"
    )]
    SevenBit {
        path: RelativePath,
        encoding: &'static str,
    },
    #[error("`old` and `new` are the same, so nothing would change; give a different `new`")]
    SameText,
    #[error("`old` does not occur in `{path}`; {near}")]
    NoMatch { path: RelativePath, near: String },
    #[error(
        "`old` occurs {count} times in `{path}`, in lines {lines}; include more of the surrounding text, or set `all`"
    )]
    Ambiguous {
        path: RelativePath,
        count: String,
        lines: String,
    },
    #[error(
        "`after` is {after:?}, which is not a position in a listing; copy it from the note of the listing, or give a name"
    )]
    After { after: String },
    #[error("invalid pattern: {reason}; correct it and try again")]
    Pattern { reason: String },
    #[error("cannot {action} `{path}`: {source}; choose another path, or ask the user for access")]
    Change {
        action: &'static str,
        path: RelativePath,
        source: io::Error,
    },
    #[error("cannot follow the link `{link}`: {reason}; use a path that avoids it")]
    Link {
        link: RelativePath,
        reason: LinkFault,
    },
    #[error(
        "`{path}` passes more than {limit} links, possibly in a loop; use a path without links"
    )]
    TooManyLinks { path: RelativePath, limit: usize },
    #[error(
        "`{path}` is a file, and `glob` is for directories; leave `glob` out, or name the directory"
    )]
    GlobOfFile { path: RelativePath },
    #[error(
        "`{path}` is binary: it has NUL bytes; choose another file, or name the `encoding` of a text, such as utf-16le"
    )]
    Binary { path: RelativePath },
    #[error("`end` ({end}) is before `start` ({start}); swap them")]
    Backwards { start: u64, end: u64 },
    #[error(
        "the last line of `{path}` is {lines}, but `start` is {start}; start at {lines} or before"
    )]
    PastTheEnd {
        path: RelativePath,
        lines: u64,
        start: u64,
    },
    #[error(
        "the line of `{path}` has {length} bytes, but `offset` is {offset}; give a smaller one, or read the next line"
    )]
    PastTheLine {
        path: RelativePath,
        length: u64,
        offset: u64,
    },
    #[error("give either `tail` or `start`, `offset` and `end`, not both")]
    TailOfRange,
    #[error("cannot open `{path}`: {source}; choose another path, or ask the user for access")]
    Io {
        path: RelativePath,
        source: io::Error,
    },
    #[error("the call stopped because its deadline is near; call the tool again to continue")]
    OutOfTime,
    /// An error after a part of the work was done.
    #[error("{source}; before that, {done}")]
    Partial { source: Box<Self>, done: String },
    #[error(transparent)]
    Encoding(#[from] UnknownEncoding),
    #[error(transparent)]
    Unmappable(#[from] UnmappableCharacter),
    /// An error of the pipeline, such as a denied permission. It is passed on unchanged.
    #[error(transparent)]
    Pipeline(#[from] ToolError),
}

/// The reason why a link cannot be followed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LinkFault {
    #[error("it leads out of the workspace")]
    LeavesTheRoot,
    #[error("its target is not UTF-8")]
    NotUtf8,
    #[error("{0}")]
    InvalidName(InvalidTarget),
}

impl FsError {
    pub(crate) fn io(path: &RelativePath) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io {
            path: path.clone(),
            source,
        }
    }

    pub(crate) fn change(
        action: &'static str,
        path: &RelativePath,
    ) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Change {
            action,
            path: path.clone(),
            source,
        }
    }

    /// Adds a description of the work done before the error.
    pub(crate) fn with_done(self, done: String) -> Self {
        Self::Partial {
            source: Box::new(self),
            done,
        }
    }

    /// Adds the directories created before the error.
    pub(crate) fn with_created_dirs(self, created: &[RelativePath]) -> Self {
        if created.is_empty() {
            return self;
        }
        let created: Vec<_> = created.iter().map(|path| format!("`{path}`")).collect();
        let created = created.join(", ");
        self.with_done(format!("created directories that remain: {created}"))
    }
}

impl From<FsError> for ToolError {
    fn from(error: FsError) -> Self {
        match error {
            FsError::Pipeline(error) => error,
            error => Self::execution_failed(error.to_string()),
        }
    }
}

impl From<InvalidTarget> for LinkFault {
    fn from(error: InvalidTarget) -> Self {
        match error {
            InvalidTarget::Absolute { .. } | InvalidTarget::OutsideRoot { .. } => {
                Self::LeavesTheRoot
            }
            error => Self::InvalidName(error),
        }
    }
}

fn suggest(near: &[String]) -> String {
    let near: Vec<_> = near.iter().map(|name| format!("`{name}`")).collect();
    let listed = "list its directory to see what there is";
    let advice = ToolError::did_you_mean(&near);
    format!("; {}", advice.as_deref().unwrap_or(listed))
}
