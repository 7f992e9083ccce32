import { X509Certificate } from "node:crypto";
import { resolve } from "node:path";
import { createSecureContext } from "node:tls";
import { ETCD_FLAGS, type STORE_FLAGS } from "../flags/servers.ts";
import type { Values } from "../flags/table.ts";
import { UsageError } from "../process/failure.ts";
import { checked, contentOf } from "../process/files.ts";

/** Which store there is, in a form that one process can tell another. */
export type StoreChoice = { readonly engine: "memory" } | FolderChoice | EtcdChoice;

export interface FolderChoice {
  readonly engine: "lmdb";
  /** Absolute. */
  readonly dir: string;
}

export interface EtcdChoice {
  readonly engine: "etcd";
  readonly endpoints: readonly string[];
  readonly prefix?: string;
  /** PEM. */
  readonly tls?: { readonly ca?: string; readonly cert?: string; readonly key?: string };
  readonly user?: string;
  readonly password?: string;
}

type StoreFlags = Partial<Values<typeof STORE_FLAGS>>;

/** @throws UsageError */
export function storeChoice(flags: StoreFlags, env: NodeJS.ProcessEnv): StoreChoice {
  const { "data-dir": dir, "etcd-servers": servers } = flags;
  if (servers !== undefined) {
    if (dir !== undefined)
      throw new UsageError("--data-dir and --etcd-servers name two places: objects are kept in one");
    return etcdChoice(servers, flags, env);
  }
  const needless = (Object.keys(ETCD_FLAGS) as (keyof StoreFlags)[]).find((name) => flags[name] !== undefined);
  if (needless !== undefined) throw new UsageError(`--${needless} is about etcd: name it with --etcd-servers`);
  if (dir === "") throw new UsageError("--data-dir names no folder");
  return dir === undefined ? { engine: "memory" } : { engine: "lmdb", dir: resolve(dir) };
}

function etcdChoice(servers: readonly string[], flags: StoreFlags, env: NodeJS.ProcessEnv): EtcdChoice {
  const endpoints = parts(servers);
  // Not repeated: it may hold a password, cut in two by a comma.
  if (endpoints.some((url) => url.includes("@")))
    throw new UsageError("--etcd-servers has a user in a URL: name it with --etcd-credentials-file");
  const wrong = endpoints.find((url) => !/^https?:\/\/[^/?#]+\/?$/.test(url) || !URL.canParse(url));
  if (wrong !== undefined)
    throw new UsageError(
      `--etcd-servers ${wrong || '""'}: give URLs with commas between: https://127.0.0.1:2379, and no path or query`,
    );
  const schemes = new Set(endpoints.map((url) => new URL(url).protocol));
  if (schemes.size > 1)
    throw new UsageError("--etcd-servers has https:// beside http://: take the same for all members");
  const secure = schemes.has("https:");
  const tls = tlsOf(flags);
  if (!secure && tls !== undefined)
    throw new UsageError("--etcd-cafile, --etcd-certfile and --etcd-keyfile need servers that begin with https://");
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
    throw new UsageError("--etcd-certfile and --etcd-keyfile go together");
  if (ca === undefined && cert === undefined) return undefined;
  return {
    ...(ca === undefined ? {} : { ca: authoritiesOf(ca) }),
    ...(cert === undefined || key === undefined ? {} : identityOf(cert, key)),
  };
}

function authoritiesOf(path: string): string {
  const ca = readText(path, "etcd-cafile");
  return checked(`--etcd-cafile ${path} holds no certificate, PEM`, () => {
    new X509Certificate(ca);
    return ca;
  });
}

function identityOf(certPath: string, keyPath: string): { readonly cert: string; readonly key: string } {
  const [cert, key] = [readText(certPath, "etcd-certfile"), readText(keyPath, "etcd-keyfile")];
  const files = `--etcd-certfile ${certPath} and --etcd-keyfile ${keyPath}`;
  return checked(`${files} hold no certificate and its key, both PEM, the key not encrypted`, () => {
    createSecureContext({ cert: Buffer.from(cert), key: Buffer.from(key) });
    return { cert, key };
  });
}

/** Never from a flag: everybody on the machine can read the flags of a process. */
function userOf(file: string | undefined, env: NodeJS.ProcessEnv): Pick<EtcdChoice, "user" | "password"> {
  if (file !== undefined) {
    const [, user, password] = /^([^:\n]+):([^\n]+)\n?$/.exec(readText(file, "etcd-credentials-file")) ?? [];
    if (user === undefined || password === undefined)
      throw new UsageError(`--etcd-credentials-file ${file} holds something else than one line name:password`);
    return { user, password };
  }
  const { ETCD_USERNAME: user, ETCD_PASSWORD: password } = env;
  if ((user === undefined) !== (password === undefined))
    throw new UsageError("ETCD_USERNAME and ETCD_PASSWORD go together: set both, or neither");
  return user === undefined || password === undefined ? {} : { user, password };
}

function readText(path: string, flag: string): string {
  if (path === "") throw new UsageError(`--${flag} names no file`);
  return contentOf(path, flag);
}

function parts(texts: readonly string[]): readonly string[] {
  return texts.flatMap((text) => text.split(",")).map((text) => text.trim());
}

/** What `--etcd-servers` lists, without empty parts. */
export function listed(servers: readonly string[] | undefined): readonly string[] {
  return parts(servers ?? []).filter((part) => part !== "");
}
