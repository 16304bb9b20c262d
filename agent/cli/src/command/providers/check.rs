//! Sends one small request to a provider.

use std::time::{Duration, Instant};

use agent::{
    GenerationOptions, ProviderError, ProviderOptions, ProviderSubmission, Request, RetryPolicy,
    ToolSet,
};
use tools::CancellationToken;
use tools::protocol::{Message, Role};

/// The limit of the answer in tokens, the least that services accept.
const MAX_OUTPUT_TOKENS: u32 = 16;

/// The longest wait for the answer.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The answer of a service, or its error, and the time to it.
pub(super) struct Answer {
    pub(super) outcome: Result<(), ProviderError>,
    pub(super) time: Duration,
}

/// Sends one request without tools, once.
pub(super) async fn ask(provider: &ProviderSubmission, options: ProviderOptions) -> Answer {
    let start = Instant::now();
    let outcome = complete(provider, options, start + TIMEOUT).await;
    Answer {
        outcome,
        time: start.elapsed(),
    }
}

async fn complete(
    provider: &ProviderSubmission,
    mut options: ProviderOptions,
    deadline: Instant,
) -> Result<(), ProviderError> {
    let mut once = RetryPolicy::default();
    once.max_retries = 0;
    options.retry_policy = Some(once);
    // A check is one request, and needs no price.
    options.facts_cache = None;
    options.generation = GenerationOptions {
        max_output_tokens: Some(MAX_OUTPUT_TOKENS),
        caching: Some(false),
        ..GenerationOptions::new()
    };
    let messages = [Message::text(Role::User, "Answer with the word ok.")];
    let tools = ToolSet::default();
    let token = CancellationToken::new();
    let mut request = Request::new(&messages, &tools, &token);
    request.deadline = Some(deadline);
    provider.create(&options)?.complete(request).await.map(drop)
}
