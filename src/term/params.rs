//! The parameters of a control sequence, read as tmux reads them. Knows no sequence's meaning.

/// Most parameters that a sequence may have; one with more is dropped whole.
const MOST: usize = 23;

/// The value of one parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Value {
    Missing,
    Number(i32),
    /// One with sub-parameters (`38:2:1:2:3`), which nothing but SGR understands.
    Nested,
}

/// The numbers between `CSI` and the final byte.
#[derive(Debug)]
pub struct Params {
    values: [Value; MOST],
    len: usize,
}

impl Params {
    /// Reads digits, `;` and `:`. `None` when the sequence is to be dropped: 24 or more parameters, or a number
    /// that no `i32` holds.
    pub fn parse(text: &[u8]) -> Option<Params> {
        let mut params = Params {
            values: [Value::Missing; MOST],
            len: 0,
        };
        if text.is_empty() {
            return Some(params);
        }
        for field in text.split(|&byte| byte == b';') {
            let value = params.values.get_mut(params.len)?;
            params.len += 1;
            *value = if field.is_empty() {
                Value::Missing
            } else if field.contains(&b':') {
                Value::Nested
            } else {
                let mut number = 0i32;
                for &byte in field {
                    let digit = byte.checked_sub(b'0').filter(|digit| *digit < 10)?;
                    number = number.checked_mul(10)?.checked_add(digit.into())?;
                }
                Value::Number(number)
            };
        }
        Some(params)
    }

    /// How many parameters there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Parameter `index`: `default` when it is missing, at least `least`; `None` when it has sub-parameters.
    pub fn get(&self, index: usize, least: usize, default: usize) -> Option<usize> {
        match self.values[..self.len].get(index) {
            None | Some(Value::Missing) => Some(default),
            Some(Value::Nested) => None,
            // Not negative: `parse` reads no sign.
            Some(Value::Number(number)) => Some((*number as usize).max(least)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_nested_and_dropped() {
        let params = Params::parse(b"3;;4:2;0;").unwrap();
        assert_eq!(params.len(), 5);
        let got: Vec<_> = (0..6).map(|i| params.get(i, 1, 7)).collect();
        assert_eq!(got, [Some(3), Some(7), None, Some(1), Some(7), Some(7)]);
        assert!(Params::parse(b"2147483647").is_some());
        assert!(Params::parse(b"2147483648").is_none());
        assert!(Params::parse(&[b';'; 22]).is_some());
        assert!(Params::parse(&[b';'; 23]).is_none());
        assert!(Params::parse(b"1?2").is_none());
    }
}
