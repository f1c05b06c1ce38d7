//! Circular buffers: pages, producers, consumers, and page times.

mod card;

use tt_formats::{DataFormat, TileShape};

use self::card::Card;
use super::order::Vector;
use crate::error::FaultKind;
use crate::spec::CbSpec;

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
    /// Another CB has some of its memory.
    pub(crate) shared: bool,
    /// Pages pushed and popped since the start.
    pub pushed: u64,
    /// Pages popped since the start.
    pub popped: u64,
    /// Page at the back.
    pub write_page: u32,
    /// Page at the front.
    pub read_page: u32,
    /// Bytes by which compiled kernels have moved the two pointers beyond their pages.
    pub(crate) write_shift: u32,
    pub(crate) read_shift: u32,
    /// Pages whose push and pop were put off.
    pub(crate) pushed_later: u32,
    pub(crate) popped_later: u32,
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
    /// Whether a tile was packed to a named place since the last push.
    pub(crate) packed_at_place: bool,
    /// Pages at the front that their kernel packed over since the last push, a bit each.
    pub(crate) packed_over: Box<[bool]>,
    /// What consumers learn of the producer, and the producer of consumers.
    pub(crate) pushed_by: Vector,
    pub(crate) popped_by: Vector,
    /// When each page was pushed last.
    pub(crate) pushed_at: Box<[u64]>,
    /// When each page was freed last.
    pub(crate) freed_at: Box<[u64]>,
    /// What its kernels keep of it, without the watcher.
    pub(crate) card: Option<Box<Card>>,
}

impl Cb {
    /// Creates it as the host configures it.
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
            shared: false,
            pushed: 0,
            popped: 0,
            write_page: 0,
            read_page: 0,
            write_shift: 0,
            read_shift: 0,
            pushed_later: 0,
            popped_later: 0,
            reserved: 0,
            waited: 0,
            producer: None,
            consumer: None,
            packed: 0,
            packed_at_place: false,
            packed_over: vec![false; spec.pages as usize].into(),
            pushed_by: Vector::new(),
            popped_by: Vector::new(),
            pushed_at: vec![0; spec.pages as usize].into(),
            freed_at: vec![0; spec.pages as usize].into(),
            card: None,
        }
    }

    /// Pages at the front.
    #[inline]
    pub fn available(&self) -> u32 {
        self.pushed.wrapping_sub(self.popped) as u32
    }

    /// Free pages at the back.
    #[inline]
    pub fn free(&self) -> u32 {
        self.pages.wrapping_sub(self.available())
    }

    /// One past its last byte.
    pub fn end(&self) -> u32 {
        self.address + self.pages * self.page_bytes
    }

    /// L1 address of the back.
    #[inline]
    pub fn write_pointer(&self) -> u32 {
        self.address + self.write_page * self.page_bytes + self.write_shift
    }

    /// L1 address of the front.
    #[inline]
    pub fn read_pointer(&self) -> u32 {
        self.address + self.read_page * self.page_bytes + self.read_shift
    }

    /// L1 address of the back, as a kernel knows it: only the producer's pointer moves.
    pub(crate) fn write_pointer_of(&self, kernel: usize) -> u32 {
        if let Some(pointer) = self.card_write(kernel) {
            return pointer;
        }
        let owner = self.producer.is_none_or(|producer| producer == kernel);
        if owner {
            self.address + self.moved(self.write_page, self.pushed_later) + self.write_shift
        } else {
            self.address
        }
    }

    /// L1 address of the front, as a kernel knows it: only the consumer's pointer moves.
    pub(crate) fn read_pointer_of(&self, kernel: usize) -> u32 {
        if let Some(pointer) = self.card_read(kernel) {
            return pointer;
        }
        let owner = self.consumer.is_none_or(|consumer| consumer == kernel);
        if owner {
            self.address + self.moved(self.read_page, self.popped_later) + self.read_shift
        } else {
            self.address
        }
    }

    /// Offset of the page that is so many pages behind another.
    fn moved(&self, page: u32, pages: u32) -> u32 {
        (page + pages) % self.pages * self.page_bytes
    }

    /// A compiled kernel sets the pointer to the back.
    ///
    /// # Errors
    /// It lies outside, or another kernel produces.
    pub(crate) fn set_write_pointer(&mut self, kernel: usize, address: u32) -> Result<(), FaultKind> {
        if self.set_card(kernel, Some(address), None) {
            return Ok(());
        }
        let owner = self.producer.is_none_or(|producer| producer == kernel);
        (self.write_page, self.write_shift) = self.place_of("fifo_wr_ptr", address, owner)?;
        Ok(())
    }

    /// A compiled kernel sets the pointer to the front.
    ///
    /// # Errors
    /// It lies outside, or another kernel consumes.
    pub(crate) fn set_read_pointer(&mut self, kernel: usize, address: u32) -> Result<(), FaultKind> {
        if self.set_card(kernel, None, Some(address)) {
            return Ok(());
        }
        let owner = self.consumer.is_none_or(|consumer| consumer == kernel);
        (self.read_page, self.read_shift) = self.place_of("fifo_rd_ptr", address, owner)?;
        Ok(())
    }

    /// Page and offset of a pointer.
    fn place_of(&self, name: &str, address: u32, owner: bool) -> Result<(u32, u32), FaultKind> {
        let cb = self.index;
        if !owner {
            let text = format!("{name} of CB {cb} is set by a kernel that neither fills nor empties it there");
            return Err(FaultKind::Unsupported(text));
        }
        let end = self.end();
        if address < self.address || address > end {
            let first = self.address;
            let text = format!("{name} of CB {cb} is set to {address}, outside of the CB ({first} to {end})");
            return Err(FaultKind::Argument(text));
        }
        // One past the end is the beginning, as after the last page.
        let offset = if address == end { 0 } else { address - self.address };
        Ok((offset / self.page_bytes, offset % self.page_bytes))
    }

    pub(crate) fn check_count(&self, pages: u32) -> Result<(), FaultKind> {
        if pages > self.pages {
            return Err(FaultKind::TooManyPages { cb: self.index, wanted: pages, capacity: self.pages });
        }
        Ok(())
    }

    /// A block that is used as one must not cross the end.
    pub(crate) fn check_end(&self, page: u32, pages: u32) -> Result<(), FaultKind> {
        if page + pages > self.pages {
            return Err(FaultKind::PastEnd { cb: self.index, page, pages, capacity: self.pages });
        }
        Ok(())
    }

    /// L1 address of tile `tile` of the front.
    ///
    /// The unpacker counts pages, and takes the first tile of each.
    ///
    /// # Errors
    /// The tile was not waited for, or pages do not hold tiles.
    #[inline]
    pub fn front_tile(&self, kernel: usize, tile: u32) -> Result<u32, FaultKind> {
        self.front(kernel, tile, self.tile_bytes)
    }

    /// L1 address of page `tile` of the front, for so many bytes.
    ///
    /// # Errors
    /// As [`Cb::front_tile`].
    #[inline]
    pub(crate) fn front(&self, kernel: usize, tile: u32, bytes: u32) -> Result<u32, FaultKind> {
        self.check_tiles()?;
        if let Some(pointer) = self.card_read(kernel) {
            return Ok(pointer.wrapping_add(tile.wrapping_mul(self.page_bytes)));
        }
        let end = u64::from(tile) * u64::from(self.page_bytes) + u64::from(bytes);
        if end > u64::from(self.waited) * u64::from(self.page_bytes) {
            let (cb, end_bytes) = (self.index, end.min(u64::from(u32::MAX)) as u32);
            // Of rows of tiles, the last.
            let tile = tile.saturating_add(bytes.div_ceil(self.tile_bytes).saturating_sub(1));
            return Err(FaultKind::TileNotWaitedFor {
                cb,
                tile,
                end_bytes,
                waited: self.waited,
                page_bytes: self.page_bytes,
                counts: self.counts(),
            });
        }
        self.check_end(self.read_page, end.div_ceil(u64::from(self.page_bytes)) as u32)?;
        Ok(self.read_pointer() + tile * self.page_bytes)
    }

    /// What a message about a tile says of pages of several tiles.
    fn counts(&self) -> &'static str {
        if self.page_bytes > self.tile_bytes { "; a page is one tile for unpacker and packer, its first" } else { "" }
    }

    /// L1 address of tile `tile` of the back.
    ///
    /// The packer counts pages, as the unpacker does.
    ///
    /// # Errors
    /// The tile is not reserved, or pages do not hold tiles.
    #[inline]
    pub fn back_tile(&self, kernel: usize, tile: u32) -> Result<u32, FaultKind> {
        self.back(kernel, tile, self.tile_bytes)
    }

    /// L1 address of page `tile` of the back, for so many bytes.
    ///
    /// # Errors
    /// As [`Cb::back_tile`].
    #[inline]
    pub(crate) fn back(&self, kernel: usize, tile: u32, bytes: u32) -> Result<u32, FaultKind> {
        self.check_tiles()?;
        if let Some(pointer) = self.card_write(kernel) {
            return Ok(pointer.wrapping_add(tile.wrapping_mul(self.page_bytes)));
        }
        let end = u64::from(tile) * u64::from(self.page_bytes) + u64::from(bytes);
        if end > u64::from(self.reserved) * u64::from(self.page_bytes) {
            let (cb, end_bytes) = (self.index, end.min(u64::from(u32::MAX)) as u32);
            // Of rows of tiles, the last.
            let tile = tile.saturating_add(bytes.div_ceil(self.tile_bytes).saturating_sub(1));
            return Err(FaultKind::TileNotReserved {
                cb,
                tile,
                end_bytes,
                reserved: self.reserved,
                page_bytes: self.page_bytes,
                counts: self.counts(),
            });
        }
        self.check_end(self.write_page, end.div_ceil(u64::from(self.page_bytes)) as u32)?;
        Ok(self.write_pointer() + tile * self.page_bytes)
    }

    /// The page that lies `tile` pages after the back, if the kernel pushed it and waited for it: both ends are its own.
    pub(crate) fn own_page(&self, kernel: usize, tile: u32) -> Option<u32> {
        let page = self.write_page.checked_add(tile).filter(|&page| page < self.pages)?;
        let front = (page + self.pages - self.read_page) % self.pages;
        let own = self.producer == Some(kernel) && self.consumer.is_none_or(|consumer| consumer == kernel);
        (own && front < self.waited && self.write_shift == 0).then_some(page)
    }

    pub(crate) fn check_tiles(&self) -> Result<(), FaultKind> {
        if self.shape.is_none() {
            let (height, width) = self.tile;
            let text = format!("CB {}: the hardware has no tiles of {height}x{width}", self.index);
            return Err(FaultKind::Argument(text));
        }
        if !self.page_bytes.is_multiple_of(self.tile_bytes) {
            let Self { index: cb, format, tile_bytes, page_bytes, .. } = *self;
            return Err(FaultKind::PageNoTile { cb, format, tile_bytes, page_bytes });
        }
        Ok(())
    }
}
