//! The words of services for the end of a turn.

use agent::StopReason;

/// The words of each reason, in lower case. `stop` is the end by the model itself, of which services have many spellings.
const WORDS: [(StopReason, &str); 4] = [
    (
        StopReason::Answer,
        "stop end eos end_turn stop_sequence tool_calls tool_call tool_use function_call eos_token stop_token eos_token_id end_of_text complete completed finished done normal",
    ),
    (
        StopReason::Length,
        "length max_tokens max_output_tokens model_length model_context_window_exceeded",
    ),
    (
        StopReason::Refusal,
        "refusal safety content_filter content_filtered sensitive recitation image_recitation blocklist prohibited_content spii image_safety image_prohibited_content model_armor",
    ),
    (StopReason::Paused, "pause_turn"),
];

/// Returns the reason of a turn's end. A reply without a word for it counts as finished.
pub(crate) fn stop_reason(word: Option<&str>, is_refusal: bool, has_calls: bool) -> StopReason {
    let lower = word.unwrap_or("stop").to_ascii_lowercase();
    let known = WORDS
        .iter()
        .find(|(_, words)| words.split(' ').any(|word| word == lower));
    match (known, word) {
        _ if is_refusal => StopReason::Refusal,
        (Some((StopReason::Answer, _)), _) if has_calls => StopReason::Calls,
        (Some((reason, _)), _) => reason.clone(),
        (None, word) => StopReason::Other(word.unwrap_or_default().to_owned()),
    }
}
