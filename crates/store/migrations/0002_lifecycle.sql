-- Everything a list can be filtered by through an index: one text for each label, condition and reference, and
-- the phase. Computed by the server, so that no writer can forget it.
CREATE FUNCTION hyperfleet_facets(labels jsonb, status jsonb, refs jsonb) RETURNS text[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ARRAY(
        SELECT 'label:' || l.key || '=' || l.value FROM jsonb_each_text(labels) l
        UNION ALL
        SELECT 'condition:' || (c.value ->> 'type') || '=' || (c.value ->> 'status')
        FROM jsonb_array_elements(status -> 'conditions') c
        UNION ALL
        SELECT 'reference:' || r.key || '=' || (t.value ->> 'id')
        FROM jsonb_each(refs) r, jsonb_array_elements(r.value) t
        UNION ALL
        SELECT 'phase:' || (status ->> 'phase')
    );

ALTER TABLE resources
    -- What it points at without owning it: type of reference → targets.
    ADD COLUMN refs         jsonb       NOT NULL DEFAULT '{}',
    -- When each adapter last reported. A report that says nothing new moves only this and the times in `status`.
    ADD COLUMN report_times jsonb       NOT NULL DEFAULT '{}',
    -- When a rule that looks at the clock may give another answer; null when none can.
    ADD COLUMN recheck_time timestamptz,
    -- The transaction that last changed what a watcher can see. Moved times alone are no change.
    ADD COLUMN changed_xid  xid8        NOT NULL DEFAULT pg_current_xact_id(),
    ADD COLUMN facets       text[]      NOT NULL
        GENERATED ALWAYS AS (hyperfleet_facets(labels, status, refs)) STORED;
-- Room on the page for the new version of a row none of whose indexed columns moved.
ALTER TABLE resources SET (fillfactor = 85);

CREATE INDEX resources_facets ON resources USING gin (facets);
CREATE INDEX resources_changed ON resources (changed_xid);
CREATE INDEX resources_recheck ON resources (recheck_time) WHERE recheck_time IS NOT NULL;
CREATE INDEX resources_newest_of_all ON resources (created_time DESC, id DESC);
CREATE INDEX resources_name ON resources (kind, name, id);

-- How many resources there are, so that no page of a list has to count them. A connection counts in a slot of its
-- own as far as possible, so that two writers seldom wait for each other.
CREATE TABLE resource_totals (
    kind  text     NOT NULL,
    slot  smallint NOT NULL,
    total bigint   NOT NULL,
    PRIMARY KEY (kind, slot)
) WITH (fillfactor = 50);
INSERT INTO resource_totals SELECT kind, 0, count(*) FROM resources GROUP BY kind;

CREATE FUNCTION hyperfleet_count_resources() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO resource_totals AS t
    SELECT kind, pg_backend_pid() % 32, CASE TG_OP WHEN 'INSERT' THEN count(*) ELSE -count(*) END
    FROM changed GROUP BY kind ORDER BY kind
    ON CONFLICT (kind, slot) DO UPDATE SET total = t.total + EXCLUDED.total;
    RETURN NULL;
END
$$;
CREATE TRIGGER resources_counted_in AFTER INSERT ON resources
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION hyperfleet_count_resources();
CREATE TRIGGER resources_counted_out AFTER DELETE ON resources
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION hyperfleet_count_resources();

-- What was there once. A 404 for one of these ids carries its record, and the sweeper acts on nothing less.
CREATE TABLE deleted_resources (
    id           uuid        PRIMARY KEY,
    kind         text        NOT NULL,
    owner_id     uuid,
    tenancy      jsonb       NOT NULL,
    removed_time timestamptz NOT NULL,
    removed_by   text        NOT NULL,
    how          text        NOT NULL,
    reason       text,
    -- Its last state, as a watcher is told.
    resource     jsonb       NOT NULL,
    changed_xid  xid8        NOT NULL DEFAULT pg_current_xact_id()
);
CREATE INDEX deleted_resources_changed ON deleted_resources (changed_xid);
CREATE INDEX deleted_resources_age ON deleted_resources (removed_time);

-- Changes before this transaction can no longer be told one by one.
CREATE TABLE feed_horizon (
    pruned_xid xid8 NOT NULL
);
INSERT INTO feed_horizon VALUES ('0');

-- Who did what. Outlives what it was done to.
CREATE TABLE audit_log (
    id          bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at          timestamptz NOT NULL,
    actor       text        NOT NULL,
    action      text        NOT NULL,
    request_id  text        NOT NULL,
    resource_id uuid,
    kind        text,
    name        text,
    tenancy     jsonb       NOT NULL DEFAULT '{}',
    generation  integer,
    reason      text,
    -- What the action set: the new spec, labels or references.
    detail      jsonb
);
CREATE INDEX audit_log_resource ON audit_log (resource_id, id);
CREATE INDEX audit_log_age ON audit_log (at);

-- Every report that changed a condition.
CREATE TABLE status_history (
    id                  bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at                  timestamptz NOT NULL,
    resource_id         uuid        NOT NULL,
    adapter             text        NOT NULL,
    observed_generation integer     NOT NULL,
    -- The conditions whose status, reason or message the report changed, as they were and as they are.
    changes             jsonb       NOT NULL,
    -- The resource's phase after it.
    phase               text        NOT NULL
);
CREATE INDEX status_history_resource ON status_history (resource_id, id);
CREATE INDEX status_history_age ON status_history (at);

-- Answers to creates that may be asked again.
CREATE TABLE idempotency_keys (
    actor       text        NOT NULL,
    key         text        NOT NULL,
    -- Of the request, so that a key used for something else is noticed.
    fingerprint bytea       NOT NULL,
    answer      jsonb       NOT NULL,
    at          timestamptz NOT NULL,
    PRIMARY KEY (actor, key)
);
CREATE INDEX idempotency_keys_age ON idempotency_keys (at);
