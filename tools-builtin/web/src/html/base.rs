//! [`Base`]: makes addresses absolute.

use url::Url;

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
        if address.trim().is_empty() {
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
