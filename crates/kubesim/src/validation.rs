//! The rules every object must keep: names, labels, annotations, owner references, finalizers.

mod metadata;
mod names;

pub(crate) use metadata::{check_create, check_update};
pub(crate) use names::{
    dns_label_problem, label_value_problem, name_problem, qualified_name_problem,
};
