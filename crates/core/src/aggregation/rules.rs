//! Everything configuration says about the status of one kind, compiled.

use super::lateness::Policies;
use super::mapped::Mapped;
use super::rule::ConditionRule;
use super::variables::{BY_NAME, Inputs, Needs};
use crate::condition::ResourceCondition;
use crate::identity::AdapterName;
use crate::phase::Phases;

/// The rules of one kind. Compiled once, shared by every report.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    required: Vec<AdapterName>,
    optional: Vec<AdapterName>,
    mapped: Vec<Mapped>,
    conditions: Vec<ConditionRule>,
    pub(crate) phases: Phases,
    pub(super) policies: Policies,
    needs: Needs,
}

impl Rules {
    /// The rules of a kind about which configuration says only which adapters it needs.
    pub fn plain(required: Vec<AdapterName>) -> Rules {
        Rules {
            required,
            ..Rules::default()
        }
    }

    pub(super) fn new(
        required: Vec<AdapterName>,
        optional: Vec<AdapterName>,
        mapped: Vec<Mapped>,
        conditions: Vec<ConditionRule>,
        phases: Phases,
        policies: Policies,
    ) -> Rules {
        let mut needs = Needs::default();
        for program in mapped.iter().flat_map(Mapped::programs) {
            needs.add_variables(program.references());
            add_adapters(&mut needs, program.keys_of(BY_NAME));
        }
        for rule in &conditions {
            needs.add_variables(rule.test.references());
            add_adapters(&mut needs, rule.test.keys_of(BY_NAME));
        }
        Rules {
            required,
            optional,
            mapped,
            conditions,
            phases,
            policies,
            needs,
        }
    }

    /// The adapters whose reports decide whether a resource is reconciled, and that must clean up before it goes.
    pub fn required(&self) -> &[AdapterName] {
        &self.required
    }

    /// Adapters that are expected but not waited for.
    pub fn optional(&self) -> &[AdapterName] {
        &self.optional
    }

    /// Room for every condition a resource can have.
    pub(super) fn most_conditions(&self) -> usize {
        3 + self.required.len() + self.mapped.len() + self.conditions.len()
    }

    /// Appends what the mappings and the rules say, in the order of the configuration.
    pub(super) fn evaluate(
        &self,
        inputs: &Inputs<'_>,
        before: &[ResourceCondition],
        conditions: &mut Vec<ResourceCondition>,
    ) {
        if self.mapped.is_empty() && self.conditions.is_empty() {
            return;
        }
        let bindings = self.needs.bindings(&self.required, &self.optional, inputs);
        for mapped in &self.mapped {
            conditions.extend(mapped.condition(inputs.subject, &bindings, before));
        }
        for rule in &self.conditions {
            conditions.push(rule.condition(inputs.subject, &bindings, before));
        }
    }
}

/// A name that no adapter can have stays absent.
fn add_adapters(needs: &mut Needs, names: Vec<&str>) {
    for name in names {
        if let Ok(name) = AdapterName::try_from(name) {
            needs.add_adapter(name);
        }
    }
}
