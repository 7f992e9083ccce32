import { keptBytes } from "../../encode/pieces.ts";
import { accepts, parseAccept } from "../../encode/representation.ts";
import type { Advertised } from "../../resource/served.ts";
import { BoundedCache } from "../../util/bounded-cache.ts";
import { contentHash, contentKey } from "../discovery-documents.ts";
import { swaggerDocument } from "./v2.ts";
import { encodeSwagger } from "./v2-protobuf.ts";
import { type DocumentSource, v3Documents } from "./v3.ts";

export interface OpenApiRequest {
  /** Path below the view: `/openapi/v3/apis/example.dev/v1`. A trailing slash is ignored. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly accept?: string | undefined;
  /** URL before the path, such as `/services/quotes/clusters/root`, for URLs in the index and in redirects. */
  readonly prefix: string;
}

/** Encoded document. It depends on `Accept`, so send `Vary: Accept` with it. */
export interface OpenApiDocument {
  readonly kind: "document";
  readonly contentType: string;
  readonly body: Buffer;
  /** ETag, including its quotes. */
  readonly etag: string;
  /** `Cache-Control` and `Expires` of a document that was requested by its hash and so never changes; otherwise empty. */
  readonly headers: Readonly<Record<string, string>>;
}

export type OpenApiAnswer =
  | OpenApiDocument
  /** 301: the requested hash is of another version of the document. */
  | { readonly kind: "redirect"; readonly location: string }
  | { readonly kind: "not-found" }
  /** 406: `supported` lists the media types for the message. */
  | { readonly kind: "not-acceptable"; readonly supported: readonly string[] };

export interface OpenApiDocumentsOptions {
  /** Limit of cached documents, in bytes. @default 32 MiB */
  readonly cacheBytes?: number;
  /** Returns the time in ms since 1970. @default Date.now */
  readonly now?: () => number;
}

interface Built {
  readonly body: Buffer;
  readonly hash: string;
}

const JSON_TYPE = "application/json";
const PROTOBUF = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
/** Media type that clients request: `@` is not valid in media types, so responses use {@link PROTOBUF}. */
const PROTOBUF_OLD = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
const YEAR = 365 * 24 * 60 * 60 * 1000;

/**
 * OpenAPI documents of any number of views, v3 and v2, as Kubernetes' API servers have them. All resources with equal content
 * share one document, which stays cached while it is in use; it does not depend on the view.
 */
export class OpenApiDocuments {
  readonly #cache: BoundedCache<Built>;
  readonly #now: () => number;

  constructor({ cacheBytes = 32 * 2 ** 20, now = Date.now }: OpenApiDocumentsOptions = {}) {
    this.#cache = new BoundedCache({ capacity: cacheBytes, weigh: ({ body }) => body.length });
    this.#now = now;
  }

  /** Returns the document at a path of a view that serves `resources`. */
  answer(request: OpenApiRequest, resources: readonly Advertised[]): OpenApiAnswer {
    const path = request.path.replace(/\/$/, "");
    if (path === "/openapi/v2") return this.#swagger(request, resources);
    if (path === "/openapi/v3") return this.#index(request, resources);
    const name = /^\/openapi\/v3\/(.+)$/.exec(path)?.[1];
    return name === undefined ? { kind: "not-found" } : this.#document(name, request, resources);
  }

  /** Always JSON, whatever `Accept` contains, as in Kubernetes. */
  #index({ prefix }: OpenApiRequest, resources: readonly Advertised[]): OpenApiAnswer {
    const sources = Object.entries(v3Documents(resources)).sort(([a], [b]) => (a < b ? -1 : 1));
    const paths = sources.map(([name, source]) => {
      const { hash } = this.#build(name, source);
      return [name, { serverRelativeURL: urlOf(prefix, name, hash) }];
    });
    return document(JSON_TYPE, json({ paths: Object.fromEntries(paths) }));
  }

  #document(name: string, request: OpenApiRequest, resources: readonly Advertised[]): OpenApiAnswer {
    const { accept, query, prefix } = request;
    const sources = v3Documents(resources);
    const source = Object.hasOwn(sources, name) ? sources[name] : undefined;
    if (source === undefined) return { kind: "not-found" };
    if (acceptable(accept, [JSON_TYPE]) === undefined) return { kind: "not-acceptable", supported: [JSON_TYPE] };
    const built = this.#build(name, source);
    const wanted = query.get("hash") ?? "";
    if (wanted === "") return document(JSON_TYPE, built);
    if (wanted !== built.hash) return { kind: "redirect", location: urlOf(prefix, name, built.hash) };
    const expires = new Date(this.#now() + YEAR).toUTCString();
    return document(JSON_TYPE, built, { "Cache-Control": "public, immutable", Expires: expires });
  }

  #swagger({ accept }: OpenApiRequest, resources: readonly Advertised[]): OpenApiAnswer {
    const supported = [JSON_TYPE, PROTOBUF, PROTOBUF_OLD];
    const type = acceptable(accept, supported);
    if (type === undefined) return { kind: "not-acceptable", supported: [JSON_TYPE, PROTOBUF] };
    const key = contentKey(resources);
    if (type === JSON_TYPE)
      return document(
        type,
        this.#cache.get(`v2 json ${key}`, () => json(swaggerDocument(resources))),
      );
    return document(
      PROTOBUF,
      this.#cache.get(`v2 protobuf ${key}`, () => built(encodeSwagger(swaggerDocument(resources)))),
    );
  }

  #build(name: string, { resources, make }: DocumentSource): Built {
    return this.#cache.get(`v3 ${name} ${contentKey(resources)}`, () => json(make()));
  }
}

function document(
  contentType: string,
  { body, hash }: Built,
  headers: Readonly<Record<string, string>> = {},
): OpenApiDocument {
  return { kind: "document", contentType, body, etag: `"${hash}"`, headers };
}

function json(value: unknown): Built {
  return built(Buffer.from(JSON.stringify(value)));
}

function built(bytes: Buffer): Built {
  const body = keptBytes(bytes);
  return { body, hash: contentHash(body) };
}

function urlOf(prefix: string, name: string, hash: string): string {
  return `${prefix}/openapi/v3/${name}?hash=${hash}`;
}

/** Returns the first of `types` that the best range covers; parameters are ignored. */
function acceptable(accept: string | undefined, types: readonly string[]): string | undefined {
  for (const range of parseAccept(accept)) {
    const type = types.find((one) => {
      const [left = "", right = ""] = one.split("/");
      return accepts(range, left, right);
    });
    if (type !== undefined) return type;
  }
  return undefined;
}
