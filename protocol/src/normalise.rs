//! [`Normaliser`]: converts an argument to the form that patterns match.

use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};

use crate::invalid_target::InvalidTarget;

/// The normalisation of an argument before it is matched, written after `|` in a [`Template`](crate::Template).
///
/// A normaliser rejects values that two programs could interpret differently, because the check would not hold for the other
/// interpretation. It may therefore accept less than the tool does.
///
/// ```
/// use protocol::Normaliser;
///
/// assert_eq!(Normaliser::Path.apply("src/./../x//y")?, "x/y");
/// assert_eq!(Normaliser::Host.apply("https://API.example.com:443/v1?q=1")?, "api.example.com");
/// assert_eq!(Normaliser::Host.apply("http://localhost:8080/")?, "localhost:8080");
/// assert!(Normaliser::Path.apply("../x").is_err());
/// assert!(Normaliser::Host.apply("http://2130706433/").is_err());
/// # Ok::<(), protocol::InvalidTarget>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Normaliser {
    /// `path`: a relative path, resolved lexically. `src/../x` becomes `x`; the root is `.`.
    ///
    /// Rejected: absolute paths, drive letters, paths that lead outside the root, backslashes and control characters. Symbolic
    /// links are left to the tool's own confinement.
    Path,
    /// `host`: the host of an `http`, `https`, `ws` or `wss` URL, in lower case. An IPv6 address keeps its brackets and gets its
    /// shortest form.
    ///
    /// A port other than the scheme's own (80 for `http` and `ws`, 443 for `https` and `wss`) follows the host:
    /// `http://localhost:8080/` becomes `localhost:8080`. A clause for the host alone does not cover it.
    ///
    /// Rejected: user names, percent signs and non-ASCII characters before the path; backslashes and white space anywhere; IPv4
    /// addresses other than four plain decimal numbers; and other forms on which URL parsers disagree.
    Host,
}

impl Normaliser {
    /// All normalisers.
    pub const ALL: [Self; 2] = [Self::Path, Self::Host];

    /// Returns the normaliser with this name in templates. Returns `None` if there is no such normaliser.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|normaliser| normaliser.name() == name)
    }

    /// Returns the name in templates.
    pub fn name(self) -> &'static str {
        match self {
            Self::Path => "path",
            Self::Host => "host",
        }
    }

    /// Normalises `value`. `path` is idempotent; the result of `host` is not a URL and cannot be normalised again.
    ///
    /// # Errors
    /// Returns [`InvalidTarget`] if the value is invalid or ambiguous.
    pub fn apply(self, value: &str) -> Result<String, InvalidTarget> {
        match self {
            Self::Path => path(value.to_owned()),
            Self::Host => host(value).map_err(|reason| InvalidTarget::Host {
                value: InvalidTarget::excerpt(value),
                reason,
            }),
        }
    }
}

impl fmt::Display for Normaliser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Returns an error if the path is absolute. Joining an absolute path would discard the text before it.
pub(crate) fn relative(value: &str) -> Result<(), InvalidTarget> {
    let drive = matches!(value.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic());
    if drive || value.starts_with('/') {
        return Err(InvalidTarget::Absolute {
            value: InvalidTarget::excerpt(value),
        });
    }
    Ok(())
}

/// Resolves `.`, `..` and empty segments. The root is `.`.
pub(crate) fn resolve(path: String) -> Result<String, InvalidTarget> {
    relative(&path)?;
    // A fast path: most paths are resolved already.
    if !path
        .split('/')
        .any(|segment| matches!(segment, "" | "." | ".."))
    {
        return Ok(path);
    }
    let mut kept = Vec::new();
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." => {
                if kept.pop().is_none() {
                    return Err(InvalidTarget::OutsideRoot {
                        value: InvalidTarget::excerpt(&path),
                    });
                }
            }
            segment => kept.push(segment),
        }
    }
    let resolved = if kept.is_empty() {
        ".".to_owned()
    } else {
        kept.join("/")
    };
    // `x/../c:y` begins with a drive letter only after it is resolved.
    relative(&resolved)?;
    Ok(resolved)
}

pub(crate) fn path(value: String) -> Result<String, InvalidTarget> {
    if value.is_empty() {
        return Err(InvalidTarget::Empty);
    }
    InvalidTarget::check_control(&value)?;
    if value.contains('\\') {
        return Err(InvalidTarget::Backslash {
            value: InvalidTarget::excerpt(&value),
        });
    }
    resolve(value)
}

fn host(url: &str) -> Result<String, &'static str> {
    if url.contains(|c: char| c.is_control() || c.is_whitespace() || c == '\\') {
        return Err("it has white space, control characters or backslashes; remove them");
    }
    let (scheme, rest) = url
        .split_once("://")
        .ok_or("it does not begin with a scheme; write `https://host/…`")?;
    if !["http", "https", "ws", "wss"]
        .iter()
        .any(|known| scheme.eq_ignore_ascii_case(known))
    {
        return Err("its scheme is not http, https, ws or wss; write one of these");
    }
    let authority = rest.split('/').next().unwrap_or_default();
    // Parsers differ in whether such a host ends there, and the checked host must be the one that is dialled.
    if authority.contains(['?', '#']) {
        return Err("a `?` or `#` follows the host; write a `/` between them");
    }
    // `https://granted@other/` goes to the other host.
    if authority.contains('@') {
        return Err("it has a user name before the host; remove it");
    }
    if !authority.is_ascii() || authority.contains('%') {
        return Err(
            "its host has non-ASCII characters or percent escapes; write an international name as `xn--…`",
        );
    }
    let authority = authority.to_ascii_lowercase();
    let (host, port) = match authority.strip_prefix('[') {
        Some(bracketed) => {
            let (address, rest) = bracketed
                .split_once(']')
                .ok_or("its `[` is not closed; write `[address]`")?;
            (ipv6(address)?, port(rest)?)
        }
        None => {
            let end = authority.find(':').unwrap_or(authority.len());
            (domain(&authority[..end])?, port(&authority[end..])?)
        }
    };
    let own = if scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("ws") {
        80
    } else {
        443
    };
    Ok(match port {
        Some(port) if port != own => format!("{host}:{port}"),
        _ => host,
    })
}

/// Parses the text after the host, which may be empty or a colon and a port number.
fn port(rest: &str) -> Result<Option<u16>, &'static str> {
    let Some(digits) = rest.strip_prefix(':') else {
        let other = "the host is followed by other text than a port; remove it";
        return if rest.is_empty() {
            Ok(None)
        } else {
            Err(other)
        };
    };
    // `parse` alone would accept a `+`.
    let port = digits
        .bytes()
        .all(|b| b.is_ascii_digit())
        .then(|| digits.parse().ok())
        .flatten();
    let invalid = "its port is not a number from 0 to 65535; write a number or leave out the colon";
    port.map(Some).ok_or(invalid)
}

fn ipv6(address: &str) -> Result<String, &'static str> {
    let address: Ipv6Addr = address
        .parse()
        .map_err(|_| "its brackets do not hold an IPv6 address; write one without a zone")?;
    // Programs write these addresses in two ways, and both mean the plain IPv4 address.
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
            return Err(
                "a part of its host between dots is empty or longer than 63 characters; write `name.example`",
            );
        }
        if !label
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || b == b'_')
        {
            return Err(
                "its host has characters other than a-z 0-9 - _ and dots; write a plain host name",
            );
        }
        // Some parsers decode `xn--example-` to `example`.
        if label.starts_with('-') || label.ends_with('-') {
            return Err("a part of its host begins or ends with `-`; write a plain host name");
        }
    }
    if is_number(name.rsplit('.').next().unwrap_or(name)) && name.parse::<Ipv4Addr>().is_err() {
        return Err(
            "its host is an IPv4 address in an unusual spelling; write four decimal numbers such as 192.0.2.1",
        );
    }
    Ok(name.to_owned())
}

/// Returns true if URL parsers treat a host that ends in this label as an IPv4 address.
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
            assert_eq!(
                Normaliser::Path.apply(path).as_deref(),
                Ok(expected),
                "{path}"
            );
        }
    }

    #[test]
    fn a_path_that_leaves_the_root_is_refused() {
        for path in [
            "",
            "/",
            "/etc",
            "..",
            "a/../..",
            "../root/a",
            "a\\b",
            "a\0",
            "a\nb",
            "C:/x",
            "c:",
            "a/../c:/x",
        ] {
            assert!(Normaliser::Path.apply(path).is_err(), "{path:?}");
        }
    }

    #[test]
    fn a_host_is_taken_from_a_plain_url() {
        for (url, expected) in [
            ("http://a", "a"),
            (
                "HTTPS://Api.Open-Meteo.com/v1/forecast?x=@y#z",
                "api.open-meteo.com",
            ),
            ("https://de.example.org/wiki/Zürich", "de.example.org"),
            ("http://[0:0:0:0:0:0:0:1]:80/", "[::1]"),
            ("http://xn--mnchen-3ya.example/", "xn--mnchen-3ya.example"),
            ("http://localhost/@user", "localhost"),
            ("http://1.a-b_c/", "1.a-b_c"),
        ] {
            assert_eq!(
                Normaliser::Host.apply(url).as_deref(),
                Ok(expected),
                "{url}"
            );
        }
    }

    #[test]
    fn a_port_is_kept_unless_it_is_the_own_one_of_the_scheme() {
        for (url, expected) in [
            ("http://a:80/", "a"),
            ("WS://a:80", "a"),
            ("https://a:443/", "a"),
            ("wss://a:0443/", "a"),
            ("http://a:443/", "a:443"),
            ("ws://a:443/", "a:443"),
            ("HTTPS://a:80/", "a:80"),
            ("wss://a:80/", "a:80"),
            ("http://127.0.0.1:08080/", "127.0.0.1:8080"),
            ("https://[0:0::1]:8080/", "[::1]:8080"),
            ("http://a:65535", "a:65535"),
            ("http://a:0/", "a:0"),
        ] {
            assert_eq!(
                Normaliser::Host.apply(url).as_deref(),
                Ok(expected),
                "{url}"
            );
        }
    }

    #[test]
    fn a_url_that_has_more_than_one_reading_is_refused() {
        for url in [
            "",
            "a.example",
            "http:a.example",
            "http:///a.example",
            "http://",
            "file://a/b",
            "http://u@a/",
            "http://a\\@b/",
            "http://a%2eb/",
            "http://ａ.example/",
            "http://a.example。b/",
            "http://a?@b/",
            "http://a#@b/",
            " http://a/",
            "http://a/\t",
            "http://a/\u{1}",
            "http://a/b c",
            "http://a/b\\c",
            "http://-a/",
            "http://a-/",
            "http://a.-b.c/",
            "http://a!b/",
            "http://0x7f.1/",
            "http://2130706433/",
            "http://127.1/",
            "http://0177.0.0.1/",
            "http://1.2.3.4.5/",
            "http://256.0.0.1/",
            "http://0x/",
            "http://a.0X7F/",
            "http://[::1/",
            "http://[::1]x/",
            "http://[::ffff:127.0.0.1]/",
            "http://[fe80::1%25eth0]/",
            "http://a:/",
            "http://a:+80/",
            "http://a:65536/",
            "http://a:b:80/",
            "http://a./",
            "http://a..b/",
            "http://xn--a-/",
            "http://*/",
        ] {
            assert!(Normaliser::Host.apply(url).is_err(), "{url:?}");
        }
    }

    #[test]
    fn the_error_for_an_international_or_escaped_host_says_how_to_write_it() {
        for url in ["http://ａ.example/", "http://a%2eb/", "http://[é]/"] {
            let refused = Normaliser::Host.apply(url);
            assert!(
                matches!(refused, Err(InvalidTarget::Host { reason, .. }) if reason.contains("xn--")),
                "{url}"
            );
        }
    }

    #[test]
    fn a_host_has_at_most_253_characters_in_labels_of_at_most_63() {
        let host = |labels: &[usize]| {
            let name = labels
                .iter()
                .map(|length| "a".repeat(*length))
                .collect::<Vec<_>>()
                .join(".");
            Normaliser::Host
                .apply(&format!("http://{name}/"))
                .map(|host| host.len())
        };
        assert_eq!(host(&[63, 63, 63, 61]), Ok(253));
        assert!(host(&[63, 63, 63, 62]).is_err());
        assert!(host(&[64, 63]).is_err());
    }

    #[test]
    fn a_normaliser_has_one_name() {
        for (normaliser, name) in [(Normaliser::Path, "path"), (Normaliser::Host, "host")] {
            assert_eq!(
                (Normaliser::from_name(name), normaliser.name()),
                (Some(normaliser), name)
            );
            assert_eq!(normaliser.to_string(), name);
        }
        assert_eq!(Normaliser::from_name("url"), None);
    }
}
