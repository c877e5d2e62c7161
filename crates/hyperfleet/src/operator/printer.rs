//! Resources on stdout, as they come in.

use std::io::Write as _;

use hyperfleet_client::RemoteResource;
use serde_json::{Value, json};

use super::columns::{Column, Surroundings};
use super::failure::Failure;
use super::fleet::called;
use super::shape::Shape;
use crate::output::{Cell, Grid, Look};

/// Writes text to stdout, at once.
pub(crate) fn data(text: &str) -> Result<(), Failure> {
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()?;
    Ok(())
}

/// Whether one thing was asked for or a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Plurality {
    One,
    Many,
}

/// Prints resources in one shape. Only `jsonpath` over a list needs all of it before it can begin.
pub(crate) struct Printer<'s> {
    shape: &'s Shape,
    plurality: Plurality,
    columns: Vec<Column>,
    grid: Grid,
    kept: Vec<Value>,
    printed: usize,
}

impl<'s> Printer<'s> {
    pub(crate) fn new(
        shape: &'s Shape,
        columns: Vec<Column>,
        plurality: Plurality,
        heads: Heads,
    ) -> Printer<'s> {
        let look = match shape {
            // Whoever asks for wide gets it whole.
            Shape::Wide => Look {
                width: None,
                ..Look::of_stdout()
            },
            _ => Look::of_stdout(),
        };
        let grid = match shape {
            Shape::Columns(columns) => Grid::new(columns.iter().map(|(head, _)| head), look),
            _ => Grid::new(columns.iter().map(|column| column.head()), look),
        };
        Printer {
            shape,
            plurality,
            columns,
            grid: match heads {
                Heads::Shown => grid,
                Heads::Hidden => grid.without_heads(),
            },
            kept: Vec::new(),
            printed: 0,
        }
    }

    /// The next ones, each with what surrounds it.
    pub(crate) fn page(
        &mut self,
        page: &[(&RemoteResource, Surroundings<'_>)],
    ) -> Result<(), Failure> {
        if page.is_empty() {
            return Ok(());
        }
        match self.shape {
            Shape::Table | Shape::Wide => {
                let row = |(resource, around): &(&RemoteResource, Surroundings<'_>)| {
                    let cell = |column: &Column| column.cell(resource, around);
                    self.columns.iter().map(cell).collect()
                };
                let rows: Vec<Vec<Cell>> = page.iter().map(row).collect();
                data(&self.grid.page(&rows))?;
            }
            Shape::Columns(columns) => {
                let rows: Vec<Vec<Cell>> = page
                    .iter()
                    .map(|(resource, _)| {
                        let text = |path: &super::jsonpath::Path| path.text(&resource.raw);
                        let cell = |text: String| match text.is_empty() {
                            true => Cell::new("<none>"),
                            false => Cell::new(text),
                        };
                        columns.iter().map(|(_, path)| cell(text(path))).collect()
                    })
                    .collect();
                data(&self.grid.page(&rows))?;
            }
            Shape::Name => {
                let lines: Vec<String> = page
                    .iter()
                    .map(|(resource, _)| called(resource) + "\n")
                    .collect();
                data(&lines.concat())?;
            }
            Shape::Json | Shape::Yaml => {
                for (offset, (resource, _)) in page.iter().enumerate() {
                    self.document(&resource.raw, self.printed + offset)?;
                }
            }
            Shape::JsonPath(template) if self.plurality == Plurality::One => {
                for (resource, _) in page {
                    data(&with_line_end(template.render(&resource.raw)))?;
                }
            }
            Shape::JsonPath(_) => {
                let raw = page.iter().map(|(resource, _)| resource.raw.clone());
                self.kept.extend(raw);
            }
        }
        self.printed += page.len();
        Ok(())
    }

    fn document(&self, value: &Value, position: usize) -> Result<(), Failure> {
        let whole = |value: &Value| serde_json::to_string_pretty(value);
        let text = match (self.shape, self.plurality) {
            (Shape::Json, Plurality::One) => whole(value).map_err(anyhow::Error::from)? + "\n",
            (Shape::Json, Plurality::Many) => {
                let item = whole(value).map_err(anyhow::Error::from)?;
                let before = match position {
                    0 => "{\n  \"kind\": \"List\",\n  \"items\": [\n",
                    _ => ",\n",
                };
                let indented: Vec<String> =
                    item.lines().map(|line| format!("    {line}")).collect();
                format!("{before}{}", indented.join("\n"))
            }
            (_, Plurality::One) => serde_yaml_ng::to_string(value).map_err(anyhow::Error::from)?,
            (_, Plurality::Many) => {
                let before = match position {
                    0 => "kind: List\nitems:\n",
                    _ => "",
                };
                let item = serde_yaml_ng::to_string(&[value]).map_err(anyhow::Error::from)?;
                format!("{before}{item}")
            }
        };
        data(&text)
    }

    /// The end of it; how many there were.
    pub(crate) fn end(mut self) -> Result<usize, Failure> {
        match (self.shape, self.plurality) {
            (Shape::Json, Plurality::Many) => data(match self.printed {
                0 => "{\n  \"kind\": \"List\",\n  \"items\": []\n}\n",
                _ => "\n  ]\n}\n",
            })?,
            (Shape::Yaml, Plurality::Many) if self.printed == 0 => {
                data("kind: List\nitems: []\n")?;
            }
            (Shape::JsonPath(template), Plurality::Many) => {
                let items = std::mem::take(&mut self.kept);
                let list = json!({"kind": "List", "items": items});
                data(&with_line_end(template.render(&list)))?;
            }
            _ => {}
        }
        Ok(self.printed)
    }
}

/// kubectl leaves the end of the line to the template; a prompt behind the text helps nobody.
fn with_line_end(text: String) -> String {
    match text.is_empty() || text.ends_with('\n') {
        true => text,
        false => text + "\n",
    }
}

/// Whether a table begins with what its columns are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Heads {
    Shown,
    Hidden,
}
