-- Which rules every status was last computed anew by, and how far that has come.
CREATE TABLE aggregation_sweep (
    only_row    boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    fingerprint text    NOT NULL,
    -- The last resource that was looked at; null before the first.
    reached     uuid,
    finished    boolean NOT NULL
);
