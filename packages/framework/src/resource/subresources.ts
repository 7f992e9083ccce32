import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { dnsLabelProblems, type ObjectKey, type ObjectMeta, type ObjectOf } from "@virtual-workspaces/apimachinery";
import type { FieldValidation } from "@virtual-workspaces/apimachinery/requests";
import type { ResourceDefinition, TypedDefinition, Verb } from "../definition.ts";
import type { RawRequest } from "../request/raw-request.ts";
import { METHOD_VERBS } from "../request/request-info.ts";
import type { Awaitable } from "../util/awaitable.ts";
import { SCALE } from "./scale/scale-kind.ts";

/** HTTP method that a {@link ConnectSubresource} may accept. */
export type ConnectMethod = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/**
 * Request that the handler of a subresource receives. `tail` is the path after the subresource's name, unchanged, with its
 * leading slash, or "". In a view without raw handlers, `tail` has no dot segments, empty segments, encoded slashes or double
 * encodings: such requests get 400.
 *
 * @typeParam Target the object, `undefined` where it is not read
 */
export interface SubresourceRequest<Target> extends RawRequest<Readonly<Record<string, string>>> {
  /** Key of the object. */
  readonly key: ObjectKey;
  /** Copy of the current object. */
  readonly object: Target;
  readonly query: URLSearchParams;
  /** Adds a `Warning` header to a response that has not begun; kubectl prints it. */
  readonly warn: (text: string) => void;
}

/** Request with a body that the handler of a subresource receives. */
export interface SubresourceWrite<Target, Content> extends SubresourceRequest<Target> {
  /** Object of the subresource's kind: pruned, defaulted and valid. Its name and namespace are the parent object's. */
  readonly body: ObjectOf<Content>;
  /** Whether the request is a dry run: the handler must persist nothing. */
  readonly dryRun: boolean;
  /** Field manager: the client's own, or the name of its program. */
  readonly fieldManager: string;
  readonly fieldValidation: FieldValidation;
}

/** Result of a handler: the content, and metadata beyond the object's name and namespace. */
export type SubresourceAnswer<Content> = Content & { readonly metadata?: ObjectMeta };

/**
 * A subresource that writes its own response: logs, a proxy, a shell. The handler owns the response, or the socket of an
 * upgrade. An exception before the response begins becomes a Status. The framework removes the `Authorization` header.
 *
 * @typeParam Target the object, `undefined` where it is not read
 */
export interface ConnectSubresource<Target> {
  /** Handles requests with one of {@link methods}. @default answers 405 */
  readonly connect?: (
    req: IncomingMessage,
    res: ServerResponse,
    request: SubresourceRequest<Target>,
  ) => Awaitable<void>;
  /** Handles `Connection: Upgrade`. @default such requests go to `upgrade` of the virtual workspace */
  readonly upgrade?: (
    req: IncomingMessage,
    socket: Duplex,
    request: SubresourceRequest<Target> & { readonly head: Buffer },
  ) => Awaitable<void>;
  /** Accepted methods, each a verb of its own to `authorize`; GET includes HEAD. @default GET alone */
  readonly methods?: readonly ConnectMethod[];
  /**
   * Whether requests are open-ended, and exempt from the server's deadline. Upgrades always are, and so are Kubernetes'
   * `attach`, `exec`, `log`, `portforward` and `proxy`.
   * @default false
   */
  readonly longRunning?: boolean;
  readonly kind?: never;
}

/**
 * A subresource with a kind of its own, such as `pods/eviction` or `serviceaccounts/token`. Each function is a verb. The
 * virtual workspace's `admit` is not called: these functions decide what they accept.
 */
export interface KindSubresource<Target, Content> {
  readonly kind: TypedDefinition<Content>;
  /** Handles GET. `undefined` is answered 404. */
  readonly get?: (request: SubresourceRequest<Target>) => Awaitable<SubresourceAnswer<NoInfer<Content>> | undefined>;
  /** Handles POST. Answered 201: with the result, or with a Status when there is none. */
  readonly create?: (
    request: SubresourceWrite<Target, NoInfer<Content>>,
    // biome-ignore lint/suspicious/noConfusingVoidType: a handler that only does something returns nothing
  ) => Awaitable<SubresourceAnswer<NoInfer<Content>> | undefined | void>;
  /** Handles PUT. Answered 200. */
  readonly update?: (
    request: SubresourceWrite<Target, NoInfer<Content>>,
  ) => Awaitable<SubresourceAnswer<NoInfer<Content>>>;
  readonly connect?: never;
  readonly upgrade?: never;
  readonly methods?: never;
  readonly longRunning?: never;
}

/**
 * A subresource of the author. With `object: "required"`, the default, the framework reads the parent object and answers 404
 * without it. With `unread` it reads nothing.
 *
 * @typeParam T the parent object
 * @typeParam Content content of the subresource's kind, where it has one
 */
export type NamedSubresource<T, Content = object> =
  | ({ readonly object?: "required" } & (ConnectSubresource<T> | KindSubresource<T, Content>))
  | ({ readonly object: "unread" } & (ConnectSubresource<undefined> | KindSubresource<undefined, Content>));

/** Subresources of the author, of any types. */
export type AnyConnect = ConnectSubresource<unknown> & Reading;
export type AnyKind = KindSubresource<unknown, object> & Reading;
export type AnyNamed = AnyConnect | AnyKind;

interface Reading {
  readonly object?: "required" | "unread";
}

/**
 * Rejects subresources that cannot be served.
 *
 * @param reads whether the storage can read objects
 * @throws Error that names the subresource and the remedy
 */
export function checkNamed(
  definition: ResourceDefinition,
  named: Readonly<Record<string, AnyNamed>>,
  { reads }: { readonly reads: boolean },
): void {
  for (const [name, subresource] of Object.entries(named)) {
    const problem = nameProblem(name, definition) ?? formProblem(subresource, reads);
    if (problem !== undefined) throw new Error(`subresource ${definition.plural}/${name}: ${problem}`);
  }
}

function nameProblem(name: string, { plural }: ResourceDefinition): string | undefined {
  if (name === "status" || name === "scale")
    return "the framework serves this one: set `subresources` of defineResource";
  // Paths into a namespace begin with `namespaces/<name>/<more>`; Kubernetes makes this one exception.
  if (plural === "namespaces" && name !== "finalize")
    return "its path addresses objects in the namespace: only `finalize` can be served";
  const [first] = dnsLabelProblems(name);
  return first === undefined ? undefined : `its name cannot stand in a path: ${first}`;
}

function formProblem(subresource: AnyNamed, reads: boolean): string | undefined {
  if (!reads && subresource.object !== "unread")
    return 'the storage cannot tell whether there is such an object: give it `get`, or say `object: "unread"`';
  const { kind, connect, upgrade } = subresource;
  if (kind !== undefined) {
    if (connect !== undefined || upgrade !== undefined)
      return "it has a kind, so it cannot have `connect` or `upgrade`";
    const { get, create, update } = subresource;
    if (get === undefined && create === undefined && update === undefined)
      return "it does nothing: give it `get`, `create` or `update`";
    return undefined;
  }
  if (connect === undefined && upgrade === undefined)
    return "it does nothing: give it `connect`, `upgrade`, or a `kind` and what to do with it";
  return subresource.methods?.length === 0 ? "it takes no method: leave `methods` out for GET" : undefined;
}

/** Properties of a subresource that discovery and OpenAPI advertise. */
export interface AdvertisedSubresource {
  readonly name: string;
  /** Verbs, alphabetically, that discovery advertises and the server answers; others get 405. */
  readonly verbs: readonly Verb[];
  /** Kind of the objects that it reads and returns; for one that connects, the resource's own. */
  readonly kind: ResourceDefinition;
  readonly form: "status" | "scale" | "kind" | "connect";
}

/** Verbs of the subresources that read and write a part of the object. */
const PART_VERBS: readonly Verb[] = ["get", "patch", "update"];

/** Further settings that decide which subresources exist. */
interface OwnSubresources {
  readonly named: Readonly<Record<string, AnyNamed>>;
  /** Whether the storage has `update`: a storage cannot patch a Scale. */
  readonly updates: boolean;
  /** Verbs of `/status`. */
  readonly statusVerbs: readonly Verb[];
}

/** Returns the subresources of a resource that is served with these verbs, by name. */
export function advertisedSubresources(
  definition: ResourceDefinition,
  verbs: readonly Verb[],
  { named, updates, statusVerbs }: OwnSubresources,
): readonly AdvertisedSubresource[] {
  const { status, statusParts = [], scale } = definition.subresources;
  const part = PART_VERBS.filter((verb) => verbs.includes(verb));
  const all: AdvertisedSubresource[] = Object.entries(named).map(([name, one]) => ({
    name,
    verbs: verbsOf(one),
    kind: one.kind ?? definition,
    form: one.kind === undefined ? "connect" : "kind",
  }));
  const served = PART_VERBS.filter((verb) => statusVerbs.includes(verb));
  const ofStatus = [...(status ? ["status"] : []), ...statusParts];
  if (served.length > 0)
    all.push(...ofStatus.map((name) => ({ name, verbs: served, kind: definition, form: "status" as const })));
  const scaled = part.filter((verb) => verb === "get" || updates);
  if (scale !== undefined && scaled.length > 0) all.push({ name: "scale", verbs: scaled, kind: SCALE, form: "scale" });
  return all.sort((a, b) => (a.name < b.name ? -1 : 1));
}

function verbsOf(subresource: AnyNamed): readonly Verb[] {
  if (subresource.kind !== undefined) return KIND_VERBS.filter((verb) => subresource[verb] !== undefined);
  const { methods = ["GET"] } = subresource;
  return [...new Set(methods.flatMap((method) => METHOD_VERBS.get(method) ?? []))].sort();
}

const KIND_VERBS = ["create", "get", "update"] as const;
