//! Programs that run the command in their words. A program that a clause spells there has its own special words.

use crate::words::row::Row;

pub(super) const ROWS: &[Row] = &[
    // env(1), "-S"; a variable such as LD_PRELOAD, PATH, GIT_PAGER or NODE_OPTIONS is a program.
    Row::of("env").wraps(0).runs("-S --split-string =").loads("-P").valued("uC"),
    // sudo(8), doas(1), su(1), runuser(1): variables, and options with programs
    Row::of("sudo sudo-rs")
        .wraps(0)
        .runs(
            "-e --edit -s --shell -i --login -D --chdir -R --chroot \
            =",
        )
        .valued("ugpCTU"),
    Row::of("doas").wraps(0).runs("-s").loads("-C").valued("u"),
    // The number of words before the command: timeout(1) DURATION, chrt(1) PRIORITY, taskset(1) MASK, flock(1) FILE
    Row::of("nice").wraps(0).valued("n"),
    Row::of(
        "nohup setsid choom fakeroot unbuffer command exec builtin catchsegv memusage xtrace eatmydata \
            proxychains proxychains4 \
            torsocks faketime dbus-run-session msgexec help2man chronic ifne lckdo gosu su-exec tini dumb-init \
            caffeinate numactl cgexec proot fakechroot",
    )
    .wraps(0),
    // time(1), "-o"
    Row::of("time gtime").wraps(0).writes("-o --output").valued("f"),
    Row::of("timeout gtimeout").wraps(1).valued("sk"),
    Row::of("stdbuf").wraps(0).valued("ioe"),
    Row::of("ionice").wraps(0).valued("cnpPu"),
    Row::of("chrt taskset").wraps(1),
    Row::of("setarch linux32 linux64").launches(),
    Row::of("flock").launches().runs("-c --command"),
    Row::of("chroot").wraps(1),
    // strace(1), ltrace(1), "-o"
    Row::of("strace ltrace").launches().writes("-o --output -ff --output-separately").valued("aeEIOpPsSuUX"),
    // valgrind(1), perf(1), gdb(1), lldb(1): they run a program, and scripts of their own.
    Row::of("valgrind")
        .launches()
        .runs("--db-command --allow-command-line-opts*")
        .loads("--suppressions --tool --extra-debuginfo-path")
        .writes("--log-file --xml-file --*-out-file* --log-socket*"),
    Row::of("perf")
        .launches()
        .runs("--exec-path -c --objdump --addr2line --pager -s --script --clang-path --llc-path")
        .loads("--debuginfo* --vmlinux --config")
        .writes("-o --output --output-dir"),
    Row::of("gdb lldb rust-gdb rust-lldb cgdb pdb bashdb dlv").launches().runs(
        "-ex -iex -eval-command* -init-eval-command* -x -ix -command* -init-command* --ex* --eval* \
            --command* --init* -o --one-line* -O -s -S --source* -k -K --python -P",
    ),
    Row::of(
        "at ant-run batch bwrap capsh cpulimit crontab direnv entr eval firejail ld.so parallel \
            pkexec rsh run-parts runuser screen script setpriv snap-run sshpass start-stop-daemon su \
            systemd-run tmux trap unshare nsenter watch watchexec xargs find-exec git-receive-pack \
            git-upload-pack source . zellij byobu abduco dtach daemonize supervisord s6 runit chpst softlimit \
            xvfb-run systemctl service launchctl pm2 forever concurrently cross-env dotenv honcho \
            foreman overmind ttyrec asciinema rlwrap winpty wsl dbus-launch coproc mapfile readarray \
            enable hash alias unalias bind complete fc",
    )
    .launches(),
    // hyperfine(1), "--export-json", "--setup", "--prepare", "--shell"
    Row::of("hyperfine")
        .launches()
        .runs("--shell -S --setup -s --prepare -p --conclude -C --cleanup -c --reference")
        .writes("--export-* --output")
        .valued("wmMrPDLnuiN"),
    // gtfobins.github.io: programs that run what they are told. The first of these have a command in their words.
    Row::of(
        "aa-exec multitime torify setlock openvt grc genie ksu pexec logsave tasksh run-mailcap msgfilter posh rc \
        sash slsh jrunscript easy_install cdist ldd mise asdf devbox multipass lima colima nomad pg_virtualenv pee \
        mispipe zrun teip rr mpirun mpiexec srun pyenv rbenv nodenv nvm fnm volta pixi doppler sops",
    )
    .launches(),
    Row::of(
        "xdotool tmate perlbug perlthanks bashbug red mail mailx mutt neomutt alpine crash scanmem gimp debugfs \
        tdbtool dmsetup jtag ginsh dosbox update-alternatives openvpn psftp apache2 httpd nginx lighttpd asterisk \
        vigr vipw wireshark zathura yelp volatility logrotate easyrsa consul vault k6 dvc liquibase cue opa xmore \
        gpg-connect-agent scriptlive qemu-io qemu-storage-daemon minicom dhclient",
    )
    .launches()
    .runs("exec -e -E -c -x -X -s -S -sf --up --down --ex*")
    .loads("-f -F -C -g -m -p -P -r")
    .writes("-o -O -l --vars --state"),
    Row::of("prove uwsgi gunicorn flask django-admin uvicorn celery streamlit jupyter papermill conftest")
        .launches()
        .runs("-e --exec -P -M -I -x")
        .loads("-c --config"),
    // xdg-user-dir(1) evaluates its operand.
    Row::of("xdg-user-dir").runs("*}* *$* *`*"),
    // busctl(1), "--address=unixexec:"; ssh-copy-id(1), check_by_ssh, "-o"; ldconfig(8), "-f"
    Row::of("busctl dbus-send dbus-monitor").runs("--address* --peer* --bus*"),
    Row::of("ssh-copy-id check_by_ssh").runs("-o -F").loads("-i"),
    Row::of("ldconfig").loads("-f -C -r"),
    // varnishncsa(1), gtester(1), genisoimage(1), cobc(1), gcore(1), tic(1), unsquashfs(1), rtorrent(1), scrot(1)
    Row::of(
        "varnishncsa varnishlog gtester genisoimage mkisofs xorriso cobc gcore tic unsquashfs arj \
            rtorrent scrot arp fping",
    )
    .runs("-e* -j* -exec* -x -P")
    .writes("-w* -o* -d* -f*"),
    // man(1), "-P", "-H", "-X", "-p", "-C", "--html", "-r"
    Row::of("perldoc").launches().runs("-w -n -M -m -D -F -o -i").writes("-d"),
    Row::of("man mandb manpath catman apropos whatis info pinfo")
        .launches()
        .runs(
            "-P --pager -H --html -X --gxditview -p --preprocessor -T --troff-device -Z --ditroff -t --troff -r \
            --prompt",
        )
        .loads("-C --config-file -M --manpath -m --systems -l --local-file --init-file --restore")
        .writes("-o --output --dribble")
        .valued("sSEReL"),
];
