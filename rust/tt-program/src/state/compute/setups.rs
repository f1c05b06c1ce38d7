//! State of SFPU inits, so that several functions can alternate.
//!
//! All inits do the same for a start, and many do nothing else: functions of those need any init. The others set what
//! `setups.txt` lists: an address mode, programmable constants, instruction sequences, lane registers. Their functions
//! need their own init, and that nothing has set these to other values since.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use crate::spec::ComputeConfig;

/// What an init may set: its name in the table, and on the chip.
const RESOURCES: [(&str, &str); 8] = [
    ("addr_mod_6", "ADDR_MOD_6"),
    ("prgm0", "vConstFloatPrgm0"),
    ("prgm1", "vConstFloatPrgm1"),
    ("prgm2", "vConstFloatPrgm2"),
    ("macros", "the instruction sequences of SFPLOADMACRO"),
    ("replay", "the replay buffer"),
    ("lregs", "the lane registers"),
    ("config", "the control register of the SFPU"),
];
const CONSTANTS: usize = 1;
const LANE_REGISTERS: usize = 6;
const CONTROL: usize = 7;

/// Columns of the table: a 16-bit `Dst` and a 32-bit one, each without and with `math_approx_mode`.
const COLUMNS: usize = 4;
type Values = [&'static str; COLUMNS];
const NOTHING: Values = [""; COLUMNS];

/// The column of the table for a kernel.
pub(crate) fn column(config: &ComputeConfig) -> usize {
    usize::from(config.dst32) + 2 * usize::from(config.approximate)
}

/// Values by resource; empty where nothing is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Setup {
    sets: [Values; RESOURCES.len()],
}

impl Setup {
    const PLAIN: Self = Self { sets: [NOTHING; RESOURCES.len()] };

    /// What the init with this title sets, which may name a variant. One that is not listed sets everything to something
    /// of its own.
    pub(crate) fn of(title: &str) -> Self {
        let title = title.replace(' ', "");
        let base = title.split('(').next().unwrap_or_default();
        let found = table().get(title.as_str()).or_else(|| table().get(base)).copied();
        found.unwrap_or(Self { sets: [["?"; COLUMNS]; RESOURCES.len()] })
    }

    /// Whether its functions leave the lane registers as they need them.
    pub(crate) fn keeps_lanes(&self) -> bool {
        self.sets[LANE_REGISTERS] != NOTHING
    }

    fn is_plain(&self) -> bool {
        *self == Self::PLAIN
    }

    /// The programmable constants that it sets, as far as they do not depend on arguments.
    pub(crate) fn constants(&self, column: usize) -> [Option<u32>; 3] {
        [0, 1, 2].map(|register| u32::from_str_radix(self.sets[CONSTANTS + register][column], 16).ok())
    }
}

/// The table, by init.
fn table() -> &'static BTreeMap<&'static str, Setup> {
    static TABLE: OnceLock<BTreeMap<&'static str, Setup>> = OnceLock::new();
    TABLE.get_or_init(|| include_str!("setups.txt").lines().filter_map(row).collect())
}

fn row(line: &'static str) -> Option<(&'static str, Setup)> {
    let mut words = line.split_whitespace();
    let title = words.next()?;
    let mut setup = Setup::PLAIN;
    for word in words {
        let (name, value) = word.split_once('=')?;
        let place = RESOURCES.iter().position(|(known, _)| *known == name)?;
        let values: Vec<_> = value.split('|').map(|value| if value == "-" { "" } else { value }).collect();
        setup.sets[place] = match values[..] {
            [one] => [one; COLUMNS],
            [narrow, wide] => [narrow, wide, narrow, wide],
            _ => values.try_into().ok()?,
        };
    }
    Some((title, setup))
}

/// An init, and what it sets.
///
/// Names, and values for a 16-bit `Dst` and a 32-bit one, then with `math_approx_mode`.
pub type Row = (&'static str, Vec<(&'static str, Values)>);

/// Lines of the table: an init, and what it sets.
pub fn rows() -> Vec<Row> {
    let sets = |setup: &Setup| {
        let named = RESOURCES.iter().zip(setup.sets).filter(|(_, values)| *values != NOTHING);
        named.map(|((_, chip), values)| (*chip, values)).collect()
    };
    table().iter().map(|(title, setup)| (*title, sets(setup))).collect()
}

/// An init call: its title, and what it sets.
#[derive(Debug, Clone)]
pub struct Init {
    /// The name of the call, with its variant.
    pub title: Arc<str>,
    pub(crate) setup: Setup,
    packs: bool,
    walks: bool,
}

impl Init {
    /// The init with this title.
    pub fn new(title: &str) -> Self {
        Self { title: title.into(), setup: Setup::of(title), packs: packs(title), walks: title.ends_with(WALKS) }
    }
}

/// How the SFPU is set up.
#[derive(Debug, Default)]
pub(crate) struct Setups {
    /// Inits that were called, the last at the end.
    called: Vec<Arc<str>>,
    /// Values and who set them.
    set: [Option<(&'static str, Arc<str>)>; RESOURCES.len()],
    /// The function that has left `ADDR_MOD_7` as other functions cannot use it, until the next init.
    walked: Option<Arc<str>>,
}

/// Inits of functions that do nothing else than to load and store.
const STORES: [&str; 2] = ["copy_dest_values_init", "fill_tile_init"];

/// The variant of the exponential whose calls set `ADDR_MOD_7` for themselves.
const WALKS: &str = "(approx=True, input_clamping=NONE)";

/// Whether functions with this init run on the packer's thread, which has registers of its own.
fn packs(title: &str) -> bool {
    title.contains("_pack")
}

impl Setups {
    /// Records the call of an init. Returns whether another one was called last.
    pub(crate) fn call(&mut self, init: &Init, column: usize) -> bool {
        let Init { title, setup, .. } = init;
        self.walked = None;
        let last = self.called.last().is_some_and(|last| last == title);
        if !last {
            self.called.retain(|called| called != title);
            self.called.push(Arc::clone(title));
        }
        for (slot, values) in self.set.iter_mut().zip(setup.sets) {
            if !values[column].is_empty() {
                *slot = Some((values[column], Arc::clone(title)));
            }
        }
        // All inits set the control register back.
        if setup.sets[CONTROL][0].is_empty() && self.set[CONTROL].is_some() {
            self.set[CONTROL] = Some(("", Arc::clone(title)));
        }
        !last
    }

    /// The function that has left `ADDR_MOD_7` as others cannot use it.
    pub(crate) fn walked(&self) -> Option<&Arc<str>> {
        self.walked.as_ref()
    }

    /// Records the call of a function with this init.
    pub(crate) fn used(&mut self, by: &Arc<str>, init: &Init) {
        if init.walks {
            self.walked = Some(Arc::clone(by));
        }
        self.use_lanes(by, init.setup.keeps_lanes());
    }

    /// Functions work in the lane registers, and overwrite what an init has left there for others.
    pub(crate) fn use_lanes(&mut self, by: &Arc<str>, keeps: bool) {
        if !keeps && self.set[LANE_REGISTERS].is_some() {
            self.set[LANE_REGISTERS] = Some(("", Arc::clone(by)));
        }
    }

    /// A vector function of the kernel's own sets a programmable constant.
    pub(crate) fn program(&mut self, register: usize) {
        if let Some(slot) = self.set.get_mut(CONSTANTS + register).filter(|_| register < 3) {
            *slot = Some(("", "the kernel's own vector function".into()));
        }
    }

    /// Whether functions with this init can be used.
    #[inline]
    pub(crate) fn fits(&self, init: &Init, column: usize) -> bool {
        if self.walked.is_some() && !init.walks {
            return false;
        }
        let last = self.called.last().is_some_and(|last| Arc::ptr_eq(last, &init.title));
        (last || self.has_what(init)) && self.clashes(init, column).next().is_none()
    }

    /// Whether its own init was called, or for one that sets nothing any on the same thread.
    fn has_what(&self, init: &Init) -> bool {
        let plain = init.setup.is_plain();
        self.called.iter().any(|called| *called == init.title || plain && packs(called) == init.packs)
    }

    fn clashes(&self, init: &Init, column: usize) -> impl Iterator<Item = (&'static str, &Arc<str>)> {
        let values = init.setup.sets.map(|values| values[column]);
        let slots = self.set.iter().zip(values).zip(RESOURCES).enumerate();
        slots.filter_map(move |(place, ((set, value), (_, name)))| {
            let (found, by) = set.as_ref()?;
            // All inits set the control register, which loads and stores do not look at.
            let needed = if place == CONTROL { !STORES.contains(&&*init.title) } else { !value.is_empty() };
            (*found != value && needed).then_some((name, by))
        })
    }

    /// The last init, or which inits have changed what this one has set.
    pub(crate) fn describe(&self, init: &Init, column: usize) -> String {
        match self.called.last() {
            None => "the SFPU was never set up".to_owned(),
            Some(_) if self.walked.is_some() && !init.walks => {
                let walked = self.walked.as_deref().unwrap_or_default();
                format!("{walked} has changed ADDR_MOD_7 since")
            }
            Some(last) if !self.has_what(init) => format!("the SFPU was last set up by {last}"),
            Some(_) => {
                let mut by: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
                for (name, who) in self.clashes(init, column) {
                    by.entry(who).or_default().push(name);
                }
                let parts = by.iter().map(|(who, names)| format!("{who} has changed {} since", names.join(", ")));
                parts.collect::<Vec<_>>().join("; ")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_table_is_understood() {
        let lines = include_str!("setups.txt").lines().count();
        assert_eq!(table().len(), lines);
        assert!(Setup::of("relu_tile_init").is_plain() && !Setup::of("square_tile_init").is_plain());
        assert!(!Setup::of("no_such_init").is_plain());
        assert_eq!(Setup::of("sqrt_tile_init(approx=True)"), Setup::of("sqrt_tile_init"));
        assert_ne!(Setup::of("recip_tile_init(approx=True)"), Setup::of("recip_tile_init"));
        assert_eq!(Setup::of("exp_tile_init(approx=True, input_clamping=NONE)").sets[LANE_REGISTERS], NOTHING);
    }

    #[test]
    fn functions_of_several_inits_fit_as_long_as_nothing_changes_what_they_need() {
        let relu = Init::new("relu_tile_init");
        let (recip, sqrt) = (Init::new("recip_tile_init"), Init::new("sqrt_tile_init"));
        let (rsqrt, table) = (Init::new("rsqrt_tile_init"), Init::new("tanh_tile_init(approx=True)"));
        let mut setups = Setups::default();
        assert!(!setups.fits(&relu, 0));
        assert!(setups.call(&recip, 0) && !setups.call(&recip, 0));
        assert!(setups.fits(&recip, 0) && setups.fits(&relu, 0) && !setups.fits(&sqrt, 0), "relu needs any init");
        assert!(!setups.fits(&Init::new("selu_tile_init_pack"), 0), "the packer's thread has registers of its own");
        setups.call(&relu, 0);
        assert!(setups.fits(&recip, 0) && setups.fits(&relu, 0));
        setups.call(&sqrt, 0);
        assert!(setups.fits(&sqrt, 0) && !setups.fits(&recip, 0) && !setups.fits(&rsqrt, 0));
        let names: Vec<&str> = setups.clashes(&recip, 0).map(|(name, _)| name).collect();
        assert_eq!(names, ["vConstFloatPrgm0", "vConstFloatPrgm1", "vConstFloatPrgm2"]);
        setups.call(&rsqrt, 0);
        assert!(setups.fits(&sqrt, 0) && setups.fits(&rsqrt, 0), "both set the same constants");
        setups.call(&table, 0);
        assert!(setups.fits(&sqrt, 0) && setups.fits(&table, 0));
        setups.used(&table.title, &table);
        assert!(setups.fits(&table, 0));
        setups.used(&sqrt.title, &sqrt);
        assert!(!setups.fits(&table, 0), "its table is gone");
        setups.program(2);
        assert!(!setups.fits(&sqrt, 0));
        setups.program(3);
        setups.call(&sqrt, 0);
        assert!(setups.fits(&sqrt, 0));
    }

    #[test]
    fn approximate_roots_have_constants_of_their_own() {
        let words = |title: &str, column: usize| Init::new(title).setup.constants(column);
        for column in [0, 1] {
            assert_eq!(words("sqrt_tile_init", column), [0x5f11_10a0, 0x4012_14c9, 0x4010_3626].map(Some));
            assert_eq!(words("rsqrt_tile_init", column + 2), [Some(0x5f0b_3892), Some(0x3ff2_0bf7), None]);
            assert_eq!(words("rdiv_tile_init", column), words("rdiv_tile_init", column + 2));
        }
    }

    #[test]
    fn of_every_pair_of_inits_both_functions_fit_or_the_clash_is_named() {
        let titles: Vec<&str> = table().keys().copied().collect();
        let calls: Vec<Init> = titles.iter().map(|title| Init::new(title)).collect();
        let mut counts = [0, 0];
        for (at, first) in (0..COLUMNS).flat_map(|at| calls.iter().map(move |call| (at, call))) {
            for second in &calls {
                let mut setups = Setups::default();
                setups.call(first, at);
                setups.call(second, at);
                assert!(setups.fits(second, at), "{}", second.title);
                let mut clash: Vec<&str> = Vec::new();
                for (place, (_, chip)) in RESOURCES.iter().enumerate() {
                    let (needs, has) = (first.setup.sets[place][at], second.setup.sets[place][at]);
                    let stores = STORES.contains(&&*first.title);
                    if needs != has && (place == CONTROL && !stores || !needs.is_empty() && !has.is_empty()) {
                        clash.push(chip);
                    }
                }
                assert_eq!(setups.fits(first, at), clash.is_empty(), "{} {}", first.title, second.title);
                let named: Vec<&str> = setups.clashes(first, at).map(|(name, _)| name).collect();
                assert_eq!(named, clash);
                counts[usize::from(clash.is_empty())] += 1;
            }
        }
        assert!(counts[0] > 20_000 && counts[1] > 80_000, "{counts:?}");
    }

    #[test]
    fn calls_that_walk_by_themselves_leave_other_functions_an_address_mode_that_they_cannot_use() {
        let (relu, walking) =
            (Init::new("relu_tile_init"), Init::new("exp_tile_init(approx=True, input_clamping=NONE)"));
        let mut setups = Setups::default();
        setups.call(&relu, 0);
        setups.call(&walking, 0);
        assert!(setups.fits(&relu, 0), "an init alone changes nothing");
        setups.used(&"exp_tile".into(), &walking);
        assert!(setups.fits(&walking, 0) && !setups.fits(&relu, 0));
        assert_eq!(setups.describe(&relu, 0), "exp_tile has changed ADDR_MOD_7 since");
        setups.call(&relu, 0);
        assert!(setups.fits(&relu, 0));
    }

    #[test]
    fn every_init_sets_the_control_register_back() {
        let (topk, relu) = (Init::new("topk_tile_init"), Init::new("relu_tile_init"));
        let mut setups = Setups::default();
        setups.call(&topk, 1);
        assert!(setups.fits(&topk, 1));
        setups.call(&relu, 1);
        assert_eq!(setups.clashes(&topk, 1).map(|(name, _)| name).collect::<Vec<_>>(), [RESOURCES[CONTROL].1]);
    }
}
