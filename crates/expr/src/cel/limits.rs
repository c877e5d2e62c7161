//! What one expression may cost.

/// Bounds on compiling and evaluating an expression. The defaults are far above what a gate or a payload needs and
/// low enough that a hostile expression ends within some tens of milliseconds and megabytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Steps of one evaluation: one per visited node and produced element, one per 16 bytes read or produced.
    pub steps: u64,
    /// Longest source text, in bytes.
    pub expression_bytes: usize,
    /// Deepest nesting of the syntax tree; bounds the stack of parser and evaluator.
    pub depth: u16,
    /// How many comprehensions may stand inside each other.
    pub comprehension_nesting: u16,
    /// Longest string or byte sequence an evaluation may produce.
    pub string_bytes: usize,
    /// Most elements a produced list or map may have.
    pub collection_items: usize,
    /// Size of a compiled regular expression, in bytes.
    pub regex_bytes: usize,
}

/// Above this the evaluator could outgrow a 2 MiB thread stack in an unoptimised build.
pub(crate) const MAX_DEPTH: u16 = 200;

impl Default for Limits {
    fn default() -> Self {
        Self {
            steps: 1_000_000,
            expression_bytes: 64 * 1024,
            depth: MAX_DEPTH,
            comprehension_nesting: 8,
            string_bytes: 1024 * 1024,
            collection_items: 100_000,
            regex_bytes: 256 * 1024,
        }
    }
}

impl Limits {
    /// Depth never exceeds what the stack holds, whatever was asked for.
    pub(crate) fn effective_depth(&self) -> u16 {
        self.depth.min(MAX_DEPTH)
    }
}
