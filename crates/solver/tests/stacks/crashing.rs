//! A stand-in for a solver that crashes as the script in its last argument says. Compiled by the test that runs it.

use std::hint::black_box;

unsafe extern "C" {
    fn ptrace(request: u32, pid: i32, address: usize, data: usize) -> i64;
    fn signal(number: i32, handler: usize) -> usize;
    fn raise(number: i32) -> i32;
    fn pause() -> i32;
}

const SIGSEGV: i32 = 11;
const SIGSTOP: i32 = 19;

#[inline(never)]
#[unsafe(no_mangle)]
fn dereference(address: usize) -> u8 {
    // SAFETY: it is not; that is what this program is for.
    unsafe { (address as *const u8).read_volatile() }
}

#[inline(never)]
#[unsafe(no_mangle)]
fn give_up() -> u8 {
    std::process::abort()
}

#[inline(never)]
#[unsafe(no_mangle)]
fn rewrite(depth: u64) -> u64 {
    let room = black_box([depth; 20]);
    simplify(depth + 1) + room[3]
}

#[inline(never)]
#[unsafe(no_mangle)]
fn simplify(depth: u64) -> u64 {
    let room = black_box([depth; 40]);
    apply(depth + 1) + room[3]
}

#[inline(never)]
#[unsafe(no_mangle)]
fn apply(depth: u64) -> u64 {
    let room = black_box([depth; 200]);
    rewrite(depth + 1) + room[3]
}

#[inline(never)]
#[unsafe(no_mangle)]
extern "C" fn report_and_abort(_: i32) {
    std::process::abort()
}

#[inline(never)]
#[unsafe(no_mangle)]
fn solve(script: &str) -> u64 {
    if script.contains("handler") {
        // SAFETY: the handler makes only system calls.
        unsafe { signal(SIGSEGV, report_and_abort as *const () as usize) };
    }
    if script.contains("traces-itself") {
        // SAFETY: this request (of being traced) touches no memory.
        unsafe { ptrace(0, 0, 0, 0) };
    }
    if script.contains("stops") {
        // SAFETY: raises a signal, no more.
        unsafe { raise(SIGSTOP) };
    }
    if script.contains("blocks") {
        // SAFETY: waits for a signal.
        unsafe { pause() };
    }
    if script.contains("null") {
        return dereference(black_box(8)).into();
    }
    if script.contains("abort") {
        return give_up().into();
    }
    if script.contains("nowhere") {
        // SAFETY: it is not; that is what this program is for.
        let nowhere: fn() -> u64 = unsafe { std::mem::transmute(black_box(64usize)) };
        return black_box(nowhere()) + 1;
    }
    for (name, function) in
        [("rewrite", rewrite as fn(u64) -> u64), ("simplify", simplify), ("apply", apply)]
    {
        if script.contains(name) {
            return function(0);
        }
    }
    println!("sat");
    0
}

fn main() {
    let file = std::env::args().last().expect("a file");
    let script = std::fs::read_to_string(file).expect("a script");
    black_box(solve(&script));
}
