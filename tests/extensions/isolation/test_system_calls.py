"""The filters for system calls, run by an interpreter in Python on every call that the headers of the kernel know."""

import fcntl
import re
import signal
import socket
from pathlib import Path
from struct import Struct, iter_unpack

import pytest

from arena.errors import IsolationError
from arena_isolation import system_calls
from arena_isolation.system_calls import CLONE, DENIED, FCNTL, IGNORED, IOCTL, MISSING, SOCKETS, call_filter, group_filter

DONE = 0x00050000
"""The call is skipped and returns 0."""
HEADERS = {"x86_64": "/usr/include/x86_64-linux-gnu/asm/unistd_64.h", "aarch64": "/usr/include/asm-generic/unistd.h"}
ARCHITECTURES = {"x86_64": 62 | 0xC0000000, "aarch64": 183 | 0xC0000000}
"""EM_X86_64 and EM_AARCH64 of elf.h, with the bits for 64 bits and little-endian: linux/audit.h."""
ALLOW, KILL, EPERM, ENOSYS, EAFNOSUPPORT = 0x7FFF0000, 0x80000000, 0x00050000 | 1, 0x00050000 | 38, 0x00050000 | 97
ENOMEM, ENOPROTOOPT = 0x00050000 | 12, 0x00050000 | 92
ENOTTY, EOPNOTSUPP = 0x00050000 | 25, 0x00050000 | 95

REFUSED = {
    "keys": "add_key keyctl request_key",
    "other processes": "kcmp perf_event_open pidfd_getfd process_madvise process_vm_readv process_vm_writev ptrace",
    "mounts and namespaces": "chroot fsconfig fsmount fsopen fspick mount mount_setattr move_mount open_tree pivot_root setns"
    " umount2 unshare",
    "the machine": "delete_module finit_module init_module kexec_file_load kexec_load reboot acct quotactl quotactl_fd swapoff"
    " swapon syslog _sysctl create_module get_kernel_syms ioperm iopl lookup_dcookie modify_ldt nfsservctl query_module uselib",
    "work in the kernel": "bpf io_setup io_uring_enter io_uring_register io_uring_setup memfd_secret userfaultfd",
    "files outside the mounts": "name_to_handle_at open_by_handle_at",
    "notifications": "fanotify_init fanotify_mark inotify_add_watch inotify_init inotify_init1 inotify_rm_watch",
    "memory of no process": "mq_open msgget semget shmget",
    "pages in memory": "cachestat migrate_pages mincore move_pages",
}
"""Many of them are in the groups @keyring, @debug, @mount, @module, @reboot and @swap of systemd.exec(5), or blocked by the
default profile of Docker.
"""


def verdict(program: bytes, architecture: int, number: int, *arguments: int) -> int:
    """What a filter says about a call: an interpreter of the few instructions of classic BPF that seccomp filters need."""
    data = Struct("=iIQ6Q").pack(number, architecture, 0, *arguments, *(0 for _ in range(6 - len(arguments))))
    code = list(iter_unpack("=HBBI", program))
    place = loaded = 0
    while True:
        operation, yes, no, value = code[place]
        place += 1
        if operation == 0x06:
            return int(value)
        if operation == 0x20:
            loaded = int.from_bytes(data[value : value + 4], "little")
        elif operation == 0x54:
            loaded &= value
        else:
            holds = {0x15: loaded == value, 0x35: loaded >= value, 0x45: bool(loaded & value)}[operation]
            place += yes if holds else no


def numbers(machine: str) -> dict[str, int]:
    """The system calls of an architecture, from the headers of the kernel."""
    header = Path(HEADERS[machine])
    if not header.exists():
        pytest.skip(f"there is no {header}")
    found = re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)\b", header.read_text())
    return {name: int(number) for name, number in found if name != "syscalls"}  # the first number that is not used yet


@pytest.mark.parametrize("machine", HEADERS)
def test_the_filter_denies_only_the_listed_system_calls(machine: str) -> None:
    """This holds for every call in the headers, calls of other architectures, x32, and clone with each kind of flags."""
    known = numbers(machine)
    denied = {name for names in REFUSED.values() for name in names.split()}
    assert {*DENIED} == denied  # also those that the headers do not know yet
    program, architecture = call_filter(machine, frozen=True, metered=True), ARCHITECTURES[machine]
    own = list(HEADERS).index(machine)
    for named in (DENIED, IGNORED, MISSING):
        for name in named:
            assert known.get(name, named[name][own]) == named[name][own], name
    assert known["clone"] == CLONE[own]
    assert (known["fcntl"], known["ioctl"]) == (FCNTL[own], IOCTL[own])
    assert (known["socket"], known["socketpair"]) == (SOCKETS[0][own], SOCKETS[1][own])
    for name in ("madvise", "preadv2", "setsockopt", "mbind", "prctl", "mmap", "memfd_create"):
        assert known[name] == getattr(system_calls, name.upper())[own]
    ignored = {"sync", "syncfs", "flock", "fadvise64", "utime", "utimes", "futimesat", "utimensat"}
    missing = {"clone3", "pidfd_open", "statfs", "fstatfs", "ustat", "statmount", "listmount"}
    missing |= {"lsm_get_self_attr", "lsm_set_self_attr", "lsm_list_modules", "open_tree_attr", "file_getattr", "file_setattr"}
    for name, number in known.items():
        expected = EPERM if name in denied else ENOSYS if name in missing else DONE if name in ignored else ALLOW
        expected = ENOTTY if name == "ioctl" else expected  # the request below is none of a terminal
        assert verdict(program, architecture, number, socket.AF_UNIX) == expected, name
        assert verdict(program, 0x40000003, number) == KILL  # i386
    assert verdict(program, architecture, 0x40000000 | known["getpid"]) == EPERM
    threads, namespaces = 0x003D0F00, (1 << 12, 1 << 17, 1 << 25, 1 << 26, 1 << 27, 1 << 28, 1 << 29, 1 << 30)
    assert verdict(program, architecture, known["clone"], threads) == ALLOW
    assert {verdict(program, architecture, known["clone"], threads | flag) for flag in namespaces} == {EPERM}
    locks = (fcntl.F_SETLK, fcntl.F_SETLKW, 37, 38)
    allowed = (1027, fcntl.F_DUPFD_CLOEXEC, 1032, fcntl.F_ADD_SEALS, fcntl.F_GET_SEALS)  # F_DUPFD_QUERY, F_GETPIPE_SZ
    for command in range(2000):  # descriptors are duplicated, flags are set; leases, hints and the like are Linux's own
        refused = command in (fcntl.F_GETLK, 36) or (command >= 1024 and command not in allowed)
        expected = DONE if command in locks else EPERM if refused else ALLOW
        assert verdict(program, architecture, known["fcntl"], 3, command) == expected
    requests = [*range(0x10000), 0x40049409, 0xC020660B, 0x40086602, 0x5421 | 1 << 30]  # FICLONE, FS_IOC_FIEMAP, FS_IOC_SETFLAGS
    for request in requests:
        expected = ALLOW if 0x5400 <= request < 0x5500 else ENOTTY
        assert verdict(program, architecture, known["ioctl"], 3, request) == expected
    for family in range(50):
        found = {verdict(program, architecture, known[name], family) for name in ("socket", "socketpair")}
        assert found == {ALLOW if family == socket.AF_UNIX else EAFNOSUPPORT}
    for advice in range(30):  # MADV_MERGEABLE, MADV_COLD, MADV_PAGEOUT, MADV_COLLAPSE
        assert verdict(program, architecture, known["madvise"], 0, 0, advice) == (DONE if advice in (12, 20, 21, 25) else ALLOW)
    for option in range(100):  # PR_SET_MM, PR_SCHED_CORE, PR_SET_MEMORY_MERGE
        assert verdict(program, architecture, known["prctl"], option) == (EPERM if option in (35, 62, 67) else ALLOW)
    for flag in range(4):  # MPOL_MF_STRICT, MPOL_MF_MOVE, MPOL_MF_MOVE_ALL, MPOL_MF_LAZY
        assert verdict(program, architecture, known["mbind"], 0, 4096, 1, 0, 0, 1 << flag) == EPERM
    for bit in range(32):  # MAP_HUGETLB, MFD_HUGETLB
        assert verdict(program, architecture, known["mmap"], 0, 4096, 3, 1 << bit) == (ENOMEM if bit == 18 else ALLOW)
        assert verdict(program, architecture, known["memfd_create"], 0, 1 << bit) == (ENOMEM if bit == 2 else ALLOW)
    assert {verdict(program, architecture, number) for number in range(467, 1000)} == {ENOSYS}, "calls that are not known yet"
    assert [verdict(program, architecture, number) for number in (452, 453, 454, 456, 462, 466)] == [ALLOW] * 6  # e.g. mseal
    assert verdict(program, architecture, known["preadv2"], 3, 0, 1, 0, 0, 0) == ALLOW
    for flag in range(10):  # also RWF_NOWAIT and RWF_DONTCACHE
        assert verdict(program, architecture, known["preadv2"], 3, 0, 1, 0, 0, 1 << flag) == EOPNOTSUPP
    for level, option in [(level, option) for level in (0, socket.SOL_SOCKET, 6) for option in range(80)]:
        sized = level == socket.SOL_SOCKET and option in (socket.SO_SNDBUF, socket.SO_RCVBUF)
        process = level == socket.SOL_SOCKET and option in (76, 77)  # SO_PASSPIDFD, SO_PEERPIDFD
        expected = ENOPROTOOPT if process else DONE if sized else ALLOW
        assert verdict(program, architecture, known["setsockopt"], 3, level, option) == expected
        assert verdict(program, architecture, known["getsockopt"], 3, level, option) == (ENOPROTOOPT if process else ALLOW)


@pytest.mark.parametrize("machine", HEADERS)
def test_older_versions_of_refused_calls_are_refused(machine: str) -> None:
    """Newer calls have the name of an older one and a number, such as inotify_init1. Only clone is allowed, because a filter can
    check its flags.
    """
    refused = {name for named in (DENIED, IGNORED, MISSING) for name in named}
    bases = {name.rstrip("0123456789") for name in refused}
    assert {name for name in numbers(machine) if name.rstrip("0123456789") in bases} - refused == {"clone"}


@pytest.mark.parametrize("machine", HEADERS)
def test_the_filter_without_groups_keeps_processes_together(machine: str) -> None:
    """This applies to the filter of the sandbox and to that of a process, which refuses nothing else.

    The numbers for 32-bit programs are those of asm/unistd_32.h (i386) and of ARM's tools/syscall.tbl.
    """
    known, architecture = numbers(machine), ARCHITECTURES[machine]
    other, numbers_32 = (0x40000003, (66, 57, 259, 435)) if machine == "x86_64" else (0x40000028, (66, 57, 257, 435))
    expected = {"setsid": DONE, "setpgid": DONE, "timer_create": ENOSYS, "clone3": ENOSYS}
    sandboxed, usual = [call_filter(machine, frozen=frozen, metered=True) for frozen in (False, True)]
    alone = group_filter(machine)
    assert alone is not None
    for name, number in known.items():
        first = signal.SIGCHLD if name == "clone" else socket.AF_UNIX
        before = verdict(usual, architecture, number, first)
        assert verdict(sandboxed, architecture, number, first) == expected.get(name, before), name
        assert verdict(alone, architecture, number) == expected.get(name, ALLOW), name
    for number in range(500):
        found = dict(zip(numbers_32, expected.values(), strict=True)).get(number, ALLOW)
        assert verdict(alone, other, number) == found, number
    assert verdict(alone, architecture, 0x40000000 | known["setsid"]) == EPERM
    assert group_filter("riscv64") is None


@pytest.mark.parametrize("machine", HEADERS)
def test_without_control_groups_no_system_call_may_continue_a_stopped_process(machine: str) -> None:
    """For example, the signals at the end of a parent or child and when a file is ready cannot be SIGCONT. 32-bit programs
    have the numbers of asm/unistd_32.h (i386), and ARM's are the same here.
    """
    alone = group_filter(machine)
    assert alone is not None
    known, architecture, other = numbers(machine), ARCHITECTURES[machine], 0x40000003 if machine == "x86_64" else 0x40000028
    sandboxed, usual = [call_filter(machine, frozen=frozen, metered=True) for frozen in (False, True)]
    others = {"clone": [120], "prctl": [172], "fcntl": [55, 221]}
    programs = [(one, architecture, {name: [known[name]] for name in others}) for one in (sandboxed, alone, usual)]
    for program, machines, named in (*programs, (alone, other, others)):
        for number in range(65):
            continues = program is not usual and number == signal.SIGCONT
            died = program is not usual and number not in (0, signal.SIGCHLD)
            for call in named["clone"]:
                for flags in (0, 0x4100):  # fork, and CLONE_VM | CLONE_VFORK
                    assert verdict(program, machines, call, flags | number) == (EPERM if died else ALLOW)
            for call in named["prctl"]:
                assert verdict(program, machines, call, 1, number) == (EPERM if continues else ALLOW)
                assert verdict(program, machines, call, 2, number) == ALLOW  # PR_GET_PDEATHSIG
            for call in named["fcntl"]:
                assert verdict(program, machines, call, 3, 10, number) == (EPERM if continues else ALLOW)
                assert verdict(program, machines, call, 3, fcntl.F_SETFD, number) == ALLOW
        for call in named["clone"]:
            assert verdict(program, machines, call, 0x003D0F00) == ALLOW  # a thread


@pytest.mark.parametrize("machine", HEADERS)
def test_without_a_controller_the_filter_refuses_uncounted_memory(machine: str) -> None:
    """These are memory files, shared mappings without a file, and threads with their own file table. Other mappings and threads
    are allowed.
    """
    known, architecture = numbers(machine), ARCHITECTURES[machine]
    hidden, usual = [call_filter(machine, frozen=True, metered=metered) for metered in (False, True)]
    for name, number in known.items():
        before = verdict(usual, architecture, number, socket.AF_UNIX)
        assert verdict(hidden, architecture, number, socket.AF_UNIX) == (ENOSYS if name == "memfd_create" else before), name
    for shared, anonymous in [(shared, anonymous) for shared in (1, 2, 3) for anonymous in (0, 0x20)]:  # MAP_PRIVATE is 2
        expected = EPERM if shared != 2 and anonymous else ALLOW
        assert verdict(hidden, architecture, known["mmap"], 0, 4096, 3, 0x4000 | shared | anonymous) == expected
    thread, files, namespace = 0x003D0F00, 0x400, 1 << 28
    assert verdict(hidden, architecture, known["clone"], thread) == ALLOW
    assert verdict(hidden, architecture, known["clone"], thread & ~files) == EPERM
    assert verdict(hidden, architecture, known["clone"], 17) == ALLOW  # fork
    assert verdict(hidden, architecture, known["clone"], thread | namespace) == EPERM
    assert [verdict(hidden, architecture, known["close_range"], 3, 9, flags) for flags in (0, 2, 4)] == [ALLOW, EPERM, ALLOW]


def test_other_architectures_are_refused_with_a_message() -> None:
    """The message suggests an alternative."""
    with pytest.raises(
        IsolationError, match="supports only x86_64 or aarch64, and this machine is riscv64; use isolation: process"
    ):
        call_filter("riscv64", frozen=True, metered=True)
