import { createHash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { isApiError } from "@virtual-workspaces/apimachinery";
import { REMOTE_HEADERS } from "@virtual-workspaces/client/http";
import type { RawRequest } from "@virtual-workspaces/framework";
import { deriveRequest } from "@virtual-workspaces/framework/request";
import type { Log } from "@virtual-workspaces/framework/server";
import type { Mapping } from "../mapping/mapping.ts";
import { clusterAt, parseRoutePath, type RoutePath } from "../mapping/route-path.ts";
import { Backend } from "./backend.ts";
import { TargetServer } from "./target-server.ts";

/** Time that pending requests may take on a removed path, ms: enough for short requests. */
const GRACE = 60_000;
const BODILESS: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

type Request = RawRequest<unknown>;

/** Mapped path with its backends. */
export class Route implements AsyncDisposable {
  readonly path: string;
  readonly segments: RoutePath;
  readonly #clusterAt: number | undefined;
  readonly #backends: readonly Backend[];
  readonly #underWay = new UnderWay();
  readonly #leaving = new AbortController();

  /** @throws Error for an invalid path or backends */
  constructor({ path, backends, tls, credentials, headers = REMOTE_HEADERS }: Mapping, log: Log) {
    const segments = parseRoutePath(path);
    if (typeof segments === "string") throw new Error(`mapping of ${path}: ${segments}`);
    if (backends.length === 0) throw new Error(`mapping of ${path}: set at least one backend`);
    this.path = path;
    this.segments = segments;
    this.#clusterAt = clusterAt(path);
    this.#backends = backends.map((url) => {
      const onError = (error: unknown): void =>
        log({ level: "warn", message: "cannot forward to a backend", path, url, error: String(error) });
      const upstream = { url, ...(tls && { tls }), ...(credentials && { credentials }) };
      const server = new TargetServer({ upstream, headers, what: `the server behind ${path}`, onError });
      return new Backend(server, { isAlone: backends.length === 1, log, path });
    });
  }

  /** Readiness of each of several backends, by URL. */
  get states(): readonly { readonly url: string; readonly isReady: boolean }[] {
    return this.#backends.map(({ server, isReady }) => ({ url: server.unknown.url, isReady }));
  }

  /** Returns the raw segment at `{cluster}` in a path below this one. */
  clusterIn(path: string): string | undefined {
    return this.#clusterAt === undefined ? undefined : path.split("/", this.#clusterAt + 2)[this.#clusterAt + 1];
  }

  /** Forwards a request. GET, HEAD and OPTIONS try the next backend if one is unreachable. @throws ApiError as `proxy` does */
  handle(req: IncomingMessage, res: ServerResponse, request: Request): Promise<void> {
    return this.#underWay.run(() => this.#handle(req, res, this.#ending(request)));
  }

  /** @throws ApiError as `proxy` does */
  upgrade(req: IncomingMessage, socket: Duplex, request: Request & { readonly head: Buffer }): Promise<void> {
    const [first] = this.#inOrder(request);
    return this.#underWay.run(() => (first as Backend).server.upgrade(req, socket, request));
  }

  /** Drains the route: requests may finish within a minute; watches end after an event, so that their clients resume elsewhere. */
  async leave(): Promise<void> {
    this.#leaving.abort();
    await this.#underWay.over(GRACE);
    await this[Symbol.asyncDispose]();
  }

  /** Aborts pending requests. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#backends.map((backend) => backend[Symbol.asyncDispose]()));
  }

  async #handle(req: IncomingMessage, res: ServerResponse, request: Request): Promise<void> {
    const [first, ...others] = this.#inOrder(request);
    const next = BODILESS.has(req.method ?? "") ? others : [];
    for (let backend = first as Backend; ; ) {
      try {
        return await backend.server.handle(req, res, request);
      } catch (error) {
        if (!isApiError(error) || error.code !== 503) throw error;
        backend.failed();
        const other = next.shift();
        if (other === undefined || res.headersSent) throw error;
        backend = other;
      }
    }
  }

  /** Makes the request end when this route drains, too. Creates the combined signal only on access. */
  #ending(request: Request): Request {
    const ending = (): AbortSignal => AbortSignal.any([request.ending, this.#leaving.signal]);
    return deriveRequest(request, {
      get ending() {
        return ending();
      },
    });
  }

  /**
   * Returns the ready backends first, and among them the caller's usual one (rendezvous hashing by user). Resource versions
   * of a view may be known only to the server that issued them, so a resumed watch must reach the same one.
   */
  #inOrder({ user }: Request): readonly Backend[] {
    if (this.#backends.length === 1) return this.#backends;
    const weight = (backend: Backend): string =>
      createHash("sha1").update(user.name).update("\0").update(backend.server.unknown.url).digest("hex");
    const weighed = this.#backends.map((backend) => ({ backend, weight: weight(backend) }));
    weighed.sort((a, b) => Number(b.backend.isReady) - Number(a.backend.isReady) || (a.weight < b.weight ? -1 : 1));
    return weighed.map(({ backend }) => backend);
  }
}

/** Counts pending work, for a caller that waits until it is done. */
class UnderWay {
  #count = 0;
  #over: (() => void) | undefined;

  /** Runs and counts work. @throws the error of the work */
  async run(work: () => Promise<void>): Promise<void> {
    this.#count += 1;
    try {
      await work();
    } finally {
      this.#count -= 1;
      if (this.#count === 0) this.#over?.();
    }
  }

  /** Resolves when no work is pending, or after `most` ms. May be called once. */
  async over(most: number): Promise<void> {
    if (this.#count === 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#over = resolve;
    const timer = setTimeout(resolve, most);
    await promise;
    clearTimeout(timer);
  }
}
