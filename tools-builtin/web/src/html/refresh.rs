//! Pages that only lead on to another one.

/// The length of a script up to which it may only lead on, in bytes. Longer ones do other things.
const MAX_SCRIPT: usize = 1000;

/// Returns the address in the content of `<meta http-equiv="refresh">`, such as `0; url=/next`.
pub(crate) fn of_meta(content: &str) -> Option<&str> {
    let rest = content
        .trim_start()
        .trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let rest = rest
        .trim_start()
        .trim_start_matches([';', ','])
        .trim_start();
    let name = rest
        .get(..3)
        .filter(|name| name.eq_ignore_ascii_case("url"));
    let value = name
        .and_then(|_| rest[3..].trim_start().strip_prefix('='))
        .unwrap_or(rest)
        .trim();
    let value = match value.chars().next() {
        Some(quote @ ('"' | '\'')) => value[1..].split(quote).next().unwrap_or_default(),
        _ => value,
    };
    Some(value.trim()).filter(|value| !value.is_empty())
}

/// Returns the address that a short script assigns to the location of the page.
pub(super) fn of_script(script: &str) -> Option<&str> {
    if script.len() > MAX_SCRIPT {
        return None;
    }
    script.match_indices("location").find_map(|(at, name)| {
        let rest = script[at + name.len()..].trim_start();
        let call = [".replace", ".assign"]
            .into_iter()
            .find_map(|method| rest.strip_prefix(method));
        let value = match call {
            Some(arguments) => arguments.trim_start().strip_prefix('(')?,
            None => rest
                .strip_prefix(".href")
                .unwrap_or(rest)
                .trim_start()
                .strip_prefix('=')?,
        };
        let value = value.trim_start();
        let quote = value
            .chars()
            .next()
            .filter(|c| matches!(c, '"' | '\'' | '`'))?;
        let (address, _) = value[1..].split_once(quote)?;
        (!address.is_empty() && !address.contains(['\\', '\n', '$'])).then_some(address)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_of_a_refresh_is_read_like_browsers_do() {
        for (content, address) in [
            ("0; url=/next", Some("/next")),
            ("0;URL='https://a.org/x;y'", Some("https://a.org/x;y")),
            (" 1.5 , url = \"b\" c", Some("b")),
            ("0;next.html", Some("next.html")),
            ("0;url=", None),
            ("30", None),
            ("", None),
            ("é", Some("é")),
        ] {
            assert_eq!(of_meta(content), address, "{content}");
        }
    }

    #[test]
    fn the_address_of_a_script_is_a_whole_literal() {
        for (script, address) in [
            ("window.location.replace('/next')", Some("/next")),
            (
                "location.href = \"https://a.org/\";",
                Some("https://a.org/"),
            ),
            ("document.location='a'", Some("a")),
            ("self.location.assign( `b` )", Some("b")),
            ("if (window.location.hash) location = 'c'", Some("c")),
            ("location = base + '/x'", None),
            ("location.href = 'a\\x2fb'", None),
            ("location == 'a'", None),
            ("location.reload()", None),
        ] {
            assert_eq!(of_script(script), address, "{script}");
        }
        assert_eq!(
            of_script(&format!("location='a';{}", " ".repeat(MAX_SCRIPT))),
            None
        );
    }
}
