//! Any bytes: parsing ends, and what parses prints to something that parses to the same text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use smtlib::{Mode, Release, Store, parse, print::print};

fuzz_target!(|source: &[u8]| {
    let mut store = Store::new();
    _ = parse(&mut store, source, Mode::Strict);
    let mut store = Store::new();
    let Ok(parsed) = parse(&mut store, source, Mode::Tolerant) else { return };
    let text = print(&store, &parsed.script, Release::STANDARD);
    let mut again = Store::new();
    let parsed = parse(&mut again, text.as_bytes(), Mode::Tolerant).expect("printed scripts parse");
    assert_eq!(print(&again, &parsed.script, Release::STANDARD), text);
});
