//! [`ApprovalRequest`]: a request to approve a call, to be answered later.

use serde::{Deserialize, Serialize};
use serde_json::json;
use tools::{Approval, Digest, Json, Target};

use super::{ApprovalKey, ApprovalQuestion};

/// The number of characters of an id.
const ID_LENGTH: usize = 32;

/// A request to approve one call, which can be stored and answered in another process.
///
/// Two requests are equal if they are about the same call of the same run, with the same definition of the tool, the same arguments and
/// the same targets, and about the same effect. Remarks and the text of the preview do not count.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ApprovalRequest {
    /// The id of the request, a digest of the other fields.
    pub id: String,
    /// The name of the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The id of the call, unique in its run.
    pub call: String,
    /// The name of the tool.
    pub tool: String,
    /// The digest of the tool's definition.
    pub tool_digest: Digest,
    /// The arguments, with secrets masked. They are untrusted, as are the targets.
    pub arguments: Json,
    /// A digest of the whole arguments with a random key of the run. Calls that differ in a secret have different ones, as have equal
    /// calls of different runs.
    pub arguments_digest: Digest,
    /// The targets that need the approval. Empty if the policy asks about a call without targets.
    pub targets: Vec<Target>,
    /// Each target with [remarks](ApprovalQuestion::remarks) and those, such as `fs:write:Makefile (not granted)`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
    /// The tool's [preview](Approval::preview) of the call, or the reason that there is none. It is untrusted, and can contain more than
    /// the call would return, so do not let the model read it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<String>,
    /// A digest of the effect that the preview shows. An answer fits no call with another effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect_digest: Option<Digest>,
}

impl ApprovalRequest {
    /// Returns the request of a call in the run with this key. Returns `None` if the call has no id.
    pub(super) async fn from_approval(approval: &Approval<'_>, key: &ApprovalKey) -> Option<Self> {
        let cx = approval.cx;
        let call = cx.call_id()?;
        let preview = approval.preview().await;
        let effect_digest = preview
            .as_ref()
            .and_then(|preview| Some(preview.as_ref().ok()?.digest()));
        let arguments_digest = approval.hash_arguments(key.as_bytes());
        // Remarks and the text of the preview may differ in another process, which must know the request again.
        let identity = json!({
            "session": cx.session(),
            "call": call,
            "tool": approval.tool,
            "tool_digest": approval.tool_digest,
            "arguments_digest": arguments_digest,
            "targets": approval.targets,
            "effect_digest": effect_digest,
        });
        let question = ApprovalQuestion::new(*approval);
        let mut id = Digest::hash_json(&identity).to_string();
        id.truncate(ID_LENGTH);
        Some(Self {
            id,
            session: cx.session().map(str::to_owned),
            call: call.to_owned(),
            tool: approval.tool.to_string(),
            tool_digest: approval.tool_digest,
            arguments: approval.arguments.clone(),
            arguments_digest,
            targets: approval.targets.to_vec(),
            remarks: approval
                .targets
                .iter()
                .filter_map(|target| question.remarked_for_later(target))
                .collect(),
            preview: preview.map(|preview| {
                preview.map_or_else(
                    |error| format!("no preview: {error}"),
                    |preview| preview.text().to_owned(),
                )
            }),
            effect_digest,
        })
    }

    /// Returns true if the tool has a preview and could not make it.
    pub(super) fn is_hidden(&self) -> bool {
        self.preview.is_some() && self.effect_digest.is_none()
    }

    /// Returns true if an answer to this request fits another one: it is about the same call, and needs no other targets.
    pub(super) fn covers(&self, other: &Self) -> bool {
        let is_same_call =
            (&self.session, &self.call, &self.tool) == (&other.session, &other.call, &other.tool);
        let digests = |request: &Self| {
            (
                request.tool_digest,
                request.arguments_digest,
                request.effect_digest,
            )
        };
        is_same_call
            && digests(self) == digests(other)
            && other
                .targets
                .iter()
                .all(|target| self.targets.contains(target))
    }
}

impl PartialEq for ApprovalRequest {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id && self.targets == other.targets && self.covers(other)
    }
}

impl Eq for ApprovalRequest {}
