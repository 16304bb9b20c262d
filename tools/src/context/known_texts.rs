//! [`KnownTexts`]: the texts from which a URL may be made without a question.

mod prompt;
#[cfg(test)]
mod tests;
mod url_parts;

use std::collections::{HashSet, VecDeque};
use std::fmt;
use std::sync::{Mutex, MutexGuard};
use std::time::{SystemTime, UNIX_EPOCH};

use protocol::json::Node;
use protocol::{Json, Normaliser};
use serde::{Deserialize, Serialize};

use crate::sync::IgnorePoison as _;

use self::prompt::Prompt;
use self::url_parts::UrlParts;

/// The most bytes of prompts that are kept. The oldest are forgotten first.
const MAX_PROMPT_BYTES: usize = 2 << 20;

/// The most bytes of URLs that are kept. Over it, all are forgotten.
const MAX_URL_BYTES: usize = 4 << 20;

/// The texts from which the agent may make a URL without a question, once it has read text of strangers: the prompts of the person, the
/// URLs that were read before, and for each host the links in its documents.
///
/// A service of a session, which its sub-agents share. The pipeline asks about a call that reads a host by a URL that it does not
/// [contain](Self::contains), if the session [is exposed](crate::ToolContext::is_exposed). Of the other URLs, it asks about each after
/// the first 20 in a day, until a person has answered yes. Without this service it does not ask.
/// A session of `toolcrib-agent` has it, adds its prompts, and stores the [count](Self::count).
#[derive(Default)]
pub struct KnownTexts(Mutex<Texts>);

#[derive(Default)]
struct Texts {
    ignores_prompts: bool,
    prompts: VecDeque<Prompt>,
    /// Links, URLs that were read, and other texts that a person has seen in a call, as they are sent.
    sent: HashSet<String>,
    /// The beginnings of the URLs that were read, up to their last `/` or `=`, and those of their hosts.
    stems: HashSet<String>,
    /// The bytes of both.
    bytes: usize,
    count: UrlCount,
    /// The URL that was counted last.
    last: String,
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
        let mut texts = self.lock();
        texts.ignores_prompts = true;
        texts.prompts.clear();
    }

    /// Adds a prompt of the person, up to the first [text from outside](crate::OutsideText) in it.
    pub fn add_prompt(&self, prompt: &str) {
        // A prompt may quote a page, whose author would then choose which URLs need no question.
        let own = prompt.split("<<< from ").next().unwrap_or_default();
        let mut texts = self.lock();
        if texts.ignores_prompts {
            return;
        }
        texts.prompts.push_back(Prompt::new(own));
        while texts.prompts.iter().map(Prompt::size).sum::<usize>() > MAX_PROMPT_BYTES {
            texts.prompts.pop_front();
        }
    }

    /// Adds the URLs in a document's text that have the document's own host.
    pub fn add_links(&self, document: &str, text: &str) {
        let Ok(host) = Normaliser::Host.apply(document) else {
            return;
        };
        let mut texts = self.lock();
        for link in url_parts::urls_in(text) {
            // A link to another host could be one that its author made to carry data to a host of their own.
            if let Some(parts) = UrlParts::new(&link).filter(|parts| parts.host == host) {
                texts.add(|texts| &mut texts.sent, parts.text);
            }
        }
    }

    /// Adds the URLs in the arguments of a call that a model wrote before it had read text of strangers.
    pub fn add_call(&self, arguments: &Json) {
        self.add_urls(arguments.node());
    }

    fn add_urls(&self, node: Node<'_>) {
        match node.as_str() {
            Some(text)
                if text
                    .get(..4)
                    .is_some_and(|begin| begin.eq_ignore_ascii_case("http")) =>
            {
                self.add_url(text)
            }
            Some(_) => {}
            None => {
                node.elements().for_each(|element| self.add_urls(element));
                node.members().for_each(|(_, member)| self.add_urls(member));
            }
        }
    }

    /// Adds a URL that was read.
    pub(crate) fn add_url(&self, url: &str) {
        let Some(parts) = UrlParts::new(url) else {
            return;
        };
        let mut texts = self.lock();
        for stem in [parts.root(), parts.stem()] {
            texts.add(|texts| &mut texts.stems, stem.to_owned());
        }
        texts.add(|texts| &mut texts.sent, parts.text);
    }

    /// Adds a text beside the URLs of a call that may run.
    pub(crate) fn add_text(&self, text: &str) {
        self.lock().add(|texts| &mut texts.sent, text.to_owned());
    }

    /// Returns true if the URL, as it is sent, is one of these:
    ///
    /// - the root of its host
    /// - a link in a document of its host, a URL in a prompt, or one that was read before
    /// - a beginning and a run of at most 16 words of one prompt, as they stand there or in lower case. The beginning is the root of the
    ///   host, or that of a URL in a prompt or of one that was read, up to its last `/` or `=`. The run has one of three spellings: as it
    ///   is, as a component of a URL, or as a field of a form.
    ///
    /// A fragment is not sent, so it does not count.
    pub fn contains(&self, url: &str) -> bool {
        let Some(parts) = UrlParts::new(url) else {
            return false;
        };
        let texts = self.lock();
        // The root of a granted host carries no text of the model.
        parts.text == parts.root()
            || texts.sent.contains(&parts.text)
            || texts.of_prompts().any(|url| url.text == parts.text)
            || parts.splits().any(|(stem, run)| {
                let is_stem = stem == parts.root()
                    || texts.stems.contains(stem)
                    || texts.of_prompts().any(|url| url.stem() == stem);
                is_stem && url_parts::meanings(run).any(|run| texts.has_run(&run))
            })
    }

    /// Returns true if the host of the URL stands in a prompt, or was read before.
    pub(crate) fn contains_host(&self, url: &str) -> bool {
        let Some(parts) = UrlParts::new(url) else {
            return false;
        };
        let texts = self.lock();
        texts.stems.contains(parts.root())
            || texts.has_run(&parts.host)
            || texts.of_prompts().any(|url| url.host == parts.host)
    }

    /// Returns true if a text beside the URL of a call is a run of words of a prompt, or was in an earlier call.
    pub(crate) fn contains_text(&self, text: &str) -> bool {
        let texts = self.lock();
        texts.sent.contains(text) || texts.has_run(text)
    }

    /// Counts a URL that is read without a question. Returns false if there were too many before it. The last URL, such as that of the
    /// next part of a document, does not count again.
    pub(crate) fn count_url(&self, url: &str) -> bool {
        let Some(parts) = UrlParts::new(url) else {
            return false;
        };
        let mut texts = self.lock();
        let is_counted = texts.last == parts.text || texts.count.add();
        if is_counted {
            texts.last = parts.text;
        }
        is_counted
    }

    /// Begins a new count, because a person has said yes to a URL.
    pub(crate) fn reset_count(&self) {
        self.lock().count = UrlCount::default();
    }

    /// Returns the number of URLs that were read without a question.
    pub fn count(&self) -> UrlCount {
        self.lock().count
    }

    /// Adds the number of URLs that an earlier process of the session has read without a question. The higher one counts.
    pub fn restore_count(&self, count: UrlCount) {
        let mut texts = self.lock();
        // The lower one would give a resumed session a count that it has used.
        texts.count = texts.count.max(count);
    }

    fn lock(&self) -> MutexGuard<'_, Texts> {
        self.0.lock().ignore_poison()
    }
}

impl Texts {
    fn add(&mut self, set: impl Fn(&mut Self) -> &mut HashSet<String>, text: String) {
        let length = text.len();
        if self.bytes + length > MAX_URL_BYTES {
            self.sent.clear();
            self.stems.clear();
            self.bytes = 0;
        }
        if set(self).insert(text) {
            self.bytes += length;
        }
    }

    fn of_prompts(&self) -> impl Iterator<Item = &UrlParts> {
        self.prompts.iter().flat_map(|prompt| &prompt.urls)
    }

    fn has_run(&self, run: &str) -> bool {
        self.prompts.iter().any(|prompt| prompt.has_run(run))
    }
}

/// Does not show the texts.
impl fmt::Debug for KnownTexts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts = self.lock();
        f.debug_struct("KnownTexts")
            .field("prompts", &texts.prompts.len())
            .field("sent", &texts.sent.len())
            .field("count", &texts.count)
            .finish()
    }
}

/// The most URLs without a question in one [`PERIOD`].
const MAX_URLS: u32 = 20;

/// The seconds after which a new count begins, because nobody answers in a session that runs for months.
const PERIOD: u64 = 24 * 60 * 60;

/// The number of URLs that a session read without a question after it had read text of strangers. A host that stores a session stores it
/// too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct UrlCount {
    count: u32,
    /// The time of the first one, in seconds of Unix time.
    since: u64,
}

impl UrlCount {
    /// Counts one URL more. Returns false if there were too many before it.
    fn add(&mut self) -> bool {
        self.add_at(
            SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .map_or(0, |now| now.as_secs()),
        )
    }

    fn add_at(&mut self, now: u64) -> bool {
        if self.count == 0 || now >= self.since.saturating_add(PERIOD) {
            *self = Self {
                count: 0,
                since: now,
            };
        }
        let is_left = self.count < MAX_URLS;
        self.count += u32::from(is_left);
        is_left
    }
}
