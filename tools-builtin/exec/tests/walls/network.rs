//! Networks and sockets.

use libtest_mimic::Trial;

use crate::case::Case;
use crate::probe::{Probe, leaks, reaches};
use crate::site::{SECRET, Site};
use crate::work;

const UDP: &str = "udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
udp.sendto(b'x', ('127.0.0.1', int(os.environ['UDP'])))
print(udp.recv(100))
";

/// Returns the control of the probes that a network lets through.
pub(crate) fn trial(case: &Case) -> Trial {
    work::trial(
        format!("{case}::a_program_reaches_servers_and_knows_the_servers_of_names"),
        |_, case| {
            let names = "if os.path.exists('/etc/resolv.conf'): open('/etc/resolv.conf').close()\n";
            let tcp = "print(socket.create_connection(('127.0.0.1', int(os.environ['TCP4']))).recv(100))\n";
            let site = Site::new(case).with_bystander(case);
            let output = site.confined(case, &[tcp, UDP, names, "reached()"].concat(), false);
            let printed = String::from_utf8_lossy(&output.stdout);
            assert_eq!(printed.matches(SECRET).count(), 2, "{output:?}");
            assert!(printed.contains("REACHED"), "{output:?}");
            Ok(())
        },
        case,
    )
}

pub(crate) fn probes() -> Vec<Probe> {
    let probes = vec![
        leaks(
            "connect_ipv4",
            "print(socket.create_connection(('127.0.0.1', int(os.environ['TCP4']))).recv(100))",
        )
        .with_gap(Case::has_network),
        leaks(
            "connect_ipv6",
            "print(socket.create_connection(('::1', int(os.environ['TCP6']))).recv(100))",
        )
        .with_gap(Case::has_network)
        .if_possible(),
        leaks("send_udp", UDP).with_gap(Case::has_network),
        reaches(
            "listen",
            "socket.create_server(('127.0.0.1', 0)); reached()",
        )
        .with_landlock_alone(),
        reaches(
            "listen_without_binding",
            "socket.socket().listen(); reached()",
        )
        .with_landlock_alone(),
        reaches("bind", "socket.socket().bind(('127.0.0.1', 0)); reached()").with_landlock_alone(),
        reaches(
            "multipath_socket",
            "socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262); reached()",
        )
        .if_possible(),
        reaches(
            "raw_socket",
            "socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP); reached()",
        )
        .of_root(),
        reaches(
            "packet_socket",
            "socket.socket(socket.AF_PACKET, socket.SOCK_RAW); reached()",
        )
        .of_root()
        .if_possible(),
        reaches(
            "netlink_socket",
            "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0); reached()",
        ),
        reaches(
            "vsock_socket",
            "socket.socket(40, socket.SOCK_STREAM); reached()",
        )
        .if_possible(),
        reaches(
            "crypto_socket",
            "socket.socket(38, socket.SOCK_SEQPACKET); reached()",
        )
        .if_possible(),
        leaks(
            "connect_abstract_socket",
            "unix = socket.socket(socket.AF_UNIX)
unix.connect('\\0toolcrib-%d' % BYSTANDER)
print(unix.recv(100))",
        ),
        leaks(
            "connect_path_socket",
            "unix = socket.socket(socket.AF_UNIX)
unix.connect(OUTSIDE + '/socket')
print(unix.recv(100))",
        ),
        leaks(
            "connect_path_socket_through_link",
            "os.symlink(OUTSIDE + '/socket', 'link')
unix = socket.socket(socket.AF_UNIX)
unix.connect('link')
print(unix.recv(100))",
        ),
        leaks(
            "connect_path_socket_in_readable",
            "unix = socket.socket(socket.AF_UNIX)
unix.connect(READONLY + '/socket')
print(unix.recv(100))",
        )
        .with_gap(|case| !case.alone),
        reaches(
            "send_from_pair",
            "one, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
one.sendto(b'x', OUTSIDE + '/datagrams')
reached()",
        ),
        reaches(
            "send_message_from_pair",
            "one, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
one.sendmsg([b'x'], [], 0, OUTSIDE + '/datagrams')
reached()",
        ),
    ];
    probes.into_iter().map(Probe::beside_process).collect()
}
