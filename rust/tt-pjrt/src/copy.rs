//! Copies between arrays of any strides.

use std::ptr;

use crate::types::TensorType;

/// A dimension that a copy walks over: its size and the strides of source and destination.
#[derive(Clone, Copy)]
struct Axis {
    count: usize,
    from: isize,
    to: isize,
}

/// Copies every element of an array to an array of the same shape.
///
/// # Safety
/// The pointers are those of the first elements (index 0 in each dimension). With these strides, `from` is readable and
/// `to` is writable at every index; the two do not overlap.
pub(crate) unsafe fn copy(
    tensor: &TensorType,
    (from, from_strides): (*const u8, &[i64]),
    (to, to_strides): (*mut u8, &[i64]),
) {
    if tensor.dims.contains(&0) {
        return;
    }
    let axes = tensor.dims.iter().zip(from_strides.iter().zip(to_strides));
    let mut axes: Vec<Axis> = axes
        .filter(|(dim, _)| **dim != 1)
        .map(|(&dim, (&from, &to))| Axis { count: dim as usize, from: from as isize, to: to as isize })
        .collect();
    // The innermost dimensions that are dense on both sides are one run of bytes.
    let mut run = tensor.element.bytes;
    while axes.last().is_some_and(|axis| axis.from == run as isize && axis.to == run as isize) {
        run *= axes.pop().map_or(1, |axis| axis.count);
    }
    let inner = axes.pop().unwrap_or(Axis { count: 1, from: 0, to: 0 });
    let mut index = vec![0; axes.len()];
    let (mut from, mut to) = (from, to);
    loop {
        // SAFETY: `from` and `to` are elements of index 0 in the inner dimension.
        unsafe { copy_line(inner, run, from, to) };
        let mut dim = axes.len();
        loop {
            if dim == 0 {
                return;
            }
            dim -= 1;
            let axis = axes[dim];
            index[dim] += 1;
            (from, to) = (from.wrapping_offset(axis.from), to.wrapping_offset(axis.to));
            if index[dim] < axis.count {
                break;
            }
            let back = -(axis.count as isize);
            (from, to) = (from.wrapping_offset(axis.from * back), to.wrapping_offset(axis.to * back));
            index[dim] = 0;
        }
    }
}

/// Copies the runs of one dimension.
///
/// # Safety
/// As [`copy`].
unsafe fn copy_line(axis: Axis, run: usize, from: *const u8, to: *mut u8) {
    match run {
        // SAFETY: that of the caller.
        1 => unsafe { copy_runs::<1>(axis, from, to) },
        // SAFETY: that of the caller.
        2 => unsafe { copy_runs::<2>(axis, from, to) },
        // SAFETY: that of the caller.
        4 => unsafe { copy_runs::<4>(axis, from, to) },
        // SAFETY: that of the caller.
        8 => unsafe { copy_runs::<8>(axis, from, to) },
        // SAFETY: that of the caller.
        16 => unsafe { copy_runs::<16>(axis, from, to) },
        _ => {
            for index in 0..axis.count as isize {
                let (from, to) = (from.wrapping_offset(axis.from * index), to.wrapping_offset(axis.to * index));
                // SAFETY: that of the caller.
                unsafe { ptr::copy_nonoverlapping(from, to, run) };
            }
        }
    }
}

/// Copies runs of a size that the compiler knows.
///
/// # Safety
/// As [`copy`].
unsafe fn copy_runs<const RUN: usize>(axis: Axis, from: *const u8, to: *mut u8) {
    for index in 0..axis.count as isize {
        let (from, to) = (from.wrapping_offset(axis.from * index), to.wrapping_offset(axis.to * index));
        // SAFETY: that of the caller.
        unsafe { ptr::copy_nonoverlapping(from, to, RUN) };
    }
}
