//! What is due and waits for its turn: first what somebody changed, then what has only grown old.
//!
//! Both are bounded by the fleet: a resource waits once or not at all.

use std::collections::VecDeque;

use crate::table::Key;

#[derive(Debug, Default)]
pub(crate) struct Backlog {
    changed: VecDeque<Key>,
    aged: VecDeque<Key>,
}

/// Why something waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Since {
    Changed,
    Aged,
}

impl Backlog {
    pub(crate) fn push(&mut self, key: Key, since: Since) {
        match since {
            Since::Changed => self.changed.push_back(key),
            Since::Aged => self.aged.push_back(key),
        }
    }

    pub(crate) fn pop(&mut self) -> Option<Key> {
        self.changed.pop_front().or_else(|| self.aged.pop_front())
    }

    pub(crate) fn len(&self) -> usize {
        self.changed.len() + self.aged.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
