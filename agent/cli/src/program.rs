//! [`Program`]: the name, the defaults and the additions of a program.

use std::collections::{BTreeMap, BTreeSet};
use std::env;

use agent::provider::ModelService;
use agent::{ProviderError, ProviderOptions, ProviderSubmission};
use host::program::Identity;
pub(crate) use host::program::{name, services, variable, version};
use once_cell::sync::OnceCell;

/// The running program. [`Program::main`] sets it once; unit tests have the default.
static RUNNING: OnceCell<Program> = OnceCell::new();

/// A program with the commands of `toolcrib` and with tools of its own.
///
/// Tools and providers of linked crates need no registration. The builder sets the rest: name, version, default settings, and
/// services that the tools need.
///
/// ```no_run
/// use std::process::ExitCode;
///
/// fn main() -> ExitCode {
///     toolcrib::Program::new()
///         .with_name("crate-bot")
///         .with_version(env!("CARGO_PKG_VERSION"))
///         .with_default_settings("select = ['fs.*', 'time.*']")
///         .main()
/// }
/// ```
#[derive(Debug)]
#[must_use]
pub struct Program {
    identity: Identity,
    providers: Vec<ProviderSubmission>,
}

impl Program {
    /// Creates the program `toolcrib`.
    pub fn new() -> Self {
        Self {
            identity: Identity::new(env!("CARGO_PKG_VERSION")),
            providers: Vec::new(),
        }
    }

    /// Sets the name: letters, digits, `-` and `_`.
    ///
    /// - Settings are read from `NAME.toml` and from variables that begin with `NAME_`.
    /// - The user's folders are called `NAME`, below `$XDG_CONFIG_HOME`, `$XDG_STATE_HOME` and so on.
    pub fn with_name(mut self, name: &'static str) -> Self {
        self.identity.name = name;
        self
    }

    /// Sets the version that `--version` prints.
    pub fn with_version(mut self, version: &'static str) -> Self {
        self.identity.version = version;
        self
    }

    /// Sets the default settings, in the format of the settings file (`config --help` describes it). Files, variables and
    /// flags override them.
    /// They are trusted like the user's file, so an untrusted project's file can only narrow them.
    pub fn with_default_settings(mut self, toml: &'static str) -> Self {
        self.identity.settings = toml;
        self
    }

    /// Adds a service that tools [need](tools::ToolContext::need). It replaces an earlier service of the same type. The program
    /// itself offers `OutputStore`, `Models`, the `Tasks` of the session and, with `builtin`, the `Workspace` of the file
    /// tools.
    ///
    /// Unless another one is added, the program offers `SubAgents` with the default limits and, in the default build, the `HttpClient`
    /// and the `WebSearch` of the settings. A session and `doctor` name the settings that an added one replaces.
    pub fn with_service<T: Send + Sync + 'static>(mut self, service: T) -> Self {
        self.identity.services.insert(service);
        self
    }

    /// Adds a provider for `--provider`. It takes precedence over a linked provider of the same name.
    pub fn with_provider(mut self, provider: ProviderSubmission) -> Self {
        self.providers.push(provider);
        self
    }

    /// Makes this the running program, with functions that print warnings and notes. Returns its name and version, or `None` if a program
    /// is running already.
    pub(crate) fn install(
        mut self,
        warn: fn(&str),
        note: fn(&str),
    ) -> Option<(&'static str, &'static str)> {
        (self.identity.warn, self.identity.note) = (warn, note);
        let identity = self.identity.clone();
        let is_first = RUNNING.set(self).is_ok() && host::program::install(identity.clone());
        is_first.then_some((identity.name, identity.version))
    }
}

impl Default for Program {
    fn default() -> Self {
        Self::new()
    }
}

/// Returns the provider of that name: an added one, or a linked one.
///
/// # Errors
/// Returns the errors of [`agent::provider::get`].
pub(crate) fn provider(name: &str) -> Result<&'static ProviderSubmission, ProviderError> {
    let mut own = running().providers.iter().rev();
    let added = own.find(|provider| provider.name == name);
    added.map_or_else(|| agent::provider::get(name), Ok)
}

/// Returns all providers, sorted by name. An added one takes precedence over a linked one.
pub(crate) fn providers() -> Vec<&'static ProviderSubmission> {
    let all = agent::provider::list().into_iter();
    let all = all.chain(&running().providers);
    let by_name: BTreeMap<_, _> = all.map(|provider| (provider.name, provider)).collect();
    by_name.into_values().collect()
}

/// Returns the providers that a key in the environment makes usable, sorted by name, each with its service. Of providers with one
/// key, it is the first.
pub(crate) fn providers_with_key() -> Vec<(&'static str, ModelService)> {
    let mut services = Vec::new();
    let mut keys = BTreeSet::new();
    for provider in providers() {
        if let Some(service) = (provider.service)(&ProviderOptions::new())
            && env::var_os(service.key_variable).is_some_and(|key| !key.is_empty())
            && service.model.is_some()
            && keys.insert(service.key_variable)
        {
            services.push((provider.name, service));
        }
    }
    services
}

fn running() -> &'static Program {
    RUNNING.get_or_init(Program::new)
}
