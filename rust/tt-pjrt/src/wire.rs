//! The few fields of protocol buffers that the interface carries.

use crate::failure::Failure;

/// Options of a compilation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompileOptions {
    /// Replicas of the program.
    pub replicas: usize,
    /// Parts that the program is split into.
    pub partitions: usize,
    /// Ids of the devices, replica by replica; empty for the default.
    pub devices: Vec<i64>,
    /// Options of the user, in the order of their names.
    pub user: Vec<(String, OptionValue)>,
}

/// Value of an option of the user.
#[derive(Debug, Clone, PartialEq)]
pub enum OptionValue {
    /// A text.
    Text(String),
    /// True or false.
    Bool(bool),
    /// An integer.
    Integer(i64),
    /// A number.
    Float(f64),
}

impl Eq for OptionValue {}

/// Value of a field.
enum Field<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

/// Reader of the fields of one message.
struct Fields<'a> {
    bytes: &'a [u8],
}

fn damaged() -> Failure {
    Failure::argument("tt: the compile options are damaged (CompileOptionsProto cannot be read)")
}

impl<'a> Fields<'a> {
    fn varint(&mut self) -> Result<u64, Failure> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let (&byte, rest) = self.bytes.split_first().ok_or_else(damaged)?;
            self.bytes = rest;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(damaged())
    }

    fn cut(&mut self, count: u64) -> Result<&'a [u8], Failure> {
        let count = usize::try_from(count).map_err(|_| damaged())?;
        let (head, rest) = self.bytes.split_at_checked(count).ok_or_else(damaged)?;
        self.bytes = rest;
        Ok(head)
    }

    fn fixed(&mut self, count: u64) -> Result<u64, Failure> {
        Ok(self.cut(count)?.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte)))
    }

    fn next(&mut self) -> Result<Option<(u64, Field<'a>)>, Failure> {
        if self.bytes.is_empty() {
            return Ok(None);
        }
        let key = self.varint()?;
        let field = match key & 7 {
            0 => Field::Number(self.varint()?),
            1 => Field::Number(self.fixed(8)?),
            2 => {
                let count = self.varint()?;
                Field::Bytes(self.cut(count)?)
            }
            5 => Field::Number(self.fixed(4)?),
            _ => return Err(damaged()),
        };
        Ok(Some((key >> 3, field)))
    }
}

fn text(bytes: &[u8]) -> Result<String, Failure> {
    String::from_utf8(bytes.to_vec()).map_err(|_| damaged())
}

impl CompileOptions {
    /// Returns the options of a serialized `CompileOptionsProto`.
    ///
    /// # Errors
    /// The bytes are damaged.
    pub fn read(bytes: &[u8]) -> Result<Self, Failure> {
        let mut options = Self { replicas: 1, partitions: 1, devices: Vec::new(), user: Vec::new() };
        let mut fields = Fields { bytes };
        while let Some(field) = fields.next()? {
            match field {
                (3, Field::Bytes(build)) => options.read_build(build)?,
                (7, Field::Bytes(entry)) => options.user.push(read_override(entry)?),
                _ => {}
            }
        }
        options.user.sort_by(|left, right| left.0.cmp(&right.0));
        Ok(options)
    }

    fn read_build(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        let mut fields = Fields { bytes };
        while let Some(field) = fields.next()? {
            match field {
                (4, Field::Number(count)) => self.replicas = usize::try_from(count).map_err(|_| damaged())?,
                (5, Field::Number(count)) => self.partitions = usize::try_from(count).map_err(|_| damaged())?,
                // jax moves this option of the user here; 0 is its absence.
                (24, Field::Number(level)) if level != 0 => {
                    self.user.push(("optimization_level".into(), OptionValue::Integer(level as i64)));
                }
                (9, Field::Bytes(assignment)) => self.devices = read_assignment(assignment)?,
                _ => {}
            }
        }
        Ok(())
    }
}

fn read_override(bytes: &[u8]) -> Result<(String, OptionValue), Failure> {
    let (mut name, mut value) = (String::new(), OptionValue::Text(String::new()));
    let mut fields = Fields { bytes };
    while let Some(field) = fields.next()? {
        match field {
            (1, Field::Bytes(bytes)) => name = text(bytes)?,
            (2, Field::Bytes(bytes)) => {
                let mut fields = Fields { bytes };
                while let Some(field) = fields.next()? {
                    value = match field {
                        (1, Field::Bytes(bytes)) => OptionValue::Text(text(bytes)?),
                        (2, Field::Number(number)) => OptionValue::Bool(number != 0),
                        (3, Field::Number(number)) => OptionValue::Integer(number as i64),
                        (4, Field::Number(number)) => OptionValue::Float(f64::from_bits(number)),
                        _ => continue,
                    };
                }
            }
            _ => {}
        }
    }
    Ok((name, value))
}

/// Returns the device ids of a `DeviceAssignmentProto`, replica by replica.
fn read_assignment(bytes: &[u8]) -> Result<Vec<i64>, Failure> {
    let mut parts: Vec<Vec<i64>> = Vec::new();
    let mut fields = Fields { bytes };
    while let Some(field) = fields.next()? {
        let (3, Field::Bytes(bytes)) = field else { continue };
        let mut ids = Vec::new();
        let mut fields = Fields { bytes };
        while let Some(field) = fields.next()? {
            match field {
                (1, Field::Number(id)) => ids.push(id as i64),
                (1, Field::Bytes(packed)) => {
                    let mut packed = Fields { bytes: packed };
                    while !packed.bytes.is_empty() {
                        ids.push(packed.varint()? as i64);
                    }
                }
                _ => {}
            }
        }
        parts.push(ids);
    }
    let replicas = parts.first().map_or(0, Vec::len);
    if parts.iter().any(|ids| ids.len() != replicas) {
        return Err(damaged());
    }
    Ok((0..replicas).flat_map(|replica| parts.iter().map(move |ids| ids[replica])).collect())
}

fn push_varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// Returns a serialized `DeviceAssignmentProto`.
pub fn write_assignment(replicas: usize, partitions: usize, devices: &[i64]) -> Vec<u8> {
    let mut bytes = vec![0x08];
    push_varint(&mut bytes, replicas as u64);
    bytes.push(0x10);
    push_varint(&mut bytes, partitions as u64);
    for partition in 0..partitions {
        let mut ids = Vec::new();
        for replica in 0..replicas {
            push_varint(&mut ids, devices[replica * partitions + partition] as u64);
        }
        let mut part = vec![0x0a];
        push_varint(&mut part, ids.len() as u64);
        part.extend(ids);
        bytes.push(0x1a);
        push_varint(&mut bytes, part.len() as u64);
        bytes.extend(part);
    }
    bytes
}
