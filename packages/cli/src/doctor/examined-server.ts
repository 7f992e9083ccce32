import { ApiError, isApiError, isJsonObject, type JsonObject, statusFrom } from "@virtual-workspaces/apimachinery";
import { parseOwnJson } from "@virtual-workspaces/apimachinery/json";
import { Client, type LoadedKubeconfig, loadKubeconfig } from "@virtual-workspaces/client";
import { impersonationHeaders } from "@virtual-workspaces/client/http";
import { Upstream } from "@virtual-workspaces/transport";
import type { Connection } from "../kubectl/connection.ts";
import type { StepFailure } from "./steps.ts";

/** How long one request may take, ms. */
const PATIENCE = 15_000;

/** What is examined: a URL, and whoever asks there. */
export class ExaminedServer implements AsyncDisposable {
  /** As kubectl would ask it, without a slash at its end. */
  readonly url: string;
  /** The whole server. */
  readonly server: Upstream;
  /** The name of the user, once it is known. */
  user = "";
  readonly #loaded: LoadedKubeconfig;
  readonly #timeout: number;

  private constructor(loaded: LoadedKubeconfig, timeout: number) {
    const { upstream, cluster } = loaded;
    this.#loaded = loaded;
    this.#timeout = timeout === 0 ? PATIENCE : timeout;
    this.url = cluster === undefined ? upstream.url : `${upstream.url}/clusters/${cluster}`;
    this.server = new Upstream({ ...upstream, url: new URL(upstream.url).origin });
  }

  /** @throws KubeconfigError, Failure on a kubeconfig that cannot be used */
  static async open({ file, context, overrides, timeout }: Connection): Promise<ExaminedServer> {
    return new ExaminedServer(await loadKubeconfig({ file, context, overrides }), timeout);
  }

  /** The workspace that the URL leads to; `undefined` if it leads elsewhere. */
  get workspace(): string | undefined {
    return /^\/clusters\/([^/]+)\/?$/.exec(this.path)?.[1]?.replaceAll(/%3a/gi, ":");
  }

  /** What the URL has behind the server. */
  get path(): string {
    return new URL(this.url).pathname.replace(/\/+$/, "");
  }

  /** How long a request may take. */
  get patience(): { readonly signal: AbortSignal } {
    return { signal: AbortSignal.timeout(this.#timeout) };
  }

  /** A client of a workspace, by what its URL has behind the server. */
  client(path: string = this.path): Client {
    const { impersonate } = this.#loaded;
    const [, below = "", cluster] = /^(.*)\/clusters\/([^/]+)$/.exec(path) ?? [];
    const as = impersonate === undefined ? {} : { impersonate };
    if (cluster === undefined)
      return new Client({ upstream: { ...this.#loaded.upstream, url: this.server.url + path }, ...as });
    return new Client({ upstream: this.server, ...as, cluster, ...(below !== "" && { path: below }) });
  }

  /**
   * A client of a URL that a server has published: at the server itself, if it is there, and else with the same credentials at that host, whose
   * certificate has to be from the same authority.
   */
  clientAt(url: string): Client {
    const { origin, pathname } = new URL(url);
    if (origin === this.server.url) return this.client(pathname.replace(/\/+$/, ""));
    const { impersonate } = this.#loaded;
    return new Client({ upstream: { ...this.#loaded.upstream, url }, ...(impersonate && { impersonate }) });
  }

  /** The token that is shown, if it is one; it is never printed. */
  async token(): Promise<string | undefined> {
    const { headers = [] } = (await this.#loaded.upstream.credentials?.get()) ?? {};
    return headers.find((text) => text.startsWith("Bearer "))?.slice(7);
  }

  /** What is said there of who asks, as JSON. @throws as {@link ask} */
  review(path: string): Promise<string> {
    return this.ask(`${path}/apis/authentication.k8s.io/v1/selfsubjectreviews`, {
      method: "POST",
      body: { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" },
    });
  }

  /** A request of one's own. @throws TransportError, ApiError on any other answer than 2xx */
  async ask(
    path: string,
    { method = "GET", body }: { readonly method?: string; readonly body?: object } = {},
  ): Promise<string> {
    const { impersonate } = this.#loaded;
    const as = impersonate === undefined ? [] : impersonationHeaders(impersonate);
    const type = body === undefined ? [] : ["Content-Type", "application/json"];
    const sent = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
    const answer = await this.server.send({
      ...{ method, path, headers: ["Accept", "application/json, text/plain", ...type, ...as], ...this.patience },
      ...(sent && { body: sent }),
    });
    const text = answer.body.toString("utf8");
    if (answer.status < 300) return text;
    const message = `${method} ${path}: answered ${answer.status}`;
    throw new ApiError({ ...statusFrom(objectIn(text) ?? {}, { code: answer.status, message }), code: answer.status });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server[Symbol.asyncDispose]();
  }
}

/** An object in JSON. */
export function objectIn(text: string): JsonObject | undefined {
  try {
    const value = parseOwnJson(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** What comes of a request, or `fault` of what it is answered. @throws Fault, and what is no answer */
export async function unless<T>(asked: Promise<T>, fault: (error: ApiError) => StepFailure): Promise<T> {
  try {
    return await asked;
  } catch (error) {
    throw isApiError(error) ? fault(error) : error;
  }
}
