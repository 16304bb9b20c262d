//! The channels of messages, from the settings.

use std::fmt::Display;
use std::sync::Arc;

use host::settings::{Setting, Settings, SettingsError};
use tools::policy::{Rule, Verdict};
use tools::{Clause, Secret, Services, ToolContext};
use tools_http::HttpClient;
use tools_http::settings::channel_client;

use super::ChannelKeys;
use super::table::ConfiguredChannel;
use crate::channel_settings::{Channel, ChannelSettings};
use crate::channels::{Channels, REPLY};
use crate::error::ChannelError;
use crate::kind;

/// The channel that every program has, unless the settings have one of this name.
const TERMINAL: &str = "terminal";

/// The tool that sends messages.
const SEND: &str = "message.send";

/// A channel of the settings, or the reason that it cannot be used, with the next step.
type Found = Result<Arc<dyn Channel>, String>;

/// Returns the channel that a table describes, with its secrets. The reason of one that cannot be used names the places of its secrets,
/// and contains none of them.
fn create(setting: &Setting<ConfiguredChannel>) -> Found {
    let ConfiguredChannel {
        kind,
        fields,
        secrets,
        ..
    } = &setting.value;
    let kind = crate::kind(kind).map_err(|error| error.to_string())?;
    let mut of_channel = ChannelSettings::new();
    for (field, texts) in fields {
        of_channel = of_channel.with_list(field, texts.iter().cloned());
    }
    for (field, source) in secrets {
        let place = source.place();
        let found = if source.is_found() {
            source.read_password()
        } else {
            Ok(None)
        };
        let secret =
            found.map_err(|error| format!("its {field}, from {place}, cannot be read: {error}"))?;
        of_channel = of_channel.with_secret(field, Secret::new(secret.ok_or_else(|| {
            format!(
                "its {field} is missing: {place} is empty or missing; set this variable or write this file"
            )
        })?));
    }
    (kind.create)(&of_channel).map_err(|error| match error {
        ChannelError::Field { field, reason } => match secrets.get(field) {
            Some(source) => format!("its {field}, from {}, {reason}", source.place()),
            None => format!("its {field} {reason}"),
        },
        error => error.to_string(),
    })
}

/// Returns the channels of the settings.
/// Creates the channel that needs no settings.
fn terminal() -> Found {
    let kind = kind(TERMINAL).map_err(|error| error.to_string())?;
    (kind.create)(&ChannelSettings::new()).map_err(|error| error.to_string())
}

fn list_channels(settings: &Settings) -> &[Setting<ConfiguredChannel>] {
    &settings.of::<ChannelKeys>().channels
}

/// Adds the channels of a session, and the terminal.
pub(crate) fn insert(settings: &Settings, services: &mut Services) -> Result<(), SettingsError> {
    let (None, Some(tools)) = (services.get::<Channels>(), services.get::<HttpClient>()) else {
        return Ok(());
    };
    let mut channels = Channels::new();
    if let Ok(terminal) = terminal() {
        channels = channels
            .with_channel(TERMINAL, terminal, (*tools).clone())
            .unwrap_or_default();
    }
    for setting in list_channels(settings) {
        let name = &setting.value.name;
        let added = match create(setting) {
            Ok(channel) => {
                let client = channel_client(&tools, settings, channel.server())?;
                channels.with_channel(name, channel, client)
            }
            Err(reason) => channels.with_absent(name, reason),
        };
        channels = added.map_err(|error| unusable(setting, error))?;
    }
    services.insert(channels);
    Ok(())
}

/// Adds the grants and rules for the hosts of the channels, with the origin of each channel. They are for `message.send` alone. A message
/// still needs the permission for its channel.
pub(crate) fn access(mut settings: Settings) -> Result<Settings, SettingsError> {
    for setting in list_channels(&settings).to_vec() {
        let Ok(channel) = create(&setting) else {
            continue;
        };
        let key = format!("channels.{}", setting.value.name);
        settings =
            settings.with_targets(Channels::target(&*channel).as_slice(), SEND, &key, &setting)?;
    }
    Ok(settings)
}

/// Adds the grant and the rule for answers in the chat of the conversation.
pub(crate) fn with_replies(settings: Settings) -> Settings {
    let Ok(clause) = format!("message:write:{}", REPLY).parse::<Clause>() else {
        return settings;
    };
    let Ok(rule) = Rule::new(Verdict::Allow, Some(SEND), Some(clause.clone())) else {
        return settings;
    };
    settings
        .with_default_grant(Setting::from_default(clause))
        .with_rule(Setting::from_default(rule))
}

/// Returns the names to which messages can be sent. Returns `None` if the host of the program has channels of its own.
pub(crate) fn names(settings: &Settings) -> Option<Vec<&str>> {
    let of_settings = list_channels(settings)
        .iter()
        .map(|channel| channel.value.name.as_str());
    let is_of_host = host::program::services().get::<Channels>().is_some();
    (!is_of_host).then(|| of_settings.chain([TERMINAL, REPLY]).collect())
}

/// Returns the setting of a channel. Returns `None` if there is none of this name.
pub(crate) fn find_channel<'a>(
    settings: &'a Settings,
    name: &str,
) -> Option<&'a Setting<ConfiguredChannel>> {
    let mut channels = list_channels(settings).iter().rev();
    channels.find(|channel| channel.value.name == name)
}

/// Returns the channel of a name, or the reason that it cannot be used. Returns `None` if there is none.
pub(crate) fn find(settings: &Settings, name: &str) -> Option<Found> {
    match find_channel(settings, name) {
        Some(channel) => {
            Some(create(channel).map_err(|reason| format!("{}: {reason}", channel.origin)))
        }
        None if name == TERMINAL => Some(terminal()),
        None => None,
    }
}

/// Returns a line on each channel, with the places of its secrets. No line contains a secret.
pub(crate) fn report(settings: &Settings) -> Vec<String> {
    let lines = list_channels(settings).iter().map(|setting| {
        let ConfiguredChannel { name, kind, .. } = &setting.value;
        let state = match create(setting) {
            Ok(channel) => Channels::target(&*channel)
                .map(|target| format!(" at {}", target.to_clause().pattern())),
            Err(_) => Some(", not available".to_owned()),
        };
        let places: Vec<_> = setting
            .value
            .secrets
            .iter()
            .map(|(field, place)| format!(", {field} from {}", place.describe()))
            .collect();
        format!(
            "channel {name}: {kind}{}{}",
            state.unwrap_or_default(),
            places.concat()
        )
    });
    let mut lines: Vec<_> = lines.collect();
    if lines.is_empty() {
        lines.push(format!(
            "channels: {TERMINAL}; a table [channels.NAME] of the settings adds one"
        ));
    }
    lines
}

/// Returns a warning for each channel that cannot be used.
pub(crate) fn missing(settings: &Settings) -> Vec<String> {
    let warnings = list_channels(settings).iter().filter_map(|setting| {
        let reason = create(setting).err()?;
        Some(format!(
            "{}: the channel {} is not available: {reason}",
            setting.origin, setting.value.name
        ))
    });
    warnings.collect()
}

fn unusable(setting: &Setting<ConfiguredChannel>, error: impl Display) -> SettingsError {
    SettingsError::unusable(&format!("channels.{}", setting.value.name), setting, error)
}

/// Returns the names of the channels for the system text, which the definition of `message.send` does not have.
pub(crate) fn section(cx: &ToolContext) -> String {
    let channels = cx.service::<Channels>();
    let names = channels.iter().flat_map(|channels| channels.names());
    let names: Vec<_> = names.collect();
    match names[..] {
        [] | [TERMINAL] => String::new(),
        _ => format!("The channels of `{SEND}` are: {}.", names.join(", ")),
    }
}
