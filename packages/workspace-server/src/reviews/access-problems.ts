import { fieldInvalid, type ObjectOf, OMITTED_VALUE, type StatusCause } from "@virtual-workspaces/apimachinery";
import type { SubjectAccessContent } from "@virtual-workspaces/framework";

type Review = ObjectOf<SubjectAccessContent>;

/** What is wrong with a SubjectAccessReview, in Kubernetes' words. */
export function reviewProblems({ metadata, spec = {} }: Review): readonly StatusCause[] {
  return [...specProblems(spec), ...metadataProblems(metadata)];
}

/** The same of a SelfSubjectAccessReview, which names nobody. */
export function selfReviewProblems({ metadata, spec = {} }: Review): readonly StatusCause[] {
  return [...attributeProblems(spec), ...metadataProblems(metadata)];
}

function metadataProblems({ managedFields: _, ...given }: Review["metadata"]): readonly StatusCause[] {
  return Object.keys(given).length === 0 ? [] : [fieldInvalid("metadata", OMITTED_VALUE, "must be empty")];
}

/** The same of a LocalSubjectAccessReview. @param namespace the one of its URL */
export function localReviewProblems({ metadata, spec = {} }: Review, namespace: string): readonly StatusCause[] {
  const { managedFields: _, namespace: _own, ...given } = metadata;
  const problems = [...specProblems(spec)];
  if (Object.keys(given).length > 0)
    problems.push(fieldInvalid("metadata", OMITTED_VALUE, "must be empty except for namespace"));
  const { resourceAttributes, nonResourceAttributes } = spec;
  const asked = resourceAttributes?.namespace ?? "";
  if (resourceAttributes !== undefined && asked !== namespace)
    problems.push(fieldInvalid("spec.resourceAttributes.namespace", asked, "must match metadata.namespace"));
  if (nonResourceAttributes !== undefined)
    problems.push(
      fieldInvalid("spec.nonResourceAttributes", nonResourceAttributes, "disallowed on this kind of request"),
    );
  return problems;
}

type Spec = NonNullable<SubjectAccessContent["spec"]>;

function specProblems(spec: Spec): readonly StatusCause[] {
  const { user = "", groups = [] } = spec;
  const problems = attributeProblems(spec);
  if (user !== "" || groups.length > 0) return problems;
  return [...problems, fieldInvalid("spec.user", user, "at least one of user or group must be specified")];
}

function attributeProblems({ resourceAttributes, nonResourceAttributes }: Spec): readonly StatusCause[] {
  const problems: StatusCause[] = [];
  if (resourceAttributes !== undefined && nonResourceAttributes !== undefined)
    problems.push(
      fieldInvalid(
        "spec.nonResourceAttributes",
        nonResourceAttributes,
        "cannot be specified in combination with resourceAttributes",
      ),
    );
  if (resourceAttributes === undefined && nonResourceAttributes === undefined)
    problems.push(
      fieldInvalid(
        "spec.resourceAttributes",
        null,
        "exactly one of nonResourceAttributes or resourceAttributes must be specified",
      ),
    );
  return problems;
}
