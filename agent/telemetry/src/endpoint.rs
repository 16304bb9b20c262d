//! Finds the collector of spans: the setting, or else the standard variables.

use host::settings::{Origin, Settings};
use tools::is_plain_url;

use crate::settings::TelemetryKeys;

/// The path of spans below the base URL of a collector.
const PATH: &str = "/v1/traces";

/// The variable of the endpoint for spans, and that of the collector.
const ENDPOINTS: [&str; 2] = [
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    "OTEL_EXPORTER_OTLP_ENDPOINT",
];

/// The variables of the protocol for spans, and of the collector's.
const PROTOCOLS: [&str; 2] = [
    "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL",
    "OTEL_EXPORTER_OTLP_PROTOCOL",
];

/// The protocol of the export.
const PROTOCOL: &str = "http/protobuf";

/// A receiver of spans.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Collector {
    /// The URL that spans are sent to.
    pub(super) url: String,
    /// True if the standard variables name it, so that their headers are meant for it.
    pub(super) is_of_environment: bool,
}

/// A mistake in the description of the collector. The URL may hold a password, so it is not part of the error.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum CollectorError {
    #[error("{0} must be http(s)://host/path, without a user, a query or a fragment")]
    Url(Origin),
    #[error(
        "{0} must be {PROTOCOL}; set it so, and the endpoint to the collector's port for HTTP, which usually is 4318"
    )]
    Protocol(&'static str),
}

/// Returns the collector. Returns `None` if no endpoint is set, or if the environment turns the export off. `lookup` returns a variable.
///
/// # Errors
/// Returns an error if the endpoint is not a plain URL, or if the environment has another protocol for it.
pub(super) fn collector(
    settings: &Settings,
    lookup: impl Fn(&str) -> Option<String>,
) -> Result<Option<Collector>, CollectorError> {
    let lookup = |name: &str| lookup(name).filter(|value| !value.is_empty());
    let is_set =
        |name: &str, value: &str| lookup(name).is_some_and(|set| set.eq_ignore_ascii_case(value));
    if is_set("OTEL_SDK_DISABLED", "true") || is_set("OTEL_TRACES_EXPORTER", "none") {
        return Ok(None);
    }
    if let Some(set) = settings.of::<TelemetryKeys>().endpoint.clone() {
        let url = if is_plain_url(&set.value) {
            with_path(&set.value)
        } else {
            return Err(CollectorError::Url(set.origin));
        };
        return Ok(Some(Collector {
            url,
            is_of_environment: false,
        }));
    }
    let mut endpoints = ENDPOINTS.into_iter();
    let Some((name, url)) = endpoints.find_map(|name| Some((name, lookup(name)?))) else {
        return Ok(None);
    };
    if !is_plain_url(&url) {
        return Err(CollectorError::Url(Origin::Environment(name.to_owned())));
    }
    let mut protocols = PROTOCOLS.into_iter();
    if let Some((name, protocol)) = protocols.find_map(|name| Some((name, lookup(name)?)))
        && protocol != PROTOCOL
    {
        return Err(CollectorError::Protocol(name));
    }
    let url = if name == ENDPOINTS[0] {
        url
    } else {
        with_path(&url)
    };
    Ok(Some(Collector {
        url,
        is_of_environment: true,
    }))
}

fn with_path(url: &str) -> String {
    let base = url.trim_end_matches('/');
    if base.ends_with(PATH) {
        base.to_owned()
    } else {
        format!("{base}{PATH}")
    }
}

#[cfg(test)]
mod tests {
    use host::settings::{Setting, Values};

    use super::*;

    fn found(
        setting: Option<&str>,
        variables: &[(&str, &str)],
    ) -> Result<Option<Collector>, CollectorError> {
        let endpoint = setting.map(|url| Setting::from_flag("--test", url.to_owned()));
        let mut flags = Values::default();
        flags.of_mut::<TelemetryKeys>().endpoint = endpoint;
        let settings = Settings::from_flags(flags).unwrap();
        let lookup = |name: &str| {
            variables
                .iter()
                .find(|(key, _)| *key == name)
                .map(|(_, value)| (*value).to_owned())
        };
        collector(&settings, lookup)
    }

    #[test]
    fn the_setting_precedes_the_variables_and_a_base_url_gets_the_path() {
        let [whole, base] = ENDPOINTS;
        let both = [(whole, "http://a/spans"), (base, "http://b/")];
        for (setting, variables, expected) in [
            (None, &[][..], None),
            (None, &[(base, "")], None),
            (None, &both[1..], Some("http://b/v1/traces")),
            (None, &both, Some("http://a/spans")),
            (
                Some("http://c:4318"),
                &both,
                Some("http://c:4318/v1/traces"),
            ),
            (Some("http://c/v1/traces"), &[], Some("http://c/v1/traces")),
            (Some("http://c"), &[("OTEL_SDK_DISABLED", "true")], None),
            (Some("http://c"), &[("OTEL_TRACES_EXPORTER", "none")], None),
        ] {
            let is_of_environment = setting.is_none();
            let expected = expected.map(|url| Collector {
                url: url.to_owned(),
                is_of_environment,
            });
            assert_eq!(
                found(setting, variables).unwrap(),
                expected,
                "{setting:?} {variables:?}"
            );
        }
    }

    #[test]
    fn a_url_with_a_password_is_refused() {
        let error = found(None, &[(ENDPOINTS[1], "http://me:sesame@b")]).unwrap_err();
        assert_eq!(
            error,
            CollectorError::Url(Origin::Environment(ENDPOINTS[1].to_owned()))
        );
    }

    #[test]
    fn another_protocol_is_refused_for_the_endpoint_of_the_environment() {
        let ([_, base], [own, all]) = (ENDPOINTS, PROTOCOLS);
        for (protocol, error) in [
            (&[(all, "grpc")][..], Some(all)),
            (&[(own, "http/json"), (all, "http/protobuf")], Some(own)),
            (&[(own, "http/protobuf"), (all, "grpc")], None),
            (&[(all, "")], None),
        ] {
            let variables = [&[(base, "http://b")], protocol].concat();
            assert_eq!(
                found(None, &variables).err(),
                error.map(CollectorError::Protocol),
                "{protocol:?}"
            );
        }
        assert!(found(Some("http://c"), &[(all, "grpc")]).unwrap().is_some());
    }
}
