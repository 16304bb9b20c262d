//! The groups of the commands, their order and their examples, for the help.

use std::collections::BTreeMap;

use clap::Command;
use host::CommandGroup;
use host::table::Table;
use terminal::stdout;
use tools::join;
use tools::visible::visible;

use crate::notice::{STRONG, paint};
use crate::program;

/// The program's own commands. Their arguments are declared in their modules.
pub(super) const OWN: [host::Command; 14] = [
    own(
        CommandGroup::Use,
        10,
        "chat",
        "chat                        # Talk with the model of your key or your settings
         chat --models ollama/qwen3  # Talk with a local model
         chat --resume               # Go on with the newest session of this workspace",
    ),
    own(
        CommandGroup::Use,
        20,
        "run",
        "run 'What is in here?'                       # Ask once, and print the answer
         run 'Tidy up src' --grant 'fs:write:src/**'  # Let it write there without a question
         run --resume 1nk2 'And the tests?'           # Go on with a session, whose ID begins so",
    ),
    own(
        CommandGroup::Connect,
        10,
        "providers",
        "providers          # See which models you can use
         providers --check  # Send one small request to each of them
         providers --json   # Print them for a script",
    ),
    own(
        CommandGroup::Connect,
        20,
        "config",
        "config                   # See each setting and where it comes from
         config --profile review  # See the effect of a profile
         config --help            # Read about all keys of the settings file",
    ),
    own(
        CommandGroup::Connect,
        50,
        "trust",
        "trust                  # Read and approve what this project brings
         trust --root ../other  # Read those of another project
         trust --revoke         # Take all approvals of this project back",
    ),
    own(
        CommandGroup::Connect,
        55,
        "always",
        "always --remove 'exec:write:cp a b'           # Take a permission back
         always --remove 'fs:write:src/**' --root ..  # Take one of another project back
         always --help                                # Read how long a permission holds",
    ),
    own(
        CommandGroup::Connect,
        70,
        "doctor",
        "doctor              # See problems, and the command that fixes each
         doctor --json       # Print the problems for a script
         doctor --no-config  # Leave out the settings files",
    ),
    own(
        CommandGroup::Connect,
        80,
        "completions",
        "completions bash  # Print the completions for bash; --help says where they belong
         completions zsh   # Print those for zsh
         completions fish  # Print those for fish",
    ),
    own(
        CommandGroup::MakeTools,
        20,
        "list",
        "list                  # List all tools
         list --select 'fs.*'  # List the file tools
         list --long           # Add what each may touch, and where it comes from",
    ),
    own(
        CommandGroup::MakeTools,
        40,
        "call",
        "call time.now zone=Europe/Berlin                             # Call a tool yourself
         call fs.read --args '{\"path\": \"a.txt\"}'                      # Pass the arguments as JSON
         call fs.write path=a.txt content=x --grant 'fs:write:a.txt'  # Permit a call that writes",
    ),
    own(
        CommandGroup::MakeTools,
        50,
        "why",
        "why fs.write path=a.txt content=x                    # See whether a model may do this
         why fs.read path=/etc/passwd                         # See what refuses a call
         why fs.remove path=a.txt --allow 'fs:destroy:a.txt'  # See the effect of a flag",
    ),
    own(
        CommandGroup::MakeTools,
        60,
        "search",
        "search read a file                      # Find tools as a model does
         search send mail --limit 3              # Print at most three
         search page --grant 'net:read:docs.rs'  # Search with a wider grant",
    ),
    own(
        CommandGroup::MakeTools,
        90,
        "export",
        "export --format openai-chat                # Print the tools in a format of OpenAI
         export --format anthropic --select 'fs.*'  # Print the file tools in that of Anthropic
         export --format gemini --strict            # Print strict definitions",
    ),
    own(
        CommandGroup::MakeTools,
        110,
        "system",
        "system                  # Read the text with which a session begins
         system --select 'fs.*'  # Read that of a session with the file tools alone
         system --json           # Print its sections",
    ),
];

const fn own(
    group: CommandGroup,
    rank: u8,
    name: &'static str,
    examples: &'static str,
) -> host::Command {
    let mut command = host::Command::new(name);
    (command.group, command.rank, command.examples) = (group, rank, examples);
    command
}

/// Returns the records of a name, the first of which decides its place: several families may add to a group of commands.
fn records(name: &str) -> impl Iterator<Item = host::Command> {
    let all = OWN.into_iter().chain(host::commands().copied());
    all.filter(move |record| record.name == name)
}

/// Returns the examples of a command as a part of its help. Empty if it has none.
pub(super) fn examples(name: &str) -> String {
    let program = program::name();
    let lines = records(name).flat_map(|record| record.examples.lines());
    let lines: String = lines
        .map(|line| format!("  {program} {}\n", line.trim_start()))
        .collect();
    if lines.is_empty() {
        return lines;
    }
    format!("{}\n{lines}", paint(STRONG, "Examples:"))
}

/// Gives the command of a program the list of its subcommands in groups. The subcommands are built.
pub(crate) fn with_groups(command: Command) -> Command {
    let mut groups: BTreeMap<_, BTreeMap<_, _>> = BTreeMap::new();
    for below in command
        .get_subcommands()
        .filter(|below| below.get_name() != "help")
    {
        let name = below.get_name();
        let place = records(name)
            .next()
            .map(|record| (record.group, record.rank));
        let (group, rank) = place.unwrap_or((CommandGroup::Others, u8::MAX));
        let about = below
            .get_about()
            .map(|about| visible(&about.to_string()).into_owned());
        groups
            .entry(group)
            .or_default()
            .insert((rank, name), about.unwrap_or_default());
    }
    let groups = groups.into_iter().map(|(group, commands)| {
        let mut table = Table::new([STRONG, anstyle::Style::new()], 2);
        for ((_, name), about) in commands {
            table.push([format!("{name:11}"), about]);
        }
        format!(
            "{}\n{}\n",
            paint(STRONG, format!("{}:", group.heading())),
            table.wrap(stdout::width())
        )
    });
    let groups = join(groups, "");
    command.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{groups}{}\n{{options}}{{after-help}}",
        paint(STRONG, "Options:"),
    ))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::Cli;
    use super::*;

    /// Commands that the tests of a neighbour module declare.
    const STRANGERS: [&str; 2] = ["fan", "help"];

    #[test]
    fn every_command_has_a_group_a_description_and_three_examples_that_parse() {
        let mut command = Cli::command_line();
        command.build();
        let mut places = BTreeSet::new();
        let commands = command.get_subcommands();
        for below in commands.filter(|below| !STRANGERS.contains(&below.get_name())) {
            let name = below.get_name();
            let first = records(name).next().unwrap();
            assert!(first.group < CommandGroup::Others, "{name} has no group");
            assert!(
                places.insert((first.group, first.rank)),
                "{name} has the place of another"
            );
            assert!(
                below
                    .get_about()
                    .is_some_and(|about| !about.to_string().is_empty()),
                "{name}"
            );
            let examples: Vec<_> = records(name)
                .flat_map(|record| record.examples.lines())
                .collect();
            // Without sessions, `audit` has fewer commands.
            let least = if cfg!(feature = "default") || name != "audit" {
                3
            } else {
                1
            };
            assert!(
                examples.len() >= least,
                "{name} has {} examples",
                examples.len()
            );
            for words in examples {
                let (_, meaning) = words.split_once("  # ").unwrap();
                // The meaning is a comment of the shell.
                let line = shlex::split(words).unwrap();
                assert_eq!(line[0], name);
                assert!(!meaning.is_empty() && !meaning.ends_with('.'), "{words}");
                let parsed = Cli::command_line().try_get_matches_from(
                    ["toolcrib"]
                        .into_iter()
                        .chain(line.iter().map(String::as_str)),
                );
                // Help is an early end.
                let is_help = parsed.as_ref().is_err_and(|error| !error.use_stderr());
                assert!(parsed.is_ok() || is_help, "{words}: {parsed:?}");
            }
        }
    }

    #[test]
    fn the_command_of_a_stranger_without_a_group_goes_to_the_last_one() {
        let mut command = Cli::command_line();
        command.build();
        let help = with_groups(command).render_help().to_string();
        let (_, last) = help.split_once("Others:").unwrap();
        assert!(last.contains("  fan"), "{help}");
    }
}
