//! Memory access of a running operator.
//!
//! Any page of any buffer for reading, pages of its outputs for writing.
//!
//! Worker threads share one [`Access`]. Pages are handed out as slices of the device's own memory, nothing is copied.
use std::ops::Range;

use tt_cpu::arena::{ArenaError, Reader, Stripe, Writer};

use crate::buffer::{Buffer, BufferId, PageLocation, PageMap};
use crate::device::{Device, Memory, find};
use crate::error::{MemoryError, Notice};
use crate::joined::{JoinedPages, bytes_of_each, join};

/// Write stripes in DRAM and in L1.
type Stripes = (Vec<Stripe>, Vec<Stripe>);
/// Outputs with the number of their write stripe.
type Roles = Box<[(BufferId, usize)]>;

/// Readable and writable parts of the banks of one kind.
#[derive(Debug)]
struct Banks<'a> {
    reader: Reader<'a>,
    writer: Writer<'a>,
}

/// The device's memory during one operation.
#[derive(Debug)]
pub struct Access<'a> {
    device: u64,
    chip: usize,
    own: bool,
    buffers: &'a [Option<Buffer>],
    dram: Banks<'a>,
    l1: Banks<'a>,
    outputs: Roles,
    notice: Option<&'a Notice>,
}

/// Pages of a buffer that is only read.
#[derive(Debug, Clone, Copy)]
pub struct Input<'a> {
    buffer: &'a Buffer,
    chip: usize,
    reader: &'a Reader<'a>,
    notice: Option<&'a Notice>,
}

/// Written pages of a buffer, each claimed once.
#[derive(Debug, Clone, Copy)]
pub struct Output<'a> {
    buffer: &'a Buffer,
    chip: usize,
    writer: &'a Writer<'a>,
    stripe: usize,
}

impl Device {
    /// Opens the current chip's memory for one operation that writes `outputs`.
    ///
    /// It may read everything else.
    ///
    /// # Errors
    /// A buffer that is deallocated or of another device; a closed device; an output that is named twice.
    pub fn access(&mut self, outputs: &[BufferId]) -> Result<Access<'_>, MemoryError> {
        let (stripes, roles) = self.stripes(outputs)?;
        let notice = self.notice();
        let (device, chip, buffers) = (self.device_id(), self.current, &self.buffers[..]);
        let own = self.own[chip];
        let notice = notice.then_some(&self.unwritten);
        let (dram, l1) = self.memories[chip].split(&stripes)?;
        Ok(Access { device, chip, own, buffers, dram, l1, outputs: roles, notice })
    }

    /// Opens every chip's memory for one operation.
    ///
    /// The accesses are in the order of the chips. The operation writes `outputs`; it may read everything else, on every
    /// chip.
    ///
    /// # Errors
    /// As [`Device::access`].
    pub fn access_all(&mut self, outputs: &[BufferId]) -> Result<Vec<Access<'_>>, MemoryError> {
        let (stripes, roles) = self.stripes(outputs)?;
        let notice = self.notice();
        let (device, buffers) = (self.device_id(), &self.buffers[..]);
        let notice = notice.then_some(&self.unwritten);
        let mut all = Vec::with_capacity(self.memories.len());
        for (chip, (memory, &own)) in self.memories.iter_mut().zip(&self.own).enumerate() {
            let (dram, l1) = memory.split(&stripes)?;
            all.push(Access { device, chip, own, buffers, dram, l1, outputs: roles.clone(), notice });
        }
        Ok(all)
    }

    /// Returns true if a read of unwritten pages is to be noticed: after the first one nobody asks any more.
    fn notice(&self) -> bool {
        self.watched && self.unwritten.get().is_none()
    }

    /// Returns the write stripes of outputs, in DRAM and L1, and the number of each output's stripe.
    fn stripes(&self, outputs: &[BufferId]) -> Result<(Stripes, Roles), MemoryError> {
        self.require_open()?;
        let (mut dram, mut l1, mut roles) = (Vec::new(), Vec::new(), Vec::with_capacity(outputs.len()));
        for (index, &id) in outputs.iter().enumerate() {
            let buffer = self.buffer(id)?;
            if outputs[..index].contains(&id) {
                return Err(MemoryError::Role { buffer: id, output: true });
            }
            let stripes = if buffer.buffer_type().in_dram() { &mut dram } else { &mut l1 };
            roles.push((id, stripes.len()));
            let stripe = |bank, address: u64| Stripe {
                bank,
                offset_bytes: address as usize,
                len_bytes: buffer.bytes_per_bank() as usize,
                unit_bytes: buffer.aligned_page_bytes(),
            };
            if buffer.own.is_some() {
                stripes.extend(buffer.own_addresses().map(|(bank, address)| stripe(Some(bank), address)));
            } else {
                stripes.push(stripe(None, buffer.address()));
            }
        }
        Ok(((dram, l1), roles.into()))
    }
}

impl Memory {
    /// Divides it for the time of one operation that writes stripes.
    fn split(&mut self, (dram, l1): &Stripes) -> Result<(Banks<'_>, Banks<'_>), MemoryError> {
        let (reader, writer) = self.dram.split(dram)?;
        let dram = Banks { reader, writer };
        let (reader, writer) = self.l1.split(l1)?;
        Ok((dram, Banks { reader, writer }))
    }
}

impl Access<'_> {
    /// The place of the chip in its mesh.
    pub fn chip(&self) -> usize {
        self.chip
    }

    /// Returns true if this process computes for the chip.
    pub fn is_own(&self) -> bool {
        self.own
    }

    /// A buffer by its name.
    ///
    /// # Errors
    /// [`MemoryError::Deallocated`], [`MemoryError::OtherDevice`].
    pub fn buffer(&self, id: BufferId) -> Result<&Buffer, MemoryError> {
        if id.device != self.device {
            return Err(MemoryError::OtherDevice { buffer: id });
        }
        find(self.buffers, id)
    }

    /// The pages of a buffer that is not an output.
    ///
    /// # Errors
    /// [`MemoryError::Role`] for an output; unknown buffers.
    pub fn input(&self, id: BufferId) -> Result<Input<'_>, MemoryError> {
        let buffer = self.buffer(id)?;
        if self.outputs.iter().any(|&(output, _)| output == id) {
            return Err(MemoryError::Role { buffer: id, output: true });
        }
        Ok(Input { buffer, chip: self.chip, reader: &self.banks(buffer).reader, notice: self.notice })
    }

    /// The pages of an output.
    ///
    /// # Errors
    /// [`MemoryError::Role`] for a buffer that was not named as an output; unknown buffers.
    pub fn output(&self, id: BufferId) -> Result<Output<'_>, MemoryError> {
        let buffer = self.buffer(id)?;
        let role = self.outputs.iter().find(|&&(output, _)| output == id);
        let &(_, stripe) = role.ok_or(MemoryError::Role { buffer: id, output: false })?;
        Ok(Output { buffer, chip: self.chip, writer: &self.banks(buffer).writer, stripe })
    }

    /// Page `page` of an input, for single pages.
    ///
    /// Loops ask for [`Access::input`] once.
    ///
    /// # Errors
    /// Those of [`Access::input`] and [`Input::page`].
    pub fn page(&self, id: BufferId, page: usize) -> Result<&[u8], MemoryError> {
        self.input(id)?.page(page)
    }

    /// Page `page` of an output, for single pages.
    ///
    /// Loops ask for [`Access::output`] once.
    ///
    /// # Errors
    /// Those of [`Access::output`] and [`Output::claim`].
    #[allow(clippy::mut_from_ref, reason = "each page is handed out once")]
    pub fn claim(&self, id: BufferId, page: usize) -> Result<&mut [u8], MemoryError> {
        self.output(id)?.claim(page)
    }

    fn banks(&self, buffer: &Buffer) -> &Banks<'_> {
        if buffer.buffer_type().in_dram() { &self.dram } else { &self.l1 }
    }
}

impl<'a> Input<'a> {
    /// The buffer itself.
    pub fn buffer(&self) -> &'a Buffer {
        self.buffer
    }

    /// The data bytes of a page.
    ///
    /// One that nobody has written is read as it is, and noticed while the device is watched: see
    /// [`Device::take_unwritten_read`].
    ///
    /// # Errors
    /// [`MemoryError::PageOutOfRange`].
    #[inline]
    pub fn page(&self, page: usize) -> Result<&'a [u8], MemoryError> {
        if let Some(notice) = self.notice
            && page < self.buffer.num_pages()
            && !self.buffer.is_written(self.chip, page)
        {
            self.take_note(notice);
        }
        self.peek(page)
    }

    /// Keeps which buffer is read without having been written.
    #[cold]
    fn take_note(&self, notice: &Notice) {
        if let Err(unwritten) = self.buffer.require_written(self.chip) {
            notice.get_or_init(|| unwritten);
        }
    }

    /// The data bytes of a page, written or not; see [`Buffer::require_written`].
    ///
    /// # Errors
    /// [`MemoryError::PageOutOfRange`].
    #[inline]
    pub fn peek(&self, page: usize) -> Result<&'a [u8], MemoryError> {
        let PageLocation { bank, address, .. } = self.buffer.locate(page)?;
        Ok(self.reader.bytes(bank, address as usize, self.buffer.page_bytes())?)
    }
}

impl<'a> Input<'a> {
    /// All pages at once, for loops where finding pages costs time.
    ///
    /// Whether they were written is asked here, and a page is then a step in its bank.
    ///
    /// # Errors
    /// Ranges that are being written.
    pub fn all(&self) -> Result<Pages<'a>, MemoryError> {
        let buffer = self.buffer;
        if let Some(notice) = self.notice {
            self.take_note(notice);
        }
        if !matches!(buffer.map, PageMap::Interleaved) {
            let pages = (0..buffer.num_pages()).map(|page| self.peek(page)).collect::<Result<_, _>>()?;
            return Ok(Pages { banks: pages, stride: 0, page_bytes: buffer.page_bytes() });
        }
        let (count, stride) = (buffer.bank_count.min(buffer.num_pages()), buffer.aligned_page_bytes());
        let bank = |bank: usize| {
            let slots = (buffer.num_pages() - bank).div_ceil(buffer.bank_count);
            let bytes = (slots - 1) * stride + buffer.page_bytes();
            self.reader.bytes(bank, buffer.address() as usize, bytes)
        };
        let banks = (0..count).map(bank).collect::<Result<_, _>>()?;
        Ok(Pages { banks, stride, page_bytes: buffer.page_bytes() })
    }
}

/// Every page of a buffer that is only read; see [`Input::all`].
#[derive(Debug)]
pub struct Pages<'a> {
    /// What the buffer has in each bank; or a page each, with a stride of 0.
    banks: Box<[&'a [u8]]>,
    stride: usize,
    page_bytes: usize,
}

impl<'a> Pages<'a> {
    /// Difference of the numbers of successive pages in host memory.
    ///
    /// 1 if it is not constant.
    #[inline]
    pub fn stride(&self) -> usize {
        if self.stride == 0 { 1 } else { self.banks.len() }
    }

    /// Number of banks and bytes of gapless page runs, if any.
    pub fn gapless(&self) -> Option<(usize, usize)> {
        (self.stride == self.page_bytes).then_some((self.banks.len(), self.page_bytes))
    }

    /// Returns each bank's range of some pages, with gaps.
    ///
    /// The first page's bank comes first.
    ///
    /// # Panics
    /// If the buffer does not have these pages, or its pages follow no rule.
    pub fn banks(&self, pages: Range<usize>) -> impl Iterator<Item = &'a [u8]> {
        assert!(self.stride > 0, "pages that follow a rule");
        let count = self.banks.len();
        pages.clone().take(count).map(move |page| {
            let (bank, slot, pages) = (page % count, page / count, (pages.end - page).div_ceil(count));
            &self.banks[bank][slot * self.stride..][..(pages - 1) * self.stride + self.page_bytes]
        })
    }

    /// Copies the first bytes of some pages, one after the other.
    ///
    /// As many of each as fill `to`.
    ///
    /// # Panics
    /// If the buffer does not have these pages, the pages do not have so many bytes, or not as many each.
    pub fn read(&self, pages: Range<usize>, to: &mut [u8]) {
        if self.stride > 0 {
            let (banks, count) = (self.banks.len().min(pages.len()), pages.len());
            return join(self.banks(pages), (banks, self.stride), count, to);
        }
        let bytes = bytes_of_each(to.len(), pages.len());
        for (page, part) in pages.zip(to.chunks_exact_mut(bytes)) {
            part.copy_from_slice(&self.page(page)[..bytes]);
        }
    }

    /// The data bytes of a page.
    ///
    /// # Panics
    /// If the buffer has no such page.
    #[inline]
    pub fn page(&self, page: usize) -> &'a [u8] {
        // Buffers have fewer than 2^32 pages; this division is much quicker than that of 64 bits.
        let (page, banks) = (page as u32, self.banks.len() as u32);
        let (bank, slot) = (page % banks, page / banks);
        &self.banks[bank as usize][slot as usize * self.stride..][..self.page_bytes]
    }

    /// The page `first` and its equidistant successors, without divisions.
    ///
    /// Their numbers have a constant difference. To be read as many as there are.
    ///
    /// # Panics
    /// If a page is taken that the buffer does not have.
    pub fn every(&self, first: usize, difference: usize) -> impl Iterator<Item = &'a [u8]> {
        let banks = self.banks.len();
        let (mut bank, mut offset) = (first % banks, first / banks * self.stride);
        let (by_bank, by_offset) = (difference % banks, difference / banks * self.stride);
        std::iter::repeat_with(move || {
            let page = &self.banks[bank][offset..offset + self.page_bytes];
            (bank, offset) = (bank + by_bank, offset + by_offset);
            if bank >= banks {
                (bank, offset) = (bank - banks, offset + self.stride);
            }
            page
        })
    }
}

impl<'a> Output<'a> {
    /// The buffer itself.
    pub fn buffer(&self) -> &'a Buffer {
        self.buffer
    }

    /// The data bytes of a page, exclusively, with their old contents.
    ///
    /// From now on the page counts as written.
    ///
    /// # Errors
    /// [`MemoryError::ClaimedTwice`], [`MemoryError::PageOutOfRange`].
    #[inline]
    pub fn claim(&self, page: usize) -> Result<&'a mut [u8], MemoryError> {
        let PageLocation { bank, slot, .. } = self.buffer.locate(page)?;
        let stripe = self.stripe + self.buffer.own_before(bank);
        let unit = self.writer.claim(stripe, bank, slot).map_err(|error| self.refused(error, page))?;
        self.buffer.mark_written(self.chip, page);
        Ok(&mut unit[..self.buffer.page_bytes()])
    }

    /// Pages that follow each other, claimed together.
    ///
    /// Finding and claiming single ones shows in short loops.
    ///
    /// # Errors
    /// As [`Self::claim`], with the first page of a bank that cannot be had.
    pub fn claim_run(&self, pages: Range<usize>) -> Result<PageRun<'a>, MemoryError> {
        let stride = self.buffer.aligned_page_bytes();
        let banks = self.claim_banks(pages)?.into_iter().map(|run| run.chunks_mut(stride)).collect();
        Ok(PageRun { banks, next: 0, page_bytes: self.buffer.page_bytes() })
    }

    /// [`Self::claim_run`] as one piece of bytes, for pages of a few bytes.
    ///
    /// # Errors
    /// As [`Self::claim_run`].
    pub fn claim_joined(&self, pages: Range<usize>) -> Result<JoinedPages<'a>, MemoryError> {
        let (stride, count) = (self.buffer.aligned_page_bytes(), pages.len());
        Ok(JoinedPages { banks: self.claim_banks(pages)?, stride, count })
    }

    /// Number of banks and bytes of gapless page runs, if any.
    pub fn gapless(&self) -> Option<(usize, usize)> {
        let buffer = self.buffer;
        let gapless = matches!(buffer.map, PageMap::Interleaved) && buffer.page_bytes() == buffer.aligned_page_bytes();
        gapless.then_some((buffer.bank_count.min(buffer.num_pages()), buffer.page_bytes()))
    }

    /// [`Self::claim_run`] as each bank's part of the pages.
    ///
    /// The first page's bank first; gaps between pages are in it.
    ///
    /// # Errors
    /// As [`Self::claim_run`].
    pub fn claim_banks(&self, pages: Range<usize>) -> Result<Vec<&'a mut [u8]>, MemoryError> {
        let (buffer, count) = (self.buffer, pages.len());
        if pages.is_empty() {
            return Ok(Vec::new());
        }
        buffer.locate(pages.end - 1)?;
        let apart = if matches!(buffer.map, PageMap::Interleaved) { buffer.bank_count } else { count };
        let bank = |page: usize| {
            let PageLocation { bank, slot, .. } = buffer.locate(page)?;
            let units = slot..slot + (pages.end - page).div_ceil(apart);
            let stripe = self.stripe + buffer.own_before(bank);
            self.writer.claim_run(stripe, bank, units).map_err(|error| self.refused(error, page))
        };
        let banks = pages.clone().take(apart).map(bank).collect::<Result<_, MemoryError>>()?;
        buffer.mark_all_written(self.chip, pages);
        Ok(banks)
    }

    fn refused(&self, error: ArenaError, page: usize) -> MemoryError {
        match error {
            ArenaError::Claim { .. } => MemoryError::ClaimedTwice { buffer: self.buffer.id(), page },
            other => MemoryError::Arena(other),
        }
    }
}

/// The pages of [`Output::claim_run`] in their order, each as [`Output::claim`] gives it.
#[derive(Debug)]
pub struct PageRun<'a> {
    /// What each bank has of them, the first page's bank first.
    banks: Vec<std::slice::ChunksMut<'a, u8>>,
    /// Number of the next bank.
    next: usize,
    page_bytes: usize,
}

impl<'a> Iterator for PageRun<'a> {
    type Item = &'a mut [u8];

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let page = self.banks.get_mut(self.next)?.next()?;
        self.next = if self.next + 1 == self.banks.len() { 0 } else { self.next + 1 };
        Some(&mut page[..self.page_bytes])
    }
}
