//! [`ServerEntry`]: a server as its file describes it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::client::{OAuthClient, ServerName};
use crate::config::error::ConfigError;
use crate::config::expansion::{self, Variables};
use crate::config::fields::{Fields, Misplaced, misplaced};

/// A server as its file describes it, with unexpanded references to variables.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerEntry {
    /// The name.
    pub name: ServerName,
    /// The way to reach the server.
    pub transport: Transport,
    /// True if sessions do not use the server.
    pub is_disabled: bool,
    /// The time limit of its calls without progress. `None` is that of other tools.
    pub call_timeout: Option<Duration>,
    /// The fields of the entry that have no meaning here.
    pub ignored: Vec<String>,
    pub(super) path: PathBuf,
    pub(super) place: String,
}

/// The fields of an entry with a meaning.
const KNOWN: &str = "args command cwd disabled env headers oauth timeout toolcrib type url";

/// The field of the program's registration for logins.
const OAUTH: &str = "oauth";

/// The field with the time limit of calls.
const TIMEOUT: &str = "timeout";

/// The longest time limit of calls.
const MAX_TIMEOUT: Duration = Duration::from_secs(24 * 60 * 60);

/// Returns the fields of an entry that have no meaning.
pub(super) fn find_ignored(entry: &Map<String, Value>) -> Vec<String> {
    entry
        .keys()
        .filter(|key| !KNOWN.split(' ').any(|known| known == *key))
        .cloned()
        .collect()
}

/// Returns the time limit of calls: a text such as `90s`, or a number of milliseconds. Numbers below 1000 are seconds, as in programs whose
/// limits are seconds, because few calls end within so few milliseconds.
pub(super) fn call_timeout(entry: &Map<String, Value>) -> Result<Option<Duration>, Misplaced> {
    let expected = "a time limit, such as 60000 (milliseconds) or \"60s\"";
    Fields(entry).read(TIMEOUT, expected, timeout)
}

fn timeout(value: &Value) -> Option<Duration> {
    let timeout = match value {
        Value::Number(number) => {
            let number = number.as_f64().filter(|number| *number > 0.0)?;
            let seconds = if number < 1000.0 {
                number
            } else {
                number / 1000.0
            };
            Duration::try_from_secs_f64(seconds).ok()?
        }
        Value::String(text) => {
            host::duration::parse(&text.replace(' ', "").replace("min", "m")).ok()?
        }
        _ => return None,
    };
    (!timeout.is_zero()).then_some(timeout.min(MAX_TIMEOUT))
}

/// The way to reach a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Transport {
    /// A program that speaks over its standard streams.
    Stdio {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// The variables that it gets besides those that all programs get.
        env: BTreeMap<String, String>,
        /// Its working directory. `None` is that of the host.
        cwd: Option<String>,
    },
    /// A service that is reached by streamable HTTP.
    Http {
        /// The URL of its endpoint.
        url: String,
        /// The headers of each request.
        headers: BTreeMap<String, String>,
        /// The registration of the program for logins.
        #[serde(skip_serializing_if = "OAuthClient::is_empty")]
        oauth: OAuthClient,
    },
}

impl ServerEntry {
    /// Returns the transport with the values of variables in place of references such as `${NAME}` and `${NAME:-default}`.
    ///
    /// # Errors
    /// Returns an error if a reference is malformed, or has no default and its variable is not set or not allowed.
    pub fn expand(&self, variables: &Variables) -> Result<Transport, ConfigError> {
        let mut fields = self.transport.to_fields();
        fields
            .iter_mut()
            .try_for_each(|(name, value)| {
                change_texts(value, name, &mut |text| expansion::expand(text, variables))
            })
            .and_then(|()| Transport::parse(&fields))
            .map_err(|misplaced| self.error(misplaced))
    }

    /// Returns the command and the working directory of a program, expanded like [`expand`](Self::expand) does. Returns `None` for a
    /// server that is reached by URL.
    ///
    /// # Errors
    /// As [`expand`](Self::expand), for these two fields.
    pub fn expand_program(
        &self,
        variables: &Variables,
    ) -> Result<Option<(String, Option<String>)>, ConfigError> {
        let Transport::Stdio { command, cwd, .. } = &self.transport else {
            return Ok(None);
        };
        let expand = |field: &str, text: &String| {
            expansion::expand(text, variables)
                .map_err(|fault| self.error((field.to_owned(), fault)))
        };
        let cwd = cwd.as_ref().map(|cwd| expand("cwd", cwd)).transpose()?;
        Ok(Some((expand("command", command)?, cwd)))
    }

    /// Returns the values of the variables in the URL. They may be secrets.
    pub fn url_values(&self, variables: &Variables) -> Vec<String> {
        let Transport::Http { url, .. } = &self.transport else {
            return Vec::new();
        };
        let names = expansion::names(url).unwrap_or_default();
        names
            .iter()
            .filter_map(|(name, _)| variables.value(name).ok())
            .map(str::to_owned)
            .collect()
    }

    /// Returns the names of the variables in references that have no default.
    ///
    /// # Errors
    /// Returns an error if a reference is malformed.
    pub fn variables(&self) -> Result<BTreeSet<String>, ConfigError> {
        let mut names = BTreeSet::new();
        for (place, value) in &mut self.transport.to_fields() {
            let read = change_texts(value, place, &mut |text| {
                let found = expansion::names(text)?.into_iter();
                names.extend(
                    found
                        .filter(|(_, has_default)| !has_default)
                        .map(|(name, _)| name),
                );
                Ok(String::new())
            });
            read.map_err(|misplaced| self.error(misplaced))?;
        }
        Ok(names)
    }

    fn error(&self, (field, fault): Misplaced) -> ConfigError {
        ConfigError::Value {
            path: self.path.clone(),
            place: format!("{}.{field}", self.place),
            fault,
        }
    }
}

impl Transport {
    pub(super) fn parse(entry: &Map<String, Value>) -> Result<Self, Misplaced> {
        let fields = Fields(entry);
        let command = fields.text("command")?;
        let url = fields.text("url")?;
        let kind = fields.text("type")?;
        match kind.as_deref() {
            None | Some("stdio" | "http" | "streamable-http" | "streamableHttp") => {}
            Some(found) => {
                let fault =
                    format!("the type {found:?} is not supported; use \"stdio\" or \"http\"");
                return Err(misplaced("type", fault));
            }
        }
        let transport = match (command, url) {
            (Some(command), None) => Self::Stdio {
                command,
                args: fields.texts("args")?,
                env: fields.text_map("env")?,
                cwd: fields.text("cwd")?,
            },
            (None, Some(url)) => Self::Http {
                url,
                headers: fields.text_map("headers")?,
                oauth: oauth_client(fields)?,
            },
            (Some(_), Some(_)) => {
                let fault = "remove `command` or `url`; a server has one of them";
                return Err(misplaced("url", fault));
            }
            (None, None) => return Err(misplaced("command", "add a `command`, or a `url`")),
        };
        let is_stdio = matches!(transport, Self::Stdio { .. });
        let (foreign, belongs) = if is_stdio {
            (&["headers", OAUTH][..], "url")
        } else {
            (&["args", "env", "cwd"][..], "command")
        };
        let is_of_other = kind.is_some_and(|kind| (kind == "stdio") != is_stdio);
        let mut present = foreign.iter().filter(|field| fields.get(field).is_some());
        match present.next().copied().or(is_of_other.then_some("type")) {
            Some(field) => {
                let fault = format!("remove it; it is for servers with a `{belongs}`");
                Err(misplaced(field, fault))
            }
            None => Ok(transport),
        }
    }

    /// Writes the fields of this transport into an entry, and removes those of the other one. Other fields stay.
    pub(super) fn write(&self, entry: &mut Map<String, Value>) {
        for field in "type command args env cwd url headers oauth".split(' ') {
            entry.remove(field);
        }
        if matches!(self, Self::Http { .. }) {
            entry.insert("type".to_owned(), "http".into());
        }
        let is_empty = |value: &Value| {
            value.is_null()
                || value.as_array().is_some_and(Vec::is_empty)
                || value.as_object().is_some_and(Map::is_empty)
        };
        let fields = self.to_fields().into_iter();
        entry.extend(fields.filter(|(_, value)| !is_empty(value)));
    }

    /// Returns the fields of an entry with this transport, of which absent ones are null.
    pub(crate) fn to_fields(&self) -> Map<String, Value> {
        match serde_json::to_value(self) {
            Ok(Value::Object(fields)) => fields,
            _ => Map::new(),
        }
    }
}

/// Reads the field `oauth`.
fn oauth_client(entry: Fields<'_>) -> Result<OAuthClient, Misplaced> {
    let Some(fields) = entry.object(OAUTH)?.map(Fields) else {
        return Ok(OAuthClient::default());
    };
    read_oauth(fields).map_err(|(place, fault)| (format!("{OAUTH}.{place}"), fault))
}

fn read_oauth(fields: Fields<'_>) -> Result<OAuthClient, Misplaced> {
    Ok(OAuthClient {
        id: fields.text("clientId")?,
        secret: fields.text("clientSecret")?,
        document: fields.text("clientMetadataUrl")?,
        callback_port: fields.read("callbackPort", "a port, 1 to 65535", |value| {
            u16::try_from(value.as_u64()?).ok().filter(|port| *port > 0)
        })?,
    })
}

/// Changes each text in a value. The names of variables and headers stay.
fn change_texts(
    value: &mut Value,
    place: &str,
    change: &mut dyn FnMut(&str) -> Result<String, String>,
) -> Result<(), Misplaced> {
    match value {
        Value::String(text) => *text = change(text).map_err(|fault| (place.to_owned(), fault))?,
        Value::Array(items) => {
            let mut items = items.iter_mut().enumerate();
            items.try_for_each(|(index, item)| {
                change_texts(item, &format!("{place}[{index}]"), change)
            })?;
        }
        Value::Object(fields) => {
            let mut fields = fields.iter_mut();
            fields.try_for_each(|(name, value)| {
                change_texts(value, &format!("{place}.{name}"), change)
            })?;
        }
        _ => {}
    }
    Ok(())
}
