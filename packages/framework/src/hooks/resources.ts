import type { Exchange } from "../exchange.ts";
import type { RequestInfo } from "../request/request-info.ts";
import type { ServedResource } from "../resource/served.ts";
import type { Awaitable } from "../storage.ts";
import type { VirtualWorkspace } from "../virtual-workspace.ts";
import { type Asker, HookRequest } from "./hook-request.ts";

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
export function resourcesOf(asker: Asker & Pick<Exchange, "mounted">): ResourceIndex | Promise<ResourceIndex> {
  const { workspace, indexes } = asker.mounted;
  const found = viewResources(workspace, asker);
  return found instanceof Promise ? found.then((list) => indexes.of(list)) : indexes.of(found);
}
