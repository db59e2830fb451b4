//! Running one script as the `cvc5` program would.

use std::ffi::{CString, OsString, c_char, c_void};
use std::path::Path;

use crate::fast::{job, probe};

use super::library::{Cvc5, text};
use super::options::{self, CommandLine};
use super::time_limit;

/// `CVC5_INPUT_LANGUAGE_SMT_LIB_2_6`.
const SMT_LIB: i32 = 0;

unsafe extern "C" {
    /// The C library's buffered standard output, which the solver's own streams go through as well.
    static stdout: *mut libc::FILE;
    static stderr: *mut libc::FILE;
}

/// The exit code.
pub(super) fn run(args: &[OsString]) -> i32 {
    let Some((directory, args)) = args.split_first() else {
        complain("usage: <directory of cvc5's libraries> [options] file");
        return 2;
    };
    let line = match options::parse(args) {
        Ok(line) => line,
        Err(message) => return refuse(&message),
    };
    // What a server looks up its jobs need not.
    let serves = asked(job::FORK_AT);
    let cvc5 = match Cvc5::load(Path::new(directory), serves) {
        Ok(cvc5) => cvc5,
        Err(message) => {
            complain(&message);
            return 2;
        }
    };
    // SAFETY: the pointers passed on are those the library returned, and all of them live until the process ends. One
    // thread runs, and the launcher that asks for the probe has handed over its descriptors.
    unsafe {
        let probed = probe::asked(probe::FROM_MAIN);
        if probed {
            libc::unsetenv(probe::PROBE.as_ptr().cast());
            probe::arm();
        }
        let terms = (cvc5.term_manager_new)();
        let solver = (cvc5.new)(terms);
        if line.version {
            print(stdout, &format!("This is cvc5 version {}\n", text((cvc5.get_version)(solver))));
            return 0;
        }
        let Some(file) = &line.file else { return refuse("no input file") };
        if let Err(message) = configure(&cvc5, solver, &line) {
            return refuse(&message);
        }
        let symbols = (cvc5.symbol_manager_new)(terms);
        let parser = (cvc5.parser_new)(solver, symbols);
        if serves {
            let tuned = asked(job::TUNED);
            job::serve(job::Pages { constants: tuned, code: tuned && !probed, heap: false });
        }
        if let Some(milliseconds) = line.value("tlimit").and_then(|value| value.parse().ok()) {
            time_limit::start(milliseconds);
        }
        (cvc5.parser_set_file_input)(parser, SMT_LIB, file.as_ptr());
        if let Some(message) = cvc5.error() {
            return fail(&message);
        }
        commands(&cvc5, solver, symbols, parser)
    }
}

/// # Safety
/// `solver` must be one that the library made.
unsafe fn configure(cvc5: &Cvc5, solver: *mut c_void, line: &CommandLine) -> Result<(), String> {
    // SAFETY: `solver` is the library's own, as the caller promises; the library returns `count` names; the strings
    // passed on end with a zero byte and live through the calls.
    unsafe {
        let mut count = 0;
        let names = (cvc5.get_option_names)(solver, &mut count);
        let known: Vec<String> = (0..count).map(|at| text(*names.add(at))).collect();
        for (name, value) in &line.options {
            // Checked beforehand, as some releases end the process at an unknown name.
            if !known.iter().any(|other| other.as_bytes() == name.to_bytes()) {
                return Err(format!("Unrecognized option: '{}'", name.to_string_lossy()));
            }
            set(cvc5, solver, name.as_ptr(), value.as_ptr())?;
        }
        // The library is incremental unless told otherwise; the program is not, for a script in a file.
        if !line.sets("incremental") {
            set(cvc5, solver, c"incremental".as_ptr(), c"false".as_ptr())?;
        }
    }
    Ok(())
}

/// # Safety
/// `solver` must be one that the library made; both strings must end with a zero byte.
unsafe fn set(
    cvc5: &Cvc5,
    solver: *mut c_void,
    name: *const c_char,
    value: *const c_char,
) -> Result<(), String> {
    // SAFETY: `solver` and both strings are valid, as the caller promises.
    unsafe { (cvc5.set_option)(solver, name, value) };
    cvc5.error().map_or(Ok(()), Err)
}

/// Command after command, until the end, `exit`, or an error that the program does not survive either.
///
/// # Safety
/// The pointers must be those that the library made for one solver.
unsafe fn commands(cvc5: &Cvc5, solver: *mut c_void, symbols: *mut c_void, parser: *mut c_void) -> i32 {
    loop {
        // SAFETY: the pointers are the library's own, as the caller promises; what it returns lives until the next
        // call into it and is copied or printed before.
        unsafe {
            let mut error = std::ptr::null();
            let command = (cvc5.parser_next_command)(parser, &mut error);
            if !error.is_null() {
                // The library keeps the place to itself; the program's first words are kept for whoever reads them.
                return fail(&format!("Parse Error: {}", text(error)));
            }
            if let Some(message) = cvc5.error() {
                return fail(&message);
            }
            if command.is_null() {
                return 0;
            }
            let name = text((cvc5.cmd_get_name)(command));
            if name == "exit" {
                return 0;
            }
            let answer = (cvc5.cmd_invoke)(command, solver, symbols);
            if let Some(message) = cvc5.error() {
                return fail(&message);
            }
            if answer.is_null() {
                continue;
            }
            libc::fputs(answer, stdout);
            libc::fflush(stdout);
            // An error of a question (no model here, no core there) can be recovered from; any other ends the run.
            if !name.starts_with("get-")
                && std::ffi::CStr::from_ptr(answer).to_bytes().starts_with(b"(error ")
            {
                return 1;
            }
        }
    }
}

/// An error in the script: where answers go.
fn fail(message: &str) -> i32 {
    // SAFETY: the C library sets the variable before `main` and nobody changes it.
    print(unsafe { stdout }, &format!("(error \"{}\")\n", message.trim_end()));
    1
}

/// An error in the command line: where the program says it.
fn refuse(message: &str) -> i32 {
    // SAFETY: the C library sets the variable before `main` and nobody changes it.
    print(unsafe { stderr }, &format!("(error \"{}\")\n", message.trim_end()));
    1
}

fn complain(message: &str) {
    // SAFETY: the C library sets the variable before `main` and nobody changes it.
    print(unsafe { stderr }, &format!("cvc5 host: {message}\n"));
}

fn print(stream: *mut libc::FILE, message: &str) {
    let message = CString::new(message.replace('\0', " ")).unwrap_or_default();
    // SAFETY: `stream` is one of the C library's own.
    unsafe {
        libc::fputs(message.as_ptr(), stream);
        libc::fflush(stream);
    }
}

/// Whether a launcher has set this variable; the solver is not to see it.
fn asked(name: &'static str) -> bool {
    let name = name.as_ptr().cast();
    // SAFETY: nobody else runs in this process, and the name ends with a zero byte.
    unsafe {
        let asked = !libc::getenv(name).is_null();
        libc::unsetenv(name);
        asked
    }
}
