//! Which rows a deletion concerns. Every statement locks what it finds, parents before children, and sees what was
//! committed while it waited.

use std::collections::{HashMap, HashSet};

use hyperfleet_core::adapter_status::AdapterStatus;
use hyperfleet_core::history::Action;
use hyperfleet_core::identity::ResourceId;
use hyperfleet_core::kind::{
    Kind, OnParentDelete, OnTargetDelete, ReferenceRule, Registry, Strength,
};
use hyperfleet_core::resource::{BASE_PATH, Resource};
use sqlx::types::Json;
use sqlx::{PgConnection, Row};
use uuid::Uuid;

use super::Refusal;
use super::write::Updated;
use crate::error::StoreError;
use crate::resources::Owner;
use crate::row::{self, resource_columns};
use crate::sight::{Sight, seen};
use crate::stored::{self, ReportTimes, report_columns};

/// A row that a deletion reaches.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) resource: Resource,
    /// Whether its deletion was not asked for before.
    pub(super) marked: bool,
}

/// Everything a deletion concerns.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    /// Parents before their children.
    pub(super) members: Vec<Member>,
    /// Children that stay, already without their owner.
    pub(super) orphans: Vec<Updated>,
    /// What points weakly at a member and stays, its references already marked.
    pub(super) losers: Vec<Resource>,
}

impl Gathered {
    fn holds(&self, id: ResourceId) -> bool {
        self.members.iter().any(|member| member.resource.id == id)
    }
}

pub(super) async fn lock(
    tx: &mut PgConnection,
    kind: Option<&str>,
    owner: Owner,
    id: ResourceId,
    sight: Option<Json<&Sight>>,
) -> Result<Option<Resource>, StoreError> {
    let found = sqlx::query(concat!(
        "SELECT ",
        resource_columns!(),
        " FROM resources r
          WHERE r.id = $1 AND ($2::text IS NULL OR r.kind = $2) AND ($3::uuid IS NULL OR r.owner_id = $3)",
        seen!("$4"),
        " FOR UPDATE"
    ))
    .bind(id.0)
    .bind(kind)
    .bind(owner.id())
    .bind(sight)
    .fetch_optional(tx)
    .await?;
    found.as_ref().map(row::resource).transpose()
}

/// Locks the owners of a row from the outermost in.
pub(super) async fn lock_ancestors(
    tx: &mut PgConnection,
    owner: Option<ResourceId>,
) -> Result<(), StoreError> {
    let Some(owner) = owner else { return Ok(()) };
    let chain: Vec<Uuid> = sqlx::query_scalar(
        "WITH RECURSIVE up AS (
             SELECT id, owner_id, 0 AS height FROM resources WHERE id = $1
             UNION ALL
             SELECT r.id, r.owner_id, up.height + 1 FROM resources r JOIN up ON r.id = up.owner_id
         )
         SELECT id FROM up ORDER BY height DESC",
    )
    .bind(owner.0)
    .fetch_all(&mut *tx)
    .await?;
    for id in chain {
        lock(tx, None, Owner::Any, ResourceId(id), None).await?;
    }
    Ok(())
}

/// What a DELETE of `root` reaches, or why it is refused.
pub(super) async fn deletion(
    tx: &mut PgConnection,
    root: Resource,
    kinds: &Registry,
) -> Result<Gathered, StoreError> {
    let mut gathered = Gathered::default();
    let mut roots = vec![root];
    while !roots.is_empty() {
        let level = std::mem::take(&mut roots);
        let from = gathered.members.len();
        descend(tx, &mut gathered, level, kinds).await?;
        let fresh: Vec<Resource> = gathered.members[from..]
            .iter()
            .filter(|member| member.marked)
            .map(|member| member.resource.clone())
            .collect();
        for (referrer, targets) in referrers(tx, &fresh, kinds, &gathered).await? {
            let rules: Vec<&ReferenceRule> = targets.iter().map(|(_, rule)| *rule).collect();
            if rules.iter().any(|rule| rule.strength == Strength::Strong) {
                return Err(refused(tx, &fresh, kinds, &gathered).await?.into());
            }
            if rules
                .iter()
                .any(|rule| rule.on_target_delete == OnTargetDelete::Delete)
            {
                roots.push(referrer);
            } else {
                let ids: Vec<ResourceId> = targets.into_iter().map(|(id, _)| id).collect();
                gathered.lose(referrer, &ids);
            }
        }
    }
    // What turned out to be deleted too has nothing to lose.
    let losers = std::mem::take(&mut gathered.losers);
    gathered.losers = losers
        .into_iter()
        .filter(|loser| !gathered.holds(loser.id))
        .collect();
    Ok(gathered)
}

/// Everything below and including `root`, whatever the policies say.
pub(super) async fn subtree(
    tx: &mut PgConnection,
    root: Resource,
    kinds: &Registry,
) -> Result<Gathered, StoreError> {
    let mut gathered = Gathered::default();
    let mut level = vec![root];
    while !level.is_empty() {
        let ids: Vec<Uuid> = level.iter().map(|resource| resource.id.0).collect();
        gathered
            .members
            .extend(level.into_iter().map(|resource| Member {
                resource,
                marked: false,
            }));
        level = children(tx, &ids).await?;
    }
    let all: Vec<Resource> = gathered
        .members
        .iter()
        .map(|member| member.resource.clone())
        .collect();
    for (referrer, targets) in referrers(tx, &all, kinds, &gathered).await? {
        let ids: Vec<ResourceId> = targets.into_iter().map(|(id, _)| id).collect();
        gathered.lose(referrer, &ids);
    }
    Ok(gathered)
}

/// Takes `level` and everything that is deleted with it, level by level.
async fn descend(
    tx: &mut PgConnection,
    gathered: &mut Gathered,
    mut level: Vec<Resource>,
    kinds: &Registry,
) -> Result<(), StoreError> {
    while !level.is_empty() {
        let ids: Vec<Uuid> = level.iter().map(|resource| resource.id.0).collect();
        let parents: HashMap<ResourceId, String> = level
            .iter()
            .map(|resource| (resource.id, resource.kind.clone()))
            .collect();
        for resource in level {
            if !gathered.holds(resource.id) {
                let marked = !resource.is_deleting();
                gathered.members.push(Member { resource, marked });
            }
        }
        level = Vec::new();
        for child in children(tx, &ids).await? {
            let kind = kinds.kind(&child.kind);
            let policy = kind.and_then(|kind| kind.on_parent_delete);
            // A kind that is no longer configured has no policy: refuse rather than guess.
            match policy.unwrap_or(OnParentDelete::Restrict) {
                _ if child.is_deleting() => level.push(child),
                OnParentDelete::Cascade => level.push(child),
                OnParentDelete::Orphan => gathered.orphans.push(orphan(child, kind)),
                OnParentDelete::Restrict => {
                    let parent = child.owner_references.map(|owner| owner.id);
                    let id = parent.unwrap_or(child.id);
                    return Err(Refusal::Children {
                        kind: parents.get(&id).cloned().unwrap_or_default(),
                        id,
                        child_kind: child.kind,
                    }
                    .into());
                }
            }
        }
    }
    Ok(())
}

/// The child without its owner. Its nested address would lead nowhere, so it gets the flat one.
fn orphan(child: Resource, kind: Option<&Kind>) -> Updated {
    let href = kind.map_or_else(
        || child.href.clone(),
        |kind| format!("{BASE_PATH}/{}/{}", kind.plural, child.id),
    );
    Updated {
        resource: Resource {
            owner_references: None,
            href,
            ..child
        },
        recheck: None,
        undone: false,
        action: Some(Action::Orphan),
    }
}

impl Gathered {
    fn lose(&mut self, referrer: Resource, targets: &[ResourceId]) {
        let position = self.losers.iter().position(|loser| loser.id == referrer.id);
        let index = position.unwrap_or_else(|| {
            self.losers.push(referrer);
            self.losers.len() - 1
        });
        for reference in self.losers[index].references.values_mut().flatten() {
            reference.missing |= targets.contains(&reference.target.id);
        }
    }
}

async fn children(tx: &mut PgConnection, owners: &[Uuid]) -> Result<Vec<Resource>, StoreError> {
    sqlx::query(concat!(
        "SELECT ",
        resource_columns!(),
        " FROM resources r WHERE r.owner_id = ANY($1) ORDER BY r.id FOR UPDATE"
    ))
    .bind(owners)
    .fetch_all(tx)
    .await?
    .iter()
    .map(row::resource)
    .collect()
}

/// Active resources outside of `gathered` that point at one of `targets`, with what they point at and by which rule.
async fn referrers<'a>(
    tx: &mut PgConnection,
    targets: &[Resource],
    kinds: &'a Registry,
    gathered: &Gathered,
) -> Result<Vec<(Resource, Vec<(ResourceId, &'a ReferenceRule)>)>, StoreError> {
    let mut facets = Vec::new();
    for target in targets {
        let types: HashSet<&str> = kinds
            .kinds()
            .iter()
            .flat_map(|kind| &kind.references)
            .filter(|rule| rule.target_kind == target.kind)
            .map(|rule| rule.ref_type.as_str())
            .collect();
        facets.extend(
            types
                .into_iter()
                .map(|kind| row::reference_facet(kind, target.id)),
        );
    }
    if facets.is_empty() {
        return Ok(Vec::new());
    }
    let found = sqlx::query(concat!(
        "SELECT ",
        resource_columns!(),
        " FROM resources r WHERE r.facets && $1 AND r.deleted_time IS NULL ORDER BY r.id FOR UPDATE"
    ))
    .bind(&facets)
    .fetch_all(tx)
    .await?;
    let mut referrers = Vec::new();
    for found in &found {
        let referrer = row::resource(found)?;
        if gathered.holds(referrer.id) {
            continue;
        }
        let rules = kinds
            .kind(&referrer.kind)
            .map_or(&[][..], |kind| &kind.references);
        let mut hits = Vec::new();
        for (ref_type, references) in &referrer.references {
            let Some(rule) = rules.iter().find(|rule| rule.ref_type == *ref_type) else {
                continue;
            };
            for reference in references {
                if targets
                    .iter()
                    .any(|target| target.id == reference.target.id)
                {
                    hits.push((reference.target.id, rule));
                }
            }
        }
        if !hits.is_empty() {
            referrers.push((referrer, hits));
        }
    }
    Ok(referrers)
}

/// The refusal that names everything that points strongly at the first such target.
async fn refused(
    tx: &mut PgConnection,
    targets: &[Resource],
    kinds: &Registry,
    gathered: &Gathered,
) -> Result<Refusal, StoreError> {
    let referrers = referrers(tx, targets, kinds, gathered).await?;
    let strong = |hits: &[(ResourceId, &ReferenceRule)], id: ResourceId| {
        hits.iter()
            .any(|(target, rule)| *target == id && rule.strength == Strength::Strong)
    };
    let target = targets
        .iter()
        .find(|target| referrers.iter().any(|(_, hits)| strong(hits, target.id)));
    let (kind, name, id) = target.map_or_else(
        || (String::new(), String::new(), None),
        |target| (target.kind.clone(), target.name.clone(), Some(target.id)),
    );
    let by = referrers
        .into_iter()
        .filter(|(_, hits)| id.is_some_and(|id| strong(hits, id)))
        .map(|(referrer, _)| (referrer.kind, referrer.name))
        .collect();
    Ok(Refusal::Referenced { kind, name, by })
}

/// The reports on each of these resources.
pub(super) async fn reports(
    tx: &mut PgConnection,
    ids: &[ResourceId],
) -> Result<HashMap<ResourceId, Vec<AdapterStatus>>, StoreError> {
    let ids: Vec<Uuid> = ids.iter().map(|id| id.0).collect();
    let rows = sqlx::query(concat!(
        "SELECT s.resource_id, r.report_times, ",
        report_columns!(),
        " FROM adapter_statuses s JOIN resources r ON r.id = s.resource_id
          WHERE s.resource_id = ANY($1) ORDER BY s.adapter"
    ))
    .bind(&ids)
    .fetch_all(tx)
    .await?;
    let mut reports: HashMap<ResourceId, Vec<AdapterStatus>> = HashMap::new();
    for found in &rows {
        let id = ResourceId(found.try_get("resource_id")?);
        let Json(times): Json<ReportTimes> = found.try_get("report_times")?;
        reports
            .entry(id)
            .or_default()
            .push(stored::report(id, found, &times)?);
    }
    Ok(reports)
}

pub(super) async fn has_children(
    tx: &mut PgConnection,
    id: ResourceId,
) -> Result<bool, StoreError> {
    Ok(
        sqlx::query_scalar("SELECT EXISTS (SELECT 1 FROM resources WHERE owner_id = $1)")
            .bind(id.0)
            .fetch_one(tx)
            .await?,
    )
}
