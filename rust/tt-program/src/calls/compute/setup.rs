//! State set by `*_init` calls, and its check at every use.

use tt_formats::DataFormat;
use tt_fpu::ReduceDim;
use tt_tensix::pack::{EdgeMask, Relu};

use super::matrix::init_name;
use super::threads::{MATH, PACK, UNPACK, in_turn};
use crate::error::{Fault, FaultKind};
use crate::state::Run;
use crate::state::compute::{Compute, Configured, Math};

impl Compute {
    /// The FPU must be set up for something of this kind.
    #[inline]
    pub(super) fn require_math(&self, fits: impl FnOnce(Math) -> bool, init: &str) -> Result<(), FaultKind> {
        if fits(self.math) {
            return Ok(());
        }
        Err(self.missing_init(init))
    }

    #[cold]
    fn missing_init(&self, init: &str) -> FaultKind {
        let state = match self.math {
            Math::None => "nothing was set up yet".to_owned(),
            other => format!("the FPU is set up for {}", other.describe()),
        };
        FaultKind::MissingInit { missing: init.to_owned(), state }
    }

    /// The packer takes the results of a reduction only.
    fn set_edge(&mut self, math: Math) {
        if let Math::Reduce { dim, .. } = math {
            self.edge = match dim {
                ReduceDim::Row => EdgeMask::Column0,
                ReduceDim::Column => EdgeMask::Row0,
                ReduceDim::Scalar => EdgeMask::Datum0,
            };
        }
    }

    /// The unpacker of `SrcA` must be set up for a CB's format.
    #[inline]
    pub(super) fn require_a(&self, cb: u32, format: DataFormat) -> Result<(), FaultKind> {
        require_format(self.src_a, "unpacker A", cb, format, "reconfig_data_format_srca")
    }

    /// The unpacker of `SrcB` likewise.
    #[inline]
    pub(super) fn require_b(&self, cb: u32, format: DataFormat) -> Result<(), FaultKind> {
        require_format(self.src_b, "unpacker B", cb, format, "reconfig_data_format_srcb")
    }

    /// The packer likewise.
    #[inline]
    pub(super) fn require_packer(&self, cb: u32, format: DataFormat) -> Result<(), FaultKind> {
        require_format(self.packed, "the packer", cb, format, "pack_reconfig_data_format")
    }
}

#[inline]
fn require_format(
    configured: Option<Configured>,
    register: &'static str,
    cb: u32,
    format: DataFormat,
    advice: &'static str,
) -> Result<(), FaultKind> {
    match configured {
        Some(Configured { format: set, .. }) if set == format => Ok(()),
        Some(Configured { format: set, cb: configured_cb }) => {
            Err(FaultKind::WrongFormat { register, configured: set, configured_cb, cb, format, advice })
        }
        None => Err(FaultKind::MissingInit {
            missing: "compute_kernel_hw_startup (classic: binary_op_init_common, mm_init, init_sfpu)".to_owned(),
            state: format!("{register} was never set up"),
        }),
    }
}

impl Run {
    fn configured(&mut self, cb: u32) -> Result<Configured, FaultKind> {
        Ok(Configured { format: self.here().1.cb_mut(cb)?.format, cb })
    }

    /// Sets up unpackers and packer.
    ///
    /// `SrcA` takes tiles of `a`, `SrcB` of `b`, the packer makes those of `out`.
    ///
    /// # Errors
    /// Unknown CBs, a data-movement kernel.
    pub fn hw_startup(&mut self, a: u32, b: u32, out: u32) -> Result<(), Fault> {
        if self.puts_off() {
            self.put_off(UNPACK | MATH, move |run, _| run.start_units(Some((a, b)), None).map(|()| true))?;
            return self.put_off(PACK, move |run, _| run.start_units(None, Some(out)).map(|()| true));
        }
        self.start_units(Some((a, b)), Some(out))
    }

    fn start_units(&mut self, operands: Option<(u32, u32)>, out: Option<u32>) -> Result<(), Fault> {
        self.checked("compute_kernel_hw_startup", |run| {
            let operands =
                operands.map(|(a, b)| Ok::<_, FaultKind>((run.configured(a)?, run.configured(b)?))).transpose()?;
            let out = out.map(|out| run.configured(out)).transpose()?;
            let cost = run.time.compute().init_common;
            let (clocks, compute) = run.engine()?;
            if let Some((a, b)) = operands {
                (compute.src_a, compute.src_b) = (Some(a), Some(b));
                // Math starts with an empty section.
                compute.sections.iter_mut().for_each(|section| section.stray = 0);
                clocks[0] += cost;
                clocks[1] += cost;
            }
            if out.is_some() {
                compute.packed = out;
                (compute.relu, compute.l1_accumulate, compute.edge) = (Relu::None, false, EdgeMask::None);
                clocks[2] += cost;
            }
            Ok(())
        })
    }

    /// Sets up the FPU and its operands' way, for existing CBs.
    ///
    /// # Errors
    /// Unknown CBs, a data-movement kernel, units that were never started.
    pub fn init_math(&mut self, math: Math, cbs: &[u32]) -> Result<(), Fault> {
        if self.puts_off() {
            let cbs = cbs.to_vec();
            self.put_off(UNPACK | MATH, move |run, _| run.set_math(math, &cbs).map(|()| true))?;
            return self.put_off(PACK, move |run, _| {
                if let Some(compute) = &mut run.kernels[run.current].compute {
                    compute.set_edge(math);
                }
                Ok(true)
            });
        }
        self.set_math(math, cbs)?;
        if let Some(compute) = &mut self.kernels[self.current].compute {
            compute.set_edge(math);
        }
        Ok(())
    }

    fn set_math(&mut self, math: Math, cbs: &[u32]) -> Result<(), Fault> {
        self.checked(init_name(math), |run| {
            for &cb in cbs {
                run.here().1.cb_mut(cb)?;
            }
            let cost = run.time.compute().init;
            let (clocks, compute) = run.engine()?;
            if compute.packed.is_none() {
                return Err(FaultKind::MissingInit {
                    missing: "compute_kernel_hw_startup (classic: binary_op_init_common, mm_init, init_sfpu)"
                        .to_owned(),
                    state: "unpackers and packer were never set up".to_owned(),
                });
            }
            compute.math = math;
            clocks[0] += cost;
            clocks[1] += cost;
            Ok(())
        })
    }

    /// Ends what the FPU was set up for.
    ///
    /// # Errors
    /// A data-movement kernel.
    pub fn end_math(&mut self) -> Result<(), Fault> {
        in_turn!(self, MATH, (), |run, _| run.end_math());
        self.checked("mm_uninit", |run| {
            let cost = run.time.compute().configure;
            let (clocks, compute) = run.engine()?;
            compute.math = Math::None;
            clocks[1] += cost;
            Ok(())
        })
    }

    /// Ends a reduction: the packer takes whole tiles again.
    ///
    /// # Errors
    /// A data-movement kernel.
    pub fn reduce_uninit(&mut self) -> Result<(), Fault> {
        in_turn!(self, PACK, (), |run, _| run.reduce_uninit());
        self.checked("reduce_uninit", |run| {
            let cost = run.time.compute().configure;
            let (clocks, compute) = run.engine()?;
            compute.edge = EdgeMask::None;
            clocks[2] += cost;
            Ok(())
        })
    }

    /// Sets up an unpacker for another CB's format.
    ///
    /// -1 leaves it as it is.
    ///
    /// # Errors
    /// Unknown CBs; the CB said to be the old one has another format than the unpacker.
    pub fn reconfig_data_format(&mut self, a: i64, b: i64, old_a: i64, old_b: i64) -> Result<(), Fault> {
        in_turn!(self, UNPACK | MATH, (), |run, _| run.reconfig_data_format(a, b, old_a, old_b));
        self.checked("reconfig_data_format", |run| {
            let cost = run.time.compute().reconfigure;
            for (cb, old, is_a) in [(a, old_a, true), (b, old_b, false)] {
                if cb < 0 {
                    continue;
                }
                let new = run.configured(cb as u32)?;
                let before = if old < 0 { None } else { Some(run.configured(old as u32)?) };
                let (clocks, compute) = run.engine()?;
                let (slot, register) =
                    if is_a { (&mut compute.src_a, "unpacker A") } else { (&mut compute.src_b, "unpacker B") };
                // The unit is set up anew where the two formats differ, whatever it was set up for.
                if let (Some(before), Some(set)) = (before.filter(|old| old.format == new.format), *slot) {
                    check_old(register, before, set)?;
                }
                if slot.map(|set| set.format) != Some(new.format) {
                    clocks[0] += cost;
                }
                *slot = Some(new);
            }
            Ok(())
        })
    }

    /// Sets up the packer for another CB's format.
    ///
    /// # Errors
    /// As [`Run::reconfig_data_format`].
    pub fn pack_reconfig_data_format(&mut self, cb: u32, old: i64) -> Result<(), Fault> {
        in_turn!(self, PACK, (), |run, _| run.pack_reconfig_data_format(cb, old));
        self.checked("pack_reconfig_data_format", |run| {
            let cost = run.time.compute().reconfigure;
            let new = run.configured(cb)?;
            let before = if old < 0 { None } else { Some(run.configured(old as u32)?) };
            let (clocks, compute) = run.engine()?;
            if let (Some(before), Some(set)) = (before.filter(|old| old.format == new.format), compute.packed) {
                check_old("the packer", before, set)?;
            }
            if compute.packed.map(|set| set.format) != Some(new.format) {
                clocks[2] += cost;
            }
            compute.packed = Some(new);
            Ok(())
        })
    }

    /// The packer adds to what L1 holds, or not.
    ///
    /// # Errors
    /// A data-movement kernel.
    pub fn pack_reconfig_l1_acc(&mut self, accumulate: bool) -> Result<(), Fault> {
        in_turn!(self, PACK, (), |run, _| run.pack_reconfig_l1_acc(accumulate));
        self.checked("pack_reconfig_l1_acc", |run| {
            let cost = run.time.compute().configure;
            let (clocks, compute) = run.engine()?;
            compute.l1_accumulate = accumulate;
            clocks[2] += cost;
            Ok(())
        })
    }

    /// The packer clips.
    ///
    /// Mode 0 none, 1 below zero, 2 up to the threshold, 3 also above it.
    ///
    /// # Errors
    /// A data-movement kernel, an unknown mode.
    pub fn pack_relu_config(&mut self, mode: u32, threshold: u16) -> Result<(), Fault> {
        in_turn!(self, PACK, (), |run, _| run.pack_relu_config(mode, threshold));
        self.checked("pack_relu_config", |run| {
            let relu = match mode {
                0 => Relu::None,
                1 => Relu::Zero,
                2 => Relu::MinThreshold(threshold),
                3 => Relu::MaxThreshold(threshold),
                _ => return Err(FaultKind::Argument(format!("ReLU mode {mode}; modes are 0 to 3"))),
            };
            let cost = run.time.compute().configure;
            let (clocks, compute) = run.engine()?;
            compute.relu = relu;
            clocks[2] += cost;
            Ok(())
        })
    }
}

/// The call that names the old CB skips the change if both formats are alike, so a wrong old CB leaves a wrong setup.
fn check_old(register: &str, before: Configured, set: Configured) -> Result<(), FaultKind> {
    if before.format == set.format {
        return Ok(());
    }
    Err(FaultKind::DiffersFromInit {
        what: "the old CB",
        expected: format!("one of {:?}, for which {register} is set up (CB {})", set.format, set.cb),
        said: format!("CB {} of {:?}", before.cb, before.format),
    })
}
