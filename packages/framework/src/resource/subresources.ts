import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { dnsLabelProblems, type ObjectKey, type ObjectMeta, type ObjectOf } from "@virtual-workspaces/apimachinery";
import type { FieldValidation } from "@virtual-workspaces/apimachinery/requests";
import type { ResourceDefinition, TypedDefinition, Verb } from "../definition.ts";
import type { RawRequest } from "../request/raw-request.ts";
import { METHOD_VERBS } from "../request/request-info.ts";
import type { Awaitable } from "../util/awaitable.ts";
import { SCALE } from "./scale/scale-kind.ts";

/** A method that a {@link ConnectSubresource} may take. */
export type ConnectMethod = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/**
 * What the handler of a subresource is told. `tail` is what follows the subresource's name in the path, as it came, with its
 * leading slash, or "". In a view without raw handlers of its own there are no dot segments, empty segments, encoded slashes
 * or double encodings in it: such requests are 400.
 *
 * @typeParam Target the object, `undefined` where it is not read
 */
export interface SubresourceRequest<Target> extends RawRequest<Readonly<Record<string, string>>> {
  /** Which object the request is about. */
  readonly key: ObjectKey;
  /** A copy of it as it stands now. */
  readonly object: Target;
  readonly query: URLSearchParams;
  /** Adds a `Warning` header to an answer that has not begun; kubectl prints it. */
  readonly warn: (text: string) => void;
}

/** What a handler that takes a body is told besides. */
export interface SubresourceWrite<Target, Content> extends SubresourceRequest<Target> {
  /** Of the subresource's own kind: pruned, defaults filled in, valid. Its name and namespace are those of the object. */
  readonly body: ObjectOf<Content>;
  /** Nothing may be kept: do nothing that lasts. */
  readonly dryRun: boolean;
  /** Who writes, as the client says, or its program's name. */
  readonly fieldManager: string;
  readonly fieldValidation: FieldValidation;
}

/** What a handler answers: the content, and metadata if there is more to say than the object's name and namespace. */
export type SubresourceAnswer<Content> = Content & { readonly metadata?: ObjectMeta };

/**
 * A subresource that answers by itself, in bytes: logs, a proxy, a shell. It owns the response, or the socket of an upgrade;
 * what it throws before it has begun is answered as a Status. The caller's `Authorization` header is gone from the request.
 *
 * @typeParam Target the object, `undefined` where it is not read
 */
export interface ConnectSubresource<Target> {
  /** Takes requests of {@link methods}. @default they are 405 */
  readonly connect?: (
    req: IncomingMessage,
    res: ServerResponse,
    request: SubresourceRequest<Target>,
  ) => Awaitable<void>;
  /** Takes `Connection: Upgrade`. @default such requests go to `upgrade` of the virtual workspace */
  readonly upgrade?: (
    req: IncomingMessage,
    socket: Duplex,
    request: SubresourceRequest<Target> & { readonly head: Buffer },
  ) => Awaitable<void>;
  /** What it takes, each a verb of its own to `authorize`; HEAD comes with GET. @default GET alone */
  readonly methods?: readonly ConnectMethod[];
  /**
   * Open-ended: exempt from the server's deadline. Upgrades are, and so is what Kubernetes knows by the names `attach`,
   * `exec`, `log`, `portforward` and `proxy`. @default false
   */
  readonly longRunning?: boolean;
  readonly kind?: never;
}

/**
 * A subresource that speaks a kind of its own, as `pods/eviction` and `serviceaccounts/token` do. Each function is a verb.
 * The virtual workspace's `admit` is not asked: what may be done is these functions' to say.
 */
export interface KindSubresource<Target, Content> {
  readonly kind: TypedDefinition<Content>;
  /** `undefined` is answered 404. */
  readonly get?: (request: SubresourceRequest<Target>) => Awaitable<SubresourceAnswer<NoInfer<Content>> | undefined>;
  /** POST, answered 201: with the kind, or with a Status where there is nothing to tell. */
  readonly create?: (
    request: SubresourceWrite<Target, NoInfer<Content>>,
    // biome-ignore lint/suspicious/noConfusingVoidType: a handler that only does something returns nothing
  ) => Awaitable<SubresourceAnswer<NoInfer<Content>> | undefined | void>;
  /** PUT, answered 200. */
  readonly update?: (
    request: SubresourceWrite<Target, NoInfer<Content>>,
  ) => Awaitable<SubresourceAnswer<NoInfer<Content>>>;
  readonly connect?: never;
  readonly upgrade?: never;
  readonly methods?: never;
  readonly longRunning?: never;
}

/**
 * A subresource of one's own. `object` says whether there must be one: `required`, the default, reads it first, and answers
 * 404 without it; `unread` reads nothing, and the handler sees for itself.
 *
 * @typeParam T the object whose it is
 * @typeParam Content what objects of its own kind hold, where it has one
 */
export type NamedSubresource<T, Content = object> =
  | ({ readonly object?: "required" } & (ConnectSubresource<T> | KindSubresource<T, Content>))
  | ({ readonly object: "unread" } & (ConnectSubresource<undefined> | KindSubresource<undefined, Content>));

/** Subresources of one's own, whatever their types. */
export type AnyConnect = ConnectSubresource<unknown> & Reading;
export type AnyKind = KindSubresource<unknown, object> & Reading;
export type AnyNamed = AnyConnect | AnyKind;

interface Reading {
  readonly object?: "required" | "unread";
}

/**
 * Refuses what could not be served.
 *
 * @param reads whether the storage can tell what there is
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
    return "this one is the framework's: ask for it by `subresources` of defineResource";
  // `namespaces/<name>/<more>` is how paths into a namespace begin; Kubernetes makes this one exception.
  if (plural === "namespaces" && name !== "finalize")
    return "its path is one into the namespace; only `finalize` can be served";
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

/** What discovery and OpenAPI tell of a subresource. */
export interface AdvertisedSubresource {
  readonly name: string;
  /** Alphabetical. What discovery advertises and what is answered; anything else is 405. */
  readonly verbs: readonly Verb[];
  /** Whose objects it takes and answers; of one that connects, the resource's own. */
  readonly kind: ResourceDefinition;
  readonly form: "status" | "scale" | "kind" | "connect";
}

/** The verbs of those parts of an object that are read and written as it is. */
const PART_VERBS: readonly Verb[] = ["get", "patch", "update"];

/** What else decides which subresources there are. */
interface OwnSubresources {
  readonly named: Readonly<Record<string, AnyNamed>>;
  /** Whether the storage takes whole objects: a Scale is nothing that it could patch. */
  readonly updates: boolean;
  /** Of `/status`. */
  readonly statusVerbs: readonly Verb[];
}

/** The subresources of a resource that is served with these verbs, by name. */
export function advertisedSubresources(
  definition: ResourceDefinition,
  verbs: readonly Verb[],
  { named, updates, statusVerbs }: OwnSubresources,
): readonly AdvertisedSubresource[] {
  const { status, scale } = definition.subresources;
  const part = PART_VERBS.filter((verb) => verbs.includes(verb));
  const all: AdvertisedSubresource[] = Object.entries(named).map(([name, one]) => ({
    name,
    verbs: verbsOf(one),
    kind: one.kind ?? definition,
    form: one.kind === undefined ? "connect" : "kind",
  }));
  const told = PART_VERBS.filter((verb) => statusVerbs.includes(verb));
  if (status && told.length > 0) all.push({ name: "status", verbs: told, kind: definition, form: "status" });
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
