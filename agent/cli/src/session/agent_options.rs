//! [`AgentOptions`]: the provider, the tools and the grant of sessions.

use std::path::PathBuf;

use clap::Args;

use crate::config::{
    KeyFlags, LimitFlags, MODEL, Origin, ProgramKeys, RECORDING, SessionFlags, Setting,
    SettingsError, Values,
};
use crate::host_options::HostOptions;
use crate::provider_choice::DIRECT;
use host::shell::path_flag;

/// The provider that replays a script.
const SCRIPTED: &str = "scripted";

/// The options of commands that run a session or several.
#[derive(Args, Clone, Debug)]
pub(crate) struct AgentOptions {
    #[command(flatten)]
    keys: KeyFlags<SessionFlags>,

    /// Replay the model turns of this JSON file that the conversation does not have yet; implies --provider scripted
    #[arg(long, value_name = "FILE", help_heading = MODEL)]
    pub(super) script: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) host: HostOptions,

    // Behind the host, so that the help has the permissions before the limits.
    #[command(flatten)]
    limits: KeyFlags<LimitFlags>,

    /// Put this id on the calls of the session in its journal, spans and events, so that a host finds its request again
    #[arg(long, value_name = "ID", help_heading = RECORDING)]
    pub(super) correlation_id: Option<String>,
}

impl AgentOptions {
    /// Returns the given flags as words of a shell.
    pub(super) fn words(&self) -> Vec<String> {
        let script = self.script.iter();
        let script = script.map(|file| path_flag("--script", file));
        let mut words = self.keys.words();
        words.extend(script.chain(self.limits.words()));
        words.extend(self.host.words());
        words
    }

    /// Returns the settings of these flags. `--script` implies the provider that replays it. A single call needs no model.
    pub(super) fn flags(&self, is_call: bool) -> Result<Values, SettingsError> {
        let mut flags = self.keys.values()?;
        flags.merge(self.limits.values()?);
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
