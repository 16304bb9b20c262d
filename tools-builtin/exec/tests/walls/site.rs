//! Folders inside and outside the walls, and a process of the same user outside.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::net::TcpStream;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use tempfile::TempDir;
use tools_exec::walls::{Confined, Limits, Walls};

use crate::case::Case;

/// Only files, processes and sockets outside the walls have this text.
pub(crate) const SECRET: &str = "SECRET-outside-the-walls";
pub(crate) const PYTHON: &str = "/usr/bin/python3";
/// Imports and names that every probe uses.
const PRELUDE: &str = include_str!("prelude.py");

pub(crate) struct Site {
    folder: TempDir,
    temporary: TempDir,
    bystander: Option<Child>,
    told: Vec<(String, String)>,
}

impl Site {
    pub(crate) fn new(case: &Case) -> Self {
        let folder = TempDir::with_prefix_in("walls", env!("CARGO_TARGET_TMPDIR")).unwrap();
        let temporary = TempDir::with_prefix_in("toolcrib", "/tmp").unwrap();
        let root = folder.path();
        for name in [
            "granted/sub",
            "granted/guarded/deep",
            "lodge/lair/hidden",
            "readonly",
            "outside/folder",
            "scratch",
        ] {
            fs::create_dir_all(root.join(name)).unwrap();
        }
        for name in [
            "granted/file",
            "granted/guarded/deep/config",
            "readonly/file",
            "outside/file",
        ] {
            fs::write(root.join(name), "before").unwrap();
        }
        for path in [
            root.join("lodge/lair/hidden/state"),
            root.join("outside/secret"),
            temporary.path().join("secret"),
        ] {
            fs::write(path, SECRET).unwrap();
        }
        own(root, case.user);
        own(temporary.path(), case.user);
        Self {
            folder,
            temporary,
            bystander: None,
            told: Vec::new(),
        }
    }

    /// Starts a process of the same user outside the walls.
    pub(crate) fn with_bystander(mut self, case: &Case) -> Self {
        let mut bystander = Command::new(PYTHON);
        bystander
            .args(["-I", "-S", "-c", include_str!("bystander.py"), SECRET])
            .env_clear()
            .env("SECRET", SECRET)
            .current_dir(self.folder.path());
        let mut bystander = case
            .switch_user(&mut bystander)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(bystander.stdout.as_mut().unwrap())
            .lines()
            .map_while(Result::ok)
            .take_while(|line| line != "ready");
        self.told = lines
            .filter_map(|line| {
                line.split_once('=')
                    .map(|(name, value)| (name.to_owned(), value.to_owned()))
            })
            .collect();
        self.told
            .push(("BYSTANDER".into(), bystander.id().to_string()));
        self.bystander = Some(bystander);
        self
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    pub(crate) fn mode(&self, name: &str) -> u32 {
        fs::metadata(self.path(name)).map_or(0, |metadata| metadata.permissions().mode())
    }

    /// The folder for temporary files of everybody, in which this site has one.
    pub(crate) fn temporary(&self) -> &Path {
        self.temporary.path()
    }

    /// Reads a file of `/proc` about the process outside.
    pub(crate) fn bystander(&self, name: &str) -> String {
        let bystander = self.bystander.as_ref().unwrap();
        fs::read_to_string(format!("/proc/{}/{name}", bystander.id())).unwrap_or_default()
    }

    /// Returns true if the process outside still does its work. A killed process stays in `/proc` for some time.
    pub(crate) fn bystander_answers(&self) -> bool {
        let (_, port) = self.told.iter().find(|(name, _)| name == "TCP4").unwrap();
        let mut answer = String::new();
        TcpStream::connect(("127.0.0.1", port.parse().unwrap()))
            .and_then(|mut stream| stream.read_to_string(&mut answer))
            .is_ok_and(|_| answer == SECRET)
    }

    fn env(&self) -> Vec<(String, String)> {
        let mut env = self.told.clone();
        let path = |name: &str| self.path(name).display().to_string();
        env.extend([
            ("SITE".into(), path("")),
            ("GRANTED".into(), path("granted")),
            ("READONLY".into(), path("readonly")),
            ("OUTSIDE".into(), path("outside")),
            (
                "TEMPORARY".into(),
                self.temporary.path().display().to_string(),
            ),
        ]);
        env
    }

    pub(crate) fn walls(&self) -> Walls {
        Walls {
            read: vec![self.path("readonly")],
            write: vec![self.path("granted"), self.path("lodge")],
            protected: vec![self.path("granted/guarded/deep/config")],
            hidden: vec![self.path("lodge/lair/hidden")],
            limits: Limits {
                memory: Some(600 << 20),
                file_size: Some(8 << 20),
                processes: Some(64),
                cpu_seconds: Some(1),
                open_files: Some(256),
                disk: None,
            },
            ..Walls::default()
        }
    }

    /// A launch of a program in the granted folder.
    pub(crate) fn launch(&self, case: &Case, program: &str, args: &[&str]) -> Confined {
        let walls = Walls {
            network: case.network,
            ..self.walls()
        };
        Confined {
            program: program.into(),
            args: args.iter().map(|arg| (*arg).to_owned()).collect(),
            env: self.env(),
            cwd: self.path("granted"),
            walls,
            layers: case.layers.clone(),
            terminal: false,
        }
    }

    /// Runs a Python script behind the walls.
    pub(crate) fn confined(&self, case: &Case, script: &str, inherits: bool) -> Output {
        let command = self
            .launch(
                case,
                PYTHON,
                &["-I", "-S", "-c", &format!("{PRELUDE}{script}")],
            )
            .command()
            .unwrap();
        let name = if case.alone {
            "toolcrib-walls"
        } else {
            command.get_program().to_str().unwrap()
        };
        self.run(
            case,
            command.get_program().to_str().unwrap(),
            name,
            &command,
            inherits,
        )
    }

    /// Runs the same script without walls.
    pub(crate) fn unconfined(&self, case: &Case, script: &str, inherits: bool) -> Output {
        let mut command = Command::new(PYTHON);
        command
            .args(["-I", "-S", "-c", &format!("{PRELUDE}{script}")])
            .envs(self.env())
            .current_dir(self.path("granted"));
        self.run(case, PYTHON, PYTHON, &command, inherits)
    }

    /// Runs `command`, with the secret file open as descriptor 9 if the probe `inherits` it.
    fn run(
        &self,
        case: &Case,
        program: &str,
        name: &str,
        command: &Command,
        inherits: bool,
    ) -> Output {
        let opening = if inherits {
            "exec 9<\"$OPEN_FILE\"; "
        } else {
            ""
        };
        let mut shell = Command::new("/bin/bash");
        shell
            .args([
                "-c",
                &format!("{opening}exec -a \"$0\" \"$@\""),
                name,
                program,
            ])
            .args(command.get_args());
        shell.env_clear().envs(
            command
                .get_envs()
                .filter_map(|(key, value)| Some((key, value?))),
        );
        shell.env("OPEN_FILE", self.path("outside/secret"));
        shell
            .current_dir(command.get_current_dir().unwrap())
            .stdin(Stdio::null());
        case.switch_user(&mut shell).output().unwrap()
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        if let Some(mut bystander) = self.bystander.take() {
            let _ = bystander.kill();
            let _ = bystander.wait();
        }
    }
}

/// Gives a tree to a user.
fn own(path: &Path, user: u32) {
    if rustix::process::getuid().is_root() {
        chown(path, Some(user), Some(user)).unwrap();
    }
    if path.is_dir() {
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
        fs::read_dir(path)
            .unwrap()
            .flatten()
            .for_each(|entry| own(&entry.path(), user));
    }
}
