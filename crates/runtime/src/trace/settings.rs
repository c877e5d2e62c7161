//! The standard variables, read strictly: a typo must not silently change what is sampled.

use std::time::Duration;

use super::{TraceError, TracingConfig};

type Lookup<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Which traces are kept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Root {
    AlwaysOn,
    AlwaysOff,
    Ratio(f64),
}

/// The sampling rule of a process.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sampling {
    pub(super) follows_parent: bool,
    pub(super) root: Root,
}

/// What carries the context between processes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Propagation {
    pub(super) trace_context: bool,
    pub(super) baggage: bool,
}

/// Everything the variables decide that the exporter does not read by itself.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Settings {
    /// The collector's URL for traces.
    pub(super) endpoint: String,
    /// For one request to the collector.
    pub(super) timeout: Duration,
    pub(super) sampling: Sampling,
    pub(super) propagation: Propagation,
}

impl Settings {
    /// The standard variables win over the configuration.
    pub(super) fn read(config: &TracingConfig, lookup: Lookup<'_>) -> Result<Self, TraceError> {
        check_protocol(lookup)?;
        Ok(Self {
            endpoint: endpoint(config, lookup)?,
            timeout: timeout(lookup)?,
            sampling: sampling(config, lookup)?,
            propagation: propagation(lookup)?,
        })
    }
}

fn get(lookup: Lookup<'_>, name: &'static str) -> Option<String> {
    lookup(name)
        .map(|value| value.trim().to_owned())
        .filter(|value| !value.is_empty())
}

fn wrong(name: &'static str, value: &str, problem: &str) -> TraceError {
    TraceError::Setting {
        name,
        value: value.to_owned(),
        problem: problem.to_owned(),
    }
}

/// The signal's own variable is the whole URL; the general one is a base.
fn endpoint(config: &TracingConfig, lookup: Lookup<'_>) -> Result<String, TraceError> {
    const OWN: &str = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";
    const GENERAL: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
    let (name, url, path) = match (get(lookup, OWN), get(lookup, GENERAL), &config.endpoint) {
        (Some(url), _, _) => (OWN, url, ""),
        (None, Some(url), _) => (GENERAL, url, "/v1/traces"),
        (None, None, Some(url)) => ("tracing.endpoint", url.clone(), ""),
        (None, None, None) => (GENERAL, "http://localhost:4318".to_owned(), "/v1/traces"),
    };
    if !url.starts_with("http://") && !url.starts_with("https://") {
        return Err(wrong(
            name,
            &url,
            "use a URL such as `http://localhost:4318`",
        ));
    }
    Ok(format!("{}{path}", url.trim_end_matches('/')))
}

fn timeout(lookup: Lookup<'_>) -> Result<Duration, TraceError> {
    const NAMES: [&str; 2] = [
        "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT",
        "OTEL_EXPORTER_OTLP_TIMEOUT",
    ];
    let set = NAMES
        .iter()
        .find_map(|name| Some((*name, get(lookup, name)?)));
    match set {
        None => Ok(Duration::from_secs(10)),
        Some((name, text)) => match text.parse() {
            Ok(millis) => Ok(Duration::from_millis(millis)),
            Err(_) => Err(wrong(name, &text, "use a number of milliseconds")),
        },
    }
}

fn check_protocol(lookup: Lookup<'_>) -> Result<(), TraceError> {
    const NAMES: [&str; 2] = [
        "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL",
        "OTEL_EXPORTER_OTLP_PROTOCOL",
    ];
    let set = NAMES
        .iter()
        .find_map(|name| Some((*name, get(lookup, name)?)));
    match set {
        None => Ok(()),
        Some((_, protocol)) if protocol == "http/protobuf" => Ok(()),
        Some((name, protocol)) => Err(wrong(
            name,
            &protocol,
            "only `http/protobuf` is built in; a collector usually takes it on port 4318, beside \
             gRPC on 4317",
        )),
    }
}

fn sampling(config: &TracingConfig, lookup: Lookup<'_>) -> Result<Sampling, TraceError> {
    const NAME: &str = "OTEL_TRACES_SAMPLER";
    let said = get(lookup, NAME);
    if let (None, Some(rate)) = (&said, config.sample_rate) {
        if !(0.0..=1.0).contains(&rate) {
            let problem = "use a number from 0 to 1";
            return Err(wrong("tracing.sample_rate", &rate.to_string(), problem));
        }
        return Ok(Sampling {
            follows_parent: true,
            root: Root::Ratio(rate),
        });
    }
    let name = said.unwrap_or_else(|| "parentbased_always_on".to_owned());
    let (follows_parent, root) = match name.strip_prefix("parentbased_") {
        Some(root) => (true, root),
        None => (false, name.as_str()),
    };
    let root = match root {
        "always_on" => Root::AlwaysOn,
        "always_off" => Root::AlwaysOff,
        "traceidratio" => Root::Ratio(ratio(lookup)?),
        _ => {
            return Err(wrong(
                NAME,
                &name,
                "use always_on, always_off or traceidratio, each also with the prefix parentbased_",
            ));
        }
    };
    Ok(Sampling {
        follows_parent,
        root,
    })
}

fn ratio(lookup: Lookup<'_>) -> Result<f64, TraceError> {
    const NAME: &str = "OTEL_TRACES_SAMPLER_ARG";
    match get(lookup, NAME) {
        None => Ok(1.0),
        Some(text) => match text.parse::<f64>() {
            Ok(ratio) if (0.0..=1.0).contains(&ratio) => Ok(ratio),
            _ => Err(wrong(NAME, &text, "use a number from 0 to 1")),
        },
    }
}

fn propagation(lookup: Lookup<'_>) -> Result<Propagation, TraceError> {
    const NAME: &str = "OTEL_PROPAGATORS";
    let Some(text) = get(lookup, NAME) else {
        return Ok(Propagation {
            trace_context: true,
            baggage: true,
        });
    };
    let mut chosen = Propagation::default();
    for word in text.split(',').map(str::trim) {
        match word {
            "tracecontext" => chosen.trace_context = true,
            "baggage" => chosen.baggage = true,
            "none" => {}
            _ => return Err(wrong(NAME, &text, "use tracecontext, baggage or none")),
        }
    }
    Ok(chosen)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pairs: &[(&str, &str)]) -> Result<Settings, String> {
        let lookup = |name: &str| {
            let found = pairs.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        Settings::read(&TracingConfig::default(), &lookup).map_err(|error| error.to_string())
    }

    #[test]
    fn the_configuration_holds_where_no_variable_says_otherwise() {
        let config = TracingConfig {
            endpoint: Some("http://collector:4318/v1/traces".to_owned()),
            sample_rate: Some(0.1),
            ..TracingConfig::default()
        };
        let settings = Settings::read(&config, &|_| None).unwrap();
        assert_eq!(settings.endpoint, "http://collector:4318/v1/traces");
        let (follows_parent, root) = (true, Root::Ratio(0.1));
        assert_eq!(
            settings.sampling,
            Sampling {
                follows_parent,
                root
            }
        );
        let said = |name: &str| match name {
            "OTEL_EXPORTER_OTLP_ENDPOINT" => Some("http://other".to_owned()),
            "OTEL_TRACES_SAMPLER" => Some("always_off".to_owned()),
            _ => None,
        };
        let settings = Settings::read(&config, &said).unwrap();
        assert_eq!(settings.endpoint, "http://other/v1/traces");
        assert_eq!(settings.sampling.root, Root::AlwaysOff);
        let wrong = TracingConfig {
            sample_rate: Some(10.0),
            ..config
        };
        let told = Settings::read(&wrong, &|_| None).unwrap_err().to_string();
        assert_eq!(
            told,
            "tracing.sample_rate is `10`: use a number from 0 to 1"
        );
    }

    #[test]
    fn nothing_set_means_everything_is_kept_and_passed_on() {
        let settings = read(&[("OTEL_TRACES_SAMPLER", "")]).unwrap();
        assert_eq!(
            settings.sampling,
            Sampling {
                follows_parent: true,
                root: Root::AlwaysOn
            }
        );
        assert_eq!(
            settings.propagation,
            Propagation {
                trace_context: true,
                baggage: true
            }
        );
    }

    #[test]
    fn the_sampler_and_its_argument_are_read() {
        let settings = read(&[
            ("OTEL_TRACES_SAMPLER", "parentbased_traceidratio"),
            ("OTEL_TRACES_SAMPLER_ARG", "0.01"),
        ])
        .unwrap();
        assert_eq!(
            settings.sampling,
            Sampling {
                follows_parent: true,
                root: Root::Ratio(0.01)
            }
        );
        let settings = read(&[
            ("OTEL_TRACES_SAMPLER", "always_off"),
            ("OTEL_PROPAGATORS", "none"),
        ])
        .unwrap();
        assert_eq!(
            settings.sampling,
            Sampling {
                follows_parent: false,
                root: Root::AlwaysOff
            }
        );
        assert_eq!(settings.propagation, Propagation::default());
    }

    #[test]
    fn the_general_endpoint_is_a_base_and_the_own_one_is_whole() {
        let general = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:4318/");
        let own = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "https://d/x");
        assert_eq!(
            read(&[]).unwrap().endpoint,
            "http://localhost:4318/v1/traces"
        );
        assert_eq!(
            read(&[general]).unwrap().endpoint,
            "http://c:4318/v1/traces"
        );
        assert_eq!(read(&[general, own]).unwrap().endpoint, "https://d/x");
    }

    #[test]
    fn what_cannot_be_honoured_is_an_error_that_names_the_alternative() {
        for (name, value, part) in [
            ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc", "http/protobuf"),
            (
                "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL",
                "http/json",
                "http/protobuf",
            ),
            ("OTEL_TRACES_SAMPLER", "xray", "always_on"),
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4318", "http://"),
            ("OTEL_EXPORTER_OTLP_TIMEOUT", "10s", "milliseconds"),
            ("OTEL_PROPAGATORS", "b3", "tracecontext"),
        ] {
            let error = read(&[(name, value)]).unwrap_err();
            assert!(
                error.contains(name) && error.contains(value) && error.contains(part),
                "{error}"
            );
        }
        let error = read(&[
            ("OTEL_TRACES_SAMPLER", "traceidratio"),
            ("OTEL_TRACES_SAMPLER_ARG", "50"),
        ])
        .unwrap_err();
        assert!(error.contains("0 to 1"), "{error}");
        // The signal's own variable wins over the general one.
        assert!(
            read(&[
                ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"),
                ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "http/protobuf"),
            ])
            .is_ok()
        );
    }
}
