import { apiVersionOf, isApiError } from "@virtual-workspaces/apimachinery";
import type { LabelSelector } from "@virtual-workspaces/apimachinery/selectors";
import type { Impersonation } from "@virtual-workspaces/client/http";
import type { ResourceDefinition } from "@virtual-workspaces/framework";
import { causeOfFault, FailureStreaks, upstreamFailure } from "@virtual-workspaces/framework/proxy";
import type { EncodedList, Scope } from "@virtual-workspaces/framework/storage";
import type { Outgoing, StreamedResponse, Upstream, WholeResponse } from "@virtual-workspaces/transport";
import type { UpstreamRequest } from "./answer.ts";
import { isImmutable, type OutboundIdentity, outboundHeaders, outboundIdentity } from "./identity.ts";
import { pathOf, type Query, searchOf } from "./path.ts";

const SETTLED: unique symbol = Symbol("settled");
/** Category of failures: all requests, and the start of watches. */
const REQUESTS = "requests";
/** Version of an unserved kind: a watch from it begins with the objects that exist by then. */
export const UNSERVED_VERSION = "0";

export interface UpstreamResourceOptions {
  readonly definition: ResourceDefinition;
  readonly upstream: Upstream;
  readonly cluster: (scope: Scope) => string;
  readonly identity: OutboundIdentity;
  /** See {@link ForwardOptions.headers}. @default "Impersonate" */
  readonly headers?: "Impersonate" | "X-Remote" | undefined;
  /** See {@link ForwardOptions.path}. @default "" */
  readonly path?: string | undefined;
  /** See {@link ForwardOptions.labels}. @default all objects */
  readonly labels?: LabelSelector | undefined;
  /** See {@link ForwardOptions.resourceIdentity}. @default none */
  readonly resourceIdentity?: string | undefined;
  /** See {@link ForwardOptions.unserved}. @default `"refused"` */
  readonly unserved?: "empty" | "refused" | undefined;
  readonly onError: (error: unknown) => void;
}

/** Results of the options' functions: identity and place at the upstream. */
interface Settled {
  readonly as: Impersonation | undefined;
  readonly cluster: string;
}

/** Scope with fixed results, since a shared watch must keep the identity under which it is shared. */
export interface SettledScope extends Scope {
  readonly [SETTLED]: Settled;
}

type AskedScope = Scope & Partial<SettledScope>;

/** Request to the upstream. */
export interface ResourceRequest extends Pick<Outgoing, "signal" | "cancellation" | "deadlines" | "long" | "limit"> {
  readonly scope: AskedScope;
  /** HTTP method. @default "GET" */
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Name of an object. @default the collection */
  readonly name?: string;
  readonly subresource?: string | undefined;
  readonly query?: Query | undefined;
  /** Media types. @default "application/json" */
  readonly accept?: string;
  readonly headers?: readonly string[];
  readonly body?: Outgoing["body"] | undefined;
}

/** Cached headers of a user. */
interface SentHeaders {
  readonly hops: number | undefined;
  readonly via: string | undefined;
  readonly accept: string;
  /** Frozen, so that they are validated once. */
  readonly lines: readonly string[];
}

/** Kind at another API server: paths and identities of its requests. */
export class UpstreamResource implements UpstreamRequest {
  readonly definition: ResourceDefinition;
  readonly upstream: Upstream;
  /** Labels of the visible objects. @default all */
  readonly labels: LabelSelector | undefined;
  /** Whether an unserved kind has empty lists. */
  readonly isEmptyUnserved: boolean;
  /** Whether a resource identity selects the definition. */
  readonly isIdentified: boolean;
  /** `https://host:6443`, for the operator; clients never see it. */
  readonly origin: string;
  readonly #options: UpstreamResourceOptions;
  readonly #spells: FailureStreaks;
  readonly #sentHeaders = new WeakMap<object, SentHeaders>();

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

  /** @throws ApiError 503 without a complete response, 504 if a write may have been applied; the signal's reason */
  send(question: ResourceRequest): Promise<WholeResponse> {
    return this.#asked(question, (outgoing) => this.upstream.send(outgoing));
  }

  /** @throws as {@link send} */
  stream(question: ResourceRequest): Promise<StreamedResponse> {
    return this.#asked(question, (outgoing) => this.upstream.stream(outgoing));
  }

  /** Returns the response, and reports the first of consecutive faults to the operator. */
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

  /** Fixes the identity and place of a scope. @throws ApiError 403 */
  settled(scope: AskedScope): SettledScope {
    const { cluster, identity } = this.#options;
    const now = (): Settled => ({ as: outboundIdentity(identity, scope.identity, scope), cluster: cluster(scope) });
    return { ...scope, [SETTLED]: scope[SETTLED] ?? now() };
  }

  /** Returns a key of everything that determines the upstream's response. */
  shareKey(scope: AskedScope): string {
    const { as = null, cluster } = this.settled(scope)[SETTLED];
    const { namespace, labels, fields, hops = 0 } = scope;
    return JSON.stringify([as, cluster, scope.cluster, hops, namespace, labels.toString(), fields.toString()]);
  }

  /** Returns the selectors of a scope combined with the configured labels. */
  selectorsOf({ labels, fields }: Scope): { readonly labelSelector: string; readonly fieldSelector: string } {
    const both = [this.labels, labels].flatMap((selector) => selector?.toString() || []);
    return { labelSelector: both.join(","), fieldSelector: fields.toString() };
  }

  async #asked<R>(question: ResourceRequest, ask: (outgoing: Outgoing) => Promise<R>): Promise<R> {
    const { signal, cancellation, method = "GET" } = question;
    const outgoing = this.#outgoing(question);
    try {
      return await ask(outgoing);
    } catch (error) {
      if (signal?.aborted === true) throw signal.reason;
      if (cancellation?.cancelled === true) throw cancellation.reason;
      throw upstreamFailure(error, { origin: this.origin, writes: method !== "GET" });
    }
  }

  #outgoing(question: ResourceRequest): Outgoing {
    const { scope, name, subresource, query, accept = "application/json", headers = [], body, ...rest } = question;
    const cluster = scope[SETTLED]?.cluster ?? this.#options.cluster(scope);
    const { resourceIdentity, path: prefix = "" } = this.#options;
    const target = { cluster, namespace: scope.namespace, name, subresource, identity: resourceIdentity };
    const path = prefix + pathOf(this.definition, target);
    return {
      ...rest,
      path: query === undefined ? path : path + searchOf(query),
      headers: headers.length === 0 ? this.#lines(scope, accept) : [...this.#lines(scope, accept), ...headers],
      ...(body === undefined ? {} : { body }),
    };
  }

  /** Cached per caller, whose identity is immutable; a function is called each time, and an immutable result is cached. */
  #lines(scope: AskedScope, accept: string): readonly string[] {
    const { identity: caller, hops, via, [SETTLED]: settled } = scope;
    const { identity, headers } = this.#options;
    if (settled !== undefined) return ["Accept", accept, ...outboundHeaders(scope, () => settled.as, headers)];
    const given = typeof identity === "function" ? identity(caller, scope) : undefined;
    const how = typeof identity === "function" ? () => given : identity;
    const key = typeof identity === "function" ? given : caller;
    const known = key && this.#sentHeaders.get(key);
    if (known !== undefined && known.hops === hops && known.via === via && known.accept === accept) return known.lines;
    const lines = Object.freeze(["Accept", accept, ...outboundHeaders(scope, how, headers)]);
    if (key !== undefined && (key === caller || isImmutable(key)))
      this.#sentHeaders.set(key, { hops, via, accept, lines });
    return lines;
  }
}

/** Returns the empty list of an unserved kind. @throws the error if the option rejects that */
export function emptyIfUnserved(error: unknown, { definition, isEmptyUnserved }: UpstreamResource): EncodedList {
  if (!isEmptyUnserved || !isUnserved(error)) throw error;
  const { listKind: kind } = definition;
  const metadata = { resourceVersion: UNSERVED_VERSION };
  return { body: Buffer.from(JSON.stringify({ apiVersion: apiVersionOf(definition), kind, metadata, items: [] })) };
}

/** Returns whether the upstream does not serve the kind: lists of a served kind are never 404. */
export function isUnserved(error: unknown): boolean {
  return isApiError(error) && error.code === 404;
}
