import type { AuthorizeRequest } from "../authz/authorization.ts";
import type { WorkspaceRequest } from "../request/raw-request.ts";
import type { RequestInfo } from "../request/request-info.ts";
import type { User } from "../request/user.ts";
import type { ServedResource } from "../resource/served.ts";
import type { Awaitable } from "../util/awaitable.ts";
import type { AskedResource, VirtualWorkspace } from "../virtual-workspace.ts";

type Params = Readonly<Record<string, string>>;

/** On whose behalf a hook is asked: a request, or open watches whose request is over. */
export interface Asker {
  readonly params: Params;
  readonly user: User;
  readonly signal: AbortSignal;
}

/** A view whose hooks are asked, and what has been made of their answers. */
export interface HookedView {
  readonly name: string;
  readonly workspace: VirtualWorkspace;
  readonly indexes: ResourceIndexes;
}

/** A request that has something open for long, about which hooks are asked again. */
export interface WatchingRequest extends Asker {
  readonly mounted: HookedView;
  readonly info: RequestInfo;
  /** Whether the resource is there for those alone who ask for metadata. */
  readonly metadataOnly: boolean;
}

// Classes, because a getter in an object literal makes a hidden class for each object, which lives until the next full
// collection and keeps the whole request alive: that alone cost a GET a quarter of its CPU time.

/** What hooks are told of a request. The signal is made when first read: most never do. */
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

/** The question that `authorize` answers. */
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

/** What a view serves to one caller, findable by name. */
export class ResourceIndex {
  /** What discovery and OpenAPI tell of. */
  readonly list: readonly ServedResource[];
  readonly #byName = new Map<string, ServedResource>();

  /**
   * @param besides served without being told of, where the list does not have its own of the name
   * @throws Error when two of the list have the same group, version, plural and identity
   */
  constructor(list: readonly ServedResource[], besides: readonly ServedResource[]) {
    this.list = advertised(list);
    for (const resource of list) {
      const name = nameOf(resource);
      if (this.#byName.has(name)) throw new Error(`${name} is served twice`);
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

  /** What is served under the same name now. */
  counterpart(resource: ServedResource): ServedResource | undefined {
    return this.#byName.get(nameOf(resource));
  }
}

/** What of a list clients are told of: all but what is asked for by its identity. */
export function advertised(list: readonly ServedResource[]): readonly ServedResource[] {
  return list.some(({ identity }) => identity !== "") ? list.filter(({ identity }) => identity === "") : list;
}

/** As its URL says it. */
function nameOf({ definition, identity }: ServedResource): string {
  const name = `${definition.group}/${definition.version}/${definition.plural}`;
  return identity === "" ? name : `${name}:${identity}`;
}

const NOTHING: readonly ServedResource[] = [];

/** Indexes made of the lists that a view returns: one that returns the same list again costs nothing. */
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

/** What a view says that it serves: the one place that asks the discovery hook. */
export function viewResources(
  { resources = NOTHING }: Pick<VirtualWorkspace, "resources">,
  asker: Asker,
): Awaitable<readonly ServedResource[]> {
  return typeof resources === "function" ? resources(new HookRequest(asker)) : resources;
}

/** What is served to a caller. */
export function resourcesOf(asker: Asker & { readonly mounted: HookedView }): ResourceIndex | Promise<ResourceIndex> {
  const { workspace, indexes } = asker.mounted;
  const found = viewResources(workspace, asker);
  return found instanceof Promise ? found.then((list) => indexes.of(list)) : indexes.of(found);
}

/** What a view serves of a resource to those who ask for metadata alone: the one place that asks that hook. */
export function viewMetadata(
  { metadataOf }: Pick<VirtualWorkspace, "metadataOf">,
  asked: AskedResource,
  asker: Asker,
): Awaitable<ServedResource | undefined> {
  return metadataOf?.(asked, new HookRequest(asker));
}
