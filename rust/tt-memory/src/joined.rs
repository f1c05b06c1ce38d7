//! Consecutive pages as one piece of bytes.
//!
//! Rows of a few datums, of which a tile has room for many.
//!
//! They are copied bank by bank, since finding each of a thousand pages would take longer than computing with it.

/// Pages that were claimed together, by `Output::claim_joined`.
#[derive(Debug)]
pub struct JoinedPages<'a> {
    /// What each bank has of them, the first page's bank first; gaps between pages are in it.
    pub(crate) banks: Vec<&'a mut [u8]>,
    /// From a page to the next one of its bank.
    pub(crate) stride: usize,
    /// How many pages.
    pub(crate) count: usize,
}

impl JoinedPages<'_> {
    /// Copies the first bytes of the pages, one after the other.
    ///
    /// As many of each as fill `to`.
    ///
    /// # Panics
    /// If the pages do not have so many, or not as many each.
    pub fn read(&self, to: &mut [u8]) {
        join(self.banks.iter().map(|bank| &**bank), (self.banks.len(), self.stride), self.count, to);
    }

    /// Writes to the beginnings of pages, until `from` is used up.
    ///
    /// One page after the other, as many bytes to each.
    ///
    /// # Panics
    /// If the pages do not have so many, or not as many each.
    pub fn write(&mut self, from: &[u8]) {
        let bytes = bytes_of_each(from.len(), self.count);
        let apart = self.banks.len() * bytes;
        for (number, bank) in self.banks.iter_mut().enumerate() {
            let parts = from[number * bytes..].chunks(apart);
            let pages = bank.chunks_mut(self.stride);
            match bytes {
                2 => pages.zip(parts).for_each(|(page, part)| page[..2].copy_from_slice(&part[..2])),
                4 => pages.zip(parts).for_each(|(page, part)| page[..4].copy_from_slice(&part[..4])),
                _ => pages.zip(parts).for_each(|(page, part)| page[..bytes].copy_from_slice(&part[..bytes])),
            }
        }
    }
}

/// Copies `pages` pages of some banks, one page of each bank in turn: how many banks, and from page to page in a bank.
pub(crate) fn join<'a>(
    banks: impl Iterator<Item = &'a [u8]>,
    (count, stride): (usize, usize),
    pages: usize,
    to: &mut [u8],
) {
    let bytes = bytes_of_each(to.len(), pages);
    for (number, bank) in banks.enumerate() {
        let parts = to[number * bytes..].chunks_mut(count * bytes);
        let pages = bank.chunks(stride);
        match bytes {
            2 => parts.zip(pages).for_each(|(part, page)| part[..2].copy_from_slice(&page[..2])),
            4 => parts.zip(pages).for_each(|(part, page)| part[..4].copy_from_slice(&page[..4])),
            _ => parts.zip(pages).for_each(|(part, page)| part[..bytes].copy_from_slice(&page[..bytes])),
        }
    }
}

/// How many bytes of each page so many are.
pub(crate) fn bytes_of_each(bytes: usize, pages: usize) -> usize {
    assert!(bytes > 0 && bytes.is_multiple_of(pages), "as many bytes of each page");
    bytes / pages
}
