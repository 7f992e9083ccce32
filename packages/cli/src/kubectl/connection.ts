import { resolve } from "node:path";
import type { JsonObject } from "@virtual-workspaces/apimachinery";
import type { KubeconfigOverrides } from "@virtual-workspaces/client";
import { flagDuration } from "../flags/read.ts";
import type { FlagSet, Values } from "../flags/table.ts";
import { UsageError } from "../process/failure.ts";

/** Server and user that a command line selects, like kubectl's. */
export interface Connection {
  readonly file: string | undefined;
  readonly context: string | undefined;
  readonly overrides: KubeconfigOverrides;
  /** Timeout of one request, ms; 0 for none. */
  readonly timeout: number;
}

/** Reads the connection flags. @throws UsageError for invalid values */
export function connectionOf(values: Values<typeof KUBECTL_FLAGS>): Connection {
  const file = (name: "certificate-authority" | "client-certificate" | "client-key"): string | undefined =>
    values[name] && resolve(values[name]);
  return {
    file: values.kubeconfig && resolve(values.kubeconfig),
    context: values.context,
    timeout: timeoutOf(values["request-timeout"] ?? "0"),
    overrides: {
      context: given({ cluster: values.cluster, user: values.user, namespace: values.namespace }),
      cluster: given({
        server: values.server,
        "tls-server-name": values["tls-server-name"],
        "proxy-url": values["proxy-url"],
        "certificate-authority": file("certificate-authority"),
        "insecure-skip-tls-verify": values["insecure-skip-tls-verify"],
      }),
      user: given({
        token: values.token,
        username: values.username,
        password: values.password,
        "client-certificate": file("client-certificate"),
        "client-key": file("client-key"),
        as: values.as,
        "as-uid": values["as-uid"],
        "as-groups": values["as-group"] && [...values["as-group"]],
        "as-user-extra": values["as-user-extra"] && extraOf(values["as-user-extra"]),
      }),
    },
  };
}

function given(fields: Readonly<Record<string, JsonObject[string] | undefined>>): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as JsonObject;
}

/** Collects `key=value` pairs. A repeated key adds a value. */
function extraOf(pairs: readonly string[]): JsonObject {
  const extra: Record<string, string[]> = {};
  for (const pair of pairs) {
    const [, key, value] = /^([^=]+)=(.*)$/s.exec(pair) ?? [];
    if (key === undefined || value === undefined)
      throw new UsageError(`invalid value "${pair}" for --as-user-extra: use key=value`);
    extra[key] = [...(extra[key] ?? []), value];
  }
  return extra;
}

/** Parses a timeout as kubectl does: seconds, or a duration. */
function timeoutOf(text: string): number {
  const duration = flagDuration(/^\d+$/.test(text) ? `${text}s` : text);
  if (duration === undefined)
    throw new UsageError(
      `invalid value "${text}" for --request-timeout: use a duration such as 1s, 2m or 3h, or 0 for none`,
    );
  return duration;
}

/** kubectl's flags that select a server, a user and a workspace. */
export const KUBECTL_FLAGS = {
  kubeconfig: { type: "text", value: "file", help: "Kubeconfig to use." },
  context: { type: "text", value: "name", help: "Context of the kubeconfig." },
  cluster: { type: "text", value: "name", help: "Cluster of the kubeconfig." },
  user: { type: "text", value: "name", help: "User of the kubeconfig." },
  namespace: { type: "text", short: "n", value: "name", help: "Namespace of objects." },
  server: { type: "text", short: "s", value: "url", help: "URL of the server." },
  "tls-server-name": { type: "text", value: "name", help: "Name in the server's certificate." },
  "proxy-url": { type: "text", value: "url", help: "Proxy to reach the server by." },
  "certificate-authority": { type: "text", value: "file", help: "Certificate authorities of the server." },
  "insecure-skip-tls-verify": {
    type: "switch",
    help: "Do not verify the server. Security: a party in between can read the credentials.",
  },
  token: { type: "text", value: "token", help: "Bearer token of the user." },
  username: { type: "text", value: "name", help: "User for basic authentication." },
  password: { type: "text", value: "password", help: "Password for basic authentication." },
  "client-certificate": { type: "text", value: "file", help: "Client certificate of the user." },
  "client-key": { type: "text", value: "file", help: "Key of --client-certificate." },
  as: { type: "text", value: "name", help: "User to impersonate." },
  "as-uid": { type: "text", value: "uid", help: "UID to impersonate." },
  "as-group": { type: "texts", value: "group", help: "Group to impersonate. Repeat for several." },
  "as-user-extra": {
    type: "texts",
    value: "key=value",
    help: "Extra of the impersonated user, key=value. Repeat for several.",
  },
  "request-timeout": { type: "text", value: "time", otherwise: "0, none", help: "Timeout of one request." },
  v: { type: "text", short: "v", value: "number", help: "Verbosity; no effect." },
} as const satisfies FlagSet;

/** kubectl's flags for functions that these commands lack: caches, profiles, logs, compression. */
export const UNUSED_KUBECTL_FLAGS = {
  "cache-dir": { type: "text", value: "folder", help: "Folder of kubectl's cache; no effect." },
  "disable-compression": { type: "switch", help: "Compression of answers; no effect." },
  kuberc: { type: "text", value: "file", help: "File of preferences; no effect." },
  "log-flush-frequency": { type: "text", value: "time", help: "Interval of the log; no effect." },
  "match-server-version": { type: "switch", help: "Version check of kubectl; no effect." },
  profile: { type: "text", value: "name", help: "Profile of kubectl; no effect." },
  "profile-output": { type: "text", value: "file", help: "Of --profile." },
  vmodule: { type: "text", value: "settings", help: "Levels of the log; no effect." },
  "warnings-as-errors": { type: "switch", help: "Warnings of servers; no effect." },
} as const satisfies FlagSet;
