//! [`Normaliser`]: brings a value into the one spelling that a pattern can be held against.

use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};

use crate::InvalidTarget;

/// A way to bring an argument into the form in which it is compared, named in a [`Template`](crate::Template) after `|`.
///
/// A normaliser accepts less than the tool behind it might: what two programs could understand differently is refused,
/// because a check of one reading says nothing about the other.
///
/// ```
/// use protocol::Normaliser;
///
/// assert_eq!(Normaliser::Path.apply("src/./../x//y")?, "x/y");
/// assert_eq!(Normaliser::Host.apply("https://API.example.com:443/v1?q=1")?, "api.example.com");
/// assert!(Normaliser::Path.apply("../x").is_err());
/// assert!(Normaliser::Host.apply("http://2130706433/").is_err());
/// # Ok::<(), protocol::InvalidTarget>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Normaliser {
    /// `path`: a relative path, resolved by its text alone. `src/../x` is `x` and the root is `.`; it refuses a path that
    /// is absolute or begins with a drive letter, steps out of the root, or has backslashes or control characters.
    /// Symbolic links are not looked at: they are for the tool's own confinement to deal with.
    Path,
    /// `host`: the host of an `http`, `https`, `ws` or `wss` URL, in lower case, without the port. An IPv6 address keeps
    /// its brackets and gets its shortest form. Refused are user names, percent signs and non-ASCII characters before
    /// the path, backslashes and white space anywhere, IPv4 addresses other than four plain decimal numbers, and
    /// whatever else URL parsers are known to disagree on.
    Host,
}

impl Normaliser {
    /// All there are.
    pub const ALL: [Self; 2] = [Self::Path, Self::Host];

    /// The normaliser that a template calls `name`.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|normaliser| normaliser.name() == name)
    }

    /// Its name in a template.
    pub fn name(self) -> &'static str {
        match self {
            Self::Path => "path",
            Self::Host => "host",
        }
    }

    /// Normalises `value`. What comes out goes in again unchanged for `path`; for `host` it is no URL any more.
    ///
    /// # Errors
    /// [`InvalidTarget`] when the value is not of the expected form, or more than one reading of it is conceivable.
    pub fn apply(self, value: &str) -> Result<String, InvalidTarget> {
        match self {
            Self::Path => path(value.to_owned()),
            Self::Host => {
                host(value).map_err(|reason| InvalidTarget::Host { value: InvalidTarget::cut(value), reason })
            }
        }
    }
}

impl fmt::Display for Normaliser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Refuses what begins at a root of its own, which would throw away whatever stands before it in a path.
pub(crate) fn relative(value: &str) -> Result<(), InvalidTarget> {
    let drive = matches!(value.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic());
    if drive || value.starts_with('/') {
        return Err(InvalidTarget::Absolute { value: InvalidTarget::cut(value) });
    }
    Ok(())
}

/// Resolves `.`, `..` and empty segments; the root is `.`.
pub(crate) fn resolve(path: String) -> Result<String, InvalidTarget> {
    relative(&path)?;
    // Nearly every path is resolved already.
    if !path.split('/').any(|segment| matches!(segment, "" | "." | "..")) {
        return Ok(path);
    }
    let mut kept = Vec::new();
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." => {
                if kept.pop().is_none() {
                    return Err(InvalidTarget::OutsideRoot { value: InvalidTarget::cut(&path) });
                }
            }
            segment => kept.push(segment),
        }
    }
    let resolved = if kept.is_empty() { ".".to_owned() } else { kept.join("/") };
    // `x/../c:y` shows its drive letter only now.
    relative(&resolved)?;
    Ok(resolved)
}

pub(crate) fn path(value: String) -> Result<String, InvalidTarget> {
    if value.is_empty() {
        return Err(InvalidTarget::Empty);
    }
    InvalidTarget::refuse_control(&value)?;
    if value.contains('\\') {
        return Err(InvalidTarget::Backslash { value: InvalidTarget::cut(&value) });
    }
    resolve(value)
}

fn host(url: &str) -> Result<String, &'static str> {
    if url.contains(|c: char| c.is_control() || c.is_whitespace() || c == '\\') {
        return Err("it has white space, control characters or backslashes; write it without");
    }
    let (scheme, rest) = url.split_once("://").ok_or("it does not begin with a scheme; write `https://host/…`")?;
    if !["http", "https", "ws", "wss"].iter().any(|known| scheme.eq_ignore_ascii_case(known)) {
        return Err("its scheme is none of http, https, ws and wss; use one of those");
    }
    let authority = rest.split('/').next().unwrap_or_default();
    if authority.contains(['?', '#']) {
        return Err("a `?` or `#` follows the host; write a `/` between them");
    }
    if authority.contains('@') {
        return Err("it has a user name before the host; leave that out");
    }
    if !authority.is_ascii() || authority.contains('%') {
        return Err("its host has non-ASCII characters or percent escapes; write an international name as `xn--…`");
    }
    let authority = authority.to_ascii_lowercase();
    match authority.strip_prefix('[') {
        Some(bracketed) => {
            let (address, rest) = bracketed.split_once(']').ok_or("its `[` is not closed; write `[address]`")?;
            port(rest)?;
            ipv6(address)
        }
        None => {
            let end = authority.find(':').unwrap_or(authority.len());
            port(&authority[end..])?;
            domain(&authority[..end])
        }
    }
}

/// Checks what follows the host: nothing, or a colon and a number.
fn port(rest: &str) -> Result<(), &'static str> {
    let Some(digits) = rest.strip_prefix(':') else {
        return if rest.is_empty() {
            Ok(())
        } else {
            Err("something other than a port follows the host; leave it out")
        };
    };
    // `parse` alone would let a `+` through.
    if digits.bytes().all(|b| b.is_ascii_digit()) && digits.parse::<u16>().is_ok() {
        Ok(())
    } else {
        Err("its port is not a number from 0 to 65535; write a number or leave out the colon")
    }
}

fn ipv6(address: &str) -> Result<String, &'static str> {
    let address: Ipv6Addr =
        address.parse().map_err(|_| "what is in brackets is not an IPv6 address; write one, without a zone")?;
    // Written in two ways by different programs, and the same machine as the plain address.
    if address.to_ipv4_mapped().is_some() {
        return Err("it is an IPv4 address inside IPv6; write the IPv4 address");
    }
    Ok(format!("[{address}]"))
}

fn domain(name: &str) -> Result<String, &'static str> {
    if name.is_empty() {
        return Err("it has no host; write one after `://`");
    }
    if name.len() > 253 {
        return Err("its host is longer than 253 characters; shorten it");
    }
    for label in name.split('.') {
        if label.is_empty() || label.len() > 63 {
            return Err("a part of its host between dots is empty or longer than 63 characters; write `name.example`");
        }
        if !label.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || b == b'_') {
            return Err("its host has other characters than a-z 0-9 - _ and dots; write a plain host name");
        }
        // Among them `xn--example-`, which some decode to `example`.
        if label.starts_with('-') || label.ends_with('-') {
            return Err("a part of its host begins or ends with `-`; write a plain host name");
        }
    }
    if is_number(name.rsplit('.').next().unwrap_or(name)) && name.parse::<Ipv4Addr>().is_err() {
        return Err("its host is an IPv4 address in an unusual spelling; write four decimal numbers such as 192.0.2.1");
    }
    Ok(name.to_owned())
}

/// Whether URL parsers take a host that ends in this label for an IPv4 address.
fn is_number(label: &str) -> bool {
    match label.strip_prefix("0x") {
        Some(digits) => digits.bytes().all(|b| b.is_ascii_hexdigit()),
        None => label.bytes().all(|b| b.is_ascii_digit()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_resolved_by_its_text() {
        for (path, expected) in [
            ("src/../x", "x"),
            (".", "."),
            ("a/..", "."),
            ("./a//b/", "a/b"),
            ("a/./b/../..", "."),
            ("...", "..."),
            ("ab:c", "ab:c"),
        ] {
            assert_eq!(Normaliser::Path.apply(path).as_deref(), Ok(expected), "{path}");
        }
    }

    #[test]
    fn a_path_that_leaves_the_root_is_refused() {
        for path in ["", "/", "/etc", "..", "a/../..", "../root/a", "a\\b", "a\0", "a\nb", "C:/x", "c:", "a/../c:/x"] {
            assert!(Normaliser::Path.apply(path).is_err(), "{path:?}");
        }
    }

    #[test]
    fn a_host_is_taken_from_a_plain_url() {
        for (url, expected) in [
            ("http://a", "a"),
            ("HTTPS://Api.Open-Meteo.com/v1/forecast?x=@y#z", "api.open-meteo.com"),
            ("https://de.example.org/wiki/Zürich", "de.example.org"),
            ("ws://127.0.0.1:8080/", "127.0.0.1"),
            ("http://[0:0:0:0:0:0:0:1]:80/", "[::1]"),
            ("http://xn--mnchen-3ya.example/", "xn--mnchen-3ya.example"),
            ("http://localhost/@user", "localhost"),
            ("http://1.a-b_c:65535/", "1.a-b_c"),
        ] {
            assert_eq!(Normaliser::Host.apply(url).as_deref(), Ok(expected), "{url}");
        }
    }

    #[test]
    fn a_url_that_has_more_than_one_reading_is_refused() {
        for url in [
            "", "a.example", "http:a.example", "http:///a.example", "http://", "file://a/b", "http://u@a/",
            "http://a\\@b/", "http://a%2eb/", "http://ａ.example/", "http://a.example。b/", "http://a?@b/",
            "http://a#@b/", " http://a/", "http://a/\t", "http://a/\u{1}", "http://a/b c", "http://a/b\\c",
            "http://-a/", "http://a-/", "http://a.-b.c/", "http://a!b/", "http://0x7f.1/", "http://2130706433/",
            "http://127.1/", "http://0177.0.0.1/", "http://1.2.3.4.5/", "http://256.0.0.1/", "http://0x/",
            "http://a.0X7F/", "http://[::1/", "http://[::1]x/", "http://[::ffff:127.0.0.1]/",
            "http://[fe80::1%25eth0]/", "http://a:/", "http://a:+80/", "http://a:65536/", "http://a:b:80/",
            "http://a./", "http://a..b/", "http://xn--a-/", "http://*/",
        ] {
            assert!(Normaliser::Host.apply(url).is_err(), "{url:?}");
        }
    }

    #[test]
    fn an_international_or_escaped_host_is_told_how_to_be_written() {
        for url in ["http://ａ.example/", "http://a%2eb/", "http://[é]/"] {
            let refused = Normaliser::Host.apply(url);
            assert!(matches!(refused, Err(InvalidTarget::Host { reason, .. }) if reason.contains("xn--")), "{url}");
        }
    }

    #[test]
    fn a_host_has_at_most_253_characters_in_labels_of_at_most_63() {
        let host = |labels: &[usize]| {
            let name = labels.iter().map(|length| "a".repeat(*length)).collect::<Vec<_>>().join(".");
            Normaliser::Host.apply(&format!("http://{name}/")).map(|host| host.len())
        };
        assert_eq!(host(&[63, 63, 63, 61]), Ok(253));
        assert!(host(&[63, 63, 63, 62]).is_err());
        assert!(host(&[64, 63]).is_err());
    }

    #[test]
    fn a_normaliser_has_one_name() {
        for (normaliser, name) in [(Normaliser::Path, "path"), (Normaliser::Host, "host")] {
            assert_eq!((Normaliser::from_name(name), normaliser.name()), (Some(normaliser), name));
            assert_eq!(normaliser.to_string(), name);
        }
        assert_eq!(Normaliser::from_name("url"), None);
    }
}
