import { ApiError, type KubeObject } from "@virtual-workspaces/apimachinery";
import type { AdmitRequest } from "@virtual-workspaces/framework";
import { initialStatus, withDefaults, withStorageVersion } from "./defaults.ts";
import type { CrdContent, CrdStatus, CustomResourceDefinition } from "./definition.ts";
import { decodeCrd } from "./shape/spec.ts";
import { createProblems, statusProblems, updateProblems } from "./validation/problems.ts";
import { schemaWarnings } from "./warnings.ts";

const KIND = { group: "apiextensions.k8s.io", kind: "CustomResourceDefinition" };

/**
 * Admission of CustomResourceDefinitions, for `ServeOptions.admit`: fills in defaults, drops what no version of the API
 * knows, with a warning, and refuses what Kubernetes refuses. Conversion webhooks are refused as well: none is called here.
 *
 * @throws ApiError 400 on a field of the wrong type, 422 with a cause for each fault
 */
export function admitCrd(request: AdmitRequest<CustomResourceDefinition>): CustomResourceDefinition | undefined {
  const { object, oldObject, subresource, warn } = request;
  if (object === undefined) return undefined;
  const { spec: given, status, warnings } = decodeCrd(object as unknown as KubeObject);
  for (const text of warnings) warn(text);
  if (subresource === "status") return withStatus(object, status ?? {});
  const spec = withDefaults(given);
  const next = { ...object, spec };
  const causes =
    oldObject === undefined
      ? createProblems({ ...next, status: initialStatus(spec) })
      : updateProblems({ ...next, status: withStorageVersion(oldObject.status ?? {}, spec) }, oldObject);
  if (causes.length > 0) throw refusal(object, causes);
  for (const text of schemaWarnings(spec, oldObject?.spec)) warn(text);
  return next;
}

function withStatus(object: CustomResourceDefinition, status: CrdStatus): CustomResourceDefinition {
  const causes = statusProblems(status);
  if (causes.length > 0) throw refusal(object, causes);
  return { ...object, status } satisfies CrdContent & object;
}

function refusal({ metadata }: CustomResourceDefinition, causes: ReturnType<typeof statusProblems>): ApiError {
  return ApiError.invalid({ kind: KIND, name: metadata.name ?? metadata.generateName ?? "", causes });
}
