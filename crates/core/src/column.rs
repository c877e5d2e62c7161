//! The plain members of a resource: what lists are searched and ordered by without looking into JSON.

/// A member that is a column of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Column {
    Id,
    Kind,
    Name,
    Href,
    Generation,
    CreatedTime,
    UpdatedTime,
    DeletedTime,
    CreatedBy,
    UpdatedBy,
    DeletedBy,
    OwnerId,
    OwnerKind,
    OwnerHref,
}

impl Column {
    pub const ALL: [Column; 14] = [
        Column::Id,
        Column::Kind,
        Column::Name,
        Column::Href,
        Column::Generation,
        Column::CreatedTime,
        Column::UpdatedTime,
        Column::DeletedTime,
        Column::CreatedBy,
        Column::UpdatedBy,
        Column::DeletedBy,
        Column::OwnerId,
        Column::OwnerKind,
        Column::OwnerHref,
    ];

    /// Its name in searches, in orders and in the table.
    pub fn as_str(self) -> &'static str {
        match self {
            Column::Id => "id",
            Column::Kind => "kind",
            Column::Name => "name",
            Column::Href => "href",
            Column::Generation => "generation",
            Column::CreatedTime => "created_time",
            Column::UpdatedTime => "updated_time",
            Column::DeletedTime => "deleted_time",
            Column::CreatedBy => "created_by",
            Column::UpdatedBy => "updated_by",
            Column::DeletedBy => "deleted_by",
            Column::OwnerId => "owner_id",
            Column::OwnerKind => "owner_kind",
            Column::OwnerHref => "owner_href",
        }
    }

    pub fn parse(name: &str) -> Option<Column> {
        Column::ALL
            .into_iter()
            .find(|column| column.as_str() == name)
    }
}
