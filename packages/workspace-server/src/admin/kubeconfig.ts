import { type AdminTokens, KCP_ADMIN, type PlainUser, SHARD_ADMIN } from "./users.ts";

/** Options of `adminKubeconfig`. */
export interface AdminKubeconfigOptions {
  readonly tokens: AdminTokens;
  /** Users whose tokens the file contains. @default none */
  readonly users?: readonly PlainUser[];
  /** Server URL that clients use, such as `https://192.0.2.7:6443`. */
  readonly server: string;
  /** CA certificates that clients trust, PEM. */
  readonly ca: string;
}

/**
 * Returns the text of `admin.kubeconfig`, with kcp's contexts: `root` (the current one) and `base` for kcp-admin,
 * `system:admin` and `shard-base` for shard-admin, and one for each plain user, at the user's workspace. Security: the
 * file contains tokens that allow everything.
 */
export function adminKubeconfig({ tokens, users = [], server, ca }: AdminKubeconfigOptions): string {
  const base = server.replace(/\/+$/, "");
  const trust = Buffer.from(ca).toString("base64");
  const workspaces = new Set(["root", "system:admin", ...users.map(({ workspace }) => workspace)]);
  const clusters = [
    ["base", base] as const,
    ...Array.from(workspaces, (path) => [path, `${base}/clusters/${path}`] as const),
  ];
  const contexts = [
    ["base", "base", KCP_ADMIN],
    ["root", "root", KCP_ADMIN],
    ["shard-base", "base", SHARD_ADMIN],
    ["system:admin", "system:admin", SHARD_ADMIN],
    ...users.map(({ name, workspace }) => [name, workspace, name] as const),
  ] as const;
  const credentials = [
    [KCP_ADMIN, tokens.kcpAdmin],
    [SHARD_ADMIN, tokens.shardAdmin],
    ...(tokens.plain ?? []),
  ] as const;
  return [
    "apiVersion: v1",
    "clusters:",
    ...clusters.flatMap(([name, url]) => [
      "- cluster:",
      `    certificate-authority-data: ${trust}`,
      `    server: ${text(url)}`,
      `  name: ${text(name)}`,
    ]),
    "contexts:",
    ...contexts.flatMap(([name, cluster, user]) => [
      "- context:",
      `    cluster: ${text(cluster)}`,
      `    user: ${text(user)}`,
      `  name: ${text(name)}`,
    ]),
    "current-context: root",
    "kind: Config",
    "preferences: {}",
    "users:",
    ...credentials.flatMap(([name, token]) => [`- name: ${text(name)}`, "  user:", `    token: ${text(token)}`]),
    "",
  ].join("\n");
}

/** Every string is a valid YAML scalar as JSON in double quotes. */
function text(value: string): string {
  return /^[a-z][a-z-]*$/.test(value) ? value : JSON.stringify(value);
}

/** Parts of an earlier `admin.kubeconfig`. */
export interface EarlierKubeconfig {
  /** Returns the token of a user; `undefined` if the user is missing or has other credentials. */
  readonly tokenOf: (user: string) => string | undefined;
  /** Server URL of the cluster `base`. */
  readonly server: string | undefined;
}

/** Reads the text of a kubeconfig. @throws Error when the text is not YAML */
export async function earlierKubeconfig(kubeconfig: string): Promise<EarlierKubeconfig> {
  const { parse } = await import("yaml");
  const { users, clusters } = (parse(kubeconfig) ?? {}) as { readonly users?: unknown; readonly clusters?: unknown };
  const named = (all: unknown, name: string): NamedEntry | null | undefined =>
    ((Array.isArray(all) ? all : []) as readonly (NamedEntry | null)[]).find((one) => one?.name === name);
  return {
    tokenOf: (user) => textOrNone(named(users, user)?.user?.token),
    server: textOrNone(named(clusters, "base")?.cluster?.server),
  };
}

interface NamedEntry {
  readonly name?: unknown;
  readonly user?: { readonly token?: unknown } | null;
  readonly cluster?: { readonly server?: unknown } | null;
}

const textOrNone = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined;
