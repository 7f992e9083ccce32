import { apiVersionOf } from "@virtual-workspaces/apimachinery";
import type { ResourceDefinition, Scope } from "@virtual-workspaces/framework";
import type { Outgoing, StreamedResponse, Upstream, WholeResponse } from "@virtual-workspaces/transport";
import { outboundHeaders } from "../outbound/headers.ts";
import { type OutboundIdentity, outboundIdentity } from "../outbound/identity.ts";
import { upstreamFailure } from "./failure.ts";

export interface UpstreamResourceOptions {
  readonly definition: ResourceDefinition;
  readonly upstream: Upstream;
  readonly cluster: (scope: Scope) => string;
  readonly identity: OutboundIdentity;
}

/** What is asked of the other server. */
export interface Question extends Pick<Outgoing, "signal" | "deadlines" | "long" | "limit"> {
  readonly scope: Scope;
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
  readonly accept: string;
  /** Frozen, so that they are checked once. */
  readonly lines: readonly string[];
}

/** One kind at another API server: where its objects are there, and as whom they are asked for. */
export class UpstreamResource {
  readonly definition: ResourceDefinition;
  readonly upstream: Upstream;
  /** `https://host:6443`: all that clients learn of where the other server is. */
  readonly origin: string;
  readonly #options: UpstreamResourceOptions;
  readonly #api: string;
  readonly #beginnings: readonly string[];
  readonly #known = new WeakMap<Scope["identity"], Known>();

  constructor(options: UpstreamResourceOptions) {
    const { definition, upstream } = options;
    this.definition = definition;
    this.upstream = upstream;
    this.origin = new URL(upstream.url).origin;
    this.#options = options;
    const { group, version } = definition;
    const [kind, apiVersion] = [`"kind":"${definition.kind}"`, `"apiVersion":"${apiVersionOf(definition)}"`];
    this.#beginnings = [`{${kind},${apiVersion},`, `{${apiVersion},${kind},`];
    this.#api = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
  }

  /** @throws ApiError 503 when no whole answer comes; the signal's reason */
  send(question: Question): Promise<WholeResponse> {
    return this.upstream.send(this.#outgoing(question)).catch((error: unknown) => this.#fail(error, question));
  }

  /** @throws as {@link send} */
  stream(question: Question): Promise<StreamedResponse> {
    return this.upstream.stream(this.#outgoing(question)).catch((error: unknown) => this.#fail(error, question));
  }

  /** Whether the kind stands at the beginning of an object, where servers write it: then nothing more needs to be looked at. */
  saysKind(bytes: Buffer): boolean {
    const [either = ""] = this.#beginnings;
    return this.#beginnings.includes(bytes.toString("latin1", 0, either.length));
  }

  /** Everything that decides what the other server answers. */
  shareKey(scope: Scope): string {
    const { cluster, identity } = this.#options;
    const { namespace, labels, fields, hops = 0 } = scope;
    const as = outboundIdentity(identity, scope.identity) ?? null;
    return JSON.stringify([as, cluster(scope), scope.cluster, hops, namespace, labels.toString(), fields.toString()]);
  }

  #fail(error: unknown, { signal }: Question): never {
    throw signal?.aborted === true ? signal.reason : upstreamFailure(error, this.origin);
  }

  #outgoing({ scope, name, query, accept = "application/json", headers = [], ...rest }: Question): Outgoing {
    return {
      ...rest,
      path: this.#path(scope, name) + searchOf(query),
      headers: headers.length === 0 ? this.#lines(scope, accept) : [...this.#lines(scope, accept), ...headers],
    };
  }

  /** Made once for each caller: identities do not change. */
  #lines(scope: Scope, accept: string): readonly string[] {
    const { identity, hops, via } = scope;
    const known = this.#known.get(identity);
    if (known !== undefined && known.hops === hops && known.via === via && known.accept === accept) return known.lines;
    const lines = Object.freeze(["Accept", accept, ...outboundHeaders(scope, this.#options.identity)]);
    this.#known.set(identity, { hops, via, accept, lines });
    return lines;
  }

  #path(scope: Scope, name: string | undefined): string {
    const cluster = this.#options.cluster(scope);
    const { plural } = this.definition;
    const there = cluster === "" ? "" : `/clusters/${encodeURIComponent(cluster).replaceAll("%3A", ":")}`;
    const place = scope.namespace === "" ? "" : `/namespaces/${encodeURIComponent(scope.namespace)}`;
    return `${there}${this.#api}${place}/${plural}${name === undefined ? "" : `/${encodeURIComponent(name)}`}`;
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
