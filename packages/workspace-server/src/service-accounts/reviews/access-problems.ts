import { fieldInvalid, type ObjectOf, OMITTED_VALUE, type StatusCause } from "@virtual-workspaces/apimachinery";
import type { AccessReviewContent } from "./content.ts";

type Review = ObjectOf<AccessReviewContent>;

/** What is wrong with a SubjectAccessReview, in Kubernetes' words. */
export function reviewProblems({ metadata, spec = {} }: Review): readonly StatusCause[] {
  const { managedFields: _, ...given } = metadata;
  const problems = specProblems(spec);
  return Object.keys(given).length === 0
    ? problems
    : [...problems, fieldInvalid("metadata", OMITTED_VALUE, "must be empty")];
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

function specProblems(spec: NonNullable<AccessReviewContent["spec"]>): readonly StatusCause[] {
  const { resourceAttributes, nonResourceAttributes, user = "", groups = [] } = spec;
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
  if (user === "" && groups.length === 0)
    problems.push(fieldInvalid("spec.user", user, "at least one of user or group must be specified"));
  return problems;
}
