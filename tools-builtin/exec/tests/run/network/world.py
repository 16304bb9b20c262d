"""Servers outside of the sandbox. Prints their ports, and a line for each visit that should not happen.

`front` is the granted host: a server of many names, which answers REACHED if a request or a first message of TLS is for another name.
`forbidden` answers every connection with REACHED.
"""
import json, os, re, socket, sys, threading

ANSWER = b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%s"
GRANTED = b"granted.test"


def say(text):
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def serve(listener, handle):
    def accept():
        while True:
            connection, _ = listener.accept()
            if handle is forbidden:
                say("VISIT forbidden")
            threading.Thread(target=guarded, args=(handle, connection), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()


def guarded(handle, connection):
    connection.settimeout(5)
    try:
        handle(connection)
    except OSError:
        pass
    connection.close()


def forbidden(connection):
    try:
        connection.sendall(ANSWER % (8, b"REACHED\n"))
        connection.shutdown(socket.SHUT_WR)
    except OSError:
        pass
    while connection.recv(4096):
        pass


class Reader:
    def __init__(self, connection):
        self.connection, self.bytes = connection, b""

    def until(self, pattern):
        while not (found := re.search(pattern, self.bytes)):
            piece = self.connection.recv(4096)
            if not piece:
                raise OSError("ended")
            self.bytes += piece
        text, self.bytes = self.bytes[: found.end()], self.bytes[found.end():]
        return text

    def take(self, length):
        while len(self.bytes) < length:
            piece = self.connection.recv(4096)
            if not piece:
                raise OSError("ended")
            self.bytes += piece
        text, self.bytes = self.bytes[:length], self.bytes[length:]
        return text


def front(connection):
    reader = Reader(connection)
    reader.bytes = connection.recv(4096)
    if reader.bytes[:1] == b"\x16":
        is_other = b"forbidden" in reader.bytes.lower()
        if is_other:
            say("VISIT front: TLS for another name")
        connection.sendall(b"REACHED\n" if is_other else b"fine\n")
        return
    while True:
        head = re.sub(rb"\r(?!\n)", b"\n", reader.until(rb"\r?\n\r?\n"))
        names = [name.strip().lower() for name in re.findall(rb"(?im)^[ \t]*host[ \t]*:([^\r\n]*)", head)]
        names += [name.lower() for name in re.findall(rb"^[^\r\n ]+ https?://([^/\r\n ]*)", head)]
        is_other = any(name not in (GRANTED, GRANTED + b":80") for name in names) or not names
        if is_other:
            say("VISIT front: " + repr(head))
        # The server of each trick reads the frame that helps the trick.
        length = re.search(rb"(?im)^content-length[ \t]*:[ \t]*\+?(\d+)", head)
        coding = re.search(rb"(?im)^[ \t]*transfer[-_]encoding[ \t]*:[^\r\n]*chunked", head)
        if coding and not (length and b"/by-length" in head):
            while size := int(reader.until(rb"\r?\n").split(b";")[0].strip() or b"0", 16):
                reader.take(size)
                reader.until(rb"\r?\n")
            while (trailer := reader.until(rb"\r?\n").strip().lower()):
                if trailer.startswith(b"host:"):
                    say("VISIT front: trailer")
                    is_other = True
        elif length:
            reader.take(int(length[1]))
        if moved := re.match(rb"GET (?:http://granted.test)?/to-(\d+)-([0-9a-f]+) ", head):
            location = bytes.fromhex(moved[2].decode())
            connection.sendall(b"HTTP/1.1 %s Moved\r\nlocation: %s\r\ncontent-length: 0\r\n\r\n" % (moved[1], location))
            continue
        connection.sendall(ANSWER % (8, b"REACHED\n") if is_other else ANSWER % (5, b"fine\n"))


def both_families():
    try:
        return socket.create_server(("::", 0), family=socket.AF_INET6, dualstack_ipv6=True, backlog=256)
    except OSError:
        return socket.create_server(("0.0.0.0", 0), backlog=256)


def datagrams(udp):
    while True:
        _, sender = udp.recvfrom(100)
        say("VISIT datagram")
        if sender:
            udp.sendto(b"REACHED", sender)


folder = sys.argv[1]
listeners = {"forbidden": both_families(), "front": socket.create_server(("127.0.0.1", 0), backlog=256)}
serve(listeners["forbidden"], forbidden)
serve(listeners["front"], front)
ports = {name: listener.getsockname()[1] for name, listener in listeners.items()}
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
udp.bind(("0.0.0.0", 0))
ports["udp"] = udp.getsockname()[1]
threading.Thread(target=datagrams, args=(udp,), daemon=True).start()
for name, address in [("path", os.path.join(folder, "socket")), ("abstract", "\0toolcrib-%d" % os.getpid())]:
    unix = socket.socket(socket.AF_UNIX)
    unix.bind(address)
    unix.listen()
    serve(unix, forbidden)
    ports[name] = address
machine = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
try:
    machine.connect(("192.0.2.1", 9))
    ports["machine"] = machine.getsockname()[0]
except OSError:
    ports["machine"] = "127.0.0.3"
say(json.dumps(ports))
sys.stdin.read()
