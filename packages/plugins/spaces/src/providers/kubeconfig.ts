/** What one kubeconfig says of one server. */
export interface KubeconfigParts {
  readonly server: string;
  readonly ca?: string | undefined;
  readonly serverName?: string | undefined;
  /** Secret. */
  readonly token: string;
}

/** A kubeconfig with one context, by a token. Secret. */
export function kubeconfigText(name: string, { server, ca, serverName, token }: KubeconfigParts): string {
  const cluster = {
    server,
    ...(ca !== undefined && { "certificate-authority-data": Buffer.from(ca).toString("base64") }),
    ...(serverName !== undefined && { "tls-server-name": serverName }),
  };
  return JSON.stringify({
    ...{ apiVersion: "v1", kind: "Config", "current-context": name },
    clusters: [{ name, cluster }],
    users: [{ name, user: { token } }],
    contexts: [{ name, context: { cluster: name, user: name } }],
  });
}
