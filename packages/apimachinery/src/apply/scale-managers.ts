import type { ManagedFieldsEntry } from "../meta.ts";
import type { FieldSet } from "./field-set.ts";
import { type Manager, type Managers, managerId, readManagers, withFields, writeManagers } from "./managed-fields.ts";
import { setOfPaths } from "./never-owned.ts";

/** Where a kind keeps the number of its replicas. */
export interface ReplicasField {
  /** The version of the kind, `example.dev/v1`. */
  readonly apiVersion: string;
  /** The names on the way to the field: `["spec", "replicas"]`. */
  readonly path: readonly string[];
}

const SCALE_VERSION = "autoscaling/v1";
const SCALE_REPLICAS = setOfPaths([["spec", "replicas"]]);

/**
 * The `managedFields` of an object as those of its `Scale`: who manages the replicas, and nothing else. Entries that cannot
 * be read count as none.
 */
export function managedFieldsOfScale(
  parent: readonly ManagedFieldsEntry[] | undefined,
  { apiVersion, path }: ReplicasField,
): ManagedFieldsEntry[] | undefined {
  const replicas = setOfPaths([path]);
  const owners = [...read(parent).values()].filter(
    (manager) => manager.apiVersion === apiVersion && includes(manager, replicas),
  );
  return written(
    owners.map((owner) => ({ ...owner, apiVersion: SCALE_VERSION, set: SCALE_REPLICAS, entry: undefined })),
  );
}

/**
 * The way back: the `managedFields` of an object whose `Scale` was written and has `scale` as its own now. Who is no longer
 * among those loses the replicas; who is new there gets them, without a time, as in Kubernetes (its ScaleHandler).
 */
export function managedFieldsOfScaled(
  parent: readonly ManagedFieldsEntry[] | undefined,
  scale: readonly ManagedFieldsEntry[] | undefined,
  { apiVersion, path }: ReplicasField,
): ManagedFieldsEntry[] | undefined {
  const replicas = setOfPaths([path]);
  const owners = [...read(scale).values()].filter((owner) => includes(owner, SCALE_REPLICAS));
  const ours = owners.map((owner) => ({ ...owner, apiVersion, set: replicas, time: undefined, entry: undefined }));
  const managers = new Map(ours.map((owner) => [managerId(owner), owner]));
  const kept = [...read(parent)].flatMap(([id, manager]) => {
    if (manager.apiVersion !== apiVersion || !includes(manager, replicas)) return [manager];
    if (managers.delete(id)) return [manager];
    const rest = withFields(manager, manager.set.difference(replicas));
    return rest.set.isEmpty ? [] : [rest];
  });
  return written([...kept, ...managers.values()]);
}

function read(entries: readonly ManagedFieldsEntry[] | undefined): Managers {
  try {
    return readManagers(entries, { isOwn: true });
  } catch (error) {
    if (error instanceof SyntaxError) return new Map();
    throw error;
  }
}

function includes({ set }: Manager, field: FieldSet): boolean {
  return field.isSubsetOf(set);
}

/** Several versions of one who applies are one manager, the last of them. */
function written(managers: readonly Manager[]): ManagedFieldsEntry[] | undefined {
  return writeManagers(new Map(managers.map((manager) => [managerId(manager), manager])));
}
