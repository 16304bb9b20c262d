//! A file of JSON lines.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use serde_json::json;
use tools::source;

use crate::channel_settings::{Channel, ChannelSettings, SendFuture};
use crate::delivery::Delivery;
use crate::error::{ChannelError, SendError, field};
use crate::follow::follow;
use crate::incoming::{Inbox, ListenFuture};
use crate::kind::{ChannelField, ChannelKind, FieldType};
use crate::real_path::real_path;

inventory::submit! {
    ChannelKind {
        name: "file",
        description: "appends messages to a file as JSON lines",
        source: source!(),
        fields: &[ChannelField::required("path", FieldType::File), ChannelField::optional("inbox", FieldType::File)],
        create,
    }
}

/// A file of JSON lines, one a message.
#[derive(Debug)]
struct JsonLines {
    path: PathBuf,
    /// The file that messages come from.
    inbox: Option<PathBuf>,
}

fn create(settings: &ChannelSettings) -> Result<Arc<dyn Channel>, ChannelError> {
    let path = PathBuf::from(settings.require("path")?);
    if path.exists() && !path.is_file() {
        return Err(field("path", "is a folder or a device; name a file"));
    }
    let inbox = settings.text("inbox").map(PathBuf::from);
    if inbox
        .as_ref()
        .is_some_and(|inbox| real_path(inbox) == real_path(&path))
    {
        let reason = "is the file of the messages that go out; name another one";
        return Err(field("inbox", reason));
    }
    Ok(Arc::new(JsonLines { path, inbox }))
}

impl Channel for JsonLines {
    fn send<'a>(&'a self, delivery: Delivery<'a>) -> SendFuture<'a> {
        Box::pin(async move {
            let message = delivery.message;
            let mut line = json!({"at": Timestamp::now().to_string(), "channel": message.channel, "text": message.text});
            for (key, value) in [("chat", &message.chat), ("subject", &message.subject)] {
                if let Some(value) = value {
                    line[key] = value.as_str().into();
                }
            }
            let path = self.path.clone();
            let line = format!("{line}\n");
            // A slow disk blocks.
            let appended = tokio::task::spawn_blocking(move || append(&path, &line)).await;
            appended.unwrap_or_else(|_| Err(SendError::unclear("writing the file ended early")))
        })
    }

    fn listen(&self, inbox: Inbox) -> Option<ListenFuture<'_>> {
        let path = self.inbox.clone()?;
        inbox.note(&format!("following {}", path.display()));
        Some(Box::pin(follow(path, inbox)))
    }
}

/// Appends a line with one write, so that those of several processes do not mix.
fn append(path: &Path, line: &str) -> Result<(), SendError> {
    let mut file = open(path).map_err(|error| refuse("opened", &error))?;
    match file.write(line.as_bytes()) {
        Ok(written) if written == line.len() => Ok(()),
        Ok(0) => Err(SendError::later(
            "the file of the channel takes no more text; ask the user to check the disk",
        )),
        Ok(_) => Err(SendError::unclear(
            "the file of the channel took a part of the message",
        )),
        Err(error) => Err(refuse("written", &error)),
    }
}

fn refuse(what: &str, error: &io::Error) -> SendError {
    SendError::not_sent(format!(
        "the file of the channel cannot be {what}: {}; ask the user to check it",
        error.kind()
    ))
}

/// Opens the file, and creates it and its folder for the user alone.
fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    let mut folders = DirBuilder::new();
    options.append(true).create(true);
    folders.recursive(true);
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    std::os::unix::fs::DirBuilderExt::mode(&mut folders, 0o700);
    path.parent()
        .map_or(Ok(()), |folder| folders.create(folder))?;
    let file = options.open(path)?;
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::from(io::ErrorKind::InvalidInput))
    }
}
