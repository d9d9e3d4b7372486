//! Whole numbers in as few bytes as they need (LEB128): seven bits a byte, the low ones first, and
//! the high bit where more follow.

/// Append a number.
pub(crate) fn push(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// The number whose bytes `next` returns; `None` if it needs more than 64 bits.
pub(crate) fn read<E>(mut next: impl FnMut() -> Result<u8, E>) -> Result<Option<u64>, E> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let byte = next()?;
        let bits = u64::from(byte & 0x7F);
        if bits << shift >> shift != bits {
            break;
        }
        number |= bits << shift;
        if byte & 0x80 == 0 {
            return Ok(Some(number));
        }
    }
    Ok(None)
}
