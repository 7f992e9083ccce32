import type { ObjectKey } from "@virtual-workspaces/apimachinery";
import {
  API_BINDINGS_INITIALIZER,
  LogicalCluster,
  type LogicalCluster as LogicalClusterObject,
  TypeFault,
} from "@virtual-workspaces/kcp";
import { modify } from "../../state/modify.ts";
import type { ShardObjects } from "../../state/objects.ts";
import type { Exports } from "../exports/exports.ts";
import type { BoundByDefault } from "./bound.ts";
import { GIVEN_ANNOTATION, isOlder, isUniversal, ONCE_EVERYWHERE } from "./older.ts";

/** What {@link catchUp} needs. */
export interface CatchUpOptions {
  readonly objects: ShardObjects;
  readonly exports: Exports;
  readonly bound: BoundByDefault;
}

/** Gives a workspace that {@link isOlder} what it would have been given, had it been made today, or had before. It looks the same then. */
export async function catchUp(
  { objects, exports, bound }: CatchUpOptions,
  key: ObjectKey,
  there: LogicalClusterObject,
): Promise<void> {
  const wanted = isUniversal(there) ? bound.wantedBy(there) : ONCE_EVERYWHERE;
  if (wanted instanceof TypeFault || wanted.length === 0) return;
  const isNew = isUniversal(there) && there.status?.phase === "Initializing";
  if (!isNew) {
    for (const each of wanted) {
      const found = exports.find(each, key.cluster);
      if (found === undefined) return;
      if (!bound.has(key.cluster, each)) await bound.ensure(key, { wanted: each, found, own: true });
    }
  }
  await modify(objects.of(LogicalCluster), key, (current) => {
    if (!isOlder(current, exports)) return undefined;
    const { metadata, spec, status = {} } = current;
    if (!isUniversal(current))
      return {
        ...current,
        metadata: { ...metadata, annotations: { ...metadata.annotations, [GIVEN_ANNOTATION]: "true" } },
      };
    const withIt = (names: readonly string[] = []): string[] => [...names, API_BINDINGS_INITIALIZER];
    return {
      ...current,
      spec: { ...spec, initializers: withIt(spec.initializers) },
      status: isNew ? { ...status, initializers: withIt(status.initializers) } : status,
    };
  });
}
