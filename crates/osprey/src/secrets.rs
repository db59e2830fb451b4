//! Passwords of addresses: out of the command line, which everybody can list, and out of the environment, which child
//! processes get.

use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use campaign::store;
use solver::quoted;

/// The variable in which libpq's users keep the password.
const VARIABLE: &str = "PGPASSWORD";

/// To be called before there is another thread. Starts the program anew if its command line has a password.
pub fn hide() -> std::io::Result<()> {
    let words: Vec<OsString> = std::env::args_os().collect();
    let mut found = None;
    let clean: Vec<OsString> = words.iter().map(|word| without(word, &mut found)).collect();
    if let Some(password) = found {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg0(&clean[0]).args(&clean[1..]).env(VARIABLE, password);
        return Err(command.exec());
    }
    if let Some(password) = std::env::var_os(VARIABLE) {
        store::keep_password(password.to_string_lossy().into_owned());
        // SAFETY: no other thread runs yet.
        unsafe { std::env::remove_var(VARIABLE) };
    }
    Ok(())
}

/// The command line as it was given, which has no password in it any more.
pub fn command_line() -> String {
    let words: Vec<String> =
        std::env::args_os().skip(1).map(|word| quoted(&word.to_string_lossy())).collect();
    format!("osprey {}", words.join(" "))
}

/// A word of the command line without the password of an address in it.
fn without(word: &OsString, found: &mut Option<String>) -> OsString {
    let Some(text) = word.to_str() else { return word.clone() };
    let Some(start) = ["postgres://", "postgresql://"].iter().find_map(|scheme| text.find(scheme)) else {
        return word.clone();
    };
    let (address, password) = store::without_password(&text[start..]);
    match password {
        Some(password) => {
            *found = Some(password);
            format!("{}{address}", &text[..start]).into()
        }
        None => word.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_password_is_taken_out_of_any_word() {
        for (word, clean) in [
            ("postgres://eve:pw@host/db", "postgres://eve@host/db"),
            ("--store=postgresql://eve:pw@host/db?schema=a", "--store=postgresql://eve@host/db?schema=a"),
            ("postgres://eve@host/db?password=pw", "postgres://eve@host/db"),
        ] {
            let mut found = None;
            assert_eq!(without(&word.into(), &mut found), clean);
            assert_eq!(found.as_deref(), Some("pw"));
        }
        let mut found = None;
        assert_eq!(without(&"seeds/a:b@c".into(), &mut found), "seeds/a:b@c");
        assert_eq!(found, None);
    }
}
