import { type Relay, relay, sameCaller } from "@virtual-workspaces/forwarding";
import type { RawRequest } from "@virtual-workspaces/framework";
import { callersTokenHeaders } from "@virtual-workspaces/framework/authn";
import type { Log } from "@virtual-workspaces/framework/server";
import { hostOf, Upstream, type UpstreamOptions } from "@virtual-workspaces/transport";
import { ownView, pathBelow, trimmed } from "../loopback/own-services.ts";
import type { ShardRegistry } from "../state/shard-registry.ts";

/** How the server asks other servers on which workspaces are mounted. */
export interface MountedServersOptions extends Pick<UpstreamOptions, "tls"> {
  /**
   * Opens the connections: whoever may make an object that a workspace is mounted on chooses the address, so this is what keeps them
   * out of the networks that the server is in.
   */
  readonly dial: NonNullable<UpstreamOptions["dial"]>;
  /**
   * Whether a host, a name or an address, may be asked by plain http, where whoever is on the way reads and changes all, and answers for
   * it. @default none
   */
  readonly mayAskPlain?: (host: string) => boolean;
  /**
   * The client certificate by which these servers know that `X-Remote-*` says who asks (`--mount-proxy-client-cert-file`). Groups of the
   * system are left out, `system:masters` first of all, but for those of everybody and of service accounts.
   * @default they are not told who asks
   */
  readonly credentials?: NonNullable<UpstreamOptions["credentials"]>;
}

/** What mounted workspaces may lead to besides views and workspaces of the server itself. */
export interface MountsOptions {
  /** @default no other server is asked */
  readonly others?: MountedServersOptions;
}

/** Where the requests of a mounted workspace are sent. */
export interface MountTarget extends Partial<AsyncDisposable> {
  readonly relay: Relay;
  /** Takes the place of `/clusters/<path of the workspace>`. */
  readonly path: string;
}

/** What {@link MountTargets} are made of. */
export interface MountTargetsOptions {
  readonly registry: ShardRegistry;
  /** The server's own workspaces, within the process. */
  readonly workspaces: Upstream;
  /** @default none is asked */
  readonly others: MountedServersOptions | undefined;
  readonly log: Log;
}

/** Where a mount leads, by its URL: to a view or a workspace of this server, within the process and as the caller, or to another server. */
export class MountTargets {
  readonly #options: MountTargetsOptions;
  readonly #workspaces: Relay;

  constructor(options: MountTargetsOptions) {
    this.#options = options;
    this.#workspaces = this.#within(options.workspaces, "the workspace that this one is a link to");
  }

  /** @throws Error on a URL that cannot be asked; it names the remedy */
  at(url: string): MountTarget {
    if (!URL.canParse(url)) throw new Error("its URL is none");
    const place = new URL(url);
    if (place.username + place.password !== "") throw new Error("its URL has a user: leave that out");
    return this.#own(place) ?? this.#other(place);
  }

  #own(url: URL): MountTarget | undefined {
    const { shards } = this.#options.registry;
    const view = ownView(
      shards.flatMap(({ services }) => services ?? []),
      url,
    );
    if (view !== undefined)
      return { relay: this.#within(view.upstream, "the view that this workspace is mounted on"), path: view.path };
    const workspaces = shards.flatMap(({ urls }) => [urls.baseURL, urls.externalURL]);
    const path = workspaces.map((base) => pathBelow(url, base)).find((below) => below?.startsWith("/clusters/"));
    return path === undefined ? undefined : { relay: this.#workspaces, path };
  }

  /** As the caller, whose token does not leave the process by this. */
  #within(upstream: Upstream, what: string): Relay {
    const besides = ({ token }: Pick<RawRequest<unknown>, "token">): readonly string[] => callersTokenHeaders(token);
    return relay({ upstream, identity: sameCaller, besides, what, onError: this.#onError });
  }

  #other(url: URL): MountTarget {
    const { others } = this.#options;
    if (others === undefined) throw new Error("it is at another server, and this one asks none");
    const { mayAskPlain, ...asked } = others;
    if (url.protocol !== "https:" && !mayAskPlain?.(hostOf(url)))
      throw new Error(
        "it is at another server by plain http, which is for hosts that whoever runs this server allows: have its URL begin with https",
      );
    const upstream = new Upstream({ ...asked, url: url.origin });
    const passing = relay({
      upstream,
      // As another server may know them: whoever administers this one does not administer that.
      identity: others.credentials === undefined ? "none" : "impersonate",
      headers: "X-Remote",
      what: "the server that this workspace is mounted on",
      onError: this.#onError,
    });
    return {
      relay: passing,
      path: trimmed(url.pathname),
      [Symbol.asyncDispose]: () => upstream[Symbol.asyncDispose](),
    };
  }

  readonly #onError = (error: unknown): void =>
    this.#options.log({ level: "warn", message: "what a workspace is mounted on cannot be had", error: String(error) });
}
