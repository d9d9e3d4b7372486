//! Random lines of JSON, right and wrong.

/// Draws numbers, one after the other.
pub(in crate::reading) struct Random(pub(in crate::reading) u64);

const NAMES: [&str; 6] = ["text", "text", "te\\u0078t", "tex", "b", "\u{e9}\\n"];
const PLAIN: [&str; 8] = [
    "a",
    " low ",
    "er",
    "\u{e9}",
    "\u{1F600}",
    "}{",
    "NaN",
    "lowest and so on ",
];
const ESCAPES: [&str; 8] = [
    "\\n",
    "\\\"",
    "\\\\",
    "\\/",
    "\\u00e9",
    "\\ud83d\\ude00",
    "\\u0000",
    "\\b\\f\\r\\t",
];
const BAD: [&[u8]; 9] = [
    b"\\ud83d",
    b"\\ude00",
    b"\\ud83d\\n",
    b"\\ud83d\\u0041",
    b"\\x",
    b"\\u12G4",
    b"\xFF",
    b"\xE2\x82",
    b"\x01",
];
const VALUES: [&str; 26] = [
    "null",
    "true",
    "false",
    "nul",
    "trve",
    "0",
    "-1",
    "01",
    "1.5",
    "1.",
    "-",
    "1e9",
    "1E+",
    "-0.5e-7",
    "NaN",
    "-Infinity",
    "Infinity",
    "1NaN",
    "0NaN",
    "Infinit",
    "1e999",
    "123456789012345678901234567890",
    "[]",
    "{}",
    "[1, [], {\"text\": \"c\"}, \"]\"]",
    "{\"text\": {\"text\": [{}]}, \"a\": \"}\"}",
];
const SPACES: [&str; 5] = ["", "", " ", "\t ", "\r"];

impl Random {
    /// A number below another.
    pub(in crate::reading) fn below(&mut self, most: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        ((self.0 >> 33) as usize) % most
    }

    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    /// A string, in which few things are wrong.
    fn string(&mut self) -> Vec<u8> {
        let mut string = b"\"".to_vec();
        for _ in 0..self.below(12) {
            match self.below(40) {
                0 => string.extend_from_slice(self.one(&BAD)),
                1..15 => string.extend_from_slice(self.one(&ESCAPES).as_bytes()),
                _ => string.extend_from_slice(self.one(&PLAIN).as_bytes()),
            }
        }
        string.push(b'"');
        string
    }

    fn value(&mut self, is_text: bool) -> Vec<u8> {
        match self.below(20) {
            0..4 => self.one(&VALUES).into(),
            4..8 if !is_text => self.one(&VALUES).into(),
            8..10 if !is_text => {
                let (first, second) = (self.value(false), self.value(false));
                [b"[", &first[..], b" ,", &second, b"]"].concat()
            }
            10..12 if !is_text => {
                let (name, value) = (self.string(), self.value(false));
                [b"{", &name[..], b": ", &value, b"}"].concat()
            }
            _ => self.string(),
        }
    }

    /// A line: mostly a record, of which a byte may be missing, or be another one.
    pub(in crate::reading) fn line(&mut self) -> Vec<u8> {
        let mut line: Vec<u8> = self.one(&["", "", "", " ", "\u{FEFF}", "\x0B"]).into();
        match self.below(20) {
            0 => line.extend(self.value(false)),
            1 => {}
            _ => self.push_object(&mut line),
        }
        line.extend_from_slice(self.one(&SPACES).as_bytes());
        if !line.is_empty() && self.below(3) == 0 {
            let at = self.below(line.len());
            match self.below(3) {
                0 => drop(line.remove(at)),
                1 => line.truncate(at),
                _ => line[at] = self.one(b"{}[]:,\"\\x0-. "),
            }
        }
        line
    }

    fn push_object(&mut self, line: &mut Vec<u8>) {
        line.push(b'{');
        for index in 0..self.below(4) {
            let name = self.one(&NAMES);
            let value = self.value(name.ends_with("xt") || name.ends_with("\\u0078t"));
            let parts: [&[u8]; 8] = [
                if index > 0 { b"," } else { b"" },
                self.one(&SPACES).as_bytes(),
                b"\"",
                name.as_bytes(),
                b"\":",
                self.one(&SPACES).as_bytes(),
                &value,
                self.one(&SPACES).as_bytes(),
            ];
            line.extend(parts.concat());
        }
        line.push(b'}');
    }
}
