//! The keys of requests of tools: the tables `[http]` and `[web]`.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;

use super::super::declarations::declare_keys;
use super::super::error::ConfigError;
use super::super::key::FlagValue::Named;
use super::super::key::{Key, KeyAbout};
use super::super::kind::{duration, integer, items, size, text};
use super::super::origin::{Origin, Setting};
use super::super::parser::{file, filled, host, url, variable};
use super::super::project::{ProjectRule, REACHES};
use super::super::section::Section;
use super::super::slot::Slot;
use crate::size::Size;

declare_keys! {
    /// The values of the keys about requests of tools.
    NetworkValues {}

    /// Hosts or blocks of addresses that tools may request although they are private, such as localhost:8080; they need a grant as well
    private_hosts: Vec<Setting<String>> = Key::new("http.private_hosts", items(host), Vec::new(), r#"["localhost:8080"]"#)
        .with_flag("--private-host", Named("HOST"))
        .with_project(ProjectRule::never(REACHES));

    /// The URL of a proxy for requests of tools
    tool_proxy: Option<Setting<String>> =
        Key::new("http.proxy", text(url), None, "\"http://proxy.example.org:3128\"")
            .with_project(ProjectRule::never(REACHES));

    /// A file of root certificates in PEM, which requests of tools trust in addition to the machine's
    ca_file: Option<Setting<PathBuf>> = Key::new("http.ca_file", text(file), None, "\"certificates.pem\"")
        .with_project(ProjectRule::never(REACHES));

    /// The maximum size of a response to a tool, after decompression
    max_body: Setting<Size> =
        Key::new("http.max_body", size(), Setting::from_default(Size::from_bytes(10 * 1024 * 1024)), "\"10MiB\"")
            .with_project(ProjectRule::lower());

    /// The time until a response to a tool begins, for each redirect anew
    tool_first_byte: Setting<Duration> =
        Key::new("http.first_byte", duration(), Setting::from_default(Duration::from_secs(20)), "\"20s\"")
            .with_project(ProjectRule::lower());

    /// The time until a response to a tool is complete, redirects included
    tool_total: Setting<Duration> =
        Key::new("http.total", duration(), Setting::from_default(Duration::from_secs(60)), "\"60s\"")
            .with_project(ProjectRule::lower());

    /// The maximum number of redirects that a request of a tool follows
    max_redirects: Setting<u32> =
        Key::new("http.max_redirects", integer::<0, _>(), Setting::from_default(10), "10")
            .with_project(ProjectRule::lower());

    /// The maximum number of concurrent requests of tools
    max_connections: Setting<u32> =
        Key::new("http.max_connections", integer::<1, _>(), Setting::from_default(32), "32")
            .with_project(ProjectRule::lower());

    /// The maximum number of concurrent requests of tools to one host
    max_connections_per_host: Setting<u32> =
        Key::new("http.max_connections_per_host", integer::<1, _>(), Setting::from_default(6), "6")
            .with_project(ProjectRule::lower());

    /// The backend of web.search, such as duckduckgo; doctor lists those that are linked
    search: Option<Setting<String>> = Key::new("web.search", text(filled), None, "\"searxng\"")
        .with_project(ProjectRule::never(REACHES));

    /// The URL of the search backend, if it is a service of your own
    search_url: Option<Setting<String>> = Key::new("web.search_url", text(url), None, "\"http://localhost:8888\"")
        .with_project(ProjectRule::never(REACHES));

    /// The environment variable that holds the key of the search backend, instead of its usual one; never the key itself
    search_key_env: Option<Setting<String>> = Key::new("web.search_key_env", text(variable), None, "\"MY_SEARCH_KEY\"")
        .with_project(ProjectRule::never(REACHES));

    /// The file that holds the key of the search backend, instead of a variable
    search_key_file: Option<Setting<PathBuf>> = Key::new("web.search_key_file", text(file), None, "")
        .with_project(ProjectRule::never(REACHES));

    /// The number of results of a search that asks for no other number, from 1 to 20
    search_count: Option<Setting<u32>> = Key::new("web.search_count", integer::<1, _>(), None, "5");

    /// The language of results, if the search backend has the option
    search_language: Option<Setting<String>> = Key::new("web.search_language", text(filled), None, "\"en\"");

    /// The filter of adult content, if the search backend has the option: off, moderate or strict
    safe_search: Option<Setting<String>> = Key::new("web.safe_search", text(filled), None, "\"moderate\"");
}
