import { isJsonObject } from "@virtual-workspaces/apimachinery";
import { loadKubeconfig } from "@virtual-workspaces/client";
import type { NamedHub } from "@virtual-workspaces/cluster-proxy";
import type { KeyPair } from "@virtual-workspaces/framework/tls";
import { authoritiesIn, type UpstreamOptions } from "@virtual-workspaces/transport";
import { KubeconfigFile } from "../kubectl/kubeconfig-file.ts";
import { Failure } from "../process/failure.ts";

/** Name prefix of the clusters in the file that are other hubs. */
const OTHER = "hub-";

/** A hub, and the agent's credential there: a token or a certificate. */
export interface HubAccess {
  readonly hub: Pick<UpstreamOptions, "url" | "tls">;
  readonly token: string | undefined;
  readonly certificate: KeyPair | undefined;
}

/** Reads a file that `agent token` printed or the agent wrote. @throws Failure */
export async function readHub(file: string): Promise<HubAccess> {
  const { upstream } = await loadKubeconfig({ file }).catch((cause: unknown) => {
    throw new Failure(cause instanceof Error ? cause.message : String(cause), { cause });
  });
  const { url, tls, credentials } = upstream;
  const { headers = [], cert, key } = (await credentials?.get()) ?? {};
  const [, said = ""] = headers;
  return {
    hub: { url, ...(tls && { tls }) },
    token: said.startsWith("Bearer ") ? said.slice(7) : undefined,
    certificate: cert !== undefined && key !== undefined ? { cert, key } : undefined,
  };
}

/** Returns the other hubs that the agent's file lists. @throws Failure */
export function namedHubs(file: string, text: string): readonly NamedHub[] {
  const kubeconfig = new KubeconfigFile(file, text);
  const clusters = kubeconfig.content["clusters"];
  return (Array.isArray(clusters) ? clusters : []).flatMap((one) => {
    const name = isJsonObject(one) && typeof one["name"] === "string" ? one["name"] : "";
    const { server, "certificate-authority-data": ca } = kubeconfig.entry("clusters", name) ?? {};
    if (!name.startsWith(OTHER) || typeof server !== "string") return [];
    return [{ id: name.slice(OTHER.length), url: server, ...(typeof ca === "string" && { ca: plain(ca) }) }];
  });
}

/** Returns a kubeconfig for a hub. The other hubs become further contexts. */
export function hubKubeconfig({ hub, token, certificate }: HubAccess, others: readonly NamedHub[] = []): string {
  const { url, tls: { ca, serverName } = {} } = hub;
  const user = {
    ...(token !== undefined && { token }),
    ...(certificate && {
      "client-certificate-data": base64(certificate.cert),
      "client-key-data": base64(certificate.key),
    }),
  };
  const clusters = [
    { name: "hub", cluster: clusterOf({ url, ca: ca && authoritiesIn(ca).join("\n"), serverName }) },
    ...others.map((other) => ({ name: `${OTHER}${other.id}`, cluster: clusterOf(other) })),
  ];
  const content = {
    ...{ apiVersion: "v1", kind: "Config", "current-context": "hub" },
    clusters,
    users: [{ name: "agent", user }],
    contexts: clusters.map(({ name }) => ({ name, context: { cluster: name, user: "agent" } })),
  };
  return `${JSON.stringify(content, undefined, 2)}\n`;
}

interface Reached {
  readonly url: string;
  readonly ca?: string | undefined;
  readonly serverName?: string | undefined;
}

const clusterOf = ({ url, ca, serverName }: Reached) => ({
  server: url,
  ...(ca !== undefined && { "certificate-authority-data": base64(ca) }),
  ...(serverName !== undefined && { "tls-server-name": serverName }),
});

const base64 = (text: string): string => Buffer.from(text).toString("base64");
const plain = (text: string): string => Buffer.from(text, "base64").toString();
