import type { GroupResource } from "@virtual-workspaces/apimachinery";

/** What a permission claim is about: a resource, and whose. Fields that are missing are empty. */
export interface ClaimReference {
  readonly group?: string | undefined;
  readonly resource: string;
  readonly identityHash?: string | undefined;
}

/** The same for two claims exactly if they are about the same (kcp's EqualGRI). For maps; its form is nothing to rely on. */
export function claimKey({ group = "", resource, identityHash = "" }: ClaimReference): string {
  return `${group}/${resource}/${identityHash}`;
}

/** Whether two claims are about the same: group, resource and identity (kcp's EqualGRI). */
export function sameClaim(a: ClaimReference, b: ClaimReference): boolean {
  return claimKey(a) === claimKey(b);
}

/** A claim as kcp's messages name it: `configmaps`, `widgets.example.dev:<identity>`. */
export function formatClaim({ group = "", resource, identityHash = "" }: ClaimReference): string {
  if (group === "") return resource;
  return identityHash === "" ? `${resource}.${group}` : `${resource}.${group}:${identityHash}`;
}

/**
 * The resource by which a request on events is compared with claims: those of `events.k8s.io` are the core group's
 * (kcp's NormalizeEventGroupResource). The claim is compared as it stands: one on `events.k8s.io` gives nothing.
 */
export function normalizedGroupResource(resource: GroupResource): GroupResource {
  const isEvents = resource.resource === "events" && resource.group === "events.k8s.io";
  return isEvents ? { group: "", resource: "events" } : resource;
}
