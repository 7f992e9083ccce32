import { type Relay, relay, sameCaller } from "@virtual-workspaces/forwarding";
import type { Resource } from "@virtual-workspaces/framework";
import { Targets } from "@virtual-workspaces/framework/proxy";
import type { DiscoveredVerbs } from "@virtual-workspaces/framework/resource";
import type { Upstream, UpstreamOptions } from "@virtual-workspaces/transport";
import type { Forwarder } from "../loopback/loopback.ts";
import { type OwnServices, ownView, trimmed, WHAT } from "../loopback/own-services.ts";

/** Credentials for views at other servers, and the certificates to trust there. */
export interface OtherServers {
  /** Accepted certificates (`--shard-virtual-workspace-ca-file`). Security: no other server is called, whatever an endpoint says. */
  readonly tls: NonNullable<UpstreamOptions["tls"]> & { readonly ca: string };
  /** Client certificate of the shard (`--shard-client-cert-file`), which those servers must accept as a proxy's. */
  readonly credentials: NonNullable<UpstreamOptions["credentials"]>;
}

/** Connection to a view. */
export interface Backend {
  readonly relay: Forwarder;
  readonly upstream: Upstream;
  /** Path before `/clusters`. */
  readonly path: string;
  /** Headers that name the caller. */
  readonly headers: "Impersonate" | "X-Remote";
}

export interface BackendsOptions {
  /** Returns the views of this process. */
  readonly own: () => Iterable<OwnServices>;
  /** @default no other servers */
  readonly others: OtherServers | undefined;
  /** Called when another server fails, once per run of failures. The error contains its address. */
  readonly onError: (error: unknown) => void;
}

/** Views that store resources, by URL. */
export class Backends implements AsyncDisposable {
  readonly #options: BackendsOptions;
  /** URLs of endpoints may change often: beyond a limit, upstreams without open requests are closed. */
  readonly #others = new Targets<Relay>({ isActive: ({ upstream }) => upstream.stats.active > 0 });

  constructor(options: BackendsOptions) {
    this.#options = options;
  }

  /** @throws Error on an unusable URL, with the remedy */
  at(url: string): Backend {
    if (!URL.canParse(url)) throw new Error("the URL of its endpoint is invalid: use an absolute URL");
    const place = new URL(url);
    const { protocol, origin, pathname, search, hash, username, password } = place;
    if (search + hash + username + password !== "")
      throw new Error("the URL of its endpoint has more than a host and a path: remove the rest");
    const own = ownView(this.#options.own(), place);
    if (own !== undefined) {
      const { relay, upstream } = own.services;
      return { relay, upstream, path: own.path, headers: "Impersonate" };
    }
    const { others } = this.#options;
    if (others === undefined)
      throw new Error(
        "its endpoint is at another server, and this server has no certificate for it: start it with --shard-client-cert-file, --shard-client-key-file and --shard-virtual-workspace-ca-file",
      );
    if (protocol !== "https:") throw new Error("its endpoint is at another server: use a URL that begins with https");
    const found = this.#other(origin, others);
    return { relay: found, upstream: found.upstream, path: trimmed(pathname), headers: HEADERS };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#others[Symbol.asyncDispose]();
  }

  #other(origin: string, others: OtherServers): Relay {
    const passing = { identity: sameCaller, headers: HEADERS, what: WHAT, onError: this.#options.onError } as const;
    // All parts except the origin are constant.
    return this.#others.of(origin, "", () => relay({ ...passing, upstream: { url: origin, ...others } }));
  }
}

/** Headers that name the caller to other servers, as a front proxy's. */
const HEADERS = "X-Remote";

/** Time limit of a view's discovery, in milliseconds: discovery of a workspace waits for it. */
const PATIENCE = 5_000;
/** Maximum size of a resource list, in bytes. */
const LONGEST = 4 * 1024 * 1024;

/**
 * Returns a view's verbs for a resource and its `status` and `scale`, from its discovery of all logical clusters. As in kcp
 * nothing is cached, since a view may change.
 *
 * @throws Error when discovery fails
 */
export async function discoveredVerbs(
  { upstream, path }: Backend,
  { group, version, plural }: Resource,
  signal: AbortSignal,
): Promise<DiscoveredVerbs> {
  const { status, body } = await upstream.send({
    path: `${path}/clusters/*/apis/${group}/${version}`,
    headers: ["Accept", "application/json"],
    deadlines: { head: PATIENCE, idle: PATIENCE },
    limit: LONGEST,
    signal,
  });
  if (status !== 200) throw new Error(`${upstream.url}${path} answers ${status} to discovery in all logical clusters`);
  const { resources } = JSON.parse(Buffer.from(body).toString()) as { readonly resources?: readonly Listed[] };
  const verbs = (name: string): readonly string[] => resources?.find((one) => one.name === name)?.verbs ?? [];
  return { "": verbs(plural), status: verbs(`${plural}/status`), scale: verbs(`${plural}/scale`) };
}

interface Listed {
  readonly name: string;
  readonly verbs?: readonly string[];
}
