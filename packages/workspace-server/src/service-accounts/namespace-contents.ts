import { ApiError, isApiError, type KubeObject, type ObjectKey } from "@virtual-workspaces/apimachinery";
import { parseOwnJson } from "@virtual-workspaces/apimachinery/json";
import type { TypedDefinition } from "@virtual-workspaces/framework";
import { groupResourceOf } from "@virtual-workspaces/framework/resource";
import { decodeObject } from "@virtual-workspaces/framework/storage";
import type { StoredObject, StoredPlace } from "@virtual-workspaces/store";
import { Workers } from "../controllers/workers.ts";
import { ConfigMap } from "../kinds/config-map.ts";
import { Namespace } from "../kinds/namespace.ts";
import { Secret } from "../kinds/secret.ts";
import { ServiceAccount } from "../kinds/service-account.ts";
import type { ShardContext, ShardController } from "../state/context.ts";
import { keyText, scopeOf } from "../state/informers/key-index.ts";
import { create, type Draft, modify, remove, type Writable } from "../state/modify.ts";
import type { ShardObjects } from "../state/objects.ts";
import { ACCOUNT_NAME_ANNOTATION, TOKEN_SECRET_TYPE } from "../tokens/claims.ts";
import {
  DEFAULT_ACCOUNT,
  isActive,
  type KeptKey,
  type KeptObjects,
  type KeptResource,
  NamespaceDefaults,
  ROOT_CA_CONFIG_MAP,
} from "./namespace-defaults.ts";
import { TokenSecrets } from "./token-secrets.ts";

type Task = ObjectKey & { readonly kind: "namespace" | "secret" };

/** Key spaces of the reconciled kinds. */
const [SECRETS, CONFIG_MAPS, ACCOUNTS] = ["/secrets", "/configmaps", "/serviceaccounts"] as const;
const [ACCOUNT_NAME, TOKEN_TYPE] = [Buffer.from(ACCOUNT_NAME_ANNOTATION), Buffer.from(TOKEN_SECRET_TYPE)];

/**
 * Reconciles the default content of every namespace: the account `default`, the ConfigMap `kube-root-ca.crt`, and the tokens
 * in token Secrets. Memory: the names of the token Secrets; nothing about other objects.
 */
export class NamespaceContents implements ShardController {
  readonly started: Promise<void> = Promise.resolve();
  readonly #context: ShardContext;
  readonly #defaults: NamespaceDefaults;
  readonly #secrets: TokenSecrets;
  readonly #workers: Workers<Task>;
  readonly #following = new DisposableStack();
  /** Names of the token Secrets, by `<logical cluster>/<namespace>`. */
  readonly #tokens = new Map<string, Set<string>>();
  /** Number of current default objects, by `<logical cluster>/<namespace>`, while the feed lists them. */
  #listed: Map<string, number> | undefined;

  constructor(context: ShardContext) {
    const { objects, rootCa, minter, state, feed, log, name: shard } = context;
    this.#context = context;
    const kept = keptObjects(objects);
    this.#defaults = new NamespaceDefaults({ objects: kept, rootCa });
    this.#secrets = new TokenSecrets({ objects: kept, minter, rootCa });
    this.#workers = new Workers<Task>({
      clock: context.clock,
      id: (task) => `${task.kind} ${keyText(task)}`,
      part: ({ cluster }) => cluster,
      count: 4,
      work: (task) => this.#work(task),
      onError: (error, task) => {
        // A concurrent write: retried without a log entry.
        if (isApiError(error) && error.code === 409) return;
        const message = `failed to reconcile the default content of a ${task.kind}`;
        log({ level: "error", message, shard, key: keyText(task), error: String(error) });
      },
    });
    this.#following.use(
      state.namespaces.onKey(({ key, initial }) => {
        // The feed lists what the existing ones contain.
        if (initial !== true) this.#workers.add({ ...key, kind: "namespace" });
      }),
    );
    this.#following.use(
      feed.on({
        began: () => {
          this.#tokens.clear();
          this.#listed = new Map();
        },
        set: (object) => this.#set(object),
        deleted: (place) => this.#deleted(place),
        synced: () => this.#synced(),
      }),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#following.dispose();
    await this.#workers[Symbol.asyncDispose]();
  }

  #set({ space, key, bytes }: StoredObject): void {
    if (space === SECRETS) {
      if (bytes.includes(ACCOUNT_NAME) && bytes.includes(TOKEN_TYPE)) this.#secret(key);
      else this.#forget(key);
    } else if (space === ACCOUNTS) {
      this.#account(key);
      if (key.name === DEFAULT_ACCOUNT) this.#isThere(key);
    } else if (space === CONFIG_MAPS && key.name === ROOT_CA_CONFIG_MAP) {
      if (this.#isCurrent(key, bytes)) this.#isThere(key);
      else if (this.#listed === undefined) this.#namespace(key);
    }
  }

  /** Most events of these ConfigMaps are of our own writes. A reconcile reports one that is unreadable. */
  #isCurrent(key: ObjectKey, bytes: Buffer): boolean {
    try {
      return (
        this.#defaults.isCurrentBytes(bytes) ||
        this.#defaults.isCurrent(key, parseOwnJson(bytes.toString("utf8")) as KubeObject)
      );
    } catch {
      return false;
    }
  }

  #isThere(key: ObjectKey): void {
    const place = placeOf(key);
    this.#listed?.set(place, (this.#listed.get(place) ?? 0) + 1);
  }

  /** Enqueues the namespaces that lack a default object: at a start most have both, and are not read again. */
  #synced(): void {
    const { store } = this.#context.state.namespaces;
    for (const cluster of store.clusters())
      for (const key of store.keysIn(cluster))
        if (this.#listed?.get(`${cluster}/${key.name}`) !== 2) this.#workers.addInitial({ ...key, kind: "namespace" });
    this.#listed = undefined;
  }

  #deleted({ space, key }: StoredPlace): void {
    if (space === SECRETS) this.#forget(key);
    else if (space === CONFIG_MAPS && key.name === ROOT_CA_CONFIG_MAP) this.#namespace(key);
    else if (space === ACCOUNTS) {
      this.#account(key);
      if (key.name === DEFAULT_ACCOUNT) this.#namespace(key);
    }
  }

  #secret(key: ObjectKey): void {
    const place = placeOf(key);
    const names = this.#tokens.get(place) ?? new Set();
    this.#tokens.set(place, names.add(key.name));
    this.#workers.add({ ...key, kind: "secret" });
  }

  /** Enqueues all token Secrets of the namespace: each names its account. */
  #account(key: ObjectKey): void {
    for (const name of this.#tokens.get(placeOf(key)) ?? []) this.#workers.add({ ...key, name, kind: "secret" });
  }

  #namespace({ cluster, namespace }: ObjectKey): void {
    this.#workers.add({ cluster, namespace: "", name: namespace, kind: "namespace" });
  }

  #forget(key: ObjectKey): void {
    const names = this.#tokens.get(placeOf(key));
    names?.delete(key.name);
    if (names?.size === 0) this.#tokens.delete(placeOf(key));
  }

  async #work(task: Task): Promise<void> {
    if (task.kind === "secret") return this.#secrets.reconcile(task);
    const namespace = this.#context.state.namespaces.store.get(task);
    if (namespace !== undefined) await this.#defaults.reconcile(task.cluster, namespace);
  }
}

function placeOf({ cluster, namespace }: Pick<ObjectKey, "cluster" | "namespace">): string {
  return `${cluster}/${namespace}`;
}

const KINDS = { configmaps: ConfigMap, secrets: Secret, serviceaccounts: ServiceAccount } as unknown as Readonly<
  Record<KeptResource, TypedDefinition<object>>
>;

/** Returns the objects of a shard with the writes that service account controllers need. */
function keptObjects(objects: ShardObjects): KeptObjects {
  const collection = ({ resource }: KeptKey): Writable<object> => objects.of(KINDS[resource]);
  /** Checks under way, by namespace: objects of one are created together. */
  const checks = new Map<string, Promise<void>>();
  const check = (key: KeptKey): Promise<void> => {
    const place = placeOf(key);
    const checking = checks.get(place) ?? checkNamespace(objects, key).finally(() => checks.delete(place));
    checks.set(place, checking);
    return checking;
  };
  return {
    get: (key) => read(collection(key), key),
    create: async (key, { apiVersion: _version, kind: _kind, metadata, ...content }) => {
      await check(key);
      const { annotations, labels } = metadata;
      const kept = { ...(annotations && { annotations }), ...(labels && { labels }) };
      await create(collection(key), key, { ...content, metadata: kept } as Draft<object>);
    },
    update: (key, object) =>
      modify(collection(key), key, ({ metadata }) => {
        const { resourceVersion } = object.metadata;
        if (metadata.resourceVersion !== resourceVersion)
          throw ApiError.conflict(groupResourceOf(KINDS[key.resource]), key.name, "the object has changed");
        return object;
      }),
    delete: (key, { uid }) => remove(collection(key), key, uid),
  };
}

async function read(from: Writable<object>, key: KeptKey): Promise<KubeObject | undefined> {
  const encoded = await from.get(scopeOf(key), key);
  return encoded && decodeObject(encoded);
}

/** Writes of the server skip admission, so this checks that the namespace is active. */
async function checkNamespace(objects: ShardObjects, { cluster, namespace }: KeptKey): Promise<void> {
  const key = { cluster, namespace: "", name: namespace };
  const there = await objects.of(Namespace).get(scopeOf(key), key);
  if (there === undefined || !isActive(decodeObject(there)))
    throw ApiError.notFound(groupResourceOf(Namespace), namespace);
}
