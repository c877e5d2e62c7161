//! `-o`: how data is printed.

use std::str::FromStr;

use hyperfleet_source::suggest;

use super::jsonpath::{Path, Template};

/// How to print resources.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Shape {
    Table,
    Wide,
    Json,
    Yaml,
    /// `cluster/production-1`, a line each.
    Name,
    JsonPath(Template),
    Columns(Vec<(String, Path)>),
}

const NAMES: [&str; 7] = [
    "table",
    "wide",
    "json",
    "yaml",
    "name",
    "jsonpath=",
    "custom-columns=",
];

impl FromStr for Shape {
    type Err = String;

    fn from_str(text: &str) -> Result<Shape, String> {
        match text.split_once('=') {
            Some(("jsonpath", template)) => Template::parse(template).map(Shape::JsonPath),
            Some(("custom-columns", columns)) => columns_of(columns).map(Shape::Columns),
            _ => match text {
                "table" => Ok(Shape::Table),
                "wide" => Ok(Shape::Wide),
                "json" => Ok(Shape::Json),
                "yaml" => Ok(Shape::Yaml),
                "name" => Ok(Shape::Name),
                other => Err(format!(
                    "`{other}` is none of {}{}",
                    NAMES.join(", "),
                    suggest::nearest(other, NAMES)
                        .map(|near| format!("; did you mean `{near}`?"))
                        .unwrap_or_default()
                )),
            },
        }
    }
}

fn columns_of(text: &str) -> Result<Vec<(String, Path)>, String> {
    let column = |column: &str| {
        let (head, path) = column
            .split_once(':')
            .ok_or_else(|| format!("`{column}` is no column; write NAME:.path"))?;
        Ok((head.to_owned(), Path::parse(path)?))
    };
    text.split(',').map(column).collect()
}

impl Shape {
    pub(crate) fn is_table(&self) -> bool {
        matches!(self, Shape::Table | Shape::Wide)
    }
}

/// How to print one thing that is no resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Document {
    Json,
    Yaml,
}

impl Document {
    pub(crate) fn text<T: serde::Serialize>(self, value: &T) -> anyhow::Result<String> {
        Ok(match self {
            Document::Json => serde_json::to_string_pretty(value)? + "\n",
            Document::Yaml => {
                // Through JSON: what a type is called inside is nobody's business.
                serde_yaml_ng::to_string(&serde_json::to_value(value)?)?
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_shape_is_told_with_the_one_that_was_probably_meant() {
        let told = "jsn".parse::<Shape>().unwrap_err();
        assert!(told.ends_with("did you mean `json`?"), "{told}");
        assert!("custom-columns=NAME".parse::<Shape>().is_err());
        assert!("jsonpath={.a".parse::<Shape>().is_err());
        let columns = "custom-columns=NAME:.name,PHASE:.status.phase";
        let Ok(Shape::Columns(columns)) = columns.parse() else {
            panic!("columns");
        };
        assert_eq!(columns.len(), 2);
    }
}
