//! Circular buffers as on a card, without the watcher.
//!
//! Counters and pointers, and no rules.
//!
//! Two registers count the pages that were received and acknowledged, with 16 bits. Each kernel has pointers of its own,
//! which wrap where they reach the limit; a compute kernel has its counters too, and overwrites the register.
//! Source: `cb_push_back`, `cb_pop_front`, `cb_reserve_back`, `cb_wait_front` of the dataflow API, and `llk_push_tiles`,
//! `llk_pop_tiles`, `llk_wait_tiles`, `llk_wait_for_free_tiles` of the compute API.

use super::Cb;

/// What a kernel keeps of a circular buffer.
#[derive(Debug, Clone)]
pub(crate) struct Local {
    /// The kernel.
    kernel: usize,
    /// Whether it is a compute kernel, whose pointers wrap at and beyond the limit.
    compute: bool,
    write: u32,
    read: u32,
    received: u64,
    acked: u64,
}

/// What the kernels of a core keep of a circular buffer.
#[derive(Debug, Default)]
pub(crate) struct Card {
    locals: Vec<Local>,
}

impl Card {
    fn local(&self, kernel: usize) -> Option<&Local> {
        self.locals.iter().find(|local| local.kernel == kernel)
    }

    fn local_mut(&mut self, kernel: usize) -> Option<&mut Local> {
        self.locals.iter_mut().find(|local| local.kernel == kernel)
    }
}

/// A pointer after `bytes` more of a buffer that ends at a limit.
fn moved(pointer: u32, bytes: u32, compute: bool, limit: u32, size: u32) -> u32 {
    let next = pointer.wrapping_add(bytes);
    if next == limit || compute && next > limit { next.wrapping_sub(size) } else { next }
}

impl Cb {
    /// One that the host has not configured, as the registers of a core hold it after a reset: of no pages.
    pub(crate) fn unconfigured(index: u32) -> Self {
        let spec = crate::spec::CbSpec {
            core: tt_memory::chip::LogicalCore { x: 0, y: 0 },
            index: index as u8,
            address: 0,
            page_bytes: 0,
            pages: 0,
            format: tt_formats::DataFormat::Float16B,
            tile: (32, 32),
            borrowed: false,
        };
        Self::new(&spec)
    }

    /// Runs without the watcher: `kernels` are those of the core, and whether each is a compute kernel.
    pub(crate) fn unwatch(&mut self, kernels: &[(usize, bool)]) {
        let address = self.address;
        let local = |&(kernel, compute): &(usize, bool)| Local {
            kernel,
            compute,
            write: address,
            read: address,
            received: 0,
            acked: 0,
        };
        self.card = Some(Box::new(Card { locals: kernels.iter().map(local).collect() }));
    }

    fn local(&self, kernel: usize) -> Option<&Local> {
        self.card.as_ref().and_then(|card| card.local(kernel))
    }

    /// Pages at the front, as a kernel counts them.
    pub fn available_to(&self, kernel: usize) -> u32 {
        let Some(local) = self.local(kernel) else { return self.available() };
        let acked = if local.compute { local.acked } else { self.popped };
        u32::from((self.pushed as u16).wrapping_sub(acked as u16))
    }

    /// Free pages at the back, as a kernel counts them.
    pub fn free_to(&self, kernel: usize) -> u32 {
        let Some(local) = self.local(kernel) else { return self.free() };
        let received = if local.compute { local.received } else { self.pushed };
        u32::from((self.pages as u16).wrapping_sub((received as u16).wrapping_sub(self.popped as u16)))
    }

    /// A kernel's pointer to the back, if the program runs without the watcher.
    pub(crate) fn card_write(&self, kernel: usize) -> Option<u32> {
        self.local(kernel).map(|local| local.write)
    }

    /// A kernel's pointer to the front, likewise.
    pub(crate) fn card_read(&self, kernel: usize) -> Option<u32> {
        self.local(kernel).map(|local| local.read)
    }

    /// A kernel sets its pointers; `false` with the watcher.
    pub(crate) fn set_card(&mut self, kernel: usize, write: Option<u32>, read: Option<u32>) -> bool {
        let Some(local) = self.card.as_mut().and_then(|card| card.local_mut(kernel)) else { return false };
        local.write = write.unwrap_or(local.write);
        local.read = read.unwrap_or(local.read);
        true
    }

    /// A kernel publishes pages, whether or not it reserved them.
    pub(crate) fn card_push(&mut self, kernel: usize, pages: u32, now: u64) {
        let (bytes, limit) = (pages.wrapping_mul(self.page_bytes), self.end());
        let size = self.pages * self.page_bytes;
        for page in 0..u64::from(pages.min(self.pages)) {
            self.pushed_at[((self.pushed + page) % u64::from(self.pages)) as usize] = now;
        }
        let Some(local) = self.card.as_mut().and_then(|card| card.local_mut(kernel)) else { return };
        local.write = moved(local.write, bytes, local.compute, limit, size);
        if local.compute {
            local.received = local.received.wrapping_add(pages.into());
            self.pushed = local.received;
        } else {
            self.pushed = self.pushed.wrapping_add(pages.into());
        }
        (self.packed, self.producer) = (0, Some(kernel));
    }

    /// A kernel frees pages, whether or not it waited for them.
    pub(crate) fn card_pop(&mut self, kernel: usize, pages: u32, now: u64) {
        let (bytes, limit) = (pages.wrapping_mul(self.page_bytes), self.end());
        let size = self.pages * self.page_bytes;
        for page in 0..u64::from(pages.min(self.pages)) {
            self.freed_at[((self.popped + page) % u64::from(self.pages)) as usize] = now;
        }
        let Some(local) = self.card.as_mut().and_then(|card| card.local_mut(kernel)) else { return };
        local.read = moved(local.read, bytes, local.compute, limit, size);
        if local.compute {
            local.acked = local.acked.wrapping_add(pages.into());
            self.popped = local.acked;
        } else {
            self.popped = self.popped.wrapping_add(pages.into());
        }
        self.consumer = Some(kernel);
    }

    /// When the last of `pages` pages at the front came.
    pub(crate) fn came_at(&self, pages: u32) -> u64 {
        last_of(&self.pushed_at, self.popped, pages)
    }

    /// When the last of `pages` pages at the back became free.
    pub(crate) fn freed_at(&self, pages: u32) -> u64 {
        last_of(&self.freed_at, self.pushed, pages)
    }
}

fn last_of(times: &[u64], first: u64, pages: u32) -> u64 {
    let last = first.wrapping_add(u64::from(pages)).wrapping_sub(1);
    times.get((last % times.len().max(1) as u64) as usize).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buffer() -> Cb {
        let mut cb = Cb::unconfigured(3);
        (cb.address, cb.page_bytes, cb.pages) = (1024, 64, 4);
        (cb.pushed_at, cb.freed_at) = (vec![0; 4].into(), vec![0; 4].into());
        cb.unwatch(&[(0, false), (1, true)]);
        cb
    }

    #[test]
    fn pointers_wrap_at_the_limit_and_those_of_compute_kernels_beyond_it_too() {
        let mut cb = buffer();
        cb.card_push(0, 4, 5);
        assert_eq!((cb.card_write(0), cb.pushed, cb.card_write(1)), (Some(1024), 4, Some(1024)));
        cb.card_push(0, 3, 6);
        cb.card_push(0, 2, 7);
        assert_eq!((cb.card_write(0), cb.pushed), (Some(1024 + 5 * 64), 9), "beyond the end it does not come back");
        cb.card_pop(1, 3, 8);
        cb.card_pop(1, 2, 9);
        assert_eq!((cb.card_read(1), cb.popped), (Some(1024 + 64), 5));
    }

    #[test]
    fn counters_have_16_bits() {
        let mut cb = buffer();
        cb.card_pop(0, 1, 0);
        assert_eq!((cb.available_to(0), cb.free_to(0)), (65_535, 5));
        for _ in 0..65_536 / 4 {
            cb.card_push(0, 4, 0);
        }
        assert_eq!((cb.available_to(0), cb.available_to(1)), (65_535, 0), "a compute kernel has a counter of its own");
        assert_eq!(cb.came_at(0), 0);
        let mut none = Cb::unconfigured(9);
        none.unwatch(&[(0, false)]);
        none.card_push(0, 2, 1);
        assert_eq!((none.available_to(0), none.free_to(0), none.card_write(0)), (2, 65_534, Some(0)));
    }
}
