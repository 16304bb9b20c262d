//! OpenAI's `/audio/speech`, which other services and local servers have too.

use serde_json::{Value, json};
use tools::{ToolContext, source, visible_line};
use tools_http::{Method, Request, ServiceKey};

use super::{SpeechBackend, SpeechFuture, Utterance};
use crate::error::SpeechError;
use crate::format::SoundFormat;

const NAME: &str = "openai";

const VOICE: &str = "alloy";

inventory::submit! {
    SpeechBackend {
        name: NAME,
        description: "a service with the speech interface of OpenAI",
        source: source!(),
        base_url: Some("https://api.openai.com/v1"),
        key: Some(ServiceKey { header: "authorization", prefix: "Bearer ", variable: "OPENAI_API_KEY", is_required: true }),
        model: Some("gpt-4o-mini-tts"),
        is_proven: false,
        formats: &[SoundFormat::Wav, SoundFormat::Mp3, SoundFormat::Flac, SoundFormat::Opus],
        missing: |_| None,
        speak,
    }
}

fn speak<'a>(cx: &'a ToolContext, utterance: &'a Utterance<'a>) -> SpeechFuture<'a> {
    Box::pin(ask(cx, utterance))
}

async fn ask(cx: &ToolContext, utterance: &Utterance<'_>) -> Result<Vec<u8>, SpeechError> {
    let address = |reason: &str| SpeechError::BaseUrl {
        backend: NAME,
        reason: reason.to_owned(),
    };
    let base = utterance.base_url.ok_or_else(|| address("there is none"))?;
    let client = utterance
        .client
        .ok_or_else(|| address("this program has no HTTP client"))?;
    let url = format!("{}/audio/speech", base.as_str().trim_end_matches('/'));
    let body = json!({
        "model": utterance.model,
        "input": utterance.text,
        "voice": utterance.voice.unwrap_or(VOICE),
        "response_format": utterance.format.name(),
    });
    let request = Request::new(Method::POST, &url)?
        .with_json(&body)?
        .with_max_body_bytes(utterance.max_bytes);
    let response = client.send(cx, request).await?;
    let host = base.host_str().unwrap_or_default().to_owned();
    if !response.status.is_success() {
        let answer: Value = serde_json::from_slice(&response.body).unwrap_or_default();
        let message = answer
            .pointer("/error/message")
            .or(answer.get("detail"))
            .and_then(Value::as_str)
            .unwrap_or_default();
        let status = response.status.as_u16();
        return Err(SpeechError::Status {
            host,
            status,
            message: visible_line(message, 300),
            advice: advice(status),
            retry_after: response.retry_after(),
        });
    }
    let media = response.media_type().unwrap_or_default();
    if media.starts_with("text/") || media.ends_with("json") {
        return Err(SpeechError::Sound {
            backend: NAME,
            reason: format!("{host} answered with {}", visible_line(&media, 60)),
        });
    }
    Ok(response.body.to_vec())
}

fn advice(status: u16) -> &'static str {
    match status {
        401 | 403 => "ask the user to check the key of this service and its plan",
        404 | 405 | 300..=399 => {
            "ask the user to check the address and the model of this service in the settings"
        }
        408 | 429 | 500..=599 => "try again later",
        _ => "change the text or the voice",
    }
}
