//! Base64 and JSON text.

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use super::{ANY, BYTES, Builtin, Outcome, STRING};
use crate::cel::error::{Fault, invalid};
use crate::cel::meter::Meter;
use crate::cel::typing::Type;
use crate::cel::value::Value;

pub(super) const TABLE: &[Builtin] = &[
    Builtin::global("base64.encode", &[BYTES], Type::String, encode),
    Builtin::global("base64.decode", &[STRING], Type::Bytes, decode),
    Builtin::global("toJson", &[ANY], Type::String, to_json),
];

/// Writes padding, reads with or without it.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

fn encode<'a>(meter: &mut Meter<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    let Value::Bytes(bytes) = &args[0] else {
        return Err(Fault::Overload);
    };
    meter.produce(bytes.len().saturating_mul(4) / 3)?;
    Ok(Value::string(BASE64.encode(bytes)))
}

fn decode<'a>(meter: &mut Meter<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    let text = args[0].as_str().ok_or(Fault::Overload)?;
    meter.produce(text.len())?;
    let bytes = BASE64
        .decode(text)
        .map_err(|e| invalid(format!("not base64: {e}")))?;
    Ok(Value::Bytes(bytes.into()))
}

fn to_json<'a>(meter: &mut Meter<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    let json = args[0]
        .to_json_within(&mut meter.budget)
        .ok_or_else(|| meter.exhausted())?;
    let text = json.to_string();
    meter.produce(text.len())?;
    Ok(Value::string(text))
}
