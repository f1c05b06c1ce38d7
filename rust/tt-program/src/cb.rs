//! Circular buffers: page counts, who produces and consumes, and when each page came and went.

use tt_formats::{DataFormat, TileShape};
use tt_memory::Device;

use crate::Step;
use crate::error::{Fault, What};
use crate::kernel::{Stall, Thread, Wait};
use crate::order::Vector;
use crate::run::Run;
use crate::spec::CbSpec;

/// Address, page bytes, pages, format code, tile bytes, tile height, tile width.
pub type Interface = (u32, u32, u32, u8, u32, u32, u32);

/// A circular buffer of one core.
#[derive(Debug)]
pub struct Cb {
    /// Its number.
    pub index: u32,
    /// First byte in L1.
    pub address: u32,
    /// Bytes of a page.
    pub page_bytes: u32,
    /// Pages.
    pub pages: u32,
    /// Format of its datums.
    pub format: DataFormat,
    /// Bytes of a tile.
    pub tile_bytes: u32,
    /// Shape of its tiles; `None` if the hardware has no such tiles.
    pub shape: Option<TileShape>,
    /// Height and width of its tiles.
    pub tile: (u32, u32),
    /// It lies in a buffer of the host's.
    pub borrowed: bool,
    /// Pages pushed and popped since the start.
    pub pushed: u64,
    /// Pages popped since the start.
    pub popped: u64,
    /// Page at the back.
    pub write_page: u32,
    /// Page at the front.
    pub read_page: u32,
    /// Pages that the producer has reserved.
    pub reserved: u32,
    /// Pages that the consumer has waited for.
    pub waited: u32,
    /// Kernel that reserves and pushes.
    pub producer: Option<usize>,
    /// Kernel that pops.
    pub consumer: Option<usize>,
    /// Tiles packed in order since the last push.
    pub packed: u32,
    /// What consumers learn of the producer, and the producer of consumers.
    pub(crate) pushed_by: Vector,
    pub(crate) popped_by: Vector,
    /// When each page was pushed last.
    pushed_at: Box<[u64]>,
    /// When each page was freed last.
    freed_at: Box<[u64]>,
}

impl Cb {
    /// As the host configures it.
    pub fn new(spec: &CbSpec) -> Self {
        let (height, width) = (spec.tile.0 as usize, spec.tile.1 as usize);
        let shape = TileShape::new(height, width);
        Self {
            index: u32::from(spec.index),
            address: spec.address,
            page_bytes: spec.page_bytes,
            pages: spec.pages,
            format: spec.format,
            tile_bytes: spec.format.tile_bytes(shape.unwrap_or(TileShape::FULL)) as u32,
            shape,
            tile: spec.tile,
            borrowed: spec.borrowed,
            pushed: 0,
            popped: 0,
            write_page: 0,
            read_page: 0,
            reserved: 0,
            waited: 0,
            producer: None,
            consumer: None,
            packed: 0,
            pushed_by: Vector::new(),
            popped_by: Vector::new(),
            pushed_at: vec![0; spec.pages as usize].into(),
            freed_at: vec![0; spec.pages as usize].into(),
        }
    }

    /// Pages at the front.
    #[inline]
    pub fn available(&self) -> u32 {
        (self.pushed - self.popped) as u32
    }

    /// Free pages at the back.
    #[inline]
    pub fn free(&self) -> u32 {
        self.pages - self.available()
    }

    /// One past its last byte.
    pub fn end(&self) -> u32 {
        self.address + self.pages * self.page_bytes
    }

    /// L1 address of the back.
    #[inline]
    pub fn write_pointer(&self) -> u32 {
        self.address + self.write_page * self.page_bytes
    }

    /// L1 address of the front.
    #[inline]
    pub fn read_pointer(&self) -> u32 {
        self.address + self.read_page * self.page_bytes
    }

    fn check_count(&self, pages: u32) -> Result<(), What> {
        match pages {
            0 => Err(What::NoPages { cb: self.index }),
            _ if pages > self.pages => Err(What::TooManyPages { cb: self.index, wanted: pages, capacity: self.pages }),
            _ => Ok(()),
        }
    }

    /// A block that is used as one must not cross the end.
    fn check_end(&self, page: u32, pages: u32) -> Result<(), What> {
        if page + pages > self.pages {
            return Err(What::PastEnd { cb: self.index, page, pages, capacity: self.pages });
        }
        Ok(())
    }

    /// L1 address of tile `tile` of the front.
    ///
    /// # Errors
    /// The tile was not waited for, or pages do not hold tiles.
    #[inline]
    pub fn front_tile(&self, tile: u32) -> Result<u32, What> {
        self.check_tiles()?;
        let end = u64::from(tile + 1) * u64::from(self.tile_bytes);
        if end > u64::from(self.waited) * u64::from(self.page_bytes) {
            let (cb, end_bytes) = (self.index, end.min(u64::from(u32::MAX)) as u32);
            return Err(What::TileNotWaitedFor {
                cb,
                tile,
                end_bytes,
                waited: self.waited,
                page_bytes: self.page_bytes,
            });
        }
        self.check_end(self.read_page, end.div_ceil(u64::from(self.page_bytes)) as u32)?;
        Ok(self.read_pointer() + tile * self.tile_bytes)
    }

    /// L1 address of tile `tile` of the back.
    ///
    /// # Errors
    /// The tile is not reserved, or pages do not hold tiles.
    #[inline]
    pub fn back_tile(&self, tile: u32) -> Result<u32, What> {
        self.check_tiles()?;
        let end = u64::from(tile + 1) * u64::from(self.tile_bytes);
        if end > u64::from(self.reserved) * u64::from(self.page_bytes) {
            let (cb, end_bytes) = (self.index, end.min(u64::from(u32::MAX)) as u32);
            return Err(What::TileNotReserved {
                cb,
                tile,
                end_bytes,
                reserved: self.reserved,
                page_bytes: self.page_bytes,
            });
        }
        self.check_end(self.write_page, end.div_ceil(u64::from(self.page_bytes)) as u32)?;
        Ok(self.write_pointer() + tile * self.tile_bytes)
    }

    fn check_tiles(&self) -> Result<(), What> {
        if self.shape.is_none() {
            let (height, width) = self.tile;
            let text = format!("CB {}: the hardware has no tiles of {height}x{width}", self.index);
            return Err(What::Argument(text));
        }
        if !self.page_bytes.is_multiple_of(self.tile_bytes) {
            let Self { index: cb, format, tile_bytes, page_bytes, .. } = *self;
            return Err(What::PageNoTile { cb, format, tile_bytes, page_bytes });
        }
        Ok(())
    }
}

impl Run {
    /// Waits until `pages` pages are at the front.
    ///
    /// # Errors
    /// Unknown CB, impossible count.
    pub fn cb_wait_front(&mut self, cb: u32, pages: u32) -> Step {
        self.checked("cb_wait_front", |run| {
            let cost = run.time.risc().cb_check;
            let current = run.current;
            let (kernel, core, order) = run.here_ordered();
            let buffer = core.cb_mut(cb)?;
            buffer.check_count(pages)?;
            if buffer.available() < pages {
                run.block(Wait::Front { cb, pages });
                return Ok(false);
            }
            let other_producer = buffer.producer.is_some_and(|producer| producer != current);
            buffer.waited = buffer.waited.max(pages);
            let last = (buffer.read_page + pages - 1) % buffer.pages;
            let thread = kernel.thread(Thread::Unpack);
            let ready = buffer.pushed_at[last as usize];
            kernel.wait_until(thread, ready, Stall::Front(cb));
            if let (Some(order), true) = (order, other_producer) {
                order.acquire(current, &buffer.pushed_by);
            }
            kernel.clocks[thread as usize] += cost;
            Ok(true)
        })
    }

    /// Waits until `pages` pages are free at the back.
    ///
    /// # Errors
    /// Unknown CB, impossible count, a second producer.
    pub fn cb_reserve_back(&mut self, cb: u32, pages: u32) -> Step {
        self.checked("cb_reserve_back", |run| {
            let cost = run.time.risc().cb_check;
            let current = run.current;
            run.require_producer(cb)?;
            let (kernel, core, order) = run.here_ordered();
            let buffer = core.cb_mut(cb)?;
            buffer.check_count(pages)?;
            if buffer.free() < pages {
                run.block(Wait::Back { cb, pages });
                return Ok(false);
            }
            buffer.producer = Some(current);
            buffer.reserved = buffer.reserved.max(pages);
            let last = (buffer.write_page + pages - 1) % buffer.pages;
            let thread = kernel.thread(Thread::Pack);
            kernel.wait_until(thread, buffer.freed_at[last as usize], Stall::Back(cb));
            if let (Some(order), Some(_)) = (order, buffer.consumer.filter(|&other| other != current)) {
                order.acquire(current, &buffer.popped_by);
            }
            kernel.clocks[thread as usize] += cost;
            Ok(true)
        })
    }

    /// Publishes reserved pages.
    ///
    /// # Errors
    /// More pages than are reserved; data of a read that was not waited for.
    pub fn cb_push_back(&mut self, cb: u32, pages: u32) -> Result<(), Fault> {
        self.checked("cb_push_back", |run| {
            let cost = run.time.risc().cb_advance;
            let current = run.current;
            run.require_producer(cb)?;
            let (kernel, core, order) = run.here_ordered();
            let buffer = core.cb_mut(cb)?;
            buffer.check_count(pages)?;
            if pages > buffer.reserved {
                return Err(What::PushWithoutReserve { cb, pages, reserved: buffer.reserved });
            }
            buffer.check_end(buffer.write_page, pages)?;
            let (start, end) = (buffer.write_pointer(), buffer.write_pointer() + pages * buffer.page_bytes);
            if let Some(read) = kernel.transfers.reads.iter().find(|read| read.touches(start, end)) {
                return Err(What::PushBeforeReadBarrier { cb, address: read.start, bytes: read.end - read.start });
            }
            let thread = kernel.thread(Thread::Pack) as usize;
            kernel.clocks[thread] += cost;
            let now = kernel.clocks[thread];
            for page in buffer.write_page..buffer.write_page + pages {
                buffer.pushed_at[page as usize] = now;
            }
            buffer.write_page = (buffer.write_page + pages) % buffer.pages;
            buffer.pushed += u64::from(pages);
            buffer.reserved -= pages;
            buffer.packed = 0;
            buffer.producer = Some(current);
            if let Some(order) = order {
                order.release(current, &mut buffer.pushed_by);
            }
            run.wake_cb(cb, now);
            Ok(())
        })
    }

    /// Frees pages of the front.
    ///
    /// # Errors
    /// More pages than were waited for; bytes that are still being sent; a second consumer.
    pub fn cb_pop_front(&mut self, cb: u32, pages: u32) -> Result<(), Fault> {
        self.checked("cb_pop_front", |run| {
            let cost = run.time.risc().cb_advance;
            let current = run.current;
            let first = run.here().1.cb_mut(cb)?.consumer.filter(|&first| first != current);
            if let Some(first) = first {
                return Err(What::TwoConsumers { cb, first: run.kernels[first].describe() });
            }
            let (kernel, core, order) = run.here_ordered();
            let buffer = core.cb_mut(cb)?;
            buffer.check_count(pages)?;
            if pages > buffer.waited {
                return Err(What::PopWithoutWait { cb, pages, waited: buffer.waited });
            }
            buffer.check_end(buffer.read_page, pages)?;
            let (start, end) = (buffer.read_pointer(), buffer.read_pointer() + pages * buffer.page_bytes);
            if let Some(write) = kernel.transfers.unflushed.iter().find(|write| write.touches(start, end)) {
                return Err(What::PopBeforeWriteBarrier { cb, address: write.start, bytes: write.end - write.start });
            }
            let thread = kernel.thread(Thread::Unpack) as usize;
            kernel.clocks[thread] += cost;
            let now = kernel.clocks[thread];
            for page in buffer.read_page..buffer.read_page + pages {
                buffer.freed_at[page as usize] = now;
            }
            core.shadow.clear(start, end);
            let buffer = core.cb_mut(cb)?;
            buffer.read_page = (buffer.read_page + pages) % buffer.pages;
            buffer.popped += u64::from(pages);
            buffer.waited -= pages;
            buffer.consumer = Some(current);
            if let Some(order) = order {
                order.release(current, &mut buffer.popped_by);
            }
            run.wake_cb(cb, now);
            Ok(())
        })
    }

    /// Whether `pages` pages are at the front, now. `None`: the kernel asks again and again, and has to wait for them.
    ///
    /// # Errors
    /// Unknown CB.
    pub fn cb_pages_available_at_front(&mut self, cb: u32, pages: u32) -> Result<Option<bool>, Fault> {
        self.checked("cb_pages_available_at_front", |run| {
            let cost = run.time.risc().cb_check;
            let (kernel, core) = run.here();
            let thread = kernel.thread(Thread::Unpack) as usize;
            kernel.clocks[thread] += cost;
            let yes = core.cb_mut(cb)?.available() >= pages;
            Ok(run.answer(yes, Wait::Front { cb, pages }))
        })
    }

    /// Whether `pages` pages are free at the back, now. `None`: as above.
    ///
    /// # Errors
    /// Unknown CB.
    pub fn cb_pages_reservable_at_back(&mut self, cb: u32, pages: u32) -> Result<Option<bool>, Fault> {
        self.checked("cb_pages_reservable_at_back", |run| {
            let cost = run.time.risc().cb_check;
            let (kernel, core) = run.here();
            let thread = kernel.thread(Thread::Pack) as usize;
            kernel.clocks[thread] += cost;
            let yes = core.cb_mut(cb)?.free() >= pages;
            Ok(run.answer(yes, Wait::Back { cb, pages }))
        })
    }

    /// L1 address of the page at the back, as this kernel knows it: only the producer's pointer moves.
    ///
    /// # Errors
    /// Unknown CB.
    pub fn get_write_ptr(&mut self, cb: u32) -> Result<u32, Fault> {
        self.checked("get_write_ptr", |run| {
            run.book(run.time.risc().l1_load);
            let current = run.current;
            let buffer = run.here().1.cb_mut(cb)?;
            let own = buffer.producer.is_none_or(|producer| producer == current);
            Ok(if own { buffer.write_pointer() } else { buffer.address })
        })
    }

    /// L1 address of the page at the front, as this kernel knows it: only the consumer's pointer moves.
    ///
    /// # Errors
    /// Unknown CB.
    pub fn get_read_ptr(&mut self, cb: u32) -> Result<u32, Fault> {
        self.checked("get_read_ptr", |run| {
            run.book(run.time.risc().l1_load);
            let current = run.current;
            let buffer = run.here().1.cb_mut(cb)?;
            let own = buffer.consumer.is_none_or(|consumer| consumer == current);
            Ok(if own { buffer.read_pointer() } else { buffer.address })
        })
    }

    /// What the host configured.
    ///
    /// # Errors
    /// Unknown CB.
    pub fn cb_interface(&mut self, cb: u32) -> Result<Interface, Fault> {
        self.checked("get_local_cb_interface", |run| {
            run.book(run.time.risc().l1_load);
            let buffer = run.here().1.cb_mut(cb)?;
            let Cb { address, page_bytes, pages, format, tile_bytes, tile, .. } = *buffer;
            Ok((address, page_bytes, pages, format.code(), tile_bytes, tile.0, tile.1))
        })
    }

    fn require_producer(&mut self, cb: u32) -> Result<(), What> {
        let current = self.current;
        let first = self.here().1.cb_mut(cb)?.producer.filter(|&first| first != current);
        first.map_or(Ok(()), |first| Err(What::TwoProducers { cb, first: self.kernels[first].describe() }))
    }

    /// Lets kernels of this core go on that waited for pages of a CB.
    fn wake_cb(&mut self, cb: u32, now: u64) {
        let slot = self.kernels[self.current].core;
        for index in 0..self.cores[slot].kernels.len() {
            let kernel = self.cores[slot].kernels[index];
            let Some(wait) = self.waits(kernel) else { continue };
            let Ok(buffer) = self.cores[slot].cb_mut(cb) else { continue };
            let comes = match wait {
                Wait::Front { cb: other, pages } => other == cb && buffer.available() >= pages,
                Wait::Back { cb: other, pages } => other == cb && buffer.free() >= pages,
                _ => false,
            };
            if comes {
                self.wake(kernel, now);
            }
        }
    }

    /// Bytes of a front tile, checked.
    ///
    /// # Errors
    /// As [`Cb::front_tile`]; nobody wrote into the page.
    pub(crate) fn front_address(&mut self, cb: u32, tile: u32) -> Result<u32, What> {
        let watched = self.watched;
        let core = self.here().1;
        let buffer = core.cb_mut(cb)?;
        let address = buffer.front_tile(tile)?;
        let (bytes, borrowed) = (buffer.tile_bytes, buffer.borrowed);
        if watched && !borrowed && !core.shadow.any(address, address + bytes) {
            return Err(What::UnwrittenPage { cb, tile });
        }
        self.order_read(self.own_place(address), bytes)?;
        Ok(address)
    }

    /// A word of a tile at the front of a CB, as `read_tile_value` returns it.
    ///
    /// # Errors
    /// As [`Run::front_address`].
    pub fn read_tile_value(&mut self, device: &Device, cb: u32, tile: u32, word: u32) -> Result<u32, Fault> {
        self.checked("read_tile_value", |run| {
            run.book(run.time.risc().l1_load);
            let address = run.front_address(cb, tile)?;
            let place = run.own_place(address + word * 4);
            let bytes: [u8; 4] = device.bytes(place, 4)?.try_into().unwrap_or_default();
            Ok(u32::from_le_bytes(bytes))
        })
    }
}
