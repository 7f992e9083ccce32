import { homedir } from "node:os";
import { Client, type ClientOptions, type LoadedKubeconfig, loadKubeconfig } from "@virtual-workspaces/client";
import { impersonationHeaders } from "@virtual-workspaces/client/http";
import { Upstream } from "@virtual-workspaces/transport";
import type { Connection } from "../../kubectl/connection.ts";
import { Kubeconfig } from "../../kubectl/kubeconfig.ts";
import { Failure } from "../../process/failure.ts";
import { formatWorkspaceUrl, parseDestination, parseWorkspaceUrl, resolvePath, type WorkspaceUrl } from "./path.ts";

/** One run of a command: what the kubeconfigs say, and a client of that server. */
export class Session implements AsyncDisposable {
  readonly kubeconfig: Kubeconfig;
  /** Where kubectl would ask, with these flags. */
  readonly url: string;
  /** The user's folder. */
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

  /** @throws Failure, KubeconfigError on a kubeconfig that cannot be used */
  static async open({ file, context, overrides, timeout }: Connection): Promise<Session> {
    const kubeconfig = Kubeconfig.read(file, context);
    const { contents } = kubeconfig;
    return new Session(kubeconfig, await loadKubeconfig({ file, contents, context, overrides }), timeout);
  }

  /** Where one is. @throws Failure where that is no workspace */
  get place(): WorkspaceUrl {
    const place = parseWorkspaceUrl(this.url);
    if (place === undefined) throw new Failure(`current URL ${JSON.stringify(this.url)} does not point to a workspace`);
    return place;
  }

  /** In which namespace objects are, where none is said. */
  get namespace(): string {
    return this.#loaded.namespace;
  }

  /** A client of a workspace of this server. */
  client(path: string): Client {
    return new Client({ upstream: this.upstream, ...this.as, cluster: path, fieldManager: "kubectl-ws" });
  }

  /** As whom a client asks. */
  get as(): Pick<ClientOptions, "impersonate"> {
    const { impersonate } = this.#loaded;
    return impersonate === undefined ? {} : { impersonate };
  }

  /** The whole server, also where the URL is that of a view. */
  get upstream(): Upstream {
    this.#upstream ??= new Upstream({ ...this.#loaded.upstream, url: this.place.base.replace(/\/services\/.*$/, "") });
    return this.#upstream;
  }

  /** What a request of one's own needs: as whom, and until when. */
  get calling(): { readonly headers: readonly string[]; readonly signal?: AbortSignal } {
    const { impersonate } = this.#loaded;
    return { headers: impersonate === undefined ? [] : impersonationHeaders(impersonate), ...this.patience };
  }

  /** How long a request may take. */
  get patience(): { readonly signal?: AbortSignal } {
    return this.#timeout === 0 ? {} : { signal: AbortSignal.timeout(this.#timeout) };
  }

  /** The workspace that `-w` means: absolute, or from where one is. @throws Failure, UsageError */
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
