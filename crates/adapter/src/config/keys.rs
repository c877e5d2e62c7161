//! Which variables and flags set which key of the deployment.

/// Which environment variable sets which key. The first name of a key wins.
pub(crate) const VARIABLES: [(&str, &str); 17] = [
    ("HYPERFLEET_API_BASE_URL", "clients.hyperfleet_api.base_url"),
    ("HYPERFLEET_API_VERSION", "clients.hyperfleet_api.version"),
    ("HYPERFLEET_API_TIMEOUT", "clients.hyperfleet_api.timeout"),
    (
        "HYPERFLEET_API_RETRY_ATTEMPTS",
        "clients.hyperfleet_api.retry_attempts",
    ),
    (
        "HYPERFLEET_API_RETRY_BACKOFF",
        "clients.hyperfleet_api.retry_backoff",
    ),
    (
        "HYPERFLEET_API_BASE_DELAY",
        "clients.hyperfleet_api.base_delay",
    ),
    (
        "HYPERFLEET_API_MAX_DELAY",
        "clients.hyperfleet_api.max_delay",
    ),
    (
        "HYPERFLEET_API_AUTH_TOKEN_PATH",
        "clients.hyperfleet_api.auth.token_path",
    ),
    (
        "HYPERFLEET_API_AUTH_TOKEN_CACHE_TTL",
        "clients.hyperfleet_api.auth.token_cache_ttl",
    ),
    (
        "HYPERFLEET_BROKER_SUBSCRIPTION_ID",
        "clients.broker.subscription_id",
    ),
    ("BROKER_SUBSCRIPTION_ID", "clients.broker.subscription_id"),
    ("HYPERFLEET_BROKER_TOPIC", "clients.broker.topic"),
    ("BROKER_TOPIC", "clients.broker.topic"),
    (
        "HYPERFLEET_KUBERNETES_KUBE_CONFIG_PATH",
        "clients.kubernetes.kube_config_path",
    ),
    ("HYPERFLEET_KUBERNETES_QPS", "clients.kubernetes.qps"),
    ("HYPERFLEET_KUBERNETES_BURST", "clients.kubernetes.burst"),
    ("HYPERFLEET_DEBUG_CONFIG", "debug_config"),
];

/// Variables without our prefix, shared with every component.
pub(crate) const LOG_VARIABLES: [(&str, &str); 3] = [
    ("LOG_LEVEL", "log.level"),
    ("LOG_FORMAT", "log.format"),
    ("LOG_OUTPUT", "log.output"),
];

/// The flags of `adapter serve`, and which key each sets.
pub const FLAGS: [(&str, &str); 32] = [
    ("--debug-config", "debug_config"),
    ("--log-level", "log.level"),
    ("--log-format", "log.format"),
    ("--log-output", "log.output"),
    (
        "--hyperfleet-api-base-url",
        "clients.hyperfleet_api.base_url",
    ),
    ("--hyperfleet-api-version", "clients.hyperfleet_api.version"),
    ("--hyperfleet-api-timeout", "clients.hyperfleet_api.timeout"),
    (
        "--hyperfleet-api-retry",
        "clients.hyperfleet_api.retry_attempts",
    ),
    (
        "--hyperfleet-api-retry-backoff",
        "clients.hyperfleet_api.retry_backoff",
    ),
    (
        "--hyperfleet-api-base-delay",
        "clients.hyperfleet_api.base_delay",
    ),
    (
        "--hyperfleet-api-max-delay",
        "clients.hyperfleet_api.max_delay",
    ),
    ("--broker-subscription-id", "clients.broker.subscription_id"),
    ("--broker-topic", "clients.broker.topic"),
    (
        "--kubernetes-kube-config-path",
        "clients.kubernetes.kube_config_path",
    ),
    ("--kubernetes-qps", "clients.kubernetes.qps"),
    ("--kubernetes-burst", "clients.kubernetes.burst"),
    (
        "--maestro-grpc-server-address",
        "clients.maestro.grpc_server_address",
    ),
    (
        "--maestro-http-server-address",
        "clients.maestro.http_server_address",
    ),
    ("--maestro-source-id", "clients.maestro.source_id"),
    ("--maestro-client-id", "clients.maestro.client_id"),
    ("--maestro-auth-type", "clients.maestro.auth.type"),
    (
        "--maestro-ca-file",
        "clients.maestro.auth.tls_config.ca_file",
    ),
    (
        "--maestro-cert-file",
        "clients.maestro.auth.tls_config.cert_file",
    ),
    (
        "--maestro-key-file",
        "clients.maestro.auth.tls_config.key_file",
    ),
    (
        "--maestro-http-ca-file",
        "clients.maestro.auth.tls_config.http_ca_file",
    ),
    (
        "--maestro-server-name",
        "clients.maestro.auth.tls_config.server_name",
    ),
    ("--maestro-timeout", "clients.maestro.timeout"),
    (
        "--maestro-server-healthiness-timeout",
        "clients.maestro.server_healthiness_timeout",
    ),
    ("--maestro-retry-attempts", "clients.maestro.retry_attempts"),
    ("--maestro-keepalive-time", "clients.maestro.keepalive.time"),
    (
        "--maestro-keepalive-timeout",
        "clients.maestro.keepalive.timeout",
    ),
    ("--maestro-insecure", "clients.maestro.insecure"),
];
