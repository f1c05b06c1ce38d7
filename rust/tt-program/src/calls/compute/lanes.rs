//! A kernel's single SFPU operations on datums of `Dst`.

use tt_formats::Arch;
use tt_fpu::Accumulator;
use tt_sfpu::convert::{self, Mode};
use tt_sfpu::lane;
use tt_tensix::pack::DstFormat;

use crate::error::{Fault, FaultKind};
use crate::state::Run;
use crate::vectors::{Constant, Datums, Id, LANES, Memory, Outcome, Recorder, TILE_ROWS, Unrecorded, Vector};

/// Operations after which recorded ones are run, whatever comes next.
const MOST: usize = 1 << 16;
/// Datums of a row of `Dst`.
const ROW: usize = 16;

impl From<Unrecorded> for FaultKind {
    fn from(Unrecorded(id): Unrecorded) -> Self {
        Self::Argument(if id == Id::MAX {
            "a vector is used that was never assigned".to_owned()
        } else {
            "a vector is used that other calls have overwritten since: vectors live until the next call of another kind"
                .to_owned()
        })
    }
}

/// The datums that 32 lanes take from one address.
struct Rows<'a> {
    tiles: &'a mut [Accumulator],
    wide: bool,
    arch: Arch,
}

impl Rows<'_> {
    /// Place of a lane's datum: tile, and datum in it. Lanes take every other column of four rows.
    fn place(address: u32, lane: usize) -> (usize, usize) {
        let row = (address & !3) as usize + lane / 8;
        let column = 2 * (lane % 8) + (address >> 1 & 1) as usize;
        (row / TILE_ROWS as usize, row % TILE_ROWS as usize * ROW + column)
    }
}

impl Datums for Rows<'_> {
    fn load(&mut self, address: u32, memory: Memory) -> Vector {
        std::array::from_fn(|lane| {
            let (tile, datum) = Self::place(address, lane);
            let word = self.tiles.get_mut(tile).map_or(0, |tile| tile.dst()[datum]);
            match memory {
                Memory::Float | Memory::Word => word,
                Memory::SignMagnitude => convert::load(self.arch, Mode::Int32TwosComplement, word),
                Memory::UInt16 => word & 0xffff,
            }
        })
    }

    fn store(&mut self, address: u32, memory: Memory, value: &Vector, mask: u32) {
        for lane in (0..LANES).filter(|lane| mask >> lane & 1 == 1) {
            let (tile, datum) = Self::place(address, lane);
            let word = match memory {
                Memory::Float if self.wide => lane::store_f32(value[lane]),
                Memory::Float => lane::store_bf16(value[lane]),
                Memory::SignMagnitude => convert::store(self.arch, Mode::Int32TwosComplement, value[lane]),
                Memory::Word => value[lane],
                Memory::UInt16 => value[lane] & 0xffff,
            };
            if let Some(tile) = self.tiles.get_mut(tile) {
                tile.dst()[datum] = word;
            }
        }
    }
}

impl Run {
    /// Records a vector operation.
    ///
    /// # Errors
    /// A data-movement kernel; a vector that there is not.
    pub(crate) fn record<T>(
        &mut self,
        call: &'static str,
        operation: impl FnOnce(&mut Recorder) -> Result<T, Unrecorded>,
    ) -> Result<T, Fault> {
        let result = self.noted(call, |run| Ok(operation(&mut run.engine()?.1.lanes)?));
        if result.is_ok() && self.lanes_waiting() >= MOST {
            self.run_lanes()?;
        }
        result
    }

    /// A vector operation sets a constant register, which inits of built-in functions also set.
    pub(crate) fn own_constant(&mut self, register: Constant) {
        let place = (register as usize).checked_sub(Constant::Program1 as usize);
        if let (Some(place), Some(compute)) = (place, &mut self.kernels[self.current].compute) {
            compute.vector.program(place);
        }
    }

    fn lanes_waiting(&self) -> usize {
        self.kernels[self.current].compute.as_ref().map_or(0, |compute| compute.lanes.len())
    }

    /// Records a load of 32 datums.
    ///
    /// # Errors
    /// The protocol of `Dst`; a tile that holds nothing; a format that lanes cannot take so.
    pub(crate) fn record_load(&mut self, address: i32, memory: u32) -> Result<Id, Fault> {
        self.noted("dst_reg", |run| {
            let (memory, _) = run.lane_access(address, memory, false)?;
            let lanes = &mut run.engine()?.1.lanes;
            Ok(lanes.load(address as u32, memory))
        })
    }

    /// Records a store of 32 datums, of the lanes that are enabled.
    ///
    /// # Errors
    /// As [`Run::record_load`]; a vector that there is not.
    pub(crate) fn record_store(&mut self, address: i32, memory: u32, value: Id) -> Result<(), Fault> {
        self.noted("dst_reg", |run| {
            let (memory, tile) = run.lane_access(address, memory, true)?;
            let compute = run.engine()?.1;
            compute.lanes.store(address as u32, memory, value)?;
            let (wide, section) = (compute.config.dst32, &mut compute.sections[compute.filling]);
            let integer = matches!(section.held[tile], Some(DstFormat::Int32 | DstFormat::UInt16));
            section.held[tile] = Some(match (memory, section.held[tile]) {
                (Memory::Float, Some(held)) if !integer => held,
                (Memory::Float, _) => {
                    if wide {
                        DstFormat::Fp32
                    } else {
                        DstFormat::Bf16
                    }
                }
                (Memory::UInt16, _) => DstFormat::UInt16,
                (Memory::SignMagnitude | Memory::Word, _) if wide => DstFormat::Int32,
                (Memory::SignMagnitude | Memory::Word, held) => held.unwrap_or(DstFormat::UInt16),
            });
            Ok(())
        })
    }

    /// Checks an access of lanes. Returns how datums are taken, and the tile.
    fn lane_access(&mut self, address: i32, memory: u32, store: bool) -> Result<(Memory, usize), FaultKind> {
        let (_, compute) = self.engine()?;
        let memory = Memory::of(memory).ok_or_else(|| FaultKind::Argument(format!("memory form {memory}")))?;
        let row = i64::from(compute.lanes.row) + i64::from(address);
        let index = row.div_euclid(i64::from(TILE_ROWS));
        let index = u32::try_from(index).unwrap_or(u32::MAX);
        let tile = compute.math_tile(index)?;
        let held = compute.sections[compute.filling].held[tile];
        if held.is_none() && !store {
            return Err(FaultKind::DstUnwritten { index });
        }
        let low_half = !compute.config.dst32 && matches!(memory, Memory::SignMagnitude | Memory::Word);
        if !low_half {
            return Ok((memory, tile));
        }
        if held.is_none_or(|held| held == DstFormat::UInt16) {
            return Ok((Memory::UInt16, tile));
        }
        Err(FaultKind::NeedsWideDst { format: tt_formats::DataFormat::Int32 })
    }

    /// Lets address 0 of lanes be the first row of a tile.
    ///
    /// # Errors
    /// A data-movement kernel; the protocol of `Dst`.
    pub(crate) fn start_lanes(&mut self, tile: u32) -> Result<(), Fault> {
        self.noted("_llk_math_eltwise_sfpu_params_", |run| {
            let compute = run.engine()?.1;
            compute.check_index(tile)?;
            compute.lanes.row = tile * TILE_ROWS;
            Ok(())
        })
    }

    /// Moves address 0 of lanes on.
    ///
    /// # Errors
    /// A data-movement kernel.
    pub(crate) fn advance_lanes(&mut self, rows: i32) -> Result<(), Fault> {
        self.noted("dst_reg", |run| {
            let lanes = &mut run.engine()?.1.lanes;
            lanes.row = lanes.row.wrapping_add_signed(rows);
            Ok(())
        })
    }

    /// Runs the vector operations that were recorded; math takes a cycle for each instruction.
    ///
    /// # Errors
    /// A result depends on the chip's random numbers.
    pub(crate) fn run_lanes(&mut self) -> Result<(), Fault> {
        let waits = self.kernels[self.current].compute.as_ref().is_some_and(|compute| !compute.lanes.is_empty());
        if !waits {
            return Ok(());
        }
        self.checked("sfpi", |run| {
            let (clocks, compute) = run.engine()?;
            if let Some(by) = compute.vector.walked() {
                let missing = "an init of the SFPU before the kernel's own vector function".to_owned();
                return Err(FaultKind::MissingInit { missing, state: format!("{by} has changed ADDR_MOD_7 since") });
            }
            compute.vector.use_lanes(&"the kernel's own vector function".into(), false);
            let (wide, arch) = (compute.config.dst32, compute.arch);
            let tiles = &mut compute.sections[compute.filling].tiles;
            match compute.lanes.run(arch, &mut Rows { tiles, wide, arch }) {
                Outcome::Instructions(count) => clocks[1] += count,
                Outcome::Stochastic => {
                    let text = "this conversion rounds by the chip's random numbers, which are not known; ask for \
                                RoundMode::NearestEven";
                    return Err(FaultKind::Unsupported(text.to_owned()));
                }
            }
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use tt_fpu::MathFidelity;
    use tt_memory::Device;
    use tt_memory::chip::{LogicalCore, N150};
    use tt_memory::device::OpenOptions;

    use super::*;
    use crate::spec::{ComputeConfig, KernelSpec, ProgramSpec, Risc};

    /// 1 + 2^-7 - 2^-23: bfloat16 cannot hold it.
    const LONG: u32 = 0x3f80_ffff;

    fn rows(tiles: &mut [Accumulator], wide: bool) -> Rows<'_> {
        Rows { tiles, wide, arch: Arch::Wormhole }
    }

    fn stored(wide: bool, memory: Memory, word: u32) -> u32 {
        let mut tiles = [Accumulator::new()];
        rows(&mut tiles, wide).store(0, memory, &[word; LANES], 1);
        tiles[0].dst()[0]
    }

    #[test]
    fn dst_keeps_as_many_bits_as_it_has() {
        assert_eq!(stored(true, Memory::Float, LONG), lane::store_f32(LONG));
        assert_eq!(stored(false, Memory::Float, LONG), lane::store_bf16(LONG));
        assert_ne!(lane::store_f32(LONG), lane::store_bf16(LONG));
        assert_eq!(stored(false, Memory::Word, LONG), LONG);
        assert_eq!(stored(false, Memory::UInt16, 0x1234_5678), 0x5678);
        assert_eq!(stored(false, Memory::SignMagnitude, 5_u32.wrapping_neg()), 0x8000_0005);
    }

    #[test]
    fn datums_come_back_as_they_were_stored() {
        let mut tiles = [Accumulator::new()];
        tiles[0].dst()[0] = 0x8000_0005;
        let mut rows = rows(&mut tiles, true);
        assert_eq!(rows.load(0, Memory::Word)[0], 0x8000_0005);
        assert_eq!(rows.load(0, Memory::Float)[0], 0x8000_0005);
        assert_eq!(rows.load(0, Memory::SignMagnitude)[0], 5_u32.wrapping_neg());
        assert_eq!(rows.load(0, Memory::UInt16)[0], 5);
        // Integers of Blackhole have two's complement in `Dst`, too.
        let mut rows = Rows { arch: Arch::Blackhole, ..rows };
        assert_eq!(rows.load(0, Memory::SignMagnitude)[0], 0x8000_0005);
        rows.store(0, Memory::SignMagnitude, &[5_u32.wrapping_neg(); LANES], 1);
        assert_eq!(rows.load(0, Memory::Word)[0], 5_u32.wrapping_neg());
    }

    #[test]
    fn lanes_take_every_other_column_of_four_rows() {
        let mut tiles = [Accumulator::new(), Accumulator::new()];
        let numbers: Vector = std::array::from_fn(|lane| 100 + lane as u32);
        // Address 66: the odd columns of four rows, from row 64 on, which is the first of the second tile.
        rows(&mut tiles, true).store(66, Memory::Word, &numbers, 0b10_0000_0001);
        let found: Vec<_> = (0..1024).filter(|&datum| tiles[1].dst()[datum] != 0).collect();
        assert_eq!(found, [1, ROW + 3]);
        assert_eq!((tiles[1].dst()[1], tiles[1].dst()[ROW + 3]), (100, 109));
        assert!(tiles[0].dst().iter().all(|&word| word == 0));
    }

    /// A compute kernel that has acquired `Dst`.
    fn run(dst32: bool) -> Run {
        let mut device = Device::open(&N150, OpenOptions::default()).expect("a device");
        let fidelity = MathFidelity::HiFi4;
        let kernel = KernelSpec {
            core: LogicalCore { x: 0, y: 0 },
            risc: Risc::Trisc,
            name: String::new(),
            noc: 0,
            args: Vec::new(),
            compute: Some(ComputeConfig {
                fidelity,
                dst32,
                full_sync: false,
                precise: false,
                approximate: false,
                unpack_to_dest: 0,
            }),
        };
        let spec = ProgramSpec { kernels: vec![kernel], ..ProgramSpec::default() };
        let mut run = Run::new(&mut device, &spec).expect("a run");
        run.tile_regs_acquire().expect("Dst");
        run
    }

    fn held(run: &mut Run) -> &mut Vec<Option<DstFormat>> {
        let compute = run.engine().expect("a compute kernel").1;
        &mut compute.sections[compute.filling].held
    }

    #[test]
    fn a_store_decides_what_a_tile_holds() {
        let (bf16, fp32, int32, uint16) = (DstFormat::Bf16, DstFormat::Fp32, DstFormat::Int32, DstFormat::UInt16);
        // Memory: 0 as Dst says, 1 sign-magnitude, 2 the word, 3 the low half.
        for (dst32, memory, before, after) in [
            (false, 0, None, Some(bf16)),
            (false, 0, Some(bf16), Some(bf16)),
            (false, 0, Some(uint16), Some(bf16)),
            (false, 3, Some(bf16), Some(uint16)),
            (false, 1, None, Some(uint16)),
            (false, 2, Some(uint16), Some(uint16)),
            (false, 2, Some(bf16), None),
            (true, 0, None, Some(fp32)),
            (true, 0, Some(bf16), Some(bf16)),
            (true, 0, Some(int32), Some(fp32)),
            (true, 1, Some(fp32), Some(int32)),
            (true, 2, None, Some(int32)),
            (true, 3, Some(int32), Some(uint16)),
        ] {
            let mut run = run(dst32);
            held(&mut run)[1] = before;
            let word = run.record("sfpi", |lanes| Ok(lanes.word(7))).expect("a word");
            let stored = run.record_store(64 + 62, memory, word).map_err(|fault| *fault.what);
            let needs = FaultKind::NeedsWideDst { format: tt_formats::DataFormat::Int32 };
            assert_eq!(stored, if after.is_some() { Ok(()) } else { Err(needs) }, "{dst32} {memory} {before:?}");
            assert_eq!(held(&mut run)[1], after.or(before), "{dst32} {memory} {before:?}");
            assert_eq!(held(&mut run)[0], None);
        }
    }

    #[test]
    fn accesses_of_lanes_are_checked_like_others() {
        let mut run = run(false);
        let kind = |result: Result<Id, Fault>| *result.expect_err("a mistake").what;
        assert_eq!(kind(run.record_load(0, 4)), FaultKind::Argument("memory form 4".to_owned()));
        held(&mut run)[1] = Some(DstFormat::Bf16);
        for (start, advance, address, index) in [
            (0, 0, 63, 0),
            (0, 0, 64, 1),
            (0, 60, 4, 1),
            (1, 0, -1, 0),
            (2, -64, 0, 1),
            (7, 64, 0, 8),
            (0, 0, -1, u32::MAX),
        ] {
            run.start_lanes(start).expect("a tile");
            run.advance_lanes(advance).expect("rows");
            let why = "16-bit datums, half sync";
            let expected = match index {
                1 => None,
                0 => Some(FaultKind::DstUnwritten { index }),
                _ => Some(FaultKind::DstIndex { index, capacity: 8, why }),
            };
            assert_eq!(
                run.record_load(address, 0).err().map(|fault| *fault.what),
                expected,
                "{start} {advance} {address}"
            );
        }
        assert!(matches!(*run.start_lanes(8).expect_err("no tile").what, FaultKind::DstIndex { index: 8, .. }));
        run.tile_regs_commit().expect("Dst");
        assert_eq!(kind(run.record_load(0, 0)), FaultKind::NotAcquired);
    }

    #[test]
    fn many_operations_are_run_whatever_comes_next() {
        let mut run = run(false);
        for number in 1..=MOST {
            run.record("sfpi", |lanes| Ok(lanes.word(0))).expect("a word");
            assert_eq!(run.lanes_waiting(), if number < MOST { number } else { 0 });
        }
        let before = run.kernels[0].clocks;
        run.run_lanes().expect("nothing to do");
        assert_eq!((run.kernels[0].clocks, run.kernels[0].calls), (before, 2), "acquire and one run");
        let beyond = run.record("sfpi", |lanes| lanes.add(1 << 30, 0)).expect_err("no such vector");
        let never = run.record("sfpi", |lanes| lanes.add(Id::MAX, 0)).expect_err("no such vector");
        assert!(beyond.to_string().contains("overwritten since") && never.to_string().contains("never assigned"));
    }

    #[test]
    fn addresses_beyond_the_tiles_hold_zeros() {
        let mut tiles = [Accumulator::new()];
        let mut rows = rows(&mut tiles, true);
        rows.store(64, Memory::Word, &[7; LANES], u32::MAX);
        assert_eq!(rows.load(64, Memory::Word), [0; LANES]);
    }
}
