-- No plan depends on what these documents hold, and sampling them is most of what an ANALYZE costs: autovacuum does one
-- a minute on a fleet that reports.
ALTER TABLE resources
    ALTER COLUMN spec SET STATISTICS 0,
    ALTER COLUMN labels SET STATISTICS 0,
    ALTER COLUMN refs SET STATISTICS 0,
    ALTER COLUMN status SET STATISTICS 0,
    ALTER COLUMN report_times SET STATISTICS 0,
    ALTER COLUMN relabelled SET STATISTICS 0;
ALTER TABLE adapter_statuses
    ALTER COLUMN conditions SET STATISTICS 0,
    ALTER COLUMN data SET STATISTICS 0,
    ALTER COLUMN metadata SET STATISTICS 0;
ALTER TABLE status_history ALTER COLUMN changes SET STATISTICS 0;
ALTER TABLE audit_log ALTER COLUMN detail SET STATISTICS 0;
