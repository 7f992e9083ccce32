import { isApiError, type KindReference, type ObjectKey, parseApiVersion } from "@virtual-workspaces/apimachinery";
import { type Client, Informer } from "@virtual-workspaces/client";
import { keyText } from "@virtual-workspaces/client/queue";
import { APIBindingV1alpha1 } from "@virtual-workspaces/kcp";
import { identifyingMetadata, type MountReference } from "./mount-object.ts";

/** A kind that is looked for: in a logical cluster, by a reference. */
export interface KindQuery {
  readonly cluster: string;
  readonly ref: Pick<MountReference, "apiVersion" | "kind">;
}

interface KindAnswer {
  /** When it was first not there, ms. */
  readonly since: number;
  readonly asked: number;
  readonly answer: Promise<KindReference | undefined>;
}

/** For how long a kind that was not there is not asked for again by others, ms. */
const FRESH = 500;
/** The least and the most that is waited before a kind that is not there is looked for again, though nobody tells, ms. */
const WAITS = [1000, 60_000] as const;

/**
 * The kinds of mount objects, as each logical cluster serves them: looked for once, and again where they were not there, or may
 * have gone. Memory: a few hundred bytes for each kind in each logical cluster where a Workspace is mounted by one.
 */
export class MountKinds {
  readonly #client: Client;
  readonly #signal: AbortSignal;
  readonly #clusters = new Map<string, Map<string, KindAnswer>>();

  constructor(client: Client, signal: AbortSignal) {
    this.#client = client;
    this.#signal = signal;
  }

  /** `undefined` where it is not served. @throws ApiError 400 on what cannot be a kind, and what the server answers */
  async find(sought: KindQuery): Promise<KindReference | undefined> {
    const known = this.#of(sought.cluster);
    const text = kindKey(sought);
    const before = known.get(text);
    const found = await before?.answer;
    const now = performance.now();
    if (before !== undefined && (found !== undefined || now - before.asked < FRESH)) return found;
    // Another may have asked meanwhile.
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

  /** How long to wait before one that is not there is looked for again, ms: the longer it was not, the longer. */
  patience(sought: KindQuery): number {
    const [least, most] = WAITS;
    const since = this.#clusters.get(sought.cluster)?.get(kindKey(sought))?.since;
    return since === undefined ? least : Math.min(most, Math.max(least, performance.now() - since));
  }

  /** What is served in a logical cluster may have changed, or nobody asks any more. */
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
        // The logical cluster itself is going.
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

/** Who is told of changes of what is served. */
interface KindChangesOptions {
  /** Of all logical clusters. */
  readonly client: Client;
  /** What is served in a logical cluster may have changed. */
  readonly changed: (cluster: string) => void;
  readonly onError: (error: unknown) => void;
}

/**
 * What brings kinds into workspaces: CustomResourceDefinitions and APIBindings of all logical clusters of a shard, followed by their
 * metadata for as long as a Workspace waits for a kind that is not there. Memory meanwhile: some hundred bytes for each of them.
 */
export class KindChanges implements AsyncDisposable {
  readonly #options: KindChangesOptions;
  readonly #waiting = new Map<string, ObjectKey>();
  readonly #ending = new Set<Promise<void>>();
  #following: readonly Informer<object>[] | undefined;

  constructor(options: KindChangesOptions) {
    this.#options = options;
  }

  /** Follows them on behalf of a Workspace. */
  wait(workspace: ObjectKey): void {
    this.#waiting.set(keyText(workspace), workspace);
    this.#following ??= [CRD, APIBindingV1alpha1].map((kind) => this.#follow(kind));
  }

  /** The Workspace waits no more. */
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
        // Those that came before are not told one by one.
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
