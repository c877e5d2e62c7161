//! Files a task configuration refers to: only those beside it.

use std::path::{Component, Path, PathBuf};

use hyperfleet_source::{Node, SourceFile, yaml};

use hyperfleet_source::fields::Found;

/// The directory of the task configuration.
pub(super) struct Files {
    directory: PathBuf,
}

impl Files {
    pub(super) fn beside(task: &Path) -> Self {
        Self {
            directory: task.parent().unwrap_or(Path::new(".")).to_owned(),
        }
    }

    /// The file a node names.
    pub(super) fn read(&self, node: &Node, found: &mut Found) -> Option<SourceFile> {
        let Some(written) = node.as_str().filter(|path| !path.is_empty()) else {
            found.push(node.error(format!("a file name is a text, found {}", node.kind())));
            return None;
        };
        let Some(path) = self.inside(Path::new(written)) else {
            let message = format!(
                "`{written}` is outside of {}: files must lie beside the task configuration",
                self.directory.display()
            );
            found.push(node.error(message));
            return None;
        };
        match std::fs::read_to_string(&path) {
            Ok(text) => Some(SourceFile::new(path.display().to_string(), text)),
            Err(error) => {
                let message = format!("cannot read {}: {error}", path.display());
                found.push(node.error(message));
                None
            }
        }
    }

    pub(super) fn read_yaml(&self, node: &Node, found: &mut Found) -> Option<Node> {
        let file = self.read(node, found)?;
        match yaml::parse(&file) {
            Ok(tree) => Some(tree),
            Err(wrong) => {
                found.extend(wrong);
                None
            }
        }
    }

    /// Absolute paths are allowed if they lead into the directory.
    fn inside(&self, written: &Path) -> Option<PathBuf> {
        let relative = match written.is_absolute() {
            false => written,
            true => written.strip_prefix(&self.directory).ok()?,
        };
        let mut depth = 0_i32;
        for step in relative.components() {
            match step {
                Component::Normal(_) => depth += 1,
                Component::ParentDir => depth -= 1,
                Component::CurDir => {}
                Component::RootDir | Component::Prefix(_) => return None,
            }
            if depth < 0 {
                return None;
            }
        }
        Some(self.directory.join(relative))
    }
}
