//! Finds the endpoint for spans: the setting, or else the standard variables.

use agent::provider::is_plain_url;

use crate::config::{Origin, Setting, Settings};

/// The path of spans below the base URL of a collector.
const PATH: &str = "/v1/traces";

/// The variable of the endpoint for spans, and that of the collector.
const VARIABLES: [&str; 2] = ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"];

/// Returns the URL that spans are sent to. Returns `None` if no endpoint is set, or if the environment turns the export off.
/// `lookup` returns a variable.
///
/// # Errors
/// Returns the origin of an endpoint that is not a plain URL. It may hold a password, so it is not part of the error.
pub(super) fn endpoint(
    settings: &Settings,
    lookup: impl Fn(&str) -> Option<String>,
) -> Result<Option<Setting<String>>, Origin> {
    let is_set = |name: &str, value: &str| lookup(name).is_some_and(|set| set.eq_ignore_ascii_case(value));
    if is_set("OTEL_SDK_DISABLED", "true") || is_set("OTEL_TRACES_EXPORTER", "none") {
        return Ok(None);
    }
    let variable = |name: &&str| {
        let value = lookup(name).filter(|value| !value.is_empty())?;
        Some(Setting { value, origin: Origin::Environment((*name).to_owned()) })
    };
    let Some(set) = settings.telemetry_endpoint.clone().or_else(|| VARIABLES.iter().find_map(variable)) else {
        return Ok(None);
    };
    if !is_plain_url(&set.value) {
        return Err(set.origin);
    }
    let is_whole = set.origin == Origin::Environment(VARIABLES[0].to_owned());
    Ok(Some(set.map(|url| if is_whole { url } else { with_path(&url) })))
}

fn with_path(url: &str) -> String {
    let base = url.trim_end_matches('/');
    if base.ends_with(PATH) { base.to_owned() } else { format!("{base}{PATH}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Values;

    fn found(setting: Option<&str>, variables: &[(&str, &str)]) -> Result<Option<String>, Origin> {
        let telemetry_endpoint = setting.map(|url| Setting::from_flag("--test", url.to_owned()));
        let settings = Settings::from_flags(Values { telemetry_endpoint, ..Values::default() });
        let lookup = |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
        endpoint(&settings, lookup).map(|found| found.map(|found| found.value))
    }

    #[test]
    fn the_setting_precedes_the_variables_and_a_base_url_gets_the_path() {
        let [whole, base] = VARIABLES;
        let both = [(whole, "http://a/spans"), (base, "http://b/")];
        for (setting, variables, expected) in [
            (None, &[][..], None),
            (None, &[(base, "")], None),
            (None, &both[1..], Some("http://b/v1/traces")),
            (None, &both, Some("http://a/spans")),
            (Some("http://c:4318"), &both, Some("http://c:4318/v1/traces")),
            (Some("http://c/v1/traces"), &[], Some("http://c/v1/traces")),
            (Some("http://c"), &[("OTEL_SDK_DISABLED", "true")], None),
            (Some("http://c"), &[("OTEL_TRACES_EXPORTER", "none")], None),
        ] {
            assert_eq!(found(setting, variables).unwrap().as_deref(), expected, "{setting:?} {variables:?}");
        }
    }

    #[test]
    fn a_url_with_a_password_is_refused() {
        let origin = found(None, &[(VARIABLES[1], "http://me:sesame@b")]).unwrap_err();
        assert_eq!(origin, Origin::Environment(VARIABLES[1].to_owned()));
    }
}
