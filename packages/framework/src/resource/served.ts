import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { KubeObject } from "@virtual-workspaces/apimachinery";
import type { ResourceDefinition, Verb } from "../definition.ts";
import type { MetadataForm } from "../encode/representation.ts";
import type { RawRequest, WorkspaceRequest } from "../request/raw-request.ts";
import type { Storage } from "../storage.ts";
import type { Awaitable } from "../util/awaitable.ts";
import { kindRules } from "../write/kind.ts";
import type { Admit } from "../write/write-request.ts";
import type { KindRules } from "../write/write-rules.ts";
import { Writer } from "../write/writer.ts";
import { Scaling } from "./scale/scaling.ts";
import {
  type AdvertisedSubresource,
  type AnyConnect,
  type AnyKind,
  type AnyNamed,
  advertisedSubresources,
  checkNamed,
  type NamedSubresource,
} from "./subresources.ts";

/** In the order of discovery documents (alphabetical). */
const VERBS: readonly Verb[] = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];

/**
 * How much of a storage is served, and on what terms.
 *
 * @typeParam Kinds what the kinds of subresources hold, by the subresource's name
 */
export interface ServeOptions<
  T extends KubeObject = KubeObject,
  Kinds extends Readonly<Record<string, unknown>> = Readonly<Record<string, unknown>>,
> {
  /** Serve only these. @default all that the storage can do, writes included */
  readonly verbs?: readonly Verb[];
  /**
   * Serve only these of `/status`: `["get", "patch", "update"]` beside `verbs: ["get", "list", "watch"]` is for those who report how
   * objects are, and change nothing else of them. What the storage cannot do is refused when it is served. @default those of `verbs`
   */
  readonly statusVerbs?: readonly ("get" | "patch" | "update")[];
  /**
   * Serves it as `<plural>:<identity>` and not as `<plural>`, `/apis/example.dev/v1/widgets:3f2a` (kcp's resource identity):
   * several kinds of one name side by side, each asked for by those who know whose they mean. Discovery and OpenAPI do not
   * tell of it. Rules are asked about the resource without it, and see it as `identity`: one that allows the resource
   * allows it by every identity. Letters, digits, and `.`, `_`, `-` between them. @default "", by its plural alone
   */
  readonly identity?: string;
  /**
   * A text that every answer about these objects carries in a `Warning` header, which kubectl prints: of a version that
   * should not be used any more. @default none
   */
  readonly warning?: string;
  /** What those are told of an object who ask for its metadata alone (`PartialObjectMetadata`). @default its metadata */
  readonly metadata?: MetadataForm;
  /** Asked before every write. Not for a storage that patches by itself, unless `patch` is not served. @default nobody is asked */
  readonly admit?: Admit<T>;
  /**
   * What objects can do besides, by the segment behind their name: `{ log: { connect }, approve: { kind, create } }`.
   * `authorize` is asked about each with `subresource` set. Names are DNS labels; `status` and `scale` are the
   * framework's, and part of the definition. @default none
   */
  readonly subresources?: { readonly [Name in keyof Kinds]: NamedSubresource<T, Kinds[Name]> } & {
    readonly status?: never;
    readonly scale?: never;
  };
}

/** What discovery and OpenAPI tell of a served resource. */
export interface Advertised {
  readonly definition: ResourceDefinition;
  /** Alphabetical. What discovery advertises and what is answered; anything else is 405. */
  readonly verbs: readonly Verb[];
  /** By name. */
  readonly subresources: readonly AdvertisedSubresource[];
  /** The version that objects are kept in, where it is another. */
  readonly storedAs?: ResourceDefinition | undefined;
  /** Whether its verbs could not be had: its group and version are there, and it is left out. @default false */
  readonly missing?: boolean;
}

/** A kind on a storage: what `resources` of a virtual workspace lists. Made by `Resource.serve`. */
export interface ServedResource extends Advertised {
  readonly storage: Storage;
  /** As {@link ServeOptions.identity}. */
  readonly identity: string;
  /** As {@link ServeOptions.warning}. */
  readonly warning: string | undefined;
  /** As {@link ServeOptions.metadata}. */
  readonly metadata: MetadataForm | undefined;
  /** @internal Where writes go. */
  readonly writer: Writer;
  /** As {@link ServeOptions.admit}. */
  readonly admit: Admit | undefined;
  /** @internal Objects as Scales, where the kind has `/scale`. */
  readonly scaling: Scaling | undefined;
  /** @internal The author's own subresources. */
  readonly named: ReadonlyMap<string, ServedNamed>;
  /** @internal Who answers instead, where objects are elsewhere. */
  readonly forwardedBy?: ForwardingHandlers;
}

/** A subresource of the author's own, ready to be asked: types of what it is told were checked where it was given. */
export type ServedNamed = ServedKind | { readonly form: "connect"; readonly handlers: AnyConnect };

/** One that speaks a kind of its own. */
export interface ServedKind {
  readonly form: "kind";
  readonly handlers: AnyKind;
  readonly rules: KindRules;
}

export function serveStorage(definition: ResourceDefinition, storage: Storage, options: ServeOptions): ServedResource {
  const able = VERBS.filter((verb) => can(storage, verb));
  const wanted = options.verbs ?? able;
  const ofStatus = options.statusVerbs ?? wanted;
  const unable = [...new Set([...wanted, ...ofStatus])].filter((verb) => !able.includes(verb));
  if (unable.length > 0) {
    throw new Error(
      `${definition.plural}: its storage cannot ${unable.join(", ")}; it can ${able.join(", ") || "nothing"}. ` +
        "Leave the verb out of `verbs` and `statusVerbs`, or add the method.",
    );
  }
  const verbs = able.filter((verb) => wanted.includes(verb));
  const statusVerbs = able.filter((verb) => ofStatus.includes(verb));
  if (options.admit !== undefined && storage.patch !== undefined && [...verbs, ...statusVerbs].includes("patch")) {
    throw new Error(
      `${definition.plural}: its storage patches by itself, so admit would not be asked. ` +
        "Leave `patch` out of `verbs` and `statusVerbs`, or out of the storage.",
    );
  }
  const { identity = "" } = options;
  checkIdentity(definition, identity);
  const { scale } = definition.subresources;
  const named = (options.subresources ?? {}) as Readonly<Record<string, AnyNamed>>;
  checkNamed(definition, named, { reads: can(storage, "get") });
  return Object.freeze({
    definition,
    storage,
    verbs,
    identity,
    subresources: advertisedSubresources(definition, verbs, {
      named,
      updates: storage.update !== undefined,
      statusVerbs,
    }),
    storedAs: storage.storedAs,
    warning: options.warning,
    metadata: options.metadata,
    writer: new Writer({ definition, storage }),
    admit: options.admit,
    scaling: scale === undefined ? undefined : new Scaling(definition, scale, storage.versions),
    named: new Map(Object.entries(named).map(([name, subresource]) => [name, servedNamed(subresource)])),
  });
}

/** @throws Error on one that no path could name */
function checkIdentity({ plural }: Pick<ResourceDefinition, "plural">, identity: string): void {
  if (identity !== "" && !/^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$/.test(identity))
    throw new Error(`${plural}: identity ${JSON.stringify(identity)} must be letters, digits, dots and dashes`);
}

function servedNamed(named: AnyNamed): ServedNamed {
  if (named.kind === undefined) return { form: "connect", handlers: named };
  return { form: "kind", handlers: named, rules: kindRules(named.kind) };
}

/** What a storage's methods come to. One that keeps its own history can be read in every way. */
function can(storage: Storage, verb: Verb): boolean {
  const reads = storage.get !== undefined || storage.cache !== undefined;
  const lists = storage.list !== undefined || storage.cache !== undefined;
  switch (verb) {
    case "get":
      return reads;
    case "list":
      return lists;
    case "watch":
      return storage.cache !== undefined || (storage.list !== undefined && storage.changes !== undefined);
    case "create":
      return storage.create !== undefined;
    case "update":
      return storage.update !== undefined && reads;
    case "patch":
      return (storage.patch !== undefined || storage.update !== undefined) && reads;
    case "delete":
      return storage.delete !== undefined && reads;
    case "deletecollection":
      return storage.delete !== undefined && reads && lists;
  }
}

/** Verbs by what they are for: "" for the resource itself, else the name of a subresource. */
export type DiscoveredVerbs = Readonly<Record<string, readonly string[]>>;

type Params = Readonly<Record<string, string>>;

/**
 * Who answers requests about a resource that is served elsewhere: whole requests, of all verbs and subresources, as they came.
 * `authorize` of the view has been asked about each; of all logical clusters at once only lists and watches come here. A `Relay` of
 * `@virtual-workspaces/forwarding` is one.
 */
export interface ForwardingHandlers {
  /** As of a virtual workspace. */
  readonly handle: (req: IncomingMessage, res: ServerResponse, request: RawRequest<Params>) => Awaitable<void>;
  /** As of a virtual workspace. @default upgrades are refused */
  readonly upgrade?: (
    req: IncomingMessage,
    socket: Duplex,
    request: RawRequest<Params> & { readonly head: Buffer },
  ) => Awaitable<void>;
  /**
   * Which verbs there are, for discovery: asked each time that it is about the resource, and waited for. What it throws is
   * logged; the resource is left out then, and a `Warning` header names it. @default all verbs that the kind can have
   */
  readonly discover?: (request: WorkspaceRequest<Params>) => Awaitable<DiscoveredVerbs>;
}

/** How a resource is served whose requests are passed on. */
export interface ForwardingOptions {
  /** As of `ServeOptions`. @default "", by its plural alone */
  readonly identity?: string;
  /** As of `ServeOptions`. @default none */
  readonly warning?: string;
}

const ALL: readonly Verb[] = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];
const STORAGE = Object.freeze({});

/** A resource whose objects nobody here has. @throws Error on an identity that is none */
export function forwardedResource(
  definition: ResourceDefinition,
  passed: ForwardingHandlers,
  { identity = "", warning }: ForwardingOptions,
): ServedResource {
  checkIdentity(definition, identity);
  return Object.freeze({
    definition,
    storage: STORAGE,
    verbs: ALL,
    identity,
    subresources: advertisedSubresources(definition, ALL, { named: {}, updates: true, statusVerbs: ALL }),
    storedAs: undefined,
    warning,
    metadata: undefined,
    writer: new Writer({ definition, storage: STORAGE }),
    admit: undefined,
    scaling: undefined,
    named: new Map(),
    forwardedBy: passed,
  });
}

/** The resource with the verbs that it turned out to have. */
export function withVerbs(resource: ServedResource, verbs: DiscoveredVerbs): ServedResource {
  const known = (name: string): readonly Verb[] => ALL.filter((verb) => verbs[name]?.includes(verb) === true);
  const subresources = resource.subresources
    .map((one) => ({ ...one, verbs: known(one.name) }))
    .filter(({ verbs: own }) => own.length > 0);
  return { ...resource, verbs: known(""), subresources };
}
