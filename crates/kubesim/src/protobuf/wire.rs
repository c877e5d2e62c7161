//! The protobuf wire format.

#[derive(Debug, Clone, Copy)]
pub(super) enum Field<'a> {
    Number(u64),
    Fixed(u64),
    Bytes(&'a [u8]),
}

/// The numbered fields of a message, in order.
pub(super) fn fields(mut bytes: &[u8]) -> Result<Vec<(u64, Field<'_>)>, String> {
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let tag = varint(&mut bytes)?;
        let field = match tag & 7 {
            0 => Field::Number(varint(&mut bytes)?),
            1 => Field::Fixed(u64::from_le_bytes(
                take(&mut bytes, 8)?.try_into().map_err(|_| SHORT)?,
            )),
            2 => {
                let length = usize::try_from(varint(&mut bytes)?).map_err(|_| SHORT)?;
                Field::Bytes(take(&mut bytes, length)?)
            }
            5 => {
                let four: [u8; 4] = take(&mut bytes, 4)?.try_into().map_err(|_| SHORT)?;
                Field::Fixed(u64::from(u32::from_le_bytes(four)))
            }
            other => return Err(format!("wire type {other} is not known")),
        };
        found.push((tag >> 3, field));
    }
    Ok(found)
}

const SHORT: &str = "unexpected EOF";

fn take<'a>(bytes: &mut &'a [u8], length: usize) -> Result<&'a [u8], String> {
    let (taken, rest) = bytes.split_at_checked(length).ok_or(SHORT)?;
    *bytes = rest;
    Ok(taken)
}

fn varint(bytes: &mut &[u8]) -> Result<u64, String> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let byte = take(bytes, 1)?[0];
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Ok(value);
        }
    }
    Err("a number is too long".into())
}
