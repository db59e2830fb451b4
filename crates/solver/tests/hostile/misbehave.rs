//! A "solver" that misbehaves in the way its first argument says. Compiled by the tests that use it.

use std::ffi::{c_char, c_int, c_void};
use std::io::{Read, Write};
use std::time::Duration;

unsafe extern "C" {
    fn fork() -> c_int;
    fn setsid() -> c_int;
    fn getppid() -> c_int;
    fn kill(pid: c_int, signal: c_int) -> c_int;
    fn signal(signal: c_int, handler: usize) -> usize;
    fn fcntl(fd: c_int, command: c_int, ...) -> c_int;
    fn mmap(
        at: *mut c_void,
        length: usize,
        protection: c_int,
        flags: c_int,
        fd: c_int,
        offset: i64,
    ) -> *mut c_void;
    fn chmod(path: *const c_char, mode: u32) -> c_int;
    fn socket(domain: c_int, kind: c_int, protocol: c_int) -> c_int;
    fn socketpair(domain: c_int, kind: c_int, protocol: c_int, ends: *mut c_int) -> c_int;
    fn shmget(key: c_int, size: usize, flags: c_int) -> c_int;
    fn msgget(key: c_int, flags: c_int) -> c_int;
    fn semget(key: c_int, count: c_int, flags: c_int) -> c_int;
    fn shm_open(name: *const c_char, flags: c_int, mode: u32) -> c_int;
    fn prlimit(pid: c_int, resource: c_int, new: *const [u64; 2], old: *mut [u64; 2]) -> c_int;
}

const SIG_DFL: usize = 0;
const SIG_IGN: usize = 1;

fn hang() -> ! {
    loop {
        std::thread::sleep(Duration::from_secs(3600));
    }
}

fn main() {
    let way = std::env::args().nth(1).unwrap_or_default();
    match way.as_str() {
        "hang" => hang(),
        "spin" => loop {
            std::hint::spin_loop();
        },
        // SAFETY: `signal` is given the constant that means "ignore".
        "ignore-sigterm" => unsafe {
            for number in 1..32 {
                signal(number, SIG_IGN);
            }
            hang()
        },
        // Children in our own group, one of which holds our output open.
        // SAFETY: one thread runs, so a forked child is whole.
        "fork" => unsafe {
            for _ in 0..3 {
                if fork() == 0 {
                    hang();
                }
            }
            println!("sat");
        },
        // Daemons in sessions of their own, whose parents are gone, with children of their own.
        // SAFETY: one thread runs, so forked children are whole.
        "daemon" => unsafe {
            if fork() == 0 {
                setsid();
                for _ in 0..2 {
                    if fork() == 0 {
                        setsid();
                        if fork() == 0 {
                            setsid();
                        }
                        hang();
                    }
                }
                std::process::exit(0);
            }
            std::thread::sleep(Duration::from_millis(5));
            println!("unsat");
        },
        // SAFETY: one thread runs, so forked children are whole.
        "daemon-and-hang" => unsafe {
            if fork() == 0 {
                setsid();
                if fork() == 0 {
                    hang();
                }
                std::process::exit(0);
            }
            hang()
        },
        "allocate" => {
            let mut all: Vec<Vec<u8>> = Vec::new();
            loop {
                all.push(vec![1; 16 << 20]);
            }
        }
        // Takes address space and goes on as if nothing had happened when there is no more.
        // SAFETY: new anonymous memory that is never used.
        "map" => unsafe {
            let none = usize::MAX as *mut c_void;
            let mut taken = 0usize;
            while mmap(std::ptr::null_mut(), 16 << 20, 3, 0x22, -1, 0) != none && taken < 100_000 {
                taken += 1;
            }
            println!("{}", taken * 16);
        },
        "print" => {
            let line = [b'x'; 1 << 16];
            let mut out = std::io::stdout().lock();
            while out.write_all(&line).is_ok() {}
        }
        "complain" => {
            let line = [b'x'; 1 << 12];
            let mut out = std::io::stderr().lock();
            while out.write_all(&line).is_ok() {}
        }
        "binary" => {
            let bytes: Vec<u8> = (0..=255).collect();
            std::io::stdout().write_all(&bytes).expect("written");
        }
        "nothing" => {}
        // SAFETY: a signal to ourselves, with its default effect.
        "segv" => unsafe {
            signal(11, SIG_DFL);
            kill(std::process::id() as c_int, 11);
            hang()
        },
        "abort" => {
            eprintln!("ASSERTION VIOLATION");
            std::process::abort();
        }
        // Kills the process that started it.
        // SAFETY: `kill` has no effect on our memory.
        "kill-parent" => unsafe {
            kill(getppid(), 9);
            hang()
        },
        // The same with a daemon that would stay behind.
        // SAFETY: one thread runs, so forked children are whole.
        "daemon-and-kill-parent" => unsafe {
            if fork() == 0 {
                setsid();
                if fork() == 0 {
                    hang();
                }
                std::process::exit(0);
            }
            std::thread::sleep(Duration::from_millis(5));
            kill(getppid(), 9);
            hang()
        },
        // Stops the process that started it, and the one above that.
        // SAFETY: `kill` has no effect on our memory.
        "stop-parents" => unsafe {
            let parent = getppid();
            let stat = std::fs::read_to_string(format!("/proc/{parent}/stat")).expect("readable");
            let after = stat.rsplit_once(')').expect("a name").1;
            let above: c_int = after.split_ascii_whitespace().nth(1).expect("a parent").parse().expect("a number");
            let above_stopped = kill(above, 19);
            println!("{} {above_stopped}", kill(parent, 19));
            hang()
        },
        // SAFETY: as above.
        "stop-parent" => unsafe {
            println!("{}", kill(getppid(), 19));
            hang()
        },
        // Every way to change something at the path of the second argument; prints those that worked.
        "change" => {
            let path = std::env::args().nth(2).expect("a path");
            println!("{}", changes(std::path::Path::new(&path)).join(" "));
        }
        // SAFETY: plain numbers; the array has room for two descriptors.
        "sockets" => unsafe {
            let mut ends = [0; 2];
            // Internet by streams, datagrams and raw, version 6, Unix, netlink, and a pair that can be connected anew.
            let open = [(2, 1), (2, 2), (2, 3), (10, 1), (10, 2), (1, 1), (1, 2), (16, 3), (17, 3)];
            let mut open: Vec<String> = open
                .into_iter()
                .filter(|(domain, kind)| socket(*domain, *kind, 0) >= 0)
                .map(|(domain, kind)| format!("{domain}/{kind}"))
                .collect();
            if socketpair(1, 2, 0, ends.as_mut_ptr()) == 0 {
                open.push("pair".to_owned());
            }
            assert_eq!(socketpair(1, 1, 0, ends.as_mut_ptr()), 0, "a plain pair is harmless");
            println!("{}", open.join(" "));
        },
        // SAFETY: plain numbers, and names that end with a zero byte.
        "shared-memory" => unsafe {
            let key = 0x0517_0517;
            let mut left = Vec::new();
            for (name, made) in [
                ("memory", shmget(key, 4096, 0o1600)),
                ("messages", msgget(key, 0o1600)),
                ("semaphores", semget(key, 1, 0o1600)),
                ("named", shm_open(c"/osprey-hostile-test".as_ptr(), 0o102, 0o600)),
            ] {
                if made >= 0 {
                    left.push(name);
                }
            }
            println!("{}", left.join(" "));
        },
        // SAFETY: the limits live through the call.
        "limit-parent" => unsafe {
            println!("{}", prlimit(getppid(), 0, &[0, 0], std::ptr::null_mut()));
        },
        "write" => {
            std::fs::create_dir_all("deep/er/still").expect("made");
            std::fs::write("deep/er/still/file", "x").expect("written");
            std::fs::write("\"stdout\"", "x").expect("written");
            std::os::unix::fs::symlink("/", "root").expect("linked");
            std::fs::write(std::env::temp_dir().join("temporary"), "x").expect("written");
            println!("sat");
        }
        "write-without-end" => {
            let mut file = std::fs::File::create("big").expect("made");
            while file.write_all(&[1; 1 << 16]).is_ok() {}
        }
        // SAFETY: both paths end with a zero byte.
        "lock-directory" => unsafe {
            std::fs::create_dir_all("a/b").expect("made");
            chmod(c"a".as_ptr(), 0);
            chmod(c".".as_ptr(), 0);
        },
        "remove-directory" => {
            let own = std::env::current_dir().expect("our directory");
            // The wall keeps us from it.
            if std::fs::remove_dir_all(&own).is_ok() {
                std::os::unix::fs::symlink("/usr", own).expect("linked");
            }
        }
        "stdin" => {
            let mut script = String::new();
            std::io::stdin().read_to_string(&mut script).expect("text");
            println!("{}", script.len());
        }
        "late" => {
            std::thread::sleep(Duration::from_millis(700));
            println!("sat");
            hang()
        }
        "early-and-late" => {
            println!("sat");
            std::thread::sleep(Duration::from_secs(60));
            println!("unsat");
        }
        "environment" => {
            let mut all: Vec<_> = std::env::vars().collect();
            all.sort();
            for (name, value) in all {
                println!("{name}={value}");
            }
        }
        // SAFETY: `F_GETFD` takes nothing and may be asked about any number.
        "descriptors" => unsafe {
            let open: Vec<c_int> = (0..1024).filter(|fd| fcntl(*fd, 1) >= 0).collect();
            println!("{open:?}");
        },
        // SAFETY: `F_SETFL` takes an integer.
        "unblock-output" => unsafe {
            fcntl(1, 4, 0o4000);
            println!("sat");
        },
        // Says what it is, with a daemon that holds its output open and with litter wherever it can.
        // SAFETY: one thread runs, so forked children are whole.
        "--version" => unsafe {
            if fork() == 0 {
                setsid();
                if fork() == 0 {
                    hang();
                }
                std::process::exit(0);
            }
            let _ = std::fs::write("/tmp/osprey-hostile-litter", "x");
            let _ = std::fs::write("/dev/shm/osprey-hostile-litter", "x");
            let _ = std::fs::write(std::env::temp_dir().join("litter"), "x");
            println!("Z3 version 4.8.7 - 64 bit");
        },
        "echo" => {
            let path = std::env::args().nth(2).expect("a file");
            print!("{path}: {}", std::fs::read_to_string(&path).expect("readable"));
        }
        "exit" => std::process::exit(101),
        other => {
            eprintln!("unknown way {other:?}");
            std::process::exit(2);
        }
    }
}

/// Tries to change an existing file, and to put new things beside it.
fn changes(path: &std::path::Path) -> Vec<&'static str> {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};
    let beside = |name: &str| path.with_file_name(name);
    let mut options = fs::OpenOptions::new();
    let mine = fs::write("mine", "x").is_ok();
    let mut worked = Vec::new();
    let mut note = |name, done: bool| {
        if done {
            worked.push(name);
        }
    };
    note("append", options.append(true).open(path).and_then(|mut file| file.write_all(b"evil")).is_ok());
    note("truncate", fs::File::create(path).is_ok());
    note("set-length", fs::OpenOptions::new().write(true).open(path).and_then(|file| file.set_len(0)).is_ok());
    note("permissions", fs::set_permissions(path, fs::Permissions::from_mode(0o777)).is_ok());
    note("create", fs::write(beside("created"), "x").is_ok());
    note("directory", fs::create_dir(beside("directory")).is_ok());
    note("symlink", symlink("/", beside("symlink")).is_ok());
    note("link-out", fs::hard_link("mine", beside("linked")).is_ok());
    note("rename-out", fs::rename("mine", beside("renamed")).is_ok());
    note("rename", fs::rename(path, beside("moved")).is_ok());
    note("remove", fs::remove_file(path).is_ok());
    // A link from inside must not lead out.
    note("through-symlink", symlink(path, "way-out").is_ok() && fs::write("way-out", "evil").is_ok());
    if !mine {
        note("scratch-is-closed", true);
    }
    worked
}
