-- Who reported what changed a condition, and in which request. Lines of older versions do not say.
ALTER TABLE status_history ADD COLUMN actor text;
ALTER TABLE status_history ADD COLUMN request_id text;
