//! The identity of the running program.

use once_cell::sync::OnceCell;
use tools::Services;

/// The running program. [`install`] sets it once; tests of libraries have the default.
static RUNNING: OnceCell<Identity> = OnceCell::new();

/// The name, the version and the default settings of a program.
#[derive(Clone, Debug)]
pub struct Identity {
    /// The name: letters, digits, `-` and `_`. The settings file, the variables and the folders are called after it.
    pub name: &'static str,
    /// The version that `--version` prints.
    pub version: &'static str,
    /// The default settings, in the format of the settings file.
    pub settings: &'static str,
    /// The services that the program brings itself. They take the place of those that the settings describe.
    pub services: Services,
    /// Prints a warning to the person at the terminal.
    pub warn: fn(&str),
    /// Prints a note to the person at the terminal.
    pub note: fn(&str),
}

impl Identity {
    /// Creates the program `toolcrib` of a version, which prints nothing.
    pub fn new(version: &'static str) -> Self {
        Self {
            name: "toolcrib",
            version,
            settings: "",
            services: Services::new(),
            warn: |_| {},
            note: |_| {},
        }
    }
}

/// Makes this the running program. Returns false if one is running already.
pub fn install(identity: Identity) -> bool {
    RUNNING.set(identity).is_ok()
}

/// Returns the name of the running program.
pub fn name() -> &'static str {
    running().name
}

/// Returns the version of the running program.
pub fn version() -> &'static str {
    running().version
}

/// Returns the services that the program brings itself.
pub fn services() -> Services {
    running().services.clone()
}

/// Returns the default settings as TOML.
pub fn default_settings() -> &'static str {
    running().settings
}

/// Warns the person at the terminal. Tests of libraries have none.
pub fn warn(text: &str) {
    (running().warn)(text);
}

/// Tells the person at the terminal something that needs no action.
pub fn note(text: &str) {
    (running().note)(text);
}

/// Returns the environment variable of a settings key, such as `TOOLCRIB_LIMITS_MAX_STEPS` for `limits.max_steps`.
pub fn variable(key: &str) -> String {
    format!("{}_{key}", name())
        .replace(['-', '.'], "_")
        .to_ascii_uppercase()
}

fn running() -> &'static Identity {
    RUNNING.get_or_init(|| Identity::new(env!("CARGO_PKG_VERSION")))
}
