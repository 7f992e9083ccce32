import type { Exchange } from "../exchange.ts";
import type { RequestInfo } from "../request-info.ts";
import type { ServedResource } from "../served.ts";
import { type Asker, HookRequest } from "./hook-request.ts";

/** What a view serves to one caller, findable by name. */
export class ResourceIndex {
  readonly list: readonly ServedResource[];
  readonly #byName = new Map<string, ServedResource>();

  /** @throws Error when two of them have the same group, version and plural */
  constructor(list: readonly ServedResource[]) {
    this.list = list;
    for (const resource of list) {
      const name = nameOf(resource);
      if (this.#byName.has(name)) throw new Error(`${name} is served twice`);
      this.#byName.set(name, resource);
    }
  }

  find(info: Pick<RequestInfo, "group" | "version" | "resource">): ServedResource | undefined {
    return this.#byName.get(`${info.group}/${info.version}/${info.resource}`);
  }

  /** What is served under the same name now. */
  counterpart(resource: ServedResource): ServedResource | undefined {
    return this.#byName.get(nameOf(resource));
  }
}

function nameOf({ definition }: ServedResource): string {
  return `${definition.group}/${definition.version}/${definition.plural}`;
}

const NOTHING = new ResourceIndex([]);

/** Indexes made of the lists that views returned: a view that returns the same list again costs nothing. */
export class ResourceIndexes {
  readonly #indexes = new WeakMap<readonly ServedResource[], ResourceIndex>();

  of(list: readonly ServedResource[]): ResourceIndex {
    let index = this.#indexes.get(list);
    if (index === undefined) {
      index = new ResourceIndex(list);
      this.#indexes.set(list, index);
    }
    return index;
  }
}

/** Asks the discovery hook. */
export function resourcesOf(asker: Asker & Pick<Exchange, "core" | "mounted">): ResourceIndex | Promise<ResourceIndex> {
  const { core, mounted } = asker;
  const { resources } = mounted.workspace;
  if (resources === undefined) return NOTHING;
  if (typeof resources !== "function") return core.indexes.of(resources);
  const found = resources(new HookRequest(asker));
  return found instanceof Promise ? found.then((list) => core.indexes.of(list)) : core.indexes.of(found);
}
