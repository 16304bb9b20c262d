#![doc = include_str!("../README.md")]

mod argument;
mod background_agent;
mod budget;
mod compacted;
pub mod consent;
mod disclosure;
pub mod driver;
mod event;
mod extract;
mod fingerprint;
mod found;
mod inner_call;
mod json_answer;
mod models;
mod parameter;
mod plan;
mod prefix;
mod prompt;
pub mod provider;
pub mod refusal;
mod repeat;
mod run;
mod run_handle;
mod run_observer;
mod run_options;
mod selection;
mod session;
mod skipped_tool;
mod system;
pub mod tool;
mod tool_set;
mod trace;
mod wire_options;
mod wire_tool_set;

pub use ::{tools, tools_search};
pub use argument::{ArgumentError, arguments_from_pairs, pairs_from_arguments};
pub use budget::{
    Budget, BudgetError, BudgetLimits, BudgetScope, BudgetWindow, Exhausted, OpenedWindow,
    Resource, SharedWindow, Spending, WindowFuture,
};
pub use compacted::{Compacted, CompactionCause, RequestSize, SummaryProblem};
pub use consent::{ApprovalRequest, DeferredConsent, SessionConsent};
pub use disclosure::{
    DefinitionCosts, Disclosure, DisclosureBudget, FoundTool, ToolFinder, ToolSearch,
};
pub use driver::{Driver, DriverError, abandoned_calls};
pub use event::{Event, EventSink, ModelChange};
pub use extract::{ExtractError, extract, extract_resumed};
pub use models::{ModelChoice, Models, with_session_model};
pub use parameter::{Parameter, Presence, parameters};
pub use plan::{Plan, PlanItem, PlanStatus};
pub use prefix::PrefixChange;
pub use prompt::Prompt;
pub use provider::{
    ContextSize, Cost, Direct, FailureKind, GenerationOptions, ImageLimits, InvalidCost, KeyError,
    KeySource, LostReplySink, Price, Provider, ProviderError, ProviderInfo, ProviderOptions,
    ProviderSubmission, Proxy, Rates, ReasoningEffort, Request, RequestRetry, RetryCause,
    RetryPolicy, RetrySink, Scripted, StopReason, TextSink, Timeouts, ToolChoice, Turn, TurnFuture,
    Usage,
};
pub use repeat::{RepeatLimits, Repeated};
pub use run::{Outcome, PendingCall, Run, RunError, Step, Summary};
pub use run_handle::RunHandle;
pub use run_observer::RunObserver;
pub use run_options::{RunOptions, SubAgents};
pub use selection::{InvalidSelection, Selection};
pub use session::Session;
pub use skipped_tool::{SkipReason, SkippedTool};
pub use system::{SystemText, tool_guidance};
pub use tool_set::ToolSet;
pub use tools::context::WorkspaceDomain;
pub use wire_options::WireOptions;
pub use wire_tool_set::WireToolSet;
