//! The channels of messages, from the settings.

use std::fmt::Display;
use std::sync::Arc;

use tools::policy::{Rule, Verdict};
use tools::{Clause, Secret, Services};
use tools_builtin::message::{self, ChannelError, ChannelSettings, Channels};
use tools_http::HttpClient;

use super::{client, search};
use crate::config::{Channel, ProgramSettings as _, Setting, Settings, SettingsError};
use crate::{key_source, program};

/// The channel that every program has, unless the settings have one of this name.
const TERMINAL: &str = "terminal";

/// The tool that sends messages.
const SEND: &str = "message.send";

/// A channel of the settings, or the reason that it cannot be used, with the next step.
pub(crate) type Found = Result<Arc<dyn message::Channel>, String>;

/// Returns the channel that a table describes, with its secrets. The reason of one that cannot be used names the places of its secrets,
/// and contains none of them.
pub(crate) fn create(setting: &Setting<Channel>) -> Found {
    let Channel { kind, fields, secrets, .. } = &setting.value;
    let kind = message::kind(kind).map_err(|error| error.to_string())?;
    let mut of_channel = ChannelSettings::new();
    for (field, texts) in fields {
        of_channel = of_channel.with_list(field, texts.iter().cloned());
    }
    for (field, source) in secrets {
        let place = key_source::place(source);
        let found = if key_source::is_found(source) { source.read_password() } else { Ok(None) };
        let secret = found.map_err(|error| format!("its {field}, from {place}, cannot be read: {error}"))?;
        let missing =
            || format!("its {field} is missing: {place} is empty or missing; set this variable or write this file");
        of_channel = of_channel.with_secret(field, Secret::new(secret.ok_or_else(missing)?));
    }
    (kind.create)(&of_channel).map_err(|error| match error {
        ChannelError::Field { field, reason } => match secrets.get(field) {
            Some(source) => format!("its {field}, from {}, {reason}", key_source::place(source)),
            None => format!("its {field} {reason}"),
        },
        error => error.to_string(),
    })
}

/// Adds the channels of a session, and the terminal.
pub(super) fn insert(services: &mut Services, settings: &Settings, tools: &HttpClient) -> Result<(), SettingsError> {
    if services.get::<Channels>().is_some() {
        return Ok(());
    }
    let mut channels = Channels::new();
    if let Ok(terminal) = message::kind(TERMINAL)
        && let Ok(terminal) = (terminal.create)(&ChannelSettings::new())
    {
        channels = channels.with_channel(TERMINAL, terminal, tools.clone()).unwrap_or_default();
    }
    for setting in &settings.program().channels {
        let name = &setting.value.name;
        let added = match create(setting) {
            Ok(channel) => {
                let client = client::of_channel(tools, settings, channel.server())?;
                channels.with_channel(name, channel, client)
            }
            Err(reason) => channels.with_absent(name, reason),
        };
        channels = added.map_err(|error| unusable(setting, error))?;
    }
    services.insert(channels);
    Ok(())
}

/// Adds the grants and rules for the hosts of the channels, with the origin of each channel. They are for `message.send` alone, as that
/// of a search is for `web.search`. A message still needs the permission for its channel.
pub(super) fn access(mut settings: Settings) -> Result<Settings, SettingsError> {
    for setting in settings.program().channels.clone() {
        let Ok(channel) = create(&setting) else { continue };
        let Some(target) = Channels::target(&*channel) else { continue };
        let rule = Rule::new(Verdict::Allow, Some(SEND), Some(target.to_clause()));
        let rule = rule.map_err(|error| unusable(&setting, error))?;
        let clause = search::unnamed(&target).map_err(|error| unusable(&setting, error))?;
        settings = settings
            .with_default_grant(Setting { value: clause, origin: setting.origin.clone() })
            .with_rule(Setting { value: rule, origin: setting.origin.clone() });
    }
    Ok(settings)
}

/// Adds the grant and the rule for answers in the chat of the conversation.
pub(crate) fn with_replies(settings: Settings) -> Settings {
    let Ok(clause) = format!("message:write:{}", message::REPLY).parse::<Clause>() else { return settings };
    let Ok(rule) = Rule::new(Verdict::Allow, Some(SEND), Some(clause.clone())) else { return settings };
    settings.with_default_grant(Setting::from_default(clause)).with_rule(Setting::from_default(rule))
}

/// Returns the names to which messages can be sent. Returns `None` if the host of the program has channels of its own.
pub(crate) fn names(settings: &Settings) -> Option<Vec<&str>> {
    let of_settings = settings.program().channels.iter().map(|channel| channel.value.name.as_str());
    let is_of_host = program::services().get::<Channels>().is_some();
    (!is_of_host).then(|| of_settings.chain([TERMINAL, message::REPLY]).collect())
}

/// Returns the channel of a name, or the reason that it cannot be used. Returns `None` if there is none.
#[cfg(feature = "journal")]
pub(crate) fn find(settings: &Settings, name: &str) -> Option<Found> {
    match settings.program().channels.iter().rev().find(|channel| channel.value.name == name) {
        Some(channel) => Some(create(channel).map_err(|reason| format!("{}: {reason}", channel.origin))),
        None if name == TERMINAL => {
            let terminal = message::kind(TERMINAL).map_err(|error| error.to_string());
            Some(terminal.and_then(|kind| (kind.create)(&ChannelSettings::new()).map_err(|error| error.to_string())))
        }
        None => None,
    }
}

/// Returns a line on each channel, with the places of its secrets. No line contains a secret.
pub(super) fn report(settings: &Settings) -> Vec<String> {
    let line = |setting: &Setting<Channel>| {
        let Channel { name, kind, secrets, .. } = &setting.value;
        let state = match create(setting) {
            Ok(channel) => Channels::target(&*channel).map(|target| format!(" at {}", target.to_clause().pattern())),
            Err(_) => Some(", not available".to_owned()),
        };
        let places: Vec<_> = secrets
            .iter()
            .map(|(field, place)| {
                let found = if key_source::is_found(place) { "(found)" } else { "(not found)" };
                format!(", {field} from {} {found}", key_source::place(place))
            })
            .collect();
        format!("channel {name}: {kind}{}{}", state.unwrap_or_default(), places.concat())
    };
    let lines: Vec<_> = settings.program().channels.iter().map(line).collect();
    let none = || vec![format!("channels: {TERMINAL}; a table [channels.NAME] of the settings adds one")];
    if lines.is_empty() { none() } else { lines }
}

/// Returns a warning for each channel that cannot be used.
pub(crate) fn missing(settings: &Settings) -> Vec<String> {
    let warning = |setting: &Setting<Channel>| {
        let reason = create(setting).err()?;
        Some(format!("{}: the channel {} is not available: {reason}", setting.origin, setting.value.name))
    };
    settings.program().channels.iter().filter_map(warning).collect()
}

fn unusable(setting: &Setting<Channel>, error: impl Display) -> SettingsError {
    let reason = format!("cannot be used: {error}");
    SettingsError::Value { origin: setting.origin.clone(), key: format!("channels.{}", setting.value.name), reason }
}
