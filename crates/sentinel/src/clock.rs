//! The time, as something that can be replaced.

use std::fmt;
use std::sync::Arc;

use hyperfleet_core::time::Time;

/// Tells the time. Timers follow it too, so a test that moves it moves everything.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> Time + Send + Sync>);

impl Clock {
    /// The clock of this machine.
    pub fn system() -> Clock {
        Clock::new(chrono::Utc::now)
    }

    pub fn new(now: impl Fn() -> Time + Send + Sync + 'static) -> Clock {
        Clock(Arc::new(now))
    }

    pub fn now(&self) -> Time {
        (self.0)()
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Clock({})", self.now())
    }
}
