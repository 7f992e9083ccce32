import type { ObjectKey } from "@virtual-workspaces/apimachinery";
import { User } from "@virtual-workspaces/framework";
import {
  API_BINDINGS_INITIALIZER,
  deleteCondition,
  type LogicalCluster as LogicalClusterObject,
  markFalse,
} from "@virtual-workspaces/kcp";
import type { ShardObjects } from "../../../shard/objects.ts";
import type { IsAllowed } from "../../../workspaces/access.ts";
import { bindAttributes } from "../../admission/access.ts";
import { clusterOf, type Exports } from "../../exports.ts";
import { type BoundByDefault, nameOf } from "./bound.ts";
import { modifyStatus } from "./status.ts";
import { TypeFault, type DefaultExport as Wanted } from "./wanted.ts";

/** What {@link initialize} needs. */
export interface InitializeOptions {
  readonly objects: ShardObjects;
  readonly exports: Exports;
  readonly bound: BoundByDefault;
  readonly mayAccess: IsAllowed;
  readonly now: () => Date;
}

const INITIALIZED = "APIBindingsInitialized";

/** Makes what a workspace is to have before it is Ready, as its creator, and takes the initializer away when all is bound. */
export async function initialize(
  options: InitializeOptions,
  key: ObjectKey,
  there: LogicalClusterObject,
): Promise<void> {
  const { bound, objects } = options;
  const wanted = bound.wantedBy(there);
  if (bound.isUnknown(key.cluster, wanted)) return;
  if (wanted instanceof TypeFault) {
    await say(options, key, { reason: "WorkspaceTypesInvalid", severity: "Error", message: wanted.message });
    return;
  }
  const faults: string[] = [];
  for (const each of wanted) {
    const fault = bound.has(key.cluster, each) ? undefined : await make(options, there, { key, wanted: each });
    if (fault !== undefined) faults.push(fault);
  }
  if (faults.length > 0) {
    const message = `encountered errors: ${faults.length === 1 ? faults[0] : `[${faults.join(", ")}]`}`;
    await say(options, key, { reason: "APIBindingErrors", severity: "Error", message });
    return;
  }
  const pending = bound.pending(key.cluster, wanted);
  if (pending.length > 0) {
    const message = `APIBinding(s) not yet fully bound: ${pending.join(", ")}`;
    await say(options, key, { reason: "WaitingOnAPIBindings", severity: "Info", message });
    return;
  }
  await modifyStatus(objects, key, ({ conditions, initializers = [], ...status }) => {
    const others = initializers.filter((name) => name !== API_BINDINGS_INITIALIZER);
    return {
      ...status,
      // Nothing is waited for any more.
      ...(conditions && { conditions: deleteCondition(conditions, INITIALIZED) }),
      ...(others.length > 0 && { initializers: others }),
    };
  });
}

/** @returns why it cannot be made */
async function make(
  { bound, exports, mayAccess }: InitializeOptions,
  there: LogicalClusterObject,
  { key, wanted }: { readonly key: ObjectKey; readonly wanted: Wanted },
): Promise<string | undefined> {
  const found = exports.find(wanted, key.cluster);
  if (found === undefined) return "unable to complete initialization: unable to find at least 1 APIExport";
  const creator = creatorOf(there);
  if (creator !== undefined && !(await mayAccess(creator, clusterOf(found), bindAttributes(wanted.name)))) {
    const binding = JSON.stringify(nameOf(key.cluster, wanted));
    return `apibindings.apis.kcp.io ${binding} is forbidden: unable to create APIBinding: no permission to bind to export ${wanted.path}:${wanted.name}`;
  }
  await bound.ensure(key, { wanted, found, own: true });
  return undefined;
}

function say(
  { objects, now }: InitializeOptions,
  key: ObjectKey,
  fault: { readonly reason: string; readonly severity: "Error" | "Info"; readonly message: string },
): Promise<void> {
  return modifyStatus(objects, key, (status) => ({
    ...status,
    conditions: markFalse(status.conditions, { type: INITIALIZED, ...fault }, now()),
  }));
}

/** Whom it was made for; `undefined` when that was `system:masters`, of whom nobody keeps a record, and who may all. */
function creatorOf({ spec: { createdBy } }: LogicalClusterObject): User | undefined {
  if (createdBy === undefined) return undefined;
  const { username: name = "", uid = "", groups = [], extra = {} } = createdBy;
  return new User({ name, uid, groups, extra });
}
