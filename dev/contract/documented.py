"""Rules of the API that its OpenAPI document has no words for."""

import copy
import re

import schemathesis

NAME = re.compile(r"^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$")


@schemathesis.hook
def before_call(context, case, kwargs):
    # A watch goes on for ever; its tests are in crates/api/tests.
    if isinstance(case.query, dict):
        case.query = {name: value for name, value in case.query.items() if name != "watch"}
    if not isinstance(case.body, dict):
        return
    # Cases are tried again when they fail, and must then be as they were.
    case.body = body = copy.deepcopy(case.body)
    # Label keys have a syntax. What else is wrong with a label stays wrong.
    labels = body.get("labels")
    if isinstance(labels, dict):
        for key in [key for key, value in labels.items() if isinstance(value, str) and not NAME.match(key)]:
            del labels[key]
    # Nothing has a random id, so nothing can be pointed at.
    references = body.get("references")
    if isinstance(references, dict):
        for kind in [kind for kind, targets in references.items() if all_targets(targets)]:
            del references[kind]


def all_targets(targets):
    return isinstance(targets, list) and all(
        isinstance(target, dict) and isinstance(target.get("id"), str) for target in targets
    )
