import type { Impersonation } from "@virtual-workspaces/client";
import type { ResourceDefinition, Scope } from "@virtual-workspaces/framework";
import type { Outgoing, StreamedResponse, Upstream, WholeResponse } from "@virtual-workspaces/transport";
import { outboundHeaders } from "../outbound/headers.ts";
import { type OutboundIdentity, outboundIdentity } from "../outbound/identity.ts";
import { pathOf } from "../outbound/path.ts";
import { upstreamFailure } from "./failure.ts";

export interface UpstreamResourceOptions {
  readonly definition: ResourceDefinition;
  readonly upstream: Upstream;
  readonly cluster: (scope: Scope) => string;
  readonly identity: OutboundIdentity;
}

const SETTLED: unique symbol = Symbol("settled");

/** As whom the other server is asked, and where there: what functions of the options have said. */
interface Settled {
  readonly as: Impersonation | undefined;
  readonly cluster: string;
}

/** A scope for which that is not asked again: what many share must stay what it was shared as. */
export interface SettledScope extends Scope {
  readonly [SETTLED]: Settled;
}

type AskedScope = Scope & Partial<SettledScope>;

/** What is asked of the other server. */
export interface Question extends Pick<Outgoing, "signal" | "deadlines" | "long" | "limit"> {
  readonly scope: AskedScope;
  /** @default the whole collection */
  readonly name?: string;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  /** @default "application/json" */
  readonly accept?: string;
  readonly headers?: readonly string[];
}

/** What was last sent on behalf of somebody. */
interface Known {
  readonly hops: number | undefined;
  readonly via: string | undefined;
  readonly lines: readonly string[];
}

/** One kind at another API server: where its objects are there, and as whom they are asked for. */
export class UpstreamResource {
  readonly definition: ResourceDefinition;
  readonly upstream: Upstream;
  /** `https://host:6443`: all that clients learn of where the other server is. */
  readonly origin: string;
  readonly #options: UpstreamResourceOptions;
  readonly #known = new WeakMap<Scope["identity"], Known>();

  constructor(options: UpstreamResourceOptions) {
    const { definition, upstream } = options;
    this.definition = definition;
    this.upstream = upstream;
    this.origin = new URL(upstream.url).origin;
    this.#options = options;
  }

  /** @throws ApiError 503 when no whole answer comes; the signal's reason */
  send(question: Question): Promise<WholeResponse> {
    return this.upstream.send(this.#outgoing(question)).catch((error: unknown) => this.#fail(error, question));
  }

  /** @throws as {@link send} */
  stream(question: Question): Promise<StreamedResponse> {
    return this.upstream.stream(this.#outgoing(question)).catch((error: unknown) => this.#fail(error, question));
  }

  /** The same scope, asked as whom and where it is now, for good. @throws ApiError 403 */
  settled(scope: AskedScope): SettledScope {
    const { cluster, identity } = this.#options;
    const now = (): Settled => ({ as: outboundIdentity(identity, scope.identity), cluster: cluster(scope) });
    return { ...scope, [SETTLED]: scope[SETTLED] ?? now() };
  }

  /** Everything that decides what the other server answers. */
  shareKey(scope: AskedScope): string {
    const { as = null, cluster } = this.settled(scope)[SETTLED];
    const { namespace, labels, fields, hops = 0 } = scope;
    return JSON.stringify([as, cluster, scope.cluster, hops, namespace, labels.toString(), fields.toString()]);
  }

  #fail(error: unknown, { signal }: Question): never {
    throw signal?.aborted === true ? signal.reason : upstreamFailure(error, this.origin);
  }

  #outgoing({ scope, name, query, accept = "application/json", headers = [], ...rest }: Question): Outgoing {
    return {
      ...rest,
      path: this.#path(scope, name) + searchOf(query),
      headers: ["Accept", accept, ...this.#outbound(scope), ...headers],
    };
  }

  /** Made once for each caller, whose identity does not change; a function is asked each time. */
  #outbound(scope: AskedScope): readonly string[] {
    const { identity, hops, via, [SETTLED]: settled } = scope;
    if (settled !== undefined) return outboundHeaders(scope, () => settled.as);
    if (typeof this.#options.identity === "function") return outboundHeaders(scope, this.#options.identity);
    const known = this.#known.get(identity);
    if (known !== undefined && known.hops === hops && known.via === via) return known.lines;
    const lines = outboundHeaders(scope, this.#options.identity);
    this.#known.set(identity, { hops, via, lines });
    return lines;
  }

  #path(scope: AskedScope, name: string | undefined): string {
    const cluster = scope[SETTLED]?.cluster ?? this.#options.cluster(scope);
    return pathOf(this.definition, { cluster, namespace: scope.namespace, ...(name === undefined ? {} : { name }) });
  }
}

function searchOf(query: Question["query"]): string {
  if (query === undefined) return "";
  let search = "";
  for (const [key, value] of Object.entries(query)) {
    if (value === undefined || value === "") continue;
    search += `${search === "" ? "?" : "&"}${key}=${encodeURIComponent(value)}`;
  }
  return search;
}

/** The selectors of a scope as they are asked for. */
export function selectorsOf({ labels, fields }: Scope): { labelSelector: string; fieldSelector: string } {
  return { labelSelector: labels.toString(), fieldSelector: fields.toString() };
}
