//! A process from its start to its end, seen through its health and metrics endpoints.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hyperfleet_runtime::health::{Health, HealthConfig, ObserverServers};
use hyperfleet_runtime::http;
use hyperfleet_runtime::metrics::{Build, MetricsConfig, MetricsRegistry};
use hyperfleet_runtime::shutdown::{Process, RunError, Shutdown};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::{Notify, oneshot};

type Anything = Box<dyn std::error::Error + Send + Sync>;

const LIMIT: Duration = Duration::from_secs(5);

fn registry() -> Result<MetricsRegistry, Anything> {
    let build = Build {
        version: "1".into(),
        commit: String::new(),
    };
    Ok(MetricsRegistry::new(build)?)
}

async fn observers() -> Result<ObserverServers, Anything> {
    let health = HealthConfig {
        port: 0,
        ..HealthConfig::default()
    };
    let metrics = MetricsConfig {
        port: 0,
        ..MetricsConfig::default()
    };
    Ok(ObserverServers::bind(&health, &metrics, Path::new("")).await?)
}

/// Status line and body of a GET over a fresh connection.
async fn get(address: SocketAddr, path: &str) -> Result<(u16, String), Anything> {
    let mut stream = TcpStream::connect(address).await?;
    let request = format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    let status = answer.split(' ').nth(1).unwrap_or_default().parse()?;
    let body = answer.split("\r\n\r\n").nth(1).unwrap_or_default();
    Ok((status, body.to_owned()))
}

struct Running {
    health: Health,
    shutdown: Shutdown,
    process: Process,
    health_address: SocketAddr,
    metrics_address: SocketAddr,
}

async fn process(shutdown_timeout: Duration) -> Result<Running, Anything> {
    let (health, shutdown) = (Health::new(), Shutdown::new());
    let servers = observers().await?;
    let (health_address, metrics_address) = (servers.health_address()?, servers.metrics_address()?);
    let mut process = Process::new(shutdown.clone(), health.clone(), shutdown_timeout);
    let (own_health, metrics) = (health.clone(), registry()?);
    process.observer("health", move |shutdown| async move {
        servers.serve(own_health, metrics, shutdown).await;
        Ok::<(), Anything>(())
    });
    Ok(Running {
        health,
        shutdown,
        process,
        health_address,
        metrics_address,
    })
}

#[tokio::test]
async fn readiness_follows_the_life_of_the_process() -> Result<(), Anything> {
    let Running {
        health,
        shutdown,
        mut process,
        health_address,
        metrics_address,
    } = process(LIMIT).await?;
    let database_up = Arc::new(AtomicBool::new(true));
    let up = Arc::clone(&database_up);
    health.check("database", move || {
        let up = up.load(Ordering::SeqCst);
        async move {
            if up {
                Ok(())
            } else {
                Err("connection refused".to_owned())
            }
        }
    });
    let (stop_now, stopped) = oneshot::channel::<()>();
    process.component("worker", |shutdown| async move {
        shutdown.requested().await;
        stopped.await?;
        Ok::<(), Anything>(())
    });

    assert_eq!(get(health_address, "/config").await?.0, 404);
    health.show_config("name: shown\n".to_owned());
    let shown = get(health_address, "/config").await?;
    assert_eq!(shown, (200, "name: shown\n".to_owned()));

    let (status, body) = get(health_address, "/readyz").await?;
    assert_eq!(status, 503);
    assert_eq!(
        body,
        r#"{"status":"not_ready","reason":"the start is not complete","checks":{"database":"ok"}}"#
    );

    let running = tokio::spawn(process.run());
    tokio::task::yield_now().await;
    while health.stage() == hyperfleet_runtime::health::Stage::Starting {
        tokio::task::yield_now().await;
    }
    assert_eq!(
        get(health_address, "/readyz").await?,
        (
            200,
            r#"{"status":"ok","checks":{"database":"ok"}}"#.to_owned()
        )
    );

    database_up.store(false, Ordering::SeqCst);
    assert_eq!(
        get(health_address, "/readyz").await?,
        (
            503,
            r#"{"status":"not_ready","checks":{"database":"connection refused"}}"#.to_owned()
        )
    );
    assert_eq!(
        get(health_address, "/healthz").await?,
        (200, r#"{"status":"ok"}"#.to_owned())
    );

    shutdown.trigger();
    while health.stage() != hyperfleet_runtime::health::Stage::Draining {
        tokio::task::yield_now().await;
    }
    let (status, body) = get(health_address, "/readyz").await?;
    assert_eq!(status, 503);
    assert!(body.starts_with(r#"{"status":"shutting_down""#), "{body}");
    assert_eq!(get(health_address, "/healthz").await?.0, 200);
    assert_eq!(get(metrics_address, "/metrics").await?.0, 200);

    stop_now.send(()).map_err(|()| "the worker is gone")?;
    running.await??;
    assert!(TcpStream::connect(health_address).await.is_err());
    Ok(())
}

#[tokio::test]
async fn a_check_that_hangs_is_not_ready_and_does_not_hold_up_the_others() -> Result<(), Anything> {
    let health = Health::new();
    health.started();
    health.check_within("slow", Duration::from_millis(20), std::future::pending);
    health.check("fast", || async { Ok(()) });
    let readiness = health.readiness().await;
    assert!(!readiness.is_ready());
    assert_eq!(readiness.checks["fast"], "ok");
    assert_eq!(readiness.checks["slow"], "no answer within 20ms");
    Ok(())
}

#[tokio::test]
async fn an_unknown_path_is_a_problem_document() -> Result<(), Anything> {
    let Running {
        shutdown,
        mut process,
        health_address,
        ..
    } = process(LIMIT).await?;
    process.component("idle", |shutdown| async move {
        shutdown.requested().await;
        Ok::<(), Anything>(())
    });
    let running = tokio::spawn(process.run());
    let (status, body) = get(health_address, "/nope").await?;
    assert_eq!(status, 404);
    assert!(
        body.contains(r#""status":404"#) && body.contains("/nope"),
        "{body}"
    );
    // The metrics are on the other listener.
    assert_eq!(get(health_address, "/metrics").await?.0, 404);
    shutdown.trigger();
    running.await??;
    Ok(())
}

#[tokio::test]
async fn health_and_metrics_at_the_same_address_share_a_listener() -> Result<(), Anything> {
    let free = http::bind("localhost", 0, "x").await?.local_addr()?.port();
    let servers = ObserverServers::bind(
        &HealthConfig {
            port: free,
            ..HealthConfig::default()
        },
        &MetricsConfig {
            port: free,
            ..MetricsConfig::default()
        },
        Path::new(""),
    )
    .await?;
    assert_eq!(servers.health_address()?, servers.metrics_address()?);
    let address = servers.health_address()?;
    let shutdown = Shutdown::new();
    let serving = tokio::spawn(servers.serve(Health::new(), registry()?, shutdown.clone()));
    assert_eq!(get(address, "/healthz").await?.0, 200);
    assert_eq!(get(address, "/metrics").await?.0, 200);
    shutdown.trigger();
    serving.await?;
    Ok(())
}

#[tokio::test]
async fn a_component_that_fails_stops_the_others_and_names_itself() -> Result<(), Anything> {
    let Running { mut process, .. } = process(LIMIT).await?;
    let others_stopped = Arc::new(AtomicBool::new(false));
    let stopped = Arc::clone(&others_stopped);
    process.component("bystander", |shutdown| async move {
        shutdown.requested().await;
        stopped.store(true, Ordering::SeqCst);
        Ok::<(), Anything>(())
    });
    process.component("sentinel", |_| async {
        Err::<(), Anything>("no such topic".into())
    });
    let error = process.run().await.expect_err("the sentinel failed");
    assert_eq!(error.to_string(), "sentinel failed: no such topic");
    assert!(others_stopped.load(Ordering::SeqCst));
    Ok(())
}

#[tokio::test]
async fn a_component_that_panics_is_named_with_its_message() -> Result<(), Anything> {
    let Running { mut process, .. } = process(LIMIT).await?;
    process.component("buggy", |_| async {
        assert!(std::hint::black_box(false), "index went backwards");
        Ok::<(), Anything>(())
    });
    let error = process.run().await.expect_err("it panicked");
    assert!(matches!(error, RunError::Panicked { .. }));
    assert_eq!(error.to_string(), "buggy panicked: index went backwards");
    Ok(())
}

#[tokio::test]
async fn components_that_all_return_end_the_process_well() -> Result<(), Anything> {
    let Running { mut process, .. } = process(LIMIT).await?;
    process.component("once", |_| async { Ok::<(), Anything>(()) });
    process.run().await?;
    Ok(())
}

#[tokio::test]
async fn a_component_that_overruns_the_limit_is_cut_off_and_that_is_no_error()
-> Result<(), Anything> {
    let Running {
        shutdown,
        mut process,
        ..
    } = process(Duration::from_millis(20)).await?;
    process.component("stubborn", |_| {
        std::future::pending::<Result<(), Anything>>()
    });
    shutdown.trigger();
    tokio::time::timeout(LIMIT, process.run()).await??;
    Ok(())
}

#[tokio::test]
async fn a_service_serves_until_the_components_that_call_it_have_ended() -> Result<(), Anything> {
    let Running {
        shutdown,
        mut process,
        ..
    } = process(LIMIT).await?;
    let (calls, mut called) = tokio::sync::mpsc::channel::<oneshot::Sender<()>>(1);
    process.service("api", |stop| async move {
        loop {
            tokio::select! {
                biased;
                () = stop.requested() => return Ok::<(), Anything>(()),
                call = called.recv() => {
                    let answer = call.ok_or("nobody calls any more")?;
                    answer.send(()).map_err(|()| "the caller is gone")?;
                }
            }
        }
    });
    let caller = calls.clone();
    process.component("adapter", |stop| async move {
        stop.requested().await;
        tokio::time::sleep(Duration::from_millis(20)).await;
        let (answer, answered) = oneshot::channel();
        caller.send(answer).await?;
        answered.await?;
        Ok::<(), Anything>(())
    });
    shutdown.trigger();
    tokio::time::timeout(LIMIT, process.run()).await??;
    Ok(())
}

#[tokio::test]
async fn a_service_that_fails_stops_the_process() -> Result<(), Anything> {
    let Running { mut process, .. } = process(LIMIT).await?;
    process.component("adapter", |stop| async move {
        stop.requested().await;
        Ok::<(), Anything>(())
    });
    process.service("api", |_| async { Err::<(), Anything>("no socket".into()) });
    let ended = tokio::time::timeout(LIMIT, process.run()).await?;
    let error = ended.expect_err("the API failed");
    assert_eq!(error.to_string(), "api failed: no socket");
    Ok(())
}

#[tokio::test]
async fn tasks_a_component_started_are_joined_with_it() -> Result<(), Anything> {
    let Running { mut process, .. } = process(LIMIT).await?;
    let finished = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&finished);
    process.component("parent", |shutdown| async move {
        let inner = shutdown.clone();
        shutdown.spawn(async move {
            inner.requested().await;
            flag.store(true, Ordering::SeqCst);
        });
        Ok::<(), Anything>(())
    });
    process.run().await?;
    assert!(finished.load(Ordering::SeqCst));
    Ok(())
}

#[tokio::test]
async fn a_request_in_flight_is_answered_before_the_server_stops() -> Result<(), Anything> {
    let (started, release) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (begun, go_on) = (Arc::clone(&started), Arc::clone(&release));
    let router = axum::Router::new().route(
        "/slow",
        axum::routing::get(move || async move {
            begun.notify_one();
            go_on.notified().await;
            "done"
        }),
    );
    let listener = http::bind("127.0.0.1", 0, "server").await?;
    let address = listener.local_addr()?;
    let shutdown = Shutdown::new();
    let serving = tokio::spawn(http::serve(
        listener,
        router,
        shutdown.token(),
        http::ServeOptions::default(),
    ));
    let asking = tokio::spawn(async move { get(address, "/slow").await });
    started.notified().await;
    shutdown.trigger();
    release.notify_one();
    assert_eq!(asking.await??, (200, "done".to_owned()));
    serving.await?;
    assert!(TcpStream::connect(address).await.is_err());
    Ok(())
}

#[tokio::test]
async fn a_stream_that_never_ends_is_cut_off_when_the_drain_is_over() -> Result<(), Anything> {
    let router = axum::Router::new().route(
        "/watch",
        axum::routing::get(std::future::pending::<&'static str>),
    );
    let listener = http::bind("127.0.0.1", 0, "server").await?;
    let address = listener.local_addr()?;
    let shutdown = Shutdown::new();
    let options = http::ServeOptions {
        max_drain: Duration::from_millis(20),
        ..http::ServeOptions::default()
    };
    let serving = tokio::spawn(http::serve(listener, router, shutdown.token(), options));
    let mut stream = TcpStream::connect(address).await?;
    stream
        .write_all(b"GET /watch HTTP/1.1\r\nhost: x\r\n\r\n")
        .await?;
    shutdown.trigger();
    tokio::time::timeout(LIMIT, serving).await??;
    assert_eq!(stream.read(&mut [0; 8]).await.unwrap_or(0), 0);
    Ok(())
}

#[tokio::test]
async fn a_peer_that_does_not_finish_its_headers_is_disconnected() -> Result<(), Anything> {
    let listener = http::bind("127.0.0.1", 0, "server").await?;
    let address = listener.local_addr()?;
    let shutdown = Shutdown::new();
    let options = http::ServeOptions {
        header_read_timeout: Duration::from_millis(20),
        ..http::ServeOptions::default()
    };
    let serving = tokio::spawn(http::serve(
        listener,
        axum::Router::new(),
        shutdown.token(),
        options,
    ));
    let mut stream = TcpStream::connect(address).await?;
    stream.write_all(b"GET / HTTP/1.1\r\nhost").await?;
    let mut answer = Vec::new();
    tokio::time::timeout(LIMIT, stream.read_to_end(&mut answer)).await??;
    shutdown.trigger();
    serving.await?;
    Ok(())
}

#[tokio::test]
async fn a_port_in_use_says_which_setting_to_change() -> Result<(), Anything> {
    let taken = http::bind("localhost", 0, "server").await?;
    let port = taken.local_addr()?.port();
    let error = http::bind("localhost", port, "server")
        .await
        .expect_err("taken")
        .to_string();
    assert!(
        error.starts_with(&format!(
            "cannot listen on localhost:{port}: the port is in use."
        )),
        "{error}"
    );
    for part in ["`server.port`", "--server-port", "HYPERFLEET_SERVER_PORT"] {
        assert!(error.contains(part), "{error}");
    }
    let error = http::bind("203.0.113.1", 0, "health")
        .await
        .expect_err("not ours")
        .to_string();
    assert!(
        error.contains("no interface of this machine has that address"),
        "{error}"
    );
    assert!(error.contains("HYPERFLEET_HEALTH_HOST"), "{error}");
    Ok(())
}

#[tokio::test]
async fn profiles_are_answered_beside_the_metrics_only_where_they_are_wanted()
-> Result<(), Anything> {
    for profiling in [false, true] {
        let health = HealthConfig {
            port: 0,
            ..HealthConfig::default()
        };
        let metrics = MetricsConfig {
            port: 0,
            profiling,
            ..MetricsConfig::default()
        };
        let servers = ObserverServers::bind(&health, &metrics, Path::new("")).await?;
        let address = servers.metrics_address()?;
        let shutdown = Shutdown::new();
        let serving = tokio::spawn(servers.serve(Health::new(), registry()?, shutdown.clone()));
        assert_eq!(get(address, "/metrics").await?.0, 200);
        let (status, body) = get(address, "/debug/pprof/memory").await?;
        assert_eq!(status, if profiling { 200 } else { 404 });
        assert_eq!(body.contains("VmRSS"), profiling);
        let (status, body) = get(address, "/debug/pprof/profile?seconds=1").await?;
        match (profiling, cfg!(feature = "profiling")) {
            (false, _) => assert_eq!(status, 404),
            (true, true) => assert_eq!(status, 200),
            (true, false) => assert!(status == 501 && body.contains("--features profiling")),
        }
        // With the feature it is what `heap.rs` asks for.
        if !cfg!(feature = "heap-profiling") {
            let (status, body) = get(address, "/debug/pprof/heap").await?;
            assert_eq!(status, if profiling { 501 } else { 404 });
            assert_eq!(body.contains("--features heap-profiling"), profiling);
        }
        if profiling {
            let refused = get(address, "/debug/pprof/profile?seconds=0").await?;
            assert_eq!(refused.0, 400);
        }
        shutdown.trigger();
        serving.await?;
    }
    Ok(())
}
