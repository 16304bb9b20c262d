//! The keys of searches: the table `[web]`.

use std::path::PathBuf;

use host::declare_keys;
use host::settings::{
    Key, ProjectRule, REACHES, Setting, file, key_source, non_blank, text, url, variable,
};
use tools_text::KeySource;

declare_keys! {
    /// The keys of searches.
    pub struct SearchKeys;

    /// The backend of web.search, such as duckduckgo; doctor lists those that are linked
    pub backend: Option<Setting<String>> = Key::new("web.search", text(non_blank), None, "\"searxng\"")
        .with_project(ProjectRule::never(REACHES));

    /// The URL of the search backend, if it is a service of your own
    pub service_url: Option<Setting<String>> = Key::new("web.search_url", text(url), None, "\"http://localhost:8888\"")
        .owned_by("web.search")
        .with_project(ProjectRule::never(REACHES));

    /// The environment variable that holds the key of the search backend, instead of its usual one; never the key itself
    pub key_env: Option<Setting<String>> = Key::new("web.search_key_env", text(variable), None, "\"MY_SEARCH_KEY\"")
        .instead_of("web.search_key_file")
        .owned_by("web.search")
        .with_project(ProjectRule::never(REACHES));

    /// The file that holds the key of the search backend, instead of a variable
    pub key_file: Option<Setting<PathBuf>> = Key::new("web.search_key_file", text(file), None, "")
        .instead_of("web.search_key_env")
        .of_secret_file()
        .owned_by("web.search")
        .with_project(ProjectRule::never(REACHES));

    /// The language of results, if the search backend has the option
    pub language: Option<Setting<String>> = Key::new("web.search_language", text(non_blank), None, "\"en\"");
}

impl SearchKeys {
    /// Returns the source of the backend's key. Returns `None` if it is the backend's usual one.
    pub fn key(&self) -> Option<Setting<KeySource>> {
        key_source(&self.key_env, &self.key_file)
    }
}
