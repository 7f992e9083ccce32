import type { Log } from "@virtual-workspaces/framework/server";
import { CLUSTERS_PATH, type Mapping } from "../mapping/mapping.ts";
import { byDetail, isBelow } from "../mapping/route-path.ts";
import { Route } from "./route.ts";

/** The servers behind all paths but `/clusters/`, and which of them a request is for. */
export class Routes implements AsyncDisposable {
  readonly #log: Log;
  /** What says more comes first. */
  #routes: readonly Route[] = [];
  readonly #leaving = new Set<Route>();
  /** Whether all that there are have been read: otherwise nobody can say that nothing is behind a path. */
  isRead = true;

  /** @throws Error on a mapping that cannot be used, or two of one path */
  constructor(mappings: readonly Mapping[], log: Log) {
    this.#log = log;
    for (const mapping of mappings) if (mapping.path !== CLUSTERS_PATH) this.add(mapping);
  }

  get all(): readonly Route[] {
    return this.#routes;
  }

  /** The one that a path, as it came, is below. */
  of(path: string): Route | undefined {
    return this.#routes.find(({ segments }) => isBelow(segments, path));
  }

  /** Another one from now on. What it returns takes it away again at once, and lets what is under way there finish. @throws Error as the constructor does */
  add(mapping: Mapping): AsyncDisposable {
    const route = new Route(mapping, this.#log);
    const shape = JSON.stringify(route.segments.map((segment) => segment ?? null));
    if (this.#routes.some(({ segments }) => JSON.stringify(segments.map((one) => one ?? null)) === shape)) {
      void route[Symbol.asyncDispose]();
      throw new Error(`there is a mapping of ${mapping.path} already: take that away first`);
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
