//! Variables of one body while it is parsed: each declaration gets a slot.

use crate::template::tree::Expr;

/// Where `release` returns to.
pub(super) struct Mark(usize);

pub(super) struct Scope<'s> {
    body: usize,
    /// Visible variables, innermost last.
    visible: Vec<(&'s str, usize)>,
    /// Per slot: whether it is an alias of the body's own dot.
    aliases: Vec<bool>,
    pub dot_is_root: bool,
}

impl Default for Scope<'_> {
    fn default() -> Self {
        Scope::for_body(0)
    }
}

impl<'s> Scope<'s> {
    pub(super) fn for_body(body: usize) -> Self {
        Scope {
            body,
            visible: vec![("$", 0)],
            aliases: vec![true],
            dot_is_root: true,
        }
    }

    pub(super) fn body(&self) -> usize {
        self.body
    }

    pub(super) fn slots(&self) -> usize {
        self.aliases.len()
    }

    pub(super) fn mark(&self) -> Mark {
        Mark(self.visible.len())
    }

    pub(super) fn release(&mut self, mark: Mark) {
        self.visible.truncate(mark.0);
    }

    pub(super) fn declare(&mut self, name: &'s str) -> usize {
        let slot = self.aliases.len();
        self.aliases.push(false);
        self.visible.push((name, slot));
        slot
    }

    pub(super) fn find(&self, name: &str) -> Option<usize> {
        let found = self.visible.iter().rev().find(|(n, _)| *n == name);
        found.map(|(_, slot)| *slot)
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &'s str> {
        self.visible.iter().map(|(name, _)| *name)
    }

    pub(super) fn set_alias(&mut self, slot: usize, alias: bool) {
        self.aliases[slot] = alias;
    }

    pub(super) fn slot_is_root(&self, slot: usize) -> bool {
        self.aliases[slot]
    }

    pub(super) fn is_root(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Dot => self.dot_is_root,
            Expr::Slot(slot) => self.slot_is_root(*slot),
            _ => false,
        }
    }
}
