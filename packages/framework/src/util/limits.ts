import type { JsonLimits } from "@virtual-workspaces/apimachinery/json";

/** Maximum size of a request body, in bytes: as in Kubernetes, twice etcd's limit. */
export const MAX_BODY: number = 3 * 1024 * 1024;

/**
 * Limits on the content of a body of any size. Reading three million brackets or distinct names would block the process for a
 * third of a second. Kubernetes has no such limits; objects that etcd accepts stay far below.
 */
export const BODY_LIMITS: Required<JsonLimits> = { names: 65_536, containers: 262_144 };
