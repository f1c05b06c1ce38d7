//! Pooling of sticks.
//!
//! Every output is the largest or a weighted sum of some rows of channels.
//!
//! A maximum is exact. A sum goes through `SrcA` 16 sticks at a time, one to a row of a face, with the weights in `SrcB`;
//! a face is added to `Dst` after the other.

use std::ops::Range;

use tt_cpu::Level;
use tt_formats::{DataFormat, TileShape};
use tt_fpu::{Arch, MathConfig, MathFidelity, PoolOp, ReduceDim, Reduction};
use tt_memory::access::{Output, Pages};
use tt_memory::{BufferId, Device};
use tt_tensix::pack::{EdgeMask, PackConfig, Packer};
use tt_tensix::tile_io::{self, Input, Tile, ZERO};

use crate::{OpError, for_each_page};

const NAME: &str = "pool of sticks";
/// Channels that one tile takes, and sticks.
const TILE: usize = 32;
const MINUS_INFINITY: u16 = 0xff80;

/// Settings of the program.
#[derive(Clone, Debug)]
pub struct StickProgram {
    /// Format of the sticks: `Float16B`, or `Float32` for sums.
    pub format: DataFormat,
    /// Channels of a stick.
    pub channels: usize,
    /// Sticks of a window.
    pub window: usize,
    /// Numbers of the sticks of every window, -1 where there is none.
    pub sticks: Vec<i32>,
    /// Rows of weights, FP32 bits, one for each stick of a window.
    ///
    /// None for the largest.
    pub weights: Vec<u32>,
    /// The row of weights of each window.
    pub rows: Vec<u32>,
    /// 32-bit Dst.
    pub dst32: bool,
    /// Fidelity of products.
    pub fidelity: MathFidelity,
    /// Chip.
    pub arch: Arch,
}

impl StickProgram {
    fn outputs(&self) -> usize {
        self.sticks.len() / self.window.max(1)
    }

    /// The outputs, those with the same weights one after the other.
    fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.rows.len()).collect();
        order.sort_by_key(|&item| self.rows[item]);
        order
    }

    /// Outputs whose sums are computed together: with the same weights, as many as a tile has room for their channels.
    fn groups<'o>(&self, order: &'o [usize]) -> impl Iterator<Item = &'o [usize]> {
        let most = (TILE / self.channels).max(1);
        order.chunk_by(|&one, &other| self.rows[one] == self.rows[other]).flat_map(move |same| same.chunks(most))
    }

    fn check(&self, device: &Device, input: BufferId, output: BufferId) -> Result<(), OpError> {
        let size = stick_size(self.format)?;
        check_windows(device, input, output, (size * self.channels, self.window), &self.sticks)?;
        if self.weights.is_empty() && self.format != DataFormat::Float16B {
            return Err(OpError::Invariant { operator: NAME, what: format!("the largest of {:?}", self.format) });
        }
        let sets = self.weights.len() / self.window;
        let weighted = !self.weights.is_empty();
        if weighted && (self.rows.len() != self.outputs() || self.rows.iter().any(|&row| row as usize >= sets)) {
            let what = format!("{} windows with {sets} rows of weights", self.rows.len());
            return Err(OpError::Invariant { operator: NAME, what });
        }
        Ok(())
    }
}

/// Returns the bytes of a datum of sticks that are summed.
fn stick_size(format: DataFormat) -> Result<usize, OpError> {
    match format {
        DataFormat::Float16B => Ok(2),
        DataFormat::Float32 => Ok(4),
        format => Err(OpError::Invariant { operator: NAME, what: format!("sticks of {format:?}") }),
    }
}

/// Checks that buffers hold the sticks of windows, given their bytes and window size, and an output for each window.
fn check_windows(
    device: &Device,
    input: BufferId,
    output: BufferId,
    (bytes, window): (usize, usize),
    sticks: &[i32],
) -> Result<(), OpError> {
    let refuse = |what: String| Err(OpError::Invariant { operator: NAME, what });
    let (from, to) = (device.buffer(input)?, device.buffer(output)?);
    if window == 0 || bytes == 0 || !sticks.len().is_multiple_of(window) {
        return refuse(format!("{} sticks in windows of {window}", sticks.len()));
    }
    if from.page_bytes() < bytes || to.page_bytes() < bytes || to.num_pages() != sticks.len() / window {
        return refuse(format!("{} outputs of {bytes} bytes", to.num_pages()));
    }
    if sticks.iter().any(|&stick| stick < -1 || stick >= from.num_pages() as i32) {
        return refuse(format!("sticks beyond {}", from.num_pages()));
    }
    Ok(())
}

/// Runs the program on row-major data, a page for each stick.
///
/// # Errors
/// Memory errors; buffers that do not hold what the program asks for.
pub fn pool(device: &mut Device, input: BufferId, output: BufferId, program: &StickProgram) -> Result<(), OpError> {
    program.check(device, input, output)?;
    let access = device.access(&[output])?;
    let (pages, target) = (access.input(input)?.all()?, access.output(output)?);
    if program.weights.is_empty() {
        return for_each_page(program.outputs(), Vec::new, |keys, item| largest(program, &pages, &target, keys, item));
    }
    let sums = Sums::new(program.format, program.channels, program.dst32, program.fidelity, program.arch)?;
    let reductions: Vec<_> = program.weights.chunks(program.window).map(|weights| sums.reductions(weights)).collect();
    let order = program.order();
    let groups: Vec<&[usize]> = program.groups(&order).collect();
    for_each_page(groups.len(), Registers::default, |registers, group| {
        let items = groups[group];
        let reductions = &reductions[program.rows[items[0]] as usize];
        let windows = items.iter().map(|item| &program.sticks[item * program.window..][..program.window]);
        let windows: Vec<&[i32]> = windows.collect();
        let mut targets = items.iter().map(|&item| target.claim(item)).collect::<Result<Vec<_>, _>>()?;
        sums.outputs(&pages, &mut targets, registers, &windows, reductions);
        Ok(())
    })
}

/// A bfloat16 word in the order of sign and magnitude, denormals being zero; and back, NaN being infinity.
fn key(word: u16) -> i16 {
    let word = (if word & 0x7f80 == 0 { 0 } else { word }) as i16;
    word ^ (word >> 15 & i16::MAX)
}

fn word(key: i16) -> u16 {
    let word = (key ^ (key >> 15 & i16::MAX)) as u16;
    if word & 0x7fff > 0x7f80 { word & 0xff80 } else { word }
}

fn largest(
    program: &StickProgram,
    pages: &Pages<'_>,
    output: &Output<'_>,
    keys: &mut Vec<i16>,
    item: usize,
) -> Result<(), OpError> {
    keys.clear();
    keys.resize(program.channels, key(MINUS_INFINITY));
    for &stick in &program.sticks[item * program.window..][..program.window] {
        if let Ok(stick) = usize::try_from(stick) {
            for (most, datum) in keys.iter_mut().zip(pages.page(stick).as_chunks().0) {
                *most = (*most).max(key(u16::from_le_bytes(*datum)));
            }
        }
    }
    for (datum, &key) in output.claim(item)?.as_chunks_mut().0.iter_mut().zip(&*keys) {
        *datum = word(key).to_le_bytes();
    }
    Ok(())
}

/// Copies pages of `bytes`, each to every place that names it.
///
/// No datum changes.
///
/// # Errors
/// Memory errors; sticks that the buffers do not have.
pub fn copy_sticks(
    device: &mut Device,
    input: BufferId,
    output: BufferId,
    sticks: &[i32],
    bytes: usize,
) -> Result<(), OpError> {
    check_windows(device, input, output, (bytes, 1), sticks)?;
    if let Some(stick) = sticks.iter().find(|&&stick| stick < 0) {
        return Err(OpError::Invariant { operator: NAME, what: format!("a copy of stick {stick}") });
    }
    let access = device.access(&[output])?;
    let (pages, target) = (access.input(input)?.all()?, access.output(output)?);
    for_each_page(
        sticks.len(),
        || (),
        |(), item| {
            target.claim(item)?[..bytes].copy_from_slice(&pages.page(sticks[item] as usize)[..bytes]);
            Ok(())
        },
    )
}

/// Settings of a pooling that finds the largest element of every window.
///
/// And where it was.
#[derive(Clone, Debug)]
pub struct LargestProgram {
    /// Channels of a stick.
    pub channels: usize,
    /// Sticks of a window.
    pub window: usize,
    /// Numbers of the sticks of every window, -1 for padding.
    ///
    /// In the order in which equal elements win.
    pub sticks: Vec<i32>,
    /// The index of each of them, which padding has as well.
    pub indices: Vec<u32>,
    /// Indices of 32 bits, in a 32-bit Dst; otherwise of 16.
    pub dst32: bool,
}

/// Writes the largest elements of windows of row-major bfloat16 sticks.
///
/// And their indices.
///
/// Padding is minus infinity. Of equal elements the first one counts.
///
/// # Errors
/// Memory errors; buffers that do not hold what the program asks for.
pub fn largest_and_indices(
    device: &mut Device,
    input: BufferId,
    output: BufferId,
    indices: BufferId,
    program: &LargestProgram,
) -> Result<(), OpError> {
    let LargestProgram { channels, window, .. } = *program;
    check_windows(device, input, output, (2 * channels, window), &program.sticks)?;
    let outputs = program.sticks.len() / window;
    let size = if program.dst32 { 4 } else { 2 };
    let places = device.buffer(indices)?;
    if program.indices.len() != program.sticks.len() {
        let what = format!("{} indices of {} sticks", program.indices.len(), program.sticks.len());
        return Err(OpError::Invariant { operator: NAME, what });
    }
    if places.num_pages() != outputs || places.page_bytes() < size * channels {
        let what = format!("indices in {} pages of {} bytes", places.num_pages(), places.page_bytes());
        return Err(OpError::Invariant { operator: NAME, what });
    }
    let access = device.access(&[output, indices])?;
    let (pages, target, places) = (access.input(input)?.all()?, access.output(output)?, access.output(indices)?);
    for_each_page(outputs, Vec::new, |most: &mut Vec<(i16, u32)>, item| {
        let of_item = item * window..(item + 1) * window;
        most.clear();
        for (&stick, &index) in program.sticks[of_item.clone()].iter().zip(&program.indices[of_item]) {
            let is_first = most.is_empty();
            if is_first {
                most.resize(channels, (key(MINUS_INFINITY), index));
            }
            let Ok(stick) = usize::try_from(stick) else { continue };
            for (most, datum) in most.iter_mut().zip(pages.page(stick).as_chunks().0) {
                let found = key(u16::from_le_bytes(*datum));
                if is_first || found > most.0 {
                    *most = (found, index);
                }
            }
        }
        for (datum, &(key, _)) in target.claim(item)?.as_chunks_mut().0.iter_mut().zip(&*most) {
            *datum = word(key).to_le_bytes();
        }
        let found = most.iter().map(|&(_, index)| index.to_le_bytes());
        for (bytes, index) in places.claim(item)?.chunks_exact_mut(size).zip(found) {
            bytes.copy_from_slice(&index[..size]);
        }
        Ok(())
    })
}

/// Weighted sums of sticks.
struct Sums {
    /// Bytes of a datum in L1.
    size: usize,
    channels: usize,
    level: Level,
    input: Input,
    math: MathConfig,
    packer: Packer,
}

struct Registers {
    sticks: Vec<u8>,
    src: Tile,
    dst: Tile,
    packed: Vec<u8>,
}

impl Default for Registers {
    fn default() -> Self {
        Self { sticks: vec![0; 4096], src: ZERO, dst: ZERO, packed: vec![0; 4096] }
    }
}

impl Sums {
    fn new(
        format: DataFormat,
        channels: usize,
        dst32: bool,
        fidelity: MathFidelity,
        arch: Arch,
    ) -> Result<Self, OpError> {
        let (level, size) = (Level::current(), stick_size(format)?);
        let input = Input::new(format, dst32);
        let dst = tile_io::dst_format(format, dst32);
        let math = MathConfig { fidelity, dst, alu: input.register, arch };
        let config = PackConfig { edge: EdgeMask::Row0, ..PackConfig::new(dst, format) };
        let packer = Packer::new(&config, level)
            .map_err(|error| OpError::Invariant { operator: NAME, what: error.to_string() })?;
        Ok(Self { size, channels, level, input, math, packer })
    }

    /// Returns what sums every 32 sticks with these weights, FP32 bits of which the upper half counts.
    fn reductions(&self, weights: &[u32]) -> Vec<Reduction> {
        let of_tile = |weights: &[u32]| {
            // A pool takes the weights of a face's rows from the columns of that face's first row.
            let factors: Tile = std::array::from_fn(|index| {
                let (row, column) = TileShape::FULL.position(index);
                let place = row / 16 * 16 + column % 16;
                weights.get(place).map_or(0, |&bits| tile_io::src_word(self.input.register, bits & 0x7fff_0000))
            });
            Reduction::pool(&self.math, self.input.register, (PoolOp::Sum, ReduceDim::Column), &factors)
        };
        weights.chunks(TILE).map(of_tile).collect()
    }

    /// Writes the sums of windows of sticks, -1 where there is none, which lie side by side in a tile if there are several.
    fn outputs(
        &self,
        pages: &Pages<'_>,
        targets: &mut [&mut [u8]],
        registers: &mut Registers,
        windows: &[&[i32]],
        reductions: &[Reduction],
    ) {
        let size = self.size;
        let tile = size * TILE * TILE;
        for first in (0..self.channels).step_by(TILE) {
            let count = TILE.min(self.channels - first);
            registers.dst.fill(0);
            for (part, reduction) in reductions.iter().enumerate() {
                registers.sticks.fill(0);
                for (number, sticks) in windows.iter().enumerate() {
                    for (row, &stick) in sticks[part * TILE..].iter().take(TILE).enumerate() {
                        let Ok(stick) = usize::try_from(stick) else { continue };
                        let stick = &pages.page(stick)[size * first..size * (first + count)];
                        for (start, bytes) in pieces(number * count, count, size) {
                            let at = size * TileShape::FULL.index(row, number * count + start);
                            registers.sticks[at..at + bytes.len()].copy_from_slice(&stick[bytes]);
                        }
                    }
                }
                self.input.to_src(&registers.sticks[..tile], &mut registers.src);
                reduction.run(self.level, &mut registers.dst, &registers.src);
            }
            self.packer.pack(&registers.dst, &mut registers.packed[..tile]);
            for (number, target) in targets.iter_mut().enumerate() {
                let target = &mut target[size * first..size * (first + count)];
                for (start, bytes) in pieces(number * count, count, size) {
                    let at = size * TileShape::FULL.index(0, number * count + start);
                    target[bytes.clone()].copy_from_slice(&registers.packed[at..at + bytes.len()]);
                }
            }
        }
    }
}

/// The parts of so many datums from a column on that lie in one face: the first datum of each, and its bytes.
fn pieces(column: usize, count: usize, size: usize) -> impl Iterator<Item = (usize, Range<usize>)> {
    let edge = (column / 16 + 1) * 16 - column;
    let cut = edge.min(count);
    [(0, 0..size * cut), (cut, size * cut..size * count)].into_iter().filter(|(_, bytes)| !bytes.is_empty())
}

/// Settings of sampling at points of a grid.
#[derive(Clone, Copy, Debug)]
pub struct GridProgram {
    /// Formats of the sticks and of the grid: `Float32` or `Float16B`.
    ///
    /// A page of the grid has x and y of a point.
    pub formats: (DataFormat, DataFormat),
    /// Channels of a stick.
    pub channels: usize,
    /// Rows and columns of an image.
    pub image: (usize, usize),
    /// Points of an image.
    pub points: usize,
    /// True if -1 and 1 are outermost pixel centres, not edges.
    pub align_corners: bool,
    /// 32-bit Dst.
    pub dst32: bool,
    /// Fidelity of products.
    pub fidelity: MathFidelity,
    /// Chip.
    pub arch: Arch,
}

impl GridProgram {
    fn check(&self, device: &Device, [input, grid, output]: [BufferId; 3]) -> Result<(), OpError> {
        let refuse = |what: String| Err(OpError::Invariant { operator: NAME, what });
        let (from, at, to) = (device.buffer(input)?, device.buffer(grid)?, device.buffer(output)?);
        let (datum, size) = (stick_size(self.formats.0)?, stick_size(self.formats.1)?);
        let images = to.num_pages().checked_div(self.points).unwrap_or(0);
        let pixels = self.image.0 * self.image.1;
        if images * self.points != to.num_pages() || from.num_pages() != images * pixels {
            return refuse(format!("{} points in {} pixels", to.num_pages(), from.num_pages()));
        }
        let bytes = datum * self.channels;
        if from.page_bytes() < bytes || to.page_bytes() < bytes || at.page_bytes() < 2 * size {
            return refuse(format!("{} channels", self.channels));
        }
        if at.num_pages() != to.num_pages() || self.channels == 0 {
            return refuse(format!("{} points for {} outputs", at.num_pages(), to.num_pages()));
        }
        Ok(())
    }

    /// Returns the first of two neighbours along an axis, and the weights of both. No step is fused, as in the reader.
    fn neighbours(&self, coordinate: f32, extent: usize) -> (f32, [f32; 2]) {
        let half = if self.align_corners { (extent as f32 - 1.0) * 0.5 } else { extent as f32 * 0.5 };
        let offset = if self.align_corners { half } else { half - 0.5 };
        let place = coordinate * half + offset;
        let first = place.floor();
        let fraction = place - first;
        (first, [1.0 - fraction, fraction])
    }

    /// Returns the four sticks around a point and their weights: above left and right, below left and right.
    fn corners(&self, page: &[u8], image: usize) -> ([i32; 4], [u32; 4]) {
        let coordinate = |at: usize| match self.formats.1 {
            DataFormat::Float32 => {
                f32::from_le_bytes([page[4 * at], page[4 * at + 1], page[4 * at + 2], page[4 * at + 3]])
            }
            _ => f32::from_bits(u32::from(u16::from_le_bytes([page[2 * at], page[2 * at + 1]])) << 16),
        };
        let (height, width) = self.image;
        let (left, across) = self.neighbours(coordinate(0), width);
        let (top, down) = self.neighbours(coordinate(1), height);
        let inside = |first: f32, step: usize, extent: usize| {
            let place = first + step as f32;
            (place >= 0.0 && place < extent as f32).then_some(place as usize)
        };
        let mut sticks = [-1; 4];
        let mut weights = [0; 4];
        for corner in 0..4 {
            let (below, right) = (corner / 2, corner % 2);
            if let (Some(row), Some(column)) = (inside(top, below, height), inside(left, right, width)) {
                sticks[corner] = ((image * height + row) * width + column) as i32;
                weights[corner] = (down[below] * across[right]).to_bits();
            }
        }
        (sticks, weights)
    }
}

/// Samples images between their pixels, at the points of a grid.
///
/// Outside of an image lie zeros.
///
/// # Errors
/// Memory errors; buffers that do not hold what the program asks for.
pub fn grid_sample(
    device: &mut Device,
    input: BufferId,
    grid: BufferId,
    output: BufferId,
    program: &GridProgram,
) -> Result<(), OpError> {
    program.check(device, [input, grid, output])?;
    let outputs = device.buffer(output)?.num_pages();
    let access = device.access(&[output])?;
    let (pages, points) = (access.input(input)?.all()?, access.input(grid)?.all()?);
    let target = access.output(output)?;
    let sums = Sums::new(program.formats.0, program.channels, program.dst32, program.fidelity, program.arch)?;
    for_each_page(outputs, Registers::default, |registers, item| {
        let (sticks, weights) = program.corners(points.page(item), item / program.points);
        sums.outputs(&pages, &mut [target.claim(item)?], registers, &[&sticks[..]], &sums.reductions(&weights));
        Ok(())
    })
}
