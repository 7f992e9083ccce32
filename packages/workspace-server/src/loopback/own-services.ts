import { allow, type ServerOptions, type VirtualWorkspace } from "@virtual-workspaces/framework";
import type { ImpersonationRule } from "@virtual-workspaces/framework/authz";
import type { Log } from "@virtual-workspaces/framework/server";
import { pathBelow } from "@virtual-workspaces/kcp";
import type { Upstream } from "@virtual-workspaces/transport";
import type { ShardUrls } from "../shard-urls.ts";
import { type Forwarder, Loopback } from "./loopback.ts";

/** Views of {@link OwnServices}, and their public URLs. */
export interface OwnServicesOptions extends Required<Pick<ServerOptions, "virtualWorkspaces" | "log" | "within">> {
  readonly urls: () => Pick<ShardUrls, "baseURL" | "virtualWorkspaceURL">;
}

/** Name of an unavailable view in messages to clients. */
export const WHAT = "the view that stores this resource";

/**
 * Views of a listener, called only within the process. Requests for resources of exports that views store run as the caller,
 * with the same rights as at the view's address. Controllers of the server call as a member of `system:masters`.
 */
export class OwnServices implements AsyncDisposable {
  readonly relay: Forwarder;
  readonly workspaces: Pick<Loopback, "upstream" | "started">;
  readonly #loopback = new Loopback();
  #names: ReadonlySet<string> = new Set();
  /** Whether requests for unknown names are forwarded to another server. */
  #passesOn = false;
  readonly #leaving = new AbortController();
  #urls: OwnServicesOptions["urls"] | undefined;

  /** @param workspaces the logical clusters of the listener, for requests of controllers as users */
  constructor(log: Log, workspaces: Pick<Loopback, "upstream" | "started">) {
    this.workspaces = workspaces;
    const onError = (error: unknown): void =>
      log({ level: "warn", message: "views of this server are unavailable", error: String(error) });
    this.relay = this.#loopback.forwarding({ what: WHAT, onError });
  }

  get upstream(): Upstream {
    return this.#loopback.upstream;
  }

  /** As {@link Loopback.forwarding}. */
  forwarding(...options: Parameters<Loopback["forwarding"]>): Forwarder {
    return this.#loopback.forwarding(...options);
  }

  /** Called once, by the server that owns the views and sets them up. */
  serve({ virtualWorkspaces, urls, log, within }: OwnServicesOptions): void {
    this.#names = new Set(virtualWorkspaces.flatMap(({ prefix, name }) => (prefix === undefined ? [name] : [])));
    this.#passesOn = virtualWorkspaces.some(({ prefix }) => prefix === "/services");
    this.#urls = urls;
    this.#loopback.serve({
      virtualWorkspaces: virtualWorkspaces.map(requestsOnly),
      impersonation: ANYBODY,
      log,
      within,
    });
  }

  start(): Promise<void> {
    return this.#loopback.start();
  }

  /** Aborts before the listener and its views close: informers of a view must stop. */
  get leaving(): AbortSignal {
    return this.#leaving.signal;
  }

  /** Called before the listener closes. */
  leave(): void {
    this.#leaving.abort();
  }

  /** Where kcp's view `initializingworkspaces` is: in this process, or at the server to which the listener forwards unknown names. */
  get initializing(): "here" | "elsewhere" | undefined {
    if (this.#names.has("initializingworkspaces")) return "here";
    return this.#passesOn ? "elsewhere" : undefined;
  }

  /** Returns the path of one of these views by its URL. @returns `undefined` for a URL of another server */
  pathOf(url: URL): string | undefined {
    const urls = this.#urls?.();
    if (urls === undefined) return undefined;
    const path = pathBelow(url, urls.baseURL);
    if (path?.startsWith("/services/")) return path;
    // Views may have a separate server, at that URL.
    const published = pathBelow(url, urls.virtualWorkspaceURL);
    const [, root, name = ""] = published?.split("/") ?? [];
    return root === "services" && this.#names.has(name) ? published : undefined;
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.leave();
    return this.#loopback[Symbol.asyncDispose]();
  }
}

/** Only the server itself sends requests here, and it chooses the identity. */
const ANYBODY: ImpersonationRule = () => allow();

/** Leaves setup and metrics to the server that owns a view, which has them once. */
function requestsOnly({ setup: _, metrics: __, ...view }: VirtualWorkspace): VirtualWorkspace {
  return Object.freeze(view);
}

/** Returns the view at a URL, among those of several listeners. */
export function ownView(
  listeners: Iterable<OwnServices>,
  url: URL,
): { readonly services: OwnServices; readonly path: string } | undefined {
  for (const services of listeners) {
    const path = services.pathOf(url);
    if (path !== undefined) return { services, path };
  }
  return undefined;
}

/** Removes trailing slashes. */
export function trimmed(path: string): string {
  return path.replace(/\/+$/, "");
}
