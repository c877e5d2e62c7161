//! JSON, YAML, base64, base32, digests, and ids derived from names.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256, Sha512};

use super::{Function, Outcome, plain, text};
use crate::template::context::{Context, Problem};
use crate::template::value::Value;
use crate::template::yaml;

pub(super) const FUNCTIONS: &[Function] = &[
    plain("toJson", 1, 1, |c, a| {
        c.text(html_safe(&c.json(&a[0])?.to_string()))
    }),
    plain("toRawJson", 1, 1, |c, a| c.text(c.json(&a[0])?.to_string())),
    plain("toPrettyJson", 1, 1, |c, a| {
        let json = c.json(&a[0])?;
        // A JSON value always serializes.
        c.text(html_safe(
            &serde_json::to_string_pretty(&json).unwrap_or_default(),
        ))
    }),
    plain("fromJson", 1, 1, |c, a| {
        match serde_json::from_str(&text(a, 0)?) {
            Ok(json) => c.own(json),
            Err(e) => Err(format!("no valid JSON: {e}").into()),
        }
    }),
    plain("toYaml", 1, 1, |c, a| c.text(yaml::emit(&c.json(&a[0])?))),
    plain("fromYaml", 1, 1, |c, a| match yaml::parse(&text(a, 0)?) {
        Ok(json) => c.own(json),
        Err(e) => Err(format!("no valid YAML: {e}").into()),
    }),
    plain("b64enc", 1, 1, |c, a| {
        c.text(STANDARD.encode(text(a, 0)?.as_bytes()))
    }),
    plain("b64dec", 1, 1, b64dec),
    plain("b32enc", 1, 1, |c, a| {
        c.text(b32enc(text(a, 0)?.as_bytes()))
    }),
    plain("b32dec", 1, 1, |c, a| {
        match b32dec(&text(a, 0)?).map(String::from_utf8) {
            Some(Ok(text)) => c.text(text),
            _ => Err("no base32 of a text".into()),
        }
    }),
    plain("sha1sum", 1, 1, |c, a| {
        c.text(
            sha1_smol::Sha1::from(text(a, 0)?.as_bytes())
                .digest()
                .to_string(),
        )
    }),
    plain("sha256sum", 1, 1, |c, a| {
        c.text(hex(&Sha256::digest(text(a, 0)?.as_bytes())))
    }),
    plain("sha512sum", 1, 1, |c, a| {
        c.text(hex(&Sha512::digest(text(a, 0)?.as_bytes())))
    }),
    plain("uuidv5", 2, 2, uuidv5),
];

/// Go's encoder escapes these, so that a digest over the text agrees.
fn html_safe(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                out.push_str(&format!("\\u{:04x}", u32::from(c)));
            }
            c => out.push(c),
        }
    }
    out
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

fn b64dec<'a>(context: &Context<'a>, args: &[Value<'a>]) -> Outcome<'a> {
    let encoded = text(args, 0)?;
    match STANDARD.decode(encoded.as_bytes()).map(String::from_utf8) {
        Ok(Ok(text)) => context.text(text),
        Ok(Err(_)) => Err("the decoded bytes are no text".into()),
        Err(e) => Err(format!("no valid base64: {e}").into()),
    }
}

const ALPHABET: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

fn b32enc(bytes: &[u8]) -> String {
    let mut out = String::new();
    for chunk in bytes.chunks(5) {
        let mut block = [0_u8; 5];
        block[..chunk.len()].copy_from_slice(chunk);
        let bits = block
            .iter()
            .fold(0_u64, |bits, b| bits << 8 | u64::from(*b));
        let letters = (chunk.len() * 8).div_ceil(5);
        for i in 0..8 {
            let at = (bits >> (35 - 5 * i) & 31) as usize;
            out.push(if i < letters {
                char::from(ALPHABET[at])
            } else {
                '='
            });
        }
    }
    out
}

fn b32dec(text: &str) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let (mut bits, mut width) = (0_u32, 0);
    for c in text.trim_end_matches('=').bytes() {
        let value = ALPHABET.iter().position(|b| *b == c)? as u32;
        bits = (bits << 5 | value) & 0xfff;
        width += 5;
        if width >= 8 {
            width -= 8;
            out.push((bits >> width & 0xff) as u8);
        }
    }
    Some(out)
}

/// `uuidv5 namespace name`: the same id for the same names, always. The
/// namespace is a UUID or one of dns, url, oid, x500.
fn uuidv5<'a>(context: &Context<'a>, args: &[Value<'a>]) -> Outcome<'a> {
    let (namespace, name) = (text(args, 0)?, text(args, 1)?);
    let spelled = match &*namespace {
        "dns" => "6ba7b810-9dad-11d1-80b4-00c04fd430c8",
        "url" => "6ba7b811-9dad-11d1-80b4-00c04fd430c8",
        "oid" => "6ba7b812-9dad-11d1-80b4-00c04fd430c8",
        "x500" => "6ba7b814-9dad-11d1-80b4-00c04fd430c8",
        other => other,
    };
    let digits: String = spelled.chars().filter(|c| *c != '-').collect();
    let valid = digits.len() == 32 && digits.bytes().all(|b| b.is_ascii_hexdigit());
    let bytes = u128::from_str_radix(&digits, 16).ok().filter(|_| valid);
    let Some(bytes) = bytes else {
        return Err(Problem::from(format!(
            "{namespace:?} is no UUID and no known namespace"
        )));
    };
    let mut hash = sha1_smol::Sha1::new();
    hash.update(&bytes.to_be_bytes());
    hash.update(name.as_bytes());
    let mut id = [0_u8; 16];
    id.copy_from_slice(&hash.digest().bytes()[..16]);
    id[6] = id[6] & 0x0f | 0x50;
    id[8] = id[8] & 0x3f | 0x80;
    let h = hex(&id);
    context.text(format!(
        "{}-{}-{}-{}-{}",
        &h[..8],
        &h[8..12],
        &h[12..16],
        &h[16..20],
        &h[20..]
    ))
}
