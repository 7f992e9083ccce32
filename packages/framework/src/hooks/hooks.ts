import type { AuthorizeRequest } from "../authz/authorization.ts";
import type { WorkspaceRequest } from "../request/raw-request.ts";
import type { RequestInfo } from "../request/request-info.ts";
import type { User } from "../request/user.ts";
import type { ServedResource } from "../resource/served.ts";
import type { Awaitable } from "../util/awaitable.ts";
import type { AskedResource, VirtualWorkspace } from "../virtual-workspace.ts";

type Params = Readonly<Record<string, string>>;

/** Caller that hooks run for: a request, or open watches whose request has ended. */
export interface Asker {
  readonly params: Params;
  readonly user: User;
  readonly signal: AbortSignal;
}

/** A view whose hooks are called, and the caches of their results. */
export interface HookedView {
  readonly name: string;
  readonly workspace: VirtualWorkspace;
  readonly indexes: ResourceIndexes;
}

/** A long-running request, for which the server calls hooks again. */
export interface WatchingRequest extends Asker {
  readonly mounted: HookedView;
  readonly info: RequestInfo;
  /** Whether only metadata requests see the resource. */
  readonly metadataOnly: boolean;
}

// Classes, because a getter in an object literal makes a hidden class for each object. It lives until the next full
// collection and keeps the whole request alive: that alone cost a GET a quarter of its CPU time.

/** Request argument of hooks. The signal is made on first read: most hooks never read it. */
export class HookRequest implements WorkspaceRequest<Params> {
  readonly #asker: Asker;
  readonly user: User;
  readonly params: Params;

  constructor(asker: Asker) {
    this.#asker = asker;
    this.user = asker.user;
    this.params = asker.params;
  }

  get signal(): AbortSignal {
    return this.#asker.signal;
  }
}

/** Argument of `authorize`. */
export class AuthorizeQuestion extends HookRequest implements AuthorizeRequest {
  readonly isResource: boolean;
  readonly verb: string;
  readonly path: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly identity: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly longRunning: boolean;
  readonly upgrade: boolean;

  constructor(asker: Asker, info: RequestInfo) {
    super(asker);
    this.isResource = info.isResource;
    this.verb = info.verb;
    this.path = info.path;
    this.group = info.group;
    this.version = info.version;
    this.resource = info.resource;
    this.identity = info.identity;
    this.subresource = info.subresource;
    this.namespace = info.namespace;
    this.name = info.name;
    this.longRunning = info.longRunning;
    this.upgrade = info.upgrade;
  }
}

/** Resources that a view serves to one caller, by name. */
export class ResourceIndex {
  /** Resources that discovery and OpenAPI advertise. */
  readonly list: readonly ServedResource[];
  readonly #byName = new Map<string, ServedResource>();

  /**
   * @param besides resources served but not advertised, unless the list has one of the same name
   * @throws Error when two of the list have the same group, version, plural and identity
   */
  constructor(list: readonly ServedResource[], besides: readonly ServedResource[]) {
    this.list = advertised(list);
    for (const resource of list) {
      const name = nameOf(resource);
      if (this.#byName.has(name)) throw new Error(`duplicate resource ${name}: serve it once`);
      this.#byName.set(name, resource);
    }
    for (const resource of besides) {
      if (this.counterpart(resource) === undefined) this.#byName.set(nameOf(resource), resource);
    }
  }

  find(info: Pick<RequestInfo, "group" | "version" | "resource" | "identity">): ServedResource | undefined {
    const name = `${info.group}/${info.version}/${info.resource}`;
    return this.#byName.get(info.identity === "" ? name : `${name}:${info.identity}`);
  }

  /** Returns the resource that is served under the same name now. */
  counterpart(resource: ServedResource): ServedResource | undefined {
    return this.#byName.get(nameOf(resource));
  }
}

/** Filters a list down to advertised resources: all but those that clients request by identity. */
export function advertised(list: readonly ServedResource[]): readonly ServedResource[] {
  return list.some(({ identity }) => identity !== "") ? list.filter(({ identity }) => identity === "") : list;
}

/** Returns the name of a resource in URLs. */
function nameOf({ definition, identity }: ServedResource): string {
  const name = `${definition.group}/${definition.version}/${definition.plural}`;
  return identity === "" ? name : `${name}:${identity}`;
}

const NOTHING: readonly ServedResource[] = [];

/** Cache of indexes by the list that a view returns: the same list costs nothing the second time. */
export class ResourceIndexes {
  readonly #indexes = new WeakMap<readonly ServedResource[], ResourceIndex>();
  readonly #besides: readonly ServedResource[];

  /** @param besides as for {@link ResourceIndex} */
  constructor(besides: readonly ServedResource[]) {
    this.#besides = besides;
  }

  of(list: readonly ServedResource[]): ResourceIndex {
    let index = this.#indexes.get(list);
    if (index === undefined) {
      index = new ResourceIndex(list, this.#besides);
      this.#indexes.set(list, index);
    }
    return index;
  }
}

/** Returns the served resources of a view. Only this function calls the discovery hook. */
export function viewResources(
  { resources = NOTHING }: Pick<VirtualWorkspace, "resources">,
  asker: Asker,
): Awaitable<readonly ServedResource[]> {
  return typeof resources === "function" ? resources(new HookRequest(asker)) : resources;
}

/** Returns the resources served to a caller. */
export function resourcesOf(asker: Asker & { readonly mounted: HookedView }): ResourceIndex | Promise<ResourceIndex> {
  const { workspace, indexes } = asker.mounted;
  const found = viewResources(workspace, asker);
  return found instanceof Promise ? found.then((list) => indexes.of(list)) : indexes.of(found);
}

/** Returns the resource a view serves for metadata-only requests. Only this function calls that hook. */
export function viewMetadata(
  { metadataOf }: Pick<VirtualWorkspace, "metadataOf">,
  asked: AskedResource,
  asker: Asker,
): Awaitable<ServedResource | undefined> {
  return metadataOf?.(asked, new HookRequest(asker));
}
