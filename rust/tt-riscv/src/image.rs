//! Images: a linked kernel from an ELF file.

use std::ops::Range;

use crate::code::Code;
use crate::{LOCAL_BASE, LOCAL_BYTES, STACK_BYTES, TEXT_BASE, TEXT_BYTES};

/// The reason why a file is not an image.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ImageError {
    /// It is cut off, or a table in it points outside.
    #[error("the ELF file is broken: {0}")]
    Broken(&'static str),
    /// It is for something else.
    #[error("the ELF file is not for this core: {0}")]
    Other(String),
    /// Part of it lies where this core has nothing.
    #[error("{bytes} B of the image lie at {address:#x}; text belongs to {TEXT_BASE:#x}, data to {LOCAL_BASE:#x}")]
    Place {
        /// First byte.
        address: u32,
        /// How many.
        bytes: u32,
    },
}

/// A linked kernel.
#[derive(Debug)]
pub struct Image {
    /// Its instructions.
    pub code: Code,
    /// First instruction.
    pub entry: u32,
    /// Local RAM at the start: constants and variables.
    pub(crate) local: Vec<u8>,
    free: Range<u32>,
    file: Vec<u8>,
}

const CLASS_32: u8 = 1;
const LITTLE_ENDIAN: u8 = 1;
const EXECUTABLE: u16 = 2;
const RISCV: u16 = 243;
const COMPRESSED: u32 = 1;
const FLOAT_REGISTERS: u32 = 6;
const LOADED: u32 = 1;
const SYMBOLS: u32 = 2;

impl Image {
    /// Reads an ELF file.
    ///
    /// Stubs between the symbols `__tt_calls_start` and `__tt_calls_end` take no time.
    ///
    /// # Errors
    /// [`ImageError`].
    pub fn new(file: Vec<u8>) -> Result<Self, ImageError> {
        let header = file.get(..52).ok_or(ImageError::Broken("it ends within its header"))?;
        if header[..4] != *b"\x7fELF" {
            return Err(ImageError::Other("it does not begin as ELF files do".into()));
        }
        if header[4] != CLASS_32 || header[5] != LITTLE_ENDIAN {
            return Err(ImageError::Other("it is not a 32-bit little-endian file".into()));
        }
        let (kind, machine, flags) = (half(&file, 16)?, half(&file, 18)?, word(&file, 36)?);
        if (kind, machine) != (EXECUTABLE, RISCV) {
            return Err(ImageError::Other(format!(
                "it is of type {kind} for machine {machine}, not linked for RISC-V"
            )));
        }
        if flags & (COMPRESSED | FLOAT_REGISTERS) != 0 {
            let text = format!("its flags {flags:#x} ask for compressed instructions or float registers");
            return Err(ImageError::Other(text));
        }
        let (mut text, mut local) = (Vec::new(), Vec::new());
        let (table, size, count) = (word(&file, 28)?, half(&file, 42)?, half(&file, 44)?);
        for index in 0..usize::from(count) {
            let at = entry(table, usize::from(size), index)?;
            if word(&file, at)? != LOADED {
                continue;
            }
            let (offset, address) = (word(&file, at + 4)? as usize, word(&file, at + 8)?);
            let (stored, bytes) = (word(&file, at + 16)? as usize, word(&file, at + 20)?);
            if bytes == 0 {
                continue;
            }
            let content = offset.checked_add(stored).and_then(|end| file.get(offset..end));
            let content = content.ok_or(ImageError::Broken("a segment goes past its end"))?;
            let (target, base, room) = if address >= LOCAL_BASE {
                (&mut local, LOCAL_BASE, LOCAL_BYTES - STACK_BYTES)
            } else {
                (&mut text, TEXT_BASE, TEXT_BYTES)
            };
            let start = address.checked_sub(base).ok_or(ImageError::Place { address, bytes })?;
            let end = start.checked_add(bytes).filter(|&end| end <= room && stored as u64 <= u64::from(bytes));
            let end = end.ok_or(ImageError::Place { address, bytes })? as usize;
            if target.len() < end {
                target.resize(end, 0);
            }
            target[start as usize..start as usize + stored].copy_from_slice(content);
        }
        let entry = word(&file, 24)?;
        let free = symbol(&file, "__tt_calls_start").unwrap_or(0)..symbol(&file, "__tt_calls_end").unwrap_or(0);
        Ok(Self { code: Code::new(text, free.clone()), entry, local, free, file })
    }

    /// Returns true for an instruction in a free stub.
    pub fn is_free(&self, address: u32) -> bool {
        self.free.contains(&address)
    }

    /// Value of a symbol.
    pub fn symbol(&self, name: &str) -> Option<u32> {
        symbol(&self.file, name)
    }

    /// Content of a section; empty if there is none of this name.
    pub fn section(&self, name: &str) -> &[u8] {
        let names = half(&self.file, 50).ok().and_then(|index| section(&self.file, index.into()));
        let find = |names: Section| {
            let mut sections = (0..usize::from(half(&self.file, 48).ok()?)).filter_map(|at| section(&self.file, at));
            let found = sections.find(|one| text(&self.file, &names.content, one.name) == Some(name.as_bytes()))?;
            self.file.get(found.content)
        };
        names.and_then(find).unwrap_or_default()
    }
}

/// A section of a file.
struct Section {
    name: u32,
    kind: u32,
    content: Range<usize>,
    link: u32,
}

fn half(file: &[u8], at: usize) -> Result<u16, ImageError> {
    let bytes = at.checked_add(2).and_then(|end| file.get(at..end)).ok_or(ImageError::Broken("a table is cut off"))?;
    Ok(u16::from_le_bytes([bytes[0], bytes[1]]))
}

fn word(file: &[u8], at: usize) -> Result<u32, ImageError> {
    let bytes = at.checked_add(4).and_then(|end| file.get(at..end)).ok_or(ImageError::Broken("a table is cut off"))?;
    Ok(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
}

/// Place of an entry of a table.
fn entry(table: u32, size: usize, index: usize) -> Result<usize, ImageError> {
    let place = size.checked_mul(index).and_then(|offset| offset.checked_add(table as usize));
    place.filter(|place| place.checked_add(64).is_some()).ok_or(ImageError::Broken("a table lies outside"))
}

fn section(file: &[u8], index: usize) -> Option<Section> {
    let at = entry(word(file, 32).ok()?, half(file, 46).ok()?.into(), index).ok()?;
    let field = |number: usize| word(file, at + 4 * number).ok();
    let (start, bytes) = (field(4)? as usize, field(5)? as usize);
    let content = start..start.checked_add(bytes)?;
    Some(Section { name: field(0)?, kind: field(1)?, content, link: field(6)? })
}

/// A text of a table of texts, without its end.
fn text<'a>(file: &'a [u8], table: &Range<usize>, offset: u32) -> Option<&'a [u8]> {
    let rest = file.get(table.clone())?.get(offset as usize..)?;
    rest.split(|&byte| byte == 0).next()
}

fn symbol(file: &[u8], name: &str) -> Option<u32> {
    let count = half(file, 48).ok()?;
    let table = (0..usize::from(count)).filter_map(|at| section(file, at)).find(|one| one.kind == SYMBOLS)?;
    let names = section(file, table.link as usize)?.content;
    let entries = file.get(table.content)?.chunks_exact(16);
    let found = entries
        .map(|entry| (word(entry, 0), word(entry, 4)))
        .find(|(offset, _)| offset.as_ref().is_ok_and(|&offset| text(file, &names, offset) == Some(name.as_bytes())));
    found?.1.ok()
}
