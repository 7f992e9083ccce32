import type { ObjectOf } from "@virtual-workspaces/apimachinery";
import type { ResourceClient } from "@virtual-workspaces/client";

/** How long anything may take that is made at the start, ms. */
const WITHIN = 30_000;

/** What is found in an object, as soon as it is there. @throws ApiError, TransportError, DOMException when it takes too long */
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
  throw new Error(`${objects.kind.plural} ${name}: the server ended the watch`);
}

/** Whoever has logged in. */
export const AUTHENTICATED = {
  apiGroup: "rbac.authorization.k8s.io",
  kind: "Group",
  name: "system:authenticated",
} as const;
