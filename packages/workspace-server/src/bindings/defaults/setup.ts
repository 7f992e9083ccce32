import type { ObjectKey } from "@virtual-workspaces/apimachinery";
import { User } from "@virtual-workspaces/framework";
import { clusterOf, LogicalCluster, type LogicalCluster as LogicalClusterObject } from "@virtual-workspaces/kcp";
import type { IsAllowed } from "../../authz/access.ts";
import { modify } from "../../state/modify.ts";
import type { ShardObjects } from "../../state/objects.ts";
import { bindAttributes } from "../exports/exports.ts";
import { type BoundByDefault, type DefaultBinding, nameOf } from "./default-bindings.ts";

/** By what a workspace gets its bindings while it is set up. */
export interface Setup {
  /** The LogicalCluster by which it is done; `undefined` as long as it cannot be: it is told when that changes. */
  find(key: ObjectKey, there: LogicalClusterObject): LogicalClusterObject | undefined;
  /** Makes the binding to an export as the workspace's creator, who must be allowed to. @returns why it cannot be made */
  bind(key: ObjectKey, there: LogicalClusterObject, to: DefaultBinding): Promise<string | undefined>;
  /** Changes what the LogicalCluster says of itself, unless it is gone. */
  changeStatus(key: ObjectKey, change: (status: Status) => Status): Promise<void>;
}

/** What {@link OwnSetup} needs. */
export interface OwnSetupOptions {
  readonly objects: ShardObjects;
  readonly bound: BoundByDefault;
  readonly mayAccess: IsAllowed;
}

/** In the shard itself, as the server: where there is no view of workspaces that are set up. */
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

/** Whom it was made for; `undefined` when that was `system:masters`, of whom nobody keeps a record, and who may all. */
function creatorOf({ spec: { createdBy } }: LogicalClusterObject): User | undefined {
  if (createdBy === undefined) return undefined;
  const { username: name = "", uid = "", groups = [], extra = {} } = createdBy;
  return new User({ name, uid, groups, extra });
}

/** What a LogicalCluster says of itself. */
export type Status = NonNullable<LogicalClusterObject["status"]>;

/** Changes what a LogicalCluster says of itself, unless it is gone. */
export async function modifyStatus(
  objects: ShardObjects,
  key: ObjectKey,
  change: (status: Status) => Status,
): Promise<void> {
  await modify(objects.of(LogicalCluster), key, (there) => ({ ...there, status: change(there.status ?? {}) }));
}
