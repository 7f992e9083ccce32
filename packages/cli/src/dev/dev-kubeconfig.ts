import type { CertifiedSubject, GeneratedTls } from "@virtual-workspaces/framework/tls";
import type { Loaded, ViewSummary } from "./dev-messages.ts";

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

/** Who may do everything, by the group that Kubernetes gives this meaning. */
export const ADMIN: CertifiedSubject = { name: "admin", groups: ["system:masters"] };

/** Somebody with credentials and nothing else, to see what such a user sees. */
export const GUEST: CertifiedSubject = { name: "guest", groups: [] };

/**
 * The contexts of the kubeconfig, the current one first: all views at once as the admin, the same as the guest, and
 * each view as the admin. A view whose path has parameters of its own has none: nobody but its user knows them.
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
