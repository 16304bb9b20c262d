//! Clauses of scheme `exec` and the words by which programs do more than their name says.

use protocol::{Clause, Target, Words};

fn permits(pattern: &str, command: &str) -> bool {
    let clause: Clause = format!("exec:write:{pattern}").parse().unwrap();
    clause.permits(&format!("exec:write:{command}").parse().unwrap())
}

#[test]
fn everyday_commands_need_no_clause_that_spells_them() {
    let mut faults = Vec::new();
    for command in [
        "git status",
        "git diff --stat",
        "git diff --text",
        "git log -p --oneline -n 5",
        "git log --patch --format=%H -- src",
        "git show HEAD",
        "git commit -m 'a b'",
        "git commit -am x --amend --no-edit",
        "git commit -c HEAD",
        "git add -p .",
        "git add -A config",
        "git push --force-with-lease origin main",
        "git fetch --all --prune",
        "git rebase origin/main",
        "git -C sub log -1",
        "git --no-pager log -c config",
        "git grep -n -e main --or -e x",
        "git config --get user.name",
        "git config user.name",
        "git config --list",
        "git stash push -m x",
        "git checkout -b x",
        "git bisect good",
        "git submodule update --init --recursive",
        "git clone https://a/b c",
        "git branch --list",
        "git worktree add ../x",
        "git remote -v",
        "git blame -L 1,5 a",
        "git cat-file -p HEAD",
        "git archive HEAD",
        "cargo test --workspace -- --nocapture",
        "cargo +nightly test -Z build-std",
        "cargo build --release --target x",
        "cargo clippy --all-targets -- -D warnings",
        "cargo run --example x -- -o",
        "cargo fmt --check",
        "cargo add serde --features derive",
        "cargo doc --no-deps --open",
        "npm test",
        "npm ci --ignore-scripts",
        "npm run build -- --watch",
        "npm install --save-dev x",
        "npm --prefix sub test",
        "pnpm -r build",
        "yarn install --frozen-lockfile",
        "make -j4 test",
        "make -C sub all",
        "make -k check",
        "go test ./... -run X -count=1 -v",
        "go build ./...",
        "go vet ./...",
        "go mod tidy",
        "pytest -x -q -k name tests",
        "pytest --cov=pkg --cov-report=xml -n auto",
        "pip install -e '.[dev]'",
        "pip install -r requirements.txt -q",
        "python3 -m pytest -x tests",
        "python3 -c 'print(1)'",
        "python3 -m unittest discover -s tests -o x",
        "rg -n --pretty -g '*.rs' x",
        "fd -e rs -t f x",
        "find . -name '*.rs' -type f -print",
        "sort -k2,2n -t, -u a",
        "sort -to a",
        "uniq -c",
        "uniq -f 1 a",
        "tree -L 2 -a",
        "tar -tzf a.tgz",
        "tar tf a.tar",
        "sed -n 1,5p a",
        "sed s/a/b/ a",
        "sed -n -e 5p -e 7p a",
        "awk '{print $1}' a",
        "awk -F'|' '$3 > 5 {print $2}' a",
        "jq -r .a.b a.json",
        "curl -fsSL -H 'a: b' https://x",
        "curl -s -X POST -d @a https://x",
        "ls -la",
        "grep -rn -o x .",
        "cat a",
        "echo --output",
        "head -n 5 a",
        "wc -l a",
        "diff -u a b",
        "cp -r a b",
        "mkdir -p a",
        "node script.js",
        "node --test",
        "node -e 1",
        "tsc --noEmit",
        "eslint src --max-warnings 0",
        "prettier --check .",
        "ruff check .",
        "ruff format --diff .",
        "mypy src",
        "black --check .",
        "docker ps -a",
        "docker compose up",
        "kubectl get pods -o yaml",
        "gcc --version",
        "rustc --version",
        "file a",
        "stat a",
        "du -sh a",
        "date +%s",
        "env RUST_LOG=debug cargo test",
        "timeout 60 cargo test",
        "./run.sh a b",
        "mytool --verbose --format json a",
        "ps aux",
        "gh pr view 1",
        "tox -e py312 -- -v",
        "just build",
        "shellcheck a.sh",
        "cmake -B build -DCMAKE_BUILD_TYPE=Release",
        "cmake --build build",
        "ninja -C build",
        "mvn -q test",
        "gradle test",
        "openssl version",
        "unzip -l a.zip",
        "xxd a",
        "base64 -d a",
        "column -t a",
    ] {
        let words: Words = command.parse().unwrap();
        let words: Vec<_> = words.iter().map(ToString::to_string).collect();
        let count = usize::from(words[0] == "env") * 2 + usize::from(words[0] == "timeout") * 2 + 1;
        let pattern = format!("{} **", words[..count].join(" "));
        if !permits(&pattern, command) {
            let clause: Clause = format!("exec:write:{pattern}").parse().unwrap();
            let word = clause.unspelled(&format!("exec:write:{command}").parse().unwrap());
            faults.push(format!("{clause} does not permit {command}: {word:?}"));
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn commands_that_do_more_than_their_program_says_are_not_permitted() {
    let mut faults = Vec::new();
    for (pattern, command) in [
        ("git grep **", "git grep -Osh evil"),
        ("git grep **", "git grep -nOsh evil"),
        ("git grep **", "git grep --open-files=sh evil"),
        ("git grep **", "git grep x -- -Osh"),
        ("git fetch **", "git fetch --upload-pack='sh -c id' ."),
        ("git ls-remote **", "git ls-remote --upload-pa=x ."),
        ("git ls-remote **", "git ls-remote 'ext::sh -c id'"),
        ("git clone **", "git clone ext::sh"),
        ("git clone **", "git clone -u x a b"),
        ("git clone **", "git clone -ccore.fsmonitor=id a"),
        ("git push **", "git push --receive-pack=x . a"),
        ("git **", "git -c core.pager=id log"),
        ("git **", "git -ccore.pager=id log"),
        ("git **", "git --exec-path=. log"),
        ("git **", "git my-alias"),
        ("git **", "git difftool -x id"),
        ("git **", "git --git-dir=x status"),
        ("git **", "git -C x -c alias.y='!id' y"),
        ("git **", "git submodule foreach id"),
        ("git **", "git bisect run id"),
        ("git **", "git rebase -x id HEAD~1"),
        ("git **", "git config core.pager id"),
        ("git config **", "git config core.pager id"),
        (
            "git config --global **",
            "git config --global alias.x '!id'",
        ),
        ("git * **", "git filter-branch id"),
        ("git diff **", "git diff --output=toolcrib.toml a b"),
        (
            "git diff **",
            "git diff --no-index --outp toolcrib.toml a b",
        ),
        ("git log **", "git log --ext-diff"),
        ("git show **", "git show --textconv"),
        ("git archive **", "git archive -o x HEAD"),
        ("git format-patch **", "git format-patch -1 -ox"),
        ("git init **", "git init --template=x"),
        ("rg **", "rg --pre sh x"),
        ("rg **", "rg --pre=sh x"),
        ("rg **", "rg --hostname-bin=x y"),
        ("sort **", "sort --compress-program=x a"),
        ("sort **", "sort a -ob"),
        ("sort **", "sort -uo b a"),
        ("sort **", "sort --out=b a"),
        ("uniq **", "uniq a b"),
        ("uniq **", "uniq -f 1 a b"),
        ("tree **", "tree -o x"),
        ("tree **", "tree -ao x"),
        ("find **", "find . -exec id ';'"),
        ("find . -name *", "find . -name -delete"),
        ("find **", "find . -okdir id ';'"),
        ("find **", "find . -fprintf x y"),
        ("find **", "find . -fls x"),
        (
            "tar **",
            "tar -tf a --checkpoint-action=exec=id --checkpoint=1",
        ),
        ("tar **", "tar tf a -I id"),
        ("tar **", "tar tIf id a"),
        ("tar **", "tar xf a"),
        ("tar **", "tar --use-comp=x -tf a"),
        ("sed **", "sed 1e a"),
        ("sed **", "sed -n 's/a/id/e' b"),
        ("sed **", "sed -f a b"),
        ("sed **", "sed -i s/a/b/ c"),
        ("sed **", "sed -e p -e 'w x' b"),
        ("awk **", "awk 'BEGIN{system(1)}'"),
        ("awk **", "awk -f a"),
        ("awk **", "awk '{print > \"x\"}' a"),
        ("gawk **", "gawk -ifilefuncs 1"),
        ("go test **", "go test -exec sh ./..."),
        ("go test **", "go test --exec=sh ./..."),
        ("go build **", "go build -toolexec=x"),
        ("go vet **", "go vet -vettool=x"),
        ("go build **", "go build -ldflags=-extld=x"),
        ("make **", "make --eval=x"),
        ("make **", "make --ev x"),
        ("make **", "make test SHELL=./x"),
        ("make test **", "make test -f x"),
        ("make **", "make -sfx"),
        ("npm **", "npm test --script-shell=./x"),
        ("npm run **", "npm run x --script-sh ./x"),
        ("npm **", "npm config set script-shell x"),
        ("npm **", "npm exec x"),
        ("cargo **", "cargo test --config x.toml"),
        (
            "cargo test **",
            "cargo test --config=build.rustc-wrapper='\"x\"'",
        ),
        ("cargo rustc **", "cargo rustc -- -C linker=x"),
        ("python3 -m pytest **", "python3 -m pytest -p evil"),
        ("pytest **", "pytest -pevil"),
        ("pytest **", "pytest -c x.ini"),
        ("pytest **", "pytest --rootdir=x"),
        ("timeout 9 git log **", "timeout 9 git log --output=x"),
        ("env A=b git log **", "env A=b git log --output=x"),
        ("env * git log **", "env GIT_PAGER=x git log"),
        ("env * git log **", "env sh git log"),
        ("env ** git log", "env LD_PRELOAD=x git log"),
        ("nice * git log **", "nice sh git log"),
        ("/usr/bin/find **", "/usr/bin/find . -delete"),
        ("/usr/bin/* **", "/usr/bin/find . -delete"),
        ("split **", "split --filter=id a"),
        ("curl **", "curl -sSo x https://a"),
        ("curl **", "curl -Kx"),
        ("curl **", "curl -w '%output{x}' https://a"),
        ("wget **", "wget --use-askpass=x a"),
        ("rsync **", "rsync -e 'sh -c id' a b"),
        ("rsync **", "rsync -ave x a b"),
        ("ssh **", "ssh -oProxyCommand=id a"),
        ("scp **", "scp -S x a b"),
        ("gcc **", "gcc -wrapper sh,-c a.c"),
        ("gcc **", "gcc a.c -o x"),
        ("gcc-12 **", "gcc-12 @x"),
        ("man **", "man -P id ls"),
        ("man **", "man -Hid ls"),
        ("zip **", "zip a b -T -TT id"),
        ("zip **", "zip -rTT id a b"),
        ("sqlite3 **", "sqlite3 a .shell"),
        ("sqlite3 **", "sqlite3 a '.shell id'"),
        ("psql **", "psql -c '\\! id'"),
        ("convert **", "convert '|id' a"),
        ("pandoc **", "pandoc -F x a"),
        ("eslint **", "eslint --rulesdir x"),
        ("eslint **", "eslint -c x"),
        ("eslint **", "eslint --con=x"),
        ("black **", "black --config x"),
        ("pylint **", "pylint --init-hook=1"),
        ("mytool **", "mytool --exec=x"),
        ("mytool **", "mytool --output x"),
        ("mytool **", "mytool -ox"),
        ("mytool **", "mytool --plugins-dir=x"),
        ("./run.sh **", "./run.sh --hook x"),
        ("xxd **", "xxd -p a b"),
        ("file **", "file -C -m x"),
        ("tcpdump **", "tcpdump -z x"),
        ("openssl **", "openssl req -engine x"),
        ("shuf **", "shuf -ox a"),
        ("iconv **", "iconv -f a -o b"),
        ("bat **", "bat --pager=id a"),
        ("jest **", "jest --config=x"),
        ("docker **", "docker --config x ps"),
        (
            "git log **",
            "git log #sha256:0000000000000000000000000000000000000000000000000000000000000000",
        ),
        (
            "timeout 9 git log **",
            "timeout 9 git log #sha256:0000000000000000000000000000000000000000000000000000000000000000",
        ),
        ("hg **", "hg --config alias.x='!id' x"),
        ("svn **", "svn diff --diff-cmd id"),
        ("vim **", "vim '+!id' a"),
        ("ip **", "ip -batch x"),
        ("gpg **", "gpg -ox a"),
        ("ninja **", "ninja -fx"),
        ("ffmpeg **", "ffmpeg -dump_attachment:t x -i a"),
        ("nmap **", "nmap --script x a"),
        ("strace **", "strace -ox ls"),
        ("dd **", "dd if=a of=b"),
        (
            "find . -exec git log **",
            "find . -exec git log --output=x ';'",
        ),
        ("sudo **", "sudo LD_PRELOAD=x ls"),
        ("yq **", "yq -i . a"),
        ("less **", "less -ox a"),
        ("node --test **", "node --test --require=./x"),
        ("cmake **", "cmake -E rm a"),
        ("cmake **", "cmake . -DCMAKE_C_COMPILER=./x"),
    ] {
        let clause: Clause = format!("exec:write:{pattern}").parse().unwrap();
        let target: Target = format!("exec:write:{command}").parse().unwrap();
        if !clause.matches(&target) || clause.permits(&target) {
            faults.push(format!(
                "{pattern} matches and permits {command}, or does not match"
            ));
            continue;
        }
        assert!(!clause.unspelled(&target).unwrap().to_string().is_empty());
        // A clause without wildcards permits its command.
        assert!(target.to_clause().permits(&target), "{command}");
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn a_wildcard_in_a_word_permits_the_value_of_an_option_that_the_word_spells() {
    assert!(permits("git diff --output=* **", "git diff --output=a b c"));
    assert!(permits("git diff ** --output=*", "git diff b c --output=a"));
    assert!(!permits("git diff --out* **", "git diff --output=a b"));
    assert!(!permits(
        "git diff --output=* **",
        "git diff --output=a --output=b --ext-diff"
    ));
    assert!(permits("gcc ** -o * **", "gcc -c a.c -o a.o -g"));
    assert!(!permits("gcc ** -o * **", "gcc -c a.c -o a.o -wrapper x"));
    assert!(permits("git grep -O* **", "git grep -Oless x"));
    assert!(!permits("sort -* **", "sort -o a"));
    assert!(!permits("tar -t* **", "tar -tIsh a"));
    assert!(permits("make VERSION=* **", "make VERSION=1 test"));
    assert!(!permits("make VERSION=* **", "make VERSION=1 SHELL=x"));
    assert!(permits(
        "env COLOR=* MY=* git log **",
        "env COLOR=1 MY=2 git log -1"
    ));
    assert!(permits("git config user.name *", "git config user.name x"));
    assert!(permits("sed -i **", "sed -i s/a/b/ c") && !permits("sed -i **", "sed -i 1e c"));
    assert!(
        permits("git * --stat", "git diff --stat")
            && !permits("git * --stat", "git difftool --stat")
    );
    assert!(
        permits("* --version", "sh --version")
            && permits("*:*:**".trim_start_matches("*:*:"), "find . -delete")
    );
    assert!(permits("find . -name * -delete", "find . -name x -delete"));
    assert!(
        permits("xargs **", "xargs sh -c id")
            && permits("timeout **", "timeout 5 git diff --output=x")
    );
}

#[test]
fn words_for_a_compiler_or_an_agent_behind_a_wildcard_are_spelled() {
    for (pattern, command) in [
        ("cargo **", "cargo rustc -- -o x"),
        ("cargo **", "cargo rustc -- --emit=link=x"),
        ("cargo **", "cargo rustdoc -- -ox"),
        ("cargo **", "cargo clippy -- -o x"),
        ("ssh-agent **", "ssh-agent sh"),
        ("ssh-agent **", "ssh-agent -t 60 ./x"),
    ] {
        assert!(!permits(pattern, command), "{command}");
    }
    for (pattern, command) in [
        (
            "cargo **",
            "cargo clippy --all-targets --lib -- -D warnings -W clippy::pedantic",
        ),
        ("cargo **", "cargo rustc --lib -- --print cfg"),
        ("ssh-agent **", "ssh-agent -s -t60"),
        ("ssh-agent **", "ssh-agent -k"),
    ] {
        assert!(permits(pattern, command), "{command}");
    }
}

#[test]
fn interpreters_run_what_they_read() {
    for program in [
        "m4",
        "jshell",
        "sage",
        "gp",
        "octave-cli",
        "radare2",
        "yosys",
        "m4 -P",
    ] {
        assert!(
            program.parse::<Words>().unwrap().runs_programs(),
            "{program}"
        );
    }
    assert!(!"protoc a".parse::<Words>().unwrap().runs_programs());
}

#[test]
fn rules_that_ask_or_deny_see_a_command_behind_its_folder_its_options_and_its_launcher() {
    let concerns = |pattern: &str, command: &str| {
        let clause: Clause = format!("exec:write:{pattern}").parse().unwrap();
        clause.concerns(&format!("exec:write:{command}").parse().unwrap())
    };
    for command in [
        "git push",
        "git push --force",
        "/usr/bin/git push",
        "git -C a push",
        "git --no-pager -c a=b push x",
        "env A=b git push",
        "timeout 9 git -C x push -f",
        "sudo -u me /usr/bin/git push",
        "xargs git push",
        "git --git-dir=x --work-tree y push",
        "git-push",
        "/usr/lib/git-core/git-push --force",
        "env /usr/lib/git-core/git-push",
        "prlimit --nproc=1 git push",
        "uclampset -m 5 git push",
        "s6-setsid git push",
        "systemd-inhibit --what=idle /usr/bin/git push",
        "chpst -u me git push",
        "/lib64/ld-linux-x86-64.so.2 /usr/bin/git push",
        "unheard-of-launcher -x 5 git -C a push",
        "find . -exec git push ';'",
    ] {
        assert!(concerns("git push **", command), "{command}");
    }
    assert!(concerns("docker compose up **", "docker-compose up -d"));
    for command in [
        "git log",
        "git stash push",
        "git log -- push",
        "echo git push",
        "git-pushes",
        "find . -name git push",
        "grep git push",
        "git pushes",
    ] {
        assert!(!concerns("git push **", command), "{command}");
    }
    assert!(concerns("git push", "git -C a push") && !concerns("git push", "git -C a push b"));
    assert!(
        !"fs:write:**"
            .parse::<Clause>()
            .unwrap()
            .concerns(&"exec:write:git push".parse().unwrap())
    );
}

#[test]
fn the_advice_about_a_clause_names_the_words_of_its_subcommand() {
    let words = |pattern: &str| {
        format!("exec:write:{pattern}")
            .parse::<Clause>()
            .unwrap()
            .unpermitted_words()
            .join(" ")
    };
    assert_eq!(words("git diff **"), "--ext-diff --textconv --output");
    assert!(words("git **").starts_with("-c ") && words("cargo test **").starts_with("--config"));
    assert!(words("sort -u *").contains("-o") && words("/usr/bin/sort **").contains("-o"));
    for pattern in [
        "git status **",
        "ls **",
        "git diff",
        "**",
        "* --version",
        "python3 **",
        "my-tool **",
    ] {
        assert_eq!(words(pattern), "", "{pattern}");
    }
}
