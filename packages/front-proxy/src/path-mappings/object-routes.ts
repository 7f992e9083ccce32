import type { PathMapping } from "@virtual-workspaces/kcp";
import type { Routes } from "../forwarding/routes.ts";
import type { Mapping } from "../mapping/mapping.ts";
import { type Accepted, type Certificate, caOf, type Verdict } from "./judge.ts";

interface Added {
  readonly route: AsyncDisposable;
  readonly path: string;
  readonly text: string;
  /** Changed when the Secret changes: new connections show the new certificate, open ones stay. */
  readonly shown: { certificate: Certificate | undefined };
}

/** Routes of objects. When an object changes, its new route replaces the old one without a gap for requests. */
export class ObjectRoutes {
  readonly #routes: Routes;
  readonly #added = new Map<string, Added>();

  constructor(routes: Routes) {
    this.#routes = routes;
  }

  /** Static routes. */
  get others(): Routes["all"] {
    const own = new Set([...this.#added.values()].map(({ path }) => path));
    return this.#routes.all.filter(({ path }) => !own.has(path));
  }

  /** Sets all routes, by object name. */
  set(verdicts: ReadonlyMap<string, Verdict>): void {
    const isThere = (one: [string, Verdict]): one is [string, Accepted] => one[1].kind === "accepted";
    const accepted = new Map([...verdicts].filter(isThere));
    // Removes old routes first: their paths may now belong to other objects.
    for (const [name, added] of this.#added) {
      const next = accepted.get(name);
      if (next !== undefined && routeKey(next.spec) === added.text) continue;
      this.#added.delete(name);
      void added.route[Symbol.asyncDispose]();
    }
    for (const [name, verdict] of accepted) {
      const known = this.#added.get(name);
      if (known === undefined) this.#add(name, verdict);
      else known.shown.certificate = verdict.certificate;
    }
  }

  #add(name: string, { spec, certificate }: Accepted): void {
    const { path, backends, caBundle, secretRef } = spec;
    const shown = { certificate };
    const mapping: Mapping = {
      path,
      backends,
      ...(caBundle !== undefined && { tls: { ca: caOf(spec) } }),
      ...(secretRef !== undefined && { credentials: { get: () => shown.certificate ?? {} } }),
    };
    this.#added.set(name, { route: this.#routes.add(mapping), path, text: routeKey(spec), shown });
  }
}

/** Identifies all settings of a route. */
function routeKey({ path, backends, caBundle, secretRef }: PathMapping["spec"]): string {
  return JSON.stringify([path, backends, caBundle, secretRef]);
}
