import type { Log } from "@virtual-workspaces/framework/server";
import { CLUSTERS_PATH, type Mapping } from "../mapping/mapping.ts";
import { byDetail, isBelow } from "../mapping/route-path.ts";
import { Route } from "./route.ts";

/** Routes of all mapped paths except `/clusters/`. */
export class Routes implements AsyncDisposable {
  readonly #log: Log;
  /** Most specific path first. */
  #routes: readonly Route[] = [];
  readonly #leaving = new Set<Route>();
  /** Whether all sources of routes have been read. Until then, a missing route does not mean that a path is unmapped. */
  isRead = true;

  /** @throws Error for an invalid mapping, or two mappings of one path */
  constructor(mappings: readonly Mapping[], log: Log) {
    this.#log = log;
    for (const mapping of mappings) if (mapping.path !== CLUSTERS_PATH) this.add(mapping);
  }

  get all(): readonly Route[] {
    return this.#routes;
  }

  /** Returns the route that a raw path is below. */
  of(path: string): Route | undefined {
    return this.#routes.find(({ segments }) => isBelow(segments, path));
  }

  /** Adds a route. Disposing the result removes it at once and drains its requests. @throws Error as the constructor does */
  add(mapping: Mapping): AsyncDisposable {
    const route = new Route(mapping, this.#log);
    const shape = JSON.stringify(route.segments.map((segment) => segment ?? null));
    if (this.#routes.some(({ segments }) => JSON.stringify(segments.map((one) => one ?? null)) === shape)) {
      void route[Symbol.asyncDispose]();
      throw new Error(`mapping of ${mapping.path} already exists: remove it first`);
    }
    this.#routes = [...this.#routes, route].sort((a, b) => byDetail(a.segments, b.segments));
    return {
      [Symbol.asyncDispose]: async () => {
        this.#routes = this.#routes.filter((one) => one !== route);
        this.#leaving.add(route);
        await route.leave();
        this.#leaving.delete(route);
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const routes = [...this.#routes, ...this.#leaving];
    this.#routes = [];
    await Promise.all(routes.map((route) => route[Symbol.asyncDispose]()));
  }
}
