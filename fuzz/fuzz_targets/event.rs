//! Any bytes as a message: no panic, and an event that can be written is read as the same again.
#![no_main]

use hyperfleet_broker::Event;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(event) = Event::decode(bytes) else {
        return;
    };
    // More is read than may be written: an id may be missing, an extension may have an odd name.
    if let Ok(written) = event.encode() {
        let again = Event::decode(&written).expect("what was written can be read");
        assert_eq!((again.id, again.data), (event.id, event.data));
        assert_eq!(again.extensions, event.extensions);
    }
});
