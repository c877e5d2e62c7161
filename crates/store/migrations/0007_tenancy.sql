-- Whose resources they are. Of no cost where there are no tenants: tenancy never changes, and what has none is left out.
CREATE INDEX resources_tenancy ON resources USING gin (tenancy jsonb_path_ops) WHERE tenancy <> '{}';
