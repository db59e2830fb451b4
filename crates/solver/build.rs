//! Compiles the preloaded fork-server library (`src/fast/preload.rs`) so that it can be embedded into the crate.
//!
//! A user installs one program; a second artefact in a second place would be one that can be missing or old. Where the
//! library cannot be built an empty file takes its place and solvers are started plainly.

use std::env;
use std::path::PathBuf;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=src/fast/preload.rs");
    println!("cargo:rerun-if-changed=src/fast/job.rs");
    println!("cargo:rerun-if-changed=src/fast/pages.rs");
    println!("cargo:rerun-if-changed=src/fast/probe.rs");
    let library = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR")).join("preload.so");
    if let Err(reason) = compile(&library) {
        println!("cargo:warning=fast execution by preloading is not available: {reason}");
        std::fs::write(&library, []).expect("OUT_DIR is writable");
    }
}

fn compile(library: &PathBuf) -> Result<(), String> {
    let system = (env::var("CARGO_CFG_TARGET_OS"), env::var("CARGO_CFG_TARGET_ENV"));
    if !matches!((system.0.as_deref(), system.1.as_deref()), (Ok("linux"), Ok("gnu"))) {
        return Err("it needs Linux with the GNU C library".to_owned());
    }
    let mut compiler = Command::new(env::var_os("RUSTC").ok_or("no RUSTC")?);
    compiler.args(["--edition=2024", "--crate-type=cdylib", "--crate-name=osprey_preload"]);
    compiler.args(["-Copt-level=2", "-Cpanic=abort", "-Clto=fat", "-Cstrip=symbols", "-Cdebuginfo=0"]);
    compiler.arg("--target").arg(env::var_os("TARGET").ok_or("no TARGET")?);
    if let Some(linker) = env::var_os("RUSTC_LINKER") {
        let mut option = std::ffi::OsString::from("-Clinker=");
        option.push(linker);
        compiler.arg(option);
    }
    compiler.arg("-o").arg(library).arg("src/fast/preload.rs");
    let done = compiler.output().map_err(|error| error.to_string())?;
    if done.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&done.stderr).replace('\n', " ")) }
}
