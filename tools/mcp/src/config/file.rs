//! [`McpFile`]: a file of servers.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use serde_json::{Map, Value, json};
use tools::Json;

use crate::client::ServerName;
use crate::config::entry::{self, ServerEntry, Transport};
use crate::config::error::ConfigError;
use crate::config::fields::{Fields, Misplaced, expect_kind};
use crate::config::settings::{ALLOW, ServerSettings};

/// The maximum size of a file, in bytes.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// The field with the servers.
const SERVERS: &str = "mcpServers";

/// The field with the user's decisions, in the entry of a server and for the servers of projects. Other programs ignore it.
const SETTINGS: &str = "toolcrib";

/// The party that wrote a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileOwner {
    /// The user, who decides about servers.
    User,
    /// A project, whose servers the user approves.
    Project,
}

impl FileOwner {
    /// Returns `user` or `project`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
        }
    }
}

/// A file of servers. Unknown fields have no effect, and stay when the file is written.
#[derive(Clone, Debug)]
pub struct McpFile {
    path: PathBuf,
    /// The text as read. `None` if there is no file.
    text: Option<String>,
    document: Map<String, Value>,
}

impl McpFile {
    /// Reads a file. A missing one has no servers.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, is no regular file, is longer than 4 MiB or is not JSON. JSON has neither comments nor trailing commas.
    /// Repeated keys are errors.
    pub fn read(path: impl Into<PathBuf>) -> Result<Self, ConfigError> {
        let path = path.into();
        match read(&path) {
            Ok(Some(text)) => Self::from_text(path, text),
            Ok(None) => Ok(Self {
                path,
                text: None,
                document: Map::new(),
            }),
            Err(source) => Err(ConfigError::Read { path, source }),
        }
    }

    /// Reads the file of a project, which is untrusted: a link that leads out of the root is an error, and so is all that is no regular
    /// file. The root has no links.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn read_within(root: &Path, path: impl Into<PathBuf>) -> Result<Self, ConfigError> {
        let path = path.into();
        match path.canonicalize() {
            Ok(target) if !target.starts_with(root) => {
                let source = io::Error::other("it is a link that leads out of the project");
                Err(ConfigError::Read { path, source })
            }
            _ => Self::read(path),
        }
    }

    /// Creates a file from its text.
    ///
    /// # Errors
    /// Returns an error if the text is not JSON, or has no object in it.
    pub fn from_text(
        path: impl Into<PathBuf>,
        text: impl Into<String>,
    ) -> Result<Self, ConfigError> {
        let path = path.into();
        let text = text.into();
        let document = match Json::parse(text.clone()).map(Json::into_value) {
            _ if text.trim().is_empty() => Map::new(),
            Ok(Value::Object(document)) => document,
            Ok(_) => {
                let (place, fault) = expect_kind("the file", "an object");
                return Err(ConfigError::Value { path, place, fault });
            }
            Err(source) => return Err(ConfigError::Json { path, source }),
        };
        let text = Some(text);
        let file = Self {
            path,
            text,
            document,
        };
        file.entries()?;
        Ok(file)
    }

    /// Returns the path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the servers in the order of the file. A server that is not usable is an error, and affects no other.
    pub fn servers(&self) -> impl Iterator<Item = (&str, Result<ServerEntry, ConfigError>)> {
        let entries = self.entries().ok().flatten().into_iter().flatten();
        entries.map(|(name, entry)| (name.as_str(), self.entry(name, entry)))
    }

    /// Returns the server of this name, or `None` if there is none.
    ///
    /// # Errors
    /// Returns an error if its entry is not usable.
    pub fn server(&self, name: &str) -> Result<Option<ServerEntry>, ConfigError> {
        let entry = self.entries()?.and_then(|entries| entries.get(name));
        entry.map(|entry| self.entry(name, entry)).transpose()
    }

    /// Returns the user's decisions about a server of this file.
    ///
    /// # Errors
    /// Returns an error if they are not usable.
    pub fn settings(&self, server: &str) -> Result<ServerSettings, ConfigError> {
        self.settings_at(&[SERVERS, server, SETTINGS])
    }

    /// Returns the user's decisions about a server of a project. The workspace is the absolute path of its root.
    ///
    /// # Errors
    /// Returns an error if they are not usable.
    pub fn project_settings(
        &self,
        workspace: &str,
        server: &str,
    ) -> Result<ServerSettings, ConfigError> {
        self.settings_at(&[SETTINGS, "projects", workspace, server])
    }

    /// Adds a server, or changes the transport of the one of this name.
    ///
    /// # Errors
    /// Returns an error if `mcpServers` or the entry is not an object.
    pub fn set(&mut self, name: &ServerName, transport: &Transport) -> Result<(), ConfigError> {
        transport.write(self.object_at(&[SERVERS, name.as_str()])?);
        Ok(())
    }

    /// Sets decisions of the user about a server of this file: effects by the name of a tool, and whether calls need no question. Others
    /// stay.
    ///
    /// # Errors
    /// Returns an error if they are not usable, or if a value on the way is not an object.
    pub fn decide(
        &mut self,
        server: &ServerName,
        effects: impl IntoIterator<Item = (String, Value)>,
        allow: bool,
    ) -> Result<(), ConfigError> {
        let place = [SERVERS, server.as_str(), SETTINGS];
        if allow {
            self.object_at(&place)?
                .insert(ALLOW.to_owned(), true.into());
        }
        for (tool, declared) in effects {
            self.object_at(&[&place[..], &["effects"]].concat())?
                .insert(tool, declared);
        }
        self.settings(server.as_str()).map(drop)
    }

    /// Permits calls of a tool without declared effects, without a question. `tool` is a pattern of its name behind `mcp:SERVER/`. The
    /// server is that of this file, or of the project in a workspace.
    ///
    /// # Errors
    /// Returns an error if a value on the way is not an object, or if the decisions are not usable.
    pub fn permit(
        &mut self,
        server: &str,
        workspace: Option<&str>,
        tool: &str,
    ) -> Result<(), ConfigError> {
        let place = match workspace {
            Some(workspace) => vec![SETTINGS, "projects", workspace, server],
            None => vec![SERVERS, server, SETTINGS],
        };
        let mut patterns = self.settings_at(&place)?.allow;
        if !patterns.iter().any(|pattern| pattern == tool) {
            patterns.push(tool.to_owned());
        }
        self.object_at(&place)?
            .insert(ALLOW.to_owned(), patterns.into());
        self.settings_at(&place).map(drop)
    }

    /// Removes a server. Returns true if there was one.
    pub fn remove(&mut self, name: &str) -> bool {
        let servers = self.document.get_mut(SERVERS);
        let servers = servers.and_then(Value::as_object_mut);
        servers.is_some_and(|servers| servers.remove(name).is_some())
    }

    /// Sets the variables that a server of a project may refer to.
    ///
    /// # Errors
    /// Returns an error if a value on the way is not an object.
    pub fn set_project_variables(
        &mut self,
        workspace: &str,
        server: &str,
        settings: &ServerSettings,
    ) -> Result<(), ConfigError> {
        let variables = json!(settings.variables);
        self.object_at(&[SETTINGS, "projects", workspace, server])?
            .insert("variables".to_owned(), variables);
        Ok(())
    }

    /// Removes the user's decisions about a server of a project. Returns true if there were any.
    pub fn remove_project_settings(&mut self, workspace: &str, server: &str) -> bool {
        remove_at(
            &mut self.document,
            &[SETTINGS, "projects", workspace, server],
        )
    }

    /// Replaces the file at once. The user's own file is for the user only. A link stays, and its target is replaced.
    ///
    /// # Errors
    /// Returns [`ConfigError::Changed`] if another program has changed the file since it was read, and [`ConfigError::Write`] if it
    /// cannot be written.
    pub fn write(&mut self, owner: FileOwner) -> Result<(), ConfigError> {
        let refused = |source| ConfigError::Write {
            path: self.path.clone(),
            source,
        };
        let path = self.path.canonicalize();
        let path = path.unwrap_or_else(|_| self.path.clone());
        if read(&path).map_err(refused)? != self.text {
            return Err(ConfigError::Changed {
                path: self.path.clone(),
            });
        }
        let mut text =
            serde_json::to_string_pretty(&self.document).map_err(|error| refused(error.into()))?;
        text.push('\n');
        replace(&path, &text, owner).map_err(refused)?;
        self.text = Some(text);
        Ok(())
    }

    fn entries(&self) -> Result<Option<&Map<String, Value>>, ConfigError> {
        Fields(&self.document)
            .object(SERVERS)
            .map_err(|misplaced| self.error(&[], misplaced))
    }

    fn entry(&self, name: &str, entry: &Value) -> Result<ServerEntry, ConfigError> {
        let at = [SERVERS, name];
        let server = ServerName::new(name)
            .map_err(|error| self.error(&at[..1], (name.to_owned(), error.to_string())))?;
        let fields = entry
            .as_object()
            .ok_or_else(|| self.error(&at[..1], expect_kind(name, "an object")))?;
        let misplaced = |misplaced| self.error(&at, misplaced);
        Ok(ServerEntry {
            name: server,
            transport: Transport::parse(fields).map_err(misplaced)?,
            is_disabled: Fields(fields).flag("disabled").map_err(misplaced)?,
            call_timeout: entry::call_timeout(fields).map_err(misplaced)?,
            ignored: entry::find_ignored(fields),
            path: self.path.clone(),
            place: at.join("."),
        })
    }

    fn settings_at(&self, place: &[&str]) -> Result<ServerSettings, ConfigError> {
        let mut object = &self.document;
        for (depth, field) in place.iter().enumerate() {
            let found = Fields(object)
                .object(field)
                .map_err(|misplaced| self.error(&place[..depth], misplaced))?;
            let Some(found) = found else {
                return Ok(ServerSettings::default());
            };
            object = found;
        }
        ServerSettings::parse(object).map_err(|misplaced| self.error(place, misplaced))
    }

    /// Returns the object at a place, and creates the missing ones.
    fn object_at(&mut self, place: &[&str]) -> Result<&mut Map<String, Value>, ConfigError> {
        let mut object = &mut self.document;
        for (depth, field) in place.iter().enumerate() {
            let value = object.entry(*field).or_insert(Value::Null);
            if value.is_null() {
                *value = Value::Object(Map::new());
            }
            let Value::Object(next) = value else {
                let (place, fault) = expect_kind(place[..=depth].join("."), "an object");
                let path = self.path.clone();
                return Err(ConfigError::Value { path, place, fault });
            };
            object = next;
        }
        Ok(object)
    }

    fn error(&self, place: &[&str], (field, fault): Misplaced) -> ConfigError {
        ConfigError::Value {
            path: self.path.clone(),
            place: [place, &[field.as_str()]].concat().join("."),
            fault,
        }
    }
}

/// Removes the value at a place, and the objects on the way that have become empty. Returns true if there was one.
fn remove_at(object: &mut Map<String, Value>, place: &[&str]) -> bool {
    let Some((field, rest)) = place.split_first() else {
        return false;
    };
    if rest.is_empty() {
        return object.remove(*field).is_some();
    }
    let Some(Value::Object(next)) = object.get_mut(*field) else {
        return false;
    };
    let is_removed = remove_at(next, rest);
    if is_removed && next.is_empty() {
        object.remove(*field);
    }
    is_removed
}

/// Reads a text. Returns `None` if there is no file.
fn read(path: &Path) -> io::Result<Option<String>> {
    let mut options = fs::File::options();
    options.read(true);
    // Without it, to open a pipe waits for its other end.
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, flags.bits().cast_signed());
    let file = match options.open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    tools_text::read_input(file, MAX_BYTES).map(Some)
}

fn replace(path: &Path, text: &str, owner: FileOwner) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    if owner == FileOwner::User {
        tools_store::private::create_folder(folder)?;
    }
    let mut builder = tempfile::Builder::new();
    let present = fs::metadata(path);
    if owner == FileOwner::Project {
        // As any other program creates a file; the user's mask applies.
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    }
    let mut file = builder.tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    if let Ok(present) = present {
        file.as_file().set_permissions(present.permissions())?;
    }
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}
