//! `DPRINT`: items of text, one call each, put together to lines.

use super::Native;
use crate::error::FaultKind;

/// What a kernel prints, and how it wants numbers to look.
#[derive(Debug, Default)]
pub(super) struct Printer {
    line: String,
    /// Lines with the clocks at which they ended.
    lines: Vec<(u64, String)>,
    /// The kernel's clock.
    now: u64,
    base: Base,
    width: usize,
    precision: Option<usize>,
    fixed: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Base {
    #[default]
    Decimal,
    Hexadecimal,
    Octal,
}

/// Kinds of items, by number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Item {
    Text,
    Char,
    Unsigned,
    Signed,
    Unsigned64,
    Signed64,
    Float,
    Bfloat16,
    Bool,
    Pointer,
    Width,
    Precision,
    Fixed,
    DefaultFloat,
    Hex,
    Dec,
    Oct,
    End,
    Double,
}

const ITEMS: [Item; 19] = [
    Item::Text,
    Item::Char,
    Item::Unsigned,
    Item::Signed,
    Item::Unsigned64,
    Item::Signed64,
    Item::Float,
    Item::Bfloat16,
    Item::Bool,
    Item::Pointer,
    Item::Width,
    Item::Precision,
    Item::Fixed,
    Item::DefaultFloat,
    Item::Hex,
    Item::Dec,
    Item::Oct,
    Item::End,
    Item::Double,
];

/// Most bytes of a line: what a kernel prints without an end is cut there.
const LONGEST: usize = 64 << 10;
/// Digits of a number without `SETPRECISION`, as streams have them.
const DIGITS: usize = 6;

impl Native {
    /// Prints an item.
    pub(super) fn dprint(&mut self, kind: u32, value: u64) -> Result<(), FaultKind> {
        let item = ITEMS.get(kind as usize);
        let item = *item.ok_or_else(|| FaultKind::Argument(format!("there is no kind {kind} of items to print")))?;
        let text = if item == Item::Text { self.text(value as u32)? } else { String::new() };
        self.printer.now = self.hart.now();
        self.printer.print(item, value, &text);
        Ok(())
    }
}

impl Printer {
    fn print(&mut self, item: Item, value: u64, text: &str) {
        let low = value as u32;
        match item {
            Item::Text => self.push(text),
            Item::Char => self.push(char::from(low as u8).encode_utf8(&mut [0; 4])),
            Item::Unsigned => self.integer(false, low.into()),
            Item::Signed if self.base == Base::Decimal => {
                self.integer((low as i32) < 0, (low as i32).unsigned_abs().into());
            }
            Item::Signed => self.integer(false, low.into()),
            Item::Unsigned64 => self.integer(false, value),
            Item::Signed64 if self.base == Base::Decimal => {
                self.integer((value as i64) < 0, (value as i64).unsigned_abs());
            }
            Item::Signed64 => self.integer(false, value),
            Item::Float => self.float(f32::from_bits(low).into()),
            Item::Bfloat16 => self.float(f32::from_bits(low << 16).into()),
            Item::Double => self.float(f64::from_bits(value)),
            Item::Bool => self.push(if low == 0 { "0" } else { "1" }),
            Item::Pointer => self.push(&format!("{low:#x}")),
            Item::Width => self.width = low.min(1024) as usize,
            Item::Precision => self.precision = Some(low.min(64) as usize),
            Item::Fixed => self.fixed = true,
            Item::DefaultFloat => self.fixed = false,
            Item::Hex => self.base = Base::Hexadecimal,
            Item::Dec => self.base = Base::Decimal,
            Item::Oct => self.base = Base::Octal,
            Item::End => self.push("\n"),
        }
    }

    fn integer(&mut self, negative: bool, magnitude: u64) {
        let digits = match self.base {
            Base::Decimal => magnitude.to_string(),
            Base::Hexadecimal => format!("{magnitude:x}"),
            Base::Octal => format!("{magnitude:o}"),
        };
        self.push(&if negative { format!("-{digits}") } else { digits });
    }

    fn float(&mut self, value: f64) {
        let digits = self.precision.unwrap_or(DIGITS);
        let text = match value {
            _ if value.is_nan() => "nan".to_owned(),
            _ if value.is_infinite() => if value < 0.0 { "-inf" } else { "inf" }.to_owned(),
            _ if self.fixed => format!("{value:.digits$}"),
            _ => general(value, digits.max(1)),
        };
        self.push(&text);
    }

    /// Adds text, at the right of its width. Widths are for one item.
    fn push(&mut self, text: &str) {
        let width = if text == "\n" { 0 } else { std::mem::take(&mut self.width) };
        let padded = format!("{text:>width$}");
        for (number, part) in padded.split('\n').enumerate() {
            if number > 0 {
                self.finish_line();
            }
            if self.line.len() < LONGEST {
                self.line.push_str(part);
            }
        }
    }

    fn finish_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        self.lines.push((self.now, line));
    }

    /// Ends a line that was begun.
    pub(super) fn end_line(&mut self) {
        if !self.line.is_empty() {
            self.finish_line();
        }
    }

    /// The lines so far, with the clocks at which they ended.
    pub(super) fn take_lines(&mut self) -> Vec<(u64, String)> {
        std::mem::take(&mut self.lines)
    }
}

/// A number with so many significant digits and no zeros behind, as streams write it.
fn general(value: f64, digits: usize) -> String {
    if value == 0.0 {
        return if value.is_sign_negative() { "-0" } else { "0" }.to_owned();
    }
    let scientific = format!("{value:.*e}", digits - 1);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let trim = |text: &str| {
        let trimmed = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text };
        trimmed.to_owned()
    };
    if exponent < -4 || exponent >= digits as i32 {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{}e{sign}{:02}", trim(mantissa), exponent.abs());
    }
    trim(&format!("{value:.*}", (digits as i32 - 1 - exponent).max(0) as usize))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(items: &[(Item, u64, &str)]) -> Vec<String> {
        let mut printer = Printer::default();
        for &(item, value, text) in items {
            printer.print(item, value, text);
        }
        printer.end_line();
        printer.take_lines().into_iter().map(|(_, line)| line).collect()
    }

    #[test]
    fn items_are_put_together_to_lines() {
        let items = [
            (Item::Text, 0, "a = "),
            (Item::Signed, -5_i32 as u32 as u64, ""),
            (Item::End, 0, ""),
            (Item::Hex, 0, ""),
            (Item::Unsigned, 0xcafe, ""),
            (Item::Text, 0, "\nnext "),
            (Item::Dec, 0, ""),
            (Item::Width, 6, ""),
            (Item::Unsigned, 42, ""),
            (Item::Char, 'x'.into(), ""),
        ];
        assert_eq!(lines(&items), ["a = -5", "cafe", "next     42x"]);
    }

    #[test]
    fn numbers_look_as_streams_write_them() {
        let float = |value: f32| lines(&[(Item::Float, value.to_bits().into(), "")]).remove(0);
        for (value, text) in [
            (1.5, "1.5"),
            (-0.1, "-0.1"),
            (1e10, "1e+10"),
            (123_456.7, "123457"),
            (1e-5, "1e-05"),
            (0.0, "0"),
            (f32::NEG_INFINITY, "-inf"),
        ] {
            assert_eq!(float(value), text);
        }
        let fixed = [(Item::Fixed, 0, ""), (Item::Precision, 2, ""), (Item::Bfloat16, 0x3fc0, "")];
        assert_eq!(lines(&fixed), ["1.50"]);
    }

    #[test]
    fn integers_are_signed_in_decimal_only() {
        let minus = -5_i64 as u64;
        for (base, signed, wide, unsigned) in [
            (Item::Dec, "-5", "-5", "18446744073709551611"),
            (Item::Hex, "fffffffb", "fffffffffffffffb", "fffffffffffffffb"),
            (Item::Oct, "37777777773", "1777777777777777777773", "1777777777777777777773"),
        ] {
            let shown = |item| lines(&[(base, 0, ""), (item, minus, "")]).remove(0);
            assert_eq!((shown(Item::Signed), shown(Item::Signed64)), (signed.to_owned(), wide.to_owned()));
            assert_eq!(shown(Item::Unsigned64), unsigned);
        }
        let plain = |item, value| lines(&[(item, value, "")]).remove(0);
        assert_eq!((plain(Item::Signed, 0), plain(Item::Signed64, 7)), ("0".to_owned(), "7".to_owned()));
        assert_eq!(plain(Item::Unsigned, 1 << 32 | 9), "9", "the low half");
        assert_eq!((plain(Item::Bool, 0), plain(Item::Bool, 2)), ("0".to_owned(), "1".to_owned()));
        assert_eq!(plain(Item::Pointer, 0x1_0000_00ff), "0xff");
        assert_eq!(plain(Item::Char, 0x141), "A");
    }

    #[test]
    fn numbers_have_as_many_digits_as_are_asked_for() {
        let shown = |settings: &[(Item, u64, &'static str)], value: f64| {
            lines(&[settings, &[(Item::Double, value.to_bits(), "")]].concat()).remove(0)
        };
        let digits = |count| [(Item::Precision, count, "")];
        for (count, value, text) in [
            (3, 1234.0, "1.23e+03"),
            (4, 1234.0, "1234"),
            (5, 1234.5, "1234.5"),
            (3, 999.6, "1e+03"),
            (3, 0.000_123_4, "0.000123"),
            (3, 0.000_012_34, "1.23e-05"),
            (1, 10.0, "1e+01"),
            (0, 7.6, "8"),
            (2, 100.0, "1e+02"),
            (3, 100.0, "100"),
            (6, -1e-300, "-1e-300"),
        ] {
            assert_eq!(shown(&digits(count), value), text, "{count} {value}");
        }
        let fixed = |count| [(Item::Fixed, 0, ""), (Item::Precision, count, "")];
        assert_eq!((shown(&fixed(0), 2.5), shown(&fixed(3), -0.0)), ("2".to_owned(), "-0.000".to_owned()));
        assert_eq!(shown(&[(Item::Fixed, 0, ""), (Item::DefaultFloat, 0, "")], 1e9), "1e+09");
        for (value, text) in [(-0.0, "-0"), (f64::INFINITY, "inf"), (f64::NEG_INFINITY, "-inf"), (f64::NAN, "nan")] {
            assert_eq!((shown(&[], value), shown(&fixed(2), value).contains(text)), (text.to_owned(), true));
        }
    }

    #[test]
    fn a_width_is_for_the_next_item_and_a_line_is_cut_where_it_is_too_long() {
        let items = [
            (Item::Width, 4, ""),
            (Item::End, 0, ""),
            (Item::Unsigned, 1, ""),
            (Item::Unsigned, 2, ""),
            (Item::Width, 2, ""),
            (Item::Text, 0, "abc"),
        ];
        assert_eq!(lines(&items), ["", "   12abc"], "an end of a line has no width");
        let mut printer = Printer::default();
        let half = "x".repeat(LONGEST / 2);
        for _ in 0..4 {
            printer.print(Item::Text, 0, &half);
        }
        printer.now = 77;
        printer.print(Item::End, 0, "");
        printer.end_line();
        let lines = printer.take_lines();
        assert_eq!((lines.len(), lines[0].0, lines[0].1.len()), (1, 77, LONGEST));
        assert!(printer.take_lines().is_empty());
    }
}
