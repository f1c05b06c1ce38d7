//! The work on one line.
//!
//! Circular buffers in L1, registers, and the steps of every pass.

use tt_cpu::Level;
use tt_cpu::table::Store;
use tt_formats::{DataFormat, TileShape};
use tt_fpu::exact::{self, Results, Second};
use tt_fpu::{Broadcast, CopyTile, EltwiseOp, HalfTile, RunningMax, bf16_lanes};
use tt_sfpu::DstWidth;
use tt_tensix::tile_io::{self, Input, Tile, ZERO};
use tt_tensix::unpack::Bf16Page;

use super::lines::{Line, Lines};
use super::program::{Axis, Join, Moment, Padding, Target};
use super::step::{Halves, Packed, Source, Step, Work};
use super::vertical;
use crate::OpError;
use crate::moments::{MatrixMoments, Moments};

/// What a pass keeps from one tile to the next.
#[derive(Default)]
struct State {
    /// The second operand, and which of its tiles that is.
    second: Option<Box<Tile>>,
    loaded: Option<usize>,
    /// The same as a page of bfloat16.
    page: Option<Box<Bf16Page>>,
    paged: Option<usize>,
    /// A sum in `Dst`.
    sum: Option<Box<Tile>>,
    max: Option<RunningMax>,
    /// What the tiles so far gave, packed.
    running: Vec<u8>,
}

impl State {
    /// The register of the second operand.
    fn second(&mut self) -> &mut Tile {
        self.second.get_or_insert_with(|| Box::new(ZERO))
    }

    fn sum(&mut self) -> &mut Tile {
        self.sum.get_or_insert_with(|| Box::new(ZERO))
    }

    fn max(&mut self) -> &mut RunningMax {
        self.max.get_or_insert_with(|| RunningMax::new(Level::current()))
    }
}

/// What a thread needs.
pub(super) struct Worker {
    l1: Vec<Vec<u8>>,
    states: Vec<State>,
    a: Box<Tile>,
    dst: Box<Tile>,
    half: Box<HalfTile>,
    level: Level,
}

impl Worker {
    pub(super) fn new(steps: &[Step<'_>], lines: &Lines) -> Self {
        let l1 = steps.iter().map(|step| vec![0; step.packer.tile_bytes() * step.kept_tiles(lines)]).collect();
        let states = steps.iter().map(|_| State::default()).collect();
        Self { l1, states, a: Box::new(ZERO), dst: Box::new(ZERO), half: Box::new([0; 1024]), level: Level::current() }
    }

    /// All passes over a line.
    pub(super) fn line(&mut self, steps: &[Step<'_>], line: &Line<'_>) -> Result<(), OpError> {
        for (step, state) in steps.iter().zip(&mut self.states) {
            let second = step.work.sources().pop().filter(|source| source.is_constant());
            if second.is_none() {
                (state.loaded, state.paged) = (None, None);
            }
            if let Some(sum) = &mut state.sum {
                sum.fill(0);
            }
            if let Some(max) = &mut state.max {
                max.clear();
            }
        }
        let stages = steps.iter().map(|step| step.stage + 1).max().unwrap_or(0);
        for stage in 0..stages {
            let of_stage = |in_loop: bool| {
                steps.iter().enumerate().filter(move |(_, step)| step.stage == stage && step.in_loop == in_loop)
            };
            if of_stage(true).next().is_some() {
                for tile in 0..line.lines.length {
                    for (number, step) in of_stage(true) {
                        self.tile(steps, (number, step), line, tile)?;
                    }
                }
            }
            for (number, step) in of_stage(true).filter(|(_, step)| !step.is_line) {
                self.finish((number, step), line)?;
            }
            for (number, step) in of_stage(false) {
                self.tile(steps, (number, step), line, 0)?;
            }
        }
        Ok(())
    }

    /// A pass on one tile. Reductions only take it in.
    fn tile(
        &mut self,
        steps: &[Step<'_>],
        (number, step): (usize, &Step<'_>),
        line: &Line<'_>,
        tile: usize,
    ) -> Result<(), OpError> {
        if matches!(step.work, Work::Max(..) | Work::MaxOfTiles(_) | Work::Sum(..) | Work::Accumulate(..)) {
            return self.take_in(steps, (number, step), line, tile);
        }
        if tile >= step.until {
            return self.keep(steps, (number, step), line, tile);
        }
        let ends = step.padding != Padding::Kept && line.lines.used_of(tile) != (32, 32);
        if let (Some(halves), Work::Eltwise(op, first, second), false) = (&step.halves, &step.work, ends)
            && self.halves(steps, (number, step, halves), (*op, first, second), line, tile)?
        {
            return Ok(());
        }
        if let (Some(packed), Work::Eltwise(op, first, second), false) = (step.packed, &step.work, ends)
            && self.packed(steps, (number, step, packed), (*op, first, second), line, tile)?
        {
            return Ok(());
        }
        self.load(steps, (number, step), line, tile)?;
        let Self { a, dst, .. } = self;
        match (step.padding, &step.mask) {
            (Padding::MinusInfinity, Some(mask))
                if tile + 1 == line.lines.length && !matches!(step.work, Work::Copy(_)) =>
            {
                tt_fpu::move_dst_to_src(&step.math, dst, a);
                tt_fpu::eltwise(&step.math, EltwiseOp::Add, Broadcast::None, false, dst, a, mask);
            }
            (Padding::Zero, _) => clear_padding(dst, line.lines.used_of(tile)),
            _ => {}
        }
        apply_chain(step, dst);
        if let Work::Running(_, _, keeps_all) = step.work {
            let running = &mut self.states[number].running;
            running.resize(step.packer.tile_bytes(), 0);
            step.packer.pack(dst, running);
            if !keeps_all {
                return Ok(());
            }
        }
        self.pack((number, step), line, tile)
    }

    /// A tile of the first operand becomes the result.
    fn keep(
        &mut self,
        steps: &[Step<'_>],
        (number, step): (usize, &Step<'_>),
        line: &Line<'_>,
        tile: usize,
    ) -> Result<(), OpError> {
        // A pass reads what earlier ones made.
        let (before, own) = self.l1.split_at_mut(number);
        let (_, bytes) = step.work.sources()[0].tile(line, tile, steps, before)?;
        match step.target {
            Target::Value => {
                own[0][if step.keeps_line { tile * bytes.len() } else { 0 }..][..bytes.len()].copy_from_slice(bytes);
            }
            Target::Output(output, ..) => line.outputs[output].claim(step.page(line, tile))?.copy_from_slice(bytes),
        }
        Ok(())
    }

    /// A pass on one tile in lanes of 16 bits; false if its numbers are not plain enough, and nothing is written then.
    fn halves(
        &mut self,
        steps: &[Step<'_>],
        (number, step, halves): (usize, &Step<'_>, &Halves),
        (op, first, second): (EltwiseOp, &Source, &Source),
        line: &Line<'_>,
        tile: usize,
    ) -> Result<bool, OpError> {
        let Self { l1, states, half, level, .. } = self;
        let (key, bytes) = second.tile(line, tile, steps, l1)?;
        let state = &mut states[number];
        let mut b: &Bf16Page = bytes.first_chunk().expect("a tile");
        if step.in_loop && second.broadcast != Broadcast::None {
            let page = state.page.get_or_insert_with(|| Box::new([0; 2048]));
            if state.paged != Some(key) {
                state.paged = Some(key);
                spread_page(second.broadcast, b, page);
            }
            b = page;
        }
        let a = first.tile(line, tile, steps, l1)?.1.first_chunk().expect("a tile");
        if !bf16_lanes::run(*level, &step.math, op, half, a, b) {
            return Ok(false);
        }
        let target = match step.target {
            Target::Value => {
                let at = if step.keeps_line { tile * 2048 } else { 0 };
                &mut l1[number][at..][..2048]
            }
            Target::Output(output, ..) => line.outputs[output].claim(step.page(line, tile))?,
        };
        match halves {
            Halves::Same => target.copy_from_slice(bytemuck::cast_slice(&half[..])),
            Halves::Table(table) => table.look_up(*level, bytemuck::cast_slice(&half[..]), target, Store::Near),
        }
        Ok(true)
    }

    /// A pass on one tile by the host's arithmetic, from where the operands are to where the packer writes. False, with
    /// nothing that counts written, if an operand is not read where it is, or its numbers are not ordinary enough.
    fn packed(
        &mut self,
        steps: &[Step<'_>],
        (number, step, packed): (usize, &Step<'_>, Packed),
        (op, first, second): (EltwiseOp, &Source, &Source),
        line: &Line<'_>,
        tile: usize,
    ) -> Result<bool, OpError> {
        let Self { l1, states, level, .. } = self;
        // A pass reads what earlier ones made.
        let (before, own) = l1.split_at_mut(number);
        let Some(a) = first.datums(step.in_loop, first.tile(line, tile, steps, before)?.1) else { return Ok(false) };
        let b = if step.squares {
            Second::Same
        } else {
            let state = &mut states[number];
            load_second(second, step.in_loop, second.tile(line, tile, steps, before)?, state);
            Second::Words(state.second())
        };
        let write = |target: &mut [u8]| {
            let results = match packed {
                Packed::Halves => Some(Results::Halves(target)),
                Packed::Words => tile_io::words_mut(target).map(Results::Words),
            };
            results.is_some_and(|results| exact::eltwise(*level, &step.math, op, results, a, b))
        };
        let bytes = step.packer.tile_bytes();
        match step.target {
            Target::Value => Ok(write(&mut own[0][if step.keeps_line { tile * bytes } else { 0 }..][..bytes])),
            Target::Output(output, ..) => {
                // A page is claimed once.
                let target = line.outputs[output].claim(step.page(line, tile))?;
                if !write(target) {
                    self.load(steps, (number, step), line, tile)?;
                    step.packer.pack(&self.dst, target);
                }
                Ok(true)
            }
        }
    }

    /// A reduction's next tile.
    fn take_in(
        &mut self,
        steps: &[Step<'_>],
        (number, step): (usize, &Step<'_>),
        line: &Line<'_>,
        tile: usize,
    ) -> Result<(), OpError> {
        let Self { l1, states, a, level, .. } = self;
        let state = &mut states[number];
        match &step.work {
            Work::Max(of, _) | Work::MaxOfTiles(of) => {
                let (_, bytes) = of.tile(line, tile, steps, l1)?;
                if of.input.format == DataFormat::Float16B {
                    state.max().take_halves(bytes);
                } else {
                    of.input.to_src(bytes, a);
                    state.max().take(a);
                }
            }
            Work::Sum(of, sums) => {
                of.input.to_src(of.tile(line, tile, steps, l1)?.1, a);
                sums.of_tile(tile, line.lines).run(*level, state.sum(), a);
            }
            Work::Accumulate(op, first, second) => {
                load_second(second, step.in_loop, second.tile(line, tile, steps, l1)?, state);
                first.input.to_src(first.tile(line, tile, steps, l1)?.1, a);
                spread(first, step.in_loop, a);
                state.sum();
                if let State { second: Some(b), sum: Some(sum), .. } = state {
                    tt_fpu::eltwise(&step.math, *op, Broadcast::None, true, sum, a, b);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Brings the result of a pass on one tile to `Dst`.
    #[allow(clippy::too_many_lines, reason = "one arm for each kind of work")]
    fn load(
        &mut self,
        steps: &[Step<'_>],
        (number, step): (usize, &Step<'_>),
        line: &Line<'_>,
        tile: usize,
    ) -> Result<(), OpError> {
        let Self { l1, states, a, dst, level, .. } = self;
        let (state, math, in_loop) = (&mut states[number], &step.math, step.in_loop);
        let width = if step.dst32 { DstWidth::Bits32 } else { DstWidth::Bits16 };
        match &step.work {
            Work::Copy(of) => {
                let (_, bytes) = of.tile(line, tile, steps, l1)?;
                if let (Some(mask), true) = (&step.mask, tile + 1 == line.lines.length) {
                    of.input.to_src(bytes, a);
                    spread(of, in_loop, a);
                    tt_fpu::eltwise(math, EltwiseOp::Add, Broadcast::None, false, dst, a, mask);
                } else {
                    of.copied.to_dst(math, bytes, a, dst);
                    spread(of, in_loop, dst);
                }
            }
            Work::Eltwise(op, first, second) => {
                load_second(second, in_loop, second.tile(line, tile, steps, l1)?, state);
                let (_, bytes) = first.tile(line, tile, steps, l1)?;
                let datums = first.datums(in_loop, bytes);
                let b = state.second();
                let done = datums.is_some_and(|datums| {
                    exact::eltwise(*level, math, *op, Results::Words(dst), datums, Second::Words(b))
                });
                if !done {
                    first.input.to_src(bytes, a);
                    spread(first, in_loop, a);
                    tt_fpu::eltwise(math, *op, Broadcast::None, false, dst, a, state.second());
                }
            }
            Work::Sfpu(call, first, second) => {
                let b = state.second();
                second.copied.to_dst(math, second.tile(line, tile, steps, l1)?.1, a, b);
                spread(second, in_loop, b);
                first.copied.to_dst(math, first.tile(line, tile, steps, l1)?.1, a, dst);
                spread(first, in_loop, dst);
                call.run(&mut **dst, &b[..], width, *level);
            }
            Work::Matmul(first, second) => {
                // The second operand is one tile.
                load_second(second, false, second.tile(line, 0, steps, l1)?, state);
                first.input.to_src(first.tile(line, tile, steps, l1)?.1, a);
                dst.fill(0);
                tt_fpu::matmul_tile(math, dst, a, state.second());
            }
            Work::SumOfParts(parts, sums, start) => {
                if let Some(start) = start {
                    start.copied.to_dst(math, start.tile(line, 0, steps, l1)?.1, a, dst);
                } else {
                    dst.fill(0);
                }
                for (of, range) in parts {
                    for tile in range.clone() {
                        of.input.to_src(of.tile(line, tile, steps, l1)?.1, a);
                        sums.of_tile(tile, line.lines).run(*level, dst, a);
                    }
                }
            }
            Work::Running(join, of, _) => {
                let (_, bytes) = of.tile(line, tile, steps, l1)?;
                // What the tiles so far gave was packed by this pass.
                let (to_src, to_dst) = step.running_input();
                let b = state.second.get_or_insert_with(|| Box::new(ZERO));
                match join {
                    Join::Compensated => {
                        if tile == 0 {
                            b.fill(0);
                        } else {
                            to_dst.to_dst(math, &state.running, a, b);
                        }
                        of.copied.to_dst(math, bytes, a, dst);
                        let lost = state.sum.get_or_insert_with(|| Box::new(ZERO));
                        vertical::add_compensated(dst, b, lost, math.arch);
                    }
                    _ if tile == 0 => of.copied.to_dst(math, bytes, a, dst),
                    Join::Fpu(op) => {
                        of.input.to_src(bytes, a);
                        to_src.to_src(&state.running, b);
                        tt_fpu::eltwise(math, *op, Broadcast::None, false, dst, a, b);
                    }
                    Join::Sfpu(call) => {
                        to_dst.to_dst(math, &state.running, a, b);
                        of.copied.to_dst(math, bytes, a, dst);
                        call.run(&mut **dst, &b[..], width, *level);
                    }
                }
            }
            Work::RunningSum(of) => {
                of.copied.to_dst(math, of.tile(line, tile, steps, l1)?.1, a, dst);
                let carry = &mut state.sum()[..32];
                vertical::running_sum(dst, carry, line.lines.axis == Axis::Width, math.arch);
            }
            Work::MovingAverage(of, weights) => {
                of.copied.to_dst(math, of.tile(line, tile, steps, l1)?.1, a, dst);
                vertical::moving_average(dst, &mut state.sum()[..32], *weights, (width, math.arch));
            }
            Work::Moment(of, range, Moment::Variance(mean, factor)) if matches!(line.lines.axis, Axis::Inner(_)) => {
                let [(rows, _), (columns, _)] = line.lines.matrix;
                let mut all = MatrixMoments::new(math.arch);
                for first in range.clone().step_by(rows * columns) {
                    for column in first..first + columns {
                        let mut moments = Moments::new(math.arch);
                        let mut means = [0; 32];
                        for second in [false, true] {
                            for tile in (column..).step_by(columns).take(rows) {
                                of.copied.to_dst(math, of.tile(line, tile, steps, l1)?.1, a, dst);
                                let used = line.lines.used_of(tile).0;
                                moments.take(dst, false, 0..used, (tile == column, second));
                            }
                            moments.end_pass(*mean, second);
                            if !second {
                                means = *moments.results();
                            }
                        }
                        all.push(&means, moments.results(), line.lines.used_of(column).1, step.dst32);
                    }
                }
                let mut joined = [0; 4096];
                joined[..4].copy_from_slice(&all.variance(*factor).to_le_bytes());
                Input::direct_to_dst(DataFormat::Float32, step.dst32).to_dst(math, &joined, a, dst);
            }
            Work::Moment(of, range, moment) => {
                let (by_rows, count) = (line.lines.axis == Axis::Width, line.lines.extent());
                let range = if *moment == Moment::Anchor { range.start..range.start + 1 } else { range.clone() };
                let mut moments = Moments::new(math.arch);
                let mut take_all = |moments: &mut Moments, second: bool| -> Result<(), OpError> {
                    for tile in range.clone() {
                        of.copied.to_dst(math, of.tile(line, tile, steps, l1)?.1, a, dst);
                        let used = (count - 32 * tile).min(32);
                        moments.take(dst, by_rows, 0..used, (tile == range.start, second));
                    }
                    Ok(())
                };
                match *moment {
                    Moment::Anchor => take_all(&mut moments, false)?,
                    Moment::Mean(factor) | Moment::Correction(factor) => {
                        take_all(&mut moments, false)?;
                        moments.end_pass(factor, false);
                        if matches!(moment, Moment::Correction(_)) {
                            moments.turn_to_correction();
                        }
                    }
                    Moment::Variance(mean, squares) => {
                        take_all(&mut moments, false)?;
                        moments.end_pass(mean, false);
                        take_all(&mut moments, true)?;
                        moments.end_pass(squares, true);
                    }
                }
                moments.store(dst, by_rows, step.dst32);
            }
            Work::Centred(of, anchor, correction) => {
                let is_new = state.loaded.is_none();
                load_second(anchor, in_loop, anchor.tile(line, tile, steps, l1)?, state);
                if is_new {
                    let register = state.sum();
                    correction.input.to_src(correction.tile(line, tile, steps, l1)?.1, register);
                    spread(correction, in_loop, register);
                }
                of.input.to_src(of.tile(line, tile, steps, l1)?.1, a);
                spread(of, in_loop, a);
                tt_fpu::eltwise(math, EltwiseOp::Sub, Broadcast::None, false, dst, a, state.second());
                a.fill(0);
                tt_fpu::eltwise(math, EltwiseOp::Add, Broadcast::None, true, dst, a, state.sum());
            }
            Work::Max(..) | Work::MaxOfTiles(_) | Work::Sum(..) | Work::Accumulate(..) => {}
        }
        Ok(())
    }

    /// The result of a reduction in a loop.
    fn finish(&mut self, (number, step): (usize, &Step<'_>), line: &Line<'_>) -> Result<(), OpError> {
        let Self { l1, states, a, dst, level, .. } = self;
        let state = &mut states[number];
        match &step.work {
            Work::Running(..) => {
                let target = match step.target {
                    Target::Value => &mut l1[number][..],
                    Target::Output(output, column, columns) => {
                        line.outputs[output].claim(line.number * columns + column)?
                    }
                };
                target.copy_from_slice(&state.running);
                return Ok(());
            }
            Work::Max(_, reduction) => {
                state.max().store(a);
                tt_fpu::clear_for_max(&step.math, dst);
                reduction.run(*level, dst, a);
            }
            Work::MaxOfTiles(_) => {
                state.max().store(a);
                tt_fpu::copy_to_dst(&step.math, dst, a);
            }
            _ => dst.copy_from_slice(state.sum()),
        }
        apply_chain(step, dst);
        self.pack((number, step), line, 0)
    }

    fn pack(&mut self, (number, step): (usize, &Step<'_>), line: &Line<'_>, tile: usize) -> Result<(), OpError> {
        let bytes = step.packer.tile_bytes();
        match step.target {
            Target::Value => {
                let at = if step.keeps_line { tile * bytes } else { 0 };
                step.packer.pack(&self.dst, &mut self.l1[number][at..][..bytes]);
            }
            Target::Output(output, ..) => {
                step.packer.pack(&self.dst, line.outputs[output].claim(step.page(line, tile))?);
            }
        }
        Ok(())
    }
}

/// Clears what lies behind the used rows and columns of a tile.
fn clear_padding(dst: &mut Tile, (rows, columns): (usize, usize)) {
    if (rows, columns) != (32, 32) {
        for (index, word) in dst.iter_mut().enumerate() {
            let (row, column) = TileShape::FULL.position(index);
            if row >= rows || column >= columns {
                *word = 0;
            }
        }
    }
}

/// A page of a tile that stands for more than itself.
fn spread_page(broadcast: Broadcast, from: &Bf16Page, page: &mut Bf16Page) {
    let (lines, targets) = (from.as_chunks::<32>().0, page.as_chunks_mut::<32>().0);
    for (index, target) in targets.iter_mut().enumerate() {
        let (below, right, row) = (index / 32, index / 16 % 2, index % 16);
        let first = |line: &[u8; 32]| *line.first_chunk::<2>().expect("a datum");
        *target = match broadcast {
            Broadcast::None => lines[index],
            Broadcast::Row => lines[right * 16],
            Broadcast::Column => bytemuck::must_cast([first(&lines[below * 32 + row]); 16]),
            Broadcast::Scalar => bytemuck::must_cast([first(&lines[0]); 16]),
        };
    }
}

/// Spreads a tile of an operand where it stands for more than itself: in a pass that runs for every tile of a line.
fn spread(of: &Source, in_loop: bool, tile: &mut Tile) {
    if in_loop {
        of.broadcast.spread(tile);
    }
}

/// Brings a second operand to its register, unless it is there.
fn load_second(of: &Source, in_loop: bool, (key, bytes): (usize, &[u8]), state: &mut State) {
    if state.loaded != Some(key) {
        state.loaded = Some(key);
        let register = state.second();
        if in_loop && of.broadcast != Broadcast::None {
            // Few of its datums are looked at.
            match (of.input.format, of.input.register) {
                (DataFormat::Float16B, _) => {
                    let halves = bytes.as_chunks::<2>().0;
                    return of.broadcast.spread_of(register, |datum| u32::from(u16::from_le_bytes(halves[datum])) << 3);
                }
                (DataFormat::Float32, DataFormat::Tf32) => {
                    let words = bytes.as_chunks::<4>().0;
                    return of.broadcast.spread_of(register, |datum| u32::from_le_bytes(words[datum]) >> 13);
                }
                _ => {}
            }
        }
        of.input.to_src(bytes, register);
        spread(of, in_loop, register);
    }
}

/// The SFPU functions behind a load. Of a reduced tile, the packer takes only the results.
fn apply_chain(step: &Step<'_>, dst: &mut Tile) {
    if step.chain.is_empty() {
        return;
    }
    match step.reduced() {
        Some(places) => {
            let mut results = places.map(|place| dst[place]);
            step.chain.apply(&mut results, step.dst32);
            places.into_iter().zip(results).for_each(|(place, result)| dst[place] = result);
        }
        None => step.chain.apply(dst, step.dst32),
    }
}
