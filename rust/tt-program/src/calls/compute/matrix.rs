//! Steps of the FPU: unpack tiles of CBs, compute onto `Dst`.

use tt_cpu::Level;
use tt_formats::{Arch, DataFormat, TileShape, by_generation};
use tt_fpu::{Broadcast, EltwiseOp, PoolOp, PreparedA, PreparedB, ReduceDim};
use tt_memory::{Device, Place};
use tt_perf::{Eltwise, ReduceAxis};
use tt_tensix::unpack::{self, Unpacker};

use super::threads::{MATH, UNPACK, in_turn};
use crate::error::{Fault, FaultKind};
use crate::state::Run;
use crate::state::compute::{Copying, Math, Tile, Turn, shape};

/// A tile of a CB, found and checked.
#[derive(Debug, Clone, Copy)]
pub(super) struct Source {
    pub(super) place: Place,
    pub(super) format: DataFormat,
    pub(super) bytes: u32,
    pub(super) shape: TileShape,
}

impl Source {
    /// The register format after the unpacker.
    fn register(self, dst32: bool) -> DataFormat {
        unpack::register_format(self.format, dst32)
    }

    /// Unpacks it to a source register.
    pub(super) fn to_src(self, device: &Device, dst32: bool, tile: &mut Tile) -> Result<(), FaultKind> {
        self.unpack(device.bytes(self.place, self.bytes as usize)?, (dst32, device.chip().arch), tile, 0)
    }

    /// Unpacks its bytes to a source register; places beyond its shape become `padding`.
    fn unpack(self, bytes: &[u8], (dst32, arch): (bool, Arch), tile: &mut Tile, padding: u32) -> Result<(), FaultKind> {
        let (format, register) = (self.format, self.register(dst32));
        let unpacker = by_generation!(arch, G => Unpacker::to_src::<G>(format, register, Level::current()))
            .map_err(|error| FaultKind::NoConversion(error.to_string()))?;
        shape::unpack(&unpacker, (self.format, self.shape), bytes, tile, padding);
        Ok(())
    }
}

impl Run {
    /// Tile `tile` of the front of a CB.
    pub(super) fn source(&mut self, cb: u32, tile: u32) -> Result<Source, FaultKind> {
        let address = self.front_address(cb, tile)?;
        let place = self.own_place(address);
        let buffer = self.here().1.cb_mut(cb)?;
        let shape = buffer.shape.unwrap_or(TileShape::FULL);
        Ok(Source { place, format: buffer.format, bytes: buffer.tile_bytes, shape })
    }

    /// `Dst[dst] += in0 x in1` for one tile of each.
    ///
    /// # Errors
    /// Setup, CB protocol, `Dst` protocol.
    pub fn matmul_tiles(
        &mut self,
        device: &Device,
        (in0, in1): (u32, u32),
        (tile0, tile1): (u32, u32),
        dst: u32,
    ) -> Result<(), Fault> {
        in_turn!(self, UNPACK | MATH, (), |run, device| run.matmul_tiles(device, (in0, in1), (tile0, tile1), dst));
        self.checked("matmul_tiles", |run| {
            let fits = |math: Math| matches!(math, Math::Matmul { block: None, .. });
            run.engine()?.1.require_math(fits, "mm_init (0.81.1: matmul_init)")?;
            run.multiply(device, (in0, in1), (tile0, tile1), dst, (1, 1, 1))
        })
    }

    /// `Dst[dst + r * ct + c] += in0[i0 + r * kt] x in1[i1 + c]`.
    ///
    /// # Errors
    /// As [`Run::matmul_tiles`]; a block other than the one that was set up.
    pub fn matmul_block(
        &mut self,
        device: &Device,
        (in0, in1): (u32, u32),
        (tile0, tile1): (u32, u32),
        dst: u32,
        transpose: bool,
        block: (u32, u32, u32),
    ) -> Result<(), Fault> {
        in_turn!(self, UNPACK | MATH, (), |run, device| run.matmul_block(
            device,
            (in0, in1),
            (tile0, tile1),
            dst,
            transpose,
            block
        ));
        self.checked("matmul_block", |run| {
            let (_, compute) = run.engine()?;
            compute.require_math(
                |math| matches!(math, Math::Matmul { .. }),
                "mm_block_init (0.81.1: matmul_block_init)",
            )?;
            let said = Math::Matmul { transpose, block: Some(block) };
            if compute.math != said {
                let said = compute.math.describe();
                let expected =
                    format!("as at the call, ct={} rt={} kt={} transpose={transpose}", block.0, block.1, block.2);
                return Err(FaultKind::DiffersFromInit { what: "the block", expected, said });
            }
            run.multiply(device, (in0, in1), (tile0, tile1), dst, block)
        })
    }

    fn multiply(
        &mut self,
        device: &Device,
        (in0, in1): (u32, u32),
        (tile0, tile1): (u32, u32),
        dst: u32,
        (columns, rows, inner): (u32, u32, u32),
    ) -> Result<(), FaultKind> {
        if columns == 0 || rows == 0 {
            return Err(FaultKind::Argument("a block of no tiles".to_owned()));
        }
        // The operands that are farthest, so that nothing is computed before everything is checked.
        let left = self.source(in0, tile0 + (rows - 1) * inner)?;
        let right = self.source(in1, tile1 + columns - 1)?;
        let (_, compute) = self.engine()?;
        compute.require_b(in0, left.format)?;
        compute.require_a(in1, right.format)?;
        compute.math_tile(dst + rows * columns - 1)?;
        let dst32 = compute.config.dst32;
        let transpose = matches!(compute.math, Math::Matmul { transpose: true, .. });
        require_family(left.format.is_integer() == right.format.is_integer(), left, right)?;
        let made = shape::product(left.shape, right.shape, transpose)?;
        let config = compute.math_config(left.format, right.register(dst32));
        compute.left.resize_with(compute.left.len().max(rows as usize), PreparedB::new);
        compute.right.resize_with(compute.right.len().max(columns as usize), PreparedA::new);
        for row in 0..rows {
            let source = self.source(in0, tile0 + row * inner)?;
            let (_, compute) = self.engine()?;
            source.to_src(device, dst32, &mut compute.b)?;
            compute.left[row as usize].prepare(&config, &compute.b);
        }
        for column in 0..columns {
            let source = self.source(in1, tile1 + column)?;
            let (_, compute) = self.engine()?;
            source.to_src(device, dst32, &mut compute.a)?;
            if transpose {
                compute.spare.copy_from_slice(&*compute.a);
                unpack::transpose(&compute.spare, &mut compute.a);
            }
            compute.right[column as usize].prepare(&config, &compute.a);
        }
        let costs = self.time.compute();
        let unpack = costs.unpack_matmul(left.bytes.into(), right.bytes.into(), rows.into(), columns.into());
        // Of the steps of a whole product: rows in groups of eight, sixteen columns, sixteen inner datums.
        let steps = shape::blocks(made) * (left.shape.width() / 16) as u64;
        let mut math = costs.matmul_steps(config.fidelity.phases(), u64::from(rows * columns) * steps);
        let (clocks, compute) = self.engine()?;
        for row in 0..rows {
            for column in 0..columns {
                let index = dst + row * columns + column;
                if compute.sections[compute.filling].held[index as usize].is_none() {
                    math += costs.matmul_run;
                }
                compute.accumulator(index, (config.dst, made), |_| {})?;
                let tile = &mut compute.sections[compute.filling].tiles[index as usize];
                tt_fpu::accumulate(&config, tile, &mut compute.right[column as usize], &mut compute.left[row as usize]);
            }
        }
        compute.advance(clocks, unpack, math);
        Ok(())
    }

    /// `Dst[dst] = in0 op in1`, datum by datum.
    ///
    /// # Errors
    /// Setup, CB protocol, `Dst` protocol.
    pub fn eltwise_tiles(
        &mut self,
        device: &Device,
        (op, broadcast): (EltwiseOp, Broadcast),
        (in0, in1): (u32, u32),
        (tile0, tile1): (u32, u32),
        dst: u32,
    ) -> Result<(), Fault> {
        in_turn!(self, UNPACK | MATH, (), |run, device| run.eltwise_tiles(
            device,
            (op, broadcast),
            (in0, in1),
            (tile0, tile1),
            dst
        ));
        let (call, init) = eltwise_names(op, broadcast);
        self.checked(call, |run| {
            let fits = |math: Math| {
                matches!(math, Math::Eltwise { op: set, broadcast: spread, .. } if set == op && spread == broadcast)
            };
            run.engine()?.1.require_math(fits, init)?;
            let a = run.source(in0, tile0)?;
            let b = run.source(in1, tile1)?;
            let (_, compute) = run.engine()?;
            compute.require_a(in0, a.format)?;
            compute.require_b(in1, b.format)?;
            compute.math_tile(dst)?;
            require_family(true, a, b)?;
            shape::require_same(a.shape, b.shape)?;
            let dst32 = compute.config.dst32;
            // Multiplication always adds to Dst.
            let accumulate = op == EltwiseOp::Mul || matches!(compute.math, Math::Eltwise { accumulate: true, .. });
            a.to_src(device, dst32, &mut compute.a)?;
            b.to_src(device, dst32, &mut compute.b)?;
            run.finish_eltwise(op, broadcast, accumulate, a, b.bytes, dst)
        })
    }

    /// The math of an element-wise step on what lies in `SrcA` and `SrcB`. Of the two, `b_bytes` is 0 if one came from
    /// `Dst`.
    fn finish_eltwise(
        &mut self,
        op: EltwiseOp,
        broadcast: Broadcast,
        accumulate: bool,
        a: Source,
        b_bytes: u32,
        dst: u32,
    ) -> Result<(), FaultKind> {
        let costs = self.time.compute();
        let unpack =
            if b_bytes == 0 { costs.unpack(a.bytes.into()) } else { costs.unpack_pair(a.bytes.into(), b_bytes.into()) };
        let (clocks, compute) = self.engine()?;
        let config = compute.math_config(a.format, a.register(compute.config.dst32));
        if accumulate {
            compute.accumulator(dst, (config.dst, a.shape), |_| {})?;
        } else {
            compute.overwritten(dst, (config.dst, a.shape))?;
        }
        let kind = match op {
            EltwiseOp::Add => Eltwise::Add,
            EltwiseOp::Sub => Eltwise::Sub,
            EltwiseOp::Mul => Eltwise::Mul,
        };
        let math = (costs.eltwise(kind, config.fidelity.phases()) * shape::blocks(a.shape)).div_ceil(8);
        let tile = compute.sections[compute.filling].tiles[dst as usize].dst();
        tt_fpu::eltwise(&config, op, broadcast, accumulate, tile, &compute.a, &compute.b);
        compute.advance(clocks, unpack, math);
        Ok(())
    }

    /// `Dst[dst] = in op Dst[dst]`, or the other way round: one operand comes from `Dst`.
    ///
    /// # Errors
    /// Setup, CB protocol, `Dst` protocol.
    pub fn eltwise_reuse_dst(
        &mut self,
        device: &Device,
        op: EltwiseOp,
        to_a: bool,
        (cb, tile): (u32, u32),
        dst: u32,
    ) -> Result<(), Fault> {
        in_turn!(self, UNPACK | MATH, (), |run, device| run.eltwise_reuse_dst(device, op, to_a, (cb, tile), dst));
        self.checked("binary_dest_reuse_tiles", |run| {
            let fits = |math: Math| math == Math::Reuse { op, to_a };
            run.engine()?.1.require_math(fits, "binary_dest_reuse_tiles_init")?;
            let other = run.source(cb, tile)?;
            let (_, compute) = run.engine()?;
            if to_a {
                compute.require_b(cb, other.format)?;
            } else {
                compute.require_a(cb, other.format)?;
            }
            let dst32 = compute.config.dst32;
            let config = compute.math_config(other.format, other.register(dst32));
            let (held, format) = compute.held(dst)?;
            if format != config.dst {
                return Err(FaultKind::MixedFormats { index: dst, held: format, made: config.dst });
            }
            let held = *held;
            shape::require_same(compute.sections[compute.filling].shapes[dst as usize], other.shape)?;
            let moved = if to_a { &mut compute.a } else { &mut compute.b };
            tt_fpu::move_dst_to_src(&config, &held, moved);
            let loaded = if to_a { &mut compute.b } else { &mut compute.a };
            other.to_src(device, dst32, loaded)?;
            run.finish_eltwise(op, Broadcast::None, false, other, 0, dst)
        })
    }

    /// `Dst[dst]` = a tile of a CB.
    ///
    /// # Errors
    /// Setup, CB protocol, `Dst` protocol.
    pub fn copy_tile(&mut self, device: &Device, how: Copying, cb: u32, tile: u32, dst: u32) -> Result<(), Fault> {
        in_turn!(self, UNPACK | MATH, (), |run, device| run.copy_tile(device, how, cb, tile, dst));
        let (call, init) = match how {
            Copying::Plain => ("copy_tile", "copy_tile_to_dst_init_short or init_sfpu (0.81.1: copy_init)"),
            Copying::Transposed => ("transpose_tile", "transpose_wh_init (0.81.1: transpose_init)"),
            Copying::Spread(_) => ("unary_bcast", "unary_bcast_init"),
        };
        self.checked(call, |run| {
            run.engine()?.1.require_math(|math| math == Math::Copy(how), init)?;
            let source = run.source(cb, tile)?;
            run.engine()?.1.require_a(cb, source.format)?;
            let strays = run.writes_next_section(cb)?;
            run.engine()?.1.strays = strays;
            let copied = run.copy_bytes(source, device.bytes(source.place, source.bytes as usize)?, cb, dst, how);
            run.engine()?.1.strays = false;
            copied?;
            let costs = run.time.compute();
            let (unpack, math) = (costs.unpack(source.bytes.into()), costs.copy);
            let (clocks, compute) = run.engine()?;
            compute.advance(clocks, unpack, math);
            Ok(())
        })
    }

    /// Whether a copy that no `tile_regs_acquire` precedes has a defined place: math has gone on to its next section when
    /// it committed, and that one is free, because the packer pushed the tile after it had waited for the last one.
    fn writes_next_section(&mut self, cb: u32) -> Result<bool, FaultKind> {
        let compute = self.engine()?.1;
        let goes_on = compute.turn == Turn::Free && compute.sections.len() == 2 && compute.committed == 1;
        let pushed = goes_on && compute.packing && compute.pushed >> (cb % 64) & 1 == 1;
        let buffer = self.here().1.cb_mut(cb)?;
        Ok(pushed && buffer.waited == buffer.available())
    }

    /// The values of a copy to `Dst`, of a tile that may lie elsewhere than its source says.
    pub(super) fn copy_bytes(
        &mut self,
        source: Source,
        bytes: &[u8],
        cb: u32,
        dst: u32,
        how: Copying,
    ) -> Result<(), FaultKind> {
        let (_, compute) = self.engine()?;
        let dst32 = compute.config.dst32;
        let config = compute.math_config(source.format, source.register(dst32));
        let wide = matches!(source.format, DataFormat::Int32 | DataFormat::UInt32);
        if wide && !dst32 {
            return Err(FaultKind::NeedsWideDst { format: source.format });
        }
        let flagged = source.format == DataFormat::Float32 && compute.config.unpack_to_dest >> cb & 1 == 1;
        if how == Copying::Transposed {
            shape::require_full(source.shape, "transposes")?;
        }
        let at = compute.overwritten(dst, (config.dst, source.shape))?;
        if wide || flagged && dst32 {
            let unpacker = by_generation!(compute.arch, G => Unpacker::to_dst::<G>(source.format, Level::current()))
                .map_err(|error| FaultKind::NoConversion(error.to_string()))?;
            let tile = compute.sections[compute.filling].tiles[at].dst();
            shape::unpack(&unpacker, (source.format, source.shape), bytes, tile, 0);
            rearrange(&mut compute.spare, tile, how);
            return Ok(());
        }
        source.unpack(bytes, (dst32, compute.arch), &mut compute.a, 0)?;
        rearrange(&mut compute.spare, &mut compute.a, how);
        tt_fpu::copy_to_dst(&config, compute.sections[compute.filling].tiles[at].dst(), &compute.a);
        Ok(())
    }

    /// Reduces a tile onto `Dst[dst]`.
    ///
    /// # Errors
    /// Setup, CB protocol, `Dst` protocol, formats whose reduction is not specified.
    pub fn reduce_tile(
        &mut self,
        device: &Device,
        (pool, dim): (PoolOp, ReduceDim),
        (cb, scaler_cb): (u32, u32),
        (tile, scaler_tile): (u32, u32),
        dst: u32,
    ) -> Result<(), Fault> {
        in_turn!(self, UNPACK | MATH, (), |run, device| run.reduce_tile(
            device,
            (pool, dim),
            (cb, scaler_cb),
            (tile, scaler_tile),
            dst
        ));
        self.checked("reduce_tile", |run| {
            run.engine()?.1.require_math(|math| math == Math::Reduce { pool, dim }, "reduce_init")?;
            let data = run.source(cb, tile)?;
            let scaler = run.source(scaler_cb, scaler_tile)?;
            let (_, compute) = run.engine()?;
            // Row sums exchange the two source registers, so either order of formats is a setup for this pair.
            let swapped =
                compute.require_a(scaler_cb, scaler.format).is_ok() && compute.require_b(cb, data.format).is_ok();
            if !swapped {
                compute.require_a(cb, data.format)?;
                compute.require_b(scaler_cb, scaler.format)?;
            }
            compute.math_tile(dst)?;
            let dst32 = compute.config.dst32;
            let known = !data.format.has_5_bit_exponent() && !data.format.is_integer();
            if !known {
                let text = format!("reduce_tile of {:?}: its bits are not specified", data.format);
                return Err(FaultKind::Unsupported(text));
            }
            shape::require_full(scaler.shape, "scaler tiles")?;
            if dim == ReduceDim::Scalar || dim == ReduceDim::Column && data.shape.face_height() < 16 {
                shape::require_full(data.shape, "this reduction")?;
            }
            let row_sum = pool == PoolOp::Sum && dim == ReduceDim::Row;
            let padding = if pool == PoolOp::Max { shape::LEAST } else { 0 };
            let bytes = device.bytes(data.place, data.bytes as usize)?;
            data.unpack(bytes, (dst32, compute.arch), if row_sum { &mut compute.b } else { &mut compute.a }, padding)?;
            scaler.to_src(device, dst32, if row_sum { &mut compute.a } else { &mut compute.b })?;
            let (data_register, scaler_register) = (data.register(dst32), scaler.register(dst32));
            let config = compute.math_config(data.format, if row_sum { scaler_register } else { data_register });
            compute.accumulator(dst, (config.dst, data.shape), |empty| {
                if pool == PoolOp::Max {
                    tt_fpu::clear_for_max(&config, empty.dst());
                }
            })?;
            let target = compute.sections[compute.filling].tiles[dst as usize].dst();
            if row_sum {
                tt_fpu::row_sum(&config, target, &compute.b, &compute.a);
            } else {
                tt_fpu::reduce(&config, scaler_register, (pool, dim), target, &compute.a, &compute.b);
            }
            let costs = run.time.compute();
            let unpack = costs.unpack_pair(data.bytes.into(), scaler.bytes.into());
            let phases = if pool == PoolOp::Sum { config.fidelity.phases() } else { 1 };
            let axis = match dim {
                ReduceDim::Row => ReduceAxis::Row,
                ReduceDim::Column => ReduceAxis::Column,
                ReduceDim::Scalar => ReduceAxis::Scalar,
            };
            let math = costs.reduce(axis, phases);
            let (clocks, compute) = run.engine()?;
            compute.advance(clocks, unpack, math);
            Ok(())
        })
    }

    /// Transposes `Dst[dst]` in place.
    ///
    /// # Errors
    /// Setup, `Dst` protocol.
    pub fn transpose_dst(&mut self, dst: u32) -> Result<(), Fault> {
        in_turn!(self, MATH, (), |run, _| run.transpose_dst(dst));
        self.checked("transpose_dest", |run| {
            let math = run.time.compute().transpose;
            let (clocks, compute) = run.engine()?;
            compute.require_math(
                |math| math == Math::TransposeDst,
                "transpose_wh_dest_init_short (0.81.1: transpose_dest_init)",
            )?;
            let before = *compute.held(dst)?.0;
            shape::require_full(compute.sections[compute.filling].shapes[dst as usize], "transposes in Dst")?;
            unpack::transpose(&before, compute.held(dst)?.0);
            compute.advance(clocks, 0, math);
            Ok(())
        })
    }
}

/// Moves datums of a tile: transposed, or one row, column or datum to all places.
fn rearrange(spare: &mut Tile, tile: &mut Tile, how: Copying) {
    match how {
        Copying::Plain => {}
        Copying::Transposed => {
            spare.copy_from_slice(tile);
            unpack::transpose(spare, tile);
        }
        Copying::Spread(broadcast) => broadcast.spread(tile),
    }
}

/// Operands of one instruction have exponents of one width, and are the `same` otherwise.
fn require_family(same: bool, a: Source, b: Source) -> Result<(), FaultKind> {
    if same && a.format.has_5_bit_exponent() == b.format.has_5_bit_exponent() {
        return Ok(());
    }
    let text = format!("operands {:?} and {:?} belong to different families", a.format, b.format);
    Err(FaultKind::NoConversion(text))
}

/// Names of an element-wise step and of its init.
fn eltwise_names(op: EltwiseOp, broadcast: Broadcast) -> (&'static str, &'static str) {
    match (op, broadcast) {
        (EltwiseOp::Add, Broadcast::None) => ("add_tiles", "add_tiles_init (0.81.1: add_init)"),
        (EltwiseOp::Sub, Broadcast::None) => ("sub_tiles", "sub_tiles_init (0.81.1: sub_init)"),
        (EltwiseOp::Mul, Broadcast::None) => ("mul_tiles", "mul_tiles_init (0.81.1: mul_init)"),
        (EltwiseOp::Add, Broadcast::Row) => ("add_tiles_bcast_rows", "add_bcast_rows_init_short"),
        (EltwiseOp::Add, Broadcast::Column) => ("add_tiles_bcast_cols", "add_bcast_cols_init_short"),
        (EltwiseOp::Add, Broadcast::Scalar) => ("add_tiles_bcast_scalar", "add_bcast_scalar_init_short"),
        (EltwiseOp::Sub, Broadcast::Row) => ("sub_tiles_bcast_rows", "sub_bcast_rows_init_short"),
        (EltwiseOp::Sub, Broadcast::Column) => ("sub_tiles_bcast_cols", "sub_bcast_cols_init_short"),
        (EltwiseOp::Sub, Broadcast::Scalar) => ("sub_tiles_bcast_scalar", "sub_tiles_bcast_scalar_init_short"),
        (EltwiseOp::Mul, Broadcast::Row) => ("mul_tiles_bcast_rows", "mul_bcast_rows_init_short"),
        (EltwiseOp::Mul, Broadcast::Column) => ("mul_tiles_bcast_cols", "mul_bcast_cols_init_short"),
        (EltwiseOp::Mul, Broadcast::Scalar) => ("mul_tiles_bcast_scalar", "mul_tiles_bcast_scalar_init_short"),
    }
}

/// Name of the call that sets up the FPU like this.
pub(super) fn init_name(math: Math) -> &'static str {
    match math {
        Math::None => "an init call",
        Math::Matmul { block: None, .. } => "mm_init",
        Math::Matmul { block: Some(_), .. } => "mm_block_init",
        Math::Eltwise { op, broadcast, .. } => {
            let init = eltwise_names(op, broadcast).1;
            init.split_once(' ').map_or(init, |(classic, _)| classic)
        }
        Math::Reuse { .. } => "binary_dest_reuse_tiles_init",
        Math::Copy(Copying::Plain) => "copy_tile_init",
        Math::Copy(Copying::Transposed) => "transpose_wh_init",
        Math::Copy(Copying::Spread(_)) => "unary_bcast_init",
        Math::Reduce { .. } => "reduce_init",
        Math::TransposeDst => "transpose_dest_init",
        Math::Tilize { .. } => "tilize_init",
        Math::Untilize => "untilize_init",
    }
}
