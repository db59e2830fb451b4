//! Which frames of a stack say where a crash happened.

use std::collections::BTreeMap;

use super::names::{is_machinery, is_runtime, readable};
use super::{Frame, Stack};

/// Frames that a report shows.
const SHOWN: usize = 40;

/// The longest cycle of functions that is looked for, and the most functions that may stand before it.
const LONGEST_CYCLE: usize = 100;

/// So many times a cycle must repeat itself to be one.
const REPEATS: usize = 3;

/// Without a cycle: the share of frames, one in so many, that makes a function part of a recursion.
const SHARE: usize = 20;

/// Where a crash happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CrashPlace {
    /// Functions of the solver, innermost first; of a recursion that ended for want of a stack, what repeats.
    pub functions: Vec<String>,
    /// It is a recursion that ended for want of a stack.
    pub overflow: bool,
}

impl CrashPlace {
    /// `None` if no function of a solver is on the stack.
    pub fn of(stack: &Stack) -> Option<CrashPlace> {
        let own = own_functions(&stack.frames);
        let recursion = if stack.overflow { recursion(&own) } else { None };
        let overflow = recursion.is_some();
        let mut functions = recursion.unwrap_or(own);
        functions.truncate(SHOWN);
        (!functions.is_empty()).then_some(CrashPlace { functions, overflow })
    }
}

/// The functions that belong to the solver. What a handler of a signal called is not where the signal came from.
fn own_functions(frames: &[Frame]) -> Vec<String> {
    let from = frames.iter().rposition(|frame| frame.handler).map_or(0, |last| last + 1);
    let own = frames[from..].iter().filter(|frame| !is_runtime(&frame.module)).map(|frame| {
        let name = readable(&frame.function);
        // An address means something only together with its file.
        if name.starts_with('+') { format!("{}{name}", frame.module) } else { name }
    });
    own.filter(|name| !is_machinery(name) && !is_of_language(name)).collect()
}

/// Whether a function belongs to the library of the solver's language.
fn is_of_language(name: &str) -> bool {
    ["std::", "core::", "alloc::"].iter().any(|library| name.trim_start_matches('<').starts_with(library))
}

/// What repeats in a recursion, the same wherever in it the stack ended: the cycle, beginning with the function that
/// makes it first in the alphabet; where calls come in no fixed order, the functions that make up most of them.
fn recursion(functions: &[String]) -> Option<Vec<String>> {
    if let Some(cycle) = cycle(functions) {
        let turned = |start: usize| cycle[start..].iter().chain(&cycle[..start]);
        let start = (0..cycle.len()).min_by(|a, b| turned(*a).cmp(turned(*b)))?;
        return Some(turned(start).cloned().collect());
    }
    let mut counts: BTreeMap<&String, usize> = BTreeMap::new();
    for function in functions {
        *counts.entry(function).or_default() += 1;
    }
    let often = counts.into_iter().filter(|(_, count)| *count > REPEATS && count * SHARE >= functions.len());
    let often: Vec<String> = often.map(|(function, _)| function.clone()).collect();
    (!often.is_empty()).then_some(often)
}

/// The shortest cycle that fills the stack as far as it was read, after the functions that were called last.
fn cycle(functions: &[String]) -> Option<&[String]> {
    for period in 1..=LONGEST_CYCLE {
        for start in 0..=LONGEST_CYCLE {
            let inside = functions.get(start..)?;
            if inside.len() < period * REPEATS {
                break;
            }
            // The outermost frames are those from which the recursion was entered.
            let inside = &inside[..inside.len() / 2 + period];
            if inside.iter().zip(&inside[period..]).all(|(inner, outer)| inner == outer) {
                return Some(&inside[..period]);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(module: &str, function: &str) -> Frame {
        Frame { module: module.to_owned(), function: function.to_owned(), handler: false }
    }

    fn overflow(functions: &[&str]) -> CrashPlace {
        let frames = functions.iter().map(|function| frame("z3", function)).collect();
        CrashPlace::of(&Stack { overflow: true, frames }).expect("a place")
    }

    #[test]
    fn runtimes_are_left_out_and_addresses_carry_their_file() {
        let frames = vec![
            frame("libc.so.6", "raise"),
            frame("libstdc++.so.6", "_ZSt9terminatev"),
            frame("z3", "abort"),
            frame("z3", "_ZNSt6vectorIiSaIiEE9push_backEOi"),
            frame("libcvc4.so.7", "+0x12ab"),
            frame("z3", "_ZN3smt7context9propagateEv"),
            frame("libc.so.6", "__libc_start_main"),
            frame("z3", "_start"),
        ];
        let place = CrashPlace::of(&Stack { overflow: false, frames: frames.clone() }).expect("a place");
        assert_eq!(place.functions, ["libcvc4.so.7+0x12ab", "smt::context::propagate"]);
        assert!(!place.overflow);
        assert_eq!(CrashPlace::of(&Stack { overflow: false, frames: frames[..2].to_vec() }), None);
    }

    #[test]
    fn what_a_handler_calls_is_not_the_place() {
        let handler = Frame { handler: true, ..frame("libc.so.6", "__restore_rt") };
        let frames =
            vec![frame("cvc5", "segv_handler"), handler, frame("cvc5", "solve"), frame("cvc5", "main")];
        let place = CrashPlace::of(&Stack { overflow: false, frames }).expect("a place");
        assert_eq!(place.functions, ["solve", "main"]);
    }

    #[test]
    fn a_recursion_is_the_same_wherever_the_stack_ended() {
        let cycle = ["g", "h", "f"];
        for turn in 0..3 {
            for last in [&["alloc", "hash"][..], &["alloc"], &[]] {
                let mut functions = last.to_vec();
                functions.extend(cycle.iter().cycle().skip(turn).take(500));
                functions.extend(["solve", "main"]);
                let place = overflow(&functions);
                assert_eq!(place.functions, ["f", "g", "h"]);
                assert!(place.overflow);
            }
        }
    }

    #[test]
    fn a_recursion_without_a_cycle_is_known_by_what_makes_it_up() {
        let mut functions = vec!["leaf"];
        for number in 0..300_usize {
            functions.extend(if number.is_power_of_two() { ["visit", "rare"] } else { ["visit", "step"] });
            functions.extend(if (number * number) % 7 < 3 { &["other"][..] } else { &[] });
        }
        assert_eq!(overflow(&functions).functions, ["other", "step", "visit"]);
    }

    #[test]
    fn a_stack_without_room_but_without_recursion_is_an_ordinary_one() {
        let place = overflow(&["big_array", "solve", "main"]);
        assert_eq!(place.functions, ["big_array", "solve", "main"]);
        assert!(!place.overflow);
    }
}
