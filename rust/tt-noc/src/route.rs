//! Dimension-ordered routes on the two tori. Source: `docs/chip/noc.md` section 1.

use tt_memory::chip::Grid;

use crate::layout::Node;

/// One of the two networks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum NocId {
    /// East, then south.
    Noc0,
    /// North, then west.
    Noc1,
}

impl NocId {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Noc0, Self::Noc1];

    /// Network of a number.
    pub const fn from_number(number: u8) -> Option<Self> {
        match number {
            0 => Some(Self::Noc0),
            1 => Some(Self::Noc1),
            _ => None,
        }
    }
}

/// The two outgoing links of a router.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Axis {
    /// Along the row: east on NoC 0, west on NoC 1.
    X,
    /// Along the column: south on NoC 0, north on NoC 1.
    Y,
}

/// A link between two routers: the one that leaves `from` along `axis`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Link {
    /// The router it leaves.
    pub from: Node,
    /// Its direction.
    pub axis: Axis,
}

/// The links between two nodes, in packet order.
#[derive(Debug, Clone)]
pub struct Route {
    noc: NocId,
    grid: Grid,
    at: Node,
    to: Node,
}

impl Route {
    /// The only route of a network between two nodes of a grid.
    ///
    /// # Panics
    /// If a node lies outside the grid.
    pub fn new(noc: NocId, grid: Grid, from: Node, to: Node) -> Self {
        let inside = |node: Node| node.x < grid.x && node.y < grid.y;
        assert!(inside(from) && inside(to), "{from:?} to {to:?} leaves the grid {grid:?}");
        Self { noc, grid, at: from, to }
    }

    /// Hops still to go.
    pub fn hops(&self) -> u32 {
        let (ahead, behind) = match self.noc {
            NocId::Noc0 => (self.to, self.at),
            NocId::Noc1 => (self.at, self.to),
        };
        (ahead.x + self.grid.x - behind.x) % self.grid.x + (ahead.y + self.grid.y - behind.y) % self.grid.y
    }
}

impl Iterator for Route {
    type Item = Link;

    #[inline]
    fn next(&mut self) -> Option<Link> {
        let (along_x, along_y) = (self.at.x != self.to.x, self.at.y != self.to.y);
        let from = self.at;
        match self.noc {
            NocId::Noc0 if along_x => self.at.x = if from.x + 1 == self.grid.x { 0 } else { from.x + 1 },
            NocId::Noc0 if along_y => self.at.y = if from.y + 1 == self.grid.y { 0 } else { from.y + 1 },
            NocId::Noc1 if along_y => self.at.y = if from.y == 0 { self.grid.y } else { from.y } - 1,
            NocId::Noc1 if along_x => self.at.x = if from.x == 0 { self.grid.x } else { from.x } - 1,
            _ => return None,
        }
        Some(Link { from, axis: if from.x == self.at.x { Axis::Y } else { Axis::X } })
    }
}

/// One multicast tree link and its distance from the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Branch {
    /// The link.
    pub link: Link,
    /// Links before it on the way from the source.
    pub depth: u32,
}

/// The links of a multicast.
///
/// The routes to all receivers, each link once, nearest first.
///
/// # Panics
/// If a node lies outside the grid.
pub fn tree(noc: NocId, grid: Grid, from: Node, receivers: impl IntoIterator<Item = Node>) -> Vec<Branch> {
    let (mut seen, mut branches) = (vec![false; 2 * grid.cores()], Vec::new());
    for to in receivers {
        for (depth, link) in (0..).zip(Route::new(noc, grid, from, to)) {
            let index = 2 * (link.from.y * grid.x + link.from.x) as usize + link.axis as usize;
            if !std::mem::replace(&mut seen[index], true) {
                branches.push(Branch { link, depth });
            }
        }
    }
    branches.sort_unstable_by_key(|branch| (branch.depth, branch.link));
    branches
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORMHOLE: Grid = Grid { x: 10, y: 12 };

    fn node(x: u32, y: u32) -> Node {
        Node { x, y }
    }

    fn stops(noc: NocId, from: Node, to: Node) -> Vec<(u32, u32)> {
        Route::new(noc, WORMHOLE, from, to).map(|link| (link.from.x, link.from.y)).collect()
    }

    #[test]
    fn noc0_goes_east_then_south_and_wraps() {
        assert_eq!(stops(NocId::Noc0, node(8, 10), node(1, 1)), [(8, 10), (9, 10), (0, 10), (1, 10), (1, 11), (1, 0)]);
        assert_eq!(stops(NocId::Noc0, node(3, 3), node(3, 3)), []);
    }

    #[test]
    fn noc1_goes_north_then_west_and_wraps() {
        assert_eq!(stops(NocId::Noc1, node(1, 1), node(8, 10)), [(1, 1), (1, 0), (1, 11), (1, 10), (0, 10), (9, 10)]);
        assert_eq!(stops(NocId::Noc1, node(2, 5), node(1, 4)), [(2, 5), (2, 4)]);
    }

    #[test]
    fn hops_are_those_of_the_formula_and_there_and_back_is_once_around() {
        for noc in NocId::ALL {
            for from in (0..120).map(|i| node(i % 10, i / 10)) {
                for to in (0..120).map(|i| node(i % 10, i / 10)) {
                    let there = Route::new(noc, WORMHOLE, from, to);
                    let back = Route::new(noc, WORMHOLE, to, from);
                    assert_eq!(there.hops() as usize, there.clone().count());
                    let around = if from.x == to.x { 0 } else { 10 } + if from.y == to.y { 0 } else { 12 };
                    assert_eq!(there.hops() + back.hops(), around);
                }
            }
        }
    }

    #[test]
    fn the_networks_mirror_each_other() {
        // NoC 1 from a to b uses the routers of NoC 0 from b to a, last one first.
        let (a, b) = (node(7, 2), node(3, 9));
        let mut there: Vec<_> = Route::new(NocId::Noc0, WORMHOLE, b, a).map(|link| link.from).collect();
        there.push(a);
        let mut back: Vec<_> = Route::new(NocId::Noc1, WORMHOLE, a, b).map(|link| link.from).collect();
        back.push(b);
        back.reverse();
        assert_eq!(there, back);
    }

    #[test]
    fn a_multicast_tree_shares_the_row_and_branches_into_columns() {
        // Source west of the rectangle (2..=3, 4..=5), in row 4, NoC 0: two links along the row, one down each column.
        let rectangle = [node(2, 4), node(3, 4), node(2, 5), node(3, 5)];
        let links = tree(NocId::Noc0, WORMHOLE, node(1, 4), rectangle);
        let expected = [((1, 4), Axis::X, 0), ((2, 4), Axis::X, 1), ((2, 4), Axis::Y, 1), ((3, 4), Axis::Y, 2)];
        let expected = expected.map(|((x, y), axis, depth)| Branch { link: Link { from: node(x, y), axis }, depth });
        assert_eq!(links, expected);
        // A tree has one link into each router it visits.
        let whole = tree(NocId::Noc1, WORMHOLE, node(9, 11), (0..100).map(|i| node(i % 10, i / 10)));
        assert_eq!(whole.len(), 100 + 1);
    }
}
