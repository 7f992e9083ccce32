import type { CertifiedSubject, GeneratedTls } from "@virtual-workspaces/framework/tls";
import { UsageError } from "../process/failure.ts";
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
  /** Tokens of users, by name. @default none */
  readonly tokens?: ReadonlyMap<string, string> | undefined;
}

/** Returns a kubeconfig with everything embedded, so that copies of it work anywhere. JSON strings are YAML strings. */
export function kubeconfig({ credentials, contexts, current, tokens }: KubeconfigOptions): string {
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
      ...(tokens?.has(name) ? [`    token: ${tokens.get(name)}`] : []),
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
 * Parses users: `ann`, or `ann:red,blue` for a user in groups.
 *
 * @throws UsageError for an empty name or group, or a name that is in use
 */
export function usersOf(texts: readonly string[]): readonly CertifiedSubject[] {
  const users: CertifiedSubject[] = [];
  for (const text of texts) {
    const [name = "", ...rest] = text.split(":");
    const groups = rest.length === 0 ? [] : rest.join(":").split(",");
    if (name === "" || groups.includes(""))
      throw new UsageError(
        `invalid value "${text}" for --user: use a name, or a name and its groups, as in ann:red,blue`,
      );
    if (NAMES_IN_USE.includes(name.toLowerCase()) || users.some((user) => user.name === name))
      throw new UsageError(`invalid value "${text}" for --user: the name ${name} is in use: choose another one`);
    users.push({ name, groups });
  }
  return users;
}

/** Users of this command, and other certificates in its folder. */
const NAMES_IN_USE: readonly string[] = [ADMIN.name, GUEST.name, "ca", "server"];

/** Returns the view of the current context: all views at once, or the first one whose path has no parameters of its own. */
export function mainOf({ all, views }: Pick<Loaded, "all" | "views">): ViewSummary | undefined {
  return all ?? views.find(isOpen);
}

const isOpen = ({ path }: ViewSummary): boolean => !path.includes(":");

/**
 * Returns the contexts of the kubeconfig, the current one first: all views at once as the admin, the same as the guest and as
 * further users, and each view as the admin. A view whose path has its own parameters gets none, since only its users know their
 * values.
 */
export function contextsOf(
  loaded: Pick<Loaded, "all" | "views">,
  url: string,
  users: readonly string[] = [],
): readonly Context[] {
  const open = loaded.views.filter(isOpen);
  const main = mainOf(loaded);
  if (main === undefined) return [];
  const context = ({ name, path }: ViewSummary): Context => ({ name, server: url + path, user: ADMIN.name });
  const own = [main, ...open.filter((view) => view !== main)].map(context);
  const others = [GUEST.name, ...users].map((user): Context => {
    const taken = own.some(({ name }) => name === user);
    return { ...context(main), name: taken ? `${main.name}-${user}` : user, user };
  });
  return [...own.slice(0, 1), ...others, ...own.slice(1)];
}
