//! Tokens that were verified, so that the same token costs a hash the next time and not a signature.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::RwLock;
use sha2::{Digest, Sha256};

use super::Verified;

/// Tokens that are remembered.
const CAPACITY: usize = 10_000;

/// Stands for a token. The token itself is not kept.
pub(super) type Fingerprint = [u8; 32];

#[derive(Debug, Default)]
pub(super) struct VerifiedTokens {
    known: RwLock<HashMap<Fingerprint, Arc<Verified>>>,
}

impl VerifiedTokens {
    /// The same token in another header is another thing: other issuers look there.
    pub(super) fn fingerprint(header: &str, token: &str) -> Fingerprint {
        let mut hash = Sha256::new();
        hash.update(header);
        hash.update([0]);
        hash.update(token);
        hash.finalize().into()
    }

    pub(super) fn get(&self, token: &Fingerprint) -> Option<Arc<Verified>> {
        self.known.read().get(token).cloned()
    }

    pub(super) fn forget(&self, token: &Fingerprint) {
        self.known.write().remove(token);
    }

    pub(super) fn put(&self, token: Fingerprint, verified: Arc<Verified>, now: i64) {
        let mut known = self.known.write();
        if known.len() >= CAPACITY {
            known.retain(|_, verified| verified.expires > now);
        }
        if known.len() >= CAPACITY {
            // More callers than are remembered: begin anew rather than keep a list of who was last.
            known.clear();
        }
        known.insert(token, verified);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn not_everything_is_remembered_for_ever() {
        let tokens = VerifiedTokens::default();
        for number in 0..CAPACITY + 10 {
            let token = VerifiedTokens::fingerprint("authorization", &number.to_string());
            tokens.put(token, Arc::new(Verified::for_test(i64::MAX)), 0);
            assert!(tokens.known.read().len() <= CAPACITY);
        }
    }

    #[test]
    fn what_has_expired_makes_room_first() {
        let tokens = VerifiedTokens::default();
        let token = |number: usize| VerifiedTokens::fingerprint("a", &number.to_string());
        for number in 0..CAPACITY {
            let expires = if number == 7 { 100 } else { 10 };
            tokens.put(token(number), Arc::new(Verified::for_test(expires)), 0);
        }
        tokens.put(token(CAPACITY), Arc::new(Verified::for_test(100)), 50);
        assert_eq!(tokens.known.read().len(), 2);
        assert!(tokens.get(&token(7)).is_some());
    }
}
