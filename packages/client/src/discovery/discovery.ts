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
 * What a server serves, in one logical cluster: asked for once, and again when something is looked for that was not there.
 * Aggregated discovery where the server has it, else group by group (client-go's `DeferredDiscoveryRESTMapper`).
 */
export class Discovery {
  readonly #requests: Requests;
  #known: Known | undefined;
  #loading: Promise<Known> | undefined;

  /** @internal Made by `client.discovery()`. */
  constructor(requests: Requests) {
    this.#requests = requests;
  }

  /** All kinds, preferred versions first in each group. Asks if nothing is known yet. @throws as any request */
  async all(options: CallOptions = {}): Promise<readonly DiscoveredKind[]> {
    return (this.#known ?? (await this.#load(options))).kinds;
  }

  /** All kinds as they are now: asks again, and servers that give tags answer with a word where nothing has changed. @throws as any request */
  async refresh(options: CallOptions = {}): Promise<readonly DiscoveredKind[]> {
    return (await this.#load(options)).kinds;
  }

  /** A kind by group and name, in a version or the preferred one; `undefined` if it is not served. @throws as any request */
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
   * A kind as it is served now, by the document of its group and version alone: nothing is remembered, and little read. `undefined` if
   * it is not served. @throws ApiError 400 on what cannot be a group or version, and as any request
   */
  async look(
    { group, version, kind }: GroupVersionKind,
    { signal }: CallOptions = {},
  ): Promise<DiscoveredKind | undefined> {
    // The plural is not known yet, and in its place nothing can go wrong.
    checkKind({ group, version, kind, plural: "any", scope: "Cluster" });
    const kinds = await kindsIn(this.#requests, { group, version, signal });
    return kinds.find((one) => one.kind === kind);
  }

  /**
   * A kind by what `kubectl get` takes: `deployments`, `deployment`, `deploy`, `deployments.apps`, `deployments.v1.apps`; in any
   * case of letters. A name that several groups have is that of the first; `undefined` if it is not served. @throws as any request
   */
  findResource(name: string, options: CallOptions = {}): Promise<DiscoveredKind | undefined> {
    const [resource = "", ...rest] = name.toLowerCase().split(".");
    const [version, ...group] = rest;
    const within = (one: DiscoveredKind): boolean =>
      rest.length === 0 || one.group === rest.join(".") || (one.version === version && one.group === group.join("."));
    const named = ({ plural, singular, kind }: DiscoveredKind): boolean =>
      [plural, singular, kind.toLowerCase()].includes(resource);
    const short = ({ shortNames }: DiscoveredKind): boolean => shortNames.includes(resource);
    // A name comes before a short one, whichever group has it.
    return this.#first([(one) => within(one) && named(one), (one) => within(one) && short(one)], options);
  }

  /** Groups and versions whose own server did not answer, when they were asked for last. */
  get missing(): readonly string[] {
    return this.#known?.documents.flatMap(({ missing }) => missing) ?? [];
  }

  /** The next one who looks asks the server. */
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
    // It may have come since: servers that give tags answer with a word if not.
    return found ?? search((await this.#load(options)).kinds);
  }

  /** One at a time, for all who ask meanwhile. */
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
