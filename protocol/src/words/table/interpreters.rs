//! Interpreters. A clause for one is about all that it can run, so that only words with other effects are here.

use crate::words::row::Row;

pub(super) const ROWS: &[Row] = &[
    // Shells run the words after `-c`, and the files that they name.
    Row::of(
        "sh bash dash ash zsh fish ksh mksh csh tcsh busybox elvish nu pwsh powershell rbash yash xonsh \
            toybox",
    )
    .launches(),
    Row::of("python pypy ipython bpython ptpython jython micropython").launches(),
    // node(1), "-r", "--import", "--loader", "--env-file", "--redirect-warnings", "--report-dir" …
    Row::of("node nodejs")
        .launches()
        .runs(
            "-r --require --import --loader --experimental-loader --experimental-config-file --openssl-config \
            --inspect* --test-reporter --watch-path",
        )
        .loads(
            "--env-file --env-file-if-exists --icu-data-dir --snapshot-blob --experimental-sea-config \
            --build-snapshot* --policy*",
        )
        .writes(
            "--redirect-warnings --report-dir --report-directory --report-filename --diagnostic-dir \
            --cpu-prof-dir --cpu-prof-name --heap-prof-dir --heap-prof-name --trace-event-file-pattern \
            --test-reporter-destination --localstorage-file --disable-warning-file --tls-keylog \
            --heapsnapshot-signal",
        )
        .plain(
            "--experimental-vm-modules --import-attributes --test --inspect-none --report-on-fatalerror \
            --report-uncaught-exception",
        ),
    Row::of("deno")
        .launches()
        .runs("--v8-flags* --unsafely-ignore-certificate-errors -A --allow-all --allow-run* --allow-ffi*")
        .loads("-c --env*")
        .writes("-o --coverage* --cert* --lock* --allow-write*"),
    Row::of("ts-node tsx babel-node swc-node zx nodemon")
        .launches()
        .runs("-x -r -e -p --transpiler --swc")
        .loads("-P --project --tsconfig"),
    Row::of(
        "R Rscript perl ruby php lua luajit java julia ghci guile ocaml irb pry elixir iex erl escript \
            groovy kotlin scala clojure clj bb racket scheme sbcl clisp ecl tclsh wish expect octave matlab \
            maxima gnuplot bc runghc runhaskell stap bpftrace dtrace janet fennel raku rakudo qjs d8 jjs \
            rhino wasmtime wasmer wine mono io forth gforth swipl gprolog jq-repl sclang gst pharo",
    )
    .launches(),
    // Modules of Python that write a second operand, or a profile
    Row::of("json.tool").writes_after(1),
    Row::of("cProfile").launches().writes("-o --outfile"),
    // dc(1), "!", "-f": an operand is a file of commands.
    Row::of("dc").launches().runs("*!*").loads("-f --file").writes_after(0).valued("e"),
    // sqlite3(1), "-cmd", "-init", "-A", commands such as `.shell`, and functions and tables that reach files
    Row::of("sqlite3 sqlite")
        .launches()
        .runs("-cmd .* *load_extension* *edit* *fts3_tokenizer* -A*")
        .loads("-init")
        .writes("*writefile* *attach* *vacuum* *zipfile* *temp_store_directory*"),
    Row::of("duckdb")
        .launches()
        .runs("-c* -cmd *.shell* *.system* *install* *load*")
        .loads("-init -unsigned")
        .writes("*copy* *export* *attach* *.output* *.once*"),
    // psql(1), "-c '\\!'", "-f", "-o", "-L", "-v", `COPY … TO PROGRAM`
    Row::of("psql")
        .launches()
        .runs("*\\* *|* *program* *copy* -v --set --variable -P --pset")
        .loads("-f --file")
        .writes("-o --output -L --log-file"),
    // mysql(1), "-e 'system …'", "\\!", "--pager", "--tee", "--defaults-file", "--plugin-dir"
    Row::of("mysql mariadb mysqldump mysqladmin mysqlimport mycli pgcli usql")
        .launches()
        .runs("*\\* *system* *source* *pager* *edit* --pager --init-command* --delimiter*")
        .loads("--defaults-* --plugin-dir --default-auth --myclirc --pgclirc")
        .writes("--tee *tee* *outfile* *dumpfile* -T --tab -r --result-file --log-error -l"),
    Row::of("pg_dump pg_dumpall pg_restore pg_basebackup").runs("--compress-program").writes(
        "-f --file -D \
            --pgdata",
    ),
    Row::of("mongo mongosh redis-cli cqlsh clickhouse clickhouse-client sqlcmd sqlplus influx etcdctl").launches(),
];
