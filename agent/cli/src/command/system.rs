//! `toolcrib system`

use clap::Args;
use serde_json::json;
use terminal::stdout;

use crate::error::Error;
use crate::output;
use crate::session::SessionOptions;
use host::exit::Exit;

/// Print the system text of a session with these options
#[derive(Args, Debug)]
pub(super) struct SystemArgs {
    #[command(flatten)]
    options: SessionOptions,

    /// Print the sections as JSON, one document per line
    #[arg(long)]
    json: bool,
}

impl SystemArgs {
    pub(super) async fn run(self) -> Result<Exit, Error> {
        let session = self.options.open_unrecorded().await?;
        if self.json {
            let sections = session.system().sections(session.tools());
            sections
                .iter()
                .try_for_each(|(name, text)| output::json(&json!({"name": name, "text": text})))?;
        } else {
            stdout::write_untrusted(&session.system().render(session.tools()))?;
        }
        Ok(Exit::Success)
    }
}
