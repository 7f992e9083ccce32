import { StoreError } from "../store-error.ts";

/** How etcd is spoken to over TLS. */
export interface EtcdTls {
  /** Whom to trust, PEM. @default the authorities that Node trusts */
  readonly ca?: string | Buffer;
  /** Our certificate with what vouches for it, PEM; etcd may take its common name for a user. Needs `key`. */
  readonly cert?: string | Buffer;
  /** The private key of our certificate, PEM. */
  readonly key?: string | Buffer;
  /** The name that etcd's certificate must hold. @default the host of the endpoint */
  readonly serverName?: string;
}

/** Where etcd is, and who we are to it. */
export interface EtcdOptions {
  /** URLs of members of one cluster, `https://host:2379`: one is used until it fails or hangs, then another. */
  readonly endpoints: readonly string[];
  /**
   * What all keys begin with in etcd, a slash after it; other stores, and other programs, may use the same etcd with
   * another one (kube-apiserver's `--etcd-prefix`, which is `/registry` there). Revisions are those of the whole etcd, and
   * so is compaction.
   *
   * @default "/virtual-workspaces"
   */
  readonly prefix?: string;
  /** With endpoints of `https:` only. */
  readonly tls?: EtcdTls;
  /** Whom to log in as. The token is renewed when etcd wants another. @default nobody, or the name in our certificate */
  readonly user?: string;
  /** Goes over the wire as it is: use TLS. */
  readonly password?: string;
}

/** Options with every default, and nothing that makes no sense. */
export interface Settings {
  /** Without secrets. */
  readonly name: string;
  /** `host:port` each. */
  readonly addresses: readonly string[];
  readonly secure: boolean;
  readonly tls: EtcdTls;
  /** Ends with a slash. */
  readonly prefix: string;
  readonly login: { readonly name: string; readonly password: string } | undefined;
}

/** @throws StoreError `Invalid` that names the option */
export function settings(options: EtcdOptions): Settings {
  const { endpoints, prefix = "/virtual-workspaces", tls, user, password } = options;
  const urls = endpoints.map(endpoint);
  const [first] = urls;
  if (first === undefined) throw invalid("endpoints: at least one is needed, as https://host:2379");
  const secure = first.protocol === "https:";
  if (urls.some(({ protocol }) => protocol !== first.protocol)) throw invalid("endpoints: all https:, or all http:");
  if (tls !== undefined && !secure) throw invalid("tls: needs endpoints that begin with https://");
  if ((tls?.cert === undefined) !== (tls?.key === undefined)) throw invalid("tls: cert and key go together");
  if ((user === undefined) !== (password === undefined)) throw invalid("user and password go together");
  return {
    name: `etcd at ${urls.map(({ origin }) => origin).join(", ")}`,
    addresses: urls.map(({ hostname, port }) => `${hostname}:${port === "" ? (secure ? 443 : 80) : port}`),
    secure,
    tls: tls ?? {},
    prefix: `${prefix.replace(/\/+$/, "")}/`,
    login: user === undefined || password === undefined ? undefined : { name: user, password },
  };
}

function endpoint(text: string): URL {
  const url = URL.parse(text);
  if (
    url === null ||
    !/^https?:$/.test(url.protocol) ||
    url.username + url.password !== "" ||
    !/^\/?$/.test(url.pathname + url.search)
  )
    throw invalid("endpoints: each is a URL like https://host:2379, without a user and a path");
  return url;
}

const invalid = (message: string): StoreError => new StoreError("Invalid", message);
