//! The line and the faults of `doctor` on speech.

use tools::Services;
use tools::context::Need;
use tools_builtin::tts::{self, Speech};

use super::service::configured;
use crate::config::{ConfigError, Settings};

/// Returns the line on the backend: what is missing on this machine, and the linked backends. `services` are those of a session.
pub(crate) fn report(services: Option<&Services>, settings: &Settings) -> Result<Vec<String>, ConfigError> {
    let speech = configured(settings)?;
    let missing = services.filter(|services| services.get::<Speech>().is_none());
    let state = match missing.and_then(|services| services.absence(&Need::new::<Speech>())) {
        Some(reason) => format!("not available: {reason}"),
        None => "ready".to_owned(),
    };
    let place = speech.base_url().map(|url| format!(" at {url}")).unwrap_or_default();
    let linked = tts::list();
    let names = |is_proven: bool| {
        let names = linked.iter().filter(|backend| !is_proven || !backend.is_proven).map(|backend| backend.name);
        names.collect::<Vec<_>>().join(", ")
    };
    let unproven = names(true);
    let unproven =
        if unproven.is_empty() { unproven } else { format!("; never run against the real service: {unproven}") };
    Ok(vec![format!("speech: {}{place}, {state}; linked: {}{unproven}", speech.backend().name, names(false))])
}

/// Returns the faults of linked speech backends, each with the check of `doctor` that finds it.
pub(crate) fn faults() -> Vec<(&'static str, String)> {
    let conflicts = tts::conflicts();
    let conflicts = conflicts.iter().map(|conflict| ("conflict", format!("{conflict}; unlink or rename one of them")));
    conflicts.chain(tts::problems().iter().map(|problem| ("definition", problem.to_string()))).collect()
}
