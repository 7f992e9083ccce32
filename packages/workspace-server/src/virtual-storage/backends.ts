import { type Relay, relay, sameCaller } from "@virtual-workspaces/forwarding";
import type { Resource } from "@virtual-workspaces/framework";
import { Targets } from "@virtual-workspaces/framework/proxy";
import type { DiscoveredVerbs } from "@virtual-workspaces/framework/resource";
import type { Upstream, UpstreamOptions } from "@virtual-workspaces/transport";
import { type OwnServices, ownView, trimmed, WHAT } from "../loopback/own-services.ts";

/** By what views at other servers are asked, and whom to trust there. */
export interface OtherServers {
  /** Whose certificates are taken (`--shard-virtual-workspace-ca-file`): nobody else is asked, whatever an endpoint says. */
  readonly tls: NonNullable<UpstreamOptions["tls"]> & { readonly ca: string };
  /** The shard's client certificate (`--shard-client-cert-file`), which they have to take for a proxy's. */
  readonly credentials: NonNullable<UpstreamOptions["credentials"]>;
}

/** Where a view is asked. */
export interface Backend {
  readonly relay: Relay;
  readonly upstream: Upstream;
  /** Before `/clusters`. */
  readonly path: string;
}

export interface BackendsOptions {
  /** Views of this process. */
  readonly own: () => Iterable<OwnServices>;
  /** @default no other server is asked */
  readonly others: OtherServers | undefined;
  /** Told when another server fails us, once for each spell of failures. Names its address. */
  readonly onError: (error: unknown) => void;
}

/** The views that resources are kept in, by their URLs. */
export class Backends implements AsyncDisposable {
  readonly #options: BackendsOptions;
  /** What endpoints say may be another thing each time: of many, those go at which nothing is open. */
  readonly #others = new Targets<Relay>({ isActive: ({ upstream }) => upstream.stats.active > 0 });

  constructor(options: BackendsOptions) {
    this.#options = options;
  }

  /** @throws Error on a URL at which no view is asked; it names the remedy */
  at(url: string): Backend {
    if (!URL.canParse(url)) throw new Error("the URL of its endpoint is none");
    const place = new URL(url);
    const { protocol, origin, pathname, search, hash, username, password } = place;
    if (search + hash + username + password !== "")
      throw new Error("the URL of its endpoint has more than a host and a path: leave the rest out");
    const own = ownView(this.#options.own(), place);
    if (own !== undefined) return own;
    const { others } = this.#options;
    if (others === undefined)
      throw new Error(
        "its endpoint is at another server, and this one asks no other: start it with --shard-client-cert-file, --shard-client-key-file and --shard-virtual-workspace-ca-file",
      );
    if (protocol !== "https:") throw new Error("its endpoint is at another server, and not by https");
    const found = this.#other(origin, others);
    return { relay: found, upstream: found.upstream, path: trimmed(pathname) };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#others[Symbol.asyncDispose]();
  }

  #other(origin: string, others: OtherServers): Relay {
    const passing = { identity: sameCaller, headers: "X-Remote", what: WHAT, onError: this.#options.onError } as const;
    // What it is made of beside the origin stays as it was at the start.
    return this.#others.of(origin, "", () => relay({ ...passing, upstream: { url: origin, ...others } }));
  }
}

/** How long a view may take to say what it can, ms: whoever asks a workspace what there is waits for it. */
const PATIENCE = 5_000;
/** The longest list that is read, bytes. */
const LONGEST = 4 * 1024 * 1024;

/**
 * Which verbs a view has for a resource, and for `status` and `scale` of it, as it tells the shard of all logical clusters at once. As
 * in kcp nothing is remembered: a view may have changed.
 *
 * @throws Error when it does not tell
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
