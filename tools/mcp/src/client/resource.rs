//! Resources of servers.

use rmcp::model::{ClientRequest, ReadResourceRequest, ReadResourceRequestParams};
use rmcp::service::ServiceError;
use serde::Deserialize;
use serde_json::{Map, Value};
use tools::{Content, ToolContext, ToolErrorKind};

use crate::client::error::ImportError;
use crate::client::failure::failure;
use crate::client::imported::{Imported, Items};
use crate::client::result::{items, resource_content, show_block};
use crate::client::rounds;

/// A resource that a server lists.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Resource {
    /// The URI.
    pub uri: String,
    /// The name.
    pub name: String,
    /// A display name for people.
    pub title: Option<String>,
    /// A description.
    pub description: Option<String>,
    /// The media type.
    pub mime_type: Option<String>,
    /// The size, in bytes.
    pub size: Option<u64>,
}

/// A kind of resources that a server lists, whose URIs follow a template.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ResourceTemplate {
    /// The template of the URIs (RFC 6570).
    pub uri_template: String,
    /// The name.
    pub name: String,
    /// A display name for people.
    pub title: Option<String>,
    /// A description.
    pub description: Option<String>,
    /// The media type.
    pub mime_type: Option<String>,
}

impl Imported {
    /// Lists the resources. The texts are those of the server: show them with [`visible_line`](tools::visible_line) or
    /// [`visible_text`](tools::visible_text).
    ///
    /// # Errors
    /// Returns an error if the server is not connected or does not list them.
    pub async fn resources(&self) -> Result<Items<Resource>, ImportError> {
        self.items(&self.lists.resources).await
    }

    /// Lists the templates of resources, like [`resources`](Self::resources).
    ///
    /// # Errors
    /// Returns an error if the server is not connected or does not list them.
    pub async fn resource_templates(&self) -> Result<Items<ResourceTemplate>, ImportError> {
        self.items(&self.lists.templates).await
    }

    /// Reads a resource for a call. A person's answers to questions of the server come from the call's context.
    ///
    /// A model reads resources with the tool `mcp.resource`, whose target is `mcp:read:<server>/<uri>`.
    ///
    /// # Errors
    /// Returns an error if the server is not connected or cannot read the resource.
    pub async fn read_resource(
        &self,
        cx: &ToolContext,
        uri: &str,
    ) -> Result<Vec<Content>, ToolErrorKind> {
        let peer = self.listed_peer().await?;
        // A result with a defective part is none for rmcp.
        let result = rounds::request(self, &peer, cx, |answers| {
            let mut params = ReadResourceRequestParams::new(uri);
            (params.input_responses, params.request_state) = (answers.responses, answers.state);
            ClientRequest::from(ReadResourceRequest::new(params))
        })
        .await?;
        readable_contents(serde_json::to_value(result).unwrap_or_default(), uri)
            .ok_or_else(|| failure(self.name(), ServiceError::UnexpectedResponse))
    }
}

/// Returns the parts of a resource that may have defects. Each part is read by itself. Returns `None` if there are none.
fn readable_contents(mut result: Value, uri: &str) -> Option<Vec<Content>> {
    let parts = result.get_mut("contents").map(Value::take)?;
    let parts = items(parts).into_iter();
    Some(parts.map(|part| readable_part(part, uri)).collect())
}

fn readable_part(part: Value, uri: &str) -> Content {
    let mut fields = match part {
        Value::Object(fields) => fields,
        Value::String(text) => Map::from_iter([("text".to_owned(), Value::String(text))]),
        other => return show_block(&other),
    };
    fields.retain(|key, value| !value.is_null() && key != "_meta");
    // A part without its URI is one of the resource that was read.
    if !fields.get("uri").is_some_and(Value::is_string) {
        fields.insert("uri".to_owned(), uri.into());
    }
    if let Some(text) = fields.get_mut("text").filter(|text| !text.is_string()) {
        *text = Value::String(text.to_string());
    }
    let part = Value::Object(fields);
    serde_json::from_value(part.clone()).map_or_else(|_| show_block(&part), resource_content)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_resource_with_a_defective_part_keeps_the_others() {
        let read = readable_contents(
            json!({"contents": [{"uri": "a:1", "text": "useful"}, {"text": {"n": 1}, "_meta": 1}, "plain", {"uri": "a:2"}]}),
            "a:0",
        );
        let read = read.unwrap();
        let text = |uri: &str, text: &str| {
            resource_content(serde_json::from_value(json!({"uri": uri, "text": text})).unwrap())
        };
        assert_eq!(
            read[..3],
            [
                text("a:1", "useful"),
                text("a:0", r#"{"n":1}"#),
                text("a:0", "plain")
            ]
        );
        assert!(read[3].as_text().unwrap().contains("a:2"), "{read:?}");
        assert_eq!(readable_contents(json!({}), "a:0"), None);
    }
}
