//! Source lines by text address, from the compiler's line table.

use addr2line::Context;
use addr2line::gimli::{Dwarf, EndianSlice, Error, LittleEndian, SectionId};

use crate::image::Image;

/// A line of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceLine {
    /// Path of the file, as the compiler wrote it down.
    pub file: String,
    /// Line, from 1 on; 0 if unknown.
    pub line: u32,
    /// The function, without its template arguments; empty if unknown.
    pub function: String,
}

impl Image {
    /// The lines of an address.
    ///
    /// That of the innermost function that was inlined there first. Nothing for images without a line table, and broken
    /// ones.
    pub fn lines(&self, address: u32) -> Vec<SourceLine> {
        self.find(address).unwrap_or_default()
    }

    fn find(&self, address: u32) -> Result<Vec<SourceLine>, Error> {
        let section = |id: SectionId| Ok::<_, Error>(EndianSlice::new(self.section(id.name()), LittleEndian));
        let context = Context::from_dwarf(Dwarf::load(section)?)?;
        let mut frames = context.find_frames(address.into()).skip_all_loads()?;
        let mut lines = Vec::new();
        while let Some(frame) = frames.next()? {
            if let Some(location) = frame.location {
                let file = location.file.unwrap_or_default().to_owned();
                let name = frame.function.as_ref().and_then(|function| function.raw_name().ok()).unwrap_or_default();
                let function = name.split('<').next().unwrap_or_default().to_owned();
                lines.push(SourceLine { file, line: location.line.unwrap_or(0), function });
            }
        }
        Ok(lines)
    }
}
