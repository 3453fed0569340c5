//! Every statement of the store, valid in SQLite and PostgreSQL. What only SQLite accepts is in `sqlite.rs`. Tests
//! prepare each statement on both.

/// Appended to a prefix, sorts after every text with that prefix.
pub(super) const PREFIX_END: char = '\u{10ffff}';

/// Number of rows that [`PUT_CASES`] writes.
pub(super) const CASES_AT_ONCE: usize = 8;

/// Declares the statements and, for tests, a list of all.
macro_rules! statements {
    ($($(#[$doc:meta])* $name:ident = $sql:expr;)*) => {
        $($(#[$doc])* pub(super) const $name: &str = $sql;)*

        #[cfg(test)]
        pub(super) const ALL: &[(&str, &str)] = &[$((stringify!($name), $name)),*];
    };
}

macro_rules! select_run {
    ($($rest:literal)*) => {
        concat!(
            "SELECT number, id, created, description, kind, owner, state, writer, heartbeat, passed, failed, \
                errored, duration_ms, findings FROM runs ",
            $($rest),*
        )
    };
}

macro_rules! list_runs {
    ($condition:literal) => {
        select_run!(
            "WHERE " $condition
            " AND (CAST($2 AS TEXT) IS NULL OR lower(description) LIKE '%' || lower($2) || '%' ESCAPE '\\')
            AND (CAST($3 AS TEXT) IS NULL OR EXISTS (SELECT 1 FROM run_tags
                WHERE run = number AND name = $3 AND (CAST($4 AS TEXT) IS NULL OR value = $4)))
            AND (CAST($5 AS TEXT) IS NULL OR created < $5)
            AND (CAST($6 AS TEXT) IS NULL OR kind = $6)
            ORDER BY created DESC, number DESC LIMIT $7"
        )
    };
}

macro_rules! put_cases {
    ($first:literal $($more:literal)*) => {
        concat!(
            "INSERT INTO cases (run, ordinal, test_idx, prompt_idx, repeat, target, status, score, \
                latency_ms, description, prompt, vars_hash, result, evidence) VALUES ",
            $first, $(", ", $more,)*
            " ON CONFLICT (run, test_idx, prompt_idx, target, repeat) DO UPDATE SET \
                ordinal = excluded.ordinal, status = excluded.status, score = excluded.score, \
                latency_ms = excluded.latency_ms, description = excluded.description, \
                prompt = excluded.prompt, vars_hash = excluded.vars_hash, result = excluded.result, \
                evidence = excluded.evidence"
        )
    };
}

macro_rules! select_case {
    ($($rest:literal)*) => {
        concat!(
            "SELECT ordinal, test_idx, prompt_idx, repeat, status, score, latency_ms, description, result, \
                evidence FROM cases ",
            $($rest),*
        )
    };
}

statements! {
    // The file.
    VERSION = "SELECT version FROM program";
    SET_VERSION = "UPDATE program SET version = $1";

    // Runs.
    NEXT_RUN = "UPDATE program SET last_run = last_run + 1 RETURNING last_run";
    INSERT_RUN = "INSERT INTO runs (number, id, created, description, kind, owner, state, writer, heartbeat)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
    INSERT_DETAILS = "INSERT INTO run_details (run, info) VALUES ($1, $2)";
    SET_INFO = "UPDATE run_details SET info = $1 WHERE run = $2";
    INSERT_TAG = "INSERT INTO run_tags (run, name, value) VALUES ($1, $2, $3)";
    INSERT_SUITE_TEXT = "INSERT INTO suite_texts (run, place, name, base_dir, content)
        VALUES ($1, $2, $3, $4, $5)";
    /// The first statement of every transaction of a writer. Changes no row if the run was deleted or taken over.
    BEAT = "UPDATE runs SET heartbeat = $1 WHERE number = $2 AND writer = $3";
    WRITER = "SELECT writer FROM runs WHERE number = $1";
    /// Changes no row if another process took over the run since it was looked up.
    TAKE_OVER = "UPDATE runs SET state = $1, writer = $2, heartbeat = $3
        WHERE number = $4 AND (writer = $5 OR (writer IS NULL AND CAST($5 AS TEXT) IS NULL))";
    /// For a writer that was dropped while its process continues.
    ABANDON = "UPDATE runs SET state = $1 WHERE number = $2 AND writer = $3";
    SET_STATE = "UPDATE runs SET state = $1 WHERE number = $2";
    SET_COUNTS = "UPDATE runs SET passed = $1, failed = $2, errored = $3, duration_ms = $4
        WHERE number = $5";
    /// Counts the findings that no baseline accepts; none for a run that does not look for any.
    SET_FINDINGS = "UPDATE runs SET findings = (SELECT count(*) FROM findings
        WHERE run = runs.number AND NOT suppressed) WHERE number = $1 AND kind = 'redteam'";
    SET_SUMMARY = "UPDATE run_details SET summary = $1 WHERE run = $2";
    DELETE_RUN = "DELETE FROM runs WHERE number = $1";
    COUNT_RUNS = "SELECT count(*) FROM runs";
    LIST_RUNS = list_runs!("CAST($1 AS TEXT) IS NULL");
    LIST_RUNS_OF_OWNER = list_runs!("owner = $1");
    RUN = select_run!("WHERE number = $1");
    RUN_OF_ID = select_run!("WHERE id = $1");
    /// The second parameter is the first one followed by the last Unicode character.
    RUNS_OF_PREFIX = select_run!(
        "WHERE id >= $1 AND id < $2 ORDER BY created DESC, number DESC LIMIT $3"
    );
    LATEST_RUN = select_run!("ORDER BY created DESC, number DESC LIMIT 1 OFFSET $1");
    LATEST_RUN_OF_KIND = select_run!(
        "WHERE kind = $2 ORDER BY created DESC, number DESC LIMIT 1 OFFSET $1"
    );
    INFO = "SELECT info FROM run_details WHERE run = $1";
    SUMMARY = "SELECT summary FROM run_details WHERE run = $1";
    NEXT_SUMMARY = "SELECT run, summary FROM run_details WHERE run > $1 AND summary IS NOT NULL
        ORDER BY run LIMIT 1";
    SUITE_TEXTS = "SELECT name, base_dir, content FROM suite_texts WHERE run = $1 ORDER BY place";
    PUT_SURFACES = "INSERT INTO surfaces (run, target, surfaces) VALUES ($1, $2, $3)
        ON CONFLICT (run, target) DO UPDATE SET surfaces = excluded.surfaces";
    SURFACES = "SELECT target, surfaces FROM surfaces WHERE run = $1 ORDER BY target";

    // Cases.
    PUT_CASE = put_cases!("($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)");
    /// [`CASES_AT_ONCE`] rows of one run.
    PUT_CASES = put_cases!(
        "($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)"
        "($1, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27)"
        "($1, $28, $29, $30, $31, $32, $33, $34, $35, $36, $37, $38, $39, $40)"
        "($1, $41, $42, $43, $44, $45, $46, $47, $48, $49, $50, $51, $52, $53)"
        "($1, $54, $55, $56, $57, $58, $59, $60, $61, $62, $63, $64, $65, $66)"
        "($1, $67, $68, $69, $70, $71, $72, $73, $74, $75, $76, $77, $78, $79)"
        "($1, $80, $81, $82, $83, $84, $85, $86, $87, $88, $89, $90, $91, $92)"
        "($1, $93, $94, $95, $96, $97, $98, $99, $100, $101, $102, $103, $104, $105)"
    );
    CASES = select_case!("WHERE run = $1 ORDER BY ordinal");
    CASE = select_case!("WHERE run = $1 AND ordinal = $2 LIMIT 1");
    FINISHED_CASES = "SELECT test_idx, prompt_idx, repeat, target, status
        FROM cases WHERE run = $1 ORDER BY ordinal";
    COMPARED_CASES = "SELECT description, vars_hash, prompt, target, test_idx, repeat, status, score,
            latency_ms
        FROM cases WHERE run = $1 ORDER BY ordinal";

    // Red-team runs.
    PUT_KNOWLEDGE = "INSERT INTO knowledge (run, content) VALUES ($1, $2)
        ON CONFLICT (run) DO UPDATE SET content = excluded.content";
    KNOWLEDGE = "SELECT content FROM knowledge WHERE run = $1";
    PUT_TRIAL = "INSERT INTO trials (run, attack, place, nth, content) VALUES ($1, $2, $3, $4, $5)
        ON CONFLICT (run, attack, place, nth) DO UPDATE SET content = excluded.content";
    TRIALS = "SELECT content FROM trials WHERE run = $1 ORDER BY attack, place, nth";
    INSERT_FINGERPRINT = "INSERT INTO fingerprints (run, position, fingerprint) VALUES ($1, $2, $3)
        ON CONFLICT (run, position, fingerprint) DO NOTHING";
    DELETE_FINGERPRINTS = "DELETE FROM fingerprints WHERE run = $1";
    DELETE_FINDINGS = "DELETE FROM findings WHERE run = $1";
    INSERT_FINDING = "INSERT INTO findings (run, position, suppressed, fingerprint, rule, severity,
            confidence, title, content)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
    FINDINGS = "SELECT suppressed, content FROM findings WHERE run = $1 ORDER BY position";
    LIST_FINDINGS = "SELECT suppressed, fingerprint, rule, severity, confidence, title
        FROM findings WHERE run = $1 ORDER BY position";
    /// Finds the next distinct fingerprint, independent of the number of runs that have it.
    NEXT_FINGERPRINT = "SELECT fingerprint FROM fingerprints WHERE fingerprint >= $1 AND fingerprint < $2
        ORDER BY fingerprint LIMIT 1";
    LATEST_RUN_WITH = "SELECT run FROM fingerprints WHERE fingerprint = $1 ORDER BY run DESC LIMIT 1";
    FINDING = "SELECT content FROM findings WHERE run = $1 AND position = (SELECT min(position)
        FROM fingerprints WHERE run = $1 AND fingerprint >= $2 AND fingerprint < $3)";

    // Answers to questions of checks, traces, their scores, and events.
    PUT_ANSWER = "INSERT INTO answers (run, ordinal, key, kind, model, cost, duration_ms, content)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
        ON CONFLICT (run, ordinal, key) DO UPDATE SET kind = excluded.kind, model = excluded.model,
            cost = excluded.cost, duration_ms = excluded.duration_ms, content = excluded.content";
    ANSWERS = "SELECT ordinal, key, kind, model, cost, duration_ms, content FROM answers
        WHERE run = $1 ORDER BY ordinal, key";
    ANSWER_TOTALS = "SELECT kind, count(*), sum(cost), sum(duration_ms) FROM answers
        WHERE run = $1 GROUP BY kind ORDER BY kind";
    PUT_TRACE = "INSERT INTO traces (run, ordinal, name, source, findings) VALUES ($1, $2, $3, $4, $5)
        ON CONFLICT (run, ordinal) DO UPDATE SET name = excluded.name, source = excluded.source,
            findings = excluded.findings";
    TRACE_OF_NAME = "SELECT min(ordinal) FROM traces WHERE run = $1 AND name = $2";
    PUT_SCORE = "INSERT INTO scores (run, ordinal, metric, score, passed) VALUES ($1, $2, $3, $4, $5)
        ON CONFLICT (run, ordinal, metric) DO UPDATE SET score = excluded.score,
            passed = excluded.passed";
    MEAN_SCORES = "SELECT metric, avg(score), count(score) FROM scores
        WHERE run = $1 GROUP BY metric ORDER BY metric";
    PUT_EVENT = "INSERT INTO events (run, sequence, content) VALUES ($1, $2, $3)
        ON CONFLICT (run, sequence) DO UPDATE SET content = excluded.content";
    DELETE_EVENTS = "DELETE FROM events WHERE run = $1";
    EVENTS = "SELECT sequence, content FROM events WHERE run = $1 AND sequence > $2
        ORDER BY sequence LIMIT $3";

    // What owners configured. Every statement names the owner.
    INSERT_ENTITY = "INSERT INTO entities (owner, kind, id, name, version, size, body, created, updated)
        VALUES ($1, $2, $3, $4, 1, $5, $6, $7, $7) ON CONFLICT DO NOTHING";
    /// Changes no row that was changed since it was read.
    UPDATE_ENTITY = "UPDATE entities SET name = $4, version = version + 1, size = $5, body = $6, updated = $7
        WHERE owner = $1 AND kind = $2 AND id = $3 AND version = $8";
    DELETE_ENTITY = "DELETE FROM entities WHERE owner = $1 AND kind = $2 AND id = $3";
    ENTITY = "SELECT id, name, version, body, created, updated FROM entities
        WHERE owner = $1 AND kind = $2 AND id = $3";
    ENTITY_OF_NAME = "SELECT id, name, version, body, created, updated FROM entities
        WHERE owner = $1 AND kind = $2 AND name = $3";
    ENTITIES = "SELECT id, name, version, body, created, updated FROM entities
        WHERE owner = $1 AND kind = $2 ORDER BY id";
    STORED_BYTES = "SELECT CAST(COALESCE(sum(size), 0) AS BIGINT) FROM entities WHERE owner = $1";
}
