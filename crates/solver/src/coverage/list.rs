//! The sites of one file, and the file in which they are remembered.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

/// The places of a program or library where it can be watched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SiteList {
    /// The parts of the file that hold its code.
    pub segments: Vec<Segment>,
    /// First bytes of basic blocks, as offsets in the file, in order. Functions begin with a block.
    pub sites: Vec<u32>,
    /// Which of them are starts of functions, as places in the list above, in order.
    pub functions: Vec<u32>,
    /// Which of those are only parts of functions that the compiler has moved away, in order.
    pub parts: Vec<u32>,
    /// Bytes of its text sections.
    pub text: u64,
    /// How many of those belong to a function of its unwind table.
    pub covered: u64,
    /// It is made for fixed addresses.
    pub fixed: bool,
}

/// A part of the file that is mapped into memory to be executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Segment {
    pub offset: u64,
    /// As the file counts addresses.
    pub address: u64,
    pub size: u64,
}

/// The beginning of a remembered list; the numbers follow.
#[derive(Serialize, Deserialize)]
struct Head {
    segments: Vec<Segment>,
    sites: usize,
    functions: usize,
    parts: usize,
    text: u64,
    covered: u64,
    fixed: bool,
}

/// Raised when sites are found in another way: remembered lists of before are not read.
pub(super) const VERSION: u32 = 1;

/// Lists that are longer are none of ours.
const LONGEST: u64 = 1 << 30;

impl SiteList {
    /// The address of a site, as the file counts.
    pub fn address(&self, site: u32) -> Option<u64> {
        let offset = u64::from(*self.sites.get(site as usize)?);
        let inside =
            |segment: &&Segment| offset.checked_sub(segment.offset).is_some_and(|place| place < segment.size);
        let segment = self.segments.iter().find(inside)?;
        Some(offset - segment.offset + segment.address)
    }

    /// The sites at which functions start, without those that are parts of others.
    pub fn starts(&self) -> impl Iterator<Item = u32> {
        self.functions.iter().copied().filter(|start| self.parts.binary_search(start).is_err())
    }

    /// The sites of each function, and of each part of one.
    pub fn ranges(&self) -> impl Iterator<Item = std::ops::Range<u32>> {
        let ends = self.functions.iter().copied().skip(1).chain([self.sites.len() as u32]);
        self.functions.iter().copied().zip(ends).map(|(start, end)| start..end)
    }

    pub(super) fn write(&self, to: &mut impl Write) -> io::Result<()> {
        let head = Head {
            segments: self.segments.clone(),
            sites: self.sites.len(),
            functions: self.functions.len(),
            parts: self.parts.len(),
            text: self.text,
            covered: self.covered,
            fixed: self.fixed,
        };
        let head = serde_json::to_vec(&head)?;
        to.write_all(&(head.len() as u32).to_le_bytes())?;
        to.write_all(&head)?;
        let numbers = self.sites.iter().chain(&self.functions).chain(&self.parts);
        to.write_all(&numbers.flat_map(|number| number.to_le_bytes()).collect::<Vec<u8>>())
    }

    /// Reads a remembered list; anything that is not one is an error.
    pub(crate) fn read(path: &Path) -> io::Result<SiteList> {
        let damaged = || io::Error::new(io::ErrorKind::InvalidData, "a damaged list of sites");
        let mut file = File::open(path)?;
        if file.metadata()?.len() > LONGEST {
            return Err(damaged());
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        let (length, rest) = bytes.split_first_chunk::<4>().ok_or_else(damaged)?;
        let (head, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize).ok_or_else(damaged)?;
        let head: Head = serde_json::from_slice(head)?;
        let (numbers, []) = rest.as_chunks::<4>() else { return Err(damaged()) };
        let split = |numbers: &mut &[[u8; 4]], count: usize| -> io::Result<Vec<u32>> {
            let (taken, rest) = numbers.split_at_checked(count).ok_or_else(damaged)?;
            *numbers = rest;
            Ok(taken.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect())
        };
        let mut rest = numbers;
        let list = SiteList {
            segments: head.segments,
            sites: split(&mut rest, head.sites)?,
            functions: split(&mut rest, head.functions)?,
            parts: split(&mut rest, head.parts)?,
            text: head.text,
            covered: head.covered,
            fixed: head.fixed,
        };
        let within = list.functions.last().is_none_or(|last| (*last as usize) < list.sites.len());
        let sorted = [&list.sites, &list.functions, &list.parts].iter().all(|numbers| numbers.is_sorted());
        if within && sorted && rest.is_empty() { Ok(list) } else { Err(damaged()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list() -> SiteList {
        SiteList {
            segments: vec![Segment { offset: 0x1000, address: 0x40_1000, size: 0x100 }],
            sites: vec![0x1000, 0x1008, 0x1020, 0x1030],
            functions: vec![0, 2, 3],
            parts: vec![3],
            text: 0x100,
            covered: 0xf0,
            fixed: true,
        }
    }

    #[test]
    fn a_list_comes_back_from_its_file_and_a_damaged_one_does_not() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        list().write(&mut file.as_file()).expect("written");
        assert_eq!(SiteList::read(file.path()).expect("read"), list());
        let bytes = std::fs::read(file.path()).expect("read");
        for length in [0, 3, 20, bytes.len() - 1, bytes.len() - 4] {
            std::fs::write(file.path(), &bytes[..length]).expect("written");
            assert!(SiteList::read(file.path()).is_err(), "{length}");
        }
    }

    #[test]
    fn sites_have_addresses_and_functions_have_sites() {
        let list = list();
        assert_eq!((list.address(1), list.address(4)), (Some(0x40_1008), None));
        assert_eq!(list.ranges().collect::<Vec<_>>(), [0..2, 2..3, 3..4]);
        assert_eq!(list.starts().collect::<Vec<_>>(), [0, 2], "a part is no function");
    }
}
