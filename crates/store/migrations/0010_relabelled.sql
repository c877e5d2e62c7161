-- The labels a resource had before its last changes of labels, newest first, with the transaction of each change: for
-- watchers that see by labels, and have to hear when it is out of their sight.
ALTER TABLE resources ADD COLUMN relabelled jsonb NOT NULL DEFAULT '[]';
ALTER TABLE deleted_resources ADD COLUMN relabelled jsonb NOT NULL DEFAULT '[]';
