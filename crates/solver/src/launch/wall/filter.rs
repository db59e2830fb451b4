//! System calls that no solver needs and that neither Landlock nor namespaces refuse.

use std::io;

use libc::{c_long, sock_filter};

/// The processor, as the kernel numbers it for filters.
const ARCHITECTURE: u32 = if cfg!(target_arch = "x86_64") { 0xC000_003E } else { 0xC000_00B7 };

/// Where a filter finds what it looks at: `struct seccomp_data`.
const NUMBER: u32 = 0;
const ARCHITECTURE_AT: u32 = 4;
const FIRST_ARGUMENT: u32 = 16;
const SECOND_ARGUMENT: u32 = 24;

/// Numbers of the x86 calls with 32-bit pointers begin here.
const SHORT_POINTERS: u32 = 0x4000_0000;

/// Answered with "not permitted".
const REFUSED: &[c_long] = &[
    // The network, and sockets of other programs: whoever talks to the desktop's bus is as good as outside.
    libc::SYS_socket,
    libc::SYS_connect,
    libc::SYS_bind,
    libc::SYS_listen,
    libc::SYS_io_uring_setup,
    // What stays when the process is gone.
    libc::SYS_shmget,
    libc::SYS_msgget,
    libc::SYS_semget,
    libc::SYS_mq_open,
    libc::SYS_add_key,
    libc::SYS_keyctl,
    libc::SYS_request_key,
    // Permissions, owners and attributes of any file of the user's.
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    libc::SYS_fchmodat2,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    // Other processes of the user's.
    libc::SYS_setpriority,
    libc::SYS_ioprio_set,
    libc::SYS_sched_setscheduler,
    libc::SYS_sched_setparam,
    libc::SYS_sched_setattr,
    libc::SYS_process_madvise,
    // Only an administrator may do these; some run fuzzers as one.
    libc::SYS_acct,
    libc::SYS_adjtimex,
    libc::SYS_bpf,
    libc::SYS_clock_adjtime,
    libc::SYS_clock_settime,
    libc::SYS_delete_module,
    libc::SYS_finit_module,
    libc::SYS_init_module,
    libc::SYS_kexec_load,
    libc::SYS_mount,
    libc::SYS_open_by_handle_at,
    libc::SYS_perf_event_open,
    libc::SYS_pivot_root,
    libc::SYS_quotactl,
    libc::SYS_reboot,
    libc::SYS_setdomainname,
    libc::SYS_sethostname,
    libc::SYS_setns,
    libc::SYS_settimeofday,
    libc::SYS_swapoff,
    libc::SYS_swapon,
    libc::SYS_syslog,
    libc::SYS_umount2,
    libc::SYS_vhangup,
];

/// Older names of the same.
#[cfg(target_arch = "x86_64")]
const OLD_NAMES: &[c_long] =
    &[libc::SYS_chmod, libc::SYS_chown, libc::SYS_lchown, libc::SYS_ioperm, libc::SYS_iopl];
#[cfg(not(target_arch = "x86_64"))]
const OLD_NAMES: &[c_long] = &[];

/// Installs the filter in this process, which has given up new privileges; all it starts inherit it.
pub(super) fn install() -> io::Result<()> {
    if !cfg!(any(target_arch = "x86_64", target_arch = "aarch64")) {
        return Err(io::ErrorKind::Unsupported.into());
    }
    let mut program = program();
    let length = u16::try_from(program.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
    let filter = libc::sock_fprog { len: length, filter: program.as_mut_ptr() };
    // Solvers do not share a process with anything secret: the kernel need not slow them down for the filter's sake.
    let flags = libc::SECCOMP_FILTER_FLAG_SPEC_ALLOW;
    // SAFETY: `filter` and the program it points to live through the call; the kernel copies both.
    let done =
        unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, &raw const filter) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn program() -> Vec<sock_filter> {
    let refuse = answer(libc::SECCOMP_RET_ERRNO | libc::EPERM as u32);
    let unknown = answer(libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32);
    let mut program = vec![load(ARCHITECTURE_AT), skip_unless_equal(ARCHITECTURE, 1), skip(1), unknown];
    program.push(load(NUMBER));
    if cfg!(target_arch = "x86_64") {
        program.extend([skip_below(SHORT_POINTERS, 1), unknown]);
    }
    for call in REFUSED.iter().chain(OLD_NAMES) {
        program.extend([skip_unless_equal(*call as u32, 1), refuse]);
    }
    // Limits of other processes; one's own have the number 0.
    program.extend([
        skip_unless_equal(libc::SYS_prlimit64 as u32, 3),
        load(FIRST_ARGUMENT),
        skip_if_equal(0, 1),
        refuse,
        load(NUMBER),
    ]);
    // Pairs that stay connected to each other: those of datagrams can be connected anew, to anybody.
    program.extend([
        skip_unless_equal(libc::SYS_socketpair as u32, 5),
        load(SECOND_ARGUMENT),
        and(0xf),
        skip_if_equal(libc::SOCK_STREAM as u32, 2),
        skip_if_equal(libc::SOCK_SEQPACKET as u32, 1),
        refuse,
        load(NUMBER),
    ]);
    program.push(answer(libc::SECCOMP_RET_ALLOW));
    program
}

fn statement(code: u32, value: u32) -> sock_filter {
    sock_filter { code: code as u16, jt: 0, jf: 0, k: value }
}

fn load(place: u32) -> sock_filter {
    statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, place)
}

fn and(mask: u32) -> sock_filter {
    statement(libc::BPF_ALU | libc::BPF_AND | libc::BPF_K, mask)
}

fn answer(what: u32) -> sock_filter {
    statement(libc::BPF_RET | libc::BPF_K, what)
}

fn skip(count: u32) -> sock_filter {
    statement(libc::BPF_JMP | libc::BPF_JA, count)
}

fn skip_if_equal(value: u32, count: u8) -> sock_filter {
    let code = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
    sock_filter { code, jt: count, jf: 0, k: value }
}

fn skip_unless_equal(value: u32, count: u8) -> sock_filter {
    let code = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
    sock_filter { code, jt: 0, jf: count, k: value }
}

fn skip_below(value: u32, count: u8) -> sock_filter {
    let code = (libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K) as u16;
    sock_filter { code, jt: 0, jf: count, k: value }
}
