//! Sets of chips of a mesh, by their places in it.

use tt_memory::{Device, MemoryError};

/// Most chips of one mesh.
pub const MAX_CHIPS: usize = 64;

/// Chips of a mesh, one bit for each place in row-major order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chips(u64);

impl Chips {
    /// The first chips of a mesh; at most [`MAX_CHIPS`].
    pub fn first_of(count: usize) -> Self {
        Self(if count >= MAX_CHIPS { u64::MAX } else { (1 << count) - 1 })
    }

    /// The chips at these places.
    ///
    /// None if there is no place, or one beyond [`MAX_CHIPS`].
    pub fn at(places: &[usize]) -> Option<Self> {
        let bit = |&place: &usize| (place < MAX_CHIPS).then(|| 1u64 << place);
        let bits = places.iter().map(bit).try_fold(0, |bits, bit| Some(bits | bit?))?;
        (bits != 0).then_some(Self(bits))
    }

    /// The chips of both sets; None if there are none.
    pub fn and(self, other: Self) -> Option<Self> {
        let bits = self.0 & other.0;
        (bits != 0).then_some(Self(bits))
    }

    /// Runs work on each of them that this process computes for.
    ///
    /// # Errors
    /// That of the work, or the device has no such chip.
    pub fn each<E: From<MemoryError>>(
        self,
        device: &mut Device,
        mut work: impl FnMut(&mut Device) -> Result<(), E>,
    ) -> Result<(), E> {
        self.places().try_for_each(|chip| {
            if chip < device.chips() && !device.owns(chip) {
                return Ok(());
            }
            device.select(chip)?;
            work(device)
        })
    }

    /// Returns true if all of these are in another set.
    pub fn are_in(self, other: Self) -> bool {
        self.0 & !other.0 == 0
    }

    /// The first place.
    pub fn first(self) -> usize {
        self.0.trailing_zeros() as usize
    }

    /// The places, in order.
    pub fn places(self) -> impl Iterator<Item = usize> {
        let mut bits = self.0;
        std::iter::from_fn(move || {
            let place = bits.trailing_zeros() as usize;
            bits &= bits.wrapping_sub(1);
            (place < MAX_CHIPS).then_some(place)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_have_places_in_order() {
        let chips = Chips::at(&[5, 0, 63]).expect("places");
        assert_eq!(chips.places().collect::<Vec<_>>(), [0, 5, 63]);
        assert_eq!(chips.and(Chips::first_of(6)).map(|both| both.places().collect::<Vec<_>>()), Some(vec![0, 5]));
        assert_eq!(Chips::first_of(64).places().count(), 64);
        assert!(Chips::at(&[]).is_none() && Chips::at(&[64]).is_none());
        assert!(Chips::first_of(2).are_in(Chips::first_of(3)) && !chips.are_in(Chips::first_of(8)));
    }
}
