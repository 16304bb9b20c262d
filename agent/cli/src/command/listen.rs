//! `toolcrib listen`

mod chat_session;
mod chats;
mod folder;
mod kept;
mod waiting;

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;

use clap::Args;
use tokio::task::JoinSet;
use tools::CancellationToken;
use tools::call::{Isolated, Panic};
use tools_builtin::message::settings::ChannelKeys;
use tools_builtin::message::{Channel, Inbox};

use self::chats::Chats;
use self::folder::ChannelFolder;
use crate::config::{Origin, ProgramSettings as _, Settings};
use crate::error::Error;
use crate::exit::Exit;
use crate::session::UnattendedOptions;
use crate::visible::visible;
use crate::{count, interrupt, notice, remote_tools};

/// The default of --max-chats.
const MAX_CHATS: NonZeroUsize = NonZeroUsize::new(4).unwrap();

/// Take messages from channels of the settings, and run one session for each chat
///
/// Each message is a prompt of the session of its chat, and the answer goes back to the chat. Messages of a chat run one after the other.
/// Nobody is asked: a call beyond the grant is refused. Sessions are recorded, and continue after a restart, as do messages that wait. No
/// message is handled twice. SIGTERM and Ctrl-C let running sessions end for a while, and then cancel them.
#[derive(Args, Debug)]
pub(super) struct ListenArgs {
    /// The channels: names of the settings, or terminal, whose messages are the lines of standard input
    #[arg(required = true, value_name = "CHANNEL")]
    channels: Vec<String>,

    /// Run the sessions of at most this many chats at the same time
    #[arg(long, value_name = "N", default_value_t = MAX_CHATS, value_parser = count::parse)]
    max_chats: NonZeroUsize,

    #[command(flatten)]
    options: UnattendedOptions,
}

impl ListenArgs {
    pub(super) async fn run(self) -> Result<Exit, Error> {
        let shutdown = interrupt::token(&Arc::default())?;
        interrupt::cancel_on_termination(shutdown.clone());
        let settings = self.options.settings().await?;
        // A mistake would otherwise appear when a message was already taken.
        self.options.check_model(&settings)?;
        let mut channels = Vec::new();
        for (index, name) in self.channels.iter().enumerate() {
            if self.channels[..index].contains(name) {
                return Err(refused(
                    name,
                    "the command names it twice; leave out one of them",
                ));
            }
            let channel = channel(&settings, name)?;
            let folder = ChannelFolder::open(
                name,
                origin(&settings, name),
                self.options.agent.host.root.workspace()?,
            )?;
            channels.push((name.clone(), channel, Arc::new(folder)));
        }
        let _traces = host::start_traces(&settings);
        let selection = settings.selection()?;
        let root = self.options.agent.host.servers_root();
        let _servers = remote_tools::attach(
            root,
            &settings,
            &selection,
            host::FirstList::Offered,
            &shutdown,
        )
        .await;
        let chats = Chats::new(
            self.options,
            &settings,
            self.max_chats.get(),
            shutdown.clone(),
        );
        for (name, _, folder) in &channels {
            let restored = chats.restore(name, folder);
            restored
                .map_err(|error| refused(name, &format!("{}: {error}", folder.path().display())))?;
            chats.prune(name, folder).await;
        }
        let ended = listen(&channels, &chats, &shutdown).await;
        chats.finish().await;
        match chats.take_failure() {
            Some(error) => Err(error),
            None => ended.map(|()| Exit::Success),
        }
    }
}

fn refused(channel: &str, reason: &str) -> Error {
    Error::Channel {
        channel: channel.to_owned(),
        reason: reason.to_owned(),
    }
}

/// Returns the file that describes a channel. Returns `None` for the terminal.
fn origin<'a>(settings: &'a Settings, name: &str) -> Option<&'a Path> {
    match &settings
        .of::<ChannelKeys>()
        .channels
        .iter()
        .rev()
        .find(|channel| channel.value.name == name)?
        .origin
    {
        Origin::File { path, .. } => Some(path),
        _ => None,
    }
}

/// Returns the channel of a name.
fn channel(settings: &Settings, name: &str) -> Result<Arc<dyn Channel>, Error> {
    let refused = |reason: String| Error::Channel {
        channel: name.to_owned(),
        reason,
    };
    match tools_builtin::message::settings::find(settings, name) {
        Some(found) => found.map_err(refused),
        None => {
            let names: Vec<_> = settings
                .of::<ChannelKeys>()
                .channels
                .iter()
                .map(|channel| channel.value.name.as_str())
                .collect();
            let known = if names.is_empty() {
                "there are none but terminal".to_owned()
            } else {
                names.join(", ")
            };
            Err(refused(format!(
                "the settings have no channel of this name ({known}); add a table [channels.{name}]"
            )))
        }
    }
}

/// Takes messages until the shutdown, until the channels have no more, or until one fails.
async fn listen(
    channels: &[(String, Arc<dyn Channel>, Arc<ChannelFolder>)],
    chats: &Arc<Chats>,
    shutdown: &CancellationToken,
) -> Result<(), Error> {
    let mut listeners = JoinSet::new();
    for (name, channel, folder) in channels {
        let (name, channel, chats) = (name.clone(), channel.clone(), chats.clone());
        let (of_chats, taker, of_notes) = (folder.clone(), name.clone(), name.clone());
        let inbox = Inbox::new(folder.path(), shutdown.clone(), move |message, claim| {
            chats.take(&taker, &of_chats, message, claim)
        });
        let inbox =
            inbox.with_notes(move |note| notice::note(&visible(&format!("{of_notes}: {note}"))));
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
            ended.map_err(|reason| Error::Channel { channel: name, reason })
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
