//! [`RecordingApprover`]: an approver that decides by script and records the requests.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use tools::IgnorePoison as _;
use tools::context::ApprovalFuture;
use tools::policy::SensitivePath;
use tools::{
    Approval, Approver, Concern, Decision, Digest, Json, Preview, Target, ToolError, ToolName,
};

/// An [`Approver`] that decides by a fixed decision, a script or a closure, and records each request. Clones share the record.
///
/// ```
/// use serde_json::json;
/// use tools::{Decision, ErrorCode, tool};
/// use tools_testkit::{RecordingApprover, TestHost};
///
/// /// Publishes a page.
/// #[tool(name = "page.publish", writes = "page:{title}")]
/// fn publish(
///     /// The title.
///     title: String,
/// ) -> String {
///     format!("published {title}")
/// }
///
/// let approver = RecordingApprover::from_script([Decision::Allow]);
/// let host = TestHost::new(&[&PUBLISH_TOOL]).with_grant(&["page:read:**"]).with_approver(approver.clone());
/// host.call_blocking("page.publish", json!({"title": "one"}))?;
/// let refused = host.call_blocking("page.publish", json!({"title": "two"}));
/// assert_eq!(refused.unwrap_err().code(), ErrorCode::PermissionDenied);
///
/// let requested: Vec<_> = approver.requests().iter().map(|request| request.targets[0].to_string()).collect();
/// assert_eq!(requested, ["page:write:one", "page:write:two"]);
/// # Ok::<(), tools::ToolError>(())
/// ```
#[derive(Clone)]
pub struct RecordingApprover(Arc<Shared>);

struct Shared {
    decide: Box<dyn Fn(&RecordedApproval) -> Decision + Send + Sync>,
    requests: Mutex<Vec<RecordedApproval>>,
}

/// A recorded [`Approval`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RecordedApproval {
    /// The tool.
    pub tool: ToolName,
    /// The arguments, with secrets masked.
    pub arguments: Json,
    /// The targets that need an approval.
    pub targets: Vec<Target>,
    /// The targets that are sensitive paths.
    pub sensitive: Vec<(Target, SensitivePath)>,
    /// The reasons to ask that the targets do not show.
    pub concerns: Vec<Concern>,
    /// The digest of the tool's definition.
    pub tool_digest: Digest,
    /// The digest of the masked arguments.
    pub arguments_digest: Digest,
    /// The preview, or its error. `None` if the tool declares none.
    pub preview: Option<Result<Preview, ToolError>>,
}

impl RecordingApprover {
    /// Creates an approver that always decides the same, such as [`Decision::Allow`].
    pub fn new(decision: Decision) -> Self {
        Self::from_fn(move |_| decision.clone())
    }

    /// Creates an approver that takes one decision of the script for each request, and [`Decision::Abstain`] after the last.
    pub fn from_script(decisions: impl IntoIterator<Item = Decision>) -> Self {
        let script: Mutex<VecDeque<_>> = Mutex::new(decisions.into_iter().collect());
        Self::from_fn(move |_| {
            script
                .lock()
                .ignore_poison()
                .pop_front()
                .unwrap_or(Decision::Abstain)
        })
    }

    /// Creates an approver that decides by a closure.
    pub fn from_fn(decide: impl Fn(&RecordedApproval) -> Decision + Send + Sync + 'static) -> Self {
        Self(Arc::new(Shared {
            decide: Box::new(decide),
            requests: Mutex::default(),
        }))
    }

    /// Returns the requests so far, oldest first.
    pub fn requests(&self) -> Vec<RecordedApproval> {
        self.0.requests.lock().ignore_poison().clone()
    }
}

impl Approver for RecordingApprover {
    fn approve<'a>(&'a self, approval: Approval<'a>) -> ApprovalFuture<'a> {
        let sensitive =
            |target: &Target| Some((target.clone(), approval.sensitive(target)?.clone()));
        let mut request = RecordedApproval {
            tool: approval.tool.clone(),
            arguments: approval.arguments.clone(),
            targets: approval.targets.to_vec(),
            sensitive: approval.targets.iter().filter_map(sensitive).collect(),
            concerns: approval.concerns.to_vec(),
            tool_digest: approval.tool_digest,
            arguments_digest: approval.arguments_digest,
            preview: None,
        };
        Box::pin(async move {
            request.preview = approval.preview().await;
            self.0.requests.lock().ignore_poison().push(request.clone());
            (self.0.decide)(&request)
        })
    }
}

tools::debug_fields!(self: RecordingApprover { requests = self.requests() });
