import { createHash } from "node:crypto";
import { isJsonObject, type KindReference } from "@virtual-workspaces/apimachinery";
import { compileJsonPath, type PathColumn } from "@virtual-workspaces/apimachinery/tables";
import type { Client, DiscoveredKind } from "@virtual-workspaces/client";
import { type Forwarded, forward, type Relay, relay } from "@virtual-workspaces/forwarding";
import type { TypedDefinition, ViewSource } from "@virtual-workspaces/framework";
import { FailureStreaks } from "@virtual-workspaces/framework/proxy";
import type { HistoryOptions } from "@virtual-workspaces/framework/storage";
import { newClusterName } from "@virtual-workspaces/kcp";
import { isConditionTrue } from "@virtual-workspaces/kcp/conditions";
import type { Engagement } from "../client/engaged-space.ts";
import { unusableError } from "../client/space-access.ts";
import { nameOf, type SpaceName } from "../client/space-name.ts";
import type { KnownSpace } from "../client/spaces.ts";
import { REACHED, type Space } from "../kinds/space.ts";

/** Options of requests to Spaces. */
export interface ServingOptions {
  readonly identity: "none" | "impersonate";
  readonly history: HistoryOptions | undefined;
  readonly onError: (name: SpaceName, error: unknown) => void;
}

/** Definition of a kind that several Spaces may serve. */
type Definition = TypedDefinition<object>;

/** Maximum number of kinds of one Space. Security: the discovery of a Space with more is rejected. */
const MOST_KINDS = 2_000;
const NEEDED = ["get", "list", "watch"] as const;

/** A served Space, with the same connection while it exists. */
export class ServedSpace implements AsyncDisposable {
  readonly name: SpaceName;
  /** Logical cluster name of the Space; another one if it is created again under the same name. */
  readonly cluster: string;
  /** Connection to the Space; `undefined` if there has never been one. */
  readonly engagement: Engagement | undefined;
  readonly #options: ServingOptions;
  readonly #over = new AbortController();
  readonly #forwarded = new Map<string, Forwarded<object>>();
  readonly #columns = new Map<string, Promise<readonly PathColumn[]>>();
  readonly #discoveries: FailureStreaks;
  #known: KnownSpace;
  #kinds: ReadonlyMap<string, DiscoveredKind> | undefined;
  #relay: Relay | undefined;

  constructor(known: KnownSpace, options: ServingOptions) {
    const { space, engaged } = known;
    this.name = nameOf(space.metadata);
    this.engagement = engaged;
    this.cluster = clusterFor(this.name, engaged?.id ?? space.status?.spaceID ?? space.metadata.uid ?? "");
    this.#options = options;
    this.#discoveries = new FailureStreaks((error) => options.onError(this.name, error));
    this.#known = known;
  }

  /** The Space object. */
  get space(): Space {
    return this.#known.space;
  }

  /** Served kinds that support list and watch, by {@link kindKey}; `undefined` before the first discovery. */
  get kinds(): ReadonlyMap<string, DiscoveredKind> | undefined {
    return this.#kinds;
  }

  /** Why lists leave out an imported Space: its current access has not reached it yet. `undefined` for other Spaces. */
  get leftOut(): string | undefined {
    const { space, state } = this.#known;
    const { conditions } = space.status ?? {};
    if (space.spec.Type !== "imported" || state.ready || isConditionTrue(conditions, REACHED)) return undefined;
    return `${state.reason}: ${state.message}`;
  }

  /** Whether lists show its objects, or report that they are missing. A Space that was never ready has none. */
  get mayHaveObjects(): boolean {
    const { space, engaged, state } = this.#known;
    if (this.leftOut !== undefined) return true;
    return engaged !== undefined || (space.status?.spaceID !== undefined && state.reason !== "Vanished");
  }

  /** Updates the Space object and its connection. */
  changed(known: KnownSpace): void {
    this.#known = known;
  }

  /** Proxy for whole requests. @throws ApiError 503 with the reason if the Space cannot be used */
  get passed(): Relay {
    const { state } = this.#known;
    if (this.engagement === undefined || !state.ready) throw unusableError(this.name, state);
    const { upstream, client } = this.engagement;
    const prefix = client.clusterName === "" ? "" : `/clusters/${client.clusterName}`;
    const { identity, onError } = this.#options;
    this.#relay ??= relay({
      upstream,
      identity,
      what: `the space ${this.name}`,
      // kubectl requests schemas below the view's path. A server that is below a path itself gives schema URLs from its own root.
      path: ({ tail }) => (tail.startsWith(`${prefix}/openapi/`) ? tail : prefix + (tail || "/")),
      onError: (error) => onError(this.name, error),
    });
    return this.#relay;
  }

  /** Returns the objects of a kind; `undefined` if the Space is unreachable. */
  objects(definition: Definition): Forwarded<object> | undefined {
    if (this.engagement === undefined) return undefined;
    const { upstream, client } = this.engagement;
    const key = `${kindKey(definition)} ${formOf(definition)}`;
    const known = this.#forwarded.get(key);
    if (known !== undefined) return known;
    const { identity, history, onError } = this.#options;
    const made = forward({
      resource: definition,
      upstream,
      identity,
      cluster: () => client.clusterName,
      ...(history && { history }),
      onError: (error) => onError(this.name, error),
    });
    this.#forwarded.set(key, made);
    return made;
  }

  /** Returns the objects of a kind as a source that may also fail. */
  source(definition: Definition): ViewSource {
    const away = (): never => {
      throw unusableError(this.name, this.#known.state);
    };
    return this.objects(definition) ?? { resource: definition, cache: away, shareKey: () => "" };
  }

  /** Whether the Space may have objects of a kind: not if its discovery lacks the kind, or has another one with that name. */
  serves(definition: Definition): boolean {
    const own = this.#kinds?.get(kindKey(definition));
    return this.#kinds === undefined || (own !== undefined && formOf(own) === formOf(definition));
  }

  /** Returns the columns of a custom kind between Name and Age, from its definition; none for other kinds or without read access. */
  columns(kind: DiscoveredKind): Promise<readonly PathColumn[]> {
    const key = kindKey(kind);
    const known = this.#columns.get(key) ?? columnsOf(this.engagement?.client, kind, this.#over.signal);
    this.#columns.set(key, known);
    return known;
  }

  /** Discovers the kinds. @returns whether they have changed */
  async discover(): Promise<boolean> {
    if (this.engagement === undefined) return false;
    const { signal } = this.#over;
    try {
      const all = await this.engagement.client.discovery().refresh({ signal });
      const kinds = all.filter(({ verbs }) => NEEDED.every((verb) => verbs.includes(verb)));
      if (kinds.length > MOST_KINDS) throw new Error(`more than ${MOST_KINDS} kinds in discovery`);
      this.#discoveries.answered("");
      const before = this.#kinds;
      this.#kinds = new Map(kinds.map((kind) => [kindKey(kind), kind]));
      return before === undefined || kindsText(before) !== kindsText(this.#kinds);
    } catch (error) {
      // The previous kinds remain valid.
      if (!signal.aborted) this.#discoveries.failed(error, "");
      return false;
    }
  }

  /** Closes the streams across Spaces; the connections belong to the engagement. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort();
    await Promise.all([...this.#forwarded.values()].map((one) => one[Symbol.asyncDispose]()));
  }
}

type Named = Pick<DiscoveredKind, "group" | "version" | "plural" | "kind" | "scope">;

/** Returns the key of a kind in requests. */
export const kindKey = ({ group, version, plural }: Named): string => `${group}/${version}/${plural}`;
/** Returns the facts that must be equal for Spaces to serve a kind together. */
export const formOf = ({ kind, scope }: Named): string => `${kind} ${scope}`;

const kindsText = (kinds: ReadonlyMap<string, DiscoveredKind>): string => JSON.stringify([...kinds.values()]);

/** Length of the readable part of a logical cluster name, characters. */
const READABLE = 46;

/** Returns a logical cluster name that a hash makes unique, and that sorts by the Space's name. */
function clusterFor(name: SpaceName, id: string): string {
  const hash = newClusterName(
    createHash("sha256")
      .update(JSON.stringify([name, id]))
      .digest(),
  );
  return `${name.replaceAll(/[/.]/g, "-").slice(0, READABLE)}-${hash}`;
}

const DEFINITION: KindReference<{ readonly spec?: { readonly versions?: unknown } }> = {
  group: "apiextensions.k8s.io",
  version: "v1",
  kind: "CustomResourceDefinition",
  plural: "customresourcedefinitions",
  scope: "Cluster",
};
/** Maximum number of columns of a kind. */
const MOST = 32;

/** Returns the supported columns of a custom kind's definition; none if it is not readable. */
async function columnsOf(
  client: Client | undefined,
  { group, plural, version }: DiscoveredKind,
  signal: AbortSignal,
): Promise<readonly PathColumn[]> {
  // Groups without a dot are Kubernetes' own.
  if (client === undefined || !group.includes(".")) return [];
  const name = `${plural}.${group}`;
  const definition = await client
    .resource(DEFINITION)
    .get(name, { signal })
    .catch(() => undefined);
  const versions: unknown = definition?.spec?.versions;
  const found = Array.isArray(versions)
    ? versions.find((one: unknown) => isJsonObject(one) && one["name"] === version)
    : undefined;
  const columns: unknown = found?.additionalPrinterColumns;
  return Array.isArray(columns) ? columns.slice(0, MOST).flatMap(columnOf) : [];
}

/** Security: definitions are untrusted, and invalid columns are skipped. */
function columnOf(said: unknown): readonly PathColumn[] {
  if (!isJsonObject(said)) return [];
  const { name, type, jsonPath, description, priority } = said;
  if (typeof name !== "string" || OWN.includes(name) || typeof jsonPath !== "string") return [];
  const known = TYPES.find((one) => one === type);
  try {
    compileJsonPath(jsonPath);
  } catch {
    return [];
  }
  if (known === undefined) return [];
  return [
    {
      name,
      type: known,
      jsonPath,
      ...(typeof description === "string" && { description }),
      ...(typeof priority === "number" && { priority }),
    },
  ];
}

const TYPES = ["integer", "number", "string", "boolean", "date"] as const;
/** Columns of the view. */
const OWN: readonly string[] = ["Name", "Space", "Age"];
