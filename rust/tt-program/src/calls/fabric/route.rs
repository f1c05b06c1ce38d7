//! Ways of packets: directions, and the chips that a route reaches.

use super::header::Route;
use crate::error::{Fault, FaultKind};
use crate::state::Run;
use crate::state::fabric::{FabricSpec, NO_CHIP, Node};

/// Rows and columns of a hop: east, west, north, south.
const STEPS: [(isize, isize); 4] = [(0, 1), (0, -1), (-1, 0), (1, 0)];

impl Run {
    /// Direction of the first hop to a chip of the fabric.
    ///
    /// # Errors
    /// There is no such chip; it is this one.
    pub fn fabric_direction(&mut self, mesh: u32, device: u32) -> Result<u32, Fault> {
        self.checked("fabric direction", |run| {
            run.require_data_movement()?;
            run.book(run.time.risc().l1_load);
            node(&run.fabric()?.spec, mesh, device)?.direction.ok_or_else(|| {
                FaultKind::Argument(format!("device {device} of mesh {mesh} is this chip; no direction leads to it"))
            })
        })
    }

    /// Chips that a route reaches over a link, with their distance.
    pub(super) fn destinations(&mut self, link: u32, route: &Route) -> Result<Vec<(usize, u32)>, FaultKind> {
        let spec = &self.fabric()?.spec;
        let line = spec.connections.get(&link).map_or(&[][..], |line| &line.chips);
        let at = |hops: u32| {
            let chip = hops.checked_sub(1).and_then(|index| line.get(index as usize));
            chip.map(|&chip| (chip, hops)).ok_or_else(|| {
                let ends = line.len();
                let text = format!("a packet goes {hops} hops over connection {link}, which has {ends} chips");
                FaultKind::Argument(text)
            })
        };
        let chips: Vec<(usize, u32)> = match *route {
            Route::Line { start, chips } => (start..start + chips).map(at).collect::<Result<_, _>>()?,
            Route::Mask(mask) => {
                (0..64).filter(|bit| mask >> bit & 1 == 1).map(|bit| at(bit + 1)).collect::<Result<_, _>>()?
            }
            Route::Device { mesh, device } => vec![displaced(spec, link, mesh, device)?],
            Route::Rectangle { east, west, north, south } => rectangle(spec, [east, west, north, south])?,
        };
        if chips.iter().any(|&(chip, _)| chip == NO_CHIP) {
            let text = "a packet goes to a chip that the open mesh does not have".to_owned();
            return Err(FaultKind::Argument(text));
        }
        Ok(chips)
    }
}

/// A chip of the fabric.
fn node(spec: &FabricSpec, mesh: u32, device: u32) -> Result<Node, FaultKind> {
    spec.devices.get(&(mesh, device)).copied().ok_or_else(|| {
        let count = spec.devices.len();
        FaultKind::Argument(format!("there is no device {device} in mesh {mesh}; the fabric has {count} devices"))
    })
}

/// The chip that a packet to a device reaches over a link.
///
/// The header has the hops that follow the first one. Over a link of another direction than that of the first hop the
/// packet starts elsewhere, and ends so much beside the device.
fn displaced(spec: &FabricSpec, link: u32, mesh: u32, device: u32) -> Result<(usize, u32), FaultKind> {
    let target = node(spec, mesh, device)?;
    let Some(first) = target.direction else { return Ok((target.chip, target.hops)) };
    let taken = spec.connections.get(&link).map_or(first, |line| line.direction);
    if taken == first {
        return Ok((target.chip, target.hops));
    }
    let (rows, columns) = spec.grid;
    let (meant, over) = (STEPS[first as usize % 4], STEPS[taken as usize % 4]);
    let beside = |at: usize, step: isize, size: usize, wraps: bool| {
        let moved = at as isize + step;
        let moved = if wraps { moved.rem_euclid(size as isize) } else { moved };
        usize::try_from(moved).ok().filter(|&moved| moved < size)
    };
    let number = device as usize;
    let row = beside(number / columns, over.0 - meant.0, rows, spec.wraps.0);
    let column = beside(number % columns, over.1 - meant.1, columns, spec.wraps.1);
    let (Some(row), Some(column)) = (row, column) else {
        return Err(FaultKind::Argument(format!(
            "a packet to device {device} of mesh {mesh} is sent over connection {link} in direction {taken}, but the \
             first hop of its route is in direction {first}; from there it leaves the mesh of {rows}x{columns} chips"
        )));
    };
    node(spec, mesh, (row * columns + column) as u32).map(|other| (other.chip, target.hops))
}

/// The chips around this one, up to distances to the east, west, north and south.
fn rectangle(spec: &FabricSpec, distances: [u32; 4]) -> Result<Vec<(usize, u32)>, FaultKind> {
    let (rows, columns) = spec.grid;
    let (y, x) = spec.node;
    let [east, west, north, south] = distances.map(|hops| hops as usize);
    if north > y || y + south >= rows || west > x || x + east >= columns {
        return Err(FaultKind::Argument(format!(
            "a multicast of {east} chips to the east, {west} west, {north} north and {south} south leaves the mesh of \
             {rows}x{columns} chips"
        )));
    }
    let all = (y - north..=y + south).flat_map(|row| (x - west..=x + east).map(move |column| (row, column)));
    let others = all.filter(|&place| place != (y, x));
    others
        .map(|(row, column)| node(spec, 0, (row * columns + column) as u32).map(|node| (node.chip, node.hops)))
        .collect()
}
