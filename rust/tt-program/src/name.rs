//! Names of calls, for events and errors.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// The name of a call.
///
/// One that the engine knows, or one that a kernel brings with a function of the SFPU.
#[derive(Debug, Clone)]
pub enum Name {
    /// Of the engine.
    Fixed(&'static str),
    /// Of a function that a kernel names.
    Given(Arc<str>),
}

impl Deref for Name {
    type Target = str;

    fn deref(&self) -> &str {
        match self {
            Self::Fixed(name) => name,
            Self::Given(name) => name,
        }
    }
}

impl PartialEq for Name {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Name {}

impl PartialEq<&str> for Name {
    fn eq(&self, other: &&str) -> bool {
        **self == **other
    }
}

impl fmt::Display for Name {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self)
    }
}

impl From<&'static str> for Name {
    fn from(name: &'static str) -> Self {
        Self::Fixed(name)
    }
}

impl From<&Arc<str>> for Name {
    fn from(name: &Arc<str>) -> Self {
        Self::Given(Arc::clone(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_equal_if_their_text_is() {
        let given = Name::from(&Arc::from("exp_tile"));
        assert_eq!(given, Name::from("exp_tile"));
        assert_eq!(given, "exp_tile");
        assert_ne!(given, Name::from("log_tile"));
        assert_ne!(Name::from("exp_tile"), "log_tile");
        assert_eq!(given.to_string(), "exp_tile");
    }
}
