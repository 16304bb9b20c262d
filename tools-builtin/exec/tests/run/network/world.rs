//! Servers outside of the sandbox, which tell who visits them.

use std::io::{BufRead as _, BufReader, Read as _};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

pub(crate) const PYTHON: &str = "/usr/bin/python3";

pub(crate) struct World {
    server: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    /// The addresses of the servers.
    pub(crate) addresses: Value,
    _folder: TempDir,
}

impl World {
    pub(crate) fn start() -> Self {
        let folder = TempDir::new().unwrap();
        let mut server = Command::new(PYTHON)
            .args([
                "-I",
                "-c",
                include_str!("world.py"),
                folder.path().to_str().unwrap(),
            ])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (stdin, mut stdout) = (
            server.stdin.take().unwrap(),
            BufReader::new(server.stdout.take().unwrap()),
        );
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        Self {
            server,
            stdin,
            stdout,
            addresses: serde_json::from_str(&line).unwrap(),
            _folder: folder,
        }
    }

    pub(crate) fn address(&self, server: &str) -> SocketAddr {
        let port = self.addresses[server].as_u64().unwrap().try_into().unwrap();
        (Ipv4Addr::LOCALHOST, port).into()
    }

    /// Ends the servers and returns the visits that should not have happened.
    pub(crate) fn visits(mut self) -> Vec<String> {
        // Visits before this one are told before it.
        let mut last = TcpStream::connect(self.address("forbidden")).unwrap();
        last.read_to_end(&mut Vec::new()).unwrap();
        drop(last);
        drop(self.stdin);
        let mut told = String::new();
        self.stdout.read_to_string(&mut told).unwrap();
        self.server.wait().unwrap();
        let mut visits: Vec<String> = told.lines().map(str::to_owned).collect();
        let own = visits
            .iter()
            .position(|visit| visit == "VISIT forbidden")
            .unwrap();
        visits.remove(own);
        visits
    }
}
