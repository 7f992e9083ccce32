// Discovery and OpenAPI over HTTP, requested as client-go does.
import { allow, defineVirtualWorkspace } from "@virtual-workspaces/framework";
import { expect } from "chai";
import { type Answer, type PlainServer, startPlain } from "../_support/plain.ts";
import { Author, Quote } from "./openapi-fixtures.ts";

const PREFIX = "/services/quotes/clusters/root";
const PROTOBUF = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";

const quotes = defineVirtualWorkspace({
  name: "quotes",
  path: "/clusters/:cluster",
  authorize: () => allow(),
  resources: [
    Quote.serve(Quote.collection(), { verbs: ["get", "list", "watch"] }),
    Author.serve(Author.collection(), { verbs: ["get"] }),
  ],
});

describe("discovery and OpenAPI of a server", () => {
  let server: PlainServer;
  before(async () => {
    server = await startPlain([quotes]);
  });
  after(() => server[Symbol.asyncDispose]());

  const get = (path: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> =>
    server.get(`${path.startsWith(PREFIX) ? "" : PREFIX}${path}`, { headers });

  it("answer every advertised verb, and 405 every other", async () => {
    const { body } = await get("/apis/example.dev/v1");
    const verbs = (body.resources as { name: string; verbs: string[] }[]).map(({ name, verbs }) => [name, verbs]);
    expect(verbs).to.deep.equal([
      ["authors", ["get"]],
      ["quotes", ["get", "list", "watch"]],
    ]);
    expect((await get("/apis/example.dev/v1/quotes")).status).to.equal(200);
    expect((await get("/apis/example.dev/v1/authors")).status).to.equal(405);
  });

  for (const path of ["/api", "/apis", "/apis/example.dev", "/apis/example.dev/v1", "/openapi/v3", "/openapi/v2"]) {
    it(`do not resend ${path} to a client that has it`, async () => {
      const { status, headers } = await get(path);
      expect(status).to.equal(200);
      expect(headers.vary).to.equal("Accept");
      const again = await get(path, { "if-none-match": headers.etag ?? "" });
      expect([again.status, again.text, again.headers.etag]).to.deep.equal([304, "", headers.etag]);
      expect((await get(`${path}/`)).headers.etag).to.equal(headers.etag);
    });
  }

  it("lead from the index to a cacheable document, from any state of it", async () => {
    const { paths } = (await get("/openapi/v3")).body as { paths: Record<string, { serverRelativeURL: string }> };
    const url = paths["apis/example.dev/v1"]?.serverRelativeURL ?? "";
    const current = await get(url);
    expect(current.status).to.equal(200);
    expect(current.headers["cache-control"]).to.equal("public, immutable");
    expect(Date.parse(current.headers.expires ?? "")).to.be.above(Date.now());
    expect(current.body.components.schemas).to.include.keys("dev.example.v1.QuoteList", "dev.example.v1.Author");
    const old = await get(url.replace(/hash=.*/, "hash=0"));
    expect([old.status, old.headers.location]).to.deep.equal([301, url]);
  });

  it("answer unavailable documents with a Status", async () => {
    const table = [
      ["/apis/other.dev", "*/*", 404, "NotFound"],
      ["/openapi/v3/apis/other.dev/v1", "*/*", 404, "NotFound"],
      ["/apis", "text/html", 406, "NotAcceptable"],
      ["/openapi/v3/version", "application/vnd.kubernetes.protobuf", 406, "NotAcceptable"],
    ] as const;
    for (const [path, accept, code, reason] of table) {
      const { status, body } = await get(path, { accept });
      expect([status, body.kind, body.reason], path).to.deep.equal([code, "Status", reason]);
    }
  });

  it("have OpenAPI v2 in the form that older kubectl reads", async () => {
    const { status, headers } = await get("/openapi/v2", { accept: PROTOBUF });
    expect([status, headers["content-type"]]).to.deep.equal([200, PROTOBUF.replace("@v1", ".v1")]);
  });
});
