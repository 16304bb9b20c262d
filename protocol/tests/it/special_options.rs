//! Options that run programs, load code or write files, of well-known and of unknown programs.

use protocol::{Clause, Target};

/// Returns the commands that the clause `PROGRAM **` permits or does not even match. The program is all before the first `|`.
fn permitted(lines: &str) -> Vec<&str> {
    let is_permitted = |line: &&str| {
        let (program, rest) = line.split_once(" | ").unwrap();
        let clause: Clause = format!("exec:write:{program} **").parse().unwrap();
        let target: Target = format!("exec:write:{program} {rest}").parse().unwrap();
        assert!(
            clause.matches(&target) && target.to_clause().permits(&target),
            "{line}"
        );
        clause.permits(&target)
    };
    lines
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .filter(is_permitted)
        .collect()
}

#[test]
fn a_wildcard_covers_no_option_that_runs_loads_or_writes() {
    let permitted = permitted(
        r"
        pic | -U a
        openssl | engine -pre SO_PATH:./x.so dynamic
        openssl | engine dynamic
        javap | -J-javaagent:x.jar A
        jdeps | -J-agentpath:x a
        keytool | -J-Xbootclasspath/a:x -list
        ptx | -G a out
        ptx | --traditional a out
        espeak-ng | -w out text
        espeak-ng | --path=x text
        dc | -e '!id'
        dc | -e 1p -e '!id'
        dc | file
        dc | -f file
        dc | --expression='!id'
        ugrep | --filter='*:sh x' a
        ugrep | --pager=sh a
        ugrep | ---x a
        ugrep | --save-config=x
        neofetch | --config x
        csvtool | call sh a
        csvtool | -t , call sh a
        cowsay | -f ./x a
        cloc | --extract-with='sh' a
        cloc | --out=x a
        cloc | --out x a
        cppcheck | --addon=x.py a
        cppcheck | --output-file=x a
        cppcheck | --rule-file=x a
        cppcheck | --clang=./x a
        hlint | --with=x a
        hlint | --report=x a
        hlint | --with-refactor=x a
        fastfetch | -c x
        fastfetch | --logo x
        fastfetch | --command-text x
        facter | --custom-dir x
        facter | --external-dir=x
        enscript | -px a
        enscript | --output=x a
        enscript | -I 'sh x' a
        pandoc | --lua-filter x a
        pandoc | -L x a
        pandoc | -Fx a
        pandoc | -ox a
        pandoc | --pdf-engine=x a
        pandoc | --pdf-eng=x a
        pandoc | lua x.lua
        pdflatex | -shell-e a
        pdflatex | --shell-esc a
        pdflatex | -enable-w a
        pdflatex | -output-d=x a
        pdflatex | -output-directory=x a
        lynx | -cmd_script=x a
        lynx | -cfg=x a
        lynx | -editor=x a
        elinks | -eval 'x' a
        elinks | -config-file x a
        w3m | -o editor=sh a
        w3m | -config x a
        perldoc | -n ./x a
        perldoc | -M X a
        rpm | -qa --pipe 'sh x'
        rpm | -E '%(id)'
        rpmspec | -E '%(id)'
        rpmspec | --eval='%(id)'
        pidstat | -e sh x
        mpv | --script=x a
        mpv | --scripts-append=x a
        mpv | -script=x a
        mpv | --include=x a
        mpv | --input-conf=x a
        mpv | --config-dir=x a
        mpv | --log-file=x a
        mpv | --stream-record=x a
        mpv | -o x a
        phpcs | --standard=x a
        phpcs | --bootstrap=x a
        phpcs | --report-full=x a
        phpcs | -d auto_prepend_file=x a
        jest | --setup-files ./x
        jest | --global-setup=./x
        jest | --test-runner=x
        jest | --coverage-directory x
        jest | --outputFile=x
        bazel | build --workspace_status_command=x a
        bazel | run --run_under=sh a
        bazel | --output_user_root=x build
        bazel | --bazelrc=x build
        bazel | --host_jvm_args=-javaagent:x build
        bazel | build --build_event_json_file=x a
        bazel | build --profile=x a
        bazel | build --extra_toolchains=x a
        gradle | -I x
        gradle | --init-script x
        gradle | --project-cache-dir x
        gradle | -Dorg.gradle.jvmargs=-javaagent:x
        gradle | -Dorg.gradle.java.home=x
        cargo | nextest run --config-file x
        cargo | nextest run --tool-config-file a:x
        cargo nextest | archive --archive-file x
        cargo-nextest | nextest run --config-file x
        cargo | nextest run --debugger ./x
        helm | template --post-rend x a
        helm | install --post-renderer ./x a
        helm | template --output-d x a
        kustomize | build -o x
        kustomize | build -ox
        kustomize | build --output=x
        kustomize | fn run a
        hyperfine | --export-json x ls
        hyperfine | --setup x ls
        hyperfine | -S x ls
        scc | -o x
        scc | -fjson -ox
        scc | --output=x
        journalctl | --cursor-file=x
        journalctl | --cursor-f x
        rustc | --print sysroot=x
        rustc | --print=cfg=x a
        tsc | @file
        convert | msl:x a
        convert | MSL:x a
        convert | a MsL:x
        smbclient | //a/b -c '!id'
        smbclient | -N //a/b --command='!id'
        git send-email | --sendmail-cmd=x a
        git send-email | --smtp-server=./x a
        git send-email | --to-cmd=x a
        git instaweb | --httpd=x
        git instaweb | -d x
        git web--browse | --browser=x a
        git web--browse | -b x a
        git web--browse | -c core.x a
        git | merge-index x a
        git | web--browse a
        git | instaweb
        git filter-branch | --tree-filter id
        git filter-branch | --env-filter=id
        git fast-import | --export-marks=x
        git | fast-import
        git config | edit
        git config | -e
        git config | --edit
        git index-pack | -ox a
        git index-pack | -o x a
        git read-tree | --index-output=x HEAD
        git | read-tree --index-out x HEAD
        python3 -m pytest | -p x
        python3 -m pytest | -px
        python -m pytest | @x
        pytest | @x
        mypy | @x
        node --test | --require ./x
        node --test | --import ./x
        node | --test --requ ./x
        gcc | -fopt-info-all=x a.c
        npx | -c id
        npx | --node-options=--require=./x a
        terraform | -chdir=x plan
        terraform | init -plugin-dir=x
        terraform | init -from-module=x
        terraform | plan -out=x
        terraform | plan -out x
        qpdf | a b
        qpdf | --empty --replace-input a
        qpdf | @x
        docker | build -o x .
        docker | build -ox .
        docker | build --output=x .
        docker buildx | build --output type=local,dest=x .
        docker | buildx build --cache-to type=local,dest=x .
        pdftoppm | a b
        pdfunite | a b
        certbot | renew --pre-hook x
        restic | --password-command x
        sqlmap | --eval=x
        busctl | --address=unixexec:path=x
        ldconfig | -f x
        dstat | --plugin x
        varnishncsa | -w x
        ssh-copy-id | -o ProxyCommand=x a
        x86_64-linux-gnu-gcc-12 | -wrapper x a.c
        x86_64-linux-gnu-gcc-12 | -Bx a.c
        aarch64-linux-gnu-ld | -plugin x a
        ./test | --exec=x
        ./bin/cat | -o x
        /srv/ls | --plugin x
        ss | -D x
        sudo mytool | --exec x
        sudo timeout 9 mytool | --exec x
        timeout 9 mytool | -ox
        sudo timeout 9 git log | --output=x
        timeout 9 ./x | --hook y
        make | '$(shell id)=x'
        make | '.SHELLFLAGS=-c id'
        make | 'a/b=c'
        make | 'CI=$(shell id)'
        make | 'LC_$(shell id)=x'
        make | 'CI:=1'
        cmake | -D CMAKE_AR=x .
        cmake | -DFoo_DIR=x .
        cmake | -DCMAKE_CXX_CLANG_TIDY=x .
        cmake | --build x -- SHELL=y
        cmake | --build x -- -fy
        mvn | -D maven.ext.class.path=x
        mvn | -D exec.executable=x test
        mvn | org.x:y:1.0:run
        pytest | -W error::x.Y
        pytest | -Werror::x.Y
        pytest | --pythonwarnings error:a:x.Y
        pytest | --cov-report html:x
        curl | -w @f https://a
        curl | --write-out @f https://a
        curl | -w@f https://a
        npm | exe x
        npm | conf set a b
        npm | cr x
        npm | init x
        npm | test --node-gyp=x
        yarn | workspaces foreach exec id
        yarn | workspace a dlx id
        yarn | plugin import ./x
        yarn | pack --filename x
        hg | conf x
        hg | debugs x
        git | sta
        git | bugreport -o x
        git bugreport | -o x
        git lfs | --exec x
        git filter-repo | --blob-callback x
        git credential-store | --file=x --cache-file y
        git checkout-index | --prefix=x -a
        git maintenance | start
        git merge | -s x a
        git merge | -nsx a
        git merge | --strategy x a
        git pull | --strat=x
        git pull | --rebase=interactive
        git rebase | -sx a
        git cherry-pick | --strategy=x a
        git clone | x::y
        git push | x::y
        git remote | add a x::y
        git subtree | pull --prefix=a x::y z
        git archive | --remote=x::y HEAD
        git | --attr-source=x log
        tar | -tf h:x
        tar | --list --file=h:x
        tar | tf h:x
        rg | -z x
        rg | -nz x
        rg | --search-zip x
        split | a b
        ab | -g x http://a
        pygmentize | -x -l ./x.py a
        sass | a b
        sass | a:b
        xgettext | -p x a
        zip | -rm a b
        zstdcat | -o x a
        exiftool | '-filename<x' a
        python3 -m json.tool | a b
        python3 -m ruff | check --config x
        python3 -m mymodule | --exec x
        python3 -X dev -m mymodule | --plugin x
        python3 -m cProfile | -o x a.py
        sqlite3 | a '.sh id'
        sqlite3 | a 'select edit (1)'
        sqlite3 | a 'create virtual table x using zipfile(y)'
        openssl | rehash .
        ip | netns ex x id
        cargo | watch -s id
        cargo | test -- --logfile x
        cargo | clippy -- --sysroot x
        cargo | +/x/y build
        tox | exec -- id
        nx | exec -- id
        nodemon | -x id
        vitest | --typecheck.checker=x
        jest | --coverageReporters=./x
        webpack | --json=x
        rollup | --file=x
        postcss | -u x a
        gcc | '-fmodule-mapper=|id' a
        gradle | wrapper --distributionUrl=x
        sbt | 'eval x'
        lein | update-in x
        dotnet | test --diag:x
        mix | cmd id
        cabal | v2-exec id
        swift | build -Xcc -fplugin=x
        zig | build --build-file x
        rake | -I x
        jj | util exec id
        docker | context use x
        kubectl | kustomize -o x
        dpkg | --status-logger=x
        yum | --setopt=pluginpath=x y
        mail | --exec='!sh'
        mutt | -e '!sh'
        nginx | -c x
        logrotate | -l x y
        zathura | --synctex-editor-command x a
        openvpn | --up x
        sshfs | -o ssh_command=x a b
        gunicorn | -c x
        info | --restore=x
        xdg-user-dir | '}; sh #'
        tidy | -m a
        indent | a b
        chronic mytool | --exec x
        mytool | --onSuccess x
        mytool | --on-change=x
        virtualenv | -p x a
        uv | run -px a
        rails | runner 'system 1'
        rga | --pre x a
        nano | --speller=sh a
        ",
    );
    assert!(permitted.is_empty(), "{permitted:#?}");
}

#[test]
fn options_of_unknown_programs_are_judged_by_their_names() {
    let parts = "action callback bootstrap middleware prelude pipe artifact-dir coverage-dir store-path filter addon runner helper cfg rc config report startup hook script module library lib engine provider driver \
        loader require import preload editor pager browser viewer opener shell sh command cmd exec run program binary bin \
        compiler linker tool wrapper launcher proxy-command output out outfile log logfile dump save export write extract dest \
        target-dir cache-dir trace-file profile-path cookie-jar pidfile socket history-file init-file env-file in-place tee";
    for part in parts.split_ascii_whitespace() {
        let camel = part.split('-').enumerate().map(|(at, part)| match at {
            0 => part.to_owned(),
            _ => part[..1].to_uppercase() + &part[1..],
        });
        let camel: String = camel.collect();
        let mut words = vec![
            format!("--{part}"),
            format!("--{part}=x"),
            format!("--{camel}"),
            format!("--my-{part}"),
        ];
        words.extend([format!("--my_{}", part.replace('-', "_"))]);
        if part.len() > 2 {
            words.extend([format!("-{part}"), format!("-{part}=x")]);
        }
        for word in words {
            let lines = format!("mytool | {word}\n./a/b | x {word}\nmytool2 | -- {word}");
            assert!(permitted(&lines).is_empty(), "{word}");
        }
    }
    let lines = "mytool | @file\nmytool | -o x\nmytool | -ox\nmytool | -O x\nmytool | -c x\nmytool | a -ex\nmytool | a -Wrapper=x";
    assert!(permitted(lines).is_empty());
}

#[test]
fn other_options_are_covered() {
    let lines = r"
        mytool | --verbose --help --version -v --dry-run --log-level debug --output-format json --no-config a
        mytool | --file a --dir b --name c --set x=y --repo a/b --open --extra x
        ls | -la --color=auto --group-directories-first
        grep | -rn --include='*.rs' x
        git submodule | update --init --recursive
        git log | --diff-filter=A --oneline
        git diff | --binary
        git clone | --filter=blob:none https://a/b
        cargo | run --bin x -- --export y
        cargo | test --lib --bins
        npm | install --save-dev x
        npm | run build -- --output x
        pip | install --only-binary :all: x
        pytest | --doctest-modules --strict-config --cov-report=term
        jest | --runInBand --coverage
        ctest | --output-on-failure
        cmake | --build build --config Release
        tsc | --module esnext --lib dom --noEmit
        mypy | --follow-imports silent src
        node | --experimental-vm-modules a.js
        docker | ps --filter a=b
        kubectl | get pods --output yaml
        aws | s3 ls --output json
        timeout | 9 mytool --exec x
        dc | -e '1 2 + p'
        ptx | a b
        qpdf | --check a
        python3 | a.py --output x
        python3 -m http.server | --directory a
        python3 -m venv | .venv
        python3 -m unittest | discover -s tests -v
        find | . -executable
        /bin/cat | --output x
        /usr/bin/test | --exec x
        journalctl | -u x -n 5
        csvtool | col 1 a
        cowsay | hello
        cmake | -D CMAKE_BUILD_TYPE=Release -DBUILD_TESTING=ON -DFOO_BUILD_DOCS=OFF -S . -B build
        curl | -w '%{http_code}' https://a
        pytest | -W error::DeprecationWarning -W ignore
        pytest | --cov-report=xml
        mvn | -D skipTests -Dtest=a verify
        gradle | :app:test
        npm | init -y
        npm | install a
        npm | test -- -x
        npx | a
        yarn | workspaces foreach run test
        git merge | --no-ff -m x a
        git pull | --rebase
        git rebase | --rebase-merges origin/main
        git cherry-pick | -x a
        git revert | --no-edit a
        git clone | https://a/b
        git fetch | origin main:main
        git push | origin :old
        hg | status
        sqlite3 | a 'select 1'
        split | -l 100 a
        sass | a
        python3 -m json.tool | a
        cargo | watch
        rustup | run stable cargo test
        gh | pr list
        docker | build --tag a .
        jj | describe -m 'fix it'
        uvicorn | a:app --port 80
        zip | -r a b
        rg | -e z x
        make | -j4 --output-sync
        ";
    let count = lines.lines().filter(|line| !line.trim().is_empty()).count();
    let permitted = permitted(lines);
    let missing: Vec<_> = lines
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !permitted.contains(line))
        .collect();
    assert_eq!((permitted.len(), missing), (count, Vec::new()));
}
