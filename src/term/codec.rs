//! Values as bytes and back, for checkpoints. Loading is total: what is torn or junk is `None`. Must not know what the
//! values mean.

/// A value that can be stored.
pub(crate) trait Stored: Sized {
    fn save(&self, to: &mut Vec<u8>);
    fn load(from: &mut &[u8]) -> Option<Self>;
}

impl Stored for u64 {
    /// Seven bits a byte, the lowest first.
    fn save(&self, to: &mut Vec<u8>) {
        let mut rest = *self;
        while rest >= 0x80 {
            to.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        to.push(rest as u8);
    }

    fn load(from: &mut &[u8]) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let (&byte, rest) = from.split_first()?;
            *from = rest;
            value |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }
}

macro_rules! number {
    ($($kind:ty),*) => { $(
        impl Stored for $kind {
            fn save(&self, to: &mut Vec<u8>) {
                (*self as u64).save(to);
            }
            fn load(from: &mut &[u8]) -> Option<$kind> {
                u64::load(from)?.try_into().ok()
            }
        }
    )* };
}
number!(u8, u16, u32, usize);

impl Stored for i32 {
    fn save(&self, to: &mut Vec<u8>) {
        (*self as u32).save(to);
    }

    fn load(from: &mut &[u8]) -> Option<i32> {
        u32::load(from).map(|bits| bits as i32)
    }
}

impl Stored for bool {
    fn save(&self, to: &mut Vec<u8>) {
        to.push((*self).into());
    }

    fn load(from: &mut &[u8]) -> Option<bool> {
        match u8::load(from)? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }
}

impl Stored for char {
    fn save(&self, to: &mut Vec<u8>) {
        u32::from(*self).save(to);
    }

    fn load(from: &mut &[u8]) -> Option<char> {
        char::from_u32(u32::load(from)?)
    }
}

impl<T: Stored> Stored for Vec<T> {
    fn save(&self, to: &mut Vec<u8>) {
        self.len().save(to);
        self.iter().for_each(|item| item.save(to));
    }

    fn load(from: &mut &[u8]) -> Option<Vec<T>> {
        let len = usize::load(from)?;
        // Every item takes a byte at least: a length that is junk reserves no memory.
        (len <= from.len()).then_some(())?;
        (0..len).map(|_| T::load(from)).collect()
    }
}

impl Stored for String {
    fn save(&self, to: &mut Vec<u8>) {
        save_bytes(self.as_bytes(), to);
    }

    fn load(from: &mut &[u8]) -> Option<String> {
        String::from_utf8(load_bytes(from)?.to_vec()).ok()
    }
}

/// Bytes as they are, behind their number.
pub(crate) fn save_bytes(bytes: &[u8], to: &mut Vec<u8>) {
    bytes.len().save(to);
    to.extend_from_slice(bytes);
}

pub(crate) fn load_bytes<'a>(from: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = usize::load(from)?;
    let (bytes, rest) = from.split_at_checked(length)?;
    *from = rest;
    Some(bytes)
}

impl<T: Stored> Stored for Option<T> {
    fn save(&self, to: &mut Vec<u8>) {
        self.is_some().save(to);
        if let Some(value) = self {
            value.save(to);
        }
    }

    fn load(from: &mut &[u8]) -> Option<Option<T>> {
        Some(if bool::load(from)? {
            Some(T::load(from)?)
        } else {
            None
        })
    }
}

impl<A: Stored, B: Stored> Stored for (A, B) {
    fn save(&self, to: &mut Vec<u8>) {
        self.0.save(to);
        self.1.save(to);
    }

    fn load(from: &mut &[u8]) -> Option<(A, B)> {
        Some((A::load(from)?, B::load(from)?))
    }
}

/// Stores a struct, field by field.
macro_rules! stored {
    ($kind:ty { $($field:ident),* $(,)? }) => {
        impl $crate::term::codec::Stored for $kind {
            fn save(&self, to: &mut Vec<u8>) {
                $( $crate::term::codec::Stored::save(&self.$field, to); )*
            }
            fn load(from: &mut &[u8]) -> Option<Self> {
                $( let $field = $crate::term::codec::Stored::load(from)?; )*
                Some(Self { $($field),* })
            }
        }
    };
}

pub(crate) use stored;

/// FNV-1a, 64 bits: tells a torn file, and is no defence against anyone.
pub(crate) fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xCBF2_9CE4_8422_2325, |sum, byte| {
        (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3)
    })
}
