//! The keys of requests of tools: the tables `[http]` and `[web]`.

use std::path::PathBuf;
use std::time::Duration;

use host::settings::FlagValue::Named;
use host::settings::{
    Key, ProjectRule, REACHES, Setting, duration, file, filled, host, integer, items, size, text, url, variable,
};
use host::{Size, declare_keys};

declare_keys! {
    /// The values of the keys about requests of tools.
    pub(crate) struct NetworkKeys;

    /// Hosts or blocks of addresses that tools may request although they are private, such as localhost:8080; they need a grant as well
    pub(crate) private_hosts: Vec<Setting<String>> = Key::new("http.private_hosts", items(host), Vec::new(), r#"["localhost:8080"]"#)
        .with_flag("--private-host", Named("HOST"))
        .with_project(ProjectRule::never(REACHES));

    /// The URL of a proxy for requests of tools
    pub(crate) tool_proxy: Option<Setting<String>> =
        Key::new("http.proxy", text(url), None, "\"http://proxy.example.org:3128\"")
            .with_project(ProjectRule::never(REACHES));

    /// A file of root certificates in PEM, which requests of tools trust in addition to the machine's
    pub(crate) ca_file: Option<Setting<PathBuf>> = Key::new("http.ca_file", text(file), None, "\"certificates.pem\"")
        .with_project(ProjectRule::never(REACHES));

    /// The maximum size of a response to a tool, after decompression
    pub(crate) max_body: Setting<Size> =
        Key::new("http.max_body", size(), Setting::from_default(Size::from_bytes(10 * 1024 * 1024)), "\"10MiB\"")
            .with_project(ProjectRule::lower());

    /// The time until a response to a tool begins, for each redirect anew
    pub(crate) tool_first_byte: Setting<Duration> =
        Key::new("http.first_byte", duration(), Setting::from_default(Duration::from_secs(20)), "\"20s\"")
            .with_project(ProjectRule::lower());

    /// The time until a response to a tool is complete, redirects included
    pub(crate) tool_total: Setting<Duration> =
        Key::new("http.total", duration(), Setting::from_default(Duration::from_secs(60)), "\"60s\"")
            .with_project(ProjectRule::lower());

    /// The maximum number of redirects that a request of a tool follows
    pub(crate) max_redirects: Setting<u32> =
        Key::new("http.max_redirects", integer::<0, _>(), Setting::from_default(10), "10")
            .with_project(ProjectRule::lower());

    /// The maximum number of concurrent requests of tools
    pub(crate) max_connections: Setting<u32> =
        Key::new("http.max_connections", integer::<1, _>(), Setting::from_default(32), "32")
            .with_project(ProjectRule::lower());

    /// The maximum number of concurrent requests of tools to one host
    pub(crate) max_connections_per_host: Setting<u32> =
        Key::new("http.max_connections_per_host", integer::<1, _>(), Setting::from_default(6), "6")
            .with_project(ProjectRule::lower());

    /// The backend of web.search, such as duckduckgo; doctor lists those that are linked
    pub(crate) search: Option<Setting<String>> = Key::new("web.search", text(filled), None, "\"searxng\"")
        .with_project(ProjectRule::never(REACHES));

    /// The URL of the search backend, if it is a service of your own
    pub(crate) search_url: Option<Setting<String>> = Key::new("web.search_url", text(url), None, "\"http://localhost:8888\"")
        .owned_by("web.search")
        .with_project(ProjectRule::never(REACHES));

    /// The environment variable that holds the key of the search backend, instead of its usual one; never the key itself
    pub(crate) search_key_env: Option<Setting<String>> = Key::new("web.search_key_env", text(variable), None, "\"MY_SEARCH_KEY\"")
        .instead_of("web.search_key_file")
        .owned_by("web.search")
        .with_project(ProjectRule::never(REACHES));

    /// The file that holds the key of the search backend, instead of a variable
    pub(crate) search_key_file: Option<Setting<PathBuf>> = Key::new("web.search_key_file", text(file), None, "")
        .instead_of("web.search_key_env")
        .of_secret_file()
        .owned_by("web.search")
        .with_project(ProjectRule::never(REACHES));

    /// The number of results of a search that asks for no other number, from 1 to 20
    pub(crate) search_count: Option<Setting<u32>> = Key::new("web.search_count", integer::<1, _>(), None, "5");

    /// The language of results, if the search backend has the option
    pub(crate) search_language: Option<Setting<String>> = Key::new("web.search_language", text(filled), None, "\"en\"");

    /// The filter of adult content, if the search backend has the option: off, moderate or strict
    pub(crate) safe_search: Option<Setting<String>> = Key::new("web.safe_search", text(filled), None, "\"moderate\"");
}

impl NetworkKeys {
    /// Returns the source of the search backend's key. Returns `None` if it is the backend's usual one.
    #[cfg(feature = "web")]
    pub(crate) fn search_key(&self) -> Option<Setting<agent::KeySource>> {
        super::source(&self.search_key_env, &self.search_key_file)
    }
}
