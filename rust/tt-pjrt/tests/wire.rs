//! Compile options and device assignments as bytes.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use tt_pjrt::failure::Code;
use tt_pjrt::wire::{CompileOptions, OptionValue, write_assignment};

fn message(fields: &[(u8, &[u8])]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (field, value) in fields {
        bytes.extend([field << 3 | 2, u8::try_from(value.len()).unwrap()]);
        bytes.extend(*value);
    }
    bytes
}

#[test]
fn options_of_the_user_are_sorted_by_name() {
    let text = message(&[(1, b"optimization_level"), (2, &message(&[(1, b"1")]))]);
    let flag = message(&[(1, b"enable_trace"), (2, &[0x10, 1])]);
    let number = message(&[(1, b"a"), (2, &[0x18, 0x83, 0x01])]);
    let float = message(&[(1, b"b"), (2, &[0x21, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f])]);
    // Field 3: 2 replicas, 3 partitions; unknown fields of every kind are skipped.
    let build = [&[0x20, 2, 0x28, 3, 0x08, 0xff, 1, 0x55, 1, 2, 3, 4][..]].concat();
    let bytes = message(&[(7, &text), (3, &build), (7, &flag), (1, b"other"), (7, &number), (7, &float)]);
    let options = CompileOptions::read(&bytes).unwrap();
    assert_eq!((options.replicas, options.partitions), (2, 3));
    let expected = [
        ("a".into(), OptionValue::Integer(131)),
        ("b".into(), OptionValue::Float(1.0)),
        ("enable_trace".into(), OptionValue::Bool(true)),
        ("optimization_level".into(), OptionValue::Text("1".into())),
    ];
    assert_eq!(options.user, expected);
}

#[test]
fn optimization_level_is_a_field_of_the_build_options() {
    let options = CompileOptions::read(&message(&[(3, &[0xc0, 1, 2])])).unwrap();
    assert_eq!(options.user, [("optimization_level".into(), OptionValue::Integer(2))]);
    assert_eq!(CompileOptions::read(&message(&[(3, &[0xc0, 1, 0])])).unwrap().user, []);
}

#[test]
fn assignments_are_read_as_they_are_written() {
    for (replicas, partitions, devices) in [(1, 2, vec![1, 300]), (2, 2, vec![0, 1, 2, 3]), (1, 1, vec![0])] {
        let assignment = write_assignment(replicas, partitions, &devices);
        let mut build = vec![0x4a, u8::try_from(assignment.len()).unwrap()];
        build.extend(assignment);
        let options = CompileOptions::read(&message(&[(3, &build)])).unwrap();
        assert_eq!(options.devices, devices, "{replicas} x {partitions}");
    }
    assert_eq!(write_assignment(1, 1, &[1]), [0x08, 1, 0x10, 1, 0x1a, 3, 0x0a, 1, 1]);
}

#[test]
fn damaged_options_are_refused() {
    let whole = message(&[(7, &message(&[(1, b"name"), (2, &message(&[(1, b"value")]))]))]);
    assert!(CompileOptions::read(&whole).is_ok());
    for end in 1..whole.len() {
        let error = CompileOptions::read(&whole[..end]).unwrap_err();
        assert_eq!(error.code, Code::InvalidArgument, "{end} bytes");
        assert!(error.message.contains("damaged"), "{}", error.message);
    }
    for bytes in [&[0xff; 12][..], &[0x0b], &[0x3a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]] {
        assert!(CompileOptions::read(bytes).is_err());
    }
}
