//! The faults of tools whose effects another party declared than the one that wrote their schemas.

use serde_json::{Value, json};
use tools::lint::{Lint, LintRule, Severity};
use tools::protocol::Declared;
use tools::{Catalog, Effects, Tool, ToolContext};

#[tokio::test]
async fn an_argument_that_may_be_an_address_and_that_no_template_names_is_a_warning() {
    let properties =
        json!({"to": {"type": "string"}, "bcc": {"type": "string"}, "text": {"type": "string"}});
    let schema = json!({"type": "object", "properties": properties, "required": ["to"]});
    for (foreign, declared, expected) in [
        (true, json!({"writes": ["mail:{to}"]}), 1),
        (true, json!({"reads": ["mail:{to}"]}), 0),
        // Its author names the places that it touches.
        (false, json!({"writes": ["mail:{to}"]}), 0),
    ] {
        let mut declared: Declared = serde_json::from_value(declared).unwrap();
        declared.foreign = foreign;
        let tool = Tool::new("mail.send", "Sends.", schema.clone()).unwrap();
        let mut catalog = Catalog::new();
        catalog
            .register(
                tool.with_effects(Effects::Declared(declared)),
                async |_: ToolContext, _: Value| "",
            )
            .unwrap();
        let faults = Lint::default().check(&catalog).await;
        let unnamed: Vec<_> = faults
            .iter()
            .filter(|fault| fault.rule == LintRule::Effects)
            .collect();
        assert_eq!(unnamed.len(), expected, "{unnamed:?}");
        for fault in unnamed {
            assert_eq!(fault.severity, Severity::Warning);
            assert!(fault.message.contains("`bcc`"), "{fault:?}");
        }
    }
}
