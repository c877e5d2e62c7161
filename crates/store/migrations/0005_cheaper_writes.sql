-- The same facets. A function in SQL is planned anew by every statement that calls it, which costs a write more than
-- the write itself; one in PL/pgSQL is planned once by each connection.
CREATE OR REPLACE FUNCTION hyperfleet_facets(labels jsonb, status jsonb, refs jsonb) RETURNS text[]
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
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
END
$$;

-- A report that says nothing new touches no indexed value, so PostgreSQL can store it without touching an index, as
-- long as it can see that: it compares facets as they lie in the row, and compressed ones never equal new ones. The
-- new version of a row also has to fit beside the old one.
ALTER TABLE resources ALTER COLUMN facets SET STORAGE EXTERNAL, SET (fillfactor = 70);

-- Statuses are written far more often than read in bulk. Not every PostgreSQL is built with LZ4.
DO $$
BEGIN
    ALTER TABLE resources ALTER COLUMN spec SET COMPRESSION lz4, ALTER COLUMN status SET COMPRESSION lz4;
    ALTER TABLE adapter_statuses ALTER COLUMN conditions SET COMPRESSION lz4, ALTER COLUMN data SET COMPRESSION lz4;
EXCEPTION WHEN feature_not_supported THEN
    NULL;
END
$$;
