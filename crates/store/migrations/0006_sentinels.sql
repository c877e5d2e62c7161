-- Sentinels that are there, and which shards each of them holds (one bit each). A few rows, each of which holds until
-- `expires_time` by this server's clock; every announcement removes those that have passed.
CREATE TABLE sentinels (
    id uuid PRIMARY KEY,
    name text NOT NULL,
    resource_type text NOT NULL,
    selector jsonb NOT NULL,
    shares boolean NOT NULL,
    held bigint NOT NULL,
    leaving boolean NOT NULL,
    duration interval NOT NULL,
    expires_time timestamptz NOT NULL
);
