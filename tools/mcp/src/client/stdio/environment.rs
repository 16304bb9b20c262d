//! The environment variables of a server.

use std::collections::BTreeMap;
use std::ffi::OsString;

use tools::Secret;

/// The variables of this process that a server gets. The others may hold secrets.
const PASSED: &str = "HOME LANG LANGUAGE LC_ALL LC_CTYPE LC_MESSAGES LOGNAME PATH SHELL TEMP TERM TMP TMPDIR TZ \
    USER";

/// Returns all variables of a server, of which `more` are those that the user set, also in place of others.
pub(super) fn environment(
    host: impl Iterator<Item = (OsString, OsString)>,
    more: &[(String, Secret)],
) -> BTreeMap<OsString, OsString> {
    // A shell would read such a value as a function.
    let is_function = |value: &OsString| value.as_encoded_bytes().starts_with(b"()");
    let is_passed = |name: &OsString| PASSED.split(' ').any(|passed| name == passed);
    let mut all: BTreeMap<_, _> = host
        .filter(|(name, value)| is_passed(name) && !is_function(value))
        .collect();
    all.extend(
        more.iter()
            .map(|(name, value)| (name.into(), value.expose().into())),
    );
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_has_the_variables_of_the_list_and_those_that_the_user_set() {
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
        let more = [
            ("TOKEN".to_owned(), Secret::new("t")),
            ("HOME".to_owned(), Secret::new("/srv")),
        ];
        let all: Vec<_> = environment(host, &more).into_iter().collect();
        assert_eq!(
            all,
            [("HOME", "/srv"), ("PATH", "/bin"), ("TOKEN", "t")].map(|(n, v)| (n.into(), v.into()))
        );
    }
}
