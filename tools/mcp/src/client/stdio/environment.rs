//! The environment variables of a server.

use std::ffi::OsString;

use tools_exec::supervise::Launch;

/// The variables of this process that a server gets. The others may hold secrets.
const PASSED: &str = "HOME LANG LANGUAGE LC_ALL LC_CTYPE LC_MESSAGES LOGNAME PATH SHELL TEMP TERM TMP TMPDIR TZ \
    USER";

/// Returns a command with those variables of this process that programs need to find files and speak the user's language. Variables
/// that are added to it may replace them.
pub fn server_command(program: impl Into<OsString>) -> Launch {
    let passed = passed(std::env::vars_os());
    passed.fold(Launch::new(program), |launch, (name, value)| {
        launch.with_env(name, value)
    })
}

fn passed(
    host: impl Iterator<Item = (OsString, OsString)>,
) -> impl Iterator<Item = (OsString, OsString)> {
    host.filter(|(name, value)| {
        // A shell would read such a value as a function.
        let is_function = value.as_encoded_bytes().starts_with(b"()");
        !is_function && PASSED.split(' ').any(|passed| name == passed)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_has_the_variables_of_the_list() {
        let host = [
            ("PATH", "/bin"),
            ("HOME", "/home/ada"),
            ("SHELL", "() { :; }"),
            ("LD_PRELOAD", "/x"),
            ("API_KEY", "key"),
            ("NODE_OPTIONS", "x"),
            ("path", "x"),
            ("http_proxy", "http://u:p@proxy"),
        ];
        let host = host
            .into_iter()
            .map(|(name, value)| (name.into(), value.into()));
        let all: Vec<_> = passed(host).collect();
        assert_eq!(
            all,
            [("PATH", "/bin"), ("HOME", "/home/ada")].map(|(n, v)| (n.into(), v.into()))
        );
    }
}
