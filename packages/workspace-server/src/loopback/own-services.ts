import { type Relay, relay, sameCaller } from "@virtual-workspaces/forwarding";
import { allow, type ServerOptions, type VirtualWorkspace } from "@virtual-workspaces/framework";
import type { ImpersonationRule } from "@virtual-workspaces/framework/authz";
import type { Log } from "@virtual-workspaces/framework/server";
import type { Upstream } from "@virtual-workspaces/transport";
import type { ShardUrls } from "../shard-urls.ts";
import { Loopback } from "./loopback.ts";

/** What {@link OwnServices} serve, and where that is for everybody else. */
export interface OwnServicesOptions extends Required<Pick<ServerOptions, "virtualWorkspaces" | "log" | "within">> {
  readonly urls: () => Pick<ShardUrls, "baseURL" | "virtualWorkspaceURL">;
}

/** What clients are told when a view cannot be had. */
export const WHAT = "the view that keeps this resource";

/**
 * The views of a listener, asked within the process: for resources of exports that they keep as the caller, whose rights in the view are
 * those that they have at its address, and by controllers of the server as a member of `system:masters`. Nobody else gets there.
 */
export class OwnServices implements AsyncDisposable {
  readonly relay: Relay;
  readonly #loopback = new Loopback();
  #names: ReadonlySet<string> = new Set();
  /** Whether names that it lacks are passed on to another server. */
  #passesOn = false;
  readonly #leaving = new AbortController();
  #urls: OwnServicesOptions["urls"] | undefined;

  constructor(log: Log) {
    const onError = (error: unknown): void =>
      log({ level: "warn", message: "views of this server cannot be had", error: String(error) });
    this.relay = relay({ upstream: this.#loopback.upstream, identity: sameCaller, what: WHAT, onError });
  }

  get upstream(): Upstream {
    return this.#loopback.upstream;
  }

  /** Called once, by the server that has the views and sets them up. */
  serve({ virtualWorkspaces, urls, log, within }: OwnServicesOptions): void {
    this.#names = new Set(virtualWorkspaces.flatMap(({ prefix, name }) => (prefix === undefined ? [name] : [])));
    this.#passesOn = virtualWorkspaces.some(({ prefix }) => prefix === "/services");
    this.#urls = urls;
    this.#loopback.serve({
      virtualWorkspaces: virtualWorkspaces.map(withoutSetup),
      impersonation: ANYBODY,
      log,
      within,
    });
  }

  start(): Promise<void> {
    return this.#loopback.start();
  }

  /** Aborts when the listener is about to end, and its views with it: whoever follows one is to stop. */
  get leaving(): AbortSignal {
    return this.#leaving.signal;
  }

  /** Called before the listener ends. */
  leave(): void {
    this.#leaving.abort();
  }

  /** Whether there is kcp's view of workspaces that are set up: here, or at the server to which the listener passes on what it lacks. */
  get initializing(): boolean {
    return this.#names.has("initializingworkspaces") || this.#passesOn;
  }

  /** The path of one of them, by its URL. @returns `undefined` for a URL that leads elsewhere */
  pathOf(url: URL): string | undefined {
    const urls = this.#urls?.();
    if (urls === undefined) return undefined;
    const path = pathBelow(url, urls.baseURL);
    if (path?.startsWith("/services/")) return path;
    // Views may be at a server of their own, whose URL that is.
    const published = pathBelow(url, urls.virtualWorkspaceURL);
    const [, root, name = ""] = published?.split("/") ?? [];
    return root === "services" && this.#names.has(name) ? published : undefined;
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.leave();
    return this.#loopback[Symbol.asyncDispose]();
  }
}

/** There is nobody there but ourselves, who say as whom we ask. */
const ANYBODY: ImpersonationRule = () => allow();

/** A view is set up once, by the server that it is of. */
function withoutSetup({ setup: _, ...view }: VirtualWorkspace): VirtualWorkspace {
  return Object.freeze(view);
}

/** The view that a URL is of, among those of several listeners. */
export function ownView(
  listeners: Iterable<OwnServices>,
  url: URL,
): (Pick<OwnServices, "relay" | "upstream"> & { readonly path: string }) | undefined {
  for (const own of listeners) {
    const path = own.pathOf(url);
    if (path !== undefined) return { relay: own.relay, upstream: own.upstream, path };
  }
  return undefined;
}

/**
 * What a URL has below another one, without slashes at its end: `/services/x` of `https://host/base/services/x/?y` below
 * `https://host/base/`. By this alone it is known whether a URL that somebody says leads to this server itself.
 *
 * @returns `undefined` for a URL that leads elsewhere
 */
export function pathBelow(url: URL, base: string): string | undefined {
  const [place, root] = [placeOf(url), placeOf(new URL(base))];
  return place.startsWith(`${root}/`) ? place.slice(root.length) : undefined;
}

/** Without slashes at its end. */
export function trimmed(path: string): string {
  return path.replace(/\/+$/, "");
}

function placeOf({ origin, pathname }: URL): string {
  return trimmed(origin + pathname);
}
