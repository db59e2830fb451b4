//! From one frame to its caller, by the tables that exceptions use.

use std::collections::BTreeMap;
use std::path::PathBuf;

use gimli::{
    CfaRule, EhFrame, Encoding, EvaluationResult, Format, Location, Register, RegisterRule, UnwindContext,
    UnwindExpression, Value,
};

use super::image::{Bytes, Image};
use super::process::Process;
use super::{Frame, Stack};

/// Frames that are looked at: more than a recursion needs to show what it repeats.
const MOST_FRAMES: usize = 2000;

/// How far from the stack pointer an access may fail for want of a stack: functions have large frames.
const NEAR: u64 = 1 << 20;

const REGISTERS: usize = if cfg!(target_arch = "x86_64") { 17 } else { 33 };
const STACK_POINTER: Register = Register(if cfg!(target_arch = "x86_64") { 7 } else { 31 });
/// Where the address of the next frame stands: a column of its own on x86, the link register on ARM.
const RETURN_ADDRESS: Register = Register(if cfg!(target_arch = "x86_64") { 16 } else { 30 });

/// The registers of a frame under the numbers that unwind tables give them, as far as they are known.
#[derive(Clone)]
pub(crate) struct Registers {
    values: [Option<u64>; REGISTERS],
    pc: u64,
}

impl Registers {
    /// Of a process that stands still, from the kernel's list.
    #[cfg(target_arch = "x86_64")]
    pub fn of(user: &libc::user_regs_struct) -> Registers {
        let values = [
            user.rax, user.rdx, user.rcx, user.rbx, user.rsi, user.rdi, user.rbp, user.rsp, user.r8, user.r9,
            user.r10, user.r11, user.r12, user.r13, user.r14, user.r15, user.rip,
        ];
        Registers { values: values.map(Some), pc: user.rip }
    }

    /// Of a process that stands still, from the kernel's list.
    #[cfg(target_arch = "aarch64")]
    pub fn of(user: &libc::user_regs_struct) -> Registers {
        let mut values = [None; REGISTERS];
        for (value, known) in values.iter_mut().zip(user.regs) {
            *value = Some(known);
        }
        values[usize::from(STACK_POINTER.0)] = Some(user.sp);
        Registers { values, pc: user.pc }
    }

    fn get(&self, register: Register) -> Option<u64> {
        self.values.get(usize::from(register.0)).copied().flatten()
    }

    /// The caller of a function that has only just been called.
    fn just_called(&self, process: &Process) -> Option<Registers> {
        let mut caller = self.clone();
        if cfg!(target_arch = "x86_64") {
            let sp = self.get(STACK_POINTER)?;
            caller.pc = process.word(sp)?;
            caller.values[usize::from(STACK_POINTER.0)] = sp.checked_add(8);
        } else {
            caller.pc = self.get(RETURN_ADDRESS)?;
        }
        Some(caller)
    }
}

/// The stack of a process that stands still: `fault` is the address at which an access to memory failed. `None` where
/// nothing can be seen.
pub(crate) fn read(pid: libc::pid_t, registers: Registers, fault: Option<u64>) -> Option<Stack> {
    let process = Process::open(pid)?;
    let overflow = fault.zip(registers.get(STACK_POINTER)).is_some_and(|(fault, sp)| {
        fault.abs_diff(sp) < NEAR && process.mapping(fault).is_none_or(|mapping| !mapping.readable)
    });
    let mut unwinder = Unwinder { process, images: Vec::new(), context: UnwindContext::new() };
    let found = unwinder.walk(registers);
    let frames = unwinder.named(&found);
    (!frames.is_empty()).then_some(Stack { overflow, frames })
}

/// A frame by its addresses.
struct Found {
    image: usize,
    /// In the file's own count.
    address: u64,
    /// Where the function begins.
    function: u64,
    handler: bool,
}

struct Unwinder {
    process: Process,
    /// All that were looked for, with those that cannot be read.
    images: Vec<(PathBuf, Option<Image>)>,
    context: UnwindContext<usize>,
}

impl Unwinder {
    fn walk(&mut self, mut registers: Registers) -> Vec<Found> {
        let mut found: Vec<Found> = Vec::new();
        let mut exact = true;
        let mut astray = false;
        while found.len() < MOST_FRAMES {
            // A return address is that of the next instruction, which may belong to another function.
            let Some(pc) = registers.pc.checked_sub(u64::from(!exact)) else { break };
            let Some((image, address)) = self.locate(pc) else {
                // Only a call leads into nowhere: its caller is still known.
                if !found.is_empty() || astray {
                    break;
                }
                astray = true;
                exact = false;
                let Some(caller) = registers.just_called(&self.process) else { break };
                registers = caller;
                continue;
            };
            let Some((frame, caller)) = self.step(image, address, &registers) else {
                found.push(Found { image, address, function: address, handler: false });
                break;
            };
            exact = frame.handler;
            found.push(frame);
            let Some(caller) = caller else { break };
            registers = caller;
        }
        found
    }

    /// The image at an address, and the address in the image's own count.
    fn locate(&mut self, address: u64) -> Option<(usize, u64)> {
        let mapping = self.process.mapping(address).filter(|mapping| mapping.executable)?;
        let path = mapping.path.as_ref()?;
        let place = match self.images.iter().position(|(known, _)| known == path) {
            Some(place) => place,
            None => {
                self.images.push((path.clone(), Image::open(path)));
                self.images.len() - 1
            }
        };
        Some((place, self.images[place].1.as_ref()?.own_address(address, mapping)?))
    }

    /// The frame at an address and, unless it is the outermost, the registers of its caller.
    fn step(
        &mut self,
        place: usize,
        address: u64,
        registers: &Registers,
    ) -> Option<(Found, Option<Registers>)> {
        let image = self.images[place].1.as_ref()?;
        let entry = image.entry(address)?;
        let frames = image.eh_frame()?;
        let handler = entry.is_signal_trampoline();
        let found = Found { image: place, address, function: entry.initial_address(), handler };
        let row = entry.unwind_info_for_address(&frames, &image.bases, &mut self.context, address).ok()?;
        let machine = Machine { process: &self.process, registers, frames: &frames };
        let cfa = match row.cfa() {
            CfaRule::RegisterAndOffset { register, offset } => {
                registers.get(*register).map(|base| base.wrapping_add_signed(*offset))
            }
            CfaRule::Expression(expression) => machine.evaluate(expression, None),
        };
        let Some(cfa) = cfa else { return Some((found, None)) };
        // A frame below its callee is nonsense, except where a handler has a stack of its own.
        if !handler && registers.get(STACK_POINTER).is_none_or(|sp| cfa < sp) {
            return Some((found, None));
        }
        let mut caller = registers.clone();
        caller.values[usize::from(STACK_POINTER.0)] = Some(cfa);
        let return_address = entry.cie().return_address_register();
        for (register, rule) in row.registers() {
            let value = match rule {
                RegisterRule::Undefined | RegisterRule::Architectural => None,
                RegisterRule::SameValue => registers.get(*register),
                RegisterRule::Offset(offset) => machine.process.word(cfa.wrapping_add_signed(*offset)),
                RegisterRule::ValOffset(offset) => Some(cfa.wrapping_add_signed(*offset)),
                RegisterRule::Register(other) => registers.get(*other),
                RegisterRule::Expression(expression) => {
                    machine.evaluate(expression, Some(cfa)).and_then(|at| machine.process.word(at))
                }
                RegisterRule::ValExpression(expression) => machine.evaluate(expression, Some(cfa)),
                RegisterRule::Constant(value) => Some(*value),
            };
            if let Some(slot) = caller.values.get_mut(usize::from(register.0)) {
                *slot = value;
            }
        }
        let Some(pc) = caller.get(return_address).filter(|pc| *pc != 0) else { return Some((found, None)) };
        // The same frame again would be found for ever.
        let moved = pc != registers.pc || cfa != registers.get(STACK_POINTER).unwrap_or_default();
        caller.pc = pc;
        Some((found, moved.then_some(caller)))
    }

    /// The frames by name.
    fn named(&self, found: &[Found]) -> Vec<Frame> {
        let mut wanted: BTreeMap<usize, Vec<u64>> = BTreeMap::new();
        for frame in found {
            wanted.entry(frame.image).or_default().push(frame.address);
        }
        let mut names: BTreeMap<(usize, u64), String> = BTreeMap::new();
        for (place, mut addresses) in wanted {
            let Some(image) = &self.images[place].1 else { continue };
            addresses.sort_unstable();
            addresses.dedup();
            let found = addresses.iter().zip(image.names(&addresses));
            names.extend(found.filter_map(|(address, name)| Some(((place, *address), name?))));
        }
        let module = |frame: &Found| self.images[frame.image].1.as_ref().map(|image| image.name.clone());
        let frames = found.iter().map(|frame| Frame {
            module: module(frame).unwrap_or_default(),
            function: names
                .get(&(frame.image, frame.address))
                .cloned()
                .unwrap_or_else(|| format!("+{:#x}", frame.function)),
            handler: frame.handler,
        });
        frames.collect()
    }
}

/// What an expression of an unwind table may look at.
struct Machine<'a> {
    process: &'a Process,
    registers: &'a Registers,
    frames: &'a EhFrame<Bytes<'a>>,
}

impl Machine<'_> {
    fn evaluate(&self, expression: &UnwindExpression<usize>, start: Option<u64>) -> Option<u64> {
        /// Steps that may ask for something: expressions of unwind tables ask a few times.
        const MOST_STEPS: usize = 64;
        let encoding = Encoding { address_size: 8, format: Format::Dwarf32, version: 4 };
        let mut evaluation = expression.get(self.frames).ok()?.evaluation(encoding);
        evaluation.set_max_iterations(1000);
        if let Some(start) = start {
            evaluation.set_initial_value(start);
        }
        let mut state = evaluation.evaluate().ok()?;
        for _ in 0..MOST_STEPS {
            state = match state {
                EvaluationResult::Complete => {
                    let result = evaluation.as_result().last()?;
                    return match result.location {
                        Location::Address { address } => Some(address),
                        _ => None,
                    };
                }
                EvaluationResult::RequiresMemory { address, size, .. } => {
                    let mut bytes = [0; 8];
                    self.process.bytes(address, bytes.get_mut(..usize::from(size))?)?;
                    evaluation.resume_with_memory(Value::Generic(u64::from_le_bytes(bytes))).ok()?
                }
                EvaluationResult::RequiresRegister { register, .. } => {
                    let value = self.registers.get(register)?;
                    evaluation.resume_with_register(Value::Generic(value)).ok()?
                }
                _ => return None,
            };
        }
        None
    }
}
