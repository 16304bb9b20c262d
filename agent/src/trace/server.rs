//! The address of a service in spans.

/// Returns the host and the port of a URL. Returns `None` if it has no host.
pub(super) fn server(url: &str) -> Option<(&str, u16)> {
    let (scheme, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    // A provider of a host may have a URL with a password.
    let authority = authority.rsplit('@').next().unwrap_or_default();
    let usual = if scheme == "http" { 80 } else { 443 };
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, port.parse().ok()?),
        _ => (authority, usual),
    };
    let host = host.trim_start_matches('[').trim_end_matches(']');
    (!host.is_empty()).then_some((host, port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_has_a_host_and_a_port() {
        for (url, expected) in [
            ("https://api.example.org/v1", Some(("api.example.org", 443))),
            ("http://localhost:8000", Some(("localhost", 8000))),
            ("http://127.0.0.1", Some(("127.0.0.1", 80))),
            ("http://[::1]/v1", Some(("::1", 80))),
            ("http://[::1]:11434/v1", Some(("::1", 11434))),
            ("https://me:sesame@example.org:1/", Some(("example.org", 1))),
            ("https://example.org:no", None),
            ("https:///v1", None),
            ("direct", None),
        ] {
            assert_eq!(server(url), expected, "{url}");
        }
    }
}
