import { isApiError, type KindReference, type ObjectKey, parseApiVersion } from "@virtual-workspaces/apimachinery";
import { type Client, Informer } from "@virtual-workspaces/client";
import { keyText } from "@virtual-workspaces/client/queue";
import { APIBindingV1alpha1 } from "@virtual-workspaces/kcp";
import { identifyingMetadata, type MountReference } from "./mount-object.ts";

/** Kind to look up, in a logical cluster, by a reference. */
export interface KindQuery {
  readonly cluster: string;
  readonly ref: Pick<MountReference, "apiVersion" | "kind">;
}

interface KindAnswer {
  /** Time of the first unsuccessful lookup, in ms. */
  readonly since: number;
  readonly asked: number;
  readonly answer: Promise<KindReference | undefined>;
}

/** Time for which an unsuccessful lookup is shared, in ms. */
const FRESH = 500;
/** Minimum and maximum delay before the next lookup of a missing kind, in ms. */
const WAITS = [1000, 60_000] as const;

/**
 * Kinds of mount objects, as each logical cluster serves them. A kind is looked up once, and again while it is missing or after a
 * change. Memory: a few hundred bytes for each kind in each logical cluster with a Workspace that mounts one.
 */
export class MountKinds {
  readonly #client: Client;
  readonly #signal: AbortSignal;
  readonly #clusters = new Map<string, Map<string, KindAnswer>>();

  constructor(client: Client, signal: AbortSignal) {
    this.#client = client;
    this.#signal = signal;
  }

  /** Returns the kind, `undefined` when it is not served. @throws ApiError 400 on an invalid kind, and the server's error */
  async find(sought: KindQuery): Promise<KindReference | undefined> {
    const known = this.#of(sought.cluster);
    const text = kindKey(sought);
    const before = known.get(text);
    const found = await before?.answer;
    const now = performance.now();
    if (before !== undefined && (found !== undefined || now - before.asked < FRESH)) return found;
    // A concurrent call may have started a lookup.
    const other = known.get(text);
    if (other !== undefined && other !== before) return other.answer;
    const answer = this.#look(sought);
    const looked = { since: before?.since ?? now, asked: now, answer };
    known.set(text, looked);
    answer.catch(() => {
      if (known.get(text) === looked) known.delete(text);
    });
    return answer;
  }

  /** Returns the delay before the next lookup of a missing kind, in ms. It grows with the time that the kind is missing. */
  patience(sought: KindQuery): number {
    const [least, most] = WAITS;
    const since = this.#clusters.get(sought.cluster)?.get(kindKey(sought))?.since;
    return since === undefined ? least : Math.min(most, Math.max(least, performance.now() - since));
  }

  /** Discards the kinds of a logical cluster, after a change or when they are no longer needed. */
  forget(cluster: string): void {
    this.#clusters.delete(cluster);
  }

  async #look({ cluster, ref: { apiVersion, kind } }: KindQuery): Promise<KindReference | undefined> {
    const { group, version } = parseApiVersion(apiVersion);
    const client = this.#client.cluster(cluster);
    const found = await client
      .discovery()
      .look({ group, version, kind }, { signal: this.#signal })
      .catch((error: unknown) => {
        // The logical cluster itself is being deleted.
        if (isApiError(error) && (error.code === 403 || error.code === 404)) return undefined;
        throw error;
      });
    return found && { group, version, kind, plural: found.plural, scope: found.scope };
  }

  #of(cluster: string): Map<string, KindAnswer> {
    const known = this.#clusters.get(cluster) ?? new Map<string, KindAnswer>();
    this.#clusters.set(cluster, known);
    return known;
  }
}

function kindKey({ ref: { apiVersion, kind } }: KindQuery): string {
  return JSON.stringify([apiVersion, kind]);
}

const CRD: KindReference = {
  group: "apiextensions.k8s.io",
  version: "v1",
  kind: "CustomResourceDefinition",
  plural: "customresourcedefinitions",
  scope: "Cluster",
};

/** Options of {@link KindChanges}. */
interface KindChangesOptions {
  /** Client for all logical clusters. */
  readonly client: Client;
  /** Called when the kinds of a logical cluster may have changed. */
  readonly changed: (cluster: string) => void;
  readonly onError: (error: unknown) => void;
}

/**
 * Watches the sources of kinds: CustomResourceDefinitions and APIBindings of all logical clusters of a shard, by their metadata,
 * while a Workspace waits for a missing kind. Memory meanwhile: some hundred bytes for each of them.
 */
export class KindChanges implements AsyncDisposable {
  readonly #options: KindChangesOptions;
  readonly #waiting = new Map<string, ObjectKey>();
  readonly #ending = new Set<Promise<void>>();
  #following: readonly Informer<object>[] | undefined;

  constructor(options: KindChangesOptions) {
    this.#options = options;
  }

  /** Watches for a waiting Workspace. */
  wait(workspace: ObjectKey): void {
    this.#waiting.set(keyText(workspace), workspace);
    this.#following ??= [CRD, APIBindingV1alpha1].map((kind) => this.#follow(kind));
  }

  /** Removes a Workspace that no longer waits. */
  rest(workspace: ObjectKey): void {
    this.#waiting.delete(keyText(workspace));
    if (this.#waiting.size === 0) this.#end();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end();
    await Promise.all(this.#ending);
  }

  #follow(kind: Omit<KindReference, "type">): Informer<object> {
    const { client, changed, onError } = this.#options;
    const informer = new Informer<object>({ resource: client.metadata(kind), transform: identifyingMetadata });
    const told = (_: unknown, { key: { cluster } }: { readonly key: ObjectKey }): void => changed(cluster);
    informer.on({
      added: (object, event) => {
        if (!event.initial) told(object, event);
      },
      updated: (object, _, event) => told(object, event),
      deleted: told,
      lifecycle: (event) => {
        // Objects of the initial list cause no single calls.
        if (event.type === "synced") for (const { cluster } of this.#waiting.values()) changed(cluster);
        if (event.type === "error") onError(event.error);
      },
    });
    return informer.start();
  }

  #end(): void {
    for (const informer of this.#following ?? []) {
      const ending = informer.stop().finally(() => this.#ending.delete(ending));
      this.#ending.add(ending);
    }
    this.#following = undefined;
  }
}
