//! Pages that only lead on to another one.

use url::Url;

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
        let quote = value.chars().next();
        let quote = quote.filter(|c| matches!(c, '"' | '\'' | '`'))?;
        let (address, _) = value[1..].split_once(quote)?;
        // With an escape or the variable of a template, the script makes another address of the text.
        (!address.is_empty() && !address.contains(['\\', '\n', '$'])).then_some(address)
    })
}

/// The longest address that is kept, in bytes.
const MAX_ADDRESS: usize = 4096;

/// The address against which those of a page are resolved.
#[derive(Debug)]
pub(crate) struct Base {
    page: Url,
    url: Url,
    is_set: bool,
}

impl Base {
    pub(crate) fn new(url: &Url) -> Self {
        Self {
            page: url.clone(),
            url: url.clone(),
            is_set: false,
        }
    }

    /// Takes the address of the first `<base>`.
    pub(super) fn set(&mut self, href: &str) {
        if !self.is_set
            && let Ok(url) = self.url.join(href)
            && matches!(url.scheme(), "http" | "https")
            && url.as_str().len() <= MAX_ADDRESS
        {
            self.url = url;
            self.is_set = true;
        }
    }

    /// Returns an absolute address to visit. Returns `None` for scripts, data and addresses that cannot be read.
    pub(super) fn link(&self, href: &str) -> Option<String> {
        self.resolve(href, &["http", "https", "mailto", "tel", "ftp"])
    }

    /// Returns an absolute address of an image or another part of the page.
    pub(crate) fn source(&self, src: &str) -> Option<String> {
        self.resolve(src, &["http", "https"])
    }

    /// Returns true if the address is that of the page itself, or a place in it.
    pub(crate) fn is_page(&self, address: &str) -> bool {
        let page = |url: &str| url.split('#').next().unwrap_or_default().to_owned();
        page(address) == page(self.page.as_str())
    }

    fn resolve(&self, address: &str, schemes: &[&str]) -> Option<String> {
        if address.trim().is_empty() || address.len() > MAX_ADDRESS {
            return None;
        }
        let url = self.url.join(address).ok()?;
        (schemes.contains(&url.scheme()) && url.as_str().len() <= MAX_ADDRESS).then(|| url.into())
    }
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

#[cfg(test)]
mod base_tests {
    use super::*;

    #[test]
    fn the_first_base_counts_and_scripts_are_refused() {
        let mut base = Base::new(&Url::parse("https://a.org/x/y?z#f").unwrap());
        assert_eq!(base.link("../b").as_deref(), Some("https://a.org/b"));
        assert_eq!(base.link("#s").as_deref(), Some("https://a.org/x/y?z#s"));
        base.set("javascript:1");
        base.set(&"é".repeat(MAX_ADDRESS / 4));
        base.set("//b.org/c/");
        base.set("https://c.org/");
        assert_eq!(base.link("d").as_deref(), Some("https://b.org/c/d"));
        for refused in [
            "",
            " ",
            "javascript:alert(1)",
            " JaVaScRiPt:1",
            "java\nscript:1",
            "data:text/html,x",
            "blob:x",
            "http://[",
        ] {
            assert_eq!(base.link(refused), None, "{refused}");
        }
        assert_eq!(base.source("mailto:a@b.org"), None);
    }
}
