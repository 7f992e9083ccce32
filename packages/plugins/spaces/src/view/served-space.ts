import { createHash } from "node:crypto";
import { isJsonObject, type KindReference } from "@virtual-workspaces/apimachinery";
import { compileJsonPath, type PathColumn } from "@virtual-workspaces/apimachinery/tables";
import type { Client, DiscoveredKind } from "@virtual-workspaces/client";
import { type Forwarded, forward, type Relay, relay } from "@virtual-workspaces/forwarding";
import type { TypedDefinition, ViewSource } from "@virtual-workspaces/framework";
import { FailureStreaks } from "@virtual-workspaces/framework/proxy";
import type { HistoryOptions } from "@virtual-workspaces/framework/storage";
import { newClusterName } from "@virtual-workspaces/kcp";
import type { Engagement } from "../client/engaged-space.ts";
import { unusableError } from "../client/space-access.ts";
import { nameOf, type SpaceName } from "../client/space-name.ts";
import type { KnownSpace } from "../client/spaces.ts";
import type { Space } from "../kinds/space.ts";

/** How Spaces are asked. */
export interface ServingOptions {
  readonly identity: "none" | "impersonate";
  readonly history: HistoryOptions | undefined;
  readonly onError: (name: SpaceName, error: unknown) => void;
}

/** A kind of which there may be objects in several Spaces. */
type Definition = TypedDefinition<object>;

/** Kinds of one Space that are told of: a Space that says more is not believed. */
const MOST_KINDS = 2_000;
const NEEDED = ["get", "list", "watch"] as const;

/** A Space, as it is served: reached in one way for as long as it is there. */
export class ServedSpace implements AsyncDisposable {
  readonly name: SpaceName;
  /** The logical cluster that stands for it: another one for a Space that was made again by its name. */
  readonly cluster: string;
  /** What it is reached by; `undefined`: this process has never been able to. */
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

  /** Its object. */
  get space(): Space {
    return this.#known.space;
  }

  /** What it serves that can be listed and watched, by {@link kindKey}; `undefined`: it has not said yet. */
  get kinds(): ReadonlyMap<string, DiscoveredKind> | undefined {
    return this.#kinds;
  }

  /** Whether somebody may have seen objects of it: one that was never ready has none. */
  get mayHaveObjects(): boolean {
    const { space, engaged, state } = this.#known;
    return engaged !== undefined || (space.status?.spaceID !== undefined && state.reason !== "Vanished");
  }

  /** Its object, or how it can be used, is another now. */
  changed(known: KnownSpace): void {
    this.#known = known;
  }

  /** Whole requests, as they come. @throws ApiError 503 with why it cannot be used */
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
      // A server that is below a path itself says where its schemas are from its own root: kubectl asks for them below ours.
      path: ({ tail }) => (tail.startsWith(`${prefix}/openapi/`) ? tail : prefix + (tail || "/")),
      onError: (error) => onError(this.name, error),
    });
    return this.#relay;
  }

  /** Its objects of a kind; `undefined`: this process cannot reach it. */
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

  /** The same to be read, also where that fails. */
  source(definition: Definition): ViewSource {
    const away = (): never => {
      throw unusableError(this.name, this.#known.state);
    };
    return this.objects(definition) ?? { resource: definition, cache: away, shareKey: () => "" };
  }

  /** Whether it may have objects of a kind: not where it has said that it serves none of that name, or another kind by it. */
  serves(definition: Definition): boolean {
    const own = this.#kinds?.get(kindKey(definition));
    return this.#kinds === undefined || (own !== undefined && formOf(own) === formOf(definition));
  }

  /** What the table of a custom kind has between name and age, as its definition says; nothing of others, and of those that nobody may read. */
  columns(kind: DiscoveredKind): Promise<readonly PathColumn[]> {
    const key = kindKey(kind);
    const known = this.#columns.get(key) ?? columnsOf(this.engagement?.client, kind, this.#over.signal);
    this.#columns.set(key, known);
    return known;
  }

  /** Asks what it serves. @returns whether that is something else than before */
  async discover(): Promise<boolean> {
    if (this.engagement === undefined) return false;
    const { signal } = this.#over;
    try {
      const all = await this.engagement.client.discovery().refresh({ signal });
      const kinds = all.filter(({ verbs }) => NEEDED.every((verb) => verbs.includes(verb)));
      if (kinds.length > MOST_KINDS) throw new Error(`it says that it serves more than ${MOST_KINDS} kinds`);
      this.#discoveries.answered("");
      const before = this.#kinds;
      this.#kinds = new Map(kinds.map((kind) => [kindKey(kind), kind]));
      return before === undefined || kindsText(before) !== kindsText(this.#kinds);
    } catch (error) {
      // What it was last is what is known of it.
      if (!signal.aborted) this.#discoveries.failed(error, "");
      return false;
    }
  }

  /** Ends what is open for several Spaces; the connections are whoever's it engaged. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort();
    await Promise.all([...this.#forwarded.values()].map((one) => one[Symbol.asyncDispose]()));
  }
}

type Named = Pick<DiscoveredKind, "group" | "version" | "plural" | "kind" | "scope">;

/** By what a kind is asked for. */
export const kindKey = ({ group, version, plural }: Named): string => `${group}/${version}/${plural}`;
/** What is told of it by that: of two Spaces that differ here one is not believed. */
export const formOf = ({ kind, scope }: Named): string => `${kind} ${scope}`;

const kindsText = (kinds: ReadonlyMap<string, DiscoveredKind>): string => JSON.stringify([...kinds.values()]);

/** What is left of a name in that of its logical cluster, characters. */
const READABLE = 46;

/** Told from all others by a hash, and by its name in the order of lists. */
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
/** Columns that are shown of a kind. */
const MOST = 32;

/** The columns that the definition of a custom kind has, as far as they can be shown. One that cannot be read has none. */
async function columnsOf(
  client: Client | undefined,
  { group, plural, version }: DiscoveredKind,
  signal: AbortSignal,
): Promise<readonly PathColumn[]> {
  // Kinds without a domain are Kubernetes' own.
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

/** A Space's definitions are as good as its server: none of what cannot be shown. */
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
/** The view's. */
const OWN: readonly string[] = ["Name", "Space", "Age"];
