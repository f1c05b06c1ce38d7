//! Functions of the SFPU, as compiled kernels name them.
//!
//! By a record in their text.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Native;
use crate::calls::compute::{VectorCall, codes};
use crate::error::FaultKind;

/// Functions that a kernel has used, by record and parameters; `None` for what only the init needs.
pub(super) type Functions = BTreeMap<(u32, Option<Vec<u32>>), Arc<VectorCall>>;

/// Words of a record: name, init, function, variant (texts), tiles, and the format that it makes.
const RECORD: usize = 6;
/// Most parameters of a function.
const MOST: u32 = 64;

impl Native {
    /// The function of a record with parameters.
    pub(super) fn function(
        &mut self,
        record: u32,
        (count, parameters): (u32, u32),
    ) -> Result<Arc<VectorCall>, FaultKind> {
        let words = if count == 0 { Vec::new() } else { self.words(parameters, count.min(MOST))? };
        self.find(record, Some(words))
    }

    /// What the init of a record's function needs.
    pub(super) fn init_of(&mut self, record: u32, parameters: (u32, u32)) -> Result<Arc<VectorCall>, FaultKind> {
        if parameters.0 > 0 {
            return self.function(record, parameters);
        }
        let fields = self.words(record, RECORD as u32)?;
        let keeps = self.text(fields[2])? == "tile";
        self.find(record, keeps.then(Vec::new))
    }

    fn find(&mut self, record: u32, parameters: Option<Vec<u32>>) -> Result<Arc<VectorCall>, FaultKind> {
        let key = (record, parameters);
        if let Some(found) = self.functions.get(&key) {
            return Ok(Arc::clone(found));
        }
        let fields = self.words(record, RECORD as u32)?;
        let (name, init) = (self.text(fields[0])?, self.text(fields[1])?);
        let call = match &key.1 {
            None => VectorCall::init_only(&name, &init),
            Some(parameters) => {
                let (function, variant) = (self.text(fields[2])?, self.text(fields[3])?);
                let makes = codes::dst_format(fields[5] as i32);
                VectorCall::new((&name, &init), (&function, &variant), fields[4], parameters, makes)
                    .map_err(FaultKind::Argument)?
            }
        };
        let call = Arc::new(call);
        self.functions.insert(key, Arc::clone(&call));
        Ok(call)
    }
}
