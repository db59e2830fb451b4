//! An executable file: where its unwind tables are, and what its functions are called.

use std::fs::File;
use std::path::Path;

use gimli::{
    BaseAddresses, EhFrame, EhFrameHdr, EndianSlice, FrameDescriptionEntry, LittleEndian, UnwindSection,
};
use object::elf;
use object::read::elf::{ElfFile64, ProgramHeader as _};
use object::read::{ReadCache, ReadRef as _};
use object::{Endianness, Object as _, ObjectSection as _, ObjectSymbol as _, SymbolKind};

use super::process::Mapping;

pub(super) type Bytes<'a> = EndianSlice<'a, LittleEndian>;

/// Files that are larger are none of a solver's.
const LARGEST: u64 = 1 << 30;

/// An executable file. Only what is asked for is read: its code is most of it, and stays on the disk.
pub(super) struct Image {
    /// Its name without the folder.
    pub name: String,
    data: ReadCache<File>,
    frames: Option<Part>,
    index: Option<Part>,
    pub bases: BaseAddresses,
    segments: Vec<Segment>,
}

/// Where a section stands in the file.
#[derive(Clone, Copy)]
struct Part {
    offset: u64,
    size: u64,
}

/// A part of the file that is mapped into memory.
struct Segment {
    offset: u64,
    size: u64,
    address: u64,
}

impl Image {
    pub fn open(path: &Path) -> Option<Image> {
        let file = File::open(path).ok()?;
        if file.metadata().ok().filter(|file| file.is_file())?.len() > LARGEST {
            return None;
        }
        let data = ReadCache::new(file);
        let file = parse(&data)?;
        let section = |name: &str| {
            let section = file.section_by_name(name)?;
            let (offset, size) = section.file_range()?;
            Some((section.address(), Part { offset, size }))
        };
        let (frames, index) = (section(".eh_frame"), section(".eh_frame_hdr"));
        let mut bases = BaseAddresses::default();
        if let Some((address, _)) = &frames {
            bases = bases.set_eh_frame(*address);
        }
        if let Some((address, _)) = &index {
            bases = bases.set_eh_frame_hdr(*address);
        }
        if let Some((address, _)) = section(".text") {
            bases = bases.set_text(address);
        }
        if let Some((address, _)) = section(".got") {
            bases = bases.set_got(address);
        }
        let endian = file.endian();
        let headers = file.elf_program_headers().iter();
        let segments = headers
            .filter(|header| header.p_type(endian) == elf::PT_LOAD)
            .map(|header| Segment {
                offset: header.p_offset(endian),
                size: header.p_filesz(endian),
                address: header.p_vaddr(endian),
            })
            .collect();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let (frames, index) = (frames.map(|(_, part)| part), index.map(|(_, part)| part));
        Some(Image { name, frames, index, bases, segments, data })
    }

    /// An address of the process, as the file counts.
    pub fn own_address(&self, address: u64, mapping: &Mapping) -> Option<u64> {
        let offset = address.checked_sub(mapping.start)?.checked_add(mapping.offset)?;
        let segment = self
            .segments
            .iter()
            .find(|segment| offset.checked_sub(segment.offset).is_some_and(|inside| inside < segment.size))?;
        Some(offset - segment.offset + segment.address)
    }

    /// The unwind table.
    pub fn eh_frame(&self) -> Option<EhFrame<Bytes<'_>>> {
        Some(EhFrame::new(self.bytes(self.frames?)?, LittleEndian))
    }

    /// A part of the file, which is read once.
    fn bytes(&self, part: Part) -> Option<&[u8]> {
        (&self.data).read_bytes_at(part.offset, part.size).ok()
    }

    /// The entry of the unwind table for the function at an address of the file's.
    pub fn entry(&self, address: u64) -> Option<FrameDescriptionEntry<Bytes<'_>>> {
        let frames = self.eh_frame()?;
        let cie = EhFrame::cie_from_offset;
        let entry = match &self.index {
            Some(part) => {
                let header = EhFrameHdr::new(self.bytes(*part)?, LittleEndian).parse(&self.bases, 8).ok()?;
                header.table()?.fde_for_address(&frames, &self.bases, address, cie)
            }
            None => frames.fde_for_address(&self.bases, address, cie),
        };
        entry.ok()
    }

    /// The names of the functions at these addresses, which are in order. A function with several names goes by the one
    /// that is first in the alphabet.
    pub fn names(&self, addresses: &[u64]) -> Vec<Option<String>> {
        let mut names: Vec<Option<&str>> = vec![None; addresses.len()];
        let Some(file) = parse(&self.data) else { return Vec::new() };
        for symbol in file.symbols().chain(file.dynamic_symbols()) {
            if symbol.kind() != SymbolKind::Text || symbol.size() == 0 {
                continue;
            }
            let start = symbol.address();
            let end = start.saturating_add(symbol.size());
            let from = addresses.partition_point(|address| *address < start);
            let to = addresses.partition_point(|address| *address < end);
            let Some(name) = (from < to).then(|| symbol.name().ok()).flatten() else { continue };
            for known in &mut names[from..to] {
                if !name.is_empty() && known.is_none_or(|known| name < known) {
                    *known = Some(name);
                }
            }
        }
        names.into_iter().map(|name| name.map(str::to_owned)).collect()
    }
}

fn parse(data: &ReadCache<File>) -> Option<ElfFile64<'_, Endianness, &ReadCache<File>>> {
    ElfFile64::parse(data).ok().filter(|file| file.is_little_endian())
}
