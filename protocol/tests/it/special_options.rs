//! Options that run programs, load code or write files, of well-known and of unknown programs.

use protocol::{Clause, Target};

/// Returns the commands that the clause `PROGRAM **` permits or does not even match. The program is all before the first `|`.
fn permitted(lines: &str) -> Vec<&str> {
    let is_permitted = |line: &&str| {
        let (program, rest) = line.split_once(" | ").unwrap();
        let clause: Clause = format!("exec:write:{program} **").parse().unwrap();
        let target: Target = format!("exec:write:{program} {rest}").parse().unwrap();
        assert!(clause.matches(&target) && target.to_clause().permits(&target), "{line}");
        clause.permits(&target)
    };
    lines.lines().map(str::trim).filter(|line| !line.is_empty()).filter(is_permitted).collect()
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
        /work/ls | --plugin x
        ss | -D x
        sudo mytool | --exec x
        sudo timeout 9 mytool | --exec x
        timeout 9 mytool | -ox
        sudo timeout 9 git log | --output=x
        timeout 9 ./x | --hook y
        ",
    );
    assert!(permitted.is_empty(), "{permitted:#?}");
}

#[test]
fn options_of_unknown_programs_are_judged_by_their_names() {
    let parts = "filter addon runner helper cfg rc config report startup hook script module library lib engine provider driver \
        loader require import preload editor pager browser viewer opener shell sh command cmd exec run program binary bin \
        compiler linker tool wrapper launcher proxy-command output out outfile log logfile dump save export write extract dest \
        target-dir cache-dir trace-file profile-path cookie-jar pidfile socket history-file init-file env-file in-place tee";
    for part in parts.split_ascii_whitespace() {
        let camel = part.split('-').enumerate().map(|(at, part)| match at {
            0 => part.to_owned(),
            _ => part[..1].to_uppercase() + &part[1..],
        });
        let camel: String = camel.collect();
        let mut words = vec![format!("--{part}"), format!("--{part}=x"), format!("--{camel}"), format!("--my-{part}")];
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
        find | . -executable
        /bin/cat | --output x
        /usr/bin/test | --exec x
        journalctl | -u x -n 5
        csvtool | col 1 a
        cowsay | hello
        make | -j4 --output-sync
        ";
    let count = lines.lines().filter(|line| !line.trim().is_empty()).count();
    let permitted = permitted(lines);
    let missing: Vec<_> =
        lines.lines().map(str::trim).filter(|line| !line.is_empty() && !permitted.contains(line)).collect();
    assert_eq!((permitted.len(), missing), (count, Vec::new()));
}
