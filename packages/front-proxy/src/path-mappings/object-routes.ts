import type { PathMapping } from "@virtual-workspaces/kcp";
import type { Routes } from "../forwarding/routes.ts";
import type { Mapping } from "../mapping/mapping.ts";
import { type Accepted, type Certificate, caOf, type Verdict } from "./judge.ts";

interface Added {
  readonly route: AsyncDisposable;
  readonly path: string;
  readonly text: string;
  /** Another one is shown by the next connection; what is open goes on. */
  readonly shown: { certificate: Certificate | undefined };
}

/** The routes that objects have: of one that has changed the old one goes as the new one comes, and no request falls between them. */
export class ObjectRoutes {
  readonly #routes: Routes;
  readonly #added = new Map<string, Added>();

  constructor(routes: Routes) {
    this.#routes = routes;
  }

  /** Those that were mapped otherwise. */
  get others(): Routes["all"] {
    const own = new Set([...this.#added.values()].map(({ path }) => path));
    return this.#routes.all.filter(({ path }) => !own.has(path));
  }

  /** All that there are to be, by name. */
  set(verdicts: ReadonlyMap<string, Verdict>): void {
    const isThere = (one: [string, Verdict]): one is [string, Accepted] => one[1].kind === "accepted";
    const accepted = new Map([...verdicts].filter(isThere));
    // First all that go: their paths may be those of others now.
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

/** All that a route is made of. */
function routeKey({ path, backends, caBundle, secretRef }: PathMapping["spec"]): string {
  return JSON.stringify([path, backends, caBundle, secretRef]);
}
