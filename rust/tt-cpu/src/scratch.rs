//! Scratch memory of an operation.
//!
//! The host is asked for large pages: panels and sums are walked over again and again, and with pages of 4 KiB much of
//! that time would go into translating addresses.
use memmap2::{MmapMut, MmapOptions};

use crate::arena::ArenaError;

/// What the start is aligned to: a large page of the usual hosts.
const ALIGNMENT: usize = 2 << 20;

/// Zeroed bytes, aligned to 2 MiB.
#[derive(Debug)]
pub struct Scratch {
    map: MmapMut,
    start: usize,
    len: usize,
}

impl Scratch {
    /// Reserves `len` bytes; none is resident before it is touched.
    ///
    /// # Errors
    /// [`ArenaError::Reserve`] if the host has no such address range left or forbids overcommitment.
    pub fn reserve(len: usize) -> Result<Self, ArenaError> {
        let whole = len.max(1).saturating_add(ALIGNMENT);
        let map = MmapOptions::new().len(whole).no_reserve_swap().map_anon().map_err(|error| ArenaError::Reserve {
            bytes: whole as u64,
            os_error: error.raw_os_error().unwrap_or(0),
        })?;
        let start = map.as_ptr().align_offset(ALIGNMENT).min(ALIGNMENT);
        // Advice about host memory: where it is not understood, only time is lost.
        #[cfg(target_os = "linux")]
        let _ = map.advise_range(memmap2::Advice::HugePage, start, len);
        Ok(Self { map, start, len })
    }

    /// Number of bytes.
    #[allow(clippy::len_without_is_empty, reason = "a size, not a collection")]
    pub fn len(&self) -> usize {
        self.len
    }

    /// The bytes, as the last user left them.
    pub fn bytes(&mut self) -> &mut [u8] {
        &mut self.map[self.start..self.start + self.len]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_zero_aligned_and_kept() {
        let mut scratch = Scratch::reserve((3 << 20) + 5).expect("address space");
        assert_eq!(scratch.bytes().len(), (3 << 20) + 5);
        assert!(scratch.bytes().iter().all(|&byte| byte == 0));
        assert!(scratch.bytes().as_ptr().addr().is_multiple_of(ALIGNMENT));
        scratch.bytes()[3 << 20] = 7;
        assert_eq!(scratch.bytes()[3 << 20], 7);
        assert!(Scratch::reserve(usize::MAX).is_err());
    }

    #[test]
    fn nothing_can_be_reserved() {
        assert!(Scratch::reserve(0).expect("address space").bytes().is_empty());
    }
}
