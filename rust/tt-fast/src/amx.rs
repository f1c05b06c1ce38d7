//! Products on AMX.
//!
//! `TDPBF16PS` adds 16 x 32 times 32 x 16 BF16 numbers to 16 x 16 FP32 sums.
//!
//! One output tile is four AMX tiles, one per face, so that sums come out in face order. Denormals are flushed on the
//! way in and out, roundings are to nearest even.

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
pub use linux::{Tiles, available};

#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
pub use absent::{Tiles, available};

use tt_cpu::stream;

use super::Panel;
use tt_tensix::unpack::block_float::{Interleave, PARTS};

/// A product of two panels in [`PARTS`] parts, interleaved with other work.
///
/// The instructions of both fill the same time. Both panels are in the tile registers, where those of the next product
/// take their place. What packs beside a run of steps is compiled for itself, and so into the loop of the run.
pub struct Step<'a, const IN_RUN: bool> {
    pub tiles: &'a mut Tiles,
    pub next: (&'a Panel, &'a Panel),
    /// A page that is packed soon.
    ///
    /// Its lines are asked for one by one, so that they leave room for others on their way.
    pub soon: &'a [u8],
    /// A page packed after many others, with distant lines prefetched.
    ///
    /// From lines far from each other, the CPU finds the others by itself. In a run only.
    pub later: &'a [u8],
}

/// Of a page that is packed later, one line of so many is asked for.
const SPARSE: usize = 3;

impl<const IN_RUN: bool> Interleave for Step<'_, IN_RUN> {
    #[inline(always)]
    fn part<const LINES: usize>(&mut self, number: usize) {
        for line in number * LINES / PARTS..(number + 1) * LINES / PARTS {
            stream::prefetch(self.soon, stream::LINE * line);
            if IN_RUN && line.is_multiple_of(SPARSE) {
                stream::prefetch_second(self.later, stream::LINE * line);
            }
        }
        if number.is_multiple_of(4) {
            self.tiles.quarter(number / 4, self.next.0, self.next.1);
        }
    }
}

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod linux {
    use std::arch::asm;
    use std::arch::x86_64::__cpuid_count;
    use std::marker::PhantomData;
    use std::sync::OnceLock;

    use crate::{Panel, Sums};

    /// Returns true if AMX with BF16 products is available.
    ///
    /// The CPU must have it, and the kernel must let this process use it.
    pub fn available() -> bool {
        static AVAILABLE: OnceLock<bool> = OnceLock::new();
        *AVAILABLE.get_or_init(|| has_instructions() && ask_kernel())
    }

    fn has_instructions() -> bool {
        const BF16_AND_TILES: u32 = 1 << 22 | 1 << 24;
        let highest = __cpuid_count(0, 0).eax;
        highest >= 7 && __cpuid_count(7, 0).edx & BF16_AND_TILES == BF16_AND_TILES
    }

    /// Asks for tile state, for all threads of the process, present and future.
    fn ask_kernel() -> bool {
        const ARCH_PRCTL: i64 = 158;
        const ARCH_REQ_XCOMP_PERM: i64 = 0x1023;
        const XTILEDATA: i64 = 18;
        let mut result = ARCH_PRCTL;
        // SAFETY: the system call takes two numbers and touches no memory; it clobbers what is declared. A kernel
        // without tile state returns an error.
        unsafe {
            asm!(
                "syscall",
                inlateout("rax") result,
                in("rdi") ARCH_REQ_XCOMP_PERM,
                in("rsi") XTILEDATA,
                lateout("rcx") _,
                lateout("r11") _,
                options(nostack),
            );
        }
        result == 0
    }

    #[repr(C, align(64))]
    struct Configuration([u8; 64]);

    /// Rows of a tile register.
    const ROWS: usize = 16;

    /// Palette 1, all eight tiles rows of 64 bytes: those of the right operand 16, the others those of `rows` that are
    /// in the upper or lower faces.
    fn configuration(rows: usize) -> Configuration {
        let mut bytes = [0; 64];
        bytes[0] = 1;
        let upper = rows.min(ROWS);
        // Without any, they are not used.
        let lower = if rows > ROWS { rows - ROWS } else { ROWS };
        for (tile, rows) in [upper, upper, lower, lower, upper, lower, ROWS, ROWS].into_iter().enumerate() {
            bytes[16 + 2 * tile] = 64;
            bytes[48 + tile] = rows as u8;
        }
        Configuration(bytes)
    }

    /// Loads a tile register from lines that follow each other.
    macro_rules! load_tile {
        ($instruction:tt, $from:expr, $tile:tt) => {
            asm!($instruction, from = in(reg) $from, row = in(reg) 64usize, out($tile) _, options(nostack, readonly))
        };
    }

    /// The loop of [`Tiles::steps`], with what the lower faces add to a step.
    macro_rules! steps {
        ($left:expr, $right:expr, $steps:expr, $($lower:tt)*) => {
            asm!(
                "2:",
                "tileloaddt1 tmm4, [{left} + {row}]",
                "tileloadd tmm6, [{right} + {row}]",
                "tdpbf16ps tmm0, tmm4, tmm6",
                "tileloadd tmm7, [{right} + {row} + 1024]",
                "tdpbf16ps tmm1, tmm4, tmm7",
                $($lower)*
                "add {left}, 2048",
                "add {right}, 2048",
                "dec {steps}",
                "jnz 2b",
                left = inout(reg) $left => _,
                right = inout(reg) $right => _,
                row = in(reg) 64usize,
                steps = inout(reg) $steps => _,
                out("tmm0") _, out("tmm1") _, out("tmm2") _, out("tmm3") _,
                out("tmm4") _, out("tmm5") _, out("tmm6") _, out("tmm7") _,
                options(nostack, readonly),
            )
        };
    }

    /// No panels.
    const NOTHING: (*const Panel, *const Panel) = (std::ptr::null(), std::ptr::null());

    /// The thread's tile registers, configured.
    ///
    /// What configuration the thread had comes back at the end; tile registers do not outlive a call, neither ours nor
    /// those of other libraries.
    pub struct Tiles {
        before: Configuration,
        /// The panels in the registers of the operands.
        ready: (*const Panel, *const Panel),
        /// Rows of the left operand and the sums, from the first on, that are loaded, multiplied and stored.
        rows: usize,
        /// The registers belong to one thread.
        _thread: PhantomData<*const ()>,
    }

    impl Tiles {
        /// # Panics
        /// If this CPU has no AMX.
        pub fn configure() -> Self {
            assert!(available(), "AMX");
            let mut before = Configuration([0; 64]);
            // SAFETY: `available` found the instructions and the kernel's permission; the operand is 64 bytes.
            unsafe { asm!("sttilecfg [{}]", in(reg) &raw mut before, options(nostack)) };
            let mut tiles = Self { before, ready: NOTHING, rows: 0, _thread: PhantomData };
            tiles.set_rows(2 * ROWS);
            tiles
        }

        /// Multiplies only so many rows from now on.
        ///
        /// What tile registers hold is lost.
        ///
        /// # Panics
        /// If these are none, or more than a tile has.
        pub fn set_rows(&mut self, rows: usize) {
            assert!((1..=2 * ROWS).contains(&rows), "rows of a tile");
            if rows != self.rows {
                let configuration = configuration(rows);
                // SAFETY: as above. Tile registers hold nothing that the compiler knows of.
                unsafe { asm!("ldtilecfg [{}]", in(reg) &raw const configuration, options(nostack, readonly)) };
                (self.rows, self.ready) = (rows, NOTHING);
            }
        }

        /// Whether rows of the lower faces are multiplied.
        #[inline]
        fn has_lower(&self) -> bool {
            self.rows > ROWS
        }

        /// Loads the sums of the four faces, or starts at zero.
        ///
        /// What one of these three functions leaves in the tile registers the next one finds: the compiler is not told
        /// of AMX, so nothing that it writes in between touches them, and the kernel keeps them with the thread.
        #[inline]
        pub fn load(&mut self, sums: &Sums, start: bool) {
            self.ready = NOTHING;
            // SAFETY: `self` shows that the tiles are configured as at most 16 rows of 64 bytes. `sums` is 4096 bytes:
            // four tiles.
            unsafe {
                if start {
                    asm!(
                        "tilezero tmm0", "tilezero tmm1", "tilezero tmm2", "tilezero tmm3",
                        out("tmm0") _, out("tmm1") _, out("tmm2") _, out("tmm3") _,
                        options(nostack, nomem),
                    );
                    return;
                }
                let sums = &raw const *sums;
                load_tile!("tileloadd tmm0, [{from} + {row}]", sums, "tmm0");
                load_tile!("tileloadd tmm1, [{from} + {row} + 1024]", sums, "tmm1");
                if self.has_lower() {
                    load_tile!("tileloadd tmm2, [{from} + {row} + 2048]", sums, "tmm2");
                    load_tile!("tileloadd tmm3, [{from} + {row} + 3072]", sums, "tmm3");
                }
            }
        }

        /// Adds products to the sums; see `Running::steps`.
        ///
        /// The left operand is loaded past the first-level cache, which is then left to the right one: without that, a
        /// chunk that is used again for the next row would have to come from the second level, and not from the first.
        #[inline]
        pub fn steps(&mut self, left: &[Panel], right: &[Panel]) {
            let steps = left.len();
            self.ready = NOTHING;
            assert!(steps == right.len() && steps > 0, "steps along K");
            // SAFETY: as above. A panel is 2048 bytes: two tiles, and `steps` of them are read from each operand.
            unsafe {
                if self.has_lower() {
                    steps!(
                        left.as_ptr(),
                        right.as_ptr(),
                        steps,
                        "tileloaddt1 tmm5, [{left} + {row} + 1024]",
                        "tdpbf16ps tmm2, tmm5, tmm6",
                        "tdpbf16ps tmm3, tmm5, tmm7",
                    );
                } else {
                    steps!(left.as_ptr(), right.as_ptr(), steps,);
                }
            }
        }

        /// Loads one panel of each operand for `quarter`, unless they are there.
        #[inline]
        pub fn prepare(&mut self, left: &Panel, right: &Panel) {
            if self.ready == (left, right) {
                return;
            }
            // SAFETY: as above.
            unsafe {
                load_tile!("tileloaddt1 tmm4, [{from} + {row}]", left, "tmm4");
                load_tile!("tileloadd tmm6, [{from} + {row}]", right, "tmm6");
                load_tile!("tileloadd tmm7, [{from} + {row} + 1024]", right, "tmm7");
                if self.has_lower() {
                    load_tile!("tileloaddt1 tmm5, [{from} + {row} + 1024]", left, "tmm5");
                }
            }
            self.ready = (left, right);
        }

        /// A quarter of the product of the panels that `prepare` loaded.
        ///
        /// All four, in their order, are the whole; they load the next panels where they need these no more: to load
        /// them just before would be to wait for them.
        #[inline]
        pub fn quarter(&mut self, number: usize, left: &Panel, right: &Panel) {
            // SAFETY: as above.
            unsafe {
                match number {
                    0 => asm!("tdpbf16ps tmm0, tmm4, tmm6", out("tmm0") _, options(nostack, nomem)),
                    1 => {
                        asm!("tdpbf16ps tmm1, tmm4, tmm7", out("tmm1") _, options(nostack, nomem));
                        load_tile!("tileloaddt1 tmm4, [{from} + {row}]", left, "tmm4");
                    }
                    2 => {
                        if self.has_lower() {
                            asm!("tdpbf16ps tmm2, tmm5, tmm6", out("tmm2") _, options(nostack, nomem));
                        }
                        load_tile!("tileloadd tmm6, [{from} + {row}]", right, "tmm6");
                    }
                    _ => {
                        if self.has_lower() {
                            asm!("tdpbf16ps tmm3, tmm5, tmm7", out("tmm3") _, options(nostack, nomem));
                            load_tile!("tileloaddt1 tmm5, [{from} + {row} + 1024]", left, "tmm5");
                        }
                        load_tile!("tileloadd tmm7, [{from} + {row} + 1024]", right, "tmm7");
                        self.ready = (left, right);
                    }
                }
            }
        }

        /// Stores the sums of the four faces.
        ///
        /// Those of rows that are not multiplied are zero.
        #[inline]
        pub fn store(&mut self, sums: &mut Sums) {
            if self.rows < 2 * ROWS {
                *sums = Sums::ZERO;
            }
            // SAFETY: as above.
            unsafe {
                asm!(
                    "tilestored [{sums} + {row}], tmm0",
                    "tilestored [{sums} + {row} + 1024], tmm1",
                    sums = in(reg) &raw mut *sums,
                    row = in(reg) 64usize,
                    options(nostack),
                );
                if self.has_lower() {
                    asm!(
                        "tilestored [{sums} + {row} + 2048], tmm2",
                        "tilestored [{sums} + {row} + 3072], tmm3",
                        sums = in(reg) &raw mut *sums,
                        row = in(reg) 64usize,
                        options(nostack),
                    );
                }
            }
        }
    }

    impl Drop for Tiles {
        fn drop(&mut self) {
            // SAFETY: as in `configure`. A thread without a configuration goes back to that state, in which the kernel
            // has no tiles to save.
            unsafe {
                if self.before.0[0] == 0 {
                    asm!("tilerelease", options(nomem, nostack));
                } else {
                    asm!("ldtilecfg [{}]", in(reg) &raw const self.before, options(nostack, readonly));
                }
            }
        }
    }
}

#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
mod absent {
    use crate::{Panel, Sums};

    /// No AMX on this kind of host.
    pub fn available() -> bool {
        false
    }

    /// Never made.
    pub enum Tiles {}

    impl Tiles {
        pub fn configure() -> Self {
            unreachable!("AMX is not available")
        }

        pub fn set_rows(&mut self, _: usize) {
            match *self {}
        }

        pub fn load(&mut self, _: &Sums, _: bool) {
            match *self {}
        }

        pub fn steps(&mut self, _: &[Panel], _: &[Panel]) {
            match *self {}
        }

        pub fn prepare(&mut self, _: &Panel, _: &Panel) {
            match *self {}
        }

        pub fn quarter(&mut self, _: usize, _: &Panel, _: &Panel) {
            match *self {}
        }

        pub fn store(&mut self, _: &mut Sums) {
            match *self {}
        }
    }
}
