//! The command `listen`.

mod chat_session;
mod chats;
mod folder;
mod kept;
mod waiting;

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;

use host::settings::{Origin, Settings};
use host::{
    Argument, Arguments, Command, CommandContext, CommandError, CommandGroup, Exit, ValueForm,
    ValueKind, program,
};
use tokio::task::JoinSet;
use tools::CancellationToken;
use tools::call::{Isolated, Panic};
use tools::visible::visible;

use self::chats::Chats;
use self::folder::{ChannelFolder, refuse};
use crate::channel_settings::Channel;
use crate::incoming::Inbox;
use crate::settings::ChannelKeys;
use crate::settings::channels::{find, find_channel};

pub(crate) const LISTEN: Command = Command {
    about: "Take messages from channels of the settings, and run one session for each chat",
    details: "Each message is a prompt of the session of its chat, and the answer goes back to the chat. Messages of a chat run one after \
              the other. Nobody is asked: a call beyond the grant is refused. Sessions are recorded, and continue after a restart, as do \
              messages that wait. No message is handled twice. SIGTERM and Ctrl-C let running sessions end for a while, and then cancel \
              them.",
    group: CommandGroup::Use,
    rank: 60,
    examples: "listen team                              # Answer the messages of the channel `team`
               listen team desk                         # Answer those of two channels
               listen team --grant 'fs:write:notes/**'  # Let the sessions write notes",
    arguments: &[
        Argument::value::<String>(
            ValueForm::Many,
            "channels",
            "CHANNEL",
            "The channels: names of the settings, or terminal, whose messages are the lines of standard input",
        ),
        Argument::Value {
            name: "max-chats",
            value: "N",
            form: ValueForm::Default("4"),
            kind: ValueKind::Text(check_count),
            help: "Run the sessions of at most this many chats at the same time",
        },
        Argument::Sessions,
    ],
    run: Some(|arguments, cx| Box::pin(run(arguments, cx))),
    ..Command::new("listen")
};

fn check_count(text: &str) -> Result<(), String> {
    let count = text.parse::<NonZeroUsize>().map(drop);
    count.map_err(|_| "write a whole number from 1 on".to_owned())
}

async fn run(arguments: &Arguments, cx: &dyn CommandContext) -> Result<Exit, CommandError> {
    let shutdown = cx.interruption()?;
    let sessions = cx.sessions()?;
    let settings = sessions.settings(None).await?;
    // A mistake would otherwise appear when a message was already taken.
    sessions.check_model(&settings)?;
    let names = arguments.values::<String>("channels")?;
    let mut channels = Vec::new();
    for (index, name) in names.iter().enumerate() {
        if names[..index].contains(name) {
            let reason = "the command names it twice; leave out one of them";
            return Err(refuse(name, reason));
        }
        let channel = channel(&settings, name)?;
        let folder = ChannelFolder::open(name, origin(&settings, name), cx.workspace()?)?;
        channels.push((name.clone(), channel, Arc::new(folder)));
    }
    let _shared = sessions.share(&settings, &shutdown).await?;
    let retention = sessions.retention(&settings);
    let parallel = arguments.value("max-chats")?.unwrap_or_default();
    let chats = Chats::new(sessions.clone(), retention, parallel, shutdown.clone());
    for (name, _, folder) in &channels {
        let restored = chats.restore(name, folder);
        restored.map_err(|error| refuse(name, &format!("{}: {error}", folder.path.display())))?;
        chats.prune(name, folder).await;
    }
    let ended = listen(&channels, &chats, &shutdown).await;
    chats.finish().await;
    match chats.take_failure() {
        Some(error) => Err(error),
        None => ended.map(|()| Exit::Success),
    }
}

/// Returns the file that describes a channel. Returns `None` for the terminal.
fn origin<'a>(settings: &'a Settings, name: &str) -> Option<&'a Path> {
    match &find_channel(settings, name)?.origin {
        Origin::File { path, .. } => Some(path),
        _ => None,
    }
}

/// Returns the channel of a name.
fn channel(settings: &Settings, name: &str) -> Result<Arc<dyn Channel>, CommandError> {
    match find(settings, name) {
        Some(found) => found.map_err(|reason| refuse(name, &reason)),
        None => {
            let channels = settings.of::<ChannelKeys>().channels.iter();
            let names: Vec<_> = channels.map(|channel| &*channel.value.name).collect();
            let known = if names.is_empty() {
                "there are none but terminal".to_owned()
            } else {
                names.join(", ")
            };
            let reason = format!(
                "the settings have no channel of this name ({known}); add a table [channels.{name}]"
            );
            Err(refuse(name, &reason))
        }
    }
}

/// Takes messages until the shutdown, until the channels have no more, or until one fails.
async fn listen(
    channels: &[(String, Arc<dyn Channel>, Arc<ChannelFolder>)],
    chats: &Arc<Chats>,
    shutdown: &CancellationToken,
) -> Result<(), CommandError> {
    let mut listeners = JoinSet::new();
    for (name, channel, folder) in channels {
        let name = name.clone();
        let channel = channel.clone();
        let chats = chats.clone();
        let of_chats = folder.clone();
        let taker = name.clone();
        let of_notes = name.clone();
        let inbox = Inbox::new(&folder.path, shutdown.clone(), move |message, claim| {
            chats.take(&taker, &of_chats, message, claim)
        });
        let inbox =
            inbox.with_notes(move |note| program::note(&visible(&format!("{of_notes}: {note}"))));
        listeners.spawn(async move {
            let listening = Isolated::new(|| {
                Box::pin(async {
                    match channel.listen(inbox) {
                        Some(listening) => listening.await.map_err(|error| error.reason),
                        None => Err(
                            "its settings do not say where messages come from; see the README for `inbox` and `listen`"
                                .to_owned(),
                        ),
                    }
                })
            });
            let ended = listening.await.unwrap_or_else(|Panic(reason)| Err(format!("it panicked: {reason}")));
            ended.map_err(|reason| refuse(&name, &reason))
        });
    }
    let mut failed = None;
    while let Some(ended) = listeners.join_next().await {
        if let Ok(Err(error)) = ended {
            shutdown.cancel();
            failed.get_or_insert(error);
        }
    }
    failed.map_or(Ok(()), Err)
}
