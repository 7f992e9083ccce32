import type { GeneratedTls } from "@virtual-workspaces/framework";

/** A name for a server and a user of it. */
export interface Context {
  readonly name: string;
  readonly server: string;
  readonly user: string;
}

export interface KubeconfigOptions {
  readonly credentials: Pick<GeneratedTls, "ca" | "users">;
  readonly contexts: readonly Context[];
  readonly current: string;
}

/** A kubeconfig with everything embedded, so that it works wherever it is copied. JSON strings are YAML strings. */
export function kubeconfig({ credentials, contexts, current }: KubeconfigOptions): string {
  const ca = base64(credentials.ca);
  const lines = [
    "apiVersion: v1",
    "kind: Config",
    `current-context: ${quote(current)}`,
    "clusters:",
    ...contexts.flatMap(({ name, server }) => [
      `- name: ${quote(name)}`,
      "  cluster:",
      `    server: ${quote(server)}`,
      `    certificate-authority-data: ${ca}`,
    ]),
    "contexts:",
    ...contexts.flatMap(({ name, user }) => [
      `- name: ${quote(name)}`,
      "  context:",
      `    cluster: ${quote(name)}`,
      `    user: ${quote(user)}`,
    ]),
    "users:",
    ...credentials.users.flatMap(({ name, cert, key }) => [
      `- name: ${quote(name)}`,
      "  user:",
      `    client-certificate-data: ${base64(cert)}`,
      `    client-key-data: ${base64(key)}`,
    ]),
  ];
  return `${lines.join("\n")}\n`;
}

const quote = (text: string): string => JSON.stringify(text);

const base64 = (text: string): string => Buffer.from(text).toString("base64");
