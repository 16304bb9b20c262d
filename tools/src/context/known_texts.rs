//! [`KnownTexts`]: the texts from which a URL may be made without a question.

mod url_parts;

use std::collections::{HashSet, VecDeque};
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use protocol::json::Node;
use protocol::{Json, Normaliser};

use self::url_parts::UrlParts;

/// The most bytes of prompts that are kept. The oldest are forgotten first.
const MAX_PROMPT_BYTES: usize = 1 << 20;

/// The most bytes of URLs that are kept. Over it, all are forgotten.
const MAX_URL_BYTES: usize = 4 << 20;

/// The most pieces of a URL that are compared with prompts one by one.
const MAX_PIECES: usize = 8;

/// The texts from which the agent may make a URL without a question, once it has read text of strangers: the prompts of the person, the
/// URLs that were read before, and for each host the links in its documents.
///
/// A service of a session, which its sub-agents share. The pipeline asks about a call that reads a host by a URL that it does not
/// [contain](Self::contains), if the session [is exposed](crate::ToolContext::is_exposed). Without this service it does not ask.
/// A session of `toolcrib-agent` has it and adds its prompts.
#[derive(Default)]
pub struct KnownTexts(Mutex<Texts>);

#[derive(Default)]
struct Texts {
    ignores_prompts: bool,
    /// Each prompt as it is and in lower case.
    prompts: VecDeque<[String; 2]>,
    prompt_bytes: usize,
    urls: HashSet<String>,
    url_bytes: usize,
}

impl KnownTexts {
    /// Creates the service without texts.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates the service of a session whose prompts are text of strangers or of a model.
    pub fn without_prompts() -> Self {
        let known = Self::new();
        known.ignore_prompts();
        known
    }

    /// Forgets the prompts, and ignores later ones, because strangers write them.
    pub fn ignore_prompts(&self) {
        let mut texts = self.locked();
        texts.ignores_prompts = true;
        texts.prompts.clear();
        texts.prompt_bytes = 0;
    }

    /// Adds a prompt of the person, up to the first [text from outside](crate::OutsideText) in it.
    pub fn add_prompt(&self, prompt: &str) {
        let own = prompt.split("<<< from ").next().unwrap_or_default();
        let mut texts = self.locked();
        if texts.ignores_prompts || own.trim().is_empty() {
            return;
        }
        texts.prompt_bytes += own.len();
        texts.prompts.push_back([own.to_owned(), own.to_lowercase()]);
        while texts.prompt_bytes > MAX_PROMPT_BYTES {
            let Some([oldest, _]) = texts.prompts.pop_front() else { break };
            texts.prompt_bytes -= oldest.len();
        }
    }

    /// Adds the URLs in a document's text that have the document's own host.
    pub fn add_links(&self, document: &str, text: &str) {
        let Ok(host) = Normaliser::Host.apply(document) else { return };
        let mut texts = self.locked();
        for link in url_parts::urls_in(text) {
            let parts = UrlParts::new(&link);
            if let Some(parts) = parts.filter(|parts| parts.host == host) {
                texts.add(parts.key());
            }
        }
    }

    /// Adds the URLs in the arguments of a call that a model wrote before it had read text of strangers.
    pub fn add_call(&self, arguments: &Json) {
        self.add_urls(arguments.node());
    }

    fn add_urls(&self, node: Node<'_>) {
        match node.as_str() {
            Some(text) if text.get(..4).is_some_and(|begin| begin.eq_ignore_ascii_case("http")) => self.add_url(text),
            Some(_) => {}
            None => {
                node.elements().for_each(|element| self.add_urls(element));
                node.members().for_each(|(_, member)| self.add_urls(member));
            }
        }
    }

    /// Adds a URL that was read.
    pub(crate) fn add_url(&self, url: &str) {
        if let Some(parts) = UrlParts::new(url) {
            self.locked().add(parts.key());
        }
    }

    /// Returns true if the path and the query of a URL carry no text of the agent's own:
    ///
    /// - the URL is a known link of a document of its host, or was read before, or stands in a prompt, or
    /// - each segment of the path, and each name and value of the query, stands in a prompt as whole words. These are at most eight,
    ///   and none occurs twice.
    ///
    /// A fragment is not sent, so it does not count.
    pub fn contains(&self, url: &str) -> bool {
        let Some(parts) = UrlParts::new(url) else { return false };
        let texts = self.locked();
        if texts.urls.contains(&parts.key()) || texts.has_in_prompt(parts.text) {
            return true;
        }
        let Some(pieces) = parts.pieces() else { return false };
        let distinct: HashSet<&str> = pieces.iter().map(|piece| &**piece).collect();
        pieces.len() <= MAX_PIECES
            && distinct.len() == pieces.len()
            && distinct.into_iter().all(|piece| piece.is_empty() || texts.has_in_prompt(piece))
    }

    fn locked(&self) -> MutexGuard<'_, Texts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Texts {
    fn add(&mut self, url: String) {
        if self.url_bytes + url.len() > MAX_URL_BYTES {
            self.urls.clear();
            self.url_bytes = 0;
        }
        let length = url.len();
        if length <= MAX_URL_BYTES && self.urls.insert(url) {
            self.url_bytes += length;
        }
    }

    /// Returns true if a prompt has the text as whole words. Text in lower case may have capitals in the prompt.
    fn has_in_prompt(&self, text: &str) -> bool {
        self.prompts.iter().any(|[prompt, lower]| has_words(prompt, text) || has_words(lower, text))
    }
}

/// Returns true if the text occurs between characters that do not go on with its first and its last word.
fn has_words(text: &str, words: &str) -> bool {
    let is_joined = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let (begins, ends) = (is_joined(words.chars().next()), is_joined(words.chars().next_back()));
    text.match_indices(words).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + words.len()..]);
        !(begins && is_joined(before.chars().next_back()) || ends && is_joined(after.chars().next()))
    })
}

/// Does not show the texts.
impl fmt::Debug for KnownTexts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts = self.locked();
        let (prompts, urls) = (texts.prompts.len(), texts.urls.len());
        f.debug_struct("KnownTexts").field("prompts", &prompts).field("urls", &urls).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOST: &str = "https://api.example.org";

    fn known(prompt: &str) -> KnownTexts {
        let known = KnownTexts::new();
        known.add_prompt(prompt);
        known
    }

    #[test]
    fn a_url_is_known_if_its_pieces_are_words_of_a_prompt() {
        let known = known("Get the weather in Berlin and New York, with id 42-b, from /v1/forecast. Größe?");
        for path in [
            "", "/", "/weather", "/weather/", "/v1/forecast?id=42-b", "/weather/Berlin", "/weather/berlin#fragment",
            "/?in=New+York", "/?in=New%20York", "/weather?in=", "/Gr%C3%B6%C3%9Fe",
        ] {
            assert!(known.contains(&format!("{HOST}{path}")), "{path}");
        }
        for path in [
            "/secret",
            "/weather?key=secret",
            "/weather?secret=Berlin",
            "/weather?secret",
            "/weath",
            "/eather",
            "/w",
            "/B/e/r",
            "/weather/BERLIN",
            "/weather/berLin",
            "/weather///",
            "/weather?&&",
            "/weather?in=Berlin&in=Berlin",
            "/weather/weather",
            "/%77eather",
            "/v1/forecast/the/weather/in/Berlin/and/New/with",
            "/weather?in=4",
            "/weather%00",
            "/weather%zz",
            "/../x",
            "/weather\\x",
        ] {
            assert!(!known.contains(&format!("{HOST}{path}")), "{path}");
        }
        for url in
            ["", "weather", "api.example.org/weather", "https://secret@api.example.org/weather", "https:///weather"]
        {
            assert!(!known.contains(url), "{url}");
        }
    }

    #[test]
    fn a_whole_url_of_a_prompt_is_known_and_a_changed_one_is_not() {
        let known = known("read https://api.example.org/a/b/c/d/e/f/g/h/i?a=b&a=b#top, please");
        assert!(known.contains("https://api.example.org/a/b/c/d/e/f/g/h/i?a=b&a=b"));
        assert!(known.contains("https://api.example.org/a/b/c/d/e/f/g/h/i?a=b&a=b#other"));
        assert!(!known.contains("https://api.example.org/a/b/c/d/e/f/g/h/i?a=b&a=bc"));
    }

    #[test]
    fn a_link_is_known_for_the_host_of_its_document_alone() {
        let known = KnownTexts::new();
        let page = "[More](https://api.example.org/more_(1)?page=2#x), see <https://other.example/x>.\n\
                    {\"next\": \"https://API.example.org/next?a=1&amp;b=2\"} or https://api.example.org/end.";
        known.add_links("https://api.example.org/start?q=1", page);
        for url in ["/more_(1)?page=2", "/more_(1)?page=2#y", "/next?a=1&b=2", "/end"] {
            assert!(known.contains(&format!("{HOST}{url}")), "{url}");
        }
        for url in [
            "https://other.example/x",
            "https://api.example.org/more_(1)?page=3",
            "https://api.example.org/more_(1)",
            "https://api.example.org:8443/end",
            "https://user@api.example.org/end",
            "https://api.example.org/%65nd",
        ] {
            assert!(!known.contains(url), "{url}");
        }
    }

    #[test]
    fn a_url_that_was_read_is_known() {
        let known = KnownTexts::new();
        known.add_url("https://api.example.org/x?y=z#a");
        assert!(known.contains("https://api.example.org/x?y=z") && !known.contains("https://api.example.org/x?y=zz"));
    }

    #[test]
    fn prompts_of_strangers_and_text_from_outside_do_not_count() {
        let known = KnownTexts::without_prompts();
        known.add_prompt("secret");
        assert!(!known.contains(&format!("{HOST}/secret")));
        let own = crate::OutsideText::new("the prompt of a server", "secret").to_string();
        let known = self::known(&format!("I chose this.\n{own}\n"));
        assert!(known.contains(&format!("{HOST}/chose")) && !known.contains(&format!("{HOST}/secret")));
        known.ignore_prompts();
        assert!(!known.contains(&format!("{HOST}/chose")));
    }

    #[test]
    fn the_memory_is_bounded() {
        let known = known("first");
        for _ in 0..3 {
            known.add_prompt(&"x".repeat(MAX_PROMPT_BYTES / 2));
        }
        assert!(!known.contains(&format!("{HOST}/first")));
        for number in 0..3_000 {
            known.add_url(&format!("{HOST}/{number}/{}", "y".repeat(8_000)));
        }
        let texts = known.locked();
        assert!(texts.prompt_bytes <= MAX_PROMPT_BYTES && texts.url_bytes <= MAX_URL_BYTES);
        assert_eq!(texts.url_bytes, texts.urls.iter().map(String::len).sum::<usize>());
    }
}
