import { isDeepStrictEqual } from "node:util";
import { fieldInvalid, formatCause } from "@virtual-workspaces/apimachinery";
import type { AdmitRequest } from "@virtual-workspaces/framework";
import type { Workspace, WorkspaceSpec } from "@virtual-workspaces/kcp";
import { isPrivileged, refused } from "./admission-context.ts";

/** A change of a Workspace. */
export interface WorkspaceChange {
  readonly object: Workspace;
  readonly oldObject: Workspace;
}

/**
 * Refuses changes of what is the server's, or is fixed. In kcp the schema comes before these rules, and they say nothing of
 * what it refuses.
 *
 * @throws ApiError 403
 */
export function checkWorkspaceUpdate({ object, oldObject }: WorkspaceChange, request: AdmitRequest): void {
  const [spec, before] = [object.spec, oldObject.spec];
  if (isRefusedBySchema(spec, before)) return;
  if ((spec.mount === undefined) !== (before.mount === undefined))
    throw refused(request, "spec.mount can neither be added to a workspace nor taken off it");
  if (!isPrivileged(request)) checkServerFields(spec, before, request);
  if (before.mount === undefined) checkPlain({ object, oldObject }, request);
  else checkMounted(spec, before, request);
}

/** Whether one of the rules in the schema that compare a value with the former one does not hold. */
function isRefusedBySchema(spec: WorkspaceSpec, before: WorkspaceSpec): boolean {
  if (before.cluster !== undefined && spec.cluster !== before.cluster) return true;
  if (before.URL !== undefined && spec.URL === undefined) return true;
  if (before.type !== undefined && spec.type !== undefined && !isDeepStrictEqual(spec.type, before.type)) return true;
  return before.mount !== undefined && spec.mount !== undefined && !isDeepStrictEqual(spec.mount, before.mount);
}

/** Of mounted workspaces too, unlike in kcp: where a path leads is not for whoever may change labels. */
function checkServerFields(spec: WorkspaceSpec, before: WorkspaceSpec, request: AdmitRequest): void {
  const changed = (field: string): string => `spec.${field} can only be changed by system privileged users`;
  if ((spec.cluster ?? "") !== (before.cluster ?? "")) throw refused(request, changed("cluster"));
  if ((spec.URL ?? "") !== (before.URL ?? "")) throw refused(request, changed("URL"));
}

function checkMounted(spec: WorkspaceSpec, before: WorkspaceSpec, request: AdmitRequest): void {
  if (isPrivileged(request) || isDeepStrictEqual(spec.type, before.type)) return;
  throw refused(
    request,
    spec.type === undefined ? "spec.type is immutable" : "spec.type cannot be set for mounted workspaces",
  );
}

function checkPlain({ object, oldObject }: WorkspaceChange, request: AdmitRequest): void {
  const { type } = object.spec;
  if (!isDeepStrictEqual(type, oldObject.spec.type))
    throw refused(request, formatCause(fieldInvalid("spec.type", type ?? null, "field is immutable")));
  if (object.status?.phase !== "Ready" || oldObject.status?.phase === "Ready") return;
  for (const field of ["cluster", "URL"] as const) {
    if (!object.spec[field]) throw refused(request, `spec.${field} must be set for phase Ready`);
  }
}
