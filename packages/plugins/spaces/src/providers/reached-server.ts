import { createHash } from "node:crypto";
import {
  requestCredential,
  SecretFault,
  type SecretKubeconfig,
  secretKubeconfig,
} from "@virtual-workspaces/kcp/targets";
import { isTransportError, Upstream } from "@virtual-workspaces/transport";

/** How much of an answer is read that nobody looks at, bytes. */
const LIMIT = 1024 * 1024;

/** A server that a kubeconfig leads to, which is asked whether it is ready. Nothing in the kubeconfig is run, and no file that it names is read. */
export class ReachedServer implements AsyncDisposable {
  /** What the kubeconfig says, and nothing else that is in it. Secret. */
  readonly kubeconfig: string;
  /** Changes with what it says. */
  readonly version: string;
  /** Which server it is: another one has other authorities. */
  readonly id: string;
  readonly #upstream: Upstream;
  readonly #workspace: string;
  #isKnown = false;

  private constructor(name: string, said: SecretKubeconfig) {
    const { server, ca, serverName, credential } = said;
    this.kubeconfig = kubeconfigText(name, said);
    this.version = digestOf(this.kubeconfig);
    this.id = digestOf(ca ?? server);
    const host = hostOf(server);
    this.#workspace = server.slice(host.length).replace(/\/+$/, "");
    const shown = credential === undefined ? undefined : requestCredential(credential);
    this.#upstream = new Upstream({
      url: host,
      tls: { ...(ca !== undefined && { ca }), ...(serverName !== undefined && { serverName }) },
      ...(shown !== undefined && { credentials: { get: () => shown } }),
    });
  }

  /** @param name of its context @throws SecretFault on a kubeconfig that is not taken */
  static by(kubeconfig: string, name: string): ReachedServer {
    const said = secretKubeconfig(kubeconfig);
    try {
      return new ReachedServer(name, said);
    } catch {
      throw new SecretFault("kubeconfig: the server's URL, or its certificate authority, cannot be used");
    }
  }

  /**
   * Why it is not ready; `undefined`: it is.
   *
   * @param within how long it may take to answer, ms
   */
  async problem(within: number, signal: AbortSignal): Promise<string | undefined> {
    try {
      const ready = await this.#status("/readyz", within, signal);
      if (ready !== 200) return `its server answers ${ready} to /readyz`;
      // One that has been started again at the same address has other tokens.
      this.#isKnown ||= (await this.#status(`${this.#workspace}/version`, within, signal)) !== 401;
      return this.#isKnown ? undefined : "its server does not know the user of its kubeconfig";
    } catch (error) {
      signal.throwIfAborted();
      if (!isTransportError(error)) throw error;
      return error.code === "timeout"
        ? `its server does not answer /readyz within ${within / 1000} s`
        : `its server cannot be reached: ${error.message}`;
    }
  }

  async #status(path: string, within: number, signal: AbortSignal): Promise<number> {
    const deadlines = { head: within, idle: within };
    return (await this.#upstream.send({ path, signal, deadlines, limit: LIMIT })).status;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#upstream[Symbol.asyncDispose]();
  }
}

/** What one kubeconfig says of one server. */
type KubeconfigParts = { readonly [Part in keyof SecretKubeconfig]: SecretKubeconfig[Part] | undefined };

/** A kubeconfig with one context, of what one kubeconfig says of one server: nothing else of it is in there. Secret. */
export function kubeconfigText(name: string, { server, ca, serverName, credential = {} }: KubeconfigParts): string {
  const { token, basic, cert, key } = credential;
  const at = basic?.indexOf(":") ?? -1;
  const cluster = {
    server,
    ...(ca !== undefined && { "certificate-authority-data": base64(ca) }),
    ...(serverName !== undefined && { "tls-server-name": serverName }),
  };
  const user = {
    ...(token !== undefined && { token }),
    ...(basic !== undefined && { username: basic.slice(0, at), password: basic.slice(at + 1) }),
    ...(cert !== undefined && { "client-certificate-data": base64(cert) }),
    ...(key !== undefined && { "client-key-data": base64(key) }),
  };
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    "current-context": name,
    clusters: [{ name, cluster }],
    users: [{ name, user }],
    contexts: [{ name, context: { cluster: name, user: name } }],
  });
}

/** A server's URL without the workspace that it leads to. */
export function hostOf(server: string): string {
  const at = server.indexOf("/clusters/");
  return (at < 0 ? server : server.slice(0, at)).replace(/\/+$/, "");
}

/** By which two texts are told apart. */
export const digestOf = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 32);

const base64 = (text: string): string => Buffer.from(text).toString("base64");
