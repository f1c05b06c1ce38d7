//! Elements that indices name, along rows: taken, placed, combined, found.
//!
//! Row-major, a page for each row.

use tt_formats::DataFormat;
use tt_memory::access::{Output, Pages};
use tt_memory::{BufferId, Device};

use crate::{OpError, for_each_page};

const NAME: &str = "elements by index";

/// The combination of several sources for one element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Combine {
    /// The last one stays.
    Last,
    /// They are added to what is there.
    Add,
    /// They are multiplied with what is there.
    Multiply,
}

/// Rows of elements and rows of indices.
#[derive(Clone, Debug)]
pub struct IndexProgram {
    /// Format of the elements, of 8, 16 or 32 bits.
    pub format: DataFormat,
    /// Format of the indices: `UInt8`, `UInt16`, `UInt32` or `Int32`.
    pub index: DataFormat,
    /// Elements of a row.
    pub width: usize,
    /// Indices of a row.
    pub count: usize,
    /// For each row of the output, the row that belongs to it.
    ///
    /// -1 where there is none.
    pub rows: Vec<i32>,
}

impl IndexProgram {
    fn check(&self, device: &Device, rows: &[(BufferId, usize, usize)], limit: usize) -> Result<(), OpError> {
        let refuse = |what: String| Err(OpError::Invariant { operator: NAME, what });
        let is_index =
            matches!(self.index, DataFormat::UInt8 | DataFormat::UInt16 | DataFormat::UInt32 | DataFormat::Int32);
        if !is_index || !matches!(bytes(self.format), 1 | 2 | 4) {
            return refuse(format!("indices of {:?} into {:?}", self.index, self.format));
        }
        if self.rows.iter().any(|&row| row < -1 || row >= limit as i32) {
            return refuse(format!("a row beyond {limit}"));
        }
        for &(id, number, row_bytes) in rows {
            let buffer = device.buffer(id)?;
            if buffer.num_pages() < number || buffer.page_bytes() < row_bytes {
                return refuse(format!("{} pages of {} B", buffer.num_pages(), buffer.page_bytes()));
            }
        }
        Ok(())
    }
}

fn bytes(format: DataFormat) -> usize {
    match format {
        DataFormat::UInt8 | DataFormat::Int8 => 1,
        DataFormat::UInt16 | DataFormat::Float16 | DataFormat::Float16B => 2,
        DataFormat::UInt32 | DataFormat::Int32 | DataFormat::Float32 => 4,
        _ => 0,
    }
}

/// Reads an index; one below zero is far beyond every row.
fn index_at(format: DataFormat, row: &[u8], place: usize) -> usize {
    let size = bytes(format);
    let mut word = [0; 4];
    word[..size].copy_from_slice(&row[place * size..][..size]);
    u32::from_le_bytes(word) as usize
}

/// Gathers elements `indices[i][j]` of row `rows[i]` to output [i, j].
///
/// # Errors
/// Memory errors; an index beyond the row; buffers that do not hold what the program asks for.
pub fn gather(
    device: &mut Device,
    input: BufferId,
    indices: BufferId,
    output: BufferId,
    program: &IndexProgram,
) -> Result<(), OpError> {
    let size = bytes(program.format);
    let rows = program.rows.len();
    let inputs = device.buffer(input)?.num_pages();
    let of_indices = program.count * bytes(program.index);
    let needed =
        [(input, inputs, program.width * size), (indices, rows, of_indices), (output, rows, program.count * size)];
    program.check(device, &needed, inputs)?;
    let access = device.access(&[output])?;
    let (pages, names) = (access.input(input)?.all()?, access.input(indices)?.all()?);
    let target = access.output(output)?;
    for_each_page(
        rows,
        || (),
        |(), row| {
            let to = target.claim(row)?;
            let Ok(from) = usize::try_from(program.rows[row]) else { return Ok(()) };
            let (from, names) = (pages.page(from), names.page(row));
            for (place, to) in to.chunks_exact_mut(size).take(program.count).enumerate() {
                let index = index_at(program.index, names, place);
                if index >= program.width {
                    return Err(OpError::Index { index: index as u32, rows: program.width });
                }
                to.copy_from_slice(&from[index * size..][..size]);
            }
            Ok(())
        },
    )
}

/// Places elements of source rows at indices in the input.
///
/// The output is the input, in whose row i the elements of row `rows[i]` of the source lie where the indices of that
/// row say. Indices beyond the row name nothing.
///
/// Elements of bfloat16 that are combined are so in FP32, and rounded to nearest even at the end of the row.
///
/// # Errors
/// Memory errors; buffers that do not hold what the program asks for; a format that cannot be combined.
pub fn scatter(
    device: &mut Device,
    (input, indices, source): (BufferId, BufferId, BufferId),
    output: BufferId,
    program: &IndexProgram,
    combine: Combine,
) -> Result<(), OpError> {
    let size = bytes(program.format);
    let rows = program.rows.len();
    let placed = device.buffer(indices)?.num_pages();
    let row_bytes = program.width * size;
    let needed = [
        (input, rows, row_bytes),
        (output, rows, row_bytes),
        (indices, placed, program.count * bytes(program.index)),
        (source, placed, program.count * size),
    ];
    program.check(device, &needed, placed)?;
    let with = match (combine, program.format) {
        (Combine::Last, _) => With::Last,
        (_, DataFormat::Float16B) => With::Bfloat16,
        (_, DataFormat::Float32) => With::Float,
        (_, DataFormat::Int32 | DataFormat::UInt32 | DataFormat::UInt16) => With::Integer,
        (_, format) => {
            return Err(OpError::Invariant { operator: NAME, what: format!("{format:?} cannot be combined") });
        }
    };
    let access = device.access(&[output])?;
    let kernel = Scatter {
        program,
        combine,
        with,
        input: access.input(input)?.all()?,
        indices: access.input(indices)?.all()?,
        source: access.input(source)?.all()?,
        output: access.output(output)?,
    };
    for_each_page(rows, Vec::new, |sums, row| kernel.row(row, sums))
}

#[derive(Clone, Copy)]
enum With {
    Last,
    Bfloat16,
    Float,
    Integer,
}

struct Scatter<'a> {
    program: &'a IndexProgram,
    combine: Combine,
    with: With,
    input: Pages<'a>,
    indices: Pages<'a>,
    source: Pages<'a>,
    output: Output<'a>,
}

impl Scatter<'_> {
    fn row(&self, row: usize, sums: &mut Vec<f32>) -> Result<(), OpError> {
        let IndexProgram { format, width, .. } = *self.program;
        let row_bytes = width * bytes(format);
        let target = &mut self.output.claim(row)?[..row_bytes];
        target.copy_from_slice(&self.input.page(row)[..row_bytes]);
        match self.with {
            With::Last => self.each(row, |to, source, _| target[to..to + source.len()].copy_from_slice(source)),
            With::Bfloat16 => {
                sums.clear();
                sums.extend(target.as_chunks().0.iter().map(|&word| widen(u16::from_le_bytes(word))));
                self.each(row, |_, source, place| {
                    let value = widen(u16::from_le_bytes([source[0], source[1]]));
                    sums[place] = self.float(sums[place], value);
                });
                let rounded = target.as_chunks_mut().0.iter_mut().zip(&*sums);
                rounded.for_each(|(word, sum)| *word = nearest(*sum).to_le_bytes());
            }
            With::Float => self.each(row, |to, source, _| {
                let sum = self.float(f32::from_bits(word(&target[to..to + 4])), f32::from_bits(word(source)));
                target[to..to + 4].copy_from_slice(&sum.to_bits().to_le_bytes());
            }),
            With::Integer => self.each(row, |to, source, _| {
                let bytes = source.len();
                let (old, value) = (word(&target[to..to + bytes]), word(source));
                let new = match self.combine {
                    Combine::Multiply => old.wrapping_mul(value),
                    Combine::Add | Combine::Last => old.wrapping_add(value),
                };
                target[to..to + bytes].copy_from_slice(&new.to_le_bytes()[..bytes]);
            }),
        }
        Ok(())
    }

    /// Calls with the byte that an index names, the source's element, and the index.
    fn each(&self, row: usize, mut place: impl FnMut(usize, &[u8], usize)) {
        let Ok(from) = usize::try_from(self.program.rows[row]) else { return };
        let size = bytes(self.program.format);
        let (names, source) = (self.indices.page(from), self.source.page(from));
        for (number, element) in source.chunks_exact(size).take(self.program.count).enumerate() {
            let index = index_at(self.program.index, names, number);
            if index < self.program.width {
                place(index * size, element, index);
            }
        }
    }

    fn float(&self, old: f32, value: f32) -> f32 {
        match self.combine {
            Combine::Multiply => old * value,
            Combine::Add | Combine::Last => old + value,
        }
    }
}

/// Returns an element of at most four bytes, with zeros above it.
fn word(bytes: &[u8]) -> u32 {
    let mut all = [0; 4];
    all[..bytes.len()].copy_from_slice(bytes);
    u32::from_le_bytes(all)
}

fn widen(word: u16) -> f32 {
    f32::from_bits(u32::from(word) << 16)
}

/// Rounds to nearest even in integers, as the kernel does; NaN keeps its upper half.
fn nearest(value: f32) -> u16 {
    let bits = value.to_bits();
    if value.is_nan() {
        return (bits >> 16) as u16 | 0x40;
    }
    (bits.wrapping_add(0x7fff + (bits >> 16 & 1)) >> 16) as u16
}

/// Writes positions and count of nonzero elements.
///
/// The count is the first word of `counts`. Words without a position are 0. Elements are compared bit by bit, so -0 is
/// not zero.
///
/// # Errors
/// Memory errors; buffers that do not hold what the program asks for.
pub fn nonzero(
    device: &mut Device,
    input: BufferId,
    (counts, output): (BufferId, BufferId),
    (element_bytes, width): (usize, usize),
) -> Result<(), OpError> {
    let refuse = |what: String| Err(OpError::Invariant { operator: NAME, what });
    let (from, to) = (device.buffer(input)?, device.buffer(output)?);
    let rows = from.num_pages();
    let first = device.buffer(counts)?.page_bytes();
    if from.page_bytes() < width * element_bytes || to.page_bytes() < 4 * rows * width || to.num_pages() != 1 {
        return refuse(format!("{rows} rows of {width} elements into {} B", to.page_bytes()));
    }
    if first < 4 || element_bytes == 0 {
        return refuse(format!("a count in {first} B"));
    }
    let access = device.access(&[counts, output])?;
    let (pages, found, count) = (access.input(input)?.all()?, access.output(output)?, access.output(counts)?);
    for_each_page(
        1,
        || (),
        |(), page| {
            let (found, count) = (found.claim(page)?, count.claim(page)?);
            found.fill(0);
            count.fill(0);
            let elements = (0..rows).flat_map(|row| pages.page(row).chunks_exact(element_bytes).take(width));
            let present = elements.enumerate().filter(|(_, element)| element.iter().any(|&byte| byte != 0));
            let mut number = 0_u32;
            for ((position, _), word) in present.zip(found.as_chunks_mut().0) {
                *word = (position as u32).to_le_bytes();
                number += 1;
            }
            count[..4].copy_from_slice(&number.to_le_bytes());
            Ok(())
        },
    )
}

/// Adds one to every integer of rows of `width`, in place.
///
/// Those below zero stay if `skips_negative`.
///
/// # Errors
/// Memory errors.
pub fn plus_one(device: &mut Device, output: BufferId, width: usize, skips_negative: bool) -> Result<(), OpError> {
    let pages = device.buffer(output)?.num_pages();
    let access = device.access(&[output])?;
    let target = access.output(output)?;
    for_each_page(
        pages,
        || (),
        |(), page| {
            for word in target.claim(page)?.as_chunks_mut().0.iter_mut().take(width) {
                let value = i32::from_le_bytes(*word);
                if value >= 0 || !skips_negative {
                    *word = value.wrapping_add(1).to_le_bytes();
                }
            }
            Ok(())
        },
    )
}

/// Marks the elements that are among others, equal bit by bit.
///
/// All bits of a word of the output are one there, and zero elsewhere; the other way round if `invert`. Elements have 2
/// or 4 bytes.
///
/// # Errors
/// Memory errors; buffers that do not hold what is asked for.
pub fn is_in(
    device: &mut Device,
    (input, width): (BufferId, usize),
    (others, other_width): (BufferId, usize),
    output: BufferId,
    (element_bytes, invert): (usize, bool),
) -> Result<(), OpError> {
    let refuse = |what: String| Err(OpError::Invariant { operator: NAME, what });
    if !matches!(element_bytes, 2 | 4) {
        return refuse(format!("elements of {element_bytes} B"));
    }
    let rows = device.buffer(input)?.num_pages();
    for (id, pages, bytes) in
        [(input, rows, element_bytes * width), (output, rows, 4 * width), (others, 0, element_bytes * other_width)]
    {
        let buffer = device.buffer(id)?;
        if buffer.num_pages() < pages || buffer.page_bytes() < bytes {
            return refuse(format!("{} pages of {} B", buffer.num_pages(), buffer.page_bytes()));
        }
    }
    let rows_of_others = device.buffer(others)?.num_pages();
    let access = device.access(&[output])?;
    let (pages, tests, target) = (access.input(input)?.all()?, access.input(others)?.all()?, access.output(output)?);
    let element = |bytes: &[u8]| bytes.iter().rev().fold(0_u32, |word, &byte| word << 8 | u32::from(byte));
    let elements_of = |page: usize| tests.page(page).chunks_exact(element_bytes).take(other_width).map(element);
    let mut sorted: Vec<u32> = (0..rows_of_others).flat_map(elements_of).collect();
    sorted.sort_unstable();
    for_each_page(
        rows,
        || (),
        |(), row| {
            let elements = pages.page(row).chunks_exact(element_bytes).take(width).map(element);
            for (word, element) in target.claim(row)?.as_chunks_mut().0.iter_mut().zip(elements) {
                let found = sorted.binary_search(&element).is_ok();
                *word = if found == invert { [0; 4] } else { [u8::MAX; 4] };
            }
            Ok(())
        },
    )
}
