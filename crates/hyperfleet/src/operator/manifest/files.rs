//! What `-f` names.

use std::io::Read;
use std::path::{Path, PathBuf};

use hyperfleet_source::SourceFile;

use crate::operator::failure::Failure;

/// Every file, in the order named; those of a directory by name.
pub(super) fn read(names: &[String], recursive: bool) -> Result<Vec<SourceFile>, Failure> {
    let mut sources = Vec::new();
    for name in names {
        if name == "-" {
            let mut text = String::new();
            std::io::stdin()
                .read_to_string(&mut text)
                .map_err(|error| Failure::usage(format!("cannot read standard input: {error}")))?;
            sources.push(SourceFile::new("standard input", text));
            continue;
        }
        let path = Path::new(name);
        if !path.is_dir() {
            sources.push(load(path)?);
            continue;
        }
        for path in listed(path, recursive)? {
            sources.push(load(&path)?);
        }
    }
    Ok(sources)
}

fn load(path: &Path) -> Result<SourceFile, Failure> {
    let text = std::fs::read_to_string(path).map_err(|error| problem(path, &error))?;
    Ok(SourceFile::new(path.display().to_string(), text))
}

fn listed(directory: &Path, recursive: bool) -> Result<Vec<PathBuf>, Failure> {
    let entries = std::fs::read_dir(directory).map_err(|error| problem(directory, &error))?;
    let mut paths = Vec::new();
    for entry in entries {
        paths.push(entry.map_err(|error| problem(directory, &error))?.path());
    }
    paths.sort();
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            if recursive {
                files.extend(listed(&path, recursive)?);
            }
        } else if path
            .extension()
            .is_some_and(|end| end == "yaml" || end == "yml" || end == "json")
        {
            files.push(path);
        }
    }
    Ok(files)
}

fn problem(path: &Path, error: &std::io::Error) -> Failure {
    Failure::usage(format!("cannot read {}: {error}", path.display()))
}
