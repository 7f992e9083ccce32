import type { MetricFamily, MetricSample } from "../../virtual-workspace.ts";
import type { ObservedRequest } from "../observer.ts";

/** Limit of resources, which users of workspaces define; further ones are counted together. */
const MOST = 2_000;
const OTHER = "other";

interface Lists {
  readonly group: string;
  readonly resource: string;
  total: number;
  fetched: number;
  returned: number;
}

/** Counts lists that the watch cache answers, with Kubernetes' metrics. There are no indexes: `index` is empty, as for most kinds there. */
export class ListMeter {
  readonly #lists = new Map<string, Lists>();

  count({ cachedList, served }: ObservedRequest): void {
    if (cachedList === undefined || served === undefined) return;
    const { group, plural } = served.definition;
    const lists = this.#of(group, plural);
    lists.total += 1;
    lists.fetched += cachedList.fetched;
    lists.returned += cachedList.returned;
  }

  families(): MetricFamily[] {
    const labelNames = ["group", "resource"];
    const samples = (of: (lists: Lists) => number, ...index: string[]): MetricSample[] =>
      [...this.#lists.values()].map((lists) => ({ labels: [lists.group, lists.resource, ...index], value: of(lists) }));
    return [
      {
        name: "apiserver_cache_list_total",
        help: "Lists that the watch cache has answered.",
        type: "counter",
        labelNames: [...labelNames, "index"],
        samples: samples(({ total }) => total, ""),
      },
      {
        name: "apiserver_cache_list_fetched_objects_total",
        help: "Objects read from the watch cache for lists.",
        type: "counter",
        labelNames: [...labelNames, "index"],
        samples: samples(({ fetched }) => fetched, ""),
      },
      {
        name: "apiserver_cache_list_returned_objects_total",
        help: "Objects in lists that the watch cache has answered.",
        type: "counter",
        labelNames,
        samples: samples(({ returned }) => returned),
      },
    ];
  }

  #of(group: string, resource: string): Lists {
    const key = `${resource}.${group}`;
    let lists = this.#lists.get(key);
    if (lists === undefined) {
      if (this.#lists.size >= MOST && resource !== OTHER) return this.#of(OTHER, OTHER);
      lists = { group, resource, total: 0, fetched: 0, returned: 0 };
      this.#lists.set(key, lists);
    }
    return lists;
  }
}
