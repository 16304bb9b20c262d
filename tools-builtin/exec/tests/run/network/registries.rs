//! Package managers fetch from stand-ins of their registries, by HTTPS through the proxy.

use std::fs;
use std::path::Path;
use std::process::Command;

use libtest_mimic::Trial;
use serde_json::Value;
use tools_testkit::TempWorkspace;
use tools_testkit::http::{TestAuthority, TestServer};

use super::setup::{host, names, runtime, sh, trial};
use super::world::PYTHON;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial(
            "cargo_fetches_with_clauses_for_its_registry",
            &["rustc", PYTHON],
            || {
                let workspace = packages();
                toolchain(&workspace);
                let (server, authority) = registry(&workspace);
                let options =
                    || names(["index.test", "crates.test"].map(|name| (name, server.address())));
                let script = "export PATH=$PWD/toolchain/bin:$PATH CARGO_HOME=$PWD/home CARGO_HTTP_CAINFO=$PWD/ca.pem
export CARGO_REGISTRIES_STANDIN_INDEX=sparse+https://index.test/
cargo fetch && ls home/registry/src/*/";
                workspace.write("ca.pem", &authority);
                let index = host(&workspace, options(), &["net:*:index.test"]);
                let answer = sh(&index, script);
                assert!(
                    answer.contains("ask for net:read:crates.test and net:write:crates.test"),
                    "{answer}"
                );
                let answer = sh(
                    &host(
                        &workspace,
                        options(),
                        &["net:*:index.test", "net:*:crates.test"],
                    ),
                    script,
                );
                assert!(
                    answer.starts_with("[exit code 0,") && answer.contains("probe-dep-1.0.0"),
                    "{answer}"
                );
            },
        ),
        trial(
            "npm_ci_works_with_a_clause_for_its_registry",
            &["/usr/bin/npm", PYTHON],
            || {
                let workspace = packages();
                let (server, authority) = registry(&workspace);
                let options = names([("npm.test", server.address())]);
                workspace.write("ca.pem", &authority);
                let script = "export npm_config_cafile=$PWD/ca.pem npm_config_fetch_retries=0
npm ci --no-audit --no-fund --no-update-notifier --registry https://npm.test/ && cat node_modules/probe-dep/index.js";
                let answer = sh(&host(&workspace, options, &["net:*:npm.test"]), script);
                assert!(
                    answer.starts_with("[exit code 0,") && answer.contains("module.exports = 7"),
                    "{answer}"
                );
            },
        ),
        trial(
            "pip_installs_with_clauses_for_its_registry",
            &["/usr/lib/python3/dist-packages/pip", PYTHON],
            || {
                let workspace = packages();
                let (server, authority) = registry(&workspace);
                let options =
                    names(["pypi.test", "files.test"].map(|name| (name, server.address())));
                workspace.write("ca.pem", &authority);
                let script = "python3 -m pip install --disable-pip-version-check --no-cache-dir --cert ca.pem \
--index-url https://pypi.test/simple/ --target lib probe-dep && cat lib/probe_dep.py";
                let answer = sh(
                    &host(
                        &workspace,
                        options,
                        &["net:*:pypi.test", "net:*:files.test"],
                    ),
                    script,
                );
                assert!(
                    answer.starts_with("[exit code 0,") && answer.contains("VALUE = 7"),
                    "{answer}"
                );
            },
        ),
    ]
}

/// Returns a workspace with a project of each kind, and packages that it depends on.
fn packages() -> TempWorkspace {
    let workspace = TempWorkspace::new();
    let ended = Command::new(PYTHON)
        .args(["-I", "-c", include_str!("packages.py")])
        .current_dir(workspace.path())
        .output()
        .unwrap();
    assert!(
        ended.status.success(),
        "{}",
        String::from_utf8_lossy(&ended.stderr)
    );
    workspace
}

/// Starts the registries, and returns the certificate of their authority. The file `pages.json` has the pages of each host.
fn registry(workspace: &TempWorkspace) -> (TestServer, String) {
    let pages: Value = serde_json::from_str(&workspace.read("pages.json")).unwrap();
    let (authority, root) = (TestAuthority::new(), workspace.path().to_owned());
    let hosts = [
        "index.test",
        "crates.test",
        "npm.test",
        "pypi.test",
        "files.test",
    ];
    let server = TestServer::start_tls(&authority, &hosts, move |request| {
        let page = format!(
            "{}{}",
            request.header("host").unwrap_or_default(),
            request.path()
        );
        match pages[&page].as_str() {
            Some(file) => {
                let kind = if file.ends_with(".html") {
                    "text/html"
                } else {
                    "application/octet-stream"
                };
                TestServer::ok(kind, fs::read(root.join(file)).unwrap())
            }
            None => TestServer::head("404 Not Found", &[]),
        }
    });
    (runtime().block_on(server), authority.pem())
}

/// Puts cargo and the compiler without its libraries below the workspace.
fn toolchain(workspace: &TempWorkspace) {
    let sysroot = Command::new("rustc")
        .args(["--print", "sysroot"])
        .output()
        .unwrap();
    let sysroot = Path::new(std::str::from_utf8(&sysroot.stdout).unwrap().trim())
        .canonicalize()
        .unwrap();
    let libraries = fs::read_dir(sysroot.join("lib"))
        .unwrap()
        .flatten()
        .map(|entry| entry.path());
    let files = libraries
        .filter(|path| path.is_file())
        .chain(["bin/cargo", "bin/rustc"].map(|name| sysroot.join(name)));
    for file in files {
        let copy = workspace
            .join("toolchain")
            .join(file.strip_prefix(&sysroot).unwrap());
        fs::create_dir_all(copy.parent().unwrap()).unwrap();
        if fs::hard_link(&file, &copy).is_err() {
            fs::copy(&file, &copy).unwrap();
        }
    }
}
