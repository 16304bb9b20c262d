//! The network of a program: a proxy to the hosts that the grant names.

#[cfg(feature = "network")]
mod proxied;
#[cfg(not(feature = "network"))]
mod without;

use tools::ToolContext;
use tools::policy::Verdict;
use tools::protocol::{Access, Clause, Target};

#[cfg(feature = "network")]
pub(crate) use proxied::Network;
#[cfg(not(feature = "network"))]
pub(crate) use without::Network;

/// Returns true if a clause of each layer of the grant covers hosts.
fn is_granted(cx: &ToolContext) -> bool {
    cx.previewed_grant()
        .layers()
        .all(|layer| layer.iter().any(is_about_hosts))
}

fn is_about_hosts(clause: &Clause) -> bool {
    clause.scheme().is_none_or(|scheme| scheme == "net")
}

/// Returns the hosts that a program reaches through the proxy. Empty if the grant names none.
///
/// # Errors
/// Returns the reason why programs have no network here.
pub(crate) fn proxied_hosts(cx: &ToolContext) -> Result<Vec<String>, &'static str> {
    let hosts = if is_granted(cx) {
        hosts(cx)
    } else {
        Vec::new()
    };
    if !hosts.is_empty() {
        Network::check(cx)?;
    }
    Ok(hosts)
}

/// Returns the hosts about which the person is asked without bubblewrap, where programs reach all hosts or none. Empty if the grant names
/// none.
///
/// # Errors
/// Returns the reason why a program cannot have a network whatever the answer is.
pub(crate) fn wanted_hosts(cx: &ToolContext) -> Result<Vec<String>, &'static str> {
    let hosts = proxied_hosts(cx)?;
    if hosts.is_empty() {
        return Ok(hosts);
    }
    let mut rules = cx.policy().map_or(&[][..], |policy| policy.rules()).iter();
    if rules.any(|rule| rule.verdict == Verdict::Deny && rule.target().is_some_and(is_about_hosts))
    {
        return Err(
            "a rule denies hosts, and without bubblewrap nothing keeps the program from them",
        );
    }
    Ok(hosts)
}

/// Returns the hosts that clauses and allowing rules name and the grant covers, as they write them. A person reads them before the
/// program starts. A rule that denies a host, or a layer of the grant that does not name it, can leave fewer.
pub(crate) fn hosts(cx: &ToolContext) -> Vec<String> {
    let rules = cx.policy().map_or(&[][..], |policy| policy.rules()).iter();
    let allowed = rules
        .filter(|rule| rule.verdict == Verdict::Allow)
        .filter_map(|rule| rule.target());
    let mut hosts: Vec<String> = cx
        .previewed_grant()
        .clauses()
        .chain(allowed)
        .filter_map(|clause| find_host(cx, clause))
        .collect();
    hosts.sort();
    hosts.dedup();
    hosts
}

/// Returns the host that the clause names.
fn find_host(cx: &ToolContext, clause: &Clause) -> Option<String> {
    let is_read = clause.scheme() == Some("net")
        && clause.access().is_none_or(|access| access == Access::Read);
    let pattern = Some(clause.pattern()).filter(|_| is_read)?;
    let host = pattern
        .strip_suffix(":**")
        .or(pattern.strip_suffix(":*"))
        .unwrap_or(pattern);
    let name = literal(host)?;
    let example = if host == pattern {
        name.clone()
    } else {
        format!("{name}:1")
    };
    let target = Target::new(Access::Read, "net", example).ok()?;
    cx.previewed_grant()
        .permits(&target)
        .then(|| name + &pattern[host.len()..])
}

/// Returns the text that a pattern without wildcards matches.
fn literal(pattern: &str) -> Option<String> {
    let mut text = String::new();
    let mut characters = pattern.chars();
    while let Some(c) = characters.next() {
        match c {
            '*' | '?' | '[' | '{' => return None,
            '\\' => text.extend(characters.next()),
            c => text.push(c),
        }
    }
    Some(text)
}
