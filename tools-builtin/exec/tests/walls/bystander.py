# A process outside the walls: answers on sockets of all kinds with the secret, and waits to be attacked.
import ctypes, os, socket, sys, threading
SECRET = os.environ['SECRET'].encode()
libc = ctypes.CDLL(None, use_errno=True)
buffer = ctypes.create_string_buffer(SECRET)


def tell(name, value):
    print(f'{name}={value}')


def answer(server):
    while True:
        client, _ = server.accept()
        client.sendall(SECRET)
        client.close()


def serve(family, address):
    server = socket.socket(family, socket.SOCK_STREAM)
    server.bind(address)
    server.listen()
    threading.Thread(target=answer, args=(server,), daemon=True).start()
    return server.getsockname()


def echo(server):
    while True:
        _, address = server.recvfrom(100)
        server.sendto(SECRET, address)


udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
udp.bind(('127.0.0.1', 0))
threading.Thread(target=echo, args=(udp,), daemon=True).start()
datagrams = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
datagrams.bind('outside/datagrams')
tell('UDP', udp.getsockname()[1])
tell('TCP4', serve(socket.AF_INET, ('127.0.0.1', 0))[1])
try:
    tell('TCP6', serve(socket.AF_INET6, ('::1', 0))[1])
except OSError:
    tell('TCP6', 0)
serve(socket.AF_UNIX, f'\0toolcrib-{os.getpid()}')
serve(socket.AF_UNIX, 'outside/socket')
serve(socket.AF_UNIX, 'readonly/socket')
tell('ADDRESS', ctypes.addressof(buffer))
segment = libc.shmget(0, 4096, 0o600)
libc.shmat.restype = ctypes.c_void_p
attached = libc.shmat(segment, None, 0)
ctypes.memmove(attached, SECRET, len(SECRET))
libc.shmctl(segment, 0, None)
tell('SEGMENT', segment)
handle = (ctypes.c_char * 136)()
ctypes.memmove(handle, (128).to_bytes(4, 'little'), 4)
libc.name_to_handle_at(-100, b'outside/secret', handle, ctypes.byref(ctypes.c_int()), 0)
tell('HANDLE', bytes(handle).hex())
opened = open('outside/secret')
tell('OPENED', opened.fileno())
print('ready', flush=True)
sys.stdin.read()
