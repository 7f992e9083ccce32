import { createHash } from "node:crypto";
import type { SecretKubeconfig } from "@virtual-workspaces/kcp";

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
    ...{ apiVersion: "v1", kind: "Config", "current-context": name },
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
