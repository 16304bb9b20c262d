//! Targets from a field of a service, such as the base URL that a setting names.

use serde_json::{Value, json};
use tools::protocol::{Effects, TargetError};
use tools::{Catalog, ErrorCode, Grant, Host, RegisterError, Tool, ToolContext, ToolError, tool};

struct Tracker {
    base_url: String,
}

/// Counts the issues of a project.
#[tool(reads = "tracker:{Tracker.base_url|host}/{project}", needs(Tracker))]
async fn count_issues(
    cx: &ToolContext,
    /// The name of the project.
    project: String,
) -> Result<String, ToolError> {
    Ok(format!("{}/{project}", cx.need::<Tracker>()?.base_url))
}

fn host(grant: &str, base_url: &str) -> Host {
    let tracker = Tracker {
        base_url: base_url.to_owned(),
    };
    Host::new()
        .with_grant(Grant::parse(&[grant]).unwrap())
        .with_service(tracker)
}

async fn call(host: &Host, arguments: Value) -> Result<String, ErrorCode> {
    let mut catalog = Catalog::new();
    catalog.submit(&[&COUNT_ISSUES_TOOL]).unwrap();
    let result = catalog.execute(host, "count_issues", arguments).await;
    result
        .map(|result| result.to_text())
        .map_err(|error| error.code())
}

#[tokio::test]
async fn the_grant_has_to_cover_the_host_of_the_service() {
    let url = "https://Tracker.example.org/api";
    let granted = host("tracker:read:tracker.example.org/**", url);
    let arguments = json!({"project": "crib"});
    assert_eq!(
        call(&granted, arguments.clone()).await.as_deref(),
        Ok("https://Tracker.example.org/api/crib")
    );
    let elsewhere = host("tracker:read:example.com/**", url);
    assert_eq!(
        call(&elsewhere, arguments).await,
        Err(ErrorCode::PermissionDenied)
    );
}

#[tokio::test]
async fn an_argument_cannot_stand_in_for_the_service() {
    let host = host("tracker:read:example.com/**", "https://tracker.example.org");
    let mut catalog = Catalog::new();
    catalog.submit(&[&COUNT_ISSUES_TOOL]).unwrap();
    let entry = catalog.get("count_issues").unwrap();
    let arguments = json!({"project": "crib", "Tracker.base_url": "https://example.com"});
    let targets = entry.targets(&arguments.into(), &host).unwrap();
    assert_eq!(
        targets[0].to_string(),
        "tracker:read:tracker.example.org/crib"
    );
}

#[tokio::test]
async fn without_the_service_arguments_are_valid_and_have_no_targets() {
    let mut catalog = Catalog::new();
    catalog.submit(&[&COUNT_ISSUES_TOOL]).unwrap();
    let arguments = json!({"project": "crib"});
    assert!(catalog.validate("count_issues", arguments.clone()).is_ok());
    assert!(catalog.validate("count_issues", json!({})).is_err());
    let entry = catalog.get("count_issues").unwrap();
    assert!(matches!(
        entry.targets(&arguments.into(), &Host::new()),
        Err(TargetError::NoService { field }) if field == "Tracker.base_url"
    ));
    let lacking = Host::new().with_grant(Grant::parse(&["tracker:read:**"]).unwrap());
    assert_eq!(
        call(&lacking, json!({"project": "crib"})).await,
        Err(ErrorCode::Unavailable)
    );
}

#[test]
fn a_handler_has_to_supply_the_field() {
    let effects: Effects =
        serde_json::from_value(json!({"reads": ["net:{Tracker.base_url|host}"]})).unwrap();
    let mut tool = Tool::new("count", "Counts.", json!({"type": "object"})).unwrap();
    tool.effects = effects;
    let handler = async |_: ToolContext, _: Value| Ok::<_, String>("1");
    let refused = Catalog::new().register(tool, handler);
    assert!(matches!(refused, Err(RegisterError::Effects { .. })));
}
