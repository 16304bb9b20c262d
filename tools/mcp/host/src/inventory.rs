//! [`Inventory`]: the servers of the user's file and of the project's.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use host::trust::{Approval, Approvals, Change, Subject};
use host::{folders, program};
use serde_json::{Value, json};
use tools::Digest;
use tools_mcp::client::ServerName;
use tools_mcp::config::{
    ConfigError, FileOwner, McpFile, ServerEntry, ServerSettings, Transport, Variables,
};
use tools_mcp::trust::{Executable, Pins, TrustError, server_subject};
use tools_store::private;

use crate::code::ServerCode;
use crate::error::McpError;

/// The project's file, in the root of the workspace.
const PROJECT_FILE: &str = ".mcp.json";

/// The folder below the state with the servers that editors passed, by workspace.
const EDITORS: &str = "editors";

/// The fact about the files of a server that sessions wrote.
const WRITTEN: &str = "written by sessions";

/// The number of hexadecimal digits in the name of a workspace's folder.
const DIGITS: usize = 32;

/// The servers of the user's file and of the project's. The user's one hides a project's of the same name.
pub(crate) struct Inventory {
    pub(crate) user: McpFile,
    /// The project's file. It is empty if it cannot be read.
    pub(crate) project: McpFile,
    /// The servers that an editor passed last for the workspace, which are approved as those of the project. A server of the other files hides
    /// one of the same name.
    editor: McpFile,
    /// The reason why the project's file cannot be read. It affects no server of the user.
    pub(crate) fault: Option<ConfigError>,
    /// The root of the workspace, with links resolved, as approvals and settings name it.
    pub(crate) workspace: String,
    /// The folder of approvals and pins.
    state: PathBuf,
}

/// A server of a file.
pub(crate) struct Configured {
    pub(crate) name: ServerName,
    pub(crate) owner: FileOwner,
    pub(crate) entry: ServerEntry,
    pub(crate) settings: ServerSettings,
}

/// Whether a session may use a server.
pub(crate) enum Standing {
    /// The server that was approved, so that no other one is started.
    Ready(Resolved),
    /// The file disables the server, which is ready otherwise.
    Disabled(Resolved),
    Unapproved,
    /// Another server of this name was approved.
    Changed(Vec<Change>),
    Unusable(String),
}

/// A server that is ready to start.
pub(crate) struct Resolved {
    /// The transport without references to variables.
    pub(crate) transport: Transport,
    /// The program. `None` for a server that is no program.
    pub(crate) program: Option<Program>,
    /// The values of the variables in the URL.
    pub(crate) url_values: Vec<String>,
}

/// The program of a server.
pub(crate) struct Program {
    pub(crate) executable: Executable,
    /// The working directory, with links resolved.
    pub(crate) cwd: PathBuf,
}

impl Inventory {
    /// Reads the files. A missing one has no servers.
    pub(crate) fn load(root: &Path) -> Result<Self, McpError> {
        let (Some(user), Some(state)) = (folders::servers(), folders::state()) else {
            return Err(McpError::NoHome);
        };
        let workspace = folders::workspace(root)?;
        let root = Path::new(&workspace);
        let user = McpFile::read(user)?;
        let path = root.join(PROJECT_FILE);
        let (project, fault) = match McpFile::read_within(root, &path) {
            Ok(project) => (project, None),
            Err(fault) => (McpFile::from_text(path, "")?, Some(fault)),
        };
        let state = state.join("mcp");
        let path = state.join(EDITORS).join(format!("{}.json", id(&workspace)));
        let editor = McpFile::read(&path).or_else(|_| McpFile::from_text(path, ""))?;
        Ok(Self {
            user,
            project,
            editor,
            fault,
            workspace,
            state,
        })
    }

    /// Sets the servers of an editor to those of this session, or to none. The value is the object `mcpServers` of a file of servers.
    ///
    /// # Errors
    /// Returns an error if the value is no object.
    pub(crate) fn with_given(mut self, given: Option<&Value>) -> Result<Self, McpError> {
        let text = given.map(|servers| json!({"mcpServers": servers}).to_string());
        self.editor = McpFile::from_text(self.editor.path(), text.unwrap_or_default())?;
        Ok(self)
    }

    /// Keeps the servers of the session's editor, so that the user can see and approve them from a terminal. Only the user can read the
    /// file, because they may have secrets in their variables.
    pub(crate) fn keep_given(&self, given: &Value) -> io::Result<()> {
        let path = self.editor.path();
        if let Some(folder) = path.parent() {
            private::create_folder(folder)?;
        }
        let draft = path.with_extension("draft");
        let text = json!({"mcpServers": given}).to_string();
        private::replace(path, &draft, text.as_bytes())
    }

    /// Returns the files, so that they can be changed.
    ///
    /// # Errors
    /// Returns an error if one of them cannot be read.
    pub(crate) fn load_whole(root: &Path) -> Result<Self, McpError> {
        let mut inventory = Self::load(root)?;
        match inventory.fault.take() {
            Some(fault) => Err(fault.into()),
            None => Ok(inventory),
        }
    }

    /// Prints a warning if the project's file cannot be read.
    pub(crate) fn warn(&self) {
        if let Some(fault) = &self.fault {
            program::warn(&format!("the project's MCP servers are left out: {fault}"));
        }
    }

    /// Returns all servers, sorted by name, the user's before the project's. A server that cannot be used is an error with its name.
    pub(crate) fn servers(&self) -> Vec<(String, FileOwner, Result<Configured, ConfigError>)> {
        let mut servers = Vec::new();
        for (name, entry) in self.user.servers() {
            let configured = entry.and_then(|entry| self.configure(FileOwner::User, entry));
            servers.push((name.to_owned(), FileOwner::User, configured));
        }
        for (name, entry) in self.project.servers().chain(self.editor.servers()) {
            let mut hiding = servers.iter().map(|(found, ..)| found);
            if !hiding.any(|found| found == name) {
                let configured = entry.and_then(|entry| self.configure(FileOwner::Project, entry));
                servers.push((name.to_owned(), FileOwner::Project, configured));
            }
        }
        servers.sort_by(|(one, ..), (other, ..)| one.cmp(other));
        servers
    }

    /// Returns a server by its name.
    pub(crate) fn find(&self, name: &str) -> Result<Configured, McpError> {
        let found = self.servers().into_iter().find(|(found, ..)| found == name);
        let (_, _, configured) = found.ok_or_else(|| McpError::NoServer(name.to_owned()))?;
        Ok(configured?)
    }

    fn configure(&self, owner: FileOwner, entry: ServerEntry) -> Result<Configured, ConfigError> {
        let name = entry.name.clone();
        let settings = match owner {
            FileOwner::User => self.user.settings(name.as_str())?,
            FileOwner::Project => self.user.project_settings(&self.workspace, name.as_str())?,
        };
        Ok(Configured {
            name,
            owner,
            entry,
            settings,
        })
    }

    pub(crate) fn root(&self) -> &Path {
        Path::new(&self.workspace)
    }

    /// Returns whether a session may use a server.
    pub(crate) fn standing(&self, server: &Configured) -> Standing {
        match self.approval(server).map(|(approval, _)| approval) {
            Ok(Approval::Given) => match self.resolve(server) {
                Ok(resolved) if server.entry.is_disabled => Standing::Disabled(resolved),
                Ok(resolved) => Standing::Ready(resolved),
                Err(error) => Standing::Unusable(error.to_string()),
            },
            Ok(Approval::Missing) => Standing::Unapproved,
            Ok(Approval::Outdated(changes)) => Standing::Changed(changes),
            Err(error) => Standing::Unusable(error.to_string()),
        }
    }

    /// Returns the decision about a server, and the facts that the user approves. One of the user needs no approval before sessions wrote
    /// its code. Of the variables, only those in the command and the working directory are among the facts.
    pub(crate) fn approval(&self, server: &Configured) -> Result<(Approval, Subject), McpError> {
        let program = match self.program(server, &Variables::all(environment())) {
            Err(_) if server.owner == FileOwner::User => None,
            program => program?,
        };
        let (executable, cwd) = program
            .as_ref()
            .map(|program| (&program.executable, &*program.cwd))
            .unzip();
        let mut subject = server_subject(&self.workspace, &server.entry, executable, cwd);
        let code = program.as_ref();
        let code = code.and_then(|program| self.code(server, program));
        let written = code.map_or(Ok(Value::Null), |code| code.writes())?;
        if server.owner == FileOwner::User && written.is_null() {
            return Ok((Approval::Given, subject));
        }
        if !written.is_null() {
            subject.facts.insert(WRITTEN.to_owned(), written);
        }
        Ok((self.approvals().find(&subject)?, subject))
    }

    /// Returns the files that a server may run outside of walls. Returns `None` for a server with walls.
    fn code(&self, server: &Configured, program: &Program) -> Option<ServerCode> {
        let transport = server.entry.expand(&Variables::all(environment()));
        let transport = transport.unwrap_or_else(|_| server.entry.transport.clone());
        let Transport::Stdio { args, env, cwd, .. } = transport else {
            return None;
        };
        server.settings.grant.is_none().then(|| ServerCode {
            server: server.name.to_string(),
            owner: server.owner,
            workspace: self.root().to_owned(),
            home: folders::home().and_then(|home| home.canonicalize().ok()),
            programs: [
                program.executable.path.clone(),
                program.executable.target.clone(),
            ],
            cwd: program.cwd.clone(),
            has_own_cwd: cwd.is_some(),
            words: args.into_iter().chain(env.into_values()).collect(),
        })
    }

    /// Returns a check that fails once a session has written code of a server that is ready. Call it before each start.
    pub(super) fn check_of_code(
        &self,
        server: &Configured,
        program: &Program,
    ) -> Result<impl Fn() -> Result<(), McpError> + Send + Sync + use<>, McpError> {
        let code = self.code(server, program);
        let ready = code.as_ref().map_or(Ok(Value::Null), ServerCode::writes)?;
        let approvals = self.approvals();
        let workspace = self.workspace.clone();
        let name = server.name.to_string();
        Ok(move || {
            let now = code.as_ref().map_or(Ok(Value::Null), ServerCode::writes)?;
            if now == ready {
                return Ok(());
            }
            match approvals.subject(&workspace, &name)? {
                Some(approved) if approved.facts.get(WRITTEN) == Some(&now) => Ok(()),
                _ => Err(McpError::Rewritten(name.clone())),
            }
        })
    }

    /// Returns a server that may start or be connected.
    pub(crate) fn usable(&self, server: &Configured) -> Result<Resolved, McpError> {
        match self.standing(server) {
            Standing::Ready(resolved) | Standing::Disabled(resolved) => Ok(resolved),
            Standing::Unapproved | Standing::Changed(_) => {
                Err(McpError::Unapproved(server.name.to_string()))
            }
            Standing::Unusable(reason) => Err(McpError::unusable(&server.name, reason)),
        }
    }

    /// Returns a server without references to variables, and its program.
    fn resolve(&self, server: &Configured) -> Result<Resolved, McpError> {
        let variables = match server.owner {
            FileOwner::User => Variables::all(environment()),
            FileOwner::Project => {
                Variables::from_listed(environment(), server.settings.variables.iter().cloned())
            }
        };
        Ok(Resolved {
            transport: server.entry.expand(&variables)?,
            program: self.program(server, &variables)?,
            url_values: server.entry.url_values(&variables),
        })
    }

    /// Returns the program of a server. Returns `None` for a server that is no program.
    fn program(
        &self,
        server: &Configured,
        variables: &Variables,
    ) -> Result<Option<Program>, McpError> {
        let Some((command, cwd)) = server.entry.expand_program(variables)? else {
            return Ok(None);
        };
        let cwd = self.root().join(cwd.unwrap_or_default());
        let cwd = cwd.canonicalize().map_err(|error| {
            let path = cwd.display();
            let reason = format!("its working directory {path} cannot be opened: {error}");
            McpError::unusable(&server.name, reason)
        })?;
        let search: OsString = std::env::var_os("PATH").unwrap_or_default();
        match Executable::find(&command, &cwd, &search) {
            Some(executable) => Ok(Some(Program { executable, cwd })),
            None => Err(McpError::NoProgram(command, server.name.to_string())),
        }
    }

    pub(crate) fn approvals(&self) -> Approvals {
        Approvals::new(self.state.join("approvals"))
    }

    /// Opens the pins of a server, in its `mcp.lock`.
    pub(crate) fn pins(&self, server: &Configured) -> Result<Arc<Pins>, TrustError> {
        let path = self.folder("pins", server).join("mcp.lock");
        Pins::open(path, server.name.clone(), server.settings.clone()).map(Arc::new)
    }

    /// Returns the folder for the tokens of the login to a server. A project's server does not get those of the user's one.
    pub(crate) fn tokens(&self, server: &Configured) -> PathBuf {
        self.folder("tokens", server)
    }

    /// Removes the login to a server. Returns true if there was one.
    pub(crate) fn remove_tokens(&self, server: &Configured) -> Result<bool, McpError> {
        match std::fs::remove_dir_all(self.tokens(server)) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
            Err(error) => {
                let path = self.tokens(server);
                let path = path.display();
                let reason = format!("the login cannot be removed: {error}; remove {path}");
                Err(McpError::unusable(&server.name, reason))
            }
        }
    }

    /// Returns the folder of this kind for a server.
    fn folder(&self, kind: &str, server: &Configured) -> PathBuf {
        let workspace = id(&self.workspace);
        let scope = match server.owner {
            FileOwner::User => "user",
            FileOwner::Project => &workspace,
        };
        self.state.join(kind).join(scope).join(server.name.as_str())
    }
}

/// Returns the name of a workspace's folder.
fn id(workspace: &str) -> String {
    let digest = Digest::hash_bytes(workspace.as_bytes()).to_string();
    digest[..DIGITS].to_owned()
}

/// Returns the variables of this process whose names and values are text.
fn environment() -> impl Iterator<Item = (String, String)> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
}

impl Inventory {
    /// Returns the programs of the servers that sessions may start, and the existing files among their arguments. They run without a
    /// question, so replacing one needs approval.
    pub(crate) fn control_files(&self) -> Vec<PathBuf> {
        let mut files = Vec::new();
        let servers = self.servers().into_iter();
        for server in servers.filter_map(|(.., configured)| configured.ok()) {
            let (Standing::Ready(resolved) | Standing::Disabled(resolved)) = self.standing(&server)
            else {
                continue;
            };
            let Resolved {
                transport: Transport::Stdio { args, .. },
                program: Some(program),
                ..
            } = resolved
            else {
                continue;
            };
            let Program { executable, cwd } = program;
            // A project's server whose link leads elsewhere is no longer approved.
            let path = (server.owner == FileOwner::User).then_some(executable.path);
            files.extend([executable.target].into_iter().chain(path));
            files.extend(args.iter().flat_map(|argument| find_files(argument, &cwd)));
        }
        files
    }
}

/// Returns the existing files that an argument names, such as `server.py` or `--config=server.json`.
fn find_files(argument: &str, cwd: &Path) -> impl Iterator<Item = PathBuf> {
    let value = argument.split_once('=').map(|(_, value)| value);
    [Some(argument), value]
        .into_iter()
        .flatten()
        .map(|name| cwd.join(name))
        .filter(|path| path.is_file())
}
