import { relay } from "@virtual-workspaces/forwarding";
import type { Log } from "@virtual-workspaces/framework/server";
import { pathBelow } from "@virtual-workspaces/kcp";
import { hostOf, Upstream, type UpstreamOptions } from "@virtual-workspaces/transport";
import type { Forwarder, Loopback } from "../loopback/loopback.ts";
import { ownView, trimmed } from "../loopback/own-services.ts";
import type { ShardRegistry } from "../state/shard-registry.ts";

/** Requests to other servers on which workspaces are mounted. */
export interface MountedServersOptions extends Pick<UpstreamOptions, "tls"> {
  /**
   * Opens the connections. Security: users who may create an object to mount on choose the address, so this function alone
   * keeps them out of the server's networks.
   */
  readonly dial: NonNullable<UpstreamOptions["dial"]>;
  /**
   * Whether a host (name or address) may be called by plain HTTP.
   * Security: anyone on the network path can then read and change everything, and impersonate the target.
   * @default none
   */
  readonly mayAskPlain?: (host: string) => boolean;
  /**
   * Client certificate with which those servers trust `X-Remote-*` (`--mount-proxy-client-cert-file`). Security: system
   * groups, above all `system:masters`, are left out, except those of all users and of service accounts.
   * @default callers' identities are not sent
   */
  readonly credentials?: NonNullable<UpstreamOptions["credentials"]>;
}

/** Targets of mounted workspaces besides views and workspaces of the server itself. */
export interface MountsOptions {
  /** @default no other servers */
  readonly others?: MountedServersOptions;
}

/** Target of a mounted workspace's requests. */
export interface MountTarget extends Partial<AsyncDisposable> {
  readonly relay: Forwarder;
  /** Replaces `/clusters/<path of the workspace>`. */
  readonly path: string;
}

/** Options of {@link MountTargets}. */
export interface MountTargetsOptions {
  readonly registry: ShardRegistry;
  /** The server's own workspaces, within the process. */
  readonly workspaces: Pick<Loopback, "forwarding">;
  /** @default no other servers */
  readonly others: MountedServersOptions | undefined;
  readonly log: Log;
}

/** Finds a mount's target by URL: a view or workspace of this server (called in-process as the caller), or another server. */
export class MountTargets {
  readonly #options: MountTargetsOptions;
  readonly #workspaces: Forwarder;

  constructor(options: MountTargetsOptions) {
    this.#options = options;
    this.#workspaces = this.#within(options.workspaces, "the workspace that this one links to");
  }

  /** @throws Error on an unusable URL, with the remedy */
  at(url: string): MountTarget {
    if (!URL.canParse(url)) throw new Error("its URL is invalid: use an absolute URL");
    const place = new URL(url);
    if (place.username + place.password !== "") throw new Error("its URL contains user information: remove it");
    return this.#own(place) ?? this.#other(place);
  }

  #own(url: URL): MountTarget | undefined {
    const { shards } = this.#options.registry;
    const view = ownView(
      shards.flatMap(({ services }) => services ?? []),
      url,
    );
    if (view !== undefined)
      return { relay: this.#within(view.services, "the view that this workspace is mounted on"), path: view.path };
    const workspaces = shards.flatMap(({ urls }) => [urls.baseURL, urls.externalURL]);
    const path = workspaces.map((base) => pathBelow(url, base)).find((below) => below?.startsWith("/clusters/"));
    return path === undefined ? undefined : { relay: this.#workspaces, path };
  }

  /** Calls as the caller. Security: the caller's token does not leave the process. */
  #within(server: Pick<Loopback, "forwarding">, what: string): Forwarder {
    return server.forwarding({ token: true, what, onError: this.#onError });
  }

  #other(url: URL): MountTarget {
    const { others } = this.#options;
    if (others === undefined) throw new Error("it is at another server, which is not enabled");
    const { mayAskPlain, ...asked } = others;
    if (url.protocol !== "https:" && !mayAskPlain?.(hostOf(url)))
      throw new Error(
        "it is at another server, by plain HTTP, which this server's administrator has not allowed for that host: use a URL that begins with https",
      );
    const upstream = new Upstream({ ...asked, url: url.origin });
    const passing = relay({
      upstream,
      // Identities without system groups: administrators of this server do not administer the other one.
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
    this.#options.log({ level: "warn", message: "target of a mounted workspace is unavailable", error: String(error) });
}
