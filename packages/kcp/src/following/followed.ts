import { setTimeout as pause } from "node:timers/promises";
import { isApiError, type KindReference, parseApiVersion } from "@virtual-workspaces/apimachinery";
import { type Client, Informer } from "@virtual-workspaces/client";
import { LogicalCluster } from "../core/logical-cluster.ts";
import { Mount } from "../mounts/mount.ts";
import type { RelatedObject, RelatedReference } from "../mounts/target.ts";
import { Workspace } from "../tenancy/workspace.ts";

/** What an object is followed by. */
export interface FollowedOptions {
  readonly client: Client;
  readonly reference: RelatedReference;
  /** It is another one now. */
  readonly changed: () => void;
  readonly onError: (error: unknown) => void;
}

const SECRET: KindReference = { group: "", version: "v1", kind: "Secret", plural: "secrets", scope: "Namespaced" };
/** Looked up nowhere: everybody knows them. */
const KNOWN: readonly KindReference[] = [SECRET, LogicalCluster, Workspace, Mount] as readonly KindReference[];
/** How often a kind is looked for that nobody serves, ms. */
const AGAIN = 2_000;
/** How long a watch of one object lasts, s. */
const RENEWED = 60;
/** A selector, and a path, can say it, and nothing else with it: all else is no name that an object has. */
const NAME = /^[A-Za-z0-9](?:[A-Za-z0-9._:-]*[A-Za-z0-9])?$/;
/** What a server says of what it does not have, or does not tell of: a workspace that is not there is 403. */
const ABSENT: readonly number[] = [403, 404];

/** One object, by its name, whichever kind it is of: that may come later, and go. */
export class Followed implements AsyncDisposable {
  readonly #options: FollowedOptions;
  readonly #end = new AbortController();
  readonly #running: Promise<void>;
  #informer: Informer | undefined;
  #state: RelatedObject = { state: "unknown" };

  constructor(options: FollowedOptions) {
    this.#options = options;
    const { name, namespace } = options.reference;
    const isOne = NAME.test(name) && (namespace === undefined || NAME.test(namespace));
    if (!isOne) this.#state = { state: "absent" };
    this.#running = isOne ? this.#run().catch((error: unknown) => this.#broken(error)) : Promise.resolve();
  }

  get state(): RelatedObject {
    return this.#state;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end.abort();
    await this.#running;
    await this.#informer?.stop();
  }

  async #run(): Promise<void> {
    const kind = await this.#kind();
    if (kind === undefined) return;
    const { client, reference } = this.#options;
    const { cluster, namespace, name } = reference;
    const all = client.cluster(cluster).resource<object>(kind);
    const resource = kind.scope === "Namespaced" && namespace !== undefined ? all.in(namespace) : all;
    const informer = new Informer({ resource, fields: `metadata.name=${name}`, renewEvery: RENEWED });
    const look = (): void => {
      const [object] = informer.store.list();
      this.#set(object === undefined ? { state: "absent" } : { state: "found", object });
    };
    informer.on({
      added: look,
      updated: look,
      deleted: look,
      lifecycle: (event) => {
        if (event.type === "synced" || event.type === "relisted") look();
        if (event.type !== "error") return;
        this.#failed(event.error);
        if (!isAbsent(event.error)) this.#options.onError(event.error);
      },
    });
    this.#informer = informer.start();
  }

  /** Waits for it where it is not served yet. `undefined`: nobody wants to know any more. */
  async #kind(): Promise<KindReference | undefined> {
    const { client, reference, onError } = this.#options;
    const { signal } = this.#end;
    const { group = "", version = "" } = parseApiVersion(reference.apiVersion) ?? {};
    const known = KNOWN.find((one) => one.group === group && one.kind === reference.kind && one.version === version);
    if (known !== undefined) return known;
    const discovery = client.cluster(reference.cluster).discovery();
    while (!signal.aborted) {
      try {
        const found = await discovery.find({ group, version, kind: reference.kind }, { signal });
        if (found !== undefined) return found;
        this.#set({ state: "unserved" });
      } catch (error) {
        if (signal.aborted) return undefined;
        this.#failed(error);
        if (!isAbsent(error)) onError(error);
      }
      await pause(AGAIN, undefined, { signal, ref: false }).catch(() => undefined);
    }
    return undefined;
  }

  /** It cannot even be asked for. */
  #broken(error: unknown): void {
    this.#options.onError(error);
    this.#set({ state: "unserved" });
  }

  /** What is known stays known while its server is away. */
  #failed(error: unknown): void {
    if (isAbsent(error)) this.#set({ state: "unserved" });
  }

  #set(state: RelatedObject): void {
    const before = this.#state;
    this.#state = state;
    const isSame = before.state === state.state && versionOf(before) === versionOf(state);
    if (!isSame && !this.#end.signal.aborted) this.#options.changed();
  }
}

function isAbsent(error: unknown): boolean {
  return isApiError(error) && ABSENT.includes(error.code);
}

function versionOf(one: RelatedObject): string | undefined {
  return one.state === "found" ? one.object.metadata.resourceVersion : undefined;
}
