//! What the init calls of the SFPU set, so that functions of several inits can be used in turns.
//!
//! A function needs its init. All inits do the same for a start, and many do nothing else. The others set what
//! `setups.txt` lists: an address mode, programmable constants, instruction sequences, lane registers. Their functions
//! also need that nothing has set these to other values since.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

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

/// Values for a 16-bit `Dst` and a 32-bit one, by resource; empty where nothing is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Setup {
    sets: [[&'static str; 2]; RESOURCES.len()],
}

impl Setup {
    const PLAIN: Self = Self { sets: [["", ""]; RESOURCES.len()] };

    /// What the init with this title sets, which may name a variant. One that is not listed sets everything to something
    /// of its own.
    pub(crate) fn of(title: &str) -> Self {
        let title = title.replace(' ', "");
        let base = title.split('(').next().unwrap_or_default();
        let found = table().get(title.as_str()).or_else(|| table().get(base)).copied();
        found.unwrap_or(Self { sets: [["?", "?"]; RESOURCES.len()] })
    }

    /// Whether its functions leave the lane registers as they need them.
    pub(crate) fn keeps_lanes(&self) -> bool {
        self.sets[LANE_REGISTERS] != ["", ""]
    }

    fn is_plain(&self) -> bool {
        *self == Self::PLAIN
    }

    /// The programmable constants that it sets, as far as they do not depend on arguments.
    pub(crate) fn constants(&self, wide: bool) -> [Option<u32>; 3] {
        [0, 1, 2].map(|register| u32::from_str_radix(self.sets[CONSTANTS + register][usize::from(wide)], 16).ok())
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
        let (narrow, wide) = value.split_once('|').unwrap_or((value, value));
        setup.sets[place] = [narrow, wide].map(|value| if value == "-" { "" } else { value });
    }
    Some((title, setup))
}

/// An init, and what it sets: names, and values for a 16-bit `Dst` and a 32-bit one.
pub type Row = (&'static str, Vec<(&'static str, [&'static str; 2])>);

/// Lines of the table: an init, and what it sets for a 16-bit `Dst` and a 32-bit one.
pub fn rows() -> Vec<Row> {
    let sets = |setup: &Setup| {
        let named = RESOURCES.iter().zip(setup.sets).filter(|(_, values)| *values != ["", ""]);
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
}

impl Init {
    /// The init with this title.
    pub fn new(title: &str) -> Self {
        Self { title: title.into(), setup: Setup::of(title) }
    }
}

/// How the SFPU is set up.
#[derive(Debug, Default)]
pub(crate) struct Setups {
    /// Inits that were called, the last at the end.
    called: Vec<Arc<str>>,
    /// Values and who set them.
    set: [Option<(&'static str, Arc<str>)>; RESOURCES.len()],
}

impl Setups {
    /// Records the call of an init. Returns whether another one was called last.
    pub(crate) fn call(&mut self, init: &Init, wide: bool) -> bool {
        let Init { title, setup } = init;
        let last = self.called.last().is_some_and(|last| last == title);
        if !last {
            self.called.retain(|called| called != title);
            self.called.push(Arc::clone(title));
        }
        for (slot, values) in self.set.iter_mut().zip(setup.sets) {
            if !values[usize::from(wide)].is_empty() {
                *slot = Some((values[usize::from(wide)], Arc::clone(title)));
            }
        }
        // All inits set the control register back.
        if setup.sets[CONTROL][0].is_empty() && self.set[CONTROL].is_some() {
            self.set[CONTROL] = Some(("", Arc::clone(title)));
        }
        !last
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
    pub(crate) fn fits(&self, init: &Init, wide: bool) -> bool {
        let last = self.called.last().is_some_and(|last| Arc::ptr_eq(last, &init.title));
        (last || self.called.contains(&init.title))
            && (init.setup.is_plain() || self.clashes(init, wide).next().is_none())
    }

    fn clashes(&self, init: &Init, wide: bool) -> impl Iterator<Item = (&'static str, &Arc<str>)> {
        let values = init.setup.sets.map(|values| values[usize::from(wide)]);
        self.set.iter().zip(values).zip(RESOURCES).filter_map(move |((set, value), (_, name))| {
            let (found, by) = set.as_ref()?;
            (!value.is_empty() && *found != value).then_some((name, by))
        })
    }

    /// The last init, or which inits have changed what this one has set.
    pub(crate) fn describe(&self, init: &Init, wide: bool) -> String {
        match self.called.last() {
            None => "the SFPU was never set up".to_owned(),
            Some(last) if !self.called.contains(&init.title) => format!("the SFPU was last set up by {last}"),
            Some(_) => {
                let mut by: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
                for (name, who) in self.clashes(init, wide) {
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
        assert!(Setup::of("relu_tile_init").is_plain() && Setup::of("square_tile_init").is_plain());
        assert!(!Setup::of("no_such_init").is_plain());
        assert_eq!(Setup::of("sqrt_tile_init(approx=True)"), Setup::of("sqrt_tile_init"));
        assert_ne!(Setup::of("recip_tile_init(approx=True)"), Setup::of("recip_tile_init"));
        assert_eq!(Setup::of("exp_tile_init(approx=True, input_clamping=NONE)").sets[LANE_REGISTERS], ["", ""]);
    }

    #[test]
    fn functions_of_several_inits_fit_as_long_as_nothing_changes_what_they_need() {
        let relu = Init::new("relu_tile_init");
        let (recip, sqrt) = (Init::new("recip_tile_init"), Init::new("sqrt_tile_init"));
        let (rsqrt, table) = (Init::new("rsqrt_tile_init"), Init::new("tanh_tile_init(approx=True)"));
        let mut setups = Setups::default();
        assert!(!setups.fits(&relu, false));
        assert!(setups.call(&recip, false) && !setups.call(&recip, false));
        assert!(setups.fits(&recip, false) && !setups.fits(&relu, false) && !setups.fits(&sqrt, false));
        setups.call(&relu, false);
        assert!(setups.fits(&recip, false) && setups.fits(&relu, false));
        setups.call(&sqrt, false);
        assert!(setups.fits(&sqrt, false) && !setups.fits(&recip, false) && !setups.fits(&rsqrt, false));
        let names: Vec<&str> = setups.clashes(&recip, false).map(|(name, _)| name).collect();
        assert_eq!(names, ["vConstFloatPrgm0", "vConstFloatPrgm1", "vConstFloatPrgm2"]);
        setups.call(&rsqrt, false);
        assert!(setups.fits(&sqrt, false) && setups.fits(&rsqrt, false), "both set the same constants");
        setups.call(&table, false);
        assert!(setups.fits(&sqrt, false) && setups.fits(&table, false));
        setups.use_lanes(&table.title, true);
        assert!(setups.fits(&table, false));
        setups.use_lanes(&sqrt.title, false);
        assert!(!setups.fits(&table, false), "its table is gone");
        setups.program(2);
        assert!(!setups.fits(&sqrt, false));
        setups.program(3);
        setups.call(&sqrt, false);
        assert!(setups.fits(&sqrt, false));
    }

    #[test]
    fn of_every_pair_of_inits_both_functions_fit_or_the_clash_is_named() {
        let titles: Vec<&str> = table().keys().copied().collect();
        let calls: Vec<Init> = titles.iter().map(|title| Init::new(title)).collect();
        let mut counts = [0, 0];
        for (wide, first) in [false, true].into_iter().flat_map(|wide| calls.iter().map(move |call| (wide, call))) {
            for second in &calls {
                let mut setups = Setups::default();
                setups.call(first, wide);
                setups.call(second, wide);
                assert!(setups.fits(second, wide), "{}", second.title);
                let at = usize::from(wide);
                let mut clash: Vec<&str> = Vec::new();
                for (place, (_, chip)) in RESOURCES.iter().enumerate() {
                    let (needs, has) = (first.setup.sets[place][at], second.setup.sets[place][at]);
                    if !needs.is_empty() && needs != has && (!has.is_empty() || place == CONTROL) {
                        clash.push(chip);
                    }
                }
                assert_eq!(setups.fits(first, wide), clash.is_empty(), "{} {}", first.title, second.title);
                let named: Vec<&str> = setups.clashes(first, wide).map(|(name, _)| name).collect();
                assert_eq!(named, clash);
                counts[usize::from(clash.is_empty())] += 1;
            }
        }
        assert!(counts[0] > 10_000 && counts[1] > 40_000, "{counts:?}");
    }

    #[test]
    fn every_init_sets_the_control_register_back() {
        let (topk, relu) = (Init::new("topk_tile_init"), Init::new("relu_tile_init"));
        let mut setups = Setups::default();
        setups.call(&topk, true);
        assert!(setups.fits(&topk, true));
        setups.call(&relu, true);
        assert_eq!(setups.clashes(&topk, true).map(|(name, _)| name).collect::<Vec<_>>(), [RESOURCES[CONTROL].1]);
    }
}
