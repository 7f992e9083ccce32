import type { ManagedFieldsEntry } from "../meta/types.ts";
import type { FieldSet } from "./field-set.ts";
import { setOfPaths } from "./field-set.ts";
import { type Manager, type Managers, managerId, readManagers, withFields, writeManagers } from "./managed-fields.ts";

/** Field in which a kind keeps its number of replicas. */
export interface ReplicasFields {
  /** Version of the write, `example.dev/v1`. */
  readonly apiVersion: string;
  /** Path of the field, in each version that has it: `["spec", "replicas"]`. */
  readonly paths: ReadonlyMap<string, readonly string[]>;
}

const SCALE_VERSION = "autoscaling/v1";
const SCALE_REPLICAS = setOfPaths([["spec", "replicas"]]);

/**
 * Converts the `managedFields` of an object to those of its `Scale`: the managers of the replicas only. Unreadable entries
 * count as none.
 */
export function managedFieldsOfScale(
  parent: readonly ManagedFieldsEntry[] | undefined,
  { paths }: Pick<ReplicasFields, "paths">,
): ManagedFieldsEntry[] | undefined {
  const owners = [...read(parent).values()].filter((manager) => replicasOf(manager, paths) !== undefined);
  return written(owners.map(asOfScale));
}

/**
 * Converts the `managedFields` of a written `Scale` back to those of its object. A manager missing in `scale` loses the
 * replicas; a new one gets them, without a time, as in Kubernetes (its ScaleHandler).
 */
export function managedFieldsOfScaled(
  parent: readonly ManagedFieldsEntry[] | undefined,
  scale: readonly ManagedFieldsEntry[] | undefined,
  { apiVersion, paths }: ReplicasFields,
): ManagedFieldsEntry[] | undefined {
  const owners = new Map([...read(scale)].filter(([, { set }]) => SCALE_REPLICAS.isSubsetOf(set)));
  const kept = [...read(parent).values()].flatMap((manager) => {
    const replicas = replicasOf(manager, paths);
    if (replicas === undefined || owners.delete(managerId(asOfScale(manager)))) return [manager];
    const rest = withFields(manager, manager.set.difference(replicas));
    return rest.set.isEmpty ? [] : [rest];
  });
  const set = setOfPaths([paths.get(apiVersion) ?? []]);
  const gained = Array.from(owners.values(), (owner) => ({
    ...owner,
    apiVersion,
    set,
    time: undefined,
    entry: undefined,
  }));
  return written([...kept, ...gained]);
}

/** Returns the field of the replicas in a manager's set, `undefined` if it is not there. */
function replicasOf({ apiVersion, set }: Manager, paths: ReadonlyMap<string, readonly string[]>): FieldSet | undefined {
  const path = paths.get(apiVersion);
  const replicas = path === undefined ? undefined : setOfPaths([path]);
  return replicas?.isSubsetOf(set) === true ? replicas : undefined;
}

function asOfScale(manager: Manager): Manager {
  return { ...manager, apiVersion: SCALE_VERSION, set: SCALE_REPLICAS, entry: undefined };
}

function read(entries: readonly ManagedFieldsEntry[] | undefined): Managers {
  try {
    return readManagers(entries, { isOwn: true });
  } catch (error) {
    if (error instanceof SyntaxError) return new Map();
    throw error;
  }
}

function written(managers: readonly Manager[]): ManagedFieldsEntry[] | undefined {
  return writeManagers(new Map(managers.map((manager) => [managerId(manager), manager])));
}
