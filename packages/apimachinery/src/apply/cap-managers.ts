import { compareUtf8 } from "../json/order.ts";
import { type Manager, type Managers, managerId, secondsOf } from "./managed-fields.ts";

/** How many managers that update an object may have, as in Kubernetes; those that apply are not counted. */
const MAX_UPDATERS = 10;

/** Of older managers only what they managed is remembered, together, under this name. */
const BUCKET = "ancient-changes";

/** The managers, the oldest of those that update put together (per version) if they are too many. */
export function capManagers(managers: Managers): Managers {
  const updaters = [...managers].filter(([, { operation }]) => operation === "Update");
  if (updaters.length <= MAX_UPDATERS) return managers;
  updaters.sort(([id, a], [other, b]) => secondsOf(a) - secondsOf(b) || compareUtf8(id, other));
  const capped = new Map(managers);
  const oldest = new Map<string, string>();
  let surplus = updaters.length - MAX_UPDATERS;
  for (const [id, manager] of updaters) {
    if (surplus === 0) break;
    const first = oldest.get(manager.apiVersion);
    if (first === undefined) {
      oldest.set(manager.apiVersion, id);
      continue;
    }
    const bucket = bucketOf(manager.apiVersion);
    if (id === bucket.id) continue;
    const older = capped.get(bucket.id) ?? capped.get(first);
    if (!capped.has(bucket.id)) capped.delete(first);
    capped.delete(id);
    const set = older === undefined ? manager.set : manager.set.union(older.set);
    // The time is that of the younger one.
    capped.set(bucket.id, { ...bucket.key, time: manager.time, set, entry: undefined });
    surplus -= 1;
  }
  return capped;
}

function bucketOf(apiVersion: string): {
  readonly id: string;
  readonly key: Pick<Manager, "manager" | "operation" | "apiVersion" | "subresource">;
} {
  const key = { manager: BUCKET, operation: "Update", apiVersion, subresource: "" } as const;
  return { id: managerId(key), key };
}
