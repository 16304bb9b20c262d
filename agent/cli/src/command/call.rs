//! `toolcrib call`

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use agent::refusal::Refusal;
use agent::{Models, Plan, ToolFinder};
use clap::Args;
use tools::{ToolError, ToolErrorKind, ToolResult, WholeOutput};

use crate::argument::CallArguments;
use crate::config::{KeyFlags, ProgramKeys, QuestionFlag, Setting, Values};
use crate::error::Error;
use crate::host_options::HostOptions;
use crate::session_view::SessionView;
use crate::{interrupt, notice, output, output_file, refusal, tool_list};
use host::ungranted::{self, GRANT};
use host::{Exit, duration};

/// The reason that a call has no services of a session.
const OF_SESSIONS: &str = "only a session has it; use `run` or `chat`";

/// Call one tool and print its result
///
/// Reading below the root and the clock is permitted, as are questions to you and the grants of the settings file. Other calls need
/// approval on a terminal, and are refused without one.
#[derive(Args, Debug)]
pub(super) struct CallArgs {
    #[command(flatten)]
    arguments: CallArguments,

    #[command(flatten)]
    host: HostOptions,

    #[command(flatten)]
    questions: KeyFlags<QuestionFlag>,

    /// The call's time limit, such as 500ms, 5s or 2m, instead of the tool's own
    #[arg(long, value_name = "DURATION", value_parser = duration::parse)]
    timeout: Option<Duration>,

    /// Print the whole result or error as one JSON document
    #[arg(long)]
    json: bool,

    /// Save the pictures, recordings and files of the result: the first one in this file, which is replaced, and further ones in new
    /// files beside it with a number. A result without them is saved as text
    #[arg(long, value_name = "FILE")]
    output_file: Option<PathBuf>,
}

impl CallArgs {
    pub(super) async fn run(self) -> Result<Exit, Error> {
        if let Some(file) = &self.output_file {
            // Before the call, whose effects cannot be taken back.
            output_file::check(file)?;
        }
        match self.call().await {
            Ok(result) => self.print(&result),
            Err(error) => {
                let result = match &error {
                    Error::Tool(error) => Some(ToolResult::from(error)),
                    Error::Refused { error, .. } => Some(ToolResult::from(&**error)),
                    Error::Argument(error) => Some(ToolResult::error(error.to_string())),
                    _ => None,
                };
                if let Some(result) = result.filter(|_| self.json) {
                    output::json(&result)?;
                }
                Err(error)
            }
        }
    }

    async fn call(&self) -> Result<ToolResult, Error> {
        let root = self.host.servers_root();
        let name = &*self.arguments.name;
        let servers =
            tool_list::attach_for(name, root, || self.host.settings(Values::default())).await?;
        // A tool that waits for approval is not offered, and would be an unknown one.
        if let Some(reason) = servers.waiting(name).filter(|_| tools::get(name).is_err()) {
            return Err(ToolError::new(name, ToolErrorKind::Unavailable { reason }).into());
        }
        let (entry, arguments) = self.arguments.read()?;
        let view = Arc::new(SessionView::default());
        let call_timeout = self
            .timeout
            .map(|timeout| Setting::from_flag("--timeout", timeout));
        let mut flags = self.questions.values()?;
        flags.of_mut::<ProgramKeys>().call_timeout = call_timeout;
        let settings = self.host.settings(flags)?;
        // Invalid arguments touch nothing, and the pipeline refuses them.
        let touched = tools::call::validate(&entry, arguments.clone(), None).unwrap_or_default();
        let context = self
            .host
            .call_host(&settings, &touched, interrupt::token(&view)?, &view)?;
        let context = context
            // A person reads the result, which the context of no model limits.
            .with_service(WholeOutput)
            .with_absent_service::<Models>(OF_SESSIONS)
            .with_absent_service::<Plan>(OF_SESSIONS)
            .with_absent_service::<ToolFinder>(
                "only a session that searches its tools has it; `search` searches them",
            );
        for warning in host::warnings(&context, Some(&entry)) {
            notice::warning(&warning);
        }
        let _traces = host::start_traces(&settings);
        tools::execute(&context, entry.name().as_str(), arguments)
            .await
            .map_err(|error| {
                match Refusal::from_error(&error, &touched) {
                    Some(refusal) => {
                        let rules: Vec<_> = settings.rules().collect();
                        // The person who types a call consents to it, so a grant suffices.
                        let hints = refusal::hints(&[refusal], &rules, |needed| {
                            format!("to allow it, add {}", ungranted::flags(needed, |_| GRANT))
                        });
                        Error::Refused {
                            error: Box::new(error),
                            hints,
                        }
                    }
                    None => error.into(),
                }
            })
    }

    fn print(&self, result: &ToolResult) -> Result<Exit, Error> {
        if self.json {
            output::json(result)?;
        } else if result.is_error {
            notice::error(&output::result_text(result)?);
        } else {
            output::result(result)?;
        }
        if let Some(file) = &self.output_file {
            output_file::save(result, file)?;
        }
        Ok(Exit::Failed.when(result.is_error))
    }
}
