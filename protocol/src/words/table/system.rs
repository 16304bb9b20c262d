//! Programs of the system, of documents and of media.

use crate::words::row::Effect::Runs;
use crate::words::row::Row;

pub(super) const ROWS: &[Row] = &[
    // date(1), "-s"; hostname(1); hwclock(8); timedatectl(1)
    Row::of("date").writes("-s --set").valued("drIf"),
    Row::of("hostname domainname").writes_after(0).writes("-F --file -b"),
    // lsof(8) "-D"; ps(1), top(1), free(1), df(1) only read.
    Row::of("lsof").writes("-D*").runs("-X*"),
    Row::of(
        "top htop free vmstat iostat mpstat uptime who w last id groups whoami logname \
            tty lscpu lsblk lsusb lspci lsmod uname arch nproc getconf locale getent exa eza \
            numfmt factor seq expr",
    ),
    Row::of("dmesg").runs("-H --human -P*").writes("-C --clear -c --read-clear"),
    Row::of("setterm").writes("--append --file -append -file --store"),
    Row::of("kill killall pkill reboot shutdown halt poweroff"),
    Row::of("sysctl").loads("-p --load --system").writes("-w --write *=*"),
    // logger(1), wall(1) only tell.
    Row::of("logger wall write mesg"),
    Row::of(
        "xdg-open open start xdg-mime gio exo-open sensible-browser x-www-browser www-browser \
            firefox chromium google-chrome",
    )
    .launches(),
    // ffmpeg(1): output files are operands; "-dump_attachment", "-report", "-progress", "-vstats_file",
    // "-passlogfile", filters with scripts, "-f tee|concat|lavfi"
    Row::of("ffmpeg ffprobe ffplay avconv sox mplayer mpv vlc cvlc gst-launch-1.0 melt")
        .runs(
            "--script* --scripts* -filter_script* -filter_complex_script* -/* --input-ipc* --input-file* --lua* \
            --ytdl* --extraintf* -I --intf* -slave -af* --load-scripts* *ladspa* *frei0r* *movie=* \
            -init_hw_device* --input* -input* --lavfi* --player-* --o* -profile* --profile* edl:* --vo* \
            --ao* --af* --vf*",
        )
        .loads("-fpre* -pre* -vpre* -apre* --config* --include* --plugin* -include -user-config*")
        .writes(
            "-dump_attachment* -report -progress* -vstats* -passlogfile* -y --log-file* --record* \
            --stream-record* --stream-dump* -dumpstream -dumpfile --screenshot* -hls_* -segment_* -sdp_file* \
            -f -save* -o --o* --sout* -o* -print_graphs_file* --dump* --watch-later* --cache*",
        )
        .plain("-filter_complex -filter:v -filter:a -filter"),
    // convert(1) of ImageMagick: `|cmd`, `msl:`, `ephemeral:`, "-write", "-script"
    Row::of("convert magick mogrify identify composite montage compare import display animate conjure stream gm")
        .runs(
            "*|* *msl:* *mvg:* *ephemeral:* *url:* *https:* *http:* *svg:* -script* -process* -launch* \
            *inline:* *plugin:* *pango:* *win:* *x:* -define* -use-pixmap",
        )
        .writes("-write* -path* -format* +write* -debug* *show:* *print:* *info:* -monitor -read-mask* -log"),
    // pandoc(1), "-F", "-L", "--pdf-engine", "-o", "-t x.lua", "-d", "--data-dir", "--extract-media"
    Row::of("pandoc")
        .runs(
            "-F --filter -L --lua-filter --pdf-engine --pdf-engine-opt -t --to -w --write -f --from -r --read \
            --katex* --track-changes*",
        )
        .loads(
            "-d --defaults --data-dir --template -H --include-* -A -B --syntax-definition --abbreviations \
            --citeproc-* --metadata-file --csl -C",
        )
        .writes("-o --output --extract-media --log")
        .valued("MVTc")
        .commands(&[Row::of("lua server").itself(Runs)]),
    // latex(1), "-shell-escape", "--enable-write18", "-output-directory"; latexmk(1) runs its settings
    Row::of(
        "tex latex pdflatex xelatex lualatex luatex pdftex bibtex biber makeindex latexmk tectonic context \
            dvips dvipdfm dvipdfmx texi2dvi texi2pdf groff troff nroff typst",
    )
    .launches()
    // Their options may be abbreviated, with one dash or two.
    .runs(
        "--shell-escape --enable-write18 -e* -pdflatex* -latex* -r -U -z -I* -M* -m* -P* -Z* \
            --input-handler* --lua* \
            -fmt* -ini* -sh* -en* -l* --sh* -8bit -cn* -par* -prog* -tran* -synctex* --synctex* -mlt* -translate*",
    )
    .loads("-cnf-line* -config* --config* -C* -c --root* --font-path*")
    .writes(
        "-output-directory* -jobname* -o* -outdir* -auxdir* -d --outdir* -t* -recorder* -output* \
            -interaction-file*",
    ),
    // gs(1), "-sOutputFile", "-o", "-dNOSAFER", "-c", "%pipe%"; ps2pdf
    Row::of("gs ghostscript ps2pdf pdf2ps ps2ps eps2eps ps2ascii dvipdf pstopdf")
        .launches()
        .runs("-c -dNOSAFER* -I* *%pipe%* -f -@* @* --permit* -dDELAYSAFER*")
        .writes("-o* -sOutputFile* -sStdout* -sDEVICE*"),
    // qpdf(1), pdftk "output", pdftotext(1): the second operand is the output.
    Row::of(
        "pdftotext pdftohtml pdftops pdftocairo pdfimages pdftoppm pdfseparate pdfunite \
            qpdf",
    )
    .loads("@* --job-json-file*")
    .writes("--split-pages* --replace-input --output*")
    .writes_after(1)
    .valued("flrxyWH"),
    Row::of("pdfinfo pdffonts pdftk mutool exiv2 jhead")
        .loads("@* --job-json-file*")
        .runs("-ce* -cm* -cmd* -l* run")
        .writes("output -o* --output* --split-pages* --replace-input"),
    // dot(1) of Graphviz, "-o", "-O", "-c"; plantuml, mermaid "mmdc -o", "-p"
    Row::of(
        "dot neato fdp sfdp twopi circo plantuml mmdc d2 drawio inkscape rsvg-convert libreoffice soffice \
            wkhtmltopdf weasyprint",
    )
    .runs(
        "--actions* --shell* --with-gui* --verb* -P* --convert-to* macro:* -env:* --accept* -p \
            --puppeteerConfigFile* --run-script* --enable-local* -graphvizdot* -c --macro* vnd.*",
    )
    .loads("-l* -config* -C --configFile* --cssFile* --style* -include*")
    .writes("-o* -O* --export* --output* -w --outdir* --print-to-file* -tduration* --cookie-jar*"),
    Row::of("getfacl getfattr lsattr namei findmnt loc"),
    // scc "-o", "-i" is a list; cloc "--out", "--extract-with"; tokei "--output" is a format
    Row::of("scc").writes("-o --output --format-multi --sql-project").valued("fiMs"),
    Row::of("tokei").plain("--output"),
    Row::of("cloc")
        .runs("--extract-with --diff-alignment*")
        .loads(
            "--read-lang-def --force-lang-def \
            --config",
        )
        .writes(
            "--out --report-file --sql --write-lang-def --counted --ignored --categorized --unicode* --sdir* \
            --strip-comments",
        ),
    // cowsay(6) "-f": a cow is code of Perl. neofetch(1) "--config": bash. fastfetch(1) "-c", "--logo"; facter(8)
    // "--custom-dir", "--external-dir"
    Row::of("cowsay cowthink").loads("-f").valued("eTW"),
    Row::of("neofetch screenfetch").loads("--config --source --ascii*"),
    Row::of("fastfetch")
        .runs("--command*")
        .loads(
            "-c --config --load-config -l --logo --logo-type --raw \
            --file*",
        )
        .writes("--gen-config*"),
    Row::of("facter ohai").loads("--custom-dir --external-dir --config -c --puppet -p -d --directory"),
    Row::of("figlet fortune lolcat toilet"),
    // espeak-ng(1), "-w", "--path", "--compile", "--phonout", "--split"
    Row::of("espeak espeak-ng").loads("--path").writes("-w --split --compile* --phonout").valued("abdfgklpsv"),
    // enscript(1), "-p", "--output"; a2ps(1), "-o", "--delegate", "--define"
    Row::of("enscript a2ps lp lpr mpage")
        .runs("--delegate* -E --filter -D --define -I -d -P --printer")
        .loads("--config* --style* --user-option* -X")
        .writes("-o -p --output"),
    // journalctl(1), "--cursor-file", "--vacuum-size", "--rotate"; its pager is a variable.
    Row::of("journalctl").writes(
        "--cursor-file --vacuum-* --rotate --flush --sync --relinquish-var --smart-relinquish-var --setup-keys \
        --update-catalog",
    ),
    // pmap(1), "-N", "-C"; heaptrack_print, "-H", "-F", "-M"
    Row::of("pmap heaptrack_print").loads("-C --read-rc-from").writes(
        "-N --create-rc-to -n --create-rc -H \
            -F -M --print-*",
    ),
    // pidstat(1), "-e PROGRAM"; sar(1), "-o"; iftop, nethogs
    Row::of("pidstat").runs("-e").valued("CGpTU"),
    Row::of("sar sadf iftop nethogs atop nmon").runs("-c").writes("-o -w -F").plain("-s"),
    // lynx(1), "-cmd_script", "-cfg", "-editor", "-lss"; w3m(1), "-o", "-config"; elinks(1), "-eval", "-config-file"
    Row::of("lynx")
        .runs("-cmd_script* -editor* -exec* -localexec*")
        .loads("-cfg* -lss*")
        .writes("-cmd_log* -trace -tlog -mime_header -crawl -cookie_save_file* -session* -error_file* -bookmark*"),
    Row::of("w3m")
        .runs("-o -pager")
        .loads("-config -F -I")
        .writes("-debug -bookmark -cookie-jar -reqlog -post")
        .plain("-dump -dump_source -dump_head -cols -T -no-cookie --version --help"),
    Row::of("elinks links links2")
        .runs("-eval -remote* -html-* -download* -*exec* -*prog* -mailto* -telnet* -tn3270* -smb* -lookup")
        .loads("-config* -c -g")
        .writes("-session* -base-session -touch-files -bookmarks*"),
];
