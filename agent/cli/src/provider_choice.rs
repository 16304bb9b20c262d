//! [`ProviderChoice`]: the provider and the model of a session, and the reason for them.

use std::fmt;

use agent::{ModelChoice, ProviderOptions};

use crate::config::{Origin, ProgramSettings as _, Setting, Settings, value};
use crate::program;

/// The provider that reads the prompt as tool calls.
pub(crate) const DIRECT: &str = "direct";

/// The provider and the model of a session.
#[derive(Debug)]
pub(crate) struct ProviderChoice {
    pub(crate) provider: String,
    /// The named model, or the default one of a provider that no setting names.
    pub(crate) model: Option<String>,
    /// The models that take over, in order.
    pub(crate) fallbacks: Vec<ModelChoice>,
    /// A note on the choice, unless a flag or the configuration names the provider and the model.
    pub(crate) note: Option<String>,
}

impl ProviderChoice {
    pub(crate) fn from_settings(settings: &Settings) -> Self {
        let program = settings.program();
        let mut choice = Self {
            provider: value(&program.provider).unwrap_or_else(|| DIRECT.to_owned()),
            model: value(&program.model),
            fallbacks: program.fallbacks(),
            note: None,
        };
        let Some(Setting { origin, .. }) = &program.provider else {
            choice.note = Some(
                "no provider is configured; the prompt is read as tool calls (--provider direct)"
                    .to_owned(),
            );
            return choice;
        };
        let model = program.model.as_ref().map(|model| &model.origin);
        let mut origins = [Some(origin), model].into_iter().flatten();
        if let Some(session) = origins.find_map(Origin::session) {
            choice.note = Some(format!(
                "using {choice}, because the session {session} began with it (--provider or --model chooses another)"
            ));
        }
        if choice.model.is_none() {
            choice.model = default_model(settings, &choice.provider);
        }
        let with_key = program::providers_with_key();
        // Nobody named this provider, so the person is told who gets the prompts.
        if let Origin::Environment(variable) = origin
            && with_key
                .iter()
                .any(|(name, service)| *name == choice.provider && service.key_variable == variable)
        {
            let others = with_key.iter().map(|(_, service)| service.key_variable);
            let others = others.filter(|other| other != variable);
            let others: String = others.map(|other| format!("so is {other}; ")).collect();
            choice.note = Some(format!(
                "no provider is configured; using {choice}, because {variable} is set ({others}--provider chooses another)"
            ));
        }
        choice
    }

    /// Returns the name of the model, by which rules and grants know it.
    pub(crate) fn name(&self) -> ModelChoice {
        ModelChoice::new(&self.provider, self.model.clone())
    }
}

/// Returns the default model of the provider's service. One at a URL of the user's has none.
fn default_model(settings: &Settings, provider: &str) -> Option<String> {
    let mut options = ProviderOptions::new();
    options.base_url = value(&settings.program().base_url);
    let provider = program::provider(provider).ok()?;
    (provider.service)(&options)?.model.map(str::to_owned)
}

/// Formats the provider and the model: `openai with the model gpt-5.1`.
impl fmt::Display for ProviderChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.provider)?;
        self.model
            .as_ref()
            .map_or(Ok(()), |model| write!(f, " with the model {model}"))
    }
}
