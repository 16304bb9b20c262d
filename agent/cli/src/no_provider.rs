//! [`check`]: the next steps of a person at a terminal who has chosen no provider.

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;

use agent::ProviderOptions;
use tools::join;

use crate::config::{ProgramSettings as _, Settings};
use crate::error::Error;
use crate::program;

/// The programs that serve models on this machine, with their usual ports and the flags that choose them.
const LOCAL: [(&str, u16, &str); 4] = [
    // https://raw.githubusercontent.com/ollama/ollama/main/docs/faq.mdx
    ("Ollama", 11434, "--models ollama/NAME"),
    // https://lmstudio.ai/docs/api/openai-api
    ("LM Studio", 1234, "--base-url http://127.0.0.1:1234/v1"),
    // https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md
    ("llama.cpp", 8080, "--base-url http://127.0.0.1:8080/v1"),
    // https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html
    ("vLLM", 8000, "--base-url http://127.0.0.1:8000/v1"),
];

/// The time for a connection. A port of this machine answers at once, also if nothing listens there.
const CONNECT_LIMIT: Duration = Duration::from_millis(100);

/// Checks that a person at a terminal has chosen a provider. Programs that run this one get the provider without a model.
///
/// # Errors
/// Returns [`Error::NoProvider`] if there is none.
pub(crate) fn check(settings: &Settings) -> Result<(), Error> {
    if settings.program().provider.is_some() || !terminal::has_person() {
        return Ok(());
    }
    Err(Error::NoProvider(steps()))
}

/// Returns the ways to a model or to none, each in a line.
pub(crate) fn steps() -> [String; 3] {
    let name = program::name();
    let found = LOCAL.into_iter().filter(|(_, port, _)| is_open(*port));
    let found =
        found.map(|(server, port, flags)| format!("{flags} ({server}, as port {port} is open)"));
    let found = join(found, ", or ");
    let local = if found.is_empty() {
        format!("start one, such as Ollama, and add {}", LOCAL[0].2)
    } else {
        format!("add {found}")
    };
    [
        format!(
            "for a model of a service, set its key: {}; {name} providers lists all",
            join(key_variables(), ", ")
        ),
        format!("for a model on this machine, {local}"),
        format!(
            "to try the tools without a model, add --provider direct: the prompt is then tool calls, such as '{}'",
            agent::Direct::EXAMPLE
        ),
    ]
}

/// Returns the variables of the keys with which a service is chosen.
fn key_variables() -> BTreeSet<&'static str> {
    let services = program::providers().into_iter();
    let services = services.filter_map(|provider| (provider.service)(&ProviderOptions::new()));
    let services = services.filter(|service| service.needs_key && service.model.is_some());
    services.map(|service| service.key_variable).collect()
}

/// Returns true if a program listens on this port of the machine. Nothing is sent to it.
fn is_open(port: u16) -> bool {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    TcpStream::connect_timeout(&address, CONNECT_LIMIT).is_ok()
}
