import { compareUtf8 } from "../json/order.ts";
import { FieldSet } from "./field-set.ts";
import { compareTimes, type Manager, type Managers, managerId } from "./managed-fields.ts";

/** How many managers that update an object may have, as in Kubernetes; those that apply are not counted. */
const MAX_UPDATERS = 10;

/** Of older managers only what they managed is remembered, together, under this name. */
const BUCKET = "ancient-changes";

/** The managers, the oldest of those that update put together (per version) if they are too many. */
export function capManagers(managers: Managers): Managers {
  const updaters = [...managers].filter(([, { operation }]) => operation === "Update");
  if (updaters.length <= MAX_UPDATERS) return managers;
  updaters.sort(([id, a], [other, b]) => compareTimes(a, b) || compareUtf8(id, other));
  const oldest = new Map<string, (readonly [id: string, manager: Manager])[]>();
  let surplus = updaters.length - MAX_UPDATERS;
  for (const updater of updaters) {
    if (surplus === 0) break;
    const [, { apiVersion }] = updater;
    const others = oldest.get(apiVersion);
    if (others === undefined) oldest.set(apiVersion, [updater]);
    else {
      others.push(updater);
      surplus -= 1;
    }
  }
  const capped = new Map(managers);
  for (const updater of oldest.values()) putTogether(capped, updater);
  return capped;
}

/** One alone stays what it is. Of several the time is that of the youngest. */
function putTogether(
  managers: Map<string, Manager>,
  updaters: readonly (readonly [id: string, manager: Manager])[],
): void {
  const youngest = updaters.at(-1)?.[1];
  if (updaters.length < 2 || youngest === undefined) return;
  const { apiVersion, time } = youngest;
  const key = { manager: BUCKET, operation: "Update", apiVersion, subresource: "" } as const;
  const bucket = managers.get(managerId(key));
  const sets = updaters.map(([, { set }]) => set);
  for (const [id] of updaters) managers.delete(id);
  const set = FieldSet.unionOf(bucket === undefined ? sets : [bucket.set, ...sets]);
  managers.set(managerId(key), { ...key, time, set, entry: undefined });
}
