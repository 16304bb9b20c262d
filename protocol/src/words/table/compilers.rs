//! Compilers, linkers and code generators.

use crate::words::row::Row;

pub(super) const ROWS: &[Row] = &[
    // gcc(1), "-wrapper", "-fplugin", "-B", "-specs", "-o", "-save-temps", "-MF", "@file"; clang(1), "-Xclang
    // -load", "--config", "-fuse-ld"
    Row::of(
        "gcc g++ cc c++ clang clang++ clang-cl gfortran gnat gdc cpp tcc icc icx nvcc hipcc emcc em++ \
            zig-cc mpicc mpicxx musl-gcc c89 c99 ccache sccache distcc",
    )
    .runs(
        "-wrapper* -B* -specs* --specs* -fuse-ld* --ld-path* -fplugin* -Xclang* -Xlinker* -Xassembler* \
            -Xpreprocessor* -Wl,* -Wa,* -Wp,* -load* -fpass-plugin* -ccbin* --compiler-bindir* --config* @* \
            -fmodule-mapper* -foffload* -no-canonical-prefixes -iplugindir* -mllvm* --driver-mode* -cc1* --run-args*",
    )
    .loads(
        "--sysroot* -isysroot* -resource-dir* --gcc-toolchain* --gcc-install-dir* -ivfsoverlay* \
            -fmodule-map-file* -fprofile-use* -fprebuilt-module-path*",
    )
    .writes(
        "-o* --output* -save-temps* --save-temps* -M* -MF* -d* -dumpdir* -aux-info* -fdump-* -ftime-trace* \
            -ftest-coverage* --coverage* -fprofile-* -fdiagnostics-* -fstack-usage* -gsplit-dwarf* \
            -serialize-diagnostics* -fsave-* -foptimization-record-file* -fcallgraph-info* -fcrash-* -fopt-info* \
            -fmodules-cache-path* --dependent-output* /Fo* /Fe* -J*",
    ),
    // ld(1), "-plugin", "-dynamic-linker", "-o", "-T", "-Map"; as(1), gold, lld, mold
    Row::of("ld ld.bfd gold ld.gold ld.lld lld mold wild as gas nasm yasm")
        .runs("-plugin* --plugin* -run* --run* -mllvm* @* -@* -p* -P* --pre* -I*")
        .loads("-T* --script* --dynamic-linker* -dynamic-linker* --version-script* -c* --mri-script* --sysroot*")
        .writes(
            "-o* --output* -Map* --Map* --dependency-file* --out-implib* -l* -M* --MD* --print-map* \
            --reproduce* --trace-file*",
        ),
    // objdump(1), nm(1), readelf(1) only read, but load plugins; objcopy(1), strip(1) "-o"
    Row::of(
        "objdump nm readelf size addr2line c++filt ranlib gprof gcov llvm-nm llvm-objdump llvm-cov \
            llvm-profdata",
    )
    .loads("--plugin* @* --config* --disassembler-options*")
    .runs("-Xdemangler* -object-type*")
    .writes("-o* --output* --instr-profile*"),
    Row::of("objcopy strip elfedit patchelf chrpath install_name_tool")
        .loads("--plugin* @* --set-interpreter* --add-needed* --set-rpath* --replace-needed*")
        .writes("-o* --output*  --dump-section* --extract-* --split-dwo*"),
    // javac(1), "-processor", "-J", "-d", "@file"; kotlinc, scalac, groovyc
    Row::of(
        "javac kotlinc scalac groovyc ecj javadoc jdeps jlink jpackage javap jmod jcmd jstack jmap jinfo \
            jps jstat jhsdb \
            jdeprscan jimage keytool jarsigner serialver rmic rmiregistry javah native2ascii jconsole jdb jwebserver",
    )
    .runs(
        "-J* -processor* --processor* -Xplugin* -doclet* -docletpath* @* -Xpluginsdir* --add-launcher* \
            -plugin* -script* -e",
    )
    .writes("-d -d* -s -h --output* -o* --dest* -Xmodule-path*"),
    // tsc: "--outFile", "--outDir", "--plugins"
    Row::of("tsc")
        .loads("@*")
        .plain(
            "--module --lib --moduleResolution --moduleDetection --importHelpers --esModuleInterop \
            --resolveJsonModule --isolatedModules",
        )
        .writes("--declarationDir --tsBuildInfoFile --generateTrace --generateCpuProfile --init"),
    // esbuild, webpack, rollup, vite, parcel, swc, babel: a configuration is code.
    Row::of(
        "esbuild webpack webpack-cli rollup vite parcel swc babel browserify rspack rsbuild tsup unbuild \
            metro next nuxt astro gulp grunt gatsby ng vue-cli-service postcss jscodeshift",
    )
    .launches()
    .runs("--plugin* -p --transform* -t -r --register --gulpfile* --gruntfile* --tasks* --use* --preload* -u")
    .loads("-c --config* --presets* --plugins* --extends --env-name --tsconfig* -f --base")
    .writes(
        "-o --out* --outfile* --outdir* --output* -d --dir --metafile* --serve* --analyze* --dist-dir --watch-delay* \
        --profile* --json=* --file* --replace",
    ),
    // protoc(1), "--plugin", "--*_out", "-o", "@file"; flatc, thrift, capnp "-o"
    Row::of("protoc buf flatc thrift capnp swig bison yacc flex lex m4 re2c gperf rpcgen ragel antlr antlr4 asn1c")
        .runs("--plugin* @* --*-plugin* -S* --skeleton* -M* --m4* --report* --external-language* -package*")
        .loads("-I* --proto_path* --config* --template* -F --reload-state*")
        .writes(
            "-o* --*_out* --output* --out* --defines* -d* --header* --graph* --xml* -r* --freeze-state* -b* \
            --file-prefix* -t* -w -P* -p* --descriptor_set_out* --dependency_out*",
        ),
    // ghc(1), ocamlopt(1), fpc, dmd, ldc2, sbcl, mlton: "-pgm", "-F", "-pp", "-ppx", "-o", "-plugin"
    Row::of(
        "ghc ocamlc ocamlopt ocamlfind fpc dmd ldc2 mlton gnatmake swiftc solc vyper erlc elixirc coqc agda \
            idris2 lean iverilog ghdl verilator",
    )
    .runs(
        "-pgm* -F* -e* -pp* -ppx* -plugin* -fplugin* -opt* -cc* -linker* -use-ld* -tools-directory* -load* \
            -Xcc* -Xlinker* -Xfrontend* @* -run* -XTemplateHaskell* -main* --exe* --build* -fclear-plugins* \
            -toolexec* -pa*",
    )
    .loads("-package-db* -sdk* -module-cache-path* -vfsoverlay*")
    .writes("-o* -odir* -hidir* -outputdir* -dump* -d* --output* -emit* -M* --overwrite* -Xf* -vcd*"),
    // llc(1), opt(1), clang-tidy "-load", "--config-file", "--export-fixes"; clang-format "-i", "--style=file:";
    // include-what-you-use
    Row::of("opt llc lli llvm-as llvm-dis llvm-link bugpoint mlir-opt")
        .runs(
            "-load* --load* -extra-* --fake-argv0* --compile-command* --run-* --additional-so* --safe-path* \
            --remote-*",
        )
        .writes("-o* --o* --output* -stats* -time-trace* --save-*"),
    Row::of("clang-tidy clang-check clang-query clang-apply-replacements clangd")
        .runs("-load* --load* -c -f --extra-arg* --query-driver* -plugin*")
        .loads("--config* -p --vfsoverlay* --compile-commands-dir*")
        .writes("--fix* -fix* --export-fixes* --store-check-profile* --line-filter-file*"),
    Row::of("clang-format").loads("--style* -style*").writes("-i"),
    // pkg-config(1): reads. Its variables in the environment are special there.
    Row::of("pkg-config pkgconf").loads("--define-variable --personality --relocate").writes("--log-file"),
];
