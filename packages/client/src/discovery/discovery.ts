import type { GroupKind, GroupVersionKind } from "@virtual-workspaces/apimachinery";
import type { Requests } from "../http/requests.ts";
import type { CallOptions } from "../resource/call-options.ts";
import { checkKind } from "../resource/location.ts";
import { type DiscoveryDocument, discoveryDocument, kindsIn } from "./documents.ts";
import type { DiscoveredKind } from "./kinds.ts";

interface Known {
  readonly documents: readonly [DiscoveryDocument, DiscoveryDocument];
  readonly kinds: readonly DiscoveredKind[];
}

/**
 * Discovery of one logical cluster of a server. It loads the kinds once, and again when a kind is missing. It uses
 * aggregated discovery if the server has it, else one request per group version (client-go's
 * `DeferredDiscoveryRESTMapper`).
 */
export class Discovery {
  readonly #requests: Requests;
  #known: Known | undefined;
  #loading: Promise<Known> | undefined;

  /** @internal Created by `client.discovery()`. */
  constructor(requests: Requests) {
    this.#requests = requests;
  }

  /** Returns all kinds, preferred versions first in each group. Loads them on first use. @throws as any request */
  async all(options: CallOptions = {}): Promise<readonly DiscoveredKind[]> {
    return (this.#known ?? (await this.#load(options))).kinds;
  }

  /** Reloads all kinds. Servers that send ETags answer 304 if nothing has changed. @throws as any request */
  async refresh(options: CallOptions = {}): Promise<readonly DiscoveredKind[]> {
    return (await this.#load(options)).kinds;
  }

  /** Returns a kind by group and name, in the given or preferred version; `undefined` if it is not served. @throws as any request */
  find(
    kind: GroupKind & { readonly version?: string },
    options: CallOptions = {},
  ): Promise<DiscoveredKind | undefined> {
    const { group, kind: name, version } = kind;
    return this.#first(
      [(one) => one.group === group && one.kind === name && (version === undefined || one.version === version)],
      options,
    );
  }

  /**
   * Returns the current state of a kind from the document of its group version alone, without the cache. `undefined` if
   * it is not served. @throws ApiError 400 for an invalid group or version, and as any request
   */
  async look(
    { group, version, kind }: GroupVersionKind,
    { signal }: CallOptions = {},
  ): Promise<DiscoveredKind | undefined> {
    // The plural is unknown here, so the check gets a valid one.
    checkKind({ group, version, kind, plural: "any", scope: "Cluster" });
    const kinds = await kindsIn(this.#requests, { group, version, signal });
    return kinds.find((one) => one.kind === kind);
  }

  /**
   * Returns a kind by an argument of `kubectl get`, in any letter case: `deployments`, `deployment`, `deploy`,
   * `deployments.apps`, `deployments.v1.apps`. If several groups have the name, the first wins; `undefined` if it is
   * not served. @throws as any request
   */
  findResource(name: string, options: CallOptions = {}): Promise<DiscoveredKind | undefined> {
    const [resource = "", ...rest] = name.toLowerCase().split(".");
    const [version, ...group] = rest;
    const within = (one: DiscoveredKind): boolean =>
      rest.length === 0 || one.group === rest.join(".") || (one.version === version && one.group === group.join("."));
    const named = ({ plural, singular, kind }: DiscoveredKind): boolean =>
      [plural, singular, kind.toLowerCase()].includes(resource);
    const short = ({ shortNames }: DiscoveredKind): boolean => shortNames.includes(resource);
    // A name takes precedence over a short name, in whichever group.
    return this.#first([(one) => within(one) && named(one), (one) => within(one) && short(one)], options);
  }

  /** Group versions whose backend did not answer the latest request. */
  get missing(): readonly string[] {
    return this.#known?.documents.flatMap(({ missing }) => missing) ?? [];
  }

  /** Clears the cache: the next lookup sends a request. */
  forget(): void {
    this.#known = undefined;
  }

  async #first(
    tests: readonly ((kind: DiscoveredKind) => boolean)[],
    options: CallOptions,
  ): Promise<DiscoveredKind | undefined> {
    const search = (kinds: readonly DiscoveredKind[]): DiscoveredKind | undefined => {
      for (const test of tests) {
        const found = kinds.find(test);
        if (found !== undefined) return found;
      }
      return undefined;
    };
    const known = this.#known;
    const found = known === undefined ? undefined : search(known.kinds);
    // The kind may be new. Servers that send ETags answer 304 if nothing has changed.
    return found ?? search((await this.#load(options)).kinds);
  }

  /** Loads the kinds with one request at a time, which concurrent callers share. */
  async #load({ signal }: CallOptions): Promise<Known> {
    if (signal !== undefined) return await this.#ask(signal);
    this.#loading ??= this.#ask(undefined).finally(() => {
      this.#loading = undefined;
    });
    return await this.#loading;
  }

  async #ask(signal: AbortSignal | undefined): Promise<Known> {
    const before = this.#known?.documents;
    const documents = await Promise.all([
      discoveryDocument(this.#requests, { path: "/api", known: before?.[0], signal }),
      discoveryDocument(this.#requests, { path: "/apis", known: before?.[1], signal }),
    ]);
    this.#known = { documents, kinds: documents.flatMap(({ kinds }) => kinds) };
    return this.#known;
  }
}
