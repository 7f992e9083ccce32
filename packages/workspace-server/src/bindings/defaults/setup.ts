import type { ObjectKey } from "@virtual-workspaces/apimachinery";
import { User } from "@virtual-workspaces/framework";
import { clusterOf, LogicalCluster, type LogicalCluster as LogicalClusterObject } from "@virtual-workspaces/kcp";
import type { IsAllowed } from "../../authz/access.ts";
import { modify } from "../../state/modify.ts";
import type { ShardObjects } from "../../state/objects.ts";
import { bindAttributes } from "../exports/exports.ts";
import { type BoundByDefault, type DefaultBinding, nameOf } from "./default-bindings.ts";

/** Way in which a workspace gets its default bindings during initialization. */
export interface Setup {
  /** Returns the LogicalCluster to initialize; `undefined` if it must wait: the controller is notified of changes. */
  find(key: ObjectKey, there: LogicalClusterObject): LogicalClusterObject | undefined;
  /** Creates a binding as the workspace's creator, who needs permission. @returns why it cannot be created */
  bind(key: ObjectKey, there: LogicalClusterObject, to: DefaultBinding): Promise<string | undefined>;
  /** Changes the status of the LogicalCluster, unless it is gone. */
  changeStatus(key: ObjectKey, change: (status: Status) => Status): Promise<void>;
}

/** Options of {@link OwnSetup}. */
export interface OwnSetupOptions {
  readonly objects: ShardObjects;
  readonly bound: BoundByDefault;
  readonly mayAccess: IsAllowed;
}

/** Initializes workspaces directly in the shard, as the server, where there is no view of initializing workspaces. */
export class OwnSetup implements Setup {
  readonly #options: OwnSetupOptions;

  constructor(options: OwnSetupOptions) {
    this.#options = options;
  }

  find(_: ObjectKey, there: LogicalClusterObject): LogicalClusterObject {
    return there;
  }

  async bind(key: ObjectKey, there: LogicalClusterObject, to: DefaultBinding): Promise<string | undefined> {
    const { bound, mayAccess } = this.#options;
    const { wanted, found } = to;
    const creator = creatorOf(there);
    if (creator !== undefined && !(await mayAccess(creator, clusterOf(found), bindAttributes(wanted.name)))) {
      const binding = JSON.stringify(nameOf(key.cluster, wanted));
      return `apibindings.apis.kcp.io ${binding} is forbidden: unable to create APIBinding: no permission to bind to export ${wanted.path}:${wanted.name}`;
    }
    await bound.ensure(key, to);
    return undefined;
  }

  changeStatus(key: ObjectKey, change: (status: Status) => Status): Promise<void> {
    return modifyStatus(this.#options.objects, key, change);
  }
}

/** Returns the creator; `undefined` for `system:masters`, which may do everything and is not recorded. */
function creatorOf({ spec: { createdBy } }: LogicalClusterObject): User | undefined {
  if (createdBy === undefined) return undefined;
  const { username: name = "", uid = "", groups = [], extra = {} } = createdBy;
  return new User({ name, uid, groups, extra });
}

/** Status of a LogicalCluster. */
export type Status = NonNullable<LogicalClusterObject["status"]>;

/** Changes the status of a LogicalCluster, unless it is gone. */
export async function modifyStatus(
  objects: ShardObjects,
  key: ObjectKey,
  change: (status: Status) => Status,
): Promise<void> {
  await modify(objects.of(LogicalCluster), key, (there) => ({ ...there, status: change(there.status ?? {}) }));
}
