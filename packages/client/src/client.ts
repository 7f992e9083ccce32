import type { KindReference } from "@virtual-workspaces/apimachinery";
import { Upstream, type UpstreamOptions } from "@virtual-workspaces/transport";
import { impersonationHeaders } from "./impersonation-headers.ts";
import { Requests } from "./requests.ts";
import { ResourceClient } from "./resource-client.ts";

/** As whom requests are made, by whoever may do that (`Impersonate-*`). */
export interface Impersonation {
  readonly name: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

export interface ClientOptions {
  /** The server. What is made of options here is closed with the client, what is given is not. */
  readonly upstream: Upstream | UpstreamOptions;
  /** The logical cluster, by name or workspace path, or `*`. @default the server's URL is used as it is */
  readonly cluster?: string;
  readonly impersonate?: Impersonation;
  /** Who the fields belong to that writes set. @default "virtual-workspaces" */
  readonly fieldManager?: string;
  /** Told of each `Warning` that the server sends, once for each text. @default they are dropped */
  readonly onWarning?: (text: string) => void;
}

/**
 * A client of one API server. Immutable: `cluster` and `as` give another one over the same connections, so that no two
 * callers share anything that one of them could change.
 */
export class Client implements AsyncDisposable {
  readonly upstream: Upstream;
  /** The logical cluster, or "" where the URL is used as it is. */
  readonly clusterName: string;
  readonly #options: ClientOptions;
  readonly #requests: Requests;

  constructor(options: ClientOptions) {
    const { upstream, cluster = "", impersonate, onWarning } = options;
    this.#options = options;
    this.upstream = upstream instanceof Upstream ? upstream : new Upstream(upstream);
    this.clusterName = cluster;
    this.#requests = new Requests({
      upstream: this.upstream,
      prefix: cluster === "" ? "" : `/clusters/${cluster}`,
      headers: impersonate === undefined ? [] : impersonationHeaders(impersonate),
      onWarning,
    });
  }

  /** The same server, another logical cluster. @param path a name, a workspace path, or `*` for all */
  cluster(path: string): Client {
    return new Client({ ...this.#options, upstream: this.upstream, cluster: path });
  }

  /** The same server, as somebody else. */
  as(identity: Impersonation): Client {
    return new Client({ ...this.#options, upstream: this.upstream, impersonate: identity });
  }

  /** The objects of a kind: what `defineResource` gives, or `{ group, version, kind, plural, scope }`. */
  resource<T extends object = object>(kind: KindReference<T>): ResourceClient<T> {
    const { fieldManager = "virtual-workspaces" } = this.#options;
    return new ResourceClient<T>({ requests: this.#requests, kind, cluster: this.clusterName, fieldManager });
  }

  /** Ends the connections, if they were made here. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#options.upstream !== this.upstream) await this.upstream[Symbol.asyncDispose]();
  }
}
