import type { JsonLimits } from "@virtual-workspaces/apimachinery/json";

/** How large a request's body may be, bytes: as in Kubernetes, twice what etcd takes. */
export const MAX_BODY: number = 3 * 1024 * 1024;

/**
 * What a body may hold, whatever its size: with three million of brackets, or of names that no object had before, reading
 * it would stall the process for a third of a second. Kubernetes knows no such bounds; nothing that etcd takes comes near.
 */
export const BODY_LIMITS: JsonLimits = { names: 65_536, containers: 262_144 };
