-- By what a Sentinel decides when something is due, in the keys of its configuration: for `hyperfleet why`.
ALTER TABLE sentinels ADD COLUMN decides jsonb NOT NULL DEFAULT '{}';
