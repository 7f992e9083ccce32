import { X509Certificate } from "node:crypto";
import { createSecureContext } from "node:tls";
import { StoreError } from "../store-error.ts";

/** TLS options of connections to etcd. */
export interface EtcdTls {
  /** CA certificates, PEM. @default Node's */
  readonly ca?: string | Buffer;
  /** Client certificate with its chain, PEM. etcd may use its common name as the user. Requires `key`. */
  readonly cert?: string | Buffer;
  /** Private key of the client certificate, PEM. */
  readonly key?: string | Buffer;
  /** Expected name in etcd's certificate. @default the host of the endpoint */
  readonly serverName?: string;
}

/** Endpoints of etcd, and credentials. */
export interface EtcdOptions {
  /** URLs of members of one cluster, such as `https://host:2379`. One is used until it fails or hangs. */
  readonly endpoints: readonly string[];
  /**
   * Prefix of all keys in etcd, without the slash that follows it. Other stores and programs may use the same etcd with other
   * prefixes (kube-apiserver's `--etcd-prefix` is `/registry`). They share its revisions and compaction.
   *
   * @default "/virtual-workspaces"
   */
  readonly prefix?: string;
  /** TLS options. Requires `https:` endpoints. */
  readonly tls?: EtcdTls;
  /** User to log in as. The token is renewed on demand. @default none, or the name in the client certificate */
  readonly user?: string;
  /** Password of the user. Security: it is sent as is, so use TLS. */
  readonly password?: string;
  /**
   * Called with the reason when etcd, which has answered before, has not answered for a second, and with `undefined` when it
   * answers again. It must not throw.
   * @default outages are not reported
   */
  readonly onOutage?: (problem: StoreError | undefined) => void;
}

/** Validated options with all defaults. */
export interface Settings {
  /** Name of the store, without secrets. */
  readonly name: string;
  /** Endpoints as `host:port`. */
  readonly addresses: readonly string[];
  readonly secure: boolean;
  readonly tls: EtcdTls;
  /** Prefix with a trailing slash. */
  readonly prefix: string;
  readonly login: { readonly name: string; readonly password: string } | undefined;
  readonly onOutage: EtcdOptions["onOutage"];
}

/** @throws StoreError `Invalid` that names the option */
export function settings(options: EtcdOptions): Settings {
  const { endpoints, prefix = "/virtual-workspaces", tls, user, password, onOutage } = options;
  const urls = endpoints.map(endpoint);
  const [first] = urls;
  if (first === undefined) throw invalid("endpoints is empty: set at least one, like https://host:2379");
  const secure = first.protocol === "https:";
  if (urls.some(({ protocol }) => protocol !== first.protocol))
    throw invalid("endpoints mix https and http: use one of them");
  if (tls !== undefined && !secure) throw invalid("tls is set, but the endpoints use http: use https");
  if ((tls?.cert === undefined) !== (tls?.key === undefined))
    throw invalid("tls has only one of cert and key: set both");
  checkTls(tls ?? {});
  if ((user === undefined) !== (password === undefined))
    throw invalid("only one of user and password is set: set both");
  return {
    name: `etcd at ${urls.map(({ origin }) => origin).join(", ")}`,
    addresses: urls.map(({ hostname, port }) => `${hostname}:${port === "" ? (secure ? 443 : 80) : port}`),
    secure,
    tls: tls ?? {},
    prefix: `${prefix.replace(/\/+$/, "")}/`,
    login: user === undefined || password === undefined ? undefined : { name: user, password },
    onOutage,
  };
}

function endpoint(text: string): URL {
  const url = URL.parse(text);
  if (
    url === null ||
    !/^https?:$/.test(url.protocol) ||
    url.username + url.password !== "" ||
    !/^\/?$/.test(url.pathname + url.search + url.hash)
  )
    throw invalid("invalid endpoints: use URLs like https://host:2379, without user and path");
  return url;
}

/** Validates what OpenSSL would otherwise reject only on connection or, for CA certificates, ignore. */
function checkTls({ ca, cert, key }: EtcdTls): void {
  if (ca !== undefined) checked("tls.ca is not a PEM certificate", () => new X509Certificate(ca));
  if (cert !== undefined && key !== undefined)
    checked("tls.cert and tls.key are not a PEM certificate and its unencrypted PEM key", () =>
      createSecureContext({ cert: Buffer.from(cert), key: Buffer.from(key) }),
    );
}

function checked(mistake: string, make: () => unknown): void {
  try {
    make();
  } catch (error) {
    throw new StoreError("Invalid", `${mistake}: ${(error as Error).message}`, { cause: error });
  }
}

const invalid = (message: string): StoreError => new StoreError("Invalid", message);
