//! [`AgentOptions`]: the provider, the tools and the grant of sessions.

use std::path::PathBuf;

use clap::Args;

use crate::config::{KeyFlags, Origin, ProgramKeys, SessionFlags, Setting, SettingsError, Values};
use crate::host_options::HostOptions;
use crate::provider_choice::DIRECT;

/// The provider that replays a script.
const SCRIPTED: &str = "scripted";

/// The options of commands that run a session or several.
#[derive(Args, Clone, Debug)]
pub(crate) struct AgentOptions {
    #[command(flatten)]
    keys: KeyFlags<SessionFlags>,

    /// Replay the model turns of this JSON file that the conversation does not have yet; implies --provider scripted
    #[arg(long, value_name = "FILE")]
    pub(super) script: Option<PathBuf>,

    /// Put this id on the calls of the session in its journal, spans and events, so that a host finds its request again
    #[arg(long, value_name = "ID")]
    pub(super) correlation_id: Option<String>,

    #[command(flatten)]
    pub(crate) host: HostOptions,
}

impl AgentOptions {
    /// Returns the settings of these flags. `--script` implies the provider that replays it. A single call needs no model.
    pub(super) fn flags(&self, is_call: bool) -> Result<Values, SettingsError> {
        let mut flags = self.keys.values()?;
        let keys: &mut ProgramKeys = flags.of_mut();
        if is_call {
            keys.provider = Some(Setting::from_flag("the call of a job", DIRECT.to_owned()));
            // A model without its provider would be a mistake of the settings.
            keys.model = None;
            keys.models = None;
        } else if self.script.is_some() {
            let scripted = Setting::from_flag("--script", SCRIPTED.to_owned());
            let named = &keys.provider.get_or_insert(scripted).value;
            if named != SCRIPTED {
                let reason =
                    format!("needs --provider {SCRIPTED}, not {named}; drop one of the two flags");
                let origin = Origin::Flag("--script");
                return Err(SettingsError::value(&origin, "a script", reason));
            }
        }
        Ok(flags)
    }
}
