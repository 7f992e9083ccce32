import { isIP } from "node:net";
import { type ClusterProxy, clusterOf } from "@virtual-workspaces/kcp";
import { exportedKey, type Related } from "@virtual-workspaces/kcp/informers";
import { requestCredential, type SecretContent, type SecretProblem, secretAt } from "@virtual-workspaces/kcp/targets";
import type { UpstreamOptions } from "@virtual-workspaces/transport";
import { proxyKeyText } from "../protocol/proxy-key.ts";
import { API_TARGET, TLS_TARGET } from "../protocol/wire.ts";

/** Connection settings for a remote cluster through its agent. */
export interface Connection extends Pick<UpstreamOptions, "url" | "tls" | "credentials"> {
  /** Target of the agent. */
  readonly target: string;
  /** Key of all settings. Security: it contains credentials and stays in memory. */
  readonly text: string;
}

/** Reason why there are no connection settings. */
export type ConnectionProblem = Pick<SecretProblem, "isUnknown" | "message"> & { readonly reason: string };

/** The agent terminates the requests. The name is not resolved, since connections use the tunnel. */
const BY_AGENT: Connection = { url: "http://agent.invalid", target: API_TARGET, text: "" };
/** Name in the API server certificates of most clusters. */
const SERVER_NAME = "kubernetes.default.svc";

/** Connection settings of remote clusters, from their ClusterProxies and Secrets. */
export class Connections {
  readonly #secrets: Pick<Related, "reading" | "forget">;
  /** Settings by content, so that equal contents give the same object. */
  readonly #made = new Map<string, Connection>();

  /** @param secrets cache that reports changes of its Secrets */
  constructor(secrets: Pick<Related, "reading" | "forget">) {
    this.#secrets = secrets;
  }

  /** @returns the problem if there are no valid settings */
  of(proxy: ClusterProxy): Connection | ConnectionProblem {
    const { tls, secretRef, serverName } = proxy.spec ?? {};
    const text = proxyKeyText(exportedKey(proxy));
    if (tls !== "EndToEnd" || secretRef === undefined) {
      this.forget(text);
      return BY_AGENT;
    }
    const at = { cluster: clusterOf(proxy), ...secretRef, field: "spec.secretRef" };
    const content = this.#secrets.reading(text, (related) => secretAt(at, related));
    if ("reason" in content) return content;
    if (content.credential === undefined) return { isUnknown: false, reason: "CredentialMissing", message: MISSING };
    const found = endToEnd({ ...content, ...(serverName !== undefined && { serverName }) }, content.credential);
    const before = this.#made.get(text);
    if (before?.text === found.text) return before;
    this.#made.set(text, found);
    return found;
  }

  /** Forgets the settings of a deleted or changed ClusterProxy. */
  forget(text: string): void {
    this.#secrets.forget(text);
    this.#made.delete(text);
  }
}

const MISSING =
  "spec.secretRef: the Secret has no credential: tls EndToEnd needs token, or tls.crt and tls.key, or kubeconfig";

function endToEnd(
  { server, ca, serverName }: SecretContent,
  credential: NonNullable<SecretContent["credential"]>,
): Connection {
  const said = server !== undefined && URL.canParse(server) ? new URL(server) : undefined;
  const name = serverName ?? (said === undefined ? SERVER_NAME : said.hostname.replace(/^\[|\]$/g, ""));
  const given = requestCredential(credential);
  return {
    // The path of a kubeconfig's server is a prefix of all paths.
    url: `https://${isIP(name) === 6 ? `[${name}]` : name}${said?.pathname ?? ""}`,
    tls: { serverName: name, ...(ca !== undefined && { ca }) },
    credentials: { get: () => given },
    target: TLS_TARGET,
    text: JSON.stringify([name, said?.pathname, ca, credential]),
  };
}
