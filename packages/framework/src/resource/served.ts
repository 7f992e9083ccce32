import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { KubeObject } from "@virtual-workspaces/apimachinery";
import type { AuthorizeRequest } from "../authz/authorization.ts";
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

/** All verbs, in the order of discovery documents (alphabetical). */
const VERBS: readonly Verb[] = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];

/**
 * Requests for a storage that are served, and how.
 *
 * @typeParam Kinds content of the subresources' kinds, by name of the subresource
 */
export interface ServeOptions<
  T extends KubeObject = KubeObject,
  Kinds extends Readonly<Record<string, unknown>> = Readonly<Record<string, unknown>>,
> {
  /** Verbs to serve. @default all that the storage supports, writes included */
  readonly verbs?: readonly Verb[];
  /**
   * Verbs to serve for `/status`. `["get", "patch", "update"]` with `verbs: ["get", "list", "watch"]` lets clients report
   * status and change nothing else. The storage must support them.
   * @default those of `verbs`
   */
  readonly statusVerbs?: readonly ("get" | "patch" | "update")[];
  /**
   * Serves the resource as `<plural>:<identity>` and not as `<plural>`: `/apis/example.dev/v1/widgets:3f2a` (kcp's resource
   * identity). Several kinds of one name are served side by side, and clients choose by identity. Discovery and OpenAPI do
   * not advertise it. Authorization rules see the plain resource and its `identity`: a rule for the resource allows every
   * identity. Letters, digits, and `.`, `_`, `-` between them.
   * @default "", served by its plural alone
   */
  readonly identity?: string;
  /** Text of a `Warning` header on every response about these objects, which kubectl prints: for a deprecated version. @default none */
  readonly warning?: string;
  /** Form of objects for clients that request metadata alone (`PartialObjectMetadata`). @default the object's metadata */
  readonly metadata?: MetadataForm;
  /**
   * Whether items of lists have `kind` and `apiVersion`. Those of watch events and single objects always do. Setting it reads
   * lists that a storage forwards as bytes.
   * @default as in Kubernetes: those of its own kinds (`protobuf` in their definition) have neither, others have both;
   * forwarded lists stay unchanged
   */
  readonly typedItems?: boolean;
  /**
   * Type of the event for an object that enters the storage while it is watched. `MODIFIED` is for a storage whose objects existed
   * before, and enter with a change: clients that wait for the change need not compare states. Initial events are ADDED.
   * @default "ADDED"
   */
  readonly entering?: "ADDED" | "MODIFIED";
  /** Called before every write. For a storage that applies patches itself, `patch` must not be served. @default no admission */
  readonly admit?: Admit<T>;
  /**
   * Further subresources, by path segment: `{ log: { connect }, approve: { kind, create } }`. The framework calls `authorize`
   * for each with `subresource` set. Names are DNS labels; `status` and `scale` belong to the definition.
   * @default none
   */
  readonly subresources?: { readonly [Name in keyof Kinds]: NamedSubresource<T, Kinds[Name]> } & {
    readonly status?: never;
    readonly scale?: never;
  };
}

/** Properties of a served resource that discovery and OpenAPI advertise. */
export interface Advertised {
  readonly definition: ResourceDefinition;
  /** Verbs, alphabetically, that discovery advertises and the server answers; others get 405. */
  readonly verbs: readonly Verb[];
  /** Verbs that discovery lists, where the server answers more, as while a kind is deleted. @default `verbs` */
  readonly listedVerbs?: readonly Verb[];
  /** Subresources, by name. */
  readonly subresources: readonly AdvertisedSubresource[];
  /** Version that the storage keeps, where it is another. */
  readonly storedAs?: ResourceDefinition | undefined;
  /** Hash of the stored version in discovery. @default Kubernetes' hash of the kind */
  readonly storageVersionHash?: string;
  /** Whether its verbs could not be determined: discovery lists its group and version without it. @default false */
  readonly missing?: boolean;
}

/** A kind served from a storage: an entry of `resources` of a virtual workspace. Made by `Resource.serve`. */
export interface ServedResource extends Advertised {
  readonly storage: Storage;
  /** As {@link ServeOptions.identity}. */
  readonly identity: string;
  /** As {@link ServeOptions.warning}. */
  readonly warning: string | undefined;
  /** As {@link ServeOptions.metadata}. */
  readonly metadata: MetadataForm | undefined;
  /** As {@link ServeOptions.typedItems}. */
  readonly typedItems: boolean | undefined;
  /** As {@link ServeOptions.entering}. */
  readonly entering: "ADDED" | "MODIFIED" | undefined;
  /** @internal Writer of the objects. */
  readonly writer: Writer;
  /** As {@link ServeOptions.admit}. */
  readonly admit: Admit | undefined;
  /**
   * Returns the resource that answers a list or a watch with these query parameters, of the same kind, for parameters besides
   * Kubernetes' own; `undefined` for this resource. An exception is the response. Called after authorization.
   * @default this resource answers all
   */
  readonly queried?: (query: URLSearchParams) => ServedResource | undefined;
  /** @internal Converter to and from Scales, where the kind has `/scale`. */
  readonly scaling: Scaling | undefined;
  /** @internal The author's subresources. */
  readonly named: ReadonlyMap<string, ServedNamed>;
  /** @internal Handlers that answer instead, where objects are elsewhere. */
  readonly forwardedBy?: ForwardingHandlers;
}

/** A subresource of the author, ready to be called. The definition has checked the types of its arguments. */
export type ServedNamed = ServedKind | { readonly form: "connect"; readonly handlers: AnyConnect };

/** A subresource with a kind of its own. */
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
      `${definition.plural}: its storage applies patches itself, so admit would not see the result. ` +
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
    typedItems: options.typedItems,
    entering: options.entering,
    writer: new Writer({ definition, storage }),
    admit: options.admit,
    scaling: scale === undefined ? undefined : new Scaling(definition, scale, storage.versions),
    named: new Map(Object.entries(named).map(([name, subresource]) => [name, servedNamed(subresource)])),
  });
}

/** @throws Error on an identity that cannot stand in a path */
function checkIdentity({ plural }: Pick<ResourceDefinition, "plural">, identity: string): void {
  if (identity !== "" && !/^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$/.test(identity))
    throw new Error(`${plural}: identity ${JSON.stringify(identity)} must be letters, digits, dots and dashes`);
}

function servedNamed(named: AnyNamed): ServedNamed {
  if (named.kind === undefined) return { form: "connect", handlers: named };
  return { form: "kind", handlers: named, rules: kindRules(named.kind) };
}

/** Whether a storage's methods support a verb. A storage with its own cache supports all reads. */
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

/** Verbs of the resource itself, under "", and of its subresources, under their names. */
export type DiscoveredVerbs = Readonly<Record<string, readonly string[]>>;

type Params = Readonly<Record<string, string>>;

/**
 * Handlers of a resource that is served elsewhere. They receive whole requests of all verbs and subresources, unchanged. The
 * view's `authorize` has allowed each. Over all logical clusters they receive only lists and watches. A `Relay` of
 * `@virtual-workspaces/forwarding` is one.
 */
export interface ForwardingHandlers {
  /** Handles requests, as in a virtual workspace. */
  readonly handle: (req: IncomingMessage, res: ServerResponse, request: RawRequest<Params>) => Awaitable<void>;
  /** Handles upgrades, as in a virtual workspace. @default rejects upgrades */
  readonly upgrade?: (
    req: IncomingMessage,
    socket: Duplex,
    request: RawRequest<Params> & { readonly head: Buffer },
  ) => Awaitable<void>;
  /**
   * Returns the verbs for discovery. Each document about the resource calls it and waits for it. The server logs an
   * exception, and names the missing resource in a `Warning` header.
   * @default all verbs that the kind can have
   */
  readonly discover?: (request: WorkspaceRequest<Params>) => Awaitable<DiscoveredVerbs>;
  /**
   * Returns a resource that serves a request here, such as a write that admission judges. An exception is the response. Security:
   * an upgrade for which it returns a resource is rejected with 400.
   * @default the handlers get every request
   */
  readonly instead?: (request: AuthorizeRequest<Params>) => ServedResource | undefined;
}

/** Options of a resource whose requests are forwarded. */
export interface ForwardingOptions {
  /** As in `ServeOptions`. @default "", served by its plural alone */
  readonly identity?: string;
  /** As in `ServeOptions`. @default none */
  readonly warning?: string;
}

const ALL: readonly Verb[] = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];
const STORAGE = Object.freeze({});

/** Returns a resource whose objects are elsewhere. @throws Error on an invalid identity */
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
    typedItems: undefined,
    entering: undefined,
    writer: new Writer({ definition, storage: STORAGE }),
    admit: undefined,
    scaling: undefined,
    named: new Map(),
    forwardedBy: passed,
  });
}

/** Returns the resource with the verbs that its handlers reported. */
export function withVerbs(resource: ServedResource, verbs: DiscoveredVerbs): ServedResource {
  const known = (name: string): readonly Verb[] => ALL.filter((verb) => verbs[name]?.includes(verb) === true);
  const subresources = resource.subresources
    .map((one) => ({ ...one, verbs: known(one.name) }))
    .filter(({ verbs: own }) => own.length > 0);
  return { ...resource, verbs: known(""), subresources };
}
