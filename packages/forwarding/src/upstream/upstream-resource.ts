import { apiVersionOf, isApiError } from "@virtual-workspaces/apimachinery";
import type { LabelSelector } from "@virtual-workspaces/apimachinery/selectors";
import type { Impersonation } from "@virtual-workspaces/client/http";
import type { ResourceDefinition } from "@virtual-workspaces/framework";
import { causeOfFault, FailureStreaks, upstreamFailure } from "@virtual-workspaces/framework/proxy";
import type { EncodedList, Scope } from "@virtual-workspaces/framework/storage";
import type { Outgoing, StreamedResponse, Upstream, WholeResponse } from "@virtual-workspaces/transport";
import type { UpstreamRequest } from "./answer.ts";
import { type OutboundIdentity, outboundHeaders, outboundIdentity } from "./identity.ts";
import { pathOf, type Query, searchOf } from "./path.ts";

const SETTLED: unique symbol = Symbol("settled");
/** All that is asked but watches, and what they begin with. */
const REQUESTS = "requests";
/** The version of what the other server does not have: a watch from there begins with whatever there is by then. */
export const UNSERVED_VERSION = "0";

export interface UpstreamResourceOptions {
  readonly definition: ResourceDefinition;
  readonly upstream: Upstream;
  readonly cluster: (scope: Scope) => string;
  readonly identity: OutboundIdentity;
  /** As {@link ForwardOptions.labels}. @default all objects */
  readonly labels?: LabelSelector | undefined;
  /** As {@link ForwardOptions.resourceIdentity}. @default none */
  readonly resourceIdentity?: string | undefined;
  /** As {@link ForwardOptions.unserved}. @default "refused" */
  readonly unserved?: "empty" | "refused" | undefined;
  readonly onError: (error: unknown) => void;
}

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
export interface ResourceRequest extends Pick<Outgoing, "signal" | "deadlines" | "long" | "limit"> {
  readonly scope: AskedScope;
  /** @default "GET" */
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** @default the whole collection */
  readonly name?: string;
  readonly subresource?: string | undefined;
  readonly query?: Query | undefined;
  /** @default "application/json" */
  readonly accept?: string;
  readonly headers?: readonly string[];
  readonly body?: Outgoing["body"] | undefined;
}

/** The headers that were last sent on behalf of a user. */
interface SentHeaders {
  readonly hops: number | undefined;
  readonly via: string | undefined;
  readonly accept: string;
  /** Frozen, so that they are checked once. */
  readonly lines: readonly string[];
}

/** One kind at another API server: where its objects are there, and as whom they are asked for. */
export class UpstreamResource implements UpstreamRequest {
  readonly definition: ResourceDefinition;
  readonly upstream: Upstream;
  /** Which objects there are here. @default all */
  readonly labels: LabelSelector | undefined;
  /** Whether a kind that is not served there has no objects. */
  readonly isEmptyUnserved: boolean;
  /** Whether it is one definition of several of that name. */
  readonly isIdentified: boolean;
  /** `https://host:6443`: for whoever runs this server; clients do not learn it. */
  readonly origin: string;
  readonly #options: UpstreamResourceOptions;
  readonly #spells: FailureStreaks;
  readonly #sentHeaders = new WeakMap<Scope["identity"], SentHeaders>();

  constructor(options: UpstreamResourceOptions) {
    const { definition, upstream, labels, unserved, resourceIdentity } = options;
    this.definition = definition;
    this.labels = labels === undefined || labels.empty ? undefined : labels;
    this.isEmptyUnserved = unserved === "empty";
    this.isIdentified = resourceIdentity !== undefined;
    this.upstream = upstream;
    this.origin = new URL(upstream.url).origin;
    this.#options = options;
    this.#spells = new FailureStreaks(options.onError);
  }

  /** @throws ApiError 503 when no whole answer comes, 504 when a write may have been done all the same; the signal's reason */
  send(question: ResourceRequest): Promise<WholeResponse> {
    return this.#asked(question, (outgoing) => this.upstream.send(outgoing));
  }

  /** @throws as {@link send} */
  stream(question: ResourceRequest): Promise<StreamedResponse> {
    return this.#asked(question, (outgoing) => this.upstream.stream(outgoing));
  }

  /** The same answer. Whoever runs this server is told of the first of the other's faults that come in a row. */
  async told<R>(answer: Promise<R>): Promise<R> {
    try {
      const given = await answer;
      this.#spells.answered(REQUESTS);
      return given;
    } catch (error) {
      const fault = causeOfFault(error);
      if (fault !== undefined) this.#spells.failed(fault, REQUESTS);
      else if (isApiError(error)) this.#spells.answered(REQUESTS);
      throw error;
    }
  }

  /** The same scope, asked as whom and where it is now, for good. @throws ApiError 403 */
  settled(scope: AskedScope): SettledScope {
    const { cluster, identity } = this.#options;
    const now = (): Settled => ({ as: outboundIdentity(identity, scope.identity, scope), cluster: cluster(scope) });
    return { ...scope, [SETTLED]: scope[SETTLED] ?? now() };
  }

  /** Everything that decides what the other server answers. */
  shareKey(scope: AskedScope): string {
    const { as = null, cluster } = this.settled(scope)[SETTLED];
    const { namespace, labels, fields, hops = 0 } = scope;
    return JSON.stringify([as, cluster, scope.cluster, hops, namespace, labels.toString(), fields.toString()]);
  }

  /** The selectors of a scope as they are asked for, with those that are asked for in any case. */
  selectorsOf({ labels, fields }: Scope): { readonly labelSelector: string; readonly fieldSelector: string } {
    const both = [this.labels, labels].flatMap((selector) => selector?.toString() || []);
    return { labelSelector: both.join(","), fieldSelector: fields.toString() };
  }

  async #asked<R>(question: ResourceRequest, ask: (outgoing: Outgoing) => Promise<R>): Promise<R> {
    const { signal, method = "GET" } = question;
    const outgoing = this.#outgoing(question);
    try {
      return await ask(outgoing);
    } catch (error) {
      if (signal?.aborted === true) throw signal.reason;
      throw upstreamFailure(error, { origin: this.origin, writes: method !== "GET" });
    }
  }

  #outgoing(question: ResourceRequest): Outgoing {
    const { scope, name, subresource, query, accept = "application/json", headers = [], body, ...rest } = question;
    const cluster = scope[SETTLED]?.cluster ?? this.#options.cluster(scope);
    const { resourceIdentity } = this.#options;
    const target = { cluster, namespace: scope.namespace, name, subresource, identity: resourceIdentity };
    const path = pathOf(this.definition, target);
    return {
      ...rest,
      path: query === undefined ? path : path + searchOf(query),
      headers: headers.length === 0 ? this.#lines(scope, accept) : [...this.#lines(scope, accept), ...headers],
      ...(body === undefined ? {} : { body }),
    };
  }

  /** Made once for each caller, whose identity does not change; a function is asked each time. */
  #lines(scope: AskedScope, accept: string): readonly string[] {
    const { identity, hops, via, [SETTLED]: settled } = scope;
    if (settled !== undefined) return ["Accept", accept, ...outboundHeaders(scope, () => settled.as)];
    const asked = this.#options.identity;
    if (typeof asked === "function") return ["Accept", accept, ...outboundHeaders(scope, asked)];
    const known = this.#sentHeaders.get(identity);
    if (known !== undefined && known.hops === hops && known.via === via && known.accept === accept) return known.lines;
    const lines = Object.freeze(["Accept", accept, ...outboundHeaders(scope, asked)]);
    this.#sentHeaders.set(identity, { hops, via, accept, lines });
    return lines;
  }
}

/** What a list of the kind comes to while the other server does not have the kind. @throws the error, where that is refused */
export function emptyIfUnserved(error: unknown, { definition, isEmptyUnserved }: UpstreamResource): EncodedList {
  if (!isEmptyUnserved || !isUnserved(error)) throw error;
  const { listKind: kind } = definition;
  const metadata = { resourceVersion: UNSERVED_VERSION };
  return { body: Buffer.from(JSON.stringify({ apiVersion: apiVersionOf(definition), kind, metadata, items: [] })) };
}

/** Whether the other server says that there is no such kind: a list of one that there is is never missing. */
export function isUnserved(error: unknown): boolean {
  return isApiError(error) && error.code === 404;
}
