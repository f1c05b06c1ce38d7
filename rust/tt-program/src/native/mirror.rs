//! `cb_interface`: a kernel's circular buffer state in local RAM.
//!
//! What it sees, and what it changes there.
//!
//! Eight words for each CB. The engine writes them after its calls. A kernel may set the two pointers, and the engine
//! takes them over before its next call; the other fields are for reading.

use tt_riscv::{Hart, Image};

use crate::error::FaultKind;
use crate::state::Run;

/// Words of an entry.
const FIELDS: [&str; 8] = [
    "fifo_size",
    "fifo_limit",
    "fifo_page_size",
    "fifo_num_pages",
    "fifo_rd_ptr",
    "fifo_wr_ptr",
    "tiles_acked_received_init",
    "fifo_wr_tile_ptr",
];
const READ: usize = 4;
const WRITE: usize = 5;
/// Entries of the array.
const CBS: u32 = 32;
/// Compute kernels count in units of 16 B.
const COMPUTE_SHIFT: u32 = 4;

type Entry = [u32; FIELDS.len()];

/// The entries as the engine wrote them, by CB; `None` for CBs that do not exist, or without the symbol.
#[derive(Debug, Default)]
pub(super) struct Mirror {
    address: u32,
    shift: u32,
    kernel: usize,
    entries: Vec<Option<Entry>>,
}

impl Mirror {
    /// Writes all entries of a kernel, if its image has them.
    pub(super) fn new(run: &Run, kernel: usize, image: &Image, hart: &mut Hart) -> Result<Self, FaultKind> {
        let Some(address) = image.symbol("cb_interface") else { return Ok(Self::default()) };
        let bytes = CBS * size_of::<Entry>() as u32;
        if hart.local(address, bytes).is_none() {
            return Err(FaultKind::Bug("cb_interface is outside of local RAM".into()));
        }
        hart.note(address..address + bytes);
        let shift = if run.kernels[kernel].compute.is_some() { COMPUTE_SHIFT } else { 0 };
        let mut mirror = Self { address, shift, kernel, entries: vec![None; CBS as usize] };
        for cb in 0..CBS {
            mirror.show(run, hart, cb);
        }
        Ok(mirror)
    }

    /// Writes the entry of a CB.
    pub(super) fn show(&mut self, run: &Run, hart: &mut Hart, cb: u32) {
        let Some(slot) = self.entries.get_mut(cb as usize) else { return };
        let core = &run.cores[run.kernels[self.kernel].core];
        let Some(Some(buffer)) = core.cbs.get(cb as usize) else { return };
        let (produces, consumes) = (buffer.producer == Some(self.kernel), buffer.consumer == Some(self.kernel));
        let acked = if consumes { (buffer.popped as u16).wrapping_add(buffer.popped_later as u16) } else { 0 };
        let received = if produces { (buffer.pushed as u16).wrapping_add(buffer.pushed_later as u16) } else { 0 };
        let entry = [
            (buffer.pages * buffer.page_bytes) >> self.shift,
            buffer.end() >> self.shift,
            buffer.page_bytes >> self.shift,
            buffer.pages,
            buffer.read_pointer_of(self.kernel) >> self.shift,
            buffer.write_pointer_of(self.kernel) >> self.shift,
            u32::from(acked) | u32::from(received) << 16,
            if produces { (buffer.packed * buffer.page_bytes) >> self.shift } else { 0 },
        ];
        *slot = Some(entry);
        let place = self.address + cb * size_of::<Entry>() as u32;
        if let Some(bytes) = hart.local_mut(place, size_of::<Entry>() as u32) {
            for (field, word) in bytes.chunks_exact_mut(4).zip(entry) {
                field.copy_from_slice(&word.to_le_bytes());
            }
        }
    }

    /// Takes over pointers that the kernel has set.
    ///
    /// # Errors
    /// It wrote another field, a pointer of a CB that has none, or one outside of its CB.
    pub(super) fn take_back(&mut self, run: &mut Run, hart: &Hart) -> Result<(), FaultKind> {
        for cb in 0..self.entries.len() {
            let place = self.address + (cb * size_of::<Entry>()) as u32;
            let Some(bytes) = hart.local(place, size_of::<Entry>() as u32) else { continue };
            let mut now: Entry = [0; FIELDS.len()];
            for (word, bytes) in now.iter_mut().zip(bytes.chunks_exact(4)) {
                *word = u32::from_le_bytes(bytes.try_into().unwrap_or_default());
            }
            let before = self.entries[cb].unwrap_or_default();
            if now == before {
                continue;
            }
            let changed = |&field: &usize| now[field] != before[field];
            let other = (0..FIELDS.len()).filter(changed).find(|field| !matches!(*field, READ | WRITE));
            let cb = cb as u32;
            if let Some(field) = other {
                let text = format!(
                    "{} of CB {cb} in its local interface is written; of its fields fifo_rd_ptr and fifo_wr_ptr can be set",
                    FIELDS[field]
                );
                return Err(FaultKind::Unsupported(text));
            }
            let (core, kernel) = (run.kernels[self.kernel].core, self.kernel);
            let buffer = run.cores[core].cb_mut(cb)?;
            if buffer.pushed_later > 0 || buffer.popped_later > 0 {
                let text = format!("a pointer of CB {cb} is set while its thread waits for calls later in the source");
                return Err(FaultKind::Unsupported(text));
            }
            if changed(&READ) {
                buffer.set_read_pointer(kernel, now[READ] << self.shift)?;
            }
            if changed(&WRITE) {
                buffer.set_write_pointer(kernel, now[WRITE] << self.shift)?;
            }
            self.entries[cb as usize] = Some(now);
        }
        Ok(())
    }
}
