//! Whether a change is made, or only tried.

/// What is to become of a change that nothing speaks against.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Effect {
    /// It is made.
    #[default]
    Lasting,
    /// It is checked and answered as if it were made, and nothing is kept of it.
    Rehearsed,
}

impl Effect {
    pub fn is_lasting(self) -> bool {
        self == Effect::Lasting
    }
}
