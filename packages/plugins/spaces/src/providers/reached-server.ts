import { createHash } from "node:crypto";
import {
  requestCredential,
  SecretFault,
  type SecretKubeconfig,
  secretKubeconfig,
} from "@virtual-workspaces/kcp/targets";
import { isTransportError, Upstream } from "@virtual-workspaces/transport";

/** Maximum length of a response body that is discarded, bytes. */
const LIMIT = 1024 * 1024;

/** Server of a kubeconfig, with a readiness check. Security: the kubeconfig cannot run programs or read files. */
export class ReachedServer implements AsyncDisposable {
  /** Kubeconfig reduced to the parts in use. Security: it contains credentials. */
  readonly kubeconfig: string;
  /** Digest of the kubeconfig. */
  readonly version: string;
  /** Identifier of the server, which changes with its certificate authority. */
  readonly id: string;
  readonly #upstream: Upstream;
  readonly #workspace: string;

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

  /** @param name name of the context @throws SecretFault on a kubeconfig that is rejected */
  static by(kubeconfig: string, name: string): ReachedServer {
    const said = secretKubeconfig(kubeconfig);
    try {
      return new ReachedServer(name, said);
    } catch {
      throw new SecretFault("kubeconfig: invalid server URL or certificate authority");
    }
  }

  /**
   * Returns the reason why the server is not ready, or `undefined` if it is ready.
   *
   * @param within time limit, ms
   */
  async problem(within: number, signal: AbortSignal): Promise<string | undefined> {
    try {
      const ready = await this.#status("/readyz", within, signal);
      if (ready !== 200) return `the server responds to /readyz with ${ready}`;
      // A server rejects credentials that were replaced, and those from before it was created again at the same address.
      const isRejected = (await this.#status(`${this.#workspace}/version`, within, signal)) === 401;
      return isRejected ? "the server rejects the credential of its kubeconfig" : undefined;
    } catch (error) {
      signal.throwIfAborted();
      if (!isTransportError(error)) throw error;
      return error.code === "timeout"
        ? `the server did not respond to /readyz within ${within / 1000} s`
        : `cannot connect to the server: ${error.message}`;
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

/** Parts of a kubeconfig about one server. */
type KubeconfigParts = { readonly [Part in keyof SecretKubeconfig]: SecretKubeconfig[Part] | undefined };

/** Returns a kubeconfig with one context and only the given parts. Security: it contains credentials. */
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

/** Returns a server URL without the path of its workspace. */
export function hostOf(server: string): string {
  const at = server.indexOf("/clusters/");
  return (at < 0 ? server : server.slice(0, at)).replace(/\/+$/, "");
}

/** Returns a digest to compare two texts. */
export const digestOf = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 32);

const base64 = (text: string): string => Buffer.from(text).toString("base64");
