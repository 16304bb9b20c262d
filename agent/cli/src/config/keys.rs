//! The keys of the program itself: [`ProgramKeys`]. Those of one idea are in a module below.
//!
//! To add a key, add a declaration and run .ci/generate, which writes the table of the README.

use std::path::PathBuf;
use std::time::Duration;

use agent::driver::DEFAULT_MAX_STEPS;
use agent::{Cost, KeySource, ModelChoice, ReasoningEffort};
use host::declare_keys;
use host::settings::FlagValue::{Implied, Named};
use host::settings::{
    Key, ProjectRule, REDIRECTS, SPENDS, Setting, SettingsError, boolean, duration, file, float,
    integer, key_source, non_blank, printed_text, proxy_url, replaced_list, tables, text, url,
    variable,
};
use tools::Approval;

use super::model_price::ModelPrice;
use super::parser::{DisclosureMode, cost, degree, disclosure, effort, glob, model_name};

/// The flag for the tools of a session.
pub(super) const SELECT: &str = "--select";

/// The flag for the time to answer a question.
pub(super) const APPROVAL_TIMEOUT: &str = "--approval-timeout";

declare_keys! {
    /// The keys of sessions and their models.
    pub(crate) struct ProgramKeys;

    /// The provider: direct (the prompt is tool calls), scripted (replays a file), openai, openai-responses, anthropic, gemini, ollama or another linked one; without it, one whose key is in the environment, else direct without a terminal, and on one the ways to a model
    pub(crate) provider: Option<Setting<String>> = Key::new("provider", text(non_blank), None, "\"openai\"")
        .with_session_flag("--provider", Named("NAME"))
        .with_project(ProjectRule::same());

    /// The provider's name of the model; without it, the provider's default, or the only one of the service at base_url
    pub(crate) model: Option<Setting<String>> = Key::new("model", text(non_blank), None, "\"qwen3\"")
        .with_session_flag("--model", Named("NAME"))
        .with_project(ProjectRule::same())
        .only_with("provider");

    /// The provider and the model in one, as provider/model, and those that take over from it in order: if a service is overloaded, has no quota left or does not know its model, the next one goes on with the run
    pub(crate) models: Option<Setting<Vec<String>>> =
        Key::new("models", replaced_list(model_name), None, "")
            .with_session_flag("--models", Named("PROVIDER/MODEL"))
            .with_project(ProjectRule::same())
            .owned_by("provider");

    /// The URL of the provider's service, such as http://localhost:8000/v1: its host, its base URL or its endpoint
    pub(crate) base_url: Option<Setting<String>> = Key::new("base_url", text(url), None, "\"http://localhost:8000/v1\"")
        .with_session_flag("--base-url", Named("URL"))
        .with_project(ProjectRule::never(REDIRECTS))
        .only_with("provider");

    /// The environment variable that holds the provider's key, instead of its usual one; never the key itself
    pub(crate) key_env: Option<Setting<String>> = Key::new("key_env", text(variable), None, "\"MY_KEY\"")
        .instead_of("key_file")
        .with_project(ProjectRule::never(REDIRECTS))
        .only_with("provider");

    /// The file that holds the provider's key, instead of a variable such as OPENAI_API_KEY
    pub(crate) key_file: Option<Setting<PathBuf>> = Key::new("key_file", text(file), None, "")
        .of_secret_file()
        .instead_of("key_env")
        .with_session_flag("--key-file", Named("FILE"))
        .with_project(ProjectRule::never(REDIRECTS))
        .only_with("provider");

    /// The known service whose variant of OpenAI's format is spoken at base_url, such as deepseek; without it, the service there
    pub(crate) dialect: Option<Setting<String>> = Key::new("dialect", text(non_blank), None, "\"deepseek\"")
        .with_session_flag("--dialect", Named("NAME"))
        .with_project(ProjectRule::never(REDIRECTS))
        .only_with("provider");

    /// The tokens of the model's context, unless the model is known; a longer conversation is compacted
    pub(crate) context_tokens: Option<Setting<u32>> = Key::new("context_tokens", integer::<1000, _>(), None, "128000")
        .with_session_flag("--context-tokens", Named("N"))
        .with_project(ProjectRule::never(SPENDS))
        .only_with("provider");

    /// The URL of a proxy for requests to the provider, or environment for the proxies of HTTPS_PROXY and HTTP_PROXY; this machine is always asked directly
    pub(crate) proxy: Option<Setting<String>> = Key::new("proxy", text(proxy_url), None, "\"http://proxy.example.org:3128\"")
        .with_project(ProjectRule::never(REDIRECTS));

    /// The tools of a session by name, such as 'fs.*'; '!fs.write' excludes
    pub(crate) select: Option<Setting<Vec<String>>> = Key::new("select", replaced_list(glob), None, r#"["fs.*", "!fs.remove"]"#)
        .with_session_flag(SELECT, Named("GLOB"))
        .with_project(ProjectRule::if_unset())
        .in_profiles();

    /// The tools whose definitions requests have: all, search (fs.read, fs.list, fs.edit, fs.write and exec.run; the model finds and calls the others), or auto (all of them if they are at most 64 and take at most a tenth of the model's context, else search)
    pub(crate) disclosure: Setting<DisclosureMode> =
        Key::new("disclosure.mode", printed_text(disclosure), Setting::from_default(DisclosureMode::Auto), "\"auto\"")
            .with_session_flag("--disclosure", Named("MODE"))
            .with_project(ProjectRule::never(SPENDS));

    /// The prices of models for a million tokens each; input that a cache holds or takes costs as much as other input unless `cached` or `cache_write` is set
    pub(crate) prices: Vec<Setting<ModelPrice>> = Key::new(
        "prices",
        tables(),
        Vec::new(),
        r#"[{ model = "gpt-5.1", input = 1.25, output = 10, cached = 0.125 }]"#,
    );

    /// The most tokens that the model writes in one turn, reasoning included; without it, the service's default, or for Anthropic the model's own limit
    pub(crate) max_output_tokens: Option<Setting<u32>> = Key::new("generation.max_output_tokens", integer::<1, _>(), None, "16000")
        .with_session_flag("--max-output-tokens", Named("N"))
        .with_project(ProjectRule::lower());

    /// The sampling temperature, from 0 to 2
    pub(crate) temperature: Option<Setting<f64>> = Key::new("generation.temperature", float(degree), None, "0.2")
        .with_session_flag("--temperature", Named("NUMBER"))
        .with_project(ProjectRule::if_unset());

    /// The effort of the model's reasoning: off, minimal, low, medium, high, xhigh or max, as far as the model knows it
    pub(crate) reasoning_effort: Option<Setting<ReasoningEffort>> =
        Key::new("generation.reasoning_effort", printed_text(effort), None, "\"low\"")
            .with_session_flag("--reasoning-effort", Named("LEVEL"))
            .with_project(ProjectRule::lower());

    /// The maximum number of provider requests in a run
    pub(crate) max_steps: Setting<u32> =
        Key::new("limits.max_steps", integer::<1, _>(), Setting::from_default(DEFAULT_MAX_STEPS), "50")
            .with_session_flag("--max-steps", Named("N"))
            .with_project(ProjectRule::lower())
            .in_profiles();

    /// The maximum number of calls in a run, those of sub-agents included
    pub(crate) max_calls: Option<Setting<u32>> = Key::new("limits.max_calls", integer::<1, _>(), None, "200")
        .with_session_flag("--max-calls", Named("N"))
        .with_project(ProjectRule::bounds())
        .in_profiles();

    /// The tokens that the requests of a run read and write together, sub-agents included, after which it makes no further one
    pub(crate) max_tokens: Option<Setting<u32>> = Key::new("limits.max_tokens", integer::<1, _>(), None, "1000000")
        .with_session_flag("--max-tokens", Named("N"))
        .with_project(ProjectRule::bounds())
        .in_profiles();

    /// The cost of tokens after which a run requests no further turn; a model without a known price needs one
    pub(crate) max_cost: Option<Setting<Cost>> = Key::new("limits.max_cost", printed_text(cost), None, "\"2.50\"")
        .with_project(ProjectRule::bounds())
        .in_profiles();

    /// The time after which a run is stopped; it stands still while a question to you is open
    pub(crate) run_deadline: Option<Setting<Duration>> = Key::new("limits.deadline", duration(), None, "\"30m\"")
        .with_session_flag("--deadline", Named("DURATION"))
        .with_project(ProjectRule::bounds())
        .in_profiles();

    /// The time limit of a call, also of one by a sub-agent, instead of each tool's own; `agent.spawn` and `llm.generate` keep theirs
    pub(crate) call_timeout: Option<Setting<Duration>> = Key::new("limits.call_timeout", duration(), None, "\"30s\"")
        .with_project(ProjectRule::lower())
        .in_profiles();

    /// The time to answer an approval or a question of a tool
    pub(crate) approval_timeout: Setting<Duration> =
        Key::new("limits.approval_timeout", duration(), Setting::from_default(Approval::DEFAULT_TIMEOUT), "\"5m\"")
            .with_flag(APPROVAL_TIMEOUT, Named("DURATION"))
            .with_project(ProjectRule::lower())
            .in_profiles();

    /// The maximum number of calls of all sessions in a day of UTC
    pub(crate) daily_calls: Option<Setting<u32>> = Key::new("daily.max_calls", integer::<1, _>(), None, "2000");

    /// The maximum number of tokens of all sessions in a day of UTC
    pub(crate) daily_tokens: Option<Setting<u32>> = Key::new("daily.max_tokens", integer::<1, _>(), None, "5000000");

    /// The maximum cost of tokens of all sessions in a day of UTC
    pub(crate) daily_cost: Option<Setting<Cost>> = Key::new("daily.max_cost", printed_text(cost), None, "\"20.00\"");

    /// The maximum number of calls of all sessions in a month of UTC
    pub(crate) monthly_calls: Option<Setting<u32>> = Key::new("monthly.max_calls", integer::<1, _>(), None, "2000");

    /// The maximum number of tokens of all sessions in a month of UTC
    pub(crate) monthly_tokens: Option<Setting<u32>> = Key::new("monthly.max_tokens", integer::<1, _>(), None, "5000000");

    /// The maximum cost of tokens of all sessions in a month of UTC
    pub(crate) monthly_cost: Option<Setting<Cost>> = Key::new("monthly.max_cost", printed_text(cost), None, "\"20.00\"");

    /// Record each run and chat in the state folder, so that --resume can continue it
    pub(crate) record_sessions: Setting<bool> = Key::new("sessions.record", boolean(), Setting::from_default(true), "false")
        .with_session_flag("--no-journal", Implied("false", "Do not record the session"));
}

impl ProgramKeys {
    /// Returns the source of the provider's key. Returns `None` if it is the provider's usual one.
    pub(crate) fn key(&self) -> Option<Setting<KeySource>> {
        key_source(&self.key_env, &self.key_file)
    }

    /// Makes the first of `models` the provider and the model of this layer, so that the rules of both hold for it.
    ///
    /// # Errors
    /// Returns an error if the list is empty, or the layer names a provider or a model beside it.
    pub(super) fn choose_first(&mut self) -> Result<(), SettingsError> {
        let Some(models) = &self.models else {
            return Ok(());
        };
        let first = models.value.first();
        let Some(first) = first.and_then(|first| ModelChoice::from_text(first)) else {
            let reason = "is empty; name a model, or remove the key";
            return Err(SettingsError::value(&models.origin, "models", reason));
        };
        if self.provider.is_some() || self.model.is_some() {
            let reason = "conflicts with provider and model; name all models in the list";
            return Err(SettingsError::value(&models.origin, "models", reason));
        }
        let origin = &models.origin;
        self.provider = Some(Setting::new(first.provider, origin.clone()));
        self.model = Some(Setting::new(first.model, origin.clone()));
        Ok(())
    }

    /// Returns the models that take over from the first one, in order.
    pub(crate) fn fallbacks(&self) -> Vec<ModelChoice> {
        let models = self.models.iter().flat_map(|models| &models.value);
        let others = models.skip(1);
        others
            .filter_map(|name| ModelChoice::from_text(name))
            .collect()
    }
}
