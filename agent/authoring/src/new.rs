//! `new`

use std::fs::{create_dir, create_dir_all, write};
use std::io;
use std::path::{Path, PathBuf};

use host::{
    Argument, Arguments, Command, CommandContext, CommandGroup, Exit, ValueForm, ValueKind, program,
};

use crate::error::AuthoringError;

pub(crate) const NEW: Command = Command {
    about: "Create a workspace with a crate of tools, a program that has them, and a test",
    group: CommandGroup::MakeTools,
    rank: 10,
    examples: "new my-tools                     # Create a workspace in the new folder my-tools
               new my-tools --path ../toolcrib  # Use this checkout of Toolcrib
               new tools/weather                # Create the folder `weather` below `tools`",
    arguments: &[
        Argument::Value {
            name: "name",
            value: "NAME",
            form: ValueForm::Required,
            kind: ValueKind::Text(check_name),
            help: "The name: a new directory, the program, and the beginning of the tool crate's name",
        },
        Argument::Value {
            name: "path",
            value: "DIR",
            form: ValueForm::Named,
            kind: ValueKind::Path,
            help: "Depend on this checkout of Toolcrib. Without it, the workspace builds only once the packages are published",
        },
    ],
    run: Some(|arguments, cx| Box::pin(async { Ok(create(arguments, cx)?) })),
    ..Command::new("new")
};

/// The generated files. `@name@`, `@library@` and `@variable@` stand for the name as a package, a library and the beginning of
/// environment variables.
const FILES: [(&str, &str); 8] = [
    (".gitignore", "/target\n"),
    ("Cargo.toml", include_str!("new/workspace.toml")),
    ("README.md", include_str!("new/readme.md")),
    ("program/Cargo.toml", include_str!("new/program.toml")),
    ("program/src/main.rs", include_str!("new/program.rs")),
    ("tools/Cargo.toml", include_str!("new/tools.toml")),
    ("tools/src/lib.rs", include_str!("new/tools.rs")),
    ("tools/tests/tools.rs", include_str!("new/test.rs")),
];

/// The packages that the generated workspace depends on, with their folders in a checkout.
const PACKAGES: [(&str, &str); 4] = [
    ("toolcrib", "agent/cli"),
    ("toolcrib-fs", "tools-builtin/fs"),
    ("toolcrib-testkit", "tools/testkit"),
    ("toolcrib-tools", "tools"),
];

fn create(arguments: &Arguments, cx: &dyn CommandContext) -> Result<Exit, AuthoringError> {
    let name: String = arguments.value("name")?.unwrap_or_default();
    let checkout = arguments.path("path").map(checkout).transpose()?;
    let folder = Path::new(&name);
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source: io::Error| AuthoringError::New { path, source }
    };
    create_dir(folder).map_err(failed(folder))?;
    for (file, template) in FILES {
        let path = folder.join(file);
        let parent = path.parent().unwrap_or(folder);
        create_dir_all(parent).map_err(failed(parent))?;
        let text = fill(template, &name, checkout.as_deref());
        write(&path, text).map_err(failed(&path))?;
    }
    let program = program::name();
    cx.write_page(&match checkout {
        Some(_) => format!("created {name}; continue with `cd {name} && cargo run -- list`\n"),
        None => format!(
            "created {name}, which does not build yet, because the packages of Toolcrib are not published; remove it, and run \
             `{program} new {name} --path DIR` with the directory of a checkout\n"
        ),
    })?;
    Ok(Exit::Success)
}

fn fill(template: &str, name: &str, checkout: Option<&Path>) -> String {
    let library = name.replace('-', "_");
    let text = template
        .replace("@name@", name)
        .replace("@library@", &library)
        .replace("@variable@", &library.to_ascii_uppercase());
    PACKAGES.iter().fold(text, |text, (package, folder)| {
        let dependency = match checkout {
            // Debug output is a valid TOML string for a path without control characters.
            Some(checkout) => {
                format!("path = {:?}", checkout.join(folder).display().to_string())
            }
            None => format!("version = {:?}", env!("CARGO_PKG_VERSION")),
        };
        text.replace(&format!("@{package}@"), &dependency)
    })
}

/// Returns the absolute path of a checkout.
fn checkout(path: PathBuf) -> Result<PathBuf, AuthoringError> {
    let checkout = path
        .canonicalize()
        .ok()
        .filter(|path| path.join("agent/cli/Cargo.toml").is_file());
    checkout.ok_or(AuthoringError::NoCheckout(path))
}

/// Checks a name that is a package, a library and a program.
fn check_name(name: &str) -> Result<(), String> {
    let is_name = name.starts_with(|c: char| c.is_ascii_lowercase())
        && name
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    if is_name && !name.ends_with('-') && !["toolcrib", "test", "tools"].contains(&name) {
        Ok(())
    } else {
        Err("use lower-case letters, digits and `-`, beginning with a letter".to_owned())
    }
}
