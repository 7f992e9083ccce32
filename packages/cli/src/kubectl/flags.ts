import type { FlagSet } from "../flags/table.ts";

/** kubectl's own, by which a server, a user and a workspace are named. */
export const KUBECTL_FLAGS = {
  kubeconfig: { type: "text", value: "file", help: "Kubeconfig to use." },
  context: { type: "text", value: "name", help: "Context of the kubeconfig." },
  cluster: { type: "text", value: "name", help: "Cluster of the kubeconfig." },
  user: { type: "text", value: "name", help: "User of the kubeconfig." },
  namespace: { type: "text", short: "n", value: "name", help: "Namespace of objects." },
  server: { type: "text", short: "s", value: "url", help: "URL of the server." },
  "tls-server-name": { type: "text", value: "name", help: "Name that the server's certificate is for." },
  "proxy-url": { type: "text", value: "url", help: "Proxy to reach the server by." },
  "certificate-authority": { type: "text", value: "file", help: "Authorities of the server." },
  "insecure-skip-tls-verify": {
    type: "switch",
    help: "Trust any server. Security: whoever sits in between reads the credentials.",
  },
  token: { type: "text", value: "token", help: "Bearer token of the user." },
  username: { type: "text", value: "name", help: "User for basic authentication." },
  password: { type: "text", value: "password", help: "Password for basic authentication." },
  "client-certificate": { type: "text", value: "file", help: "Client certificate of the user." },
  "client-key": { type: "text", value: "file", help: "Key of --client-certificate." },
  as: { type: "text", value: "name", help: "User to impersonate." },
  "as-uid": { type: "text", value: "uid", help: "UID to impersonate." },
  "as-group": { type: "texts", value: "group", help: "Group to impersonate; more than once for several." },
  "as-user-extra": {
    type: "texts",
    value: "key=value",
    help: "What more to say of the impersonated user; more than once for several.",
  },
  "request-timeout": { type: "text", value: "time", otherwise: "0, none", help: "How long one request may take." },
  v: { type: "text", short: "v", value: "number", help: "Verbosity, without effect." },
} as const satisfies FlagSet;

/** kubectl's, which are about what this does not do: caches, profiles, logs, compression. */
export const UNUSED_KUBECTL_FLAGS = {
  "cache-dir": { type: "text", value: "folder", help: "Of kubectl's cache." },
  "disable-compression": { type: "switch", help: "Of answers." },
  kuberc: { type: "text", value: "file", help: "Of preferences." },
  "log-flush-frequency": { type: "text", value: "time", help: "Of the log." },
  "match-server-version": { type: "switch", help: "Of kubectl." },
  profile: { type: "text", value: "name", help: "Of kubectl itself." },
  "profile-output": { type: "text", value: "file", help: "Of --profile." },
  vmodule: { type: "text", value: "settings", help: "Of the log." },
  "warnings-as-errors": { type: "switch", help: "Of servers." },
} as const satisfies FlagSet;
