//! Printing a parsed script and parsing it again gives the same script.
//!
//! Runs over `tests/scripts`, and over the folder in `OSPREY_CORPUS` if that is set.

use std::path::{Path, PathBuf};

use smtlib::{Mode, Release, Store, parse, print::print};

fn scripts(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("readable folder") {
        let path = entry.expect("readable entry").path();
        if path.is_dir() {
            scripts(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "smt2") {
            found.push(path);
        }
    }
}

/// What is wrong with the printed form, if anything. Files that do not parse are not looked at.
fn defect(source: &[u8]) -> Option<String> {
    let mut store = Store::new();
    let first = parse(&mut store, source, Mode::Tolerant).ok()?;
    let text = print(&store, &first.script, Release::STANDARD);
    let mut store = Store::new();
    let second = match parse(&mut store, text.as_bytes(), Mode::Tolerant) {
        Ok(parsed) => parsed,
        Err(error) => return Some(format!("{error}\n{}", error.excerpt(text.as_bytes()))),
    };
    let again = print(&store, &second.script, Release::STANDARD);
    if again != text {
        let line = again.lines().zip(text.lines()).find(|(a, b)| a != b);
        return Some(format!("printed differently: {line:?}"));
    }
    // How often an opaque part is written depends on sharing; which ones there are does not.
    let names =
        |parsed: &smtlib::Parsed| parsed.opaque.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    let (before, after) = (names(&first), names(&second));
    (!after.iter().all(|name| before.contains(name))).then(|| format!("opaque: {before:?} {after:?}"))
}

#[test]
fn every_script_survives_printing() {
    let mut files = Vec::new();
    scripts(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scripts"), &mut files);
    assert!(!files.is_empty(), "the scripts of this test are part of the crate");
    if let Some(corpus) = std::env::var_os("OSPREY_CORPUS") {
        scripts(Path::new(&corpus), &mut files);
    }
    files.sort();
    let defects: Vec<String> = files
        .iter()
        .filter_map(|file| {
            let source = std::fs::read(file).expect("readable file");
            defect(&source).map(|defect| format!("{}: {defect}", file.display()))
        })
        .collect();
    assert!(defects.is_empty(), "{} of {} files:\n{}", defects.len(), files.len(), defects.join("\n"));
}

#[test]
fn functions_applied_to_nothing_survive_printing() {
    for source in [
        "(assert (((_ update head green))))",
        "(assert ((((unknown)))))",
        "(declare-const f (-> Int Bool))(assert ((f) 1))(assert (((f)) 1))",
        "(assert (let ((f unknown)) (= ((f)) (f))))",
        // Shared once they are large enough: both ways to write them must count alike.
        "(assert (= ((f) (a b) (c d) e) ((f) (a b) (c d) e)))",
        "(assert (let ((g f)) (= (g (a b) (c d) e) (g (a b) (c d) e))))",
        "(declare-fun f (Int Int Int) Int)(assert (= ((f) (+ 1 2) (+ 3 4) 5) ((f) (+ 1 2) (+ 3 4) 5)))",
    ] {
        assert_eq!(defect(source.as_bytes()), None, "{source}");
    }
}

#[test]
fn odd_names_in_unknown_identifiers_survive_printing() {
    for source in [
        "(assert (_ unknown |a text\nover two lines|))",
        "(assert ((_ |an operator| 3 |(|) true))",
        "(declare-fun |(f| (Int) Int)(assert (= ((_ unknown |(f|) 1) 2))",
        "(assert |(unknown|)",
        "(assert (|(unknown)| (|) (| true)))",
    ] {
        assert_eq!(defect(source.as_bytes()), None, "{source}");
    }
}

#[test]
fn strings_written_for_an_old_release_are_read_back_as_they_were_meant() {
    let source = br#"(declare-const s String)
(assert (= s "\u{e9}\x41""\u{5c}\u{1}"))
(check-sat)
"#;
    let mut store = Store::new();
    let script = parse(&mut store, source, Mode::Strict).expect("a script").script;
    let standard = print(&store, &script, Release::STANDARD);
    let old = Release { family: smtlib::Family::Z3, version: smtlib::Version::new(4, 8, 7) };
    let text = print(&store, &script, old);
    assert!(text.contains(r#""\xe9\x5cx41""\x5c\x01""#), "{text}");
    let mut store = Store::new();
    let again = parse(&mut store, text.as_bytes(), Mode::Strict).expect("a script").script;
    assert_eq!(print(&store, &again, Release::STANDARD), standard);
    assert_eq!(print(&store, &again, old), text);
    let plain = parse(&mut store, b"(assert (= \"\\x41\" \"A\"))", Mode::Strict).expect("a script").script;
    assert!(print(&store, &plain, Release::STANDARD).contains("\\x41"), "to the standard it is no escape");
}
