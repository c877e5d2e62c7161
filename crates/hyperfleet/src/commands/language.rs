//! `hyperfleet expr eval` and `hyperfleet template render`: what an author sees is what production does.

use std::io::Read;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use chrono::Utc;
use hyperfleet_expr::cel::{Bindings, Environment, Type};
use hyperfleet_expr::template::{Data, Template, parse_yaml};
use serde_json::{Map, Value};

pub(crate) fn evaluate(expression: &str, data: Option<&Path>) -> Result<()> {
    let data = read_data(data)?;
    let names = data.keys().map(|name| (name.clone(), Type::Dyn));
    let program = Environment::standard()
        .with_variables(names)
        .compile(expression)
        .map_err(|problems| anyhow!("{problems}"))?;
    let bindings = Bindings::new(Utc::now()).bind_all(&data);
    let result = program
        .evaluate_json(&bindings)
        .map_err(|error| anyhow!("{}", error.render(expression)))?;
    println!("{}", serde_json::to_string_pretty(&result)?);
    Ok(())
}

pub(crate) fn render(file: &Path, data: Option<&Path>) -> Result<()> {
    if is_stdin(file) && data.is_some_and(is_stdin) {
        bail!("only one of the template and its data can come from standard input");
    }
    let source = read(file)?;
    let template = Template::parse(&file.display().to_string(), &source)?;
    let data = read_data(data)?;
    print!("{}", template.render(&Data::from(&data), Utc::now())?);
    Ok(())
}

/// A mapping from a JSON or YAML file; nothing is an empty one.
fn read_data(file: Option<&Path>) -> Result<Map<String, Value>> {
    let Some(file) = file else {
        return Ok(Map::new());
    };
    match parse_yaml(&read(file)?)
        .with_context(|| format!("cannot read the data in {}", file.display()))?
    {
        Value::Object(data) => Ok(data),
        Value::Null => Ok(Map::new()),
        _ => bail!(
            "the data in {} must be a mapping: its keys are the variables",
            file.display()
        ),
    }
}

fn read(file: &Path) -> Result<String> {
    if is_stdin(file) {
        let mut text = String::new();
        std::io::stdin()
            .read_to_string(&mut text)
            .context("cannot read standard input")?;
        return Ok(text);
    }
    std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))
}

fn is_stdin(file: &Path) -> bool {
    file == Path::new("-")
}
