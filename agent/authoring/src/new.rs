//! `new`

use std::fs::{copy, create_dir, create_dir_all, write};
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
    examples: "new my-tools                            # Create a workspace in the new folder my-tools
               new my-tools --path ../toolcrib         # Use this checkout of Toolcrib
               new my-agent --lib --path ../toolcrib   # Create a package with own tools in an own agent",
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
        Argument::flag(
            "lib",
            "Create one package instead: own tools in an own agent, without the commands of this program",
        ),
    ],
    run: Some(|arguments, cx| Box::pin(async { Ok(create(arguments, cx)?) })),
    ..Command::new("new")
};

const LOCK: &str = "Cargo.lock";

/// A file below the new directory with its template. `@name@`, `@library@` and `@variable@` stand for the name as a package, a library and
/// the beginning of environment variables.
type Template = (&'static str, &'static str);

const WORKSPACE: &[Template] = &[
    (".gitignore", "/target\n"),
    ("Cargo.toml", include_str!("new/workspace.toml")),
    ("README.md", include_str!("new/readme.md")),
    ("program/Cargo.toml", include_str!("new/program.toml")),
    ("program/src/main.rs", include_str!("new/program.rs")),
    ("tools/Cargo.toml", include_str!("new/tools.toml")),
    ("tools/src/count.rs", include_str!("new/count.rs")),
    ("tools/src/lib.rs", include_str!("new/tools.rs")),
    ("tools/tests/tools.rs", include_str!("new/test.rs")),
];

/// The files of `--lib`.
const PACKAGE: &[Template] = &[
    (".gitignore", "/target\n"),
    ("Cargo.toml", include_str!("new/lib/package.toml")),
    ("README.md", include_str!("new/lib/readme.md")),
    ("src/count.rs", include_str!("new/count.rs")),
    ("src/lib.rs", include_str!("new/lib/lib.rs")),
    ("src/main.rs", include_str!("new/lib/main.rs")),
    ("tests/tools.rs", include_str!("new/lib/test.rs")),
];

/// The packages that generated files depend on, with their folders in a checkout.
const PACKAGES: [(&str, &str); 6] = [
    ("toolcrib", "agent/cli"),
    ("toolcrib-agent", "agent"),
    ("toolcrib-fs", "tools-builtin/fs"),
    ("toolcrib-models", "agent/models"),
    ("toolcrib-testkit", "tools/testkit"),
    ("toolcrib-tools", "tools"),
];

/// Names that a dependency or its library has.
const TAKEN: [&str; 7] = [
    "agent", "schemars", "serde", "test", "tokio", "toolcrib", "tools",
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
    let is_package = arguments.is_given("lib");
    for (file, template) in if is_package { PACKAGE } else { WORKSPACE } {
        let path = folder.join(file);
        let parent = path.parent().unwrap_or(folder);
        create_dir_all(parent).map_err(failed(parent))?;
        let text = fill(template, &name, checkout.as_deref());
        write(&path, text).map_err(failed(&path))?;
    }
    if let Some(checkout) = &checkout {
        // The first build takes the versions that were tested. It leaves out what the new packages do not need, and adds these.
        let lock = checkout.join(LOCK);
        copy(&lock, folder.join(LOCK)).map_err(failed(&lock))?;
    }
    let program = program::name();
    let (flag, first) = if is_package {
        (" --lib", "cargo run")
    } else {
        ("", "cargo run -- list")
    };
    cx.write_page(&match checkout {
        Some(_) => format!("created {name}; continue with `cd {name} && {first}`\n"),
        None => format!(
            "created {name}, which does not build yet, because the packages of Toolcrib are not published; remove it, and run \
             `{program} new {name}{flag} --path DIR` with the directory of a checkout\n"
        ),
    })?;
    Ok(Exit::Success)
}

fn fill(template: &str, name: &str, checkout: Option<&Path>) -> String {
    let library = name.replace('-', "_");
    let text = template
        .replace("@profile@", include_str!("new/profile.toml").trim_end())
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
    if TAKEN.contains(&name) {
        Err("a package that the new one needs has this name; choose another".to_owned())
    } else if is_name && !name.ends_with('-') {
        Ok(())
    } else {
        Err("use lower-case letters, digits and `-`, beginning with a letter".to_owned())
    }
}
