//! The forms of Slack: its texts and its events.

use serde_json::Value;

use super::{Parsed, message, text};

/// Escapes the characters with which a text could notify everybody or disguise a link.
pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

/// Returns a text of Slack as people see it: `<@U1>` as `@U1`, `<#C1|team>` as `#team`, and a link as its label and its URL.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, inner, after)) = split_mark(rest) {
        plain += before;
        let (target, label) = halves(inner, '|');
        plain += &match (target.get(..1), target.get(1..), label) {
            (Some(sign @ ("@" | "#")), Some(id), _) => {
                format!("{sign}{}", label.unwrap_or(id).trim_start_matches(sign))
            }
            (Some("!"), Some(name), None) => format!("@{name}"),
            (Some("!"), _, Some(label)) => label.to_owned(),
            (_, _, Some(label)) if label != target => format!("{label} ({target})"),
            _ => target.to_owned(),
        };
        rest = after;
    }
    plain += rest;
    plain
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        // Last, so that `&amp;lt;` becomes `&lt;` and not `<`.
        .replace("&amp;", "&")
}

/// Returns the text before the first mark in angle brackets, the mark, and the text behind it. Angle brackets of people are escaped.
fn split_mark(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once('<')?;
    let (inner, after) = rest.split_once('>')?;
    Some((before, inner, after))
}

/// Returns the channel of a chat, and its thread if it is one.
pub(super) fn parts(chat: &str) -> (&str, Option<&str>) {
    halves(chat, ':')
}

/// Splits a text at the first `sign`, if it has one.
fn halves(text: &str, sign: char) -> (&str, Option<&str>) {
    text.split_once(sign)
        .map_or((text, None), |(before, after)| (before, Some(after)))
}

/// Reads a request of the Events API. Messages of other channels than this one are ignored.
pub(super) fn parse(body: &Value, channel: Option<&str>) -> Result<Parsed, String> {
    match body["type"].as_str() {
        Some("url_verification") => Ok(Parsed::Challenge(
            text(body, "challenge").unwrap_or_default(),
        )),
        Some("event_callback") => {
            let event = &body["event"];
            // A message with a subtype is not one of a person, and those of programs could answer each other for ever.
            let is_message = matches!(event["type"].as_str(), Some("message" | "app_mention"))
                && event.get("subtype").is_none()
                && event.get("bot_id").is_none();
            if !is_message {
                return Ok(Parsed::Ignored);
            }
            let from = text(event, "channel");
            if from.as_deref() != channel {
                return Ok(Parsed::Elsewhere);
            }
            // A text that mentions the app comes in two events with ids of their own.
            let of_message = from.as_ref().zip(text(event, "ts"));
            let of_message = of_message.map(|(channel, at)| format!("{channel} {at}"));
            let id = of_message.or_else(|| text(body, "event_id"));
            let thread = text(event, "thread_ts")
                .map(|thread| format!(":{thread}"))
                .unwrap_or_default();
            let said = text(event, "text").map(|said| plain(&said));
            Ok(Parsed::Message(
                message(from.map(|from| from + &thread), said)?,
                id,
            ))
        }
        _ => Ok(Parsed::Ignored),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_read_as_people_see_it() {
        for (said, expected) in [
            ("a &lt;b&gt; &amp;amp; c", "a <b> &amp; c"),
            (
                "<@U1> and <@U2|ada>, see <#C1|team>",
                "@U1 and @ada, see #team",
            ),
            (
                "<!here> <!subteam^S1|@ops> <!date^1^{date}|Monday>",
                "@here @ops Monday",
            ),
            (
                "<https://a.example/?x=1&amp;y=2|the page>",
                "the page (https://a.example/?x=1&y=2)",
            ),
            (
                "<https://a.example|https://a.example> <mailto:a@b.c|a@b.c>",
                "https://a.example a@b.c (mailto:a@b.c)",
            ),
            ("<é|x> <> < <a", "x (é)  < <a"),
        ] {
            assert_eq!(plain(said), expected);
        }
    }
}
