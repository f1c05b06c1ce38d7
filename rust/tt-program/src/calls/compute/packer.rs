//! The packer: tiles of `Dst` to the back of a CB.

use tt_cpu::Level;
use tt_formats::{DataFormat, TileShape, by_generation};
use tt_memory::Device;
use tt_tensix::pack::{self, EdgeMask, PackConfig, Packer};

use super::threads::{PACK, in_turn};
use crate::calls::memory::{mark_buffer, require_in_l1};
use crate::error::{Fault, FaultKind};
use crate::state::Run;
use crate::state::compute::{Compute, Tile, Turn, shape};
use crate::state::kernel::{Stall, Thread};

impl Compute {
    /// The section that the packer may read.
    pub(super) fn packable(&self) -> Result<usize, FaultKind> {
        match (self.turn, self.packing) {
            (_, true) => Ok(self.draining),
            (Turn::Both, false) => Ok(self.filling),
            _ => Err(FaultKind::PackWithoutWait),
        }
    }

    /// Section and format of a tile that the packer reads.
    pub(super) fn packed_tile(&self, index: u32) -> Result<(usize, pack::DstFormat), FaultKind> {
        self.check_index(index)?;
        let section = self.packable()?;
        let held = self.sections[section].held[index as usize].ok_or(FaultKind::DstUnwritten { index })?;
        Ok((section, held))
    }

    /// A tile goes to a CB of its shape; of 32 columns the packer may also take the upper rows only.
    fn require_shape(&self, section: usize, index: u32, target: TileShape) -> Result<(), FaultKind> {
        let held = self.sections[section].shapes[index as usize];
        if held == target || held.width() == 32 && target.width() == 32 && target.height() < held.height() {
            return Ok(());
        }
        let (height, width) = (target.height(), target.width());
        Err(FaultKind::Argument(format!(
            "Dst[{index}] holds a tile of {}x{}, the CB takes tiles of {height}x{width}",
            held.height(),
            held.width()
        )))
    }

    /// After a reduction the packer takes its results and writes zeros elsewhere, until `reduce_uninit`.
    fn require_whole(&self, section: usize, index: u32) -> Result<(), FaultKind> {
        if self.edge == EdgeMask::None || !self.sections[section].whole[index as usize] {
            return Ok(());
        }
        let state = format!(
            "the packer still takes the results of a reduction only and writes zeros elsewhere, Dst[{index}] holds a whole \
             tile"
        );
        Err(FaultKind::MissingInit { missing: "reduce_uninit".to_owned(), state })
    }

    /// Whether the packer may write over pages that the unpacker has: math has taken all that was unpacked before, and
    /// nothing after.
    fn packs_over(&self) -> bool {
        self.turn == Turn::Both || self.turn == Turn::Free && self.committed == 1
    }

    /// The words of a tile of a section.
    pub(super) fn words(&mut self, section: usize, index: u32) -> &Tile {
        self.sections[section].tiles[index as usize].dst()
    }

    /// The packer for tiles of one `Dst` format and an output format.
    pub(super) fn packer(
        &self,
        dst: pack::DstFormat,
        output: DataFormat,
        shape: TileShape,
    ) -> Result<Packer, FaultKind> {
        let config = PackConfig {
            relu: self.relu,
            l1_accumulate: self.l1_accumulate,
            edge: if shape == TileShape::FULL { self.edge } else { EdgeMask::None },
            ..by_generation!(self.arch, G => PackConfig::of::<G>(dst, output, self.config.precise))
        };
        Packer::new(&config, Level::current()).map_err(|error| FaultKind::NoConversion(error.to_string()))
    }
}

impl Run {
    /// Packs `Dst[dst]` to the back of a CB.
    ///
    /// After the tiles packed since the last push, or to tile `place`.
    ///
    /// # Errors
    /// Setup, CB protocol, `Dst` protocol.
    pub fn pack_tile(&mut self, device: &mut Device, dst: u32, cb: u32, place: Option<u32>) -> Result<(), Fault> {
        in_turn!(self, PACK, (), |run, device| run.pack_tile(device, dst, cb, place));
        self.wait_for_math()?;
        self.checked("pack_tile", |run| {
            if let Some((columns, _)) = run.engine()?.1.untilizes {
                let state = format!("the packer untilizes blocks of {columns} tiles");
                return Err(FaultKind::MissingInit { missing: "pack_untilize_uninit".to_owned(), state });
            }
            run.pack_whole(device, dst, cb, place)
        })
    }

    /// With the classic protocol the packer waits for math before it packs, as `tile_regs_wait` does: math hands its
    /// part over with all that was called before.
    ///
    /// # Errors
    /// None; errors of the protocol are those of the call that packs.
    pub(super) fn wait_for_math(&mut self) -> Result<(), Fault> {
        let Ok((_, compute)) = self.engine() else { return Ok(()) };
        if compute.turn != Turn::Both || compute.packing {
            return Ok(());
        }
        self.noted("wait for math", |run| {
            let kernel = &mut run.kernels[run.current];
            let done = kernel.clocks[1];
            kernel.wait_until(Thread::Pack, done, Stall::Dst);
            Ok(())
        })
    }

    /// Packs a whole tile.
    pub(super) fn pack_whole(
        &mut self,
        device: &mut Device,
        dst: u32,
        cb: u32,
        place: Option<u32>,
    ) -> Result<(), FaultKind> {
        let Run { kernels, cores, time, current, watched, chip, .. } = self;
        let kernel = &mut kernels[*current];
        let core = &mut cores[kernel.core];
        let compute = kernel.compute.as_deref_mut();
        let Some(compute) = compute else {
            let text = "the packer belongs to compute kernels; a data-movement kernel cannot call this";
            return Err(FaultKind::WrongRisc(text.to_owned()));
        };
        let buffer = core.cb_mut(cb)?;
        let (section, held) = compute.packed_tile(dst)?;
        compute.require_packer(cb, buffer.format)?;
        if *watched {
            compute.require_whole(section, dst)?;
        }
        let tile = place.unwrap_or(buffer.packed);
        let reserved = buffer.back_tile(*current, tile);
        let over =
            buffer.own_page(*current, tile).filter(|_| place.is_some() && reserved.is_err() && compute.packs_over());
        let address = match over {
            Some(page) => buffer.address + page * buffer.page_bytes,
            None => reserved?,
        };
        let (bytes, borrowed) = (buffer.tile_bytes, buffer.borrowed);
        let accumulate = compute.l1_accumulate;
        let form = (buffer.format, buffer.shape.unwrap_or(TileShape::FULL));
        compute.require_shape(section, dst, form.1)?;
        let packer = compute.packer(held, form.0, form.1)?;
        if let Some(page) = over {
            buffer.packed_over[page as usize] = true;
        } else if place.is_none() {
            buffer.packed += 1;
        } else {
            buffer.packed_at_place = true;
        }
        let at = tt_memory::Place { dram: false, bank: core.bank, address: address.into() };
        require_in_l1(chip.l1_bytes, address, bytes)?;
        if accumulate && *watched && !borrowed && !core.shadow.ever(address, address + bytes) {
            return Err(FaultKind::AddsToNothing { cb, address });
        }
        let edge = compute.edge;
        shape::pack(&packer, form, edge, compute.words(section, dst), device.bytes_mut(at, bytes as usize)?);
        core.shadow.set(address, address + bytes);
        if borrowed {
            mark_buffer(device, at, bytes);
        }
        kernel.clocks[2] += time.compute().pack(bytes.into(), accumulate);
        self.order_write(at, bytes)
    }
}

#[cfg(test)]
mod tests {
    use tt_fpu::{Arch, MathFidelity};

    use super::*;
    use crate::spec::ComputeConfig;

    fn compute() -> Compute {
        let fidelity = MathFidelity::HiFi4;
        let config = ComputeConfig {
            fidelity,
            dst32: false,
            full_sync: false,
            precise: false,
            approximate: false,
            unpack_to_dest: 0,
        };
        Compute::new(&config, Arch::Wormhole)
    }

    #[test]
    fn the_packer_takes_upper_rows_of_32_columns_and_no_other_parts() {
        let shape = |(height, width)| TileShape::new(height, width).expect("a shape");
        let mut compute = compute();
        for (held, target, fits) in [
            ((32, 32), (32, 32), true),
            ((32, 32), (16, 32), true),
            ((16, 32), (8, 32), true),
            ((16, 32), (32, 32), false),
            ((32, 16), (32, 16), true),
            ((32, 16), (16, 16), false),
            ((32, 32), (16, 16), false),
            ((32, 16), (16, 32), false),
            ((32, 32), (32, 16), false),
        ] {
            compute.sections[1].shapes[3] = shape(held);
            let found = compute.require_shape(1, 3, shape(target));
            assert_eq!(found.is_ok(), fits, "{held:?} {target:?}");
            if let Err(kind) = found {
                let text = format!(
                    "Dst[3] holds a tile of {}x{}, the CB takes tiles of {}x{}",
                    held.0, held.1, target.0, target.1
                );
                assert_eq!(kind, FaultKind::Argument(text));
            }
        }
    }

    #[test]
    fn with_the_mask_of_a_reduction_only_its_results_are_packed() {
        let mut compute = compute();
        compute.sections[0].whole[2] = true;
        assert_eq!((compute.require_whole(0, 2), compute.require_whole(0, 1)), (Ok(()), Ok(())));
        compute.edge = EdgeMask::Row0;
        assert_eq!(compute.require_whole(0, 1), Ok(()));
        assert!(
            matches!(compute.require_whole(0, 2), Err(FaultKind::MissingInit { missing, .. }) if missing == "reduce_uninit")
        );
    }

    #[test]
    fn the_packer_reads_the_part_that_it_has_waited_for() {
        let mut compute = compute();
        assert_eq!(compute.packable(), Err(FaultKind::PackWithoutWait));
        (compute.turn, compute.filling) = (Turn::Math, 1);
        assert_eq!(compute.packable(), Err(FaultKind::PackWithoutWait));
        compute.packing = true;
        assert_eq!(compute.packable(), Ok(0));
        (compute.packing, compute.turn) = (false, Turn::Both);
        assert_eq!(compute.packable(), Ok(1));
    }
}
