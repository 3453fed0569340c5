//! Which tables and columns statements touch, and how, in the notation of promptfoo:
//! `select::database::table` and `select::table::column`, with `null` for what is not said.

use std::collections::HashMap;
use std::ops::ControlFlow;

use sqlparser::ast::{
    AlterTableOperation, Assignment, AssignmentTarget, Delete, Expr, FromTable, Insert, ObjectName,
    ObjectType, Select, SelectItem, SelectItemQualifiedWildcardKind, Statement, TableFactor,
    TableObject, TableWithJoins, Update, UpdateTableFromKind, Use, Visit, Visitor,
};

const EVERY: &str = "(.*)";

#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Footprint {
    pub tables: Vec<String>,
    pub columns: Vec<String>,
    /// A function is used instead of a table.
    pub calls_tables: bool,
}

impl Footprint {
    pub(super) fn of(statements: &[Statement]) -> Self {
        let mut walk = Walk::default();
        for statement in statements {
            let ControlFlow::Continue(()) = statement.visit(&mut walk);
        }
        walk.finish()
    }
}

/// A column as it is written.
struct Column {
    verb: &'static str,
    /// Database and table, as far as they are said.
    owner: Vec<String>,
    name: String,
}

#[derive(Default)]
struct Walk {
    tables: Vec<String>,
    columns: Vec<Column>,
    /// The tables behind other names.
    aliases: HashMap<String, String>,
    calls_tables: bool,
}

impl Walk {
    /// Columns can be distinguished only if all other names of tables are known.
    fn finish(self) -> Footprint {
        let mut columns = Vec::new();
        for Column { verb, owner, name } in self.columns {
            let owner = match owner.as_slice() {
                [] => "null".to_owned(),
                [table] => self.aliases.get(table).unwrap_or(table).clone(),
                several => several.join("::"),
            };
            columns.push(format!("{verb}::{owner}::{name}"));
        }
        Footprint {
            tables: without_repeats(self.tables),
            columns: without_repeats(columns),
            calls_tables: self.calls_tables,
        }
    }

    fn table(&mut self, verb: &str, name: &ObjectName) {
        let (database, table) = split(name);
        let database = if database.is_empty() { "null".to_owned() } else { database.join(".") };
        self.tables.push(format!("{verb}::{database}::{table}"));
    }

    fn column(&mut self, verb: &'static str, mut parts: Vec<String>) {
        if let Some(name) = parts.pop() {
            self.columns.push(Column { verb, owner: parts, name });
        }
    }

    fn factor(&mut self, verb: &str, factor: &TableFactor) {
        match factor {
            TableFactor::Table { name, args: None, .. } => self.table(verb, name),
            TableFactor::NestedJoin { table_with_joins, .. } => self.joined(verb, table_with_joins),
            _ => {}
        }
    }

    fn joined(&mut self, verb: &str, tables: &TableWithJoins) {
        self.factor(verb, &tables.relation);
        for join in &tables.joins {
            self.factor(verb, &join.relation);
        }
    }

    fn insert(&mut self, insert: &Insert) {
        let TableObject::TableName(name) = &insert.table else { return };
        self.table("insert", name);
        let (_, table) = split(name);
        let columns: Vec<String> = match insert.columns.as_slice() {
            [] => vec![EVERY.to_owned()],
            columns => columns.iter().map(|column| split(column).1).collect(),
        };
        for column in columns {
            self.column("insert", vec![table.clone(), column]);
        }
    }

    fn update(&mut self, update: &Update) {
        self.joined("update", &update.table);
        if let Some(UpdateTableFromKind::BeforeSet(from) | UpdateTableFromKind::AfterSet(from)) =
            &update.from
        {
            for tables in from {
                self.joined("update", tables);
            }
        }
        for Assignment { target, .. } in &update.assignments {
            let targets = match target {
                AssignmentTarget::ColumnName(name) => std::slice::from_ref(name),
                AssignmentTarget::Tuple(names) => names,
            };
            for name in targets {
                self.column("update", parts(name));
            }
        }
    }

    fn delete(&mut self, delete: &Delete) {
        let (FromTable::WithFromKeyword(from) | FromTable::WithoutKeyword(from)) = &delete.from;
        let mut emptied: Vec<&ObjectName> = delete.tables.iter().collect();
        for tables in from {
            let joins = tables.joins.iter().map(|join| &join.relation);
            for (at, factor) in std::iter::once(&tables.relation).chain(joins).enumerate() {
                let TableFactor::Table { name, .. } = factor else { continue };
                let named = delete.tables.iter().any(|table| split(table).1 == split(name).1);
                if named || delete.tables.is_empty() && at == 0 {
                    self.table("delete", name);
                    if !named {
                        emptied.push(name);
                    }
                } else {
                    self.table("select", name);
                }
            }
        }
        for tables in delete.using.iter().flatten() {
            self.joined("select", tables);
        }
        for name in emptied {
            self.column("delete", vec![split(name).1, EVERY.to_owned()]);
        }
    }

    fn defined(&mut self, column: &str) {
        self.column("select", vec![column.to_owned()]);
        self.column("create", vec![column.to_owned()]);
    }

    /// Statements that are not named here have no tables but those of their queries.
    fn statement(&mut self, statement: &Statement) {
        match statement {
            Statement::Insert(insert) => self.insert(insert),
            Statement::Update(update) => self.update(update),
            Statement::Delete(delete) => self.delete(delete),
            Statement::CreateTable(create) => {
                self.table("create", &create.name);
                for column in &create.columns {
                    self.defined(&column.name.value);
                }
            }
            Statement::AlterTable(alter) => {
                self.table("alter", &alter.name);
                for operation in &alter.operations {
                    if let AlterTableOperation::AddColumn { column_def, .. } = operation {
                        self.defined(&column_def.name.value);
                    }
                }
            }
            Statement::Drop { object_type: ObjectType::Table, names, .. } => {
                for name in names {
                    self.table("DROP", name);
                }
            }
            Statement::Truncate(truncate) => {
                for table in &truncate.table_names {
                    self.table("TRUNCATE", &table.name);
                }
            }
            Statement::RenameTable(renames) => {
                for rename in renames {
                    self.table("rename", &rename.old_name);
                    self.table("rename", &rename.new_name);
                }
            }
            Statement::Merge(merge) => {
                self.factor("merge", &merge.table);
                self.factor("select", &merge.source);
            }
            Statement::ShowTables { .. } => self.tables.push("show::null::null".to_owned()),
            Statement::Use(Use::Object(name) | Use::Database(name)) => {
                self.tables.push(format!("use::{}::null", parts(name).join(".")));
            }
            _ => {}
        }
    }
}

impl Visitor for Walk {
    type Break = std::convert::Infallible;

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<Self::Break> {
        for item in &select.projection {
            let mut owner = match item {
                SelectItem::Wildcard(_) => Vec::new(),
                SelectItem::QualifiedWildcard(
                    SelectItemQualifiedWildcardKind::ObjectName(name),
                    _,
                ) => parts(name),
                _ => continue,
            };
            owner.push(EVERY.to_owned());
            self.column("select", owner);
        }
        ControlFlow::Continue(())
    }

    fn post_visit_select(&mut self, select: &Select) -> ControlFlow<Self::Break> {
        for tables in &select.from {
            self.joined("select", tables);
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<Self::Break> {
        if let TableFactor::Table { name, alias, args, .. } = factor {
            self.calls_tables |= args.is_some();
            if let Some(alias) = alias {
                self.aliases.insert(alias.name.value.clone(), split(name).1);
            }
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<Self::Break> {
        match expr {
            Expr::Identifier(name) => self.column("select", vec![name.value.clone()]),
            Expr::CompoundIdentifier(names) => {
                self.column("select", names.iter().map(|name| name.value.clone()).collect());
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn post_visit_statement(&mut self, statement: &Statement) -> ControlFlow<Self::Break> {
        self.statement(statement);
        ControlFlow::Continue(())
    }
}

fn parts(name: &ObjectName) -> Vec<String> {
    let text = |part: &sqlparser::ast::ObjectNamePart| match part.as_ident() {
        Some(ident) => ident.value.clone(),
        None => part.to_string(),
    };
    name.0.iter().map(text).collect()
}

/// The qualifier of a name, and the name.
fn split(name: &ObjectName) -> (Vec<String>, String) {
    let mut parts = parts(name);
    let last = parts.pop().unwrap_or_default();
    (parts, last)
}

fn without_repeats(items: Vec<String>) -> Vec<String> {
    let mut seen = std::collections::HashSet::new();
    items.into_iter().filter(|item| seen.insert(item.clone())).collect()
}

#[cfg(test)]
mod tests {
    use crate::sql::{Dialect, read};

    fn footprint(sql: &str) -> (String, String) {
        let found = read(sql, Dialect::MySql).expect(sql);
        (found.tables.join(" "), found.columns.join(" "))
    }

    #[test]
    fn tables_and_columns_are_those_of_promptfoo() {
        for (sql, tables, columns) in [
            (
                "SELECT u.a, b FROM users u WHERE u.c = 1 ORDER BY d",
                "select::null::users",
                "select::users::a select::null::b select::users::c select::null::d",
            ),
            ("SELECT a FROM db.users", "select::db::users", "select::null::a"),
            ("SELECT db.users.a FROM db.users", "select::db::users", "select::db::users::a"),
            (
                "INSERT INTO t (a, b) VALUES (1, 'x')",
                "insert::null::t",
                "insert::t::a insert::t::b",
            ),
            ("INSERT INTO t VALUES (1)", "insert::null::t", "insert::t::(.*)"),
            (
                "INSERT INTO t (a) SELECT b FROM u",
                "select::null::u insert::null::t",
                "select::null::b insert::t::a",
            ),
            (
                "UPDATE t SET a = b + 1 WHERE c = 2",
                "update::null::t",
                "select::null::b select::null::c update::null::a",
            ),
            ("UPDATE t u SET u.a = 1", "update::null::t", "update::t::a"),
            ("DELETE FROM t WHERE id = 1", "delete::null::t", "select::null::id delete::t::(.*)"),
            (
                "DELETE t FROM t JOIN u ON t.a = u.a",
                "delete::null::t select::null::u",
                "select::t::a select::u::a delete::t::(.*)",
            ),
            (
                "CREATE TABLE t (id INT PRIMARY KEY)",
                "create::null::t",
                "select::null::id create::null::id",
            ),
            ("DROP TABLE t", "DROP::null::t", ""),
            ("TRUNCATE TABLE t", "TRUNCATE::null::t", ""),
            (
                "WITH c AS (SELECT a FROM t) SELECT * FROM c",
                "select::null::t select::null::c",
                "select::null::a select::null::(.*)",
            ),
            (
                "SELECT a FROM t WHERE b IN (SELECT c FROM u)",
                "select::null::u select::null::t",
                "select::null::a select::null::b select::null::c",
            ),
            ("SELECT COUNT(*) FROM t", "select::null::t", ""),
            ("SELECT t.* FROM t", "select::null::t", "select::t::(.*)"),
            ("SELECT a, a FROM t, t x", "select::null::t", "select::null::a"),
            ("SELECT 1", "", ""),
            ("USE db", "use::db::null", ""),
            (
                "SELECT a FROM t LEFT JOIN u USING (id)",
                "select::null::t select::null::u",
                "select::null::a",
            ),
        ] {
            assert_eq!(footprint(sql), (tables.to_owned(), columns.to_owned()), "{sql}");
        }
    }
}
