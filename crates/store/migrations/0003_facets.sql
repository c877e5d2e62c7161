-- Every search by label or condition reads the list of what is yet to be put into the index, row by row. Without that
-- list a search costs what it finds; a write that changes facets pays for it with about what one more index costs.
ALTER INDEX resources_facets SET (fastupdate = off);
SELECT gin_clean_pending_list('resources_facets');
