import { fieldInvalid, fieldRequired, type StatusCause } from "@virtual-workspaces/apimachinery";
import type { CrdSubresources } from "../definition/definition.ts";

type Causes = Generator<StatusCause, void>;

/** What is wrong with the beginning of a JSON path: all that Kubernetes looks at. */
export function* pathProblems(path: string, field: string): Causes {
  if (!path.startsWith(".")) yield fieldInvalid(field, path, "must be a simple json path starting with .");
}

/** What is wrong with where replicas are (ValidateCustomResourceDefinitionSubresources). */
export function* subresourceProblems({ scale }: CrdSubresources, path: string): Causes {
  if (scale === undefined) return;
  yield* scaleProblems(scale.specReplicasPath, { field: `${path}.scale.specReplicasPath`, below: [".spec"] });
  yield* scaleProblems(scale.statusReplicasPath, { field: `${path}.scale.statusReplicasPath`, below: [".status"] });
  const { labelSelectorPath = "" } = scale;
  const selector = { field: `${path}.scale.labelSelectorPath`, below: [".spec", ".status"] };
  if (labelSelectorPath !== "") yield* scaleProblems(labelSelectorPath, selector);
}

function* scaleProblems(
  path: string,
  { field, below }: { readonly field: string; readonly below: readonly string[] },
): Causes {
  if (path === "") yield fieldRequired(field);
  else if (!path.startsWith(".")) yield* pathProblems(path, field);
  else if (!below.some((part) => path.startsWith(`${part}.`))) {
    const either = below.length > 1 ? "either " : "";
    yield fieldInvalid(field, path, `should be a json path under ${either}${below.join(" or ")}`);
  }
}
