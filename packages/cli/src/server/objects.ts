import type { ObjectOf } from "@virtual-workspaces/apimachinery";
import type { ResourceClient } from "@virtual-workspaces/client";

/** Time limit for an object that the start creates, ms. */
const WITHIN = 30_000;

/** Waits for an object with certain content, and returns that. @throws ApiError, TransportError, DOMException on a timeout */
export async function waitForObject<T extends object, Found>(
  objects: ResourceClient<T>,
  name: string,
  found: (object: ObjectOf<T>) => Found | undefined,
): Promise<Found> {
  const signal = AbortSignal.timeout(WITHIN);
  for await (const event of objects.watch({ fields: `metadata.name=${name}`, signal })) {
    const answer = event.type === "BOOKMARK" ? undefined : found(event.object);
    if (answer !== undefined) return answer;
  }
  throw new Error(`cannot wait for ${objects.kind.plural} ${name}: the server ended the watch`);
}

/** All authenticated users. */
export const AUTHENTICATED = {
  apiGroup: "rbac.authorization.k8s.io",
  kind: "Group",
  name: "system:authenticated",
} as const;
