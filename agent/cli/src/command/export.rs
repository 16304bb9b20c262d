//! `toolcrib export`

use agent::{Session, WireOptions};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use tools::Host;
use tools::protocol::wire::{Format, Strictness};

use crate::config::{ConfigOptions, ProgramKeys, ProgramSettings as _, Setting, Values};
use crate::error::Error;
use crate::root::RootOption;
use crate::{notice, output};
use host::exit::Exit;

/// Print the definitions of the tools as a session sends them to the public service of a format, as one JSON array
///
/// Tools that a session would skip are left out, with a warning.
#[derive(Args, Debug)]
pub(super) struct ExportArgs {
    /// The format of the service
    #[arg(long, value_name = "FORMAT", value_parser = format())]
    format: Format,

    /// Select tools by name, such as 'fs.*', instead of the selection of the settings; '!fs.write' excludes; repeatable
    #[arg(long, value_name = "GLOB")]
    select: Vec<String>,

    /// Print strict definitions of the tools that have one
    #[arg(long)]
    strict: bool,

    /// Add the examples, in the field of the format for them or else in the descriptions; the default is that of a session at the
    /// public service: true for anthropic alone
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true")]
    examples: Option<bool>,

    #[command(flatten)]
    root: RootOption,

    #[command(flatten)]
    config: ConfigOptions,
}

impl ExportArgs {
    pub(super) fn run(self) -> Result<Exit, Error> {
        let mut flags = Values::default();
        if !self.select.is_empty() {
            flags.of_mut::<ProgramKeys>().select =
                Some(Setting::from_flag("--select", self.select));
        }
        let settings = self.config.settings(flags)?;
        let selection = settings.selection()?;
        let entries = tools::list();
        notice::warn_unmatched(&selection, &entries);
        let strictness = if self.strict {
            Strictness::Strict
        } else {
            Strictness::Relaxed
        };
        // These services say that a session adds the tools of a search itself, so that no warning names them.
        let services = self.root.services(&settings)?;
        let session = Session::new(entries, selection, Host::new().with_services(services));
        let examples = self.examples.unwrap_or(self.format.takes_examples());
        let sent = session.tools().wire_as(WireOptions {
            strictness,
            examples,
            ..WireOptions::new(self.format)
        });
        for skipped in sent.list_skipped() {
            notice::warning(&format!("{skipped}; requests leave the tool out"));
        }
        output::json_as_sent(sent.definitions())?;
        Ok(Exit::Success)
    }
}

/// Returns the parser of a format's name, which lists all names in `--help`.
fn format() -> impl TypedValueParser<Value = Format> {
    PossibleValuesParser::new(Format::ALL.map(Format::name)).try_map(|name| {
        let named = Format::ALL.into_iter().find(|it| it.name() == name);
        named.ok_or("no format has this name")
    })
}
