import { loadKubeconfig } from "@virtual-workspaces/client";
import type { KeyPair } from "@virtual-workspaces/framework";
import type { UpstreamOptions } from "@virtual-workspaces/transport";
import { Failure } from "../usage.ts";

/** A hub, and who somebody is there: a token, or a certificate. */
export interface HubAccess {
  readonly hub: Pick<UpstreamOptions, "url" | "tls">;
  readonly token: string | undefined;
  readonly certificate: KeyPair | undefined;
}

/** Reads what `agent token` has printed, or the agent has kept. @throws Failure */
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

/** A kubeconfig for a hub. */
export function hubKubeconfig({ hub, token, certificate }: HubAccess): string {
  const { ca, serverName } = hub.tls ?? {};
  const cluster = {
    server: hub.url,
    ...(ca !== undefined && { "certificate-authority-data": base64(ca) }),
    ...(serverName !== undefined && { "tls-server-name": serverName }),
  };
  const user = {
    ...(token !== undefined && { token }),
    ...(certificate && {
      "client-certificate-data": base64(certificate.cert),
      "client-key-data": base64(certificate.key),
    }),
  };
  const content = {
    ...{ apiVersion: "v1", kind: "Config", "current-context": "hub" },
    clusters: [{ name: "hub", cluster }],
    users: [{ name: "agent", user }],
    contexts: [{ name: "hub", context: { cluster: "hub", user: "agent" } }],
  };
  return `${JSON.stringify(content, undefined, 2)}\n`;
}

const base64 = (text: string): string => Buffer.from(text).toString("base64");
