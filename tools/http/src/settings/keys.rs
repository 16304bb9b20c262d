//! [`HttpKeys`]: the keys of requests of tools, the tables `[http]` and `[[secrets]]`.

use std::path::PathBuf;

use host::declare_keys;
use host::settings::FlagValue::Named;
use host::settings::{
    Key, ProjectRule, REACHES, Setting, converted_tables, file, host, items, text, url,
};

use super::place::SecretPlace;

declare_keys! {
    /// The keys of requests of tools.
    pub struct HttpKeys;

    /// Hosts or blocks of addresses that tools may request although they are private, such as localhost:8080; they need a grant as well
    pub private_hosts: Vec<Setting<String>> = Key::new("http.private_hosts", items(host), Vec::new(), r#"["localhost:8080"]"#)
        .with_flag("--private-host", Named("HOST"))
        .with_project(ProjectRule::never(REACHES));

    /// The URL of a proxy for requests of tools
    pub tool_proxy: Option<Setting<String>> =
        Key::new("http.proxy", text(url), None, "\"http://proxy.example.org:3128\"")
            .with_project(ProjectRule::never(REACHES));

    /// A file of root certificates in PEM, which requests of tools trust in addition to the machine's
    pub ca_file: Option<Setting<PathBuf>> = Key::new("http.ca_file", text(file), None, "\"certificates.pem\"")
            .of_control_file()
        .with_project(ProjectRule::never(REACHES));

    /// Secrets that requests of tools to one origin have in a header: the place of each, never the secret itself
    pub secrets: Vec<Setting<SecretPlace>> = Key::new(
        "secrets",
        converted_tables(SecretPlace::from_table),
        Vec::new(),
        r#"[{ name = "forge", origin = "https://api.example.org", header = "authorization", prefix = "Bearer ", env = "FORGE_TOKEN" }]"#,
    )
    .with_project(ProjectRule::never(REACHES));
}
