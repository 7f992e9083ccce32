import { isDeepStrictEqual } from "node:util";
import { isApiError, type ObjectKey } from "@virtual-workspaces/apimachinery";
import { Client } from "@virtual-workspaces/client";
import { User } from "@virtual-workspaces/framework";
import {
  APIBinding,
  clusterOf,
  LogicalCluster,
  type LogicalCluster as LogicalClusterObject,
  ROOT_CLUSTER,
} from "@virtual-workspaces/kcp";
import type { IsAllowed } from "../../authz/access.ts";
import type { OwnServices } from "../../loopback/own-services.ts";
import { modify } from "../../state/modify.ts";
import type { ShardObjects } from "../../state/objects.ts";
import type { ShardState } from "../../state/shard-state.ts";
import { hasUniversalContent } from "../../workspaces/logical-cluster/universal-initializer.ts";
import { nextState } from "../../workspaces/model/next-state.ts";
import { UNIVERSAL_INITIALIZER } from "../../workspaces/model/workspace-types.ts";
import { bindAttributes } from "../exports/exports.ts";
import { type BoundByDefault, type DefaultBinding, nameOf, specTo } from "./default-bindings.ts";

/** Way in which a workspace gets its default bindings during initialization. */
export interface Setup {
  /** Returns the LogicalCluster to initialize; `undefined` if it must wait: the controller is notified of changes. */
  find(key: ObjectKey, there: LogicalClusterObject): LogicalClusterObject | undefined;
  /** Creates a binding as the workspace's creator, who needs permission. @returns why it cannot be created */
  bind(key: ObjectKey, there: LogicalClusterObject, to: DefaultBinding): Promise<string | undefined>;
  /** Returns other initializers of the server whose work is done, and which may end in the same write. */
  alsoDone(key: ObjectKey): readonly string[];
  /** Changes the status of the LogicalCluster, unless it is gone. */
  changeStatus(key: ObjectKey, change: (status: Status) => Status): Promise<void>;
}

/** Options of {@link OwnSetup}. */
export interface OwnSetupOptions {
  readonly objects: ShardObjects;
  readonly state: Pick<ShardState, "namespaces">;
  readonly bound: BoundByDefault;
  readonly mayAccess: IsAllowed;
  /** Returns the external URL of the shard. */
  readonly externalURL: () => string;
  readonly now: () => Date;
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

  alsoDone({ cluster }: ObjectKey): readonly string[] {
    return hasUniversalContent(this.#options.state, cluster) ? [UNIVERSAL_INITIALIZER] : [];
  }

  /** Writes what follows from the new status as well, such as the phase Ready. */
  async changeStatus(key: ObjectKey, change: (status: Status) => Status): Promise<void> {
    const { objects, externalURL, now } = this.#options;
    const facts = { cluster: key.cluster, externalURL: externalURL(), now: now() };
    await modify(objects.of(LogicalCluster), key, (there) => {
      const status = change(there.status ?? {});
      return isDeepStrictEqual(status, there.status) ? undefined : nextState({ ...there, status }, facts);
    });
  }
}

/** Options of {@link CreatorSetup}. */
export interface CreatorSetupOptions {
  /** The server's own connection to its workspaces, which closes after `leaving`. */
  readonly services: Pick<OwnServices, "workspaces" | "leaving">;
  /** Writes the status, and creates bindings for creators that are not recorded, or not known in the workspace. */
  readonly own: Setup;
  /** Reports whether a workspace's creator is already its administrator. */
  readonly isOwned: (cluster: string) => boolean;
  /** Called when requests are answered, for the workspaces that wait for it. */
  readonly onStarted: () => void;
}

/**
 * Initializes workspaces by requests within the process: bindings are created as their creator, whom admission checks for `bind`
 * and whom the audit log shows. kcp sends these requests through its view, which adds nothing for the server itself.
 */
export class CreatorSetup implements Setup {
  readonly #options: CreatorSetupOptions;
  readonly #client: Client;
  #isStarted = false;

  constructor(options: CreatorSetupOptions) {
    const {
      services: { workspaces },
      onStarted,
    } = options;
    this.#options = options;
    // The controller retries, and works on other workspaces in between.
    this.#client = new Client({ upstream: workspaces.upstream, cluster: ROOT_CLUSTER, retries: false });
    workspaces.started.then(
      () => {
        this.#isStarted = true;
        onStarted();
      },
      () => undefined, // the server does not start
    );
  }

  find(key: ObjectKey, there: LogicalClusterObject): LogicalClusterObject | undefined {
    const { services } = this.#options;
    if (!this.#isStarted || services.leaving.aborted) return undefined;
    return creatorOf(there) === undefined || this.#options.isOwned(key.cluster) ? there : undefined;
  }

  bind(key: ObjectKey, there: LogicalClusterObject, to: DefaultBinding): Promise<string | undefined> {
    const { own } = this.#options;
    const creator = creatorOf(there);
    if (creator === undefined) return own.bind(key, there, to);
    const { name, uid, groups, extra } = creator;
    const client = this.#client.cluster(key.cluster).as({ name, uid, groups, extra });
    return createBinding(client, { key, to, forbidden: () => own.bind(key, there, to) });
  }

  alsoDone(key: ObjectKey): readonly string[] {
    return this.#options.own.alsoDone(key);
  }

  changeStatus(key: ObjectKey, change: (status: Status) => Status): Promise<void> {
    return this.#options.own.changeStatus(key, change);
  }
}

/** Creation of a binding by a request. */
interface BindingRequest {
  readonly key: ObjectKey;
  readonly to: DefaultBinding;
  /** Called when the creator may not create it: one from another workspace, such as a service account, may be unknown here. */
  readonly forbidden: () => Promise<string | undefined>;
}

/** Creates a binding in the workspace of a client. @returns why it cannot be created */
export async function createBinding(
  client: Client,
  { key, to, forbidden }: BindingRequest,
): Promise<string | undefined> {
  const metadata = { name: nameOf(key.cluster, to.wanted) };
  try {
    await client.resource(APIBinding).create({ metadata, spec: specTo(to) });
    return undefined;
  } catch (error) {
    if (!isApiError(error) || !isRejection(error)) throw error;
    if (error.reason === "AlreadyExists") return undefined;
    return error.code === 403 ? forbidden() : error.message;
  }
}

/** Whether a server has rejected a request, so that a retry does not help. */
export function isRejection(error: unknown): boolean {
  return isApiError(error) && error.code < 500 && error.code !== 429;
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
