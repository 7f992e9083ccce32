import { ApiError, isApiError, statusFrom } from "@virtual-workspaces/apimachinery";
import { Client, type LoadedKubeconfig, loadKubeconfig } from "@virtual-workspaces/client";
import { impersonationHeaders } from "@virtual-workspaces/client/http";
import { type ReadinessCheck, readinessChecks } from "@virtual-workspaces/console/doctor";
import { Upstream } from "@virtual-workspaces/transport";
import type { Connection } from "../kubectl/connection.ts";
import { objectIn } from "../process/json-object.ts";
import type { Skipped, StepFailure } from "./steps.ts";

/** Time limit of one request, ms. */
const PATIENCE = 15_000;

interface Sent {
  readonly method?: string;
  readonly body?: object;
}

/** Answer of `/readyz?verbose`. */
export interface Readiness {
  readonly status: number;
  /** Checks with their reasons, which most servers withhold. */
  readonly checks: readonly ReadinessCheck[];
}

/** The examined URL, and the user who sends the requests. */
export class ExaminedServer implements AsyncDisposable {
  /** URL that kubectl uses, without a trailing slash. */
  readonly url: string;
  /** The server without the path. */
  readonly server: Upstream;
  /** Name of the user, once known. */
  user = "";
  /** Whether the server has workspaces, once known: the address of views alone has none. */
  hasWorkspaces = false;
  readonly #loaded: LoadedKubeconfig;
  readonly #timeout: number;

  private constructor(loaded: LoadedKubeconfig, timeout: number) {
    const { upstream, cluster } = loaded;
    this.#loaded = loaded;
    this.#timeout = timeout === 0 ? PATIENCE : timeout;
    this.url = cluster === undefined ? upstream.url : `${upstream.url}/clusters/${cluster}`;
    this.server = new Upstream({ ...upstream, url: new URL(upstream.url).origin });
  }

  /** Loads the kubeconfig. @throws KubeconfigError, Failure when it cannot be used */
  static async open({ file, context, overrides, timeout }: Connection): Promise<ExaminedServer> {
    return new ExaminedServer(await loadKubeconfig({ file, context, overrides }), timeout);
  }

  /** Workspace in the URL; `undefined` if the URL has none. */
  get workspace(): string | undefined {
    return /^\/clusters\/([^/]+)\/?$/.exec(this.path)?.[1]?.replaceAll(/%3a/gi, ":");
  }

  /** Path of the URL. */
  get path(): string {
    return new URL(this.url).pathname.replace(/\/+$/, "");
  }

  /** Time limit of a request. */
  get patience(): { readonly signal: AbortSignal } {
    return { signal: AbortSignal.timeout(this.#timeout) };
  }

  /** Whether requests are those of another user (`--as`). */
  get impersonates(): boolean {
    return this.#loaded.impersonate !== undefined;
  }

  /** Returns a client for a path of the server. */
  client(path: string = this.path): Client {
    const { impersonate } = this.#loaded;
    const [, below = "", cluster] = /^(.*)\/clusters\/([^/]+)$/.exec(path) ?? [];
    const as = impersonate === undefined ? {} : { impersonate };
    if (cluster === undefined)
      return new Client({ upstream: { ...this.#loaded.upstream, url: this.server.url + path }, ...as });
    return new Client({ upstream: this.server, ...as, cluster, ...(below !== "" && { path: below }) });
  }

  /**
   * Returns a client for a URL that a server has published: the same server if the origin matches, else the other host with
   * the same credentials. That host's certificate must be from the same authority.
   */
  clientAt(url: string): Client {
    const { origin, pathname } = new URL(url);
    if (origin === this.server.url) return this.client(pathname.replace(/\/+$/, ""));
    const { impersonate } = this.#loaded;
    return new Client({ upstream: { ...this.#loaded.upstream, url }, ...(impersonate && { impersonate }) });
  }

  /** Returns the bearer token, if the credentials have one. Doctor never prints it. */
  async token(): Promise<string | undefined> {
    const { headers = [] } = (await this.#loaded.upstream.credentials?.get()) ?? {};
    return headers.find((text) => text.startsWith("Bearer "))?.slice(7);
  }

  /** Returns the kind of the credentials; `undefined` for none. */
  async credentials(): Promise<"token" | "certificate" | undefined> {
    const { headers = [], cert } = (await this.#loaded.upstream.credentials?.get()) ?? {};
    if (headers.length > 0) return "token";
    return cert === undefined ? undefined : "certificate";
  }

  /** Returns the server's SelfSubjectReview as JSON. @throws as {@link ask} */
  review(path: string): Promise<string> {
    return this.ask(`${path}/apis/authentication.k8s.io/v1/selfsubjectreviews`, {
      method: "POST",
      body: { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" },
    });
  }

  /** Reads `/readyz?verbose`: its status, and its checks, if the server lists them. @throws TransportError */
  async readiness(): Promise<Readiness> {
    const { status, text } = await this.#answer("/readyz?verbose");
    return { status, checks: readinessChecks(text) };
  }

  /** Sends a request. @throws TransportError, ApiError when the status is not 2xx */
  async ask(path: string, sent: Sent = {}): Promise<string> {
    const { status, text } = await this.#answer(path, sent);
    if (status < 300) return text;
    const message = `${sent.method ?? "GET"} ${path}: answered ${status}`;
    throw new ApiError({ ...statusFrom(objectIn(text) ?? {}, { code: status, message }), code: status });
  }

  async #answer(
    path: string,
    { method = "GET", body }: Sent = {},
  ): Promise<{ readonly status: number; readonly text: string }> {
    const { impersonate } = this.#loaded;
    const as = impersonate === undefined ? [] : impersonationHeaders(impersonate);
    const type = body === undefined ? [] : ["Content-Type", "application/json"];
    const sent = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
    const answer = await this.server.send({
      ...{ method, path, headers: ["Accept", "application/json, text/plain", ...type, ...as], ...this.patience },
      ...(sent && { body: sent }),
    });
    return { status: answer.status, text: answer.body.toString("utf8") };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server[Symbol.asyncDispose]();
  }
}

/** Returns the result of a request, or turns an ApiError into a step's failure. @throws StepFailure, Skipped, TransportError */
export async function unless<T>(
  result: Promise<T>,
  fault: (error: ApiError) => StepFailure | Skipped | Promise<StepFailure | Skipped>,
): Promise<T> {
  try {
    return await result;
  } catch (error) {
    throw isApiError(error) ? await fault(error) : error;
  }
}
