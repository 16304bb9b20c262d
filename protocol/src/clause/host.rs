//! Finds patterns of scheme `net` with capitals, Unicode or a URL, which match no host: targets spell it otherwise.

use super::pattern;
use crate::normalise::Normaliser;

/// The maximum length of a respelled pattern. A host has at most 253 characters.
const MAX_LENGTH: usize = 300;

/// Returns the reason that a pattern matches no host of a URL. Escaped characters and classes are not looked at.
pub(super) fn fault(pattern: &str) -> Option<&'static str> {
    let mut characters = pattern.chars();
    let mut fault = None;
    while let Some(c) = characters.next() {
        match c {
            '\\' => drop(characters.next()),
            '[' => drop(characters.by_ref().find(|c| *c == ']')),
            ':' if characters.as_str().starts_with("//") => {
                return Some("a host is matched without the rest of its URL");
            }
            c if !c.is_ascii() => fault = Some("a host is matched in ASCII"),
            c if c.is_ascii_uppercase() => {
                fault = fault.or(Some("a host is matched in lower case"))
            }
            _ => {}
        }
    }
    fault
}

/// Returns the pattern with the host as targets spell it. Returns `None` if that is not evident.
pub(super) fn respell(pattern: &str) -> Option<String> {
    let host = match (Normaliser::Host.apply(pattern), pattern.split_once("://")) {
        (Ok(host), _) => pattern::escape("net", &host),
        (Err(_), Some((_, rest))) => host_of(rest)?.to_ascii_lowercase(),
        (Err(_), None) => pattern.to_ascii_lowercase(),
    };
    let is_plain = !host.contains(['@', '%', '#']) && host.len() <= MAX_LENGTH;
    let is_plain = is_plain && fault(&host).is_none() && !is_address(&host);
    (is_plain && pattern::Pattern::compile(&host).is_ok()).then_some(host)
}

/// Returns the host in the pattern of a URL that no URL itself is, from the text after `://`. Returns `None` if it may belong to
/// several hosts, or if its port may be the URL scheme's own.
fn host_of(rest: &str) -> Option<&str> {
    let host = rest.split('/').next()?;
    let has_port = host.rsplit_once(':').is_some_and(|(_, port)| port != "*");
    (!host.contains(['?', '[', '{', ',']) && !host.ends_with('.') && !has_port).then_some(host)
}

/// Returns the next step for a pattern with a [`fault`].
pub(super) fn advice(spelling: Option<&str>) -> String {
    let general = "the host alone, in lower case, and an international name as `xn--…`";
    spelling.map_or_else(|| general.to_owned(), |spelling| format!("`{spelling}`"))
}

/// Returns true if the pattern begins with an IPv6 address whose brackets are not escaped. As a class of characters it would match
/// no host.
pub(super) fn is_address(pattern: &str) -> bool {
    let class = pattern
        .strip_prefix('[')
        .and_then(|rest| rest.split_once(']'));
    class.is_some_and(|(members, _)| members.contains(':'))
}
