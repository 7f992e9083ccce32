import { isIP } from "node:net";
import { type ClusterProxy, clusterOf } from "@virtual-workspaces/kcp";
import { exportedKey, type Related } from "@virtual-workspaces/kcp/informers";
import { requestCredential, type SecretContent, type SecretProblem, secretAt } from "@virtual-workspaces/kcp/targets";
import type { UpstreamOptions } from "@virtual-workspaces/transport";
import { proxyKeyText } from "../protocol/proxy-key.ts";
import { API_TARGET, TLS_TARGET } from "../protocol/wire.ts";

/** How a remote cluster is asked through its agent. */
export interface Connection extends Pick<UpstreamOptions, "url" | "tls" | "credentials"> {
  /** To which of the agent's targets. */
  readonly target: string;
  /** Differs where anything of it does. In memory only: credentials are in it. */
  readonly text: string;
}

/** Why it cannot be asked. */
export type ConnectionProblem = Pick<SecretProblem, "isUnknown" | "message"> & { readonly reason: string };

/** The agent ends what it is sent. Nobody looks the name up: connections are through the tunnel. */
const BY_AGENT: Connection = { url: "http://agent.invalid", target: API_TARGET, text: "" };
/** A name that the certificates of API servers have in most clusters. */
const SERVER_NAME = "kubernetes.default.svc";

/** How remote clusters are asked: as their ClusterProxies say, and the Secrets that these name. */
export class Connections {
  readonly #secrets: Pick<Related, "reading" | "forget">;
  /** What was made of which content, so that the same stays the same. */
  readonly #made = new Map<string, Connection>();

  /** @param secrets of which who is told reads anew */
  constructor(secrets: Pick<Related, "reading" | "forget">) {
    this.#secrets = secrets;
  }

  /** @returns why it cannot be asked, where it cannot */
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

  /** A ClusterProxy is no more, or is asked otherwise. */
  forget(text: string): void {
    this.#secrets.forget(text);
    this.#made.delete(text);
  }
}

const MISSING =
  "spec.secretRef: the Secret has no credential, which tls EndToEnd needs: token, or tls.crt and tls.key, or kubeconfig";

function endToEnd(
  { server, ca, serverName }: SecretContent,
  credential: NonNullable<SecretContent["credential"]>,
): Connection {
  const said = server !== undefined && URL.canParse(server) ? new URL(server) : undefined;
  const name = serverName ?? (said === undefined ? SERVER_NAME : said.hostname.replace(/^\[|\]$/g, ""));
  const given = requestCredential(credential);
  return {
    // What follows the host of a kubeconfig is where its paths begin.
    url: `https://${isIP(name) === 6 ? `[${name}]` : name}${said?.pathname ?? ""}`,
    tls: { serverName: name, ...(ca !== undefined && { ca }) },
    credentials: { get: () => given },
    target: TLS_TARGET,
    text: JSON.stringify([name, said?.pathname, ca, credential]),
  };
}
