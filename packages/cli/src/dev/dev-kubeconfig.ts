import type { CertifiedSubject, GeneratedTls } from "@virtual-workspaces/framework/tls";
import type { Loaded, ViewSummary } from "./dev-messages.ts";

/** A named pair of a server and a user. */
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

/** Returns a kubeconfig with everything embedded, so that copies of it work anywhere. JSON strings are YAML strings. */
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

/** User who may do everything: Kubernetes gives this group that meaning. */
export const ADMIN: CertifiedSubject = { name: "admin", groups: ["system:masters"] };

/** User with credentials and no rights, to show what such users see. */
export const GUEST: CertifiedSubject = { name: "guest", groups: [] };

/**
 * Returns the contexts of the kubeconfig, the current one first: all views at once as the admin, the same as the guest, and
 * each view as the admin. A view whose path has its own parameters gets none, since only its users know their values.
 */
export function contextsOf({ all, views }: Pick<Loaded, "all" | "views">, url: string): readonly Context[] {
  const open = views.filter(({ path }) => !path.includes(":"));
  const main = all ?? open[0];
  if (main === undefined) return [];
  const context = ({ name, path }: ViewSummary): Context => ({ name, server: url + path, user: ADMIN.name });
  const own = [main, ...open.filter((view) => view !== main)].map(context);
  const taken = own.some(({ name }) => name === GUEST.name);
  const guest = { ...context(main), name: taken ? `${main.name}-${GUEST.name}` : GUEST.name, user: GUEST.name };
  return [...own.slice(0, 1), guest, ...own.slice(1)];
}
