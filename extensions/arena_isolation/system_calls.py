"""The filter for system calls in the sandbox. It is a program for classic BPF, which bubblewrap passes to the kernel (seccomp).

    with filter_pipe(frozen=True, metered=False) as descriptor:
        command = enclose(command, folder=folder, calls=descriptor, metered=False)
        subprocess.run(command, pass_fds=[descriptor])

The filter is a list of denied calls (EPERM) instead of allowed ones, because agents may use any language. It denies calls that no
player needs and that have been used to escape from sandboxes. They are about keys, which ignore namespaces; access to other
processes; mounts and namespaces; and programs in the kernel. The filter also denies calls that reach other sandboxes, or arena,
through a readable file that they share: leases, which block others when they open the file, and notifications. It denies System V
segments, queues and semaphores, and POSIX queues, because their memory belongs to no process. Calls that take a lock report
success but have no effect: libraries such as SQLite need this answer, and in a sandbox a lock could only keep out the agent
itself. Calls that drop pages of a file from memory or change the buffer sizes of sockets have no effect either. Calls that show
which pages of a file are in memory are denied, because a seat could drop some pages and so leave a message of thousands of bits
for another seat. So is `io_setup`, because all sandboxes share its slots. Sockets are restricted to AF_UNIX, because some
families, such as AF_VSOCK, belong to no network namespace.

A read-only mount does not make a file immutable: `fcntl` and `ioctl` have commands that keep a value in the file's inode. The
device nodes of the host are writable, so any process may set their times. So only the commands that players need are allowed.
Calls that set times report success without an effect, because programs that copy or unpack files set times, too. Calls that tell
how much of a file system is free are reported as missing.

Without a control group, a process can only be stopped together with its process group. Then the filter keeps every process in its
group, also outside a sandbox, and refuses what could let the kernel continue a stopped process (SIGCONT): timers, and signals at
the end of a parent, at the end of a child, or when a file is ready. Without a controller for memory, it
refuses memory that belongs to no process that could be asked about it.
"""

import os
import platform
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
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
    fanotify_init 300 262, fanotify_mark 301 263, shmget 29 194, semget 64 190, msgget 68 186, mq_open 240 180,
    mincore 27 232, cachestat 451 451, process_madvise 440 440, io_setup 206 0, quotactl_fd 443 443, inotify_init 253 26,
    inotify_rm_watch 255 28, move_pages 279 239, migrate_pages 256 238, _sysctl 156 -1, create_module 174 105,
    get_kernel_syms 177 -1, query_module 178 -1, nfsservctl 180 42, lookup_dcookie 212 18, uselib 134 -1, modify_ldt 154 -1,
    ioperm 173 -1, iopl 172 -1
"""
DENIED = {name: (int(first), int(second)) for name, first, second in map(str.split, _TABLE.split(","))}
"""The denied system calls by name, with their numbers on x86-64 and on aarch64. A call that only x86-64 has gets the number of
its successor on aarch64, or -1 if there is none.
"""
MISSING = {
    "clone3": (435, 435),
    "pidfd_open": (434, 434),
    "statfs": (137, 43),
    "fstatfs": (138, 44),
    "ustat": (136, 43),
    "statmount": (457, 457),
    "listmount": (458, 458),
    "lsm_get_self_attr": (459, 459),
    "lsm_set_self_attr": (460, 460),
    "lsm_list_modules": (461, 461),
}
"""The calls that are reported as missing (ENOSYS). The number of a descriptor from `pidfd_open` counts the processes that were
started on the machine. Libraries then wait for their children in another way.
"""
FIRST_NEW = 467
"""From this number on, all calls are reported as missing. They are newer than this list: open_tree_attr, file_getattr and
file_setattr, which do what some denied requests of ioctl do, listns, and those that will come.
"""
IGNORED = {
    "flock": (73, 32),
    "sync": (162, 81),
    "syncfs": (306, 267),
    "fadvise64": (221, 223),
    "utime": (132, 88),
    "utimes": (235, 88),
    "futimesat": (261, 88),
    "utimensat": (280, 88),
}
"""The calls that report success without an effect."""
CLONE, FCNTL, IOCTL, MADVISE, PREADV2, SETSOCKOPT = (56, 220), (72, 25), (16, 29), (28, 233), (327, 286), (54, 208)
MBIND, PRCTL, GETSOCKOPT = (237, 235), (157, 167), (55, 209)
SOCKETS = ((41, 198), (53, 199))
"""socket(2) and socketpair(2)."""
NAMESPACES, DESCRIPTOR = 0x7E020000, 0x1000
"""Flags of clone(2) that create namespaces, and CLONE_PIDFD, which does the same as `pidfd_open`."""
PARTED_THREAD, SHARED_FILES = 0x10000, 0x400
"""CLONE_THREAD and CLONE_FILES of clone(2). A thread without CLONE_FILES has open files that are not listed in /proc/PID/fd."""
UNSHARE_FILES = 2
"""CLOSE_RANGE_UNSHARE of close_range(2), which gives such files to a thread."""
SETSID, SETPGID, TIMER_CREATE, CLONE3 = (112, 157), (109, 154), (222, 107), (435, 435)
MEMFD_CREATE, MMAP, CLOSE_RANGE = (319, 279), (9, 222), (436, 436)
SHARED_ANONYMOUS = 0x21
"""MAP_SHARED and MAP_ANONYMOUS of mmap(2). MAP_SHARED is also set in MAP_SHARED_VALIDATE, but not in MAP_PRIVATE."""
OTHER_CALLS = {
    "x86_64": (0x40000003, (66, 57, 259, 435, 120, 172, 55, 221)),
    "aarch64": (0x40000028, (66, 57, 257, 435, 120, 172, 55, 221)),
}
"""The AUDIT_ARCH of 32-bit programs on each machine, and their numbers of setsid, setpgid, timer_create, clone3, clone, prctl,
fcntl and fcntl64.
"""
SIGCHLD, SIGCONT = 17, 18
EXIT_SIGNAL = 0xFF
"""The flags of clone(2) that are the signal which the parent gets at the end of the child (CSIGNAL)."""
PARENT_DEATH_SIGNAL, FILE_SIGNAL = 1, 10
"""PR_SET_PDEATHSIG of prctl(2), and F_SETSIG of fcntl(2)."""
MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
"""The names of architectures, each with its index in the pairs above and its AUDIT_ARCH from linux/audit.h."""
X32 = 0x40000000
"""The bit of the other calling convention of x86-64, in which all calls have other numbers."""

LOCKING_CONTROLS = (6, 7, 37, 38)
"""The commands of fcntl(2) that lock: F_SETLK, F_SETLKW, F_OFD_SETLK, F_OFD_SETLKW."""
DENIED_CONTROLS = (5, 36)
"""The denied commands of fcntl(2) among those of POSIX: F_GETLK, F_OFD_GETLK."""
LINUX_CONTROLS = 1024
"""The first command of fcntl(2) that only Linux has. Most of these are about leases, notifications, and hints that are kept in
the inode of a file (F_SET_RW_HINT), so all are denied except ALLOWED_CONTROLS.
"""
ALLOWED_CONTROLS = (1027, 1030, 1032, 1033, 1034)
"""F_DUPFD_QUERY, F_DUPFD_CLOEXEC, F_GETPIPE_SZ, F_ADD_SEALS, F_GET_SEALS."""
ALLOWED_REQUESTS = (0x5400, 0x5500)
"""The range of the allowed requests of ioctl(2), which are about terminals and descriptors, such as FIONREAD and FIOCLEX. Others,
such as those of file systems, fail as if the file did not support them.
"""
IGNORED_ADVICE = (12, 20, 21, 25)
"""Advice of madvise(2) that takes pages out of memory, or changes pages that others use, too: MADV_MERGEABLE, MADV_COLD,
MADV_PAGEOUT, MADV_COLLAPSE.
"""
DENIED_OPTIONS = (35, 62, 67)
"""The denied options of prctl(2): PR_SET_MM, which lets a process claim that its environment has any size; PR_SCHED_CORE, which
keeps other programs from a core; and PR_SET_MEMORY_MERGE, which does the same as MADV_MERGEABLE.
"""
HUGE_PAGES, HUGE_FILE = 0x40000, 4
"""MAP_HUGETLB of mmap(2) and MFD_HUGETLB of memfd_create(2). All programs of the machine share these pages."""
ALL_FLAGS = 0xFFFFFFFF
"""All flags of preadv2(2) and mbind(2). With some of them, such as RWF_NOWAIT, the answer depends on what is in memory, or on who
uses it.
"""
SOL_SOCKET, BUFFER_OPTIONS = 1, (7, 8)
"""The level and the options of setsockopt(2) that set the size of a buffer: SO_SNDBUF, SO_RCVBUF."""
PROCESS_OPTIONS = (76, 77)
"""The options of sockets that return a descriptor as `pidfd_open` does: SO_PASSPIDFD, SO_PEERPIDFD."""
AF_UNIX = 1

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _AND, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT, _SECOND_ARGUMENT, _THIRD_ARGUMENT, _FOURTH_ARGUMENT, _SIXTH_ARGUMENT = (
    *(0, 4),
    *(16, 24, 32, 40, 56),
)
"""Offsets in seccomp_data. The offset of an argument is the offset of its lower half, which contains all flags."""
_ALLOW, _KILL = 0x7FFF0000, 0x80000000
_EPERM, _ENOMEM, _ENOTTY, _ENOSYS, _ENOPROTOOPT, _EOPNOTSUPP, _EAFNOSUPPORT = (
    0x00050000 | error for error in (1, 12, 25, 38, 92, 95, 97)
)
_DONE = 0x00050000
"""After this answer, the kernel skips the call and returns 0."""
_INSTRUCTION = Struct("=HBBI")
_Instruction = tuple[int, int, int, int]


def call_filter(machine: str, *, frozen: bool, metered: bool) -> bytes:
    """Return the filter of a sandbox for an architecture. Raises IsolationError if the numbers of its system calls are unknown.

    `frozen` says that the processes are never stopped, or that a control group can freeze them, and `metered` that the kernel
    counts all of their memory, or that it has no limit. If not, more calls are refused.

    Programs of another architecture are killed. The filter reports clone3 as missing, because it cannot see the flags of clone3.
    Libraries then use clone.
    """
    if machine not in MACHINES:
        known = " or ".join(MACHINES)
        raise IsolationError(
            f"sandbox: the filter for system calls supports only {known}, and this machine is {machine}; use isolation: process"
        )
    place, architecture = MACHINES[machine]
    # The last three values of a test instruction are the number of instructions to skip if the test holds, the number to skip if
    # it does not hold, and the operand.
    program: list[_Instruction] = [(_LOAD, 0, 0, _ARCHITECTURE), (_EQUAL, 1, 0, architecture), (_RETURN, 0, 0, _KILL)]
    program += [(_LOAD, 0, 0, _NUMBER), (_AT_LEAST, 0, 1, X32), (_RETURN, 0, 0, _EPERM)]
    program += [(_AT_LEAST, 0, 1, FIRST_NEW), (_RETURN, 0, 0, _ENOSYS)]
    for calls, answer in ((MISSING, _ENOSYS), (DENIED, _EPERM), (IGNORED, _DONE)):
        for number in sorted({numbers[place] for numbers in calls.values()} - {-1}):
            program += _if_call(number, [(_RETURN, 0, 0, answer)])
    if not frozen:
        program += _keep_stopped(_stop_calls(place))
    for numbers, offset, flag in ((MMAP, _FOURTH_ARGUMENT, HUGE_PAGES), (MEMFD_CREATE, _SECOND_ARGUMENT, HUGE_FILE)):
        huge = [(_LOAD, 0, 0, offset), (_ANY_BIT, 0, 1, flag), (_RETURN, 0, 0, _ENOMEM), (_LOAD, 0, 0, _NUMBER)]
        program += _if_call(numbers[place], huge)
    if not metered:
        program += _refuse_hidden_memory(place)
    program += _if_call(CLONE[place], _if_argument(_FIRST_ARGUMENT, [(_ANY_BIT, NAMESPACES | DESCRIPTOR)], _EPERM, _ALLOW))
    controls = [*_if_any(LOCKING_CONTROLS, _DONE), *_if_any(DENIED_CONTROLS, _EPERM), *_if_any(ALLOWED_CONTROLS, _ALLOW)]
    controls += [(_AT_LEAST, 0, 1, LINUX_CONTROLS), (_RETURN, 0, 0, _EPERM), (_RETURN, 0, 0, _ALLOW)]
    program += _if_call(FCNTL[place], [(_LOAD, 0, 0, _SECOND_ARGUMENT), *controls])
    first, behind = ALLOWED_REQUESTS
    requests = [(_AT_LEAST, 0, 2, first), (_AT_LEAST, 1, 0, behind), (_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _ENOTTY)]
    program += _if_call(IOCTL[place], [(_LOAD, 0, 0, _SECOND_ARGUMENT), *requests])
    advice = [(_LOAD, 0, 0, _THIRD_ARGUMENT), *_if_any(IGNORED_ADVICE, _DONE), (_RETURN, 0, 0, _ALLOW)]
    program += _if_call(MADVISE[place], advice)
    options = [(_LOAD, 0, 0, _FIRST_ARGUMENT), *_if_any(DENIED_OPTIONS, _EPERM), (_RETURN, 0, 0, _ALLOW)]
    program += _if_call(PRCTL[place], options)
    # With these flags, mbind tells whether others use the pages, too.
    program += _if_call(MBIND[place], _if_argument(_SIXTH_ARGUMENT, [(_ANY_BIT, ALL_FLAGS)], _EPERM, _ALLOW))
    program += _if_call(PREADV2[place], _if_argument(_SIXTH_ARGUMENT, [(_ANY_BIT, ALL_FLAGS)], _EOPNOTSUPP, _ALLOW))
    level = [(_LOAD, 0, 0, _SECOND_ARGUMENT), (_EQUAL, 1, 0, SOL_SOCKET), (_RETURN, 0, 0, _ALLOW), (_LOAD, 0, 0, _THIRD_ARGUMENT)]
    process = [*_if_any(PROCESS_OPTIONS, _ENOPROTOOPT), (_RETURN, 0, 0, _ALLOW)]
    program += _if_call(SETSOCKOPT[place], [*level, *_if_any(BUFFER_OPTIONS, _DONE), *process])
    program += _if_call(GETSOCKOPT[place], [*level, *process])
    for numbers in SOCKETS:
        program += _if_call(numbers[place], _if_argument(_FIRST_ARGUMENT, [(_EQUAL, AF_UNIX)], _ALLOW, _EAFNOSUPPORT))
    program.append((_RETURN, 0, 0, _ALLOW))
    return b"".join([_INSTRUCTION.pack(*one) for one in program])


def group_filter(machine: str | None = None) -> bytes | None:
    """Return a filter that only keeps processes in their process group, so that one signal stops all of them at once; None if the
    system is not Linux or the numbers of its calls are unknown.

    It reports success for calls that leave the group. It also refuses what can continue a stopped process (see `_keep_stopped`).
    """
    machine = machine or platform.machine()
    if sys.platform != "linux" or machine not in MACHINES:
        return None
    place, architecture = MACHINES[machine]
    other, numbers = OTHER_CALLS[machine]
    own = _keep_stopped(_stop_calls(place))
    own = [(_LOAD, 0, 0, _NUMBER), (_AT_LEAST, 0, 1, X32), (_RETURN, 0, 0, _EPERM), *own, (_RETURN, 0, 0, _ALLOW)]
    compatible = [(_LOAD, 0, 0, _NUMBER), *_keep_stopped(numbers), (_RETURN, 0, 0, _ALLOW)]
    program: list[_Instruction] = [(_LOAD, 0, 0, _ARCHITECTURE), (_EQUAL, 0, len(own), architecture), *own]
    program += [(_EQUAL, 0, len(compatible), other), *compatible, (_RETURN, 0, 0, _ALLOW)]
    return b"".join([_INSTRUCTION.pack(*one) for one in program])


def _stop_calls(place: int) -> list[int]:
    """Return the numbers that `_keep_stopped` needs."""
    return [numbers[place] for numbers in (SETSID, SETPGID, TIMER_CREATE, CLONE3, CLONE, PRCTL, FCNTL)]


def _keep_stopped(numbers: Sequence[int]) -> list[_Instruction]:
    """Return instructions that keep a process in its group, and refuse what lets the kernel continue it when it is stopped.

    The numbers are those of setsid, setpgid, timer_create, clone3, clone, prctl and fcntl; the last may have several. At the end
    of a process, the kernel can send a chosen signal to its children (PR_SET_PDEATHSIG), to its parent (clone), and to the
    readers of its pipes (F_SETSIG). The first is refused only for SIGCONT, because PyTorch's `spawn` uses SIGINT.
    """
    setsid, setpgid, timer_create, clone3, clone, prctl, *fcntl = numbers
    exits = [(_LOAD, 0, 0, _FIRST_ARGUMENT), (_AND, 0, 0, EXIT_SIGNAL), (_EQUAL, 2, 0, 0), (_EQUAL, 1, 0, SIGCHLD)]
    return [
        *_if_call(setsid, [(_RETURN, 0, 0, _DONE)]),
        *_if_call(setpgid, [(_RETURN, 0, 0, _DONE)]),
        *_if_call(timer_create, [(_RETURN, 0, 0, _ENOSYS)]),
        *_if_call(clone3, [(_RETURN, 0, 0, _ENOSYS)]),
        *_if_call(clone, [*exits, (_RETURN, 0, 0, _EPERM), (_LOAD, 0, 0, _NUMBER)]),
        *_if_call(prctl, _refuse_continuing(_FIRST_ARGUMENT, PARENT_DEATH_SIGNAL, _SECOND_ARGUMENT)),
        *chain(*[_if_call(one, _refuse_continuing(_SECOND_ARGUMENT, FILE_SIGNAL, _THIRD_ARGUMENT)) for one in fcntl]),
    ]


def _refuse_continuing(place: int, option: int, signal: int) -> list[_Instruction]:
    """Return instructions that refuse an option with SIGCONT. `place` and `signal` are the offsets of the two arguments."""
    found = [(_LOAD, 0, 0, signal), (_EQUAL, 0, 1, SIGCONT), (_RETURN, 0, 0, _EPERM), (_LOAD, 0, 0, _NUMBER)]
    return [(_LOAD, 0, 0, place), (_EQUAL, 0, len(found) - 1, option), *found]


def _refuse_hidden_memory(place: int) -> list[_Instruction]:
    """Return instructions that refuse memory which stays when it is in no open file and in no page table: memory files and shared
    mappings without a file. A thread with open files of its own could hide buffers, too.
    """
    shared = [(_LOAD, 0, 0, _FOURTH_ARGUMENT), (_AND, 0, 0, SHARED_ANONYMOUS), *_if_any([SHARED_ANONYMOUS], _EPERM)]
    flags = PARTED_THREAD | SHARED_FILES
    parted = [(_LOAD, 0, 0, _FIRST_ARGUMENT), (_AND, 0, 0, flags), *_if_any([PARTED_THREAD], _EPERM), (_LOAD, 0, 0, _NUMBER)]
    return [
        *_if_call(MEMFD_CREATE[place], [(_RETURN, 0, 0, _ENOSYS)]),
        *_if_call(MMAP[place], [*shared, (_RETURN, 0, 0, _ALLOW)]),
        *_if_call(CLONE[place], parted),
        *_if_call(CLOSE_RANGE[place], _if_argument(_THIRD_ARGUMENT, [(_ANY_BIT, UNSHARE_FILES)], _EPERM, _ALLOW)),
    ]


def _if_call(number: int, then: Sequence[_Instruction]) -> list[_Instruction]:
    return [(_EQUAL, 0, len(then), number), *then]


def _if_any(values: Sequence[int], answer: int) -> list[_Instruction]:
    """Return instructions that end the filter with `answer` if the loaded argument is one of the values."""
    jumps = [(_EQUAL, len(values) - number - 1, 0, value) for number, value in enumerate(values[:-1])]
    return [*jumps, (_EQUAL, 0, 1, values[-1]), (_RETURN, 0, 0, answer)]


def _if_argument(offset: int, tests: Sequence[tuple[int, int]], found: int, other: int) -> list[_Instruction]:
    """Return instructions that end the filter with `found` if any of the tests holds for an argument, and with `other` if none
    does.
    """
    jumps = [(test, len(tests) - number, 0, value) for number, (test, value) in enumerate(tests)]
    return [(_LOAD, 0, 0, offset), *jumps, (_RETURN, 0, 0, other), (_RETURN, 0, 0, found)]


@contextmanager
def filter_pipe(*, frozen: bool, metered: bool) -> Iterator[int]:
    """Yield a descriptor from which one program can read the filter of a sandbox on this machine (see `call_filter`)."""
    with open_pipe(call_filter(platform.machine(), frozen=frozen, metered=metered)) as read:
        yield read


@contextmanager
def open_pipe(program: bytes) -> Iterator[int]:
    """Yield a descriptor from which one program can read a filter."""
    read, write = os.pipe()
    try:
        os.write(write, program)  # this is far less than a pipe can hold
        os.close(write)
        yield read
    finally:
        os.close(read)
