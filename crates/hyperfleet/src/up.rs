//! `hyperfleet up`: everything in one process, on this machine.
//!
//! ```text
//!   adapters loaded and checked ──► Kubernetes (kubesim) ──► PostgreSQL ──► API ──► adapters ──► Sentinel, sweeper
//!                                   ◄───────────────── stopped in the opposite order ─────────────────
//! ```

mod adapters;
mod banner;
mod demo;
mod kubernetes;
mod ownership;
mod platform;
mod progress;
mod screen;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow};
use hyperfleet_api::{
    Api, ApiConfig, DatabaseConfig, Entities, PoolConfig, ServerConfig, StartError,
};
use hyperfleet_broker::{Broker, BrokerConfig};
use hyperfleet_client::{Client, ClientConfig};
use hyperfleet_core::kind::Kind;
use hyperfleet_runtime::health::HealthConfig;
use hyperfleet_runtime::log::{LogConfig, LogFormat, LogOutput};
use hyperfleet_runtime::metrics::MetricsConfig;
use hyperfleet_runtime::trace::TracingConfig;
use hyperfleet_runtime::{GoDuration, Secret};
use hyperfleet_sentinel::{KindOptions, Options};
use hyperfleet_sweeper::Options as SweeperOptions;

use crate::build::VERSION;
use crate::cli::UpArgs;
use crate::commands::{adapter, sentinel, sweeper};
use crate::data_dir::DataDir;
use crate::database::Database;
use crate::process::Host;
use banner::Banner;
use kubernetes::Kubernetes;

/// On one machine nobody wants to wait: what an adapter looks at again, such as a Job that runs, costs one such pause.
const BACKOFF_NOT_READY: GoDuration = GoDuration::from_millis(400);
/// Nor for what is left behind to go.
const SWEEP_INTERVAL: GoDuration = GoDuration::from_secs(10);

pub(crate) async fn run(args: UpArgs) -> Result<()> {
    let loaded = adapters::load(&args.adapters)?;
    let mut kinds = Kind::defaults();
    adapters::require(&mut kinds, &loaded)?;
    let data_dir = DataDir::take(&args.data_dir)?;
    let host = host(&args).await?;
    let kubernetes = Kubernetes::open(args.kubeconfig.as_deref(), &data_dir).await?;
    let outcome = with_kubernetes(&args, &data_dir, host, kinds, loaded, &kubernetes).await;
    kubernetes.close().await;
    outcome
}

async fn host(args: &UpArgs) -> Result<Host> {
    let logging = LogConfig {
        level: args.log_level.parse()?,
        format: LogFormat::Text,
        output: LogOutput::Stderr,
    };
    let health = HealthConfig {
        port: args.health_port,
        ..HealthConfig::default()
    };
    let metrics = MetricsConfig {
        port: args.metrics_port,
        ..MetricsConfig::default()
    };
    let (tracing, here) = (TracingConfig::default(), Path::new(""));
    Host::start("up", &logging, &tracing, &health, &metrics, here).await
}

async fn with_kubernetes(
    args: &UpArgs,
    data_dir: &DataDir,
    mut host: Host,
    kinds: Vec<Kind>,
    loaded: Vec<adapters::Loaded>,
    kubernetes: &Kubernetes,
) -> Result<()> {
    let config = DatabaseConfig {
        url: args.database_url.clone().map(Secret::from),
        pool: PoolConfig {
            max_connections: 20,
            // Somebody waits in front of it: say at once what is wrong.
            conn_retry_attempts: 1,
            ..PoolConfig::default()
        },
        ..DatabaseConfig::default()
    };
    let database = Database::open(&config, data_dir.path()).await?;
    let broker = match connect(args, &host).await {
        Ok(broker) => broker,
        Err(error) => {
            database.close().await;
            return Err(error);
        }
    };
    let started = components(
        args, data_dir, &mut host, kinds, loaded, kubernetes, &database, &broker,
    )
    .await;
    let outcome = match started {
        Ok(()) => host.run().await,
        Err(error) => {
            // Whatever already runs ends here, before what it uses goes away.
            drop(host);
            Err(error)
        }
    };
    broker.close().await;
    database.close().await;
    outcome
}

async fn connect(args: &UpArgs, host: &Host) -> Result<Broker> {
    let config = match &args.broker_url {
        Some(url) => BrokerConfig::from_url(url)?,
        None => BrokerConfig::default(),
    };
    crate::broker::connect(&config, &host.metrics).await
}

/// The API first, then the adapters so that no event is missed, then the Sentinel and the sweeper.
#[expect(
    clippy::too_many_arguments,
    reason = "everything that was opened comes together here, once"
)]
async fn components(
    args: &UpArgs,
    data_dir: &DataDir,
    host: &mut Host,
    kinds: Vec<Kind>,
    loaded: Vec<adapters::Loaded>,
    kubernetes: &Kubernetes,
    database: &Database,
    broker: &Broker,
) -> Result<()> {
    database.store.migrate().await?;
    let config = ApiConfig {
        server: ServerConfig {
            port: args.port,
            ..ServerConfig::default()
        },
        ..ApiConfig::default()
    };
    let metrics = host.metrics.component("api", "api")?;
    let store = database.store.clone();
    let api = Api::bind(
        &config,
        Entities::new(kinds.clone())?,
        store,
        VERSION,
        &metrics,
        &host.health,
    )
    .await
    .map_err(in_words_of_up)?;
    let base_url = format!("http://{}", api.address());
    // Only a convenience for the commands that follow: without a home there is none.
    if let Err(failure) = crate::operator::contexts::remember_local(&base_url) {
        tracing::warn!("the context `local` was not written: {failure}");
    }
    host.process.service("api", |stop| async move {
        api.run(stop).await;
        Ok::<(), anyhow::Error>(())
    });
    if kubernetes.is_simulated() {
        platform::install(&args.adapters, &kubernetes.kubeconfig).await?;
    }
    let key_file = ownership::key_file(data_dir)?;
    let mut names = Vec::new();
    for adapters::Loaded {
        mut deployment,
        task,
    } in loaded
    {
        deployment
            .clients
            .hyperfleet_api
            .base_url
            .clone_from(&base_url);
        deployment.clients.kubernetes.kube_config_path = Some(kubernetes.kubeconfig.clone());
        let keys = &mut deployment.ownership;
        keys.key_file.get_or_insert_with(|| key_file.clone());
        names.push(deployment.adapter.name.clone());
        adapter::start(host, deployment, task, broker.clone()).await?;
    }
    let watched = watched(&kinds, &base_url, args.refresh);
    sentinel::start(host, &watched, broker.publisher(), None)?;
    sweeper::start(host, swept(kubernetes, &base_url, key_file)).await?;

    let banner = Banner {
        base_url: &base_url,
        health: host.health_address.context("health is not answered")?,
        metrics: host.metrics_address.context("metrics are not answered")?,
        database: database.describe(),
        broker: args.broker_url.is_some().then(|| broker.kind().to_string()),
        kubernetes: kubernetes.describe(),
        adapters: &names,
    };
    banner.print();
    if args.demo {
        let client = Client::new(ClientConfig::new(&base_url))?;
        host.process.component("demo", |stop| async move {
            tokio::select! {
                shown = demo::show(&client, &kinds) => shown?,
                () = stop.requested() => return Ok(()),
            }
            banner::next_steps(&base_url);
            Ok::<(), anyhow::Error>(())
        });
    } else {
        banner::next_steps(&base_url);
    }
    Ok(())
}

/// A port that is taken is told with the flag of this command, not with the key of a file it does not read.
fn in_words_of_up(error: StartError) -> anyhow::Error {
    match &error {
        StartError::Bind(bind) if bind.is_in_use() => anyhow!(
            "cannot listen on {}: the port is in use; stop the process that has it, or choose another with --port",
            bind.address()
        ),
        _ => error.into(),
    }
}

/// A sweeper of what the adapters here sign.
fn swept(kubernetes: &Kubernetes, base_url: &str, key_file: PathBuf) -> SweeperOptions {
    let mut options = SweeperOptions {
        interval: SWEEP_INTERVAL,
        ..SweeperOptions::default()
    };
    options.clients.hyperfleet_api.base_url = base_url.to_owned();
    options.clients.kubernetes.kube_config_path = Some(kubernetes.kubeconfig.clone());
    options.ownership.key_file = Some(key_file);
    options
}

/// A Sentinel for every kind.
fn watched(kinds: &[Kind], base_url: &str, refresh: GoDuration) -> Options {
    let mut options = Options {
        backoff_not_ready: BACKOFF_NOT_READY,
        backoff_ready: refresh,
        sentinels: kinds
            .iter()
            .map(|kind| KindOptions {
                resource_type: kind.plural.clone(),
                topic: Some(adapters::topic(kind)),
                ..KindOptions::default()
            })
            .collect(),
        ..Options::default()
    };
    options.clients.hyperfleet_api.base_url = base_url.to_owned();
    options
}
