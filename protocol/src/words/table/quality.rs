//! Tests, linters and formatters: a configuration or a plugin is code.

use crate::words::row::Row;

pub(super) const ROWS: &[Row] = &[
    // pytest(1), "-p", "-c", "-o", "--rootdir", "--confcutdir", "--pdbcls", "--basetemp", "--junitxml", "--debug"
    Row::of("pytest py.test")
        .launches()
        .runs(
            "-p --pdbcls -W*:*:*.* --pythonwarnings=*:*:*.* --docker-compose -o --override-ini --tx --rsyncdir \
            --import-mode --doctest-plus-generate-diff",
        )
        .loads("@* -c --config-file --rootdir --confcutdir --cov-config --ds --dc --ini --env-file")
        .writes(
            "--basetemp --junitxml --junit-xml --report-log --resultlog --result-log --log-file --debug \
            --cov-report=*:* --html --json-report-file --durations-path --cucumber* --csv --benchmark-histogram \
            --cache-dir --self-contained-html --benchmark-json \
            --benchmark-save* --benchmark-storage --alluredir --profile-svg --pastebin --snapshot-update \
            --debug=*",
        )
        .plain(
            "--cov --co --ini --log --cache --benchmark --report --html-report --cov-report=term \
            --cov-report=term-missing --cov-report=xml --cov-report=html --cov-report=lcov \
            --cov-report=json --strict-config \
            --doctest-modules --browser --run-slow --report-chars",
        )
        .valued("kmnrW"),
    // coverage(1), "--rcfile", "--data-file", "-o", "-d"; nosetests, unittest, behave, robot
    Row::of("coverage nosetests nose2 behave robot trial stestr green")
        .launches()
        .runs(
            "--plugin* --with-* --listener --prerunmodifier --prerebotmodifier --variablefile --parser \
            --pythonpath --debugger --wrapper --reporter -D --define",
        )
        .loads("--rcfile -c --config* --settings -A --argumentfile")
        .writes(
            "-o --output* -d --outputdir --data-file --directory --log* --report* --xunit* --debugfile --junit* \
            --outfile --cover-html-dir --temp-directory --logfile",
        ),
    // ruff, black(1), isort(1), flake8, mypy(1), pylint(1), pyright, bandit
    Row::of("ruff").writes("-o --fix --unsafe-fixes --add-noqa").plain("--output-format"),
    Row::of("black isort autopep8 yapf autoflake pyupgrade blue docformatter")
        .plain("--filter-files")
        .loads("--config* --settings-path --settings-file --sp --settings --style --global-config --plugins --src*")
        .writes("-i --in-place --cache-dir --output"),
    Row::of("flake8")
        .runs("--enable-extensions")
        .loads("--config --append-config --require-plugins")
        .writes("--output-file --tee --benchmark --bug-report")
        .valued("j"),
    Row::of("mypy dmypy stubgen")
        .plain("--follow-imports --module")
        .runs("--python-executable --plugin* --install-types")
        .loads("@* --config-file --custom-typeshed-dir --custom-typing-module --shadow-file")
        .writes("--cache-dir --junit-xml --*-report* -o --output --log-file --status-file --dump-* --export-types"),
    // hlint, "--with", "--hint", "--report", "--refactor"
    Row::of("hlint stylish-haskell ormolu fourmolu")
        .runs("--with* --refactor* --cpp* --no-exit-code-with")
        .loads("-h --hint* --find* --datadir* -c --config* -d")
        .writes("--report* -r -i --inplace --default -o"),
    // cppcheck(1), "--addon", "--output-file", "--rule-file", "--clang", "--library", "--project"
    Row::of("cppcheck splint flawfinder")
        .runs("--addon* --clang* --exe*")
        .loads("--rule* --library* --project* --platform* --suppress-xml* --file-list* -include*")
        .writes(
            "--output-file* --cppcheck-build-dir* --plist-output* --checkers-report* --dump --doc* \
            --showtime-file*",
        ),
    Row::of("pylint epylint")
        .runs("--init-hook --load-plugins --unsafe-load-any-extension --extension-pkg-*")
        .loads("--rcfile --source-roots -f --output-format")
        .writes("--output --generate-* -o"),
    Row::of("pyright basedpyright bandit vulture pydocstyle pycodestyle codespell typos")
        .loads(
            "-p --project --config -c --configfile --pythonpath --venvpath --venv-path --typeshedpath \
            --typeshed-path -b --baseline --ini --toml",
        )
        .writes("-o --output -w --write-changes -i --createstub --writebaseline"),
    // eslint, prettier, stylelint, biome, xo, standard, tslint
    Row::of(
        "eslint prettier stylelint biome xo standard tslint jshint jscs oxlint dprint commitlint \
            markdownlint remark textlint htmlhint sass-lint",
    )
    .runs("--plugin* --parser* --custom-syntax --require* -r --use --search-plugin* -p -x --extends")
    .loads("-c --config --config* --flag -f --format* --formatter* -s --syntax --reporter --ignore-plugin")
    .writes("-o --output* --out* --fix* -w --cache-location --init --env-info --report* --apply* --suppress*")
    .plain("--no-config"),
    // jest, vitest, mocha, ava, karma, cypress, playwright, nyc, c8
    Row::of("jest vitest mocha ava karma cypress playwright nyc c8 tap jasmine wdio testcafe nightwatch")
        .launches()
        .runs(
            "-r --require* --testRunner* --transform --globalSetup --globalTeardown --setupFiles* --reporters* \
            --reporter* --resolver --testEnvironment* --haste --node-option* -n --plugin* --preset \
            --snapshotResolver --snapshotSerializers --testSequencer --prettierPath --browser* --api --environment \
            --pool --ui --global-setup --env --node-arg* --projects --dependencyExtractor --execArgv* --poolOptions* \
            --timers -b --coverageReporters --diff --snapshotEnvironment --typecheck.* --sequence.*",
        )
        .loads(
            "-c --config* --rootDir --root --roots --workspace --dir --package --opts --project --cwd --nycrc-path \
            --base -P --tsconfig",
        )
        .writes(
            "-o --output* --coverage.* --outputFile* --reporter-option* -O --snapshot-path* --heap* --json-file \
            --attachmentsDir",
        )
        .plain(
            "--updateSnapshot --runInBand --coverage --testNamePattern --ui=none --run --env=node \
            --env=jsdom --reporter=verbose \
            --reporter=dot",
        ),
    // rubocop, rspec(1), minitest, phpunit, phpstan, psalm, php-cs-fixer
    Row::of("rubocop rspec minitest cucumber standardrb reek brakeman erb haml slim")
        .launches()
        .runs(
            "-r --require --plugin -I -f --format --formatter --drb* --server* -P --only-guide* --require-* \
            --init --ext*",
        )
        .loads("-c --config -O --options --config-file")
        .writes("-o --out --cache-root --fix* -a -A --auto*  --output --seed-file --failure* --generate*"),
    Row::of("phpunit phpstan psalm phpcs phpcbf php-cs-fixer pest rector behat codecept infection")
        .launches()
        .runs(
            "--bootstrap* --include-path --printer* --loader --extension* --plugin* -d --autoload* -a --rules* \
            --standard* --initial-tests*",
        )
        .loads("-c --configuration* --config* --prepend* --runtime-set* --sniffs")
        .writes(
            "--log-* --coverage-* --testdox-* --generate-* --cache-* --report* --set-baseline* --report-file* \
            --migrate* --path-mode* --output* --teamcity* --alter",
        ),
    // shellcheck(1) only reads; shfmt "-w"; hadolint, yamllint, actionlint "-shellcheck"
    Row::of("shellcheck").loads("--rcfile -x --external-sources"),
    Row::of("shfmt").writes("-w --write"),
    Row::of(
        "hadolint yamllint actionlint ansible-lint cfn-lint tflint tfsec checkov trivy grype syft snyk \
            sonar-scanner gitleaks vale",
    )
    .runs(
        "-shellcheck -pyflakes --custom-rules* -r --rules* --rulesdir --external-checks-* --enable-plugin* \
            --init --module-plugins* -a --append-rules",
    )
    .loads(
        "-c --config* -config-file -i --ignore-file -d --config-data --policy* --templates* \
            --override-spec* -t --template",
    )
    .writes("-o --output* --report* --cache-dir --fix* --write* --create-baseline -f --file --log-file"),
    // rustfmt, cargo tools as programs
    Row::of("rustfmt").loads("--config-path --config").writes("--emit").plain("--check"),
    // mkdocs(1), sphinx-build(1), "-c", "-D", "-d"; doxygen(1), jekyll, hugo
    Row::of(
        "sphinx-build sphinx-autobuild mkdocs doxygen jekyll hugo mdbook asciidoctor asciidoc typedoc jsdoc \
            docusaurus pdoc pydoc zola eleventy hexo",
    )
    .launches()
    .runs(
        "-D* -A* -r --require* -a* --plugin* -p* --template* -t* --theme* -T -I -b* --backend* -e \
            --pre-build* --post-build* -x",
    )
    .loads("-c --config* -f --config-file -C --plugins_dir --options --tsconfig -s --source")
    .writes(
        "-d --site-dir --destination --dest-dir -o --out* --output* -w* --json* --cacheDir \
            --destination-dir -D",
    ),
];
