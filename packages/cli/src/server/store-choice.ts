import { X509Certificate } from "node:crypto";
import { resolve } from "node:path";
import { createSecureContext } from "node:tls";
import { ETCD_FLAGS, type STORE_FLAGS } from "../flags/servers.ts";
import type { Values } from "../flags/table.ts";
import { UsageError } from "../process/failure.ts";
import { checked, contentOf } from "../process/files.ts";

/** Selected store, in a form that processes can send to each other. */
export type StoreChoice = { readonly engine: "memory" } | FolderChoice | EtcdChoice;

export interface FolderChoice {
  readonly engine: "lmdb";
  /** Absolute path. */
  readonly dir: string;
}

export interface EtcdChoice {
  readonly engine: "etcd";
  readonly endpoints: readonly string[];
  readonly prefix?: string;
  /** Certificates and key, PEM. */
  readonly tls?: { readonly ca?: string; readonly cert?: string; readonly key?: string };
  readonly user?: string;
  readonly password?: string;
}

type StoreFlags = Partial<Values<typeof STORE_FLAGS>>;

/** Reads the flags for the store. @throws UsageError */
export function storeChoice(flags: StoreFlags, env: NodeJS.ProcessEnv): StoreChoice {
  const { "data-dir": dir, "etcd-servers": servers } = flags;
  if (servers !== undefined) {
    if (dir !== undefined) throw new UsageError("--data-dir and --etcd-servers both select a store: use only one");
    return etcdChoice(servers, flags, env);
  }
  const needless = (Object.keys(ETCD_FLAGS) as (keyof StoreFlags)[]).find((name) => flags[name] !== undefined);
  if (needless !== undefined) throw new UsageError(`--${needless} needs --etcd-servers: set both`);
  if (dir === "") throw new UsageError('invalid value "" for --data-dir: name a folder');
  return dir === undefined ? { engine: "memory" } : { engine: "lmdb", dir: resolve(dir) };
}

/** Returns the warning about a selected store that no view uses. */
export function withoutEffect({ engine }: StoreChoice): string | undefined {
  if (engine === "memory") return undefined;
  const flag = engine === "lmdb" ? "--data-dir" : "--etcd-servers";
  return `${flag} has no effect: no view keeps objects in the server's store. ${PLAIN_COLLECTIONS}`;
}

/** Collections that no flag affects. */
export const PLAIN_COLLECTIONS = "A collection() without a store is always in memory.";

function etcdChoice(servers: readonly string[], flags: StoreFlags, env: NodeJS.ProcessEnv): EtcdChoice {
  const endpoints = parts(servers);
  // Security: the message leaves out the URL, which may contain a password, cut in two by a comma.
  if (endpoints.some((url) => url.includes("@")))
    throw new UsageError(
      "invalid value for --etcd-servers: a URL contains a user; use --etcd-credentials-file instead",
    );
  const wrong = endpoints.find((url) => !/^https?:\/\/[^/?#]+\/?$/.test(url) || !URL.canParse(url));
  if (wrong !== undefined)
    throw new UsageError(
      `invalid value "${wrong}" for --etcd-servers: use URLs without path and query, separated by commas: https://127.0.0.1:2379`,
    );
  const schemes = new Set(endpoints.map((url) => new URL(url).protocol));
  if (schemes.size > 1)
    throw new UsageError(
      "invalid value for --etcd-servers: it mixes https:// and http://; use one of them for all members",
    );
  const secure = schemes.has("https:");
  const tls = tlsOf(flags);
  if (!secure && tls !== undefined)
    throw new UsageError("--etcd-cafile, --etcd-certfile and --etcd-keyfile need --etcd-servers with https://");
  const { "etcd-prefix": prefix } = flags;
  return {
    engine: "etcd",
    endpoints,
    ...(prefix === undefined ? {} : { prefix }),
    ...(secure ? { tls: tls ?? {} } : {}),
    ...userOf(flags["etcd-credentials-file"], env),
  };
}

function tlsOf(flags: StoreFlags): EtcdChoice["tls"] {
  const { "etcd-cafile": ca, "etcd-certfile": cert, "etcd-keyfile": key } = flags;
  if ((cert === undefined) !== (key === undefined))
    throw new UsageError("--etcd-certfile and --etcd-keyfile must be set together");
  if (ca === undefined && cert === undefined) return undefined;
  return {
    ...(ca === undefined ? {} : { ca: authoritiesOf(ca) }),
    ...(cert === undefined || key === undefined ? {} : identityOf(cert, key)),
  };
}

function authoritiesOf(path: string): string {
  const ca = readText(path, "etcd-cafile");
  return checked(`invalid --etcd-cafile ${path}: it contains no PEM certificate`, () => {
    new X509Certificate(ca);
    return ca;
  });
}

function identityOf(certPath: string, keyPath: string): { readonly cert: string; readonly key: string } {
  const [cert, key] = [readText(certPath, "etcd-certfile"), readText(keyPath, "etcd-keyfile")];
  const files = `--etcd-certfile ${certPath} and --etcd-keyfile ${keyPath}`;
  return checked(`invalid ${files}: they must be a PEM certificate and its unencrypted PEM key`, () => {
    createSecureContext({ cert: Buffer.from(cert), key: Buffer.from(key) });
    return { cert, key };
  });
}

/** Security: never reads a password from a flag, since every user of the machine can see the flags of a process. */
function userOf(file: string | undefined, env: NodeJS.ProcessEnv): Pick<EtcdChoice, "user" | "password"> {
  if (file !== undefined) {
    const [, user, password] = /^([^:\n]+):([^\n]+)\n?$/.exec(readText(file, "etcd-credentials-file")) ?? [];
    if (user === undefined || password === undefined)
      throw new UsageError(`invalid --etcd-credentials-file ${file}: it must contain one line name:password`);
    return { user, password };
  }
  const { ETCD_USERNAME: user, ETCD_PASSWORD: password } = env;
  if ((user === undefined) !== (password === undefined))
    throw new UsageError("ETCD_USERNAME and ETCD_PASSWORD must be set together: set both, or neither");
  return user === undefined || password === undefined ? {} : { user, password };
}

function readText(path: string, flag: string): string {
  if (path === "") throw new UsageError(`invalid value "" for --${flag}: name a file`);
  return contentOf(path, flag);
}

function parts(texts: readonly string[]): readonly string[] {
  return texts.flatMap((text) => text.split(",")).map((text) => text.trim());
}

/** Returns the non-empty items of `--etcd-servers`. */
export function listed(servers: readonly string[] | undefined): readonly string[] {
  return parts(servers ?? []).filter((part) => part !== "");
}
