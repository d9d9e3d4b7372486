//! Which column holds the texts.

use parquet::basic::{ConvertedType, LogicalType, Repetition, Type as Physical};
use parquet::schema::types::{SchemaDescriptor, Type};

use crate::error::{Error, Result};

/// The number of the column of this name among those that hold values, if it holds texts.
pub(super) fn text_column(schema: &SchemaDescriptor, field: &str) -> Result<usize> {
    let fields = schema.root_schema().get_fields();
    let mut of_name = fields.iter().filter(|column| column.name() == field);
    let (Some(column), None) = (of_name.next(), of_name.next()) else {
        let columns: Vec<_> = fields.iter().map(|column| quoted(column.name())).collect();
        let message = format!(
            "found the columns {}, expected {}",
            columns.join(", "),
            quoted(field)
        );
        return Err(Error::InvalidTable {
            message,
            is_column_missing: true,
        });
    };
    let is_this = |path: &[String]| matches!(path, [name] if name == field);
    let leaf = schema
        .columns()
        .iter()
        .position(|leaf| is_this(leaf.path().parts()));
    leaf.filter(|_| holds_texts(column)).ok_or_else(|| {
        let kind = kind_of(column);
        Error::InvalidTable {
            message: format!(
                "the column {} holds {kind}, expected strings",
                quoted(field)
            ),
            is_column_missing: false,
        }
    })
}

fn holds_texts(column: &Type) -> bool {
    let info = column.get_basic_info();
    let is_text = match info.logical_type_ref() {
        Some(logical) => matches!(
            logical,
            LogicalType::String | LogicalType::Json | LogicalType::Enum
        ),
        None => matches!(
            info.converted_type(),
            ConvertedType::UTF8 | ConvertedType::JSON | ConvertedType::ENUM
        ),
    };
    is_text
        && column.is_primitive()
        && column.get_physical_type() == Physical::BYTE_ARRAY
        && info.repetition() != Repetition::REPEATED
}

/// What a column holds, as Arrow calls it.
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
    match column.get_physical_type() {
        Physical::BYTE_ARRAY | Physical::FIXED_LEN_BYTE_ARRAY => "binary".to_owned(),
        physical => physical.to_string().to_lowercase(),
    }
}

fn quoted(name: &str) -> String {
    format!("'{name}'")
}
