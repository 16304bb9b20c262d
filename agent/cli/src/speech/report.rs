//! The line and the faults of `doctor` on speech.

use serde_json::json;
use tools::context::Need;
use tools::{Grant, Services, ToolContext};
use tools_builtin::tts::{self, Speech};

use super::service::{SPEAK, configured};
use crate::config::{Settings, SettingsError, SpeechKeys};

/// Returns the line on the backend: what is missing on this machine, and the linked backends. `services` are those of a session, and
/// `fault` is the [`fault`] of them.
pub(crate) fn report(
    services: Option<&Services>,
    fault: Option<&str>,
    settings: &Settings,
) -> Result<Vec<String>, SettingsError> {
    let speech = configured(settings)?;
    let state = match services.map(absence) {
        Some(Some(reason)) => format!("not available: {reason}"),
        Some(None) if fault.is_some() => "not usable with this voice".to_owned(),
        Some(None) => "ready".to_owned(),
        // Another finding has the reason.
        None => "not checked".to_owned(),
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

/// Returns the fault of a backend that the settings name and this machine lacks, or of the configured voice of a program. The usual backend
/// is a fact alone, because nobody asked for it.
pub(crate) async fn fault(services: &Services, settings: &Settings) -> Option<String> {
    if let Some(reason) = absence(services) {
        let named = settings.of::<SpeechKeys>().backend.as_ref()?;
        return Some(format!("{}: {SPEAK} is not available: {reason}", named.origin));
    }
    let voice = settings.of::<SpeechKeys>().voice.as_ref()?;
    // A service would be paid for the word.
    services.get::<Speech>().filter(|speech| speech.base_url().is_none())?;
    let grant = Grant::parse(["speech:read:text"]).ok()?;
    let cx = ToolContext::new().with_services(services.clone()).with_grant(grant);
    let error = tools::execute(&cx, SPEAK, json!({"text": "one"})).await.err()?;
    Some(format!("{}: the voice {:?} does not speak: {error}", voice.origin, voice.value))
}

/// Returns true if the backend is missing that a session without settings has.
pub(crate) fn is_missing(services: &Services) -> bool {
    absence(services).is_some()
}

fn absence(services: &Services) -> Option<String> {
    let is_missing = services.get::<Speech>().is_none();
    services.absence(&Need::new::<Speech>()).filter(|_| is_missing).map(|reason| reason.to_string())
}

/// Returns the faults of linked speech backends, each with the check of `doctor` that finds it.
pub(crate) fn faults() -> Vec<(&'static str, String)> {
    let conflicts = tts::conflicts();
    let conflicts = conflicts.iter().map(|conflict| ("conflict", format!("{conflict}; unlink or rename one of them")));
    conflicts.chain(tts::problems().iter().map(|problem| ("definition", problem.to_string()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::ProgramSettings as _;
    use crate::config::{Setting, Values};

    #[tokio::test]
    async fn the_usual_backend_that_is_missing_is_a_fact_and_a_named_one_a_fault() {
        let mut services = Services::new();
        services.insert_absent::<Speech>("espeak-ng is not installed; install it");
        let mut flags = Values::default();
        let usual = Settings::from_flags(flags.clone());
        assert_eq!((fault(&services, &usual).await, is_missing(&services)), (None, true));
        let [line] = &report(Some(&services), None, &usual).unwrap()[..] else { panic!("one line") };
        assert!(line.contains("espeak-ng, not available: espeak-ng is not installed; install it"), "{line}");
        flags.of_mut::<SpeechKeys>().backend = Some(Setting::from_flag("--speech", "espeak-ng".to_owned()));
        let fault = fault(&services, &Settings::from_flags(flags)).await.unwrap();
        assert!(
            fault.contains("--speech: tts.speak is not available: espeak-ng is not installed; install it"),
            "{fault}"
        );
    }
}
