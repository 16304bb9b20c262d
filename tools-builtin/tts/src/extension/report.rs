//! The part of `doctor` on speech.

use host::settings::{Settings, SettingsError};
use host::{FamilyReport, Finding};
use serde_json::json;
use tools::context::Need;
use tools::{Grant, Host, Services};

use super::SpeechKeys;
use super::speech::{SPEAK, build_speech};
use crate::service::Speech;

/// Returns the line on the backend: what is missing on this machine, and the linked backends, and the fault of what the settings name.
/// `services` are those of a session.
pub(super) async fn report(
    settings: &Settings,
    services: Option<&Services>,
) -> Result<FamilyReport, SettingsError> {
    let speech = build_speech(settings)?;
    let mut report = FamilyReport::default();
    // Without services, another finding has the reason.
    let mut state = "not checked".to_owned();
    if let Some(services) = services {
        let fault = fault(services, settings).await;
        state = match absence(services) {
            Some(reason) => {
                report.absent = Some(SPEAK);
                format!("not available: {reason}")
            }
            None if fault.is_some() => "not usable with this voice".to_owned(),
            None => "ready".to_owned(),
        };
        report
            .findings
            .extend(fault.map(|fault| Finding::new("speech", fault)));
    }
    let place = speech
        .base_url()
        .map(|url| format!(" at {url}"))
        .unwrap_or_default();
    let linked = crate::list();
    let names = |is_proven: bool| {
        let names = linked
            .iter()
            .filter(|backend| !is_proven || !backend.is_proven)
            .map(|backend| backend.name);
        names.collect::<Vec<_>>().join(", ")
    };
    let unproven = names(true);
    let unproven = if unproven.is_empty() {
        unproven
    } else {
        format!("; never run against the real service: {unproven}")
    };
    report.lines.push(format!(
        "speech: {}{place}, {state}; linked: {}{unproven}",
        speech.backend().name,
        names(false)
    ));
    Ok(report)
}

/// Returns the fault of a backend that the settings name and this machine lacks, or of the configured voice of a program. The usual backend
/// is a fact alone, because nobody asked for it.
async fn fault(services: &Services, settings: &Settings) -> Option<String> {
    if let Some(reason) = absence(services) {
        let named = settings.of::<SpeechKeys>().backend.as_ref()?;
        return Some(format!(
            "{}: {SPEAK} is not available: {reason}",
            named.origin
        ));
    }
    let voice = settings.of::<SpeechKeys>().voice.as_ref()?;
    // A service would be paid for the word.
    services
        .get::<Speech>()
        .filter(|speech| speech.base_url().is_none())?;
    let grant = Grant::parse(["speech:read:text"]).ok()?;
    let cx = Host::new()
        .with_services(services.clone())
        .with_grant(grant);
    let error = tools::execute(&cx, SPEAK, json!({"text": "one"}))
        .await
        .err()?;
    Some(format!(
        "{}: the voice {:?} does not speak: {error}",
        voice.origin, voice.value
    ))
}

fn absence(services: &Services) -> Option<String> {
    let is_missing = services.get::<Speech>().is_none();
    services
        .absence(&Need::new::<Speech>())
        .filter(|_| is_missing)
        .map(|reason| reason.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use host::settings::{Setting, Values};

    #[tokio::test]
    async fn the_usual_backend_that_is_missing_is_a_fact_and_a_named_one_a_fault() {
        let mut services = Services::new();
        services.insert_absent::<Speech>("espeak-ng is not installed; install it");
        let mut flags = Values::default();
        let usual = Settings::from_flags(flags.clone()).unwrap();
        let of_usual = report(&usual, Some(&services)).await.unwrap();
        assert!(
            of_usual.findings.is_empty() && of_usual.absent == Some(SPEAK),
            "{of_usual:?}"
        );
        assert!(
            of_usual.lines[0].contains("espeak-ng, not available: espeak-ng is not installed"),
            "{of_usual:?}"
        );
        flags.of_mut::<SpeechKeys>().backend =
            Some(Setting::from_flag("--speech", "espeak-ng".to_owned()));
        let fault = fault(&services, &Settings::from_flags(flags).unwrap())
            .await
            .unwrap();
        assert!(
            fault.contains(
                "--speech: tts.speak is not available: espeak-ng is not installed; install it"
            ),
            "{fault}"
        );
    }
}
