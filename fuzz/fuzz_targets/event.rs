//! Any bytes as a message: no panic, and what is read as an event can be written and read again.
#![no_main]

use hyperfleet_broker::Event;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(event) = Event::decode(bytes) {
        let written = event.encode().expect("what was read can be written");
        let again = Event::decode(&written);
        assert!(again.is_ok(), "{again:?}");
    }
});
