import { CLUSTER_ANNOTATION, isJsonObject, type KubeObject } from "@virtual-workspaces/apimachinery";
import { Client } from "@virtual-workspaces/client";
import {
  type Holds,
  LogicalCluster,
  Workspace,
  WorkspaceAuthenticationConfiguration,
  WorkspaceType,
} from "@virtual-workspaces/kcp";
import {
  authenticatingType,
  type WorkspaceAuthentication,
  workspaceAuthenticators,
} from "@virtual-workspaces/kcp/authentication";
import { PATH_ANNOTATION, WORKSPACE_TYPE_ANNOTATION } from "@virtual-workspaces/kcp/names";
import { indexedLogicalCluster, indexedWorkspace, type PathIndex } from "@virtual-workspaces/kcp/path-index";
import type { Upstream } from "@virtual-workspaces/transport";
import { type AnyKind, KindInformer } from "../informers.ts";

/** Backoff on a shard without Workspaces, ms. It is short because the kind appears there without an event. */
const BACKOFF = { most: 500 };

/** Options of an {@link IndexedShard}. */
export interface IndexedShardOptions {
  readonly name: string;
  /** Upstream with the credentials of an administrator. */
  readonly upstream: Upstream;
  /** Identity of Workspaces. */
  readonly identity: string;
  readonly index: PathIndex;
  /** Receives the authentication settings of the shard's workspace types. */
  readonly logins: WorkspaceAuthentication | undefined;
  /** Called for failures, once for several in a row. */
  readonly onError: (error: unknown) => void;
}

/** Keeps the index in step with the Workspaces and LogicalClusters of one shard, and with the logins of its workspace types. */
export class IndexedShard implements AsyncDisposable {
  readonly #indexed: readonly AnyKind[];
  readonly #logins: readonly AnyKind[];
  /** Resolves after the first attempt to read the shard. */
  readonly tried: Promise<void>;

  constructor({ name, upstream, identity, index, logins, onError }: IndexedShardOptions) {
    const client = new Client({ upstream, cluster: "*" });
    const workspaces = new KindInformer<Holds<typeof Workspace>>({
      resource: client.resource(Workspace, { identity }),
      transform: indexedFields,
      backoff: BACKOFF,
      set: (object) => {
        const workspace = indexedWorkspace(object);
        if (workspace !== undefined) index.setWorkspace(name, workspace);
      },
      deleted: (key) => index.deleteWorkspace(name, key),
      onError,
    });
    const clusters = new KindInformer<Holds<typeof LogicalCluster>>({
      resource: client.resource(LogicalCluster),
      transform: indexedFields,
      backoff: BACKOFF,
      set: (object) => {
        const cluster = indexedLogicalCluster(object);
        if (cluster !== undefined) index.setLogicalCluster(name, cluster);
      },
      deleted: ({ cluster }) => index.deleteLogicalCluster(name, cluster),
      onError,
    });
    this.#indexed = [workspaces, clusters];
    this.#logins = logins === undefined ? [] : followedLogins({ name, client, identity, logins, onError });
    this.tried = Promise.all(this.#all.map(({ tried }) => tried)).then(() => undefined);
  }

  /** Whether the index has had all of the shard at least once. */
  get isFilled(): boolean {
    return this.#indexed.every(({ isFilled }) => isFilled);
  }

  /** Age of the shard's data, in seconds: time since its last event or bookmark. A few seconds in normal operation. */
  get lag(): number {
    return Math.max(0, Date.now() - Math.min(...this.#indexed.map(({ seenAt }) => seenAt))) / 1000;
  }

  /** Stops reading. The index keeps its data. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#all.map((kind) => kind[Symbol.asyncDispose]()));
  }

  get #all(): readonly AnyKind[] {
    return [...this.#indexed, ...this.#logins];
  }
}

const ANNOTATIONS = [CLUSTER_ANNOTATION, PATH_ANNOTATION, WORKSPACE_TYPE_ANNOTATION];

/** Returns the fields of a Workspace or LogicalCluster that the index needs, and the version: some 400 bytes. */
function indexedFields<T extends KubeObject>(object: T): T {
  const { apiVersion, kind, metadata } = object;
  const { name, uid, resourceVersion, annotations = {} } = metadata;
  const spec = memberOf(object, "spec");
  const status = memberOf(object, "status");
  return {
    apiVersion,
    kind,
    metadata: { name, uid, resourceVersion, annotations: only(annotations, ANNOTATIONS) },
    spec: { ...only(spec, ["cluster", "URL"]), ...(isJsonObject(spec["mount"]) && { mount: {} }) },
    status: only(status, ["phase"]),
  } as unknown as T;
}

function memberOf(object: object, name: string): Readonly<Record<string, unknown>> {
  const value = (object as Readonly<Record<string, unknown>>)[name];
  return isJsonObject(value) ? value : {};
}

function only(from: Readonly<Record<string, unknown>>, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.flatMap((name) => (Object.hasOwn(from, name) ? [[name, from[name]]] : [])));
}

/** Shard whose workspace types are read. */
interface FollowedLoginsOptions {
  readonly name: string;
  /** Client for all its logical clusters. */
  readonly client: Client;
  /** Identity of the kinds of `tenancy.kcp.io`. */
  readonly identity: string;
  readonly logins: WorkspaceAuthentication;
  /** Called for failures, once for several in a row. */
  readonly onError: (error: unknown) => void;
}

/** Starts informers of the authentication settings of a shard's workspace types. */
function followedLogins(options: FollowedLoginsOptions): readonly AnyKind[] {
  const { name, client, identity, logins, onError } = options;
  const types = new KindInformer<Holds<typeof WorkspaceType>>({
    resource: client.resource(WorkspaceType, { identity }),
    set: (object) => {
      const type = authenticatingType(object);
      if (type !== undefined) logins.setType(name, type);
    },
    deleted: (key) => logins.deleteType(name, key),
    onError,
  });
  const configurations = new KindInformer<Holds<typeof WorkspaceAuthenticationConfiguration>>({
    resource: client.resource(WorkspaceAuthenticationConfiguration, { identity }),
    set: (object) => {
      const said = workspaceAuthenticators(object);
      if (said !== undefined) logins.setConfiguration(name, said);
    },
    deleted: (key) => logins.deleteConfiguration(name, key),
    onError,
  });
  return [types, configurations];
}
