"""The filter of system calls in the sandbox, as a program of classic BPF, which bubblewrap hands to the kernel (seccomp).

    with filter_pipe() as descriptor:
        subprocess.run(enclosed(command, folder=folder, calls=descriptor), pass_fds=[descriptor])

The filter is a list of denied calls (EPERM) instead of allowed ones, because agents may use any language. It denies calls that
no player needs and that have been used to escape from sandboxes: keys, which ignore namespaces; access to other processes;
mounts and namespaces; programs in the kernel. It denies calls that reach other sandboxes, or arena, through a shared readable
file: leases, which block others when they open it, and notifications. It denies segments, queues and semaphores of System V,
and queues of POSIX, because their memory belongs to no process. Calls that take a lock report success without effect: libraries
such as SQLite need the answer, and in a sandbox only the agent itself could be locked out. Sockets are restricted to AF_UNIX,
because some families, such as AF_VSOCK, belong to no network namespace.
"""

import os
import platform
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from struct import Struct

from arena.api.errors import IsolationError

_TABLE = """
    add_key 248 217, request_key 249 218, keyctl 250 219, ptrace 101 117, process_vm_readv 310 270, process_vm_writev 311 271,
    kcmp 312 272, pidfd_getfd 438 438, perf_event_open 298 241, bpf 321 280, userfaultfd 323 282, mount 165 40, umount2 166 39,
    pivot_root 155 41, chroot 161 51, open_tree 428 428, move_mount 429 429, fsopen 430 430, fsconfig 431 431, fsmount 432 432,
    fspick 433 433, mount_setattr 442 442, unshare 272 97, setns 308 268, quotactl 179 60, swapon 167 224, swapoff 168 225,
    reboot 169 142, acct 163 89, syslog 103 116, memfd_secret 447 447, kexec_load 246 104, kexec_file_load 320 294,
    init_module 175 105, finit_module 313 273, delete_module 176 106, name_to_handle_at 303 264, open_by_handle_at 304 265,
    io_uring_setup 425 425, io_uring_enter 426 426, io_uring_register 427 427, inotify_init1 294 26, inotify_add_watch 254 27,
    fanotify_init 300 262, fanotify_mark 301 263, shmget 29 194, semget 64 190, msgget 68 186, mq_open 240 180
"""
DENIED = {name: (int(first), int(second)) for name, first, second in map(str.split, _TABLE.split(","))}
"""Names of system calls and their numbers on x86-64 and on aarch64."""
CLONE, CLONE3, FCNTL, FLOCK = (56, 220), (435, 435), (72, 25), (73, 32)
SOCKETS = ((41, 198), (53, 199))
"""socket(2) and socketpair(2)."""
NAMESPACES = 0x7E020000
"""Flags of clone(2) that create namespaces."""
MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
"""Names of architectures: the index in the pairs above, and AUDIT_ARCH of linux/audit.h."""
X32 = 0x40000000
"""Bit of the other calling convention of x86-64, which has all calls under other numbers."""

LOCKING_CONTROLS = (6, 7, 37, 38)
"""Commands of fcntl(2) that lock: F_SETLK, F_SETLKW, F_OFD_SETLK, F_OFD_SETLKW."""
DENIED_CONTROLS = (5, 36, 1024, 1025, 1026)
"""Other commands about locks, leases and notifications: F_GETLK, F_OFD_GETLK, F_SETLEASE, F_GETLEASE, F_NOTIFY."""
AF_UNIX = 1

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT, _SECOND_ARGUMENT = 0, 4, 16, 24
"""Offsets in seccomp_data. For arguments it is the lower half, which contains all flags."""
_ALLOW, _KILL, _EPERM, _ENOSYS, _EAFNOSUPPORT = 0x7FFF0000, 0x80000000, 0x00050001, 0x00050026, 0x00050061
_DONE = 0x00050000
"""The call is skipped and returns 0."""
_INSTRUCTION = Struct("=HBBI")
_Instruction = tuple[int, int, int, int]


def call_filter(machine: str) -> bytes:
    """Return the filter for an architecture. Raises IsolationError if its call numbers are unknown.

    Programs of another architecture are killed. clone3 is reported as missing, because a filter cannot see its flags. Libraries
    then use clone.
    """
    if machine not in MACHINES:
        known = " or ".join(MACHINES)
        raise IsolationError(f"sandbox: system calls: expected {known}, got {machine}; use isolation: process")
    place, architecture = MACHINES[machine]
    # A test instruction ends with two numbers of instructions to skip (if it holds, if not) and its operand.
    program: list[_Instruction] = [(_LOAD, 0, 0, _ARCHITECTURE), (_EQUAL, 1, 0, architecture), (_RETURN, 0, 0, _KILL)]
    program += [(_LOAD, 0, 0, _NUMBER), (_AT_LEAST, 0, 1, X32), (_RETURN, 0, 0, _EPERM)]
    program += _if_call(CLONE3[place], [(_RETURN, 0, 0, _ENOSYS)])
    for numbers in sorted(DENIED.values()):
        program += _if_call(numbers[place], [(_RETURN, 0, 0, _EPERM)])
    program += _if_call(CLONE[place], _if_argument(_FIRST_ARGUMENT, [(_ANY_BIT, NAMESPACES)], _EPERM, _ALLOW))
    controls = [*_if_any(LOCKING_CONTROLS, _DONE), *_if_any(DENIED_CONTROLS, _EPERM), (_RETURN, 0, 0, _ALLOW)]
    program += _if_call(FCNTL[place], [(_LOAD, 0, 0, _SECOND_ARGUMENT), *controls])
    program += _if_call(FLOCK[place], [(_RETURN, 0, 0, _DONE)])
    for numbers in SOCKETS:
        program += _if_call(numbers[place], _if_argument(_FIRST_ARGUMENT, [(_EQUAL, AF_UNIX)], _ALLOW, _EAFNOSUPPORT))
    program.append((_RETURN, 0, 0, _ALLOW))
    return b"".join([_INSTRUCTION.pack(*one) for one in program])


def _if_call(number: int, then: Sequence[_Instruction]) -> list[_Instruction]:
    return [(_EQUAL, 0, len(then), number), *then]


def _if_any(values: Sequence[int], answer: int) -> list[_Instruction]:
    """Return the instructions that end the filter with an answer if the loaded argument is one of the values."""
    jumps = [(_EQUAL, len(values) - number - 1, 0, value) for number, value in enumerate(values[:-1])]
    return [*jumps, (_EQUAL, 0, 1, values[-1]), (_RETURN, 0, 0, answer)]


def _if_argument(offset: int, tests: Sequence[tuple[int, int]], found: int, other: int) -> list[_Instruction]:
    """Return the instructions that end the filter with `found` if any test of an argument holds, or else with `other`."""
    jumps = [(test, len(tests) - number, 0, value) for number, (test, value) in enumerate(tests)]
    return [(_LOAD, 0, 0, offset), *jumps, (_RETURN, 0, 0, other), (_RETURN, 0, 0, found)]


@contextmanager
def filter_pipe() -> Iterator[int]:
    """Yield a descriptor from which one program can read the filter for this machine."""
    program = call_filter(platform.machine())
    read, write = os.pipe()
    try:
        os.write(write, program)  # far less than a pipe holds
        os.close(write)
        yield read
    finally:
        os.close(read)
