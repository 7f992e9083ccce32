import { expect } from "chai";
import { contentHash } from "../../packages/framework/src/discovery/discovery-documents.ts";
import {
  type OpenApiAnswer,
  type OpenApiDocument,
  OpenApiDocuments,
} from "../../packages/framework/src/discovery/openapi/openapi-documents.ts";
import type { Advertised } from "../../packages/framework/src/resource/served.ts";
import { ConfigMap, EVERYTHING, Quote, served } from "./openapi-fixtures.ts";

const PREFIX = "/services/quotes/clusters/root";
const PROTOBUF = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
const NOW = Date.UTC(2026, 0, 1);
const quotes = [served(Quote)];

interface Asking {
  readonly accept?: string;
  readonly hash?: string;
  readonly prefix?: string;
  readonly resources?: readonly Advertised[];
}

describe("OpenAPI documents", () => {
  const documents = new OpenApiDocuments({ now: () => NOW });

  function ask(path: string, { accept, hash, prefix = PREFIX, resources = quotes }: Asking = {}): OpenApiAnswer {
    const query = new URLSearchParams(hash === undefined ? {} : { hash });
    return documents.answer({ path, query, accept, prefix }, resources);
  }

  function get(path: string, asking: Asking = {}): OpenApiDocument {
    const answer = ask(path, asking);
    if (answer.kind !== "document") throw new Error(`${path}: ${answer.kind}`);
    return answer;
  }

  function index(asking: Asking = {}): Record<string, { serverRelativeURL: string }> {
    const { paths } = JSON.parse(get("/openapi/v3", asking).body.toString("utf8")) as {
      paths: Record<string, { serverRelativeURL: string }>;
    };
    return paths;
  }

  it("are listed under their hashed URLs", () => {
    const paths = index();
    expect(Object.keys(paths)).to.deep.equal(["api", "apis", "apis/example.dev", "apis/example.dev/v1", "version"]);
    for (const [name, { serverRelativeURL }] of Object.entries(paths)) {
      const { body } = get(`/openapi/v3/${name}`);
      expect(serverRelativeURL).to.equal(`${PREFIX}/openapi/v3/${name}?hash=${contentHash(body)}`);
    }
  });

  it("have an index in JSON for any Accept header, with or without a slash", () => {
    expect(get("/openapi/v3", { accept: "text/html" }).contentType).to.equal("application/json");
    expect(get("/openapi/v3/").body).to.deep.equal(get("/openapi/v3").body);
  });

  it("may be cached for a year under their hash", () => {
    const [, hash = ""] = index()["apis/example.dev/v1"]?.serverRelativeURL.split("?hash=") ?? [];
    const { headers, etag } = get("/openapi/v3/apis/example.dev/v1", { hash });
    expect(etag).to.equal(`"${hash}"`);
    expect(headers).to.deep.equal({ "Cache-Control": "public, immutable", Expires: "Fri, 01 Jan 2027 00:00:00 GMT" });
    expect(get("/openapi/v3/apis/example.dev/v1").headers).to.deep.equal({});
    expect(get("/openapi/v3/apis/example.dev/v1", { hash: "" }).headers).to.deep.equal({});
  });

  it("redirect from an old hash to the new one, below the same prefix", () => {
    const expected = { kind: "redirect", location: index()["apis/example.dev/v1"]?.serverRelativeURL };
    expect(ask("/openapi/v3/apis/example.dev/v1", { hash: "OLD" })).to.deep.equal(expected);
  });

  it("are 404 for paths that are not served", () => {
    const paths = ["/openapi", "/openapi/", "/openapi/v4", "/openapi/v3/api/v1", "/openapi/v3/apis/example.dev/v2"];
    for (const path of [...paths, "/openapi/v3//", "/openapi/v3/__proto__", "/openapi/v3/toString", "/openapi/v2/x"])
      expect(ask(path).kind, path).to.equal("not-found");
  });

  it("come in JSON only as v3", () => {
    const v3 = "application/com.github.proto-openapi.spec.v3@v1.0+protobuf";
    for (const accept of [undefined, "*/*", "application/*", `${v3},application/json;q=0.5`])
      expect(get("/openapi/v3/version", accept === undefined ? {} : { accept }).contentType).to.equal(
        "application/json",
      );
    const supported = ["application/json"];
    expect(ask("/openapi/v3/version", { accept: v3 })).to.deep.equal({ kind: "not-acceptable", supported });
  });

  it("come in JSON and, under either name, in protobuf as v2", () => {
    for (const accept of ["*/*", "application/json", `${PROTOBUF};q=0.1,application/json`])
      expect(get("/openapi/v2", { accept }).contentType).to.equal("application/json");
    for (const accept of [PROTOBUF, PROTOBUF.replace(".v1.0", "@v1.0"), `application/json;q=0.9,${PROTOBUF}`])
      expect(get("/openapi/v2", { accept }).contentType).to.equal(PROTOBUF);
    const supported = ["application/json", PROTOBUF];
    expect(ask("/openapi/v2", { accept: "application/yaml" })).to.deep.equal({ kind: "not-acceptable", supported });
  });

  it("are built once for a thousand views of equal content", () => {
    const first = get("/openapi/v3/apis/example.dev/v1");
    for (let view = 0; view < 1000; view++) {
      const asking = { prefix: `/services/v${view}`, resources: [served(Quote), served(ConfigMap)] };
      expect(get("/openapi/v3/apis/example.dev/v1", asking).body).to.equal(first.body);
    }
    expect(first.body.includes("/services/")).to.equal(false);
  });

  it("get another hash when schema or verbs differ", () => {
    const hash = (resources: readonly Advertised[]): string =>
      get("/openapi/v3/apis/example.dev/v1", { resources }).etag;
    expect(hash([served(Quote, ["get"])])).not.to.equal(hash(quotes));
    expect(hash(EVERYTHING)).not.to.equal(hash(quotes));
    expect(hash([served(ConfigMap), ...quotes])).to.equal(hash(quotes));
  });

  it("stay within the cache limit", () => {
    const small = new OpenApiDocuments({ cacheBytes: 1 });
    const request = { path: "/openapi/v2", query: new URLSearchParams(), prefix: "" };
    const body = (): unknown => {
      const answer = small.answer(request, quotes);
      return answer.kind === "document" ? answer.body : undefined;
    };
    expect(body()).to.deep.equal(body());
    expect(body()).not.to.equal(body());
  });
});
