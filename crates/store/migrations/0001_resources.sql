-- One table for every kind: kinds are configuration.
CREATE TABLE resources (
    id           uuid        PRIMARY KEY,
    kind         text        NOT NULL,
    name         text        NOT NULL,
    href         text        NOT NULL,
    owner_id     uuid        REFERENCES resources (id),
    owner_kind   text,
    owner_href   text,
    spec         jsonb       NOT NULL,
    labels       jsonb       NOT NULL DEFAULT '{}',
    tenancy      jsonb       NOT NULL DEFAULT '{}',
    generation   integer     NOT NULL CHECK (generation >= 1),
    -- Computed on write, so that a read computes nothing.
    status       jsonb       NOT NULL,
    created_time timestamptz NOT NULL,
    updated_time timestamptz NOT NULL,
    created_by   text        NOT NULL,
    updated_by   text        NOT NULL,
    deleted_time timestamptz,
    deleted_by   text,
    -- Counts the writes of this row: what a write was decided on must still be so when it lands.
    revision     bigint      NOT NULL DEFAULT 1
);

-- Names are unique among what is not being deleted.
CREATE UNIQUE INDEX resources_root_name ON resources (kind, name, tenancy)
    WHERE owner_id IS NULL AND deleted_time IS NULL;
CREATE UNIQUE INDEX resources_child_name ON resources (kind, owner_id, name)
    WHERE owner_id IS NOT NULL AND deleted_time IS NULL;
-- The default order of every list.
CREATE INDEX resources_newest ON resources (kind, created_time DESC, id DESC);
CREATE INDEX resources_owner ON resources (owner_id, kind, created_time DESC, id DESC)
    WHERE owner_id IS NOT NULL;

CREATE TABLE adapter_statuses (
    resource_id         uuid        NOT NULL REFERENCES resources (id) ON DELETE CASCADE,
    adapter             text        NOT NULL,
    observed_generation integer     NOT NULL,
    conditions          jsonb       NOT NULL,
    data                jsonb       NOT NULL,
    metadata            jsonb,
    created_time        timestamptz NOT NULL,
    last_report_time    timestamptz NOT NULL,
    PRIMARY KEY (resource_id, adapter)
);
