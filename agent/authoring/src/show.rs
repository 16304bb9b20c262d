//! `show`

mod derived;

use std::time::Duration;

use agent::{pairs_from_arguments, parameters};
use anstyle::Style;
use host::style::{FAINT, STRONG, paint};
use host::table::Table;
use host::{
    Argument, Arguments, Command, CommandContext, CommandError, CommandGroup, Exit, ValueForm,
    describe_size, duration, fit, program, shell,
};
use serde_json::Value;
use tools::protocol::canonical_json;
use tools::visible::{harmless, visible};
use tools::{Entry, Limits, Services, Tool, join};

pub(crate) const SHOW: Command = Command {
    about: "Show one tool: parameters, effects, permissions, services, limits and source",
    group: CommandGroup::MakeTools,
    rank: 30,
    examples: "show fs.read              # Read what a tool takes and what it may touch
               show fs.read --json       # Print its definition
               show mcp:files/read_file  # Show a tool of an MCP server",
    arguments: &[
        Argument::value::<String>(ValueForm::Required, "name", "NAME", "The tool's name"),
        Argument::Root,
        Argument::Settings,
        Argument::flag(
            "json",
            "Print the canonical definition as one JSON document",
        ),
    ],
    run: Some(|arguments, cx| Box::pin(show(arguments, cx))),
    ..Command::new("show")
};

async fn show(arguments: &Arguments, cx: &dyn CommandContext) -> Result<Exit, CommandError> {
    let name: String = arguments.value("name")?.unwrap_or_default();
    let found = cx.find_tool(&name).await?;
    if arguments.is_given("json") {
        cx.write_json(found.entry.tool())?;
    } else {
        cx.write_page(&page(&found.entry, &found.services, cx.width()))?;
    }
    Ok(Exit::Success)
}

fn page(entry: &Entry, services: &Services, width: usize) -> String {
    let tool = entry.tool();
    let title = tool.title.as_deref();
    let title = title.map(|title| format!("  {}", visible(title)));
    let mut page = format!(
        "{}{}\n{}\n",
        paint(STRONG, &tool.name),
        title.unwrap_or_default(),
        fit::paragraphs(&harmless(tool.description.trim()), width)
    );
    page += &heading("Parameters");
    page += &parameter_table(&tool.parameters, width);
    page += &heading("Facts");
    page += &facts(entry, services).wrap(width);
    page += &heading("Derived from the effects");
    page += &derived::derive_table(tool).wrap(width);
    if !tool.examples.is_empty() {
        page += &heading("Examples");
        for example in &tool.examples {
            page += &format!(
                "  {}\n",
                wrap_command(&command(tool, &example.arguments), width.saturating_sub(2))
            );
            if let Some(result) = &example.result {
                for line in fit::wrap_text(&visible(&result.to_string()), width.saturating_sub(4)) {
                    page += &format!("    {}\n", paint(FAINT, line));
                }
            }
        }
    }
    page
}

fn heading(text: &str) -> String {
    format!("\n{}\n", paint(STRONG, text))
}

fn facts(entry: &Entry, services: &Services) -> Table<2> {
    let tool = entry.tool();
    let mut table = Table::new([FAINT, Style::new()], 2);
    let mut fact =
        |name: &str, text: &str| table.push([name.to_owned(), visible(text).into_owned()]);
    if !tool.was.is_empty() {
        fact("was", &join(&tool.was, ", "));
    }
    fact("effects", &tool.effects.to_string());
    fact("needs", &needs(entry, services));
    fact("limits", &limits(&tool.limits));
    if tool.output.is_some() {
        fact("result", "structured; --json shows its schema");
    }
    if tool.audit {
        fact("audit", "every call is recorded");
    }
    if !tool.tags.is_empty() {
        fact("tags", &tool.tags.join(", "));
    }
    fact("source", &entry.source().to_string());
    fact("digest", &entry.digest().to_string());
    table
}

fn needs(entry: &Entry, services: &Services) -> String {
    let need = |need: &tools::context::Need| {
        let is_met = services.unmet(std::slice::from_ref(need)).is_empty();
        let state = match services.absence(need) {
            None if is_met => "met",
            None => "not met here",
            Some(_) => "needs a setting",
        };
        format!("{} ({state})", need.type_name())
    };
    let needs: Vec<String> = entry.needs().iter().map(need).collect();
    if needs.is_empty() {
        "nothing".to_owned()
    } else {
        needs.join(", ")
    }
}

fn limits(limits: &Limits) -> String {
    let mut parts = Vec::new();
    parts.extend(limits.timeout_ms.map(|limit| time(limit) + " per call"));
    let output = limits.max_output_bytes.map(describe_size);
    parts.extend(output.map(|limit| limit + " of output"));
    parts.extend(limits.max_retries.map(|limit| format!("{limit} retries")));
    let rate = limits.rate.as_ref();
    parts.extend(rate.map(|rate| format!("{} calls in {}", rate.calls, time(rate.per_ms))));
    let at_once = limits.max_concurrency;
    parts.extend(at_once.map(|limit| format!("{limit} calls at once")));
    parts.extend(limits.delegates.then(|| "delegates".to_owned()));
    if parts.is_empty() {
        "defaults".to_owned()
    } else {
        parts.join(", ")
    }
}

fn time(millis: u64) -> String {
    duration::format(Duration::from_millis(millis))
}

/// Returns the words of an example's command line: pairs if they produce the same arguments, otherwise JSON.
fn command(tool: &Tool, arguments: &Value) -> Vec<String> {
    let start = format!("{} call {}", program::name(), shell::quote(&tool.name));
    // A key with a dash in front would be an option of this program.
    let pairs = pairs_from_arguments(&tool.parameters, arguments)
        .filter(|pairs| pairs.iter().all(|(key, _)| !key.starts_with('-')));
    let arguments = match pairs {
        Some(pairs) => pairs
            .iter()
            .map(|(key, value)| shell::quote(&format!("{key}={value}")))
            .collect(),
        None => vec![format!(
            "--args {}",
            shell::quote(&canonical_json(arguments))
        )],
    };
    [vec![start], arguments].concat()
}

/// Joins the words of a command line. A line that would exceed the width is continued after a backslash.
fn wrap_command(words: &[String], width: usize) -> String {
    let mut command = String::new();
    let mut used = 0;
    for word in words.iter().map(|word| visible(word)) {
        let columns = fit::columns(&word);
        if used > 0 && used + 1 + columns + 2 > width {
            command += " \\\n      ";
            used = 4;
        } else if used > 0 {
            command.push(' ');
            used += 1;
        }
        command += &word;
        used += columns;
    }
    command
}

/// Returns a table of name, type, presence and description; required parameters come first. Patterns follow below.
fn parameter_table(schema: &Value, width: usize) -> String {
    let mut table = Table::new([STRONG, Style::new(), FAINT, Style::new()], 2);
    let parameters = parameters(schema);
    if parameters.is_empty() {
        return "  none\n".to_owned();
    }
    let mut patterns = String::new();
    for parameter in parameters {
        if let Some(pattern) = parameter.pattern {
            patterns += &format!("  {} matches\n", parameter.name);
            // A pattern may be one long word.
            let rows = fit::rows(&pattern, 4, width.saturating_sub(4).max(1)).into_iter();
            patterns.extend(rows.map(|row| format!("    {}\n", paint(FAINT, row))));
        }
        let presence = parameter.presence.to_string();
        table.push([
            parameter.name,
            parameter.values,
            presence,
            parameter.description,
        ]);
    }
    table.wrap(width) + &patterns
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_example_is_a_command_that_can_be_pasted() {
        let schema = json!({"type": "object", "properties": {"path": {"type": "string"}, "n": {"type": "integer"}}, "required": ["path"]});
        let tool = Tool::new("fs.read", "Reads.", schema).unwrap();
        let line = |arguments| wrap_command(&command(&tool, &arguments), 80);
        assert_eq!(
            line(json!({"path": "a b"})),
            "toolcrib call fs.read 'path=a b'"
        );
        assert_eq!(
            line(json!({"n": 3, "path": "b"})),
            "toolcrib call fs.read path=b n=3"
        );
        assert_eq!(
            line(json!({"x": "3"})),
            r#"toolcrib call fs.read --args '{"x":"3"}'"#
        );
        assert_eq!(line(json!({})), "toolcrib call fs.read");
    }

    #[test]
    fn a_long_command_continues_after_a_backslash() {
        let words = ["toolcrib call x", "a=1", "b=2", "'c=3 4'"].map(str::to_owned);
        assert_eq!(
            wrap_command(&words, 23),
            "toolcrib call x a=1 \\\n      b=2 'c=3 4'"
        );
        let joined = wrap_command(&words, 10).replace("\\\n", " ");
        assert_eq!(shlex::split(&joined), shlex::split(&words.join(" ")));
    }

    #[test]
    fn former_names_are_shown() {
        let tool = Tool::new("fs.read", "Reads.", json!({"type": "object"})).unwrap();
        let tool = tool.with_was(["fs.cat", "cat"].map(|name| name.parse().unwrap()));
        let handler = async |_: tools::ToolContext, _: Value| Ok::<_, String>(());
        let entry = Entry::new(tool, handler, tools::source!()).unwrap();
        let page = facts(&entry, &Services::new()).wrap(80);
        assert!(
            anstream::adapter::strip_str(&page)
                .to_string()
                .contains("was      fs.cat, cat\n"),
            "{page}"
        );
    }

    #[test]
    fn limits_are_shown_in_words() {
        assert_eq!(limits(&Limits::default()), "defaults");
        let some = Limits {
            timeout_ms: Some(1500),
            max_output_bytes: Some(2000),
            max_retries: Some(2),
            ..Limits::default()
        };
        assert_eq!(limits(&some), "1.5s per call, 2 kB of output, 2 retries");
    }

    #[test]
    fn required_parameters_come_first_and_defaults_are_shown() {
        let schema = json!({
            "properties": {"a": {"type": "integer", "default": 1}, "b": {"type": "string", "description": "The\nname."}, "c": {}},
            "required": ["b"],
        });
        let styled = parameter_table(&schema, 80);
        let plain = anstream::adapter::strip_str(&styled).to_string();
        assert_eq!(
            plain,
            "  b  a string    required   The name.\n  a  an integer  default 1  \n  c  anything    optional   \n"
        );
        assert_eq!(parameter_table(&json!({"type": "object"}), 80), "  none\n");
    }
}
