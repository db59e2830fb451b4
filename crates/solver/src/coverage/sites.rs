//! Where a program can be watched: the first instructions of its functions and of their basic blocks.
//!
//! Function starts come from the unwind table, which every executable carries for its exceptions; blocks from the
//! instructions between a function's first and last byte. A place counts as the start of a block if a jump leads there,
//! or if it follows a jump, a return or an instruction that does not go on. Code that is reached by a table of addresses
//! only (cases of a `switch`, handlers of exceptions) begins a block where the code before it ends with a jump.

use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic, OpKind};

use gimli::{BaseAddresses, CieOrFde, EhFrame, LittleEndian, UnwindSection};
use object::elf;
use object::read::elf::{ElfFile64, FileHeader as _, ProgramHeader as _};
use object::{Endianness, Object as _, ObjectSection as _, SectionKind};

use super::list::{Segment, SiteList};
use super::symbols::Symbols;

/// The instruction that traps: a place where it stands already cannot be watched.
pub(super) const TRAP: u8 = 0xcc;

/// Finds the sites of an executable or a library. The error says why there are none.
pub(super) fn find(data: &[u8]) -> Result<SiteList, String> {
    let file = ElfFile64::<Endianness>::parse(data).map_err(|_| "it is no 64-bit ELF file".to_owned())?;
    let header = file.elf_header();
    let endian = file.endian();
    if header.e_machine(endian) != elf::EM_X86_64 || !file.is_little_endian() {
        return Err("it is for another processor than x86-64".to_owned());
    }
    let segments: Vec<Segment> = file
        .elf_program_headers()
        .iter()
        .filter(|header| header.p_type(endian) == elf::PT_LOAD && header.p_flags(endian).0 & elf::PF_X.0 != 0)
        .map(|header| Segment {
            offset: header.p_offset(endian),
            address: header.p_vaddr(endian),
            size: header.p_filesz(endian),
        })
        .collect();
    let text: Vec<(u64, u64)> = file
        .sections()
        .filter(|section| {
            section.kind() == SectionKind::Text && !section.name().is_ok_and(|name| name.starts_with(".plt"))
        })
        .map(|section| (section.address(), section.address().saturating_add(section.size())))
        .collect();
    let functions = functions(&file, &text)?;
    let mut code = Code::new(data, &segments).ok_or("its code is too large or not in the file")?;
    for (start, end) in &functions {
        code.read(*start, *end);
    }
    code.follow_jumps();
    let symbols = Symbols::of(&file);
    let sites = code.sites();
    let site_of = |start: u64| Some(sites.binary_search(&code.offset(start)?).ok()? as u32);
    let parts = functions.iter().filter(|(start, _)| symbols.is_part(*start));
    let parts = parts.filter_map(|(start, _)| site_of(*start)).collect();
    let starts = functions.iter().filter_map(|(start, _)| site_of(*start)).collect();
    if sites.is_empty() {
        return Err("it has no unwind table, or one without functions".to_owned());
    }
    Ok(SiteList {
        text: text.iter().map(|(start, end)| end - start).sum(),
        covered: functions.iter().map(|(start, end)| end - start).sum(),
        fixed: header.e_type(endian) == elf::ET_EXEC,
        segments,
        functions: starts,
        parts,
        sites,
    })
}

/// The ranges of functions in the text, in order and apart from each other.
fn functions(file: &ElfFile64<'_, Endianness>, text: &[(u64, u64)]) -> Result<Vec<(u64, u64)>, String> {
    let section = file.section_by_name(".eh_frame").ok_or("it has no unwind table")?;
    let data = section.data().map_err(|error| error.to_string())?;
    let frames = EhFrame::new(data, LittleEndian);
    let mut bases = BaseAddresses::default().set_eh_frame(section.address());
    if let Some(text) = file.section_by_name(".text") {
        bases = bases.set_text(text.address());
    }
    if let Some(got) = file.section_by_name(".got") {
        bases = bases.set_got(got.address());
    }
    let mut found = Vec::new();
    let mut entries = frames.entries(&bases);
    // What cannot be read ends the table: what came before it stands.
    while let Ok(Some(entry)) = entries.next() {
        let CieOrFde::Fde(partial) = entry else { continue };
        let Ok(entry) = partial.parse(EhFrame::cie_from_offset) else { continue };
        let start = entry.initial_address();
        let Some(end) = start.checked_add(entry.len()).filter(|end| *end > start) else { continue };
        if text.iter().any(|(first, last)| start >= *first && end <= *last) {
            found.push((start, end));
        }
    }
    found.sort_unstable();
    let mut apart: Vec<(u64, u64)> = Vec::with_capacity(found.len());
    for (start, end) in found {
        if apart.last().is_none_or(|(_, last)| start >= *last) {
            apart.push((start, end));
        }
    }
    Ok(apart)
}

/// The instructions of a program, as far as they have been read.
struct Code<'a> {
    data: &'a [u8],
    segments: &'a [Segment],
    /// By offset in the file: an instruction begins here.
    instructions: Bits,
    /// By offset in the file: a block begins here.
    blocks: Bits,
    /// Where jumps lead to.
    targets: Vec<u64>,
}

impl<'a> Code<'a> {
    fn new(data: &'a [u8], segments: &'a [Segment]) -> Option<Code<'a>> {
        u32::try_from(data.len()).ok()?;
        let inside = |segment: &Segment| {
            segment.offset.checked_add(segment.size).is_some_and(|end| end <= data.len() as u64)
        };
        segments.iter().all(inside).then(|| Code {
            data,
            segments,
            instructions: Bits::new(data.len()),
            blocks: Bits::new(data.len()),
            targets: Vec::new(),
        })
    }

    /// Where the byte at an address stands in the file.
    fn offset(&self, address: u64) -> Option<u32> {
        let inside = |segment: &&Segment| {
            address.checked_sub(segment.address).is_some_and(|place| place < segment.size)
        };
        let segment = self.segments.iter().find(inside)?;
        u32::try_from(address - segment.address + segment.offset).ok()
    }

    /// Reads the instructions of a function.
    fn read(&mut self, start: u64, end: u64) {
        let Some(first) = self.offset(start) else { return };
        let Some(bytes) = self.data.get(first as usize..first as usize + (end - start) as usize) else {
            return;
        };
        self.blocks.set(first);
        let mut decoder = Decoder::with_ip(64, bytes, start, DecoderOptions::NONE);
        let mut instruction = Instruction::default();
        let (mut instructions, mut blocks, mut targets) = (Vec::new(), Vec::new(), Vec::new());
        let mut begins = false;
        while decoder.can_decode() {
            decoder.decode_out(&mut instruction);
            if instruction.is_invalid() {
                // There is data among the code: only the function's start is certain.
                return;
            }
            let place = first + (instruction.ip() - start) as u32;
            instructions.push(place);
            // What fills the space before an aligned block is not the block.
            let filling = matches!(instruction.mnemonic(), Mnemonic::Nop | Mnemonic::Int3);
            if begins && !filling {
                blocks.push(place);
                begins = false;
            }
            match instruction.flow_control() {
                FlowControl::Next | FlowControl::Call | FlowControl::IndirectCall => {}
                _ if filling => {}
                FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch => {
                    if instruction.op0_kind() == OpKind::NearBranch64 {
                        targets.push(instruction.near_branch_target());
                    }
                    begins = true;
                }
                _ => begins = true,
            }
        }
        instructions.iter().for_each(|place| self.instructions.set(*place));
        blocks.iter().for_each(|place| self.blocks.set(*place));
        self.targets.append(&mut targets);
    }

    /// A block begins where a jump leads, unless that is inside of an instruction.
    fn follow_jumps(&mut self) {
        for target in std::mem::take(&mut self.targets) {
            if let Some(place) = self.offset(target).filter(|place| self.instructions.has(*place)) {
                self.blocks.set(place);
            }
        }
    }

    /// The starts of blocks as offsets in the file, in order.
    fn sites(&self) -> Vec<u32> {
        self.blocks.iter().filter(|place| self.data[*place as usize] != TRAP).collect()
    }
}

/// A set of offsets.
struct Bits(Vec<u64>);

impl Bits {
    fn new(length: usize) -> Bits {
        Bits(vec![0; length.div_ceil(64)])
    }

    fn set(&mut self, place: u32) {
        self.0[place as usize / 64] |= 1 << (place % 64);
    }

    fn has(&self, place: u32) -> bool {
        self.0.get(place as usize / 64).is_some_and(|word| word >> (place % 64) & 1 == 1)
    }

    fn iter(&self) -> impl Iterator<Item = u32> {
        self.0.iter().enumerate().flat_map(|(at, word)| {
            (0..64u32).filter(move |bit| word >> bit & 1 == 1).map(move |bit| at as u32 * 64 + bit)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_executable_has_sites_in_its_text() {
        let data = std::fs::read(std::env::current_exe().expect("our own path")).expect("readable");
        let list = find(&data).expect("sites");
        assert!(list.functions.len() > 1000 && list.sites.len() > 2 * list.functions.len());
        assert!(list.covered * 100 > list.text * 80, "{} of {}", list.covered, list.text);
        assert!(list.sites.is_sorted() && list.sites.iter().all(|site| data[*site as usize] != TRAP));
        assert!(list.functions.is_sorted());
    }

    #[test]
    fn what_is_no_program_of_this_machine_is_said() {
        assert!(find(b"#!/bin/sh\n").is_err_and(|why| why.contains("ELF")));
        let mut data = std::fs::read(std::env::current_exe().expect("our own path")).expect("readable");
        data[18] = 0xb7;
        assert!(find(&data).is_err_and(|why| why.contains("processor")));
    }
}
