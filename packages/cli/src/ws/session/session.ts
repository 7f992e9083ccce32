import { homedir } from "node:os";
import { Client, type ClientOptions, type LoadedKubeconfig, loadKubeconfig } from "@virtual-workspaces/client";
import { impersonationHeaders } from "@virtual-workspaces/client/http";
import { Upstream } from "@virtual-workspaces/transport";
import type { Connection } from "../../kubectl/connection.ts";
import { Kubeconfig } from "../../kubectl/kubeconfig.ts";
import { Failure } from "../../process/failure.ts";
import { formatWorkspaceUrl, parseDestination, parseWorkspaceUrl, resolvePath, type WorkspaceUrl } from "./path.ts";

/** State of one command: the kubeconfigs, and a client of the server. */
export class Session implements AsyncDisposable {
  readonly kubeconfig: Kubeconfig;
  /** URL that kubectl would use with these flags. */
  readonly url: string;
  /** Home directory of the user. */
  readonly home: string = process.env["HOME"] ?? homedir();
  readonly #loaded: LoadedKubeconfig;
  readonly #timeout: number;
  #upstream: Upstream | undefined;

  private constructor(kubeconfig: Kubeconfig, loaded: LoadedKubeconfig, timeout: number) {
    const { upstream, cluster } = loaded;
    this.kubeconfig = kubeconfig;
    this.url = cluster === undefined ? upstream.url : formatWorkspaceUrl({ base: upstream.url, path: cluster });
    this.#loaded = loaded;
    this.#timeout = timeout;
  }

  /** Loads the kubeconfigs. @throws Failure, KubeconfigError when they cannot be used */
  static async open({ file, context, overrides, timeout }: Connection): Promise<Session> {
    const kubeconfig = Kubeconfig.read(file, context);
    const { contents } = kubeconfig;
    return new Session(kubeconfig, await loadKubeconfig({ file, contents, context, overrides }), timeout);
  }

  /** Current workspace. @throws Failure when the URL is not that of a workspace */
  get place(): WorkspaceUrl {
    const place = parseWorkspaceUrl(this.url);
    if (place === undefined) throw new Failure(`current URL ${JSON.stringify(this.url)} does not point to a workspace`);
    return place;
  }

  /** Default namespace. */
  get namespace(): string {
    return this.#loaded.namespace;
  }

  /** Returns a client of a workspace on this server. */
  client(path: string): Client {
    return new Client({ upstream: this.upstream, ...this.as, cluster: path, fieldManager: "kubectl-ws" });
  }

  /** Impersonation of the clients. */
  get as(): Pick<ClientOptions, "impersonate"> {
    const { impersonate } = this.#loaded;
    return impersonate === undefined ? {} : { impersonate };
  }

  /** The server without a path, even if the URL is that of a view. */
  get upstream(): Upstream {
    this.#upstream ??= new Upstream({ ...this.#loaded.upstream, url: this.place.base.replace(/\/services\/.*$/, "") });
    return this.#upstream;
  }

  /** Impersonation headers and timeout of a request. */
  get calling(): { readonly headers: readonly string[]; readonly signal?: AbortSignal } {
    const { impersonate } = this.#loaded;
    return { headers: impersonate === undefined ? [] : impersonationHeaders(impersonate), ...this.patience };
  }

  /** Timeout of a request. */
  get patience(): { readonly signal?: AbortSignal } {
    return this.#timeout === 0 ? {} : { signal: AbortSignal.timeout(this.#timeout) };
  }

  /** Returns the workspace in `-w`, which may be relative to the current one. @throws Failure, UsageError */
  pathOf(word: string | undefined): string {
    const { base, path } = this.place;
    if (word === undefined) return path;
    const wanted = parseDestination(word, { base, home: "" });
    if (wanted.to === "relative") return resolvePath(wanted.path, path, word);
    return wanted.to === "absolute" ? resolvePath(wanted.path, "", word) : resolvePath(word, path, word);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#upstream?.[Symbol.asyncDispose]();
  }
}
