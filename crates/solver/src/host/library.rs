//! The C interface of cvc5's shared libraries, as far as running a script needs it.

use std::ffi::{CStr, CString, OsStr, c_char, c_int, c_void};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

type Pointer = *mut c_void;

/// The functions, under their names without `cvc5_`.
pub(super) struct Cvc5 {
    pub term_manager_new: unsafe extern "C" fn() -> Pointer,
    pub new: unsafe extern "C" fn(Pointer) -> Pointer,
    pub set_option: unsafe extern "C" fn(Pointer, *const c_char, *const c_char),
    pub get_option_names: unsafe extern "C" fn(Pointer, *mut usize) -> *const *const c_char,
    pub get_version: unsafe extern "C" fn(Pointer) -> *const c_char,
    pub symbol_manager_new: unsafe extern "C" fn(Pointer) -> Pointer,
    pub parser_new: unsafe extern "C" fn(Pointer, Pointer) -> Pointer,
    pub parser_set_file_input: unsafe extern "C" fn(Pointer, c_int, *const c_char),
    pub parser_next_command: unsafe extern "C" fn(Pointer, *mut *const c_char) -> Pointer,
    pub cmd_invoke: unsafe extern "C" fn(Pointer, Pointer, Pointer) -> *const c_char,
    pub cmd_get_name: unsafe extern "C" fn(Pointer) -> *const c_char,
    /// Releases that have these record an error of the interface; the others print it and exit.
    errors: Option<(unsafe extern "C" fn() -> bool, unsafe extern "C" fn() -> *const c_char)>,
}

impl Cvc5 {
    /// Loads the two libraries in `directory`; all their functions are looked up at once, or when they are called.
    pub fn load(directory: &Path, at_once: bool) -> Result<Self, String> {
        let inner = directory.join("cvc5.libs");
        let directory = if inner.is_dir() { &inner } else { directory };
        let solver = open(&find(directory, "libcvc5")?, at_once)?;
        let parser = open(&find(directory, "libcvc5parser")?, at_once)?;
        // SAFETY: the names belong to functions of these types in every release that has the C interface.
        unsafe {
            Ok(Cvc5 {
                term_manager_new: function(solver, c"cvc5_term_manager_new")?,
                new: function(solver, c"cvc5_new")?,
                set_option: function(solver, c"cvc5_set_option")?,
                get_option_names: function(solver, c"cvc5_get_option_names")?,
                get_version: function(solver, c"cvc5_get_version")?,
                symbol_manager_new: function(parser, c"cvc5_symbol_manager_new")?,
                parser_new: function(parser, c"cvc5_parser_new")?,
                parser_set_file_input: function(parser, c"cvc5_parser_set_file_input")?,
                parser_next_command: function(parser, c"cvc5_parser_next_command")?,
                cmd_invoke: function(parser, c"cvc5_cmd_invoke")?,
                cmd_get_name: function(parser, c"cvc5_cmd_get_name")?,
                errors: function(solver, c"cvc5_has_error")
                    .and_then(|has| Ok((has, function(solver, c"cvc5_get_error_message")?)))
                    .ok(),
            })
        }
    }

    /// The error of the last call, if there was one.
    pub fn error(&self) -> Option<String> {
        let (has, message) = self.errors?;
        // SAFETY: the message lives until the next call into the library.
        unsafe { has().then(|| text(message())) }
    }
}

/// A copy of a string of the library's.
///
/// # Safety
/// `string` must be null or end with a zero byte and live through the call.
pub(super) unsafe fn text(string: *const c_char) -> String {
    if string.is_null() {
        return String::new();
    }
    // SAFETY: the caller passes a string of the library that ends with a zero byte and lives through this call.
    unsafe { CStr::from_ptr(string) }.to_string_lossy().into_owned()
}

/// The library `name` under whatever suffix the wheel gave it: `libcvc5-558d13ae.so.1.4.2`, `libcvc5.so.1`.
fn find(directory: &Path, name: &str) -> Result<PathBuf, String> {
    let matches = |file: &OsStr| {
        file.as_bytes()
            .strip_prefix(name.as_bytes())
            .is_some_and(|rest| rest.starts_with(b"-") || rest.starts_with(b".so"))
    };
    let mut found: Vec<PathBuf> = fs::read_dir(directory)
        .map_err(|error| format!("{}: {error}", directory.display()))?
        .flatten()
        .filter(|entry| matches(&entry.file_name()))
        .map(|entry| entry.path())
        .collect();
    found.sort();
    found.into_iter().next().ok_or_else(|| format!("no {name} in {}", directory.display()))
}

fn open(path: &Path, at_once: bool) -> Result<Pointer, String> {
    let binding = if at_once { libc::RTLD_NOW } else { libc::RTLD_LAZY };
    let name = CString::new(path.as_os_str().as_bytes()).map_err(|error| error.to_string())?;
    // SAFETY: the path ends with a zero byte; initialisers of a solver library that the user chose may run.
    let handle = unsafe { libc::dlopen(name.as_ptr(), binding | libc::RTLD_GLOBAL) };
    if handle.is_null() { Err(loader_error()) } else { Ok(handle) }
}

/// # Safety
/// `F` must be the type of the function of that name.
unsafe fn function<F>(library: Pointer, name: &CStr) -> Result<F, String> {
    assert_eq!(size_of::<F>(), size_of::<Pointer>());
    // SAFETY: `library` is an open handle, and the name ends with a zero byte.
    let address = unsafe { libc::dlsym(library, name.as_ptr()) };
    if address.is_null() {
        return Err(format!("{} (the C interface exists from cvc5 1.2.0 on)", loader_error()));
    }
    // SAFETY: the address is of a function of type `F`, as the caller promises, and pointers to functions have the
    // size of other pointers, as asserted above.
    Ok(unsafe { std::mem::transmute_copy(&address) })
}

fn loader_error() -> String {
    // SAFETY: the message is null or a string that lives until the next call of the loader.
    unsafe { text(libc::dlerror()) }
}
