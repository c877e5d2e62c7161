-- What a change of facets adds to the index waits in a list, and goes into the index with others: a fifth of what a
-- report costs. A search reads that list too, so it is kept as short as PostgreSQL allows, eight pages.
ALTER INDEX resources_facets SET (fastupdate = on, gin_pending_list_limit = 64);

-- The status of a resource with eight adapters stays in its row. Beside it every report would also write a second
-- table and its index.
ALTER TABLE resources SET (toast_tuple_target = 4080);

-- Room on the page for the new version of a report, so that no index is touched.
ALTER TABLE adapter_statuses SET (fillfactor = 70);
