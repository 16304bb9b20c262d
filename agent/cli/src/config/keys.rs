//! The list of all keys: [`Values`] and everything that is said about a key are made from it. Those of one idea are in a module below.
//!
//! To add a key, add a declaration and update the table in the README, which a test compares.

mod disclosure;
mod network;
mod requests;
mod speech;

use std::path::PathBuf;
use std::time::Duration;

use agent::driver::DEFAULT_MAX_STEPS;
use agent::{Cost, ReasoningEffort, RepeatLimits, ToolChoice};
use serde_json::Value;
use tools::policy::{Rule, Verdict};
use tools::{Approval, Clause};

use self::disclosure::DisclosureValues;
use self::network::NetworkValues;
use self::requests::RequestValues;
use self::speech::SpeechValues;
use super::channel::Channel;
use super::declarations::declare_keys;
use super::error::ConfigError;
use super::key::FlagValue::{Implied, Named};
use super::key::{Key, KeyAbout};
use super::kind::{
    accumulated, boolean, converted_tables, duration, float, integer, items, named_tables, replaced, size, tables, text,
};
use super::model_price::ModelPrice;
use super::origin::{Origin, Setting};
use super::parser::{
    choice, clause, cost, degree, directory, effort, file, filled, glob, proxy_url, toolchain, url, variable,
};
use super::project::{EXPORTS, GRANTS, INSTRUCTS, ProjectRule, REACHES, REDIRECTS, RUNS, SPENDS};
use super::secret::Secret;
use super::section::Section;
use super::slot::Slot;
use crate::size::Size;

/// The default grants: reading below the root, reading the clock, asking the user, reading skills, speaking, using the programs and
/// other tasks of the session, and reading the memories of its project and of the user. A session adds asking its model, and a search
/// backend its targets.
const DEFAULT_GRANTS: [&str; 11] = [
    "fs:read:**", "clock:read:**", "user:read:**", "program:read:**", "program:write:**", "skill:read:**",
    "speech:read:**", "task:read:**", "task:write:**", "memory:read:project", "memory:read:user",
];

/// The flag for the tools of a session.
pub(super) const SELECT: &str = "--select";

/// The flag for the time to answer a question.
pub(super) const APPROVAL_TIMEOUT: &str = "--approval-timeout";

/// The default time for which a recorded session is kept: 30 days.
const MAX_SESSION_AGE: Duration = Duration::from_secs(30 * 24 * 60 * 60);

declare_keys! {
    /// The values of all keys, in one layer or merged.
    Values { requests: RequestValues, disclosure: DisclosureValues, network: NetworkValues, speech: SpeechValues }

    /// The provider: direct (the prompt is tool calls), scripted (replays a file), openai, openai-responses, anthropic, gemini, ollama or another linked one; without it, one whose key is in the environment, else direct
    provider: Option<Setting<String>> = Key::new("provider", text(filled), None, "\"openai\"")
        .with_session_flag("--provider", Named("NAME"))
        .with_project(ProjectRule::same());

    /// The provider's name of the model; without it, the provider's default, or the only one of the service at base_url
    model: Option<Setting<String>> = Key::new("model", text(filled), None, "\"qwen3\"")
        .with_session_flag("--model", Named("NAME"))
        .with_project(ProjectRule::same())
        .of_provider();

    /// The URL of the provider's service, such as http://localhost:8000/v1: its host, its base URL or its endpoint
    base_url: Option<Setting<String>> = Key::new("base_url", text(url), None, "\"http://localhost:8000/v1\"")
        .with_session_flag("--base-url", Named("URL"))
        .with_project(ProjectRule::never(REDIRECTS))
        .of_provider();

    /// The environment variable that holds the provider's key, instead of its usual one; never the key itself
    key_env: Option<Setting<String>> = Key::new("key_env", text(variable), None, "\"MY_KEY\"")
        .with_project(ProjectRule::never(REDIRECTS))
        .of_provider();

    /// The file that holds the provider's key, instead of a variable such as OPENAI_API_KEY
    key_file: Option<Setting<PathBuf>> = Key::new("key_file", text(file), None, "")
        .with_session_flag("--key-file", Named("FILE"))
        .with_project(ProjectRule::never(REDIRECTS))
        .of_provider();

    /// The known service whose variant of OpenAI's format is spoken at base_url, such as deepseek; without it, the service there
    dialect: Option<Setting<String>> = Key::new("dialect", text(filled), None, "\"deepseek\"")
        .with_session_flag("--dialect", Named("NAME"))
        .with_project(ProjectRule::never(REDIRECTS))
        .of_provider();

    /// The tokens of the model's context, unless the model is known; a longer conversation is compacted
    context_tokens: Option<Setting<u32>> = Key::new("context_tokens", integer::<1000, _>(), None, "128000")
        .with_session_flag("--context-tokens", Named("N"))
        .with_project(ProjectRule::never(SPENDS))
        .of_provider();

    /// The URL of a proxy for requests to the provider, or environment for the proxies of HTTPS_PROXY and HTTP_PROXY; this machine is always asked directly
    proxy: Option<Setting<String>> = Key::new("proxy", text(proxy_url), None, "\"http://proxy.example.org:3128\"")
        .with_project(ProjectRule::never(REDIRECTS));

    /// Stream the text of the model
    streaming: Setting<bool> = Key::new("streaming", boolean(), Setting::from_default(true), "true")
        .with_project(ProjectRule::if_unset());

    /// Make the service enforce the schemas of tools, as far as it can
    strict: Setting<bool> = Key::new("strict", boolean(), Setting::from_default(false), "true")
        .with_project(ProjectRule::if_unset());

    /// Apply this profile of the settings files
    profile: Option<Setting<String>> = Key::new("profile", text(filled), None, "\"review\"")
        .with_flag("--profile", Named("NAME"))
        .with_project(ProjectRule::if_unset().labelled("its own, if the user's file does not"));

    /// The tools of a session by name, such as 'fs.*'; '!fs.write' excludes
    select: Option<Setting<Vec<String>>> = Key::new("select", replaced(glob), None, r#"["fs.*", "!fs.remove"]"#)
        .with_session_flag(SELECT, Named("GLOB"))
        .with_project(ProjectRule::if_unset())
        .in_profiles();

    /// Hold the default grants: reading below the root, the clock, asking the user, asking the session's model, and searching with a configured backend
    default_grants: Setting<bool> = Key::new("default_grants", boolean(), Setting::from_default(true), "true")
        .with_flag("--no-default-grants", Implied(
            "false",
            "Drop the default grants (reading below the root, the clock, asking the user and the session's model, searching) and those of the settings file; only flags grant",
        ))
        .with_project(ProjectRule::new("only to drop them", GRANTS, |project, user| {
            project.set().filter(|_| project.value && !user.value).map(|project| &project.origin)
        }))
        .in_profiles();

    /// Permit calls on targets that match scheme:access:pattern, such as fs:write:src/**; added to the grants of other sources
    grants: Vec<Setting<Clause>> = Key::new("grants", items(clause), default_clauses(), r#"["fs:write:src/**"]"#)
        .with_flag("--grant", Named("CLAUSE"))
        .with_project(ProjectRule::never(GRANTS))
        .in_profiles();

    /// Limit the grants of defaults and files to these clauses; flags are not limited
    within: Vec<Setting<Vec<Clause>>> = Key::new("within", accumulated(clause), Vec::new(), r#"["fs:*:src/**"]"#)
        .with_project(ProjectRule::narrows())
        .in_profiles();

    /// Directories, with those below, whose project files are trusted once their content is approved; only in the user's file
    trusted: Vec<Setting<PathBuf>> = Key::new("trusted", items(directory), Vec::new(), r#"["~/work"]"#);

    /// Rules about calls; the strictest match of all files applies
    policy: Vec<Setting<Rule>> = Key::new(
        "policy",
        tables(),
        Vec::new(),
        r#"[{ verdict = "deny", tool = "fs.*", target = "fs:*:**/.env" }]"#,
    )
    .with_project(ProjectRule::new("not with the verdict allow", GRANTS, |project: &Vec<Setting<Rule>>, _| {
        project.iter().find(|rule| rule.value.verdict() == Verdict::Allow).map(|rule| &rule.origin)
    }));

    /// The prices of models for a million tokens each; input that a cache holds or takes costs as much as other input unless `cached` or `cache_write` is set
    prices: Vec<Setting<ModelPrice>> = Key::new(
        "prices",
        tables(),
        Vec::new(),
        r#"[{ model = "gpt-5.1", input = 1.25, output = 10, cached = 0.125 }]"#,
    );

    /// Secrets that requests of tools to one origin have in a header: the place of each, never the secret itself
    secrets: Vec<Setting<Secret>> = Key::new(
        "secrets",
        converted_tables(Secret::from_table),
        Vec::new(),
        r#"[{ name = "forge", origin = "https://api.example.org", header = "authorization", prefix = "Bearer ", env = "FORGE_TOKEN" }]"#,
    )
    .with_project(ProjectRule::never(REACHES));

    /// The channels of messages, each a table with a name and a type: terminal, file, webhook, email or another linked one
    channels: Vec<Setting<Channel>> = Key::new(
        "channels",
        named_tables(Channel::from_table),
        Vec::new(),
        r#"{ log = { type = "file", path = "messages.jsonl" } }"#,
    )
    .with_project(ProjectRule::never(REACHES));

    /// The most tokens that the model writes in one turn, reasoning included; without it, the service's default, or for Anthropic the model's own limit
    max_output_tokens: Option<Setting<u32>> = Key::new("generation.max_output_tokens", integer::<1, _>(), None, "16000")
        .with_session_flag("--max-output-tokens", Named("N"))
        .with_project(ProjectRule::lower());

    /// The sampling temperature, from 0 to 2
    temperature: Option<Setting<f64>> = Key::new("generation.temperature", float(degree), None, "0.2")
        .with_session_flag("--temperature", Named("NUMBER"))
        .with_project(ProjectRule::if_unset());

    /// The calls of the first turn after a prompt: auto, none, required, or the name of a tool
    tool_choice: Option<Setting<ToolChoice>> = Key::new("generation.tool_choice", text(choice), None, "\"auto\"")
        .with_session_flag("--tool-choice", Named("CHOICE"))
        .with_project(ProjectRule::never(INSTRUCTS));

    /// Let the model make several calls in one turn
    parallel_calls: Option<Setting<bool>> = Key::new("generation.parallel_calls", boolean(), None, "true")
        .with_project(ProjectRule::if_unset());

    /// The effort of the model's reasoning: off, minimal, low, medium, high, xhigh or max, as far as the model knows it
    reasoning_effort: Option<Setting<ReasoningEffort>> =
        Key::new("generation.reasoning_effort", text(effort), None, "\"low\"")
            .with_session_flag("--reasoning-effort", Named("LEVEL"))
            .with_project(ProjectRule::lower());

    /// Ask the service to cache the beginning of requests, where it does so only on request; without it, Anthropic's own service is asked
    caching: Option<Setting<bool>> = Key::new("generation.caching", boolean(), None, "true")
        .with_project(ProjectRule::if_unset());

    /// Ask Anthropic to stream the arguments of calls as the model writes them; gateways may refuse it
    eager_input_streaming: Option<Setting<bool>> = Key::new("generation.eager_input_streaming", boolean(), None, "false")
        .with_project(ProjectRule::if_unset());

    /// Leave the tools that a session does not offer to the deferred tools of Anthropic or of OpenAI's Responses API; without it, the known models of the public services get them
    deferred_tools: Option<Setting<bool>> = Key::new("generation.deferred_tools", boolean(), None, "true")
        .with_project(ProjectRule::if_unset());

    /// The maximum number of provider requests in a run
    max_steps: Setting<u32> =
        Key::new("limits.max_steps", integer::<1, _>(), Setting::from_default(DEFAULT_MAX_STEPS), "50")
            .with_session_flag("--max-steps", Named("N"))
            .with_project(ProjectRule::lower())
            .in_profiles();

    /// The maximum number of calls in a run, those of sub-agents included
    max_calls: Option<Setting<u32>> = Key::new("limits.max_calls", integer::<1, _>(), None, "200")
        .with_session_flag("--max-calls", Named("N"))
        .with_project(ProjectRule::bounds())
        .in_profiles();

    /// The tokens that the requests of a run read and write together, sub-agents included, after which it makes no further one
    max_tokens: Option<Setting<u32>> = Key::new("limits.max_tokens", integer::<1, _>(), None, "1000000")
        .with_session_flag("--max-tokens", Named("N"))
        .with_project(ProjectRule::bounds())
        .in_profiles();

    /// The cost of tokens after which a run requests no further turn; the model needs a price
    max_cost: Option<Setting<Cost>> = Key::new("limits.max_cost", text(cost), None, "\"2.50\"")
        .with_project(ProjectRule::bounds())
        .in_profiles();

    /// The time after which a run is stopped; it stands still while a question to you is open
    run_deadline: Option<Setting<Duration>> = Key::new("limits.deadline", duration(), None, "\"30m\"")
        .with_session_flag("--deadline", Named("DURATION"))
        .with_project(ProjectRule::bounds())
        .in_profiles();

    /// The number of equal calls with equal results from which on the model gets a hint; 0 means never
    repeat_hint: Setting<u32> =
        Key::new("limits.repeat_hint", integer::<0, _>(), Setting::from_default(RepeatLimits::DEFAULT_HINT), "3")
            .in_profiles();

    /// The number of equal calls with equal results that ends a run; 0 means never
    repeat_end: Setting<u32> =
        Key::new("limits.repeat_end", integer::<0, _>(), Setting::from_default(RepeatLimits::DEFAULT_END), "5")
            .with_project(ProjectRule::never(SPENDS))
            .in_profiles();

    /// The time limit of a call, also of one by a sub-agent, instead of each tool's own; `agent.spawn` and `llm.generate` keep theirs
    call_timeout: Option<Setting<Duration>> = Key::new("limits.call_timeout", duration(), None, "\"30s\"")
        .with_project(ProjectRule::lower())
        .in_profiles();

    /// The time to answer an approval or a question of a tool
    approval_timeout: Setting<Duration> =
        Key::new("limits.approval_timeout", duration(), Setting::from_default(Approval::DEFAULT_TIMEOUT), "\"5m\"")
            .with_flag(APPROVAL_TIMEOUT, Named("DURATION"))
            .with_project(ProjectRule::lower())
            .in_profiles();

    /// The toolchains that programs may use outside of the workspace: rust, node or python
    toolchains: Vec<Setting<String>> = Key::new("programs.toolchains", items(toolchain), Vec::new(), r#"["rust"]"#)
        .with_project(ProjectRule::never(RUNS));

    /// Run programs without walls on a machine that cannot confine them; they can then read and change everything
    unconfined: Setting<bool> =
        Key::new("programs.unconfined", boolean(), Setting::from_default(false), "true")
            .with_project(ProjectRule::never(RUNS));

    /// More folders of skills, with those below; a folder in the workspace is one of the project
    skill_folders: Vec<Setting<PathBuf>> = Key::new("skills.folders", items(directory), Vec::new(), r#"["~/skills"]"#)
        .with_project(ProjectRule::never(INSTRUCTS));

    /// The maximum number of provider requests of all sessions in a day of UTC
    daily_steps: Option<Setting<u32>> = Key::new("daily.max_steps", integer::<1, _>(), None, "500");

    /// The maximum number of calls of all sessions in a day of UTC
    daily_calls: Option<Setting<u32>> = Key::new("daily.max_calls", integer::<1, _>(), None, "2000");

    /// The maximum number of tokens of all sessions in a day of UTC
    daily_tokens: Option<Setting<u32>> = Key::new("daily.max_tokens", integer::<1, _>(), None, "5000000");

    /// The maximum cost of tokens of all sessions in a day of UTC
    daily_cost: Option<Setting<Cost>> = Key::new("daily.max_cost", text(cost), None, "\"20.00\"");

    /// The maximum number of provider requests of all sessions in a month of UTC
    monthly_steps: Option<Setting<u32>> = Key::new("monthly.max_steps", integer::<1, _>(), None, "500");

    /// The maximum number of calls of all sessions in a month of UTC
    monthly_calls: Option<Setting<u32>> = Key::new("monthly.max_calls", integer::<1, _>(), None, "2000");

    /// The maximum number of tokens of all sessions in a month of UTC
    monthly_tokens: Option<Setting<u32>> = Key::new("monthly.max_tokens", integer::<1, _>(), None, "5000000");

    /// The maximum cost of tokens of all sessions in a month of UTC
    monthly_cost: Option<Setting<Cost>> = Key::new("monthly.max_cost", text(cost), None, "\"20.00\"");

    /// Record each run and chat in the state folder, so that --resume can continue it
    record_sessions: Setting<bool> = Key::new("sessions.record", boolean(), Setting::from_default(true), "false")
        .with_session_flag("--no-journal", Implied("false", "Do not record the session"));

    /// The time after its last change for which a recorded session is kept
    session_max_age: Setting<Duration> =
        Key::new("sessions.max_age", duration(), Setting::from_default(MAX_SESSION_AGE), "\"30d\"");

    /// The size of all recorded sessions above which the oldest ones are removed
    session_max_bytes: Setting<Size> =
        Key::new("sessions.max_bytes", size(), Setting::from_default(Size::from_bytes(200_000_000)), "\"200MB\"");

    /// The number of newest sessions that are kept whatever their age and size
    kept_sessions: Setting<u32> = Key::new("sessions.keep", integer::<0, _>(), Setting::from_default(10), "10");

    /// The URL of a collector that gets traces over OTLP; without it, the one of OTEL_EXPORTER_OTLP_ENDPOINT, if any
    telemetry_endpoint: Option<Setting<String>> =
        Key::new("telemetry.endpoint", text(url), None, "\"http://localhost:4318\"")
            .with_project(ProjectRule::never(EXPORTS));

    /// Send prompts, answers, arguments and results with traces
    telemetry_content: Setting<bool> =
        Key::new("telemetry.content", boolean(), Setting::from_default(false), "true")
            .with_project(ProjectRule::never(EXPORTS));
}

fn default_clauses() -> Vec<Setting<Clause>> {
    DEFAULT_GRANTS.iter().filter_map(|clause| clause.parse().ok()).map(Setting::from_default).collect()
}
