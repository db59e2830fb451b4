//! A PostgreSQL server of a test's own: a new cluster in a temporary folder, on a port of the loopback address, run by an
//! unprivileged user. No cluster of the system is touched. It ends with the process that asked for it, however that ends.

use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::skip;

/// How long a server may take to answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// The password of the user `osprey`, who may do everything, on TCP connections.
pub const PASSWORD: &str = "only-for-tests";

/// The server that the tests of a process share, each with a schema of its own; nothing when this machine has none: see
/// [`skip`].
pub fn postgres() -> Option<&'static Postgres> {
    static SERVER: LazyLock<Result<Postgres, String>> = LazyLock::new(|| Postgres::start(&[]));
    match &*SERVER {
        Ok(server) => Some(server),
        Err(why) => {
            skip("PostgreSQL", why);
            None
        }
    }
}

/// A server of one test's own, which it may stop and start, with settings of `postgresql.conf`.
pub fn own_postgres(settings: &[&str]) -> Option<Postgres> {
    match Postgres::start(settings) {
        Ok(server) => Some(server),
        Err(why) => {
            skip("PostgreSQL", why);
            None
        }
    }
}

/// How a server ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Everything that was committed is there again.
    Fast,
    /// As if the power had failed: what was not written is gone.
    Immediate,
}

/// A running server, or one that was stopped.
pub struct Postgres {
    programs: PathBuf,
    folder: PathBuf,
    port: u16,
    settings: Vec<String>,
    running: Mutex<Option<Child>>,
}

impl Postgres {
    fn start(settings: &[&str]) -> Result<Postgres, String> {
        let programs = programs()?;
        let folder = std::env::temp_dir().join(format!("osprey-postgres-{}-{}", std::process::id(), next()));
        std::fs::create_dir_all(&folder).map_err(|error| format!("'{}': {error}", folder.display()))?;
        let (user, group) = unprivileged();
        std::os::unix::fs::chown(&folder, Some(user), Some(group)).map_err(|error| error.to_string())?;
        let words = folder.join("password");
        std::fs::write(&words, PASSWORD).map_err(|error| error.to_string())?;
        std::os::unix::fs::chown(&words, Some(user), Some(group)).map_err(|error| error.to_string())?;
        let made = as_user(&programs.join("initdb"))
            .args(["--username=osprey", "--auth-local=trust", "--auth-host=scram-sha-256", "--no-sync"])
            .args(["--encoding=UTF8", "--locale=C", "--pgdata"])
            .arg(folder.join("data"))
            .arg(format!("--pwfile={}", words.display()))
            .current_dir(&folder)
            .output()
            .map_err(|error| format!("initdb: {error}"))?;
        if !made.status.success() {
            return Err(format!("initdb: {}", String::from_utf8_lossy(&made.stderr)));
        }
        let socket = TcpListener::bind("127.0.0.1:0").map_err(|error| error.to_string())?;
        let port = socket.local_addr().map_err(|error| error.to_string())?.port();
        drop(socket);
        let settings = settings.iter().map(ToString::to_string).collect();
        let server = Postgres { programs, folder, port, settings, running: Mutex::new(None) };
        server.start_again()?;
        Ok(server)
    }

    /// Starts a server that was stopped.
    pub fn start_again(&self) -> Result<(), String> {
        // The shell ends the server when this process is gone and nothing more can come from it.
        let script = "\"$@\" & cat >/dev/null; kill -QUIT $!; wait; [ -z \"$REMOVE\" ] || rm -rf \"$REMOVE\"";
        let mut server = as_user(Path::new("sh"));
        server.args(["-c", script, "sh"]).arg(self.programs.join("postgres"));
        server.arg("-D").arg(self.folder.join("data")).current_dir(&self.folder);
        server.args(["-c", "listen_addresses=127.0.0.1", "-c", "fsync=off", "-c", "max_connections=200"]);
        server.arg("-c").arg(format!("port={}", self.port));
        server.arg("-c").arg(format!("unix_socket_directories={}", self.folder.display()));
        for setting in &self.settings {
            server.args(["-c", setting]);
        }
        let log = std::fs::File::options().create(true).append(true).open(self.folder.join("log"));
        let log = log.map_err(|error| error.to_string())?;
        let child = server
            .env("REMOVE", &self.folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .map_err(|error| format!("postgres: {error}"))?;
        *self.running.lock().unwrap_or_else(PoisonError::into_inner) = Some(child);
        let begun = Instant::now();
        while self.sql("postgres", "SELECT 1").is_err() {
            if begun.elapsed() > PATIENCE {
                let log = std::fs::read_to_string(self.folder.join("log")).unwrap_or_default();
                return Err(format!("it does not start: {log}"));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    }

    /// Stops it. Nobody is waited for who is connected.
    pub fn stop(&self, how: Stop) {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(mut child) = running.take() else { return };
        let pid = std::fs::read_to_string(self.folder.join("data/postmaster.pid")).unwrap_or_default();
        let signal = if how == Stop::Fast { "-INT" } else { "-QUIT" };
        if let Some(pid) = pid.lines().next() {
            let _ = Command::new("kill").args([signal, pid]).status();
            // The process is not a child of ours.
            let begun = Instant::now();
            while Path::new(&format!("/proc/{pid}")).exists() && begun.elapsed() < PATIENCE {
                std::thread::sleep(Duration::from_millis(20));
            }
        }
        // The shell waits for our end, and would remove the folder.
        let _ = child.kill();
        let _ = child.wait();
    }

    /// Stops it and starts it again.
    pub fn restart(&self, how: Stop) {
        self.stop(how);
        self.start_again().expect("it starts again");
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// An address with a schema that no other test has, and the password in it.
    pub fn url(&self) -> String {
        let schema = format!("test_{}_{}", std::process::id(), next());
        format!("postgres://osprey:{PASSWORD}@127.0.0.1:{}/postgres?schema={schema}", self.port)
    }

    /// Does something as the user who may do everything, and gives what is printed.
    pub fn sql(&self, database: &str, sql: &str) -> Result<String, String> {
        if TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            return Err("nobody listens".to_owned());
        }
        let output = Command::new(self.programs.join("psql"))
            .args(["--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--set=ON_ERROR_STOP=1"])
            .args(["--username=osprey", "--dbname", database, "--port", &self.port.to_string(), "--host"])
            .arg(&self.folder)
            .args(["--command", sql])
            .stdin(Stdio::null())
            .output()
            .map_err(|error| format!("psql: {error}"))?;
        match output.status.success() {
            true => Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned()),
            false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        }
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.stop(Stop::Immediate);
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn next() -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// The folder with the server's programs: that on PATH, or where Debian has them, the newest version first.
fn programs() -> Result<PathBuf, String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = Vec::new();
    if let Ok(versions) = std::fs::read_dir("/usr/lib/postgresql") {
        folders.extend(versions.flatten().map(|version| version.path().join("bin")));
    }
    folders.sort();
    folders.reverse();
    folders.extend(std::env::split_paths(&path));
    let complete =
        |folder: &PathBuf| ["initdb", "postgres", "psql"].iter().all(|name| folder.join(name).is_file());
    folders
        .into_iter()
        .find(complete)
        .ok_or_else(|| "initdb, postgres and psql are not there; `.ci/servers` installs them".to_owned())
}

/// Who runs the server: this user, unless that is root, whom PostgreSQL refuses.
fn unprivileged() -> (u32, u32) {
    let own = std::fs::metadata("/proc/self").map_or((0, 0), |me| (me.uid(), me.gid()));
    if own.0 != 0 {
        return own;
    }
    let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let of = |name: &str| {
        let line = users.lines().find(|line| line.starts_with(&format!("{name}:")))?;
        let mut fields = line.split(':').skip(2);
        Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
    };
    of("postgres").or_else(|| of("nobody")).unwrap_or(own)
}

fn as_user(program: &Path) -> Command {
    let mut command = Command::new(program);
    let own = std::fs::metadata("/proc/self").map_or(0, |me| me.uid());
    if own == 0 {
        let (user, group) = unprivileged();
        command.uid(user).gid(group);
    }
    command.env("LC_ALL", "C");
    command
}
