import ctypes, errno, fcntl, os, resource, signal, socket, stat, struct, sys, time
signal.alarm(60)
SITE, GRANTED, READONLY, OUTSIDE, TEMPORARY = (os.environ[n].rstrip('/') for n in ('SITE', 'GRANTED', 'READONLY', 'OUTSIDE', 'TEMPORARY'))
BYSTANDER = int(os.environ.get('BYSTANDER', 0))
LODGE = SITE + '/lodge'
HIDDEN = LODGE + '/lair/hidden'
PROTECTED = GRANTED + '/guarded/deep/config'
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
X86 = os.uname().machine == 'x86_64'


def check(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def call(number, *args):
    return check(libc.syscall(ctypes.c_long(number), *(ctypes.c_long(a) if isinstance(a, int) else a for a in args)))


def write(path, text='after'):
    with open(path, 'w') as file:
        file.write(text)


def read(path):
    with open(path) as file:
        print(file.read())


def reached():
    print('REACHED', flush=True)


def errno_of(function, *args):
    try:
        function(*args)
    except OSError as error:
        return error.errno
    return 0


