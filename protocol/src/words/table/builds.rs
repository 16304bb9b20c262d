//! Build tools and package managers. They run what a project says; the words here make them run something else.

use crate::words::Word;
use crate::words::row::Effect::{Loads, Runs};
use crate::words::row::Row;
use crate::words::special::Special;

pub(super) const ROWS: &[Row] = &[
    // make(1), "--eval", "-f", "-I"; a variable such as SHELL, CC or MAKEFLAGS is a program.
    Row::of("make gmake bmake remake pmake")
        .launches()
        .runs("--eval -E =")
        .loads("-f --file --makefile -I --include-dir")
        .plain("--ignore-errors --environment-overrides --output-sync --load-average --max-load")
        .valued("CoW"),
    // ninja(1), "-f", "-t"; samu
    Row::of("ninja ninja-build samu").launches().loads("-f").runs("-t").valued("Cjkld"),
    // cmake(1), "-P", "-E", "-D", "-C", "-G", "-T", "--toolchain", "--graphviz" …; words after `--` are for make.
    Row::of("cmake cmake3 ccmake")
        .launches()
        .valued("DGBSU")
        .runs("-P* -E --open --find-package -D* *SHELL* MAKE* CMAKE_COMMAND=* RM=* C*_FLAGS=* *$* --eval* -f*")
        .loads("-C* --toolchain* -T* -A* --install-prefix --debugger* --project-file")
        .writes("--graphviz* --profiling-output* --trace-redirect* --system-information --prefix")
        .plain(
            "--config -DCMAKE_BUILD_TYPE -DCMAKE_CXX_STANDARD -DCMAKE_C_STANDARD -DCMAKE_EXPORT_COMPILE_COMMANDS \
            -DCMAKE_INSTALL_PREFIX -DCMAKE_VERBOSE_MAKEFILE -DCMAKE_POSITION_INDEPENDENT_CODE -DBUILD_* -DENABLE_* \
            -DWITH_* -DUSE_* -D*_BUILD_* -D*_ENABLE_* -D*_TESTS -D*_TESTING",
        ),
    // ctest(1), "-S", "-SP", "-D", "--build-and-test", "--build-makeprogram", "--test-command", "-O", "--output-junit"
    Row::of("ctest cpack")
        .launches()
        .runs("-S* --script* -D* --build-* --test-command --overwrite -T -M --config")
        .writes("-O* --output-log --output-junit -B --package-directory --resource-spec-file")
        .plain("--build-config --output-on-failure"),
    // meson(1): "introspect", "--native-file", "--cross-file", "-D"
    Row::of(
        "meson muon scons waf bazel bazelisk buck buck2 pants please b2 bjam xmake premake4 premake5 gn tup \
            redo",
    )
    .launches()
    .runs(
        "-D* --eval -e --override_repository* --run_under* --action_env* --script_path* --run-under \
            --wrapper --define* --repo_env* --host_jvm* --server_java* --workspace_status* *toolchain* \
            --crosstool* --aspects* --remote_* --registry* --copt* --cxxopt* --conlyopt* --linkopt* --host_*opt* \
            --package_path* --python_path* --install_base* --sandbox* --gdb-path runpython devenv",
    )
    .writes(
        "--build_event* --profile* --memory_profile* --explain* --disk_cache* --symlink_prefix* \
            --execution_log* --*_file*",
    )
    .loads(
        "-f -f* --file --makefile --sconstruct --native-file --cross-file --bazelrc* --output_base* \
            --config* -C* --site-dir --workspace_rc",
    ),
    // cargo(1), "--config", "-C"; cargo-rustc(1): a linker and a back end are programs. "-Z" alone names none.
    // cargo-nextest: "--tool-config-file", "--archive-file", "--debugger"
    Row::of("cargo cross cargo-nextest")
        .launches()
        .runs("--config *linker* *link-arg* *codegen-backend* *llvm-args* *--fuse-ld* *rustc-wrapper* @* +*/*")
        .loads("-C --sysroot --lockfile-path --binaries-metadata --cargo-metadata --debugger --tracer --archive-file")
        .writes(
            "--out-dir --artifact-dir --target-dir --root --output-path --output-dir --output --build-dir --logfile",
        )
        .plain(
            "--target --build --bin --bins --lib --future-incompat-report --run-ignored --filter-expr \
            --filterset",
        )
        .valued("pjFZ")
        .commands(&[
            Row::of("rustc rustdoc").runs("-C* -Z* --codegen"),
            // cargo-watch(1), "-s", "-x"; cargo-flamegraph, "-c", "-o"
            Row::of("watch flamegraph").runs("-s -x --exec --shell --use-shell -c").writes("-o"),
        ]),
    // rustc(1), "-C linker", "--sysroot", "-o", "--emit"; rustdoc "--test-builder"
    Row::of("rustc rustdoc clippy-driver")
        .runs(
            "-C* -Z* --codegen *linker* *link-arg* --test-builder --test-runtool* --runtool* @* \
            --test-run-directory --extern-html-root-url",
        )
        .loads("--sysroot --theme --html-* -L* -l*")
        .writes("-o* --out-dir --emit --output --persist-doctests --print")
        .plain("--lib"),
    // rustup(1), "run" runs a program of a toolchain.
    Row::of("rustup").launches().runs("--path").loads("link --dist-server"),
    // npm(1), "--script-shell", "--shell", "--node-options", "--git", "--editor", "--viewer", "--browser", "-c",
    // "--userconfig" …
    Row::of("npm pnpm yarn yarnpkg corepack")
        .launches()
        .runs(
            "--script-shell --shell --node-options --git --editor --viewer --browser --call -c \
            --use-node-version --use-yarnrc --node-gyp --python",
        )
        .loads(
            "--userconfig --globalconfig --init-module --config --config-file --npm-path --global-pnpmfile \
            --pnpmfile --ignore-pnpmfile --npmrc* --tsconfig-override --env-file",
        )
        .writes(
            "--cache --pack-destination --logs-dir --global-dir --store-dir --modules-dir --modules-folder \
            --lockfile-dir --outfile --outdir --reporter-outfile --pack-gzip* --globaldir --cache-folder \
            --log-file --tmp --lockfile-directory --virtual-store-dir",
        )
        .plain(
            "--global --git-tag-version --prefix --call-count --config-version --require-engine \
            --engine-strict --filter \
            --save --save-dev --save-exact --save-optional --save-peer --save-prod --save-bundle \
            --foreground-scripts \
            --report-summary --run --shell-emulator --side-effects-cache",
        )
        .commands(&[
            Row::of("config c set pkg").reader(read_npm_config),
            Row::of("exec x dlx explore edit create cr bugs docs repo home set-script env node plugin policies")
                .itself(Runs),
            // npm-init(1): an operand is a program `create-x`.
            Row::of("init innit").writes_after(0).valued("w"),
            Row::of("workspace workspaces").runs("exec dlx node x"),
            Row::of("pack").writes("-o -f --filename"),
        ]),
    Row::of("bun")
        .launches()
        .runs("-r -e -p --print x exec create")
        .loads("-c --tsconfig-override --cwd")
        .writes("--cpu-prof*"),
    Row::of("npx bunx pnpx")
        .launches()
        .runs("-c --call --shell --node-options --node-arg -n --script-shell --shell-auto-fallback")
        .loads("--userconfig --globalconfig")
        .writes("--cache"),
    // go(1), "-exec", "-toolexec", "-overlay", "-modfile", "-o" …; go-vet "-vettool"; "-ldflags=-extld=x"
    Row::of("go")
        .launches()
        .runs("-exec -toolexec -vettool -gccgo *extld* *-fplugin* *extar* -pgo -compiler --ldflags-extld")
        .loads("-overlay -modfile -pkgdir")
        .writes(
            "-o* -coverprofile -cpuprofile -memprofile -blockprofile -mutexprofile -trace -outputdir -debug-* \
            -test.*profile* -test.trace -test.outputdir -test.testlogfile -test.gocoverdir",
        )
        .commands(&[
            Row::of("generate tool bug").itself(Runs),
            Row::of("env telemetry").runs("-w -u").commands(&[Row::of("on off").itself(Loads)]),
            Row::of("mod work").runs("-replace -tool").writes("-o*"),
        ]),
    // gofmt, goimports, golangci-lint
    Row::of("gofmt goimports gofumpt").writes("-w -cpuprofile"),
    Row::of("golangci-lint staticcheck revive").loads("-c -formatter").writes("--fix --out-format* --output*"),
    // pip(1), "--python", "--log", "-t", "--root", "--prefix", "--src", "--report"; pip-config(1), "--editor"
    Row::of("pip pipx pipenv poetry pdm hatch uv uvx rye conda mamba micromamba")
        .launches()
        .runs(
            "-p --python --editor --spec --fetch-python --prelude --with --with-editable --from --plugin-path* \
            --build-backend",
        )
        .loads(
            "--config-file --directory-config --env-file --config-settings --global-option --build-option \
            --config-setting",
        )
        .writes(
            "--log --report -t --target --root --src --cache-dir --output-file --output --out-dir -o --dest -d \
            --wheel-dir -w",
        )
        .plain(
            "--without --without-urls --config --dev --with-sources --only-binary --require-hashes \
            --require-virtualenv \
            --extra --no-binary",
        )
        .commands(&[Row::of("config source self plugin publish").itself(Loads)]),
    // virtualenv(1), "-p"
    Row::of("virtualenv").runs("-p --python").loads("--extra-search-dir"),
    // rails: "runner", "console", "new -m"
    Row::of("rails")
        .launches()
        .loads("-m --template -b --builder")
        .commands(&[Row::of("runner r console c dbconsole db").itself(Runs)]),
    // tox(1), nox(1), "-c", "-f", "-x", "--workdir"
    Row::of("tox")
        .launches()
        .runs("exec -x --override --runner --discover")
        .loads("-c --conf --root --hookimpl --installpkg")
        .writes("--workdir --result-json --temp-dir --devenv")
        .valued("e")
        .plain("--recreate --runner-pass"),
    Row::of("nox invoke inv doit")
        .launches()
        .loads("-f --noxfile --file -c --collection -r --search-root")
        .writes("--report --envdir")
        .plain("--force-color"),
    // just(1), "-f", "--shell", "--chooser", "-c", "--set"
    Row::of("just")
        .launches()
        .runs("--chooser -c --set -e --cygpath --request")
        .loads("-f --justfile --dotenv-path --dotenv-filename -E -g --global-justfile"),
    Row::of(
        "task go-task mage rake thor earthly dagger pre-commit lefthook husky lint-staged turbo nx lerna \
            rush wireit",
    )
    .launches()
    .loads("-t --taskfile -f --rakefile -c --config -C --cwd -d --dir")
    .runs("-e --execute -r --require -E -p --eval --exec --command exec try-repo -I -R --libdir --rakelibdir"),
    // mvn(1), gradle(1), ant(1), sbt(1): "-f", "-s", "-D", "-I", "-P" name other builds and agents.
    Row::of("mvn mvnw mvnd gradle gradlew ant sbt mill lein boot bloop")
        .launches()
        .valued("DPT")
        .runs(
            "-Dexec* -D*exec* -D*agent* -javaagent* -J* -D*jvm* -I --init-script --eval -e exec*:* *:exec* *:*:* \
            -Dmaven.ext* -main* -lib* -Dorg.gradle* --system-prop* --project-prop* -Dmaven.* \
            --java-home --sbt-jar --distributionUrl --gradle-distribution-url eval* set* ;* <* update-in",
        )
        .loads(
            "-f -f* --file -s --settings -gs --global-settings -t --toolchains -b --build-file -c \
            --settings-file -buildfile --include-build -p --project-dir -g --gradle-user-home -propertyfile",
        )
        .writes("-l --log-file -logfile --project-cache-dir -listener* -logger* -Doutput*")
        .plain(":*"),
    // dotnet(1), msbuild
    Row::of("dotnet msbuild xbuild nuget paket")
        .launches()
        .runs(
            "-p:* /p:* --property* -property* exec tool script -l:* -logger* --logger* /logger* @* \
            --test-adapter-path -s --additionalprobingpath --additional-deps --depsfile",
        )
        .writes("-d --diag* -o -bl* /bl* --results-directory -flp* /flp*"),
    // composer(1), bundle(1), gem(1), mix(1), rebar3, stack(1), cabal(1), opam, swift, pub, flutter, dart, zig,
    // nimble, dub
    Row::of(
        "composer bundle bundler gem mix rebar3 stack cabal opam dune swift flutter dart pub zig nimble dub \
            shards crystal nim v gleam ghcup cpanm cpan luarocks",
    )
    .launches()
    .runs(
        "-e --eval -r --require -x --exec --with-compiler --with-gcc --with-* --ghc-options* --ghc-option* \
            --program-* -I --test-runner --exec-* exec *-exec run-script cmd eval -w -X* --toolset --swift-sdk \
            --disable-sandbox",
    )
    .loads(
        "--config* --project-file --cabal-file --stack-yaml --gemfile -Ilib* --toolchain --sdk --define \
            --norc --build-file plugin *.install",
    )
    .writes(
        "--build-dir --builddir --output* -o --install-dir -i --bindir -n --dist* --prefix --scratch-path \
            --build-path",
    ),
    // nix(1), guix(1), apt(8), dnf(8), pacman(8), apk(8), brew(1): "-o", "-c", "--hookdir"
    Row::of("nix nix-shell nix-build nix-env nix-instantiate guix")
        .launches()
        .runs("--run --command -c --option --eval -E --expr --builders --post-build-hook --substituters")
        .loads("-I --include -f --file --plugin-files")
        .writes("-o --out-link --profile"),
    Row::of(
        "apt apt-get aptitude dpkg dnf yum microdnf zypper rpm rpmspec rpmdb rpmquery rpmverify pacman apk \
            brew port emerge snapcraft \
            makepkg debuild dpkg-buildpackage rpmbuild",
    )
    .launches()
    .runs(
        "-o --option --pre-invoke --post-invoke --hook* --eval -E --define -D --script* --pager --pipe \
        --status-logger --setopt --enableplugin --plus-repo",
    )
    .loads(
        "-c --config* --hookdir --gpgdir --dbpath --root --admindir --instdir -b --with-* --macros --load \
            --rcfile",
    )
    .writes("--downloaddir --destdir --output"),
];

/// Adds the subcommand of `npm config` or `npm pkg`, unless it only reads: settings such as `script-shell` and the scripts of a package are programs.
fn read_npm_config(words: &[Word], command: (usize, usize), found: &mut Vec<Special>) {
    let next = words.get(command.1 + 1);
    let only_reads =
        matches!(next, Some(Word::Known(word)) if ["get", "list", "ls"].contains(&&**word));
    if !only_reads {
        found.push(Special {
            index: command.1,
            length: usize::MAX,
            effect: Loads,
            command,
        });
    }
}
