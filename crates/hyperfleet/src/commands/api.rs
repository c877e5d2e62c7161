//! `hyperfleet api serve` and `hyperfleet api migrate`.

use anyhow::{Result, bail};
use hyperfleet_api::{Api, ApiConfig, Entities};
use hyperfleet_runtime::config::{Loaded, Loader};

use crate::build::VERSION;
use crate::cli::{ApiArgs, ApiServeArgs};
use crate::database::Database;
use crate::process::Host;

/// The configuration of the API: flags, environment, file, defaults.
pub(crate) fn load(args: &ApiArgs) -> Result<Loaded<ApiConfig>> {
    let loaded = loader(args.config.clone())
        .flag("server.host", args.server_host.as_ref())
        .flag("server.port", args.server_port)
        .flag("health.port", args.health_port)
        .flag("metrics.port", args.metrics_port)
        .flag("logging.level", args.log_level.as_ref())
        .flag("logging.format", args.log_format.as_ref())
        .load()?;
    Ok(loaded)
}

/// The same without flags.
pub(crate) fn loader(file: Option<std::path::PathBuf>) -> Loader {
    Loader::new("api")
        .file(file)
        .file_env("HYPERFLEET_CONFIG")
        .search(["/etc/hyperfleet/config.yaml", "./configs/config.yaml"])
        .process_env()
        .env_alias("DATABASE_URL", "database.url")
        .env_alias("HYPERFLEET_LOG_LEVEL", "logging.level")
        .env_alias("HYPERFLEET_LOG_FORMAT", "logging.format")
}

pub(crate) async fn serve(args: ApiServeArgs) -> Result<()> {
    let loaded = load(&args.api)?;
    let entities = Entities::load(&loaded)?;
    let directory = loaded.directory();
    let config = loaded.value;
    let mut host = Host::start(
        "api",
        &config.logging,
        &config.tracing,
        &config.health,
        &config.metrics.listen(),
        &directory,
    )
    .await?;
    host.warn(&loaded.warnings);
    host.warn(&entities.warnings);
    let database = Database::open(&config.database, &args.api.data_dir).await?;
    let outcome = run(&mut host, &config, entities, &database, args.migrate).await;
    let outcome = match outcome {
        Ok(()) => host.run().await,
        Err(error) => Err(error),
    };
    database.close().await;
    outcome
}

async fn run(
    host: &mut Host,
    config: &ApiConfig,
    entities: Entities,
    database: &Database,
    migrate: bool,
) -> Result<()> {
    if migrate {
        database.store.migrate().await?;
    }
    let pending = database.store.pending_migrations().await?;
    if !pending.is_empty() {
        bail!(
            "the database at {} lacks {}: run `hyperfleet api migrate`, or start with --migrate",
            database.store.server(),
            pending.join(", ")
        );
    }
    let metrics = host.metrics.component("api", "api")?;
    let api = Api::bind(
        config,
        entities,
        database.store.clone(),
        VERSION,
        &metrics,
        &host.health,
    )
    .await?;
    tracing::info!(
        address = %api.address(),
        health = host.health_address.map(tracing::field::display),
        metrics = host.metrics_address.map(tracing::field::display),
        database = database.store.server(),
        "the API listens"
    );
    host.process.component("api", |stop| async move {
        api.run(stop).await;
        Ok::<(), anyhow::Error>(())
    });
    Ok(())
}

pub(crate) async fn migrate(args: ApiArgs) -> Result<()> {
    let config = load(&args)?.value;
    let database = Database::open(&config.database, &args.data_dir).await?;
    let before = database.store.pending_migrations().await;
    let outcome = database.store.migrate().await;
    let server = database.store.server().to_owned();
    database.close().await;
    outcome?;
    match before?.as_slice() {
        [] => eprintln!("the database at {server} is up to date"),
        steps => eprintln!("the database at {server} now has {}", steps.join(", ")),
    }
    Ok(())
}
