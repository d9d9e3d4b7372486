//! Which column holds the texts.

use parquet::basic::{ConvertedType, LogicalType, Repetition, Type as Physical};
use parquet::schema::types::{SchemaDescriptor, Type, TypePtr};

use crate::error::{Error, Result};

/// The number of the column of this name among those that hold values, if it holds texts, as strings or as
/// bytes; None if its type is that of nulls alone.
pub(super) fn text_column(schema: &SchemaDescriptor, field: &str) -> Result<Option<usize>> {
    let fields = schema.root_schema().get_fields();
    let of_name: Vec<_> = fields.iter().filter(|c| c.name() == field).collect();
    let &[column] = &of_name[..] else {
        return Err(no_column(fields, field, of_name.len()));
    };
    if is_null(column) {
        return Ok(None);
    }
    let is_this = |path: &[String]| matches!(path, [name] if name == field);
    let leaf = schema
        .columns()
        .iter()
        .position(|leaf| is_this(leaf.path().parts()));
    if leaf.is_some() && holds_texts(column) {
        return Ok(leaf);
    }
    let (name, kind) = (quoted(field), kind_of(column));
    Err(Error::InvalidTable {
        message: format!("the column {name} holds {kind}, expected strings or bytes"),
        is_column_missing: false,
    })
}

/// That there are so many columns of a name, which is not one.
fn no_column(fields: &[TypePtr], field: &str, num_found: usize) -> Error {
    let field = quoted(field);
    let message = if num_found == 0 {
        let names: Vec<_> = fields.iter().map(|column| quoted(column.name())).collect();
        format!("found the columns {}, expected {field}", names.join(", "))
    } else {
        format!("found {num_found} columns {field}, expected one")
    };
    Error::InvalidTable {
        message,
        is_column_missing: num_found == 0,
    }
}

/// Arrow's type of columns without any value.
fn is_null(column: &Type) -> bool {
    matches!(
        column.get_basic_info().logical_type_ref(),
        Some(LogicalType::Unknown)
    )
}

fn holds_texts(column: &Type) -> bool {
    let info = column.get_basic_info();
    let is_text = match info.logical_type_ref() {
        Some(logical) => matches!(
            logical,
            LogicalType::String | LogicalType::Json | LogicalType::Enum
        ),
        // Some writers have only bytes.
        None => matches!(
            info.converted_type(),
            ConvertedType::NONE | ConvertedType::UTF8 | ConvertedType::JSON | ConvertedType::ENUM
        ),
    };
    is_text
        && column.is_primitive()
        && column.get_physical_type() == Physical::BYTE_ARRAY
        && info.repetition() != Repetition::REPEATED
}

/// What a column that holds no texts holds, as Arrow calls it.
fn kind_of(column: &Type) -> String {
    let info = column.get_basic_info();
    let is_list = matches!(info.logical_type_ref(), Some(LogicalType::List))
        || info.converted_type() == ConvertedType::LIST
        || (info.has_repetition() && info.repetition() == Repetition::REPEATED);
    if is_list {
        return "lists".to_owned();
    }
    if column.is_group() {
        return "structures".to_owned();
    }
    let kind = match (info.logical_type_ref(), info.converted_type()) {
        (Some(LogicalType::Decimal { .. }), _) | (_, ConvertedType::DECIMAL) => "decimal",
        (Some(LogicalType::Bson), _) | (_, ConvertedType::BSON) => "bson",
        (Some(LogicalType::Uuid), _) => "uuid",
        (Some(LogicalType::Float16), _) => "halffloat",
        (_, ConvertedType::INTERVAL) => "intervals",
        _ => match column.get_physical_type() {
            Physical::BYTE_ARRAY => "binary",
            Physical::FIXED_LEN_BYTE_ARRAY => "binary of a fixed size",
            physical => return physical.to_string().to_lowercase(),
        },
    };
    kind.to_owned()
}

fn quoted(name: &str) -> String {
    format!("'{name}'")
}
