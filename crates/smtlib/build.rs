//! Turns the theory table (`theories/*.ops`) into the `Op` and `Theory` enums and their rows.
//!
//! Only the outer form of a line is looked at here; signatures and attributes are read by
//! `theory::signature` when the table is first used, and a test reads every row.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

fn main() {
    let folder = Path::new("theories");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut files: Vec<_> = fs::read_dir(folder)
        .expect("the folder theories/ is part of the crate")
        .map(|entry| entry.expect("readable folder entry").path())
        .filter(|path| path.extension().is_some_and(|ext| ext == "ops"))
        .collect();
    files.sort();

    let mut theories = String::new();
    let mut variants = String::new();
    let mut rows = String::new();
    for file in files {
        println!("cargo::rerun-if-changed={}", file.display());
        let text = fs::read_to_string(&file).expect("readable .ops file");
        let mut theory = None;
        for (number, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            if let Some(name) = line.strip_prefix("theory ") {
                let name = name.trim();
                writeln!(theories, "    {name},").expect("string");
                theory = Some(name.to_owned());
                continue;
            }
            let place = format!("{}:{}", file.display(), number + 1);
            let theory = theory.as_deref().unwrap_or_else(|| panic!("{place}: no theory line yet"));
            let (variant, rest) =
                line.split_once(" = ").unwrap_or_else(|| panic!("{place}: expected 'Variant = pattern'"));
            let (pattern, rest) =
                rest.split_once(" : ").unwrap_or_else(|| panic!("{place}: expected 'pattern : signature'"));
            let mut parts = rest.split(" ; ").map(str::trim);
            let signature = parts.next().unwrap_or_default();
            let attributes: Vec<&str> = parts.collect();
            let variant = variant.trim();
            writeln!(variants, "    /// `{}`", pattern.trim()).expect("string");
            writeln!(variants, "    {variant},").expect("string");
            writeln!(
                rows,
                "    RowText {{ op: Op::{variant}, variant: {variant:?}, theory: Theory::{theory}, pattern: {:?}, \
                 signature: {signature:?}, attributes: &{attributes:?} }},",
                pattern.trim()
            )
            .expect("string");
        }
    }
    let derives = "#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]";
    let out = format!(
        "/// A theory: the operators of one `.ops` file.\n{derives}\npub enum Theory {{\n{theories}}}\n\n\
         /// An operator: one row of the theory table.\n{derives}\n#[repr(u16)]\npub enum Op {{\n{variants}}}\n\n\
         pub(crate) static ROW_TEXTS: &[RowText] = &[\n{rows}];\n"
    );
    let target = Path::new(&env::var_os("OUT_DIR").expect("set by cargo")).join("ops.rs");
    fs::write(target, out).expect("writable build folder");
}
