// The document of the protocol describes the server: every response is validated against it.
import { ApiError, formatCause, isJsonObject, type JsonSchema } from "@virtual-workspaces/apimachinery";
import { compileSchema } from "@virtual-workspaces/apimachinery/schema";
import { spaceProviderOpenAPI } from "@virtual-workspaces/spaces";
import { expect } from "chai";
import { KeptSpaces } from "../support/kept-spaces.ts";
import { type Served, STRANGER, serve, TOKEN } from "./support/served.ts";

/** A document as JSON. */
// biome-ignore lint/suspicious/noExplicitAny: it is walked by names that are in it
type Json = any;

/** A response and its operation. */
interface Seen {
  readonly operation: string;
  readonly code: number;
}

describe("document of space providers", function () {
  this.timeout(20_000);
  const kept = new KeptSpaces();
  const seen: Seen[] = [];
  const document: Json = JSON.parse(JSON.stringify(spaceProviderOpenAPI));
  let served: Served;
  /** Reason why the provider is not ready, if any. */
  let problem: string | undefined;

  before(async () => {
    const ready = (): void => {
      if (problem !== undefined) throw new Error(problem);
    };
    served = await serve(kept, { ready, callTimeout: 500, onError: () => undefined });
  });
  after(() => served[Symbol.asyncDispose]());
  beforeEach(() => {
    kept.spaces.clear();
    kept.before = () => undefined;
    problem = undefined;
  });

  /** Replaces each `$ref` by its target. */
  function resolved(value: Json): Json {
    if (Array.isArray(value)) return value.map(resolved);
    if (!isJsonObject(value)) return value;
    if (typeof value["$ref"] === "string") {
      const at = value["$ref"].slice(2).split("/");
      const found = at.reduce((from: Json, name) => from?.[name], document);
      expect(found, value["$ref"]).not.to.equal(undefined);
      return resolved(found);
    }
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, resolved(one)]));
  }

  function fits(schema: JsonSchema, value: Json, about: string): void {
    // The compiler takes objects, so the value is a field of one.
    const causes = compileSchema({ type: "object", properties: { it: schema } }).validate({ it: value });
    expect(causes.map(formatCause), about).to.deep.equal([]);
  }

  /** Sends a request and validates the response against the document. */
  async function ask(
    method: string,
    path: string,
    init: RequestInit & { token?: string; at?: Served } = {},
  ): Promise<Response> {
    const { token = TOKEN, at = served, ...rest } = init;
    const headers = { ...(token !== "" && { authorization: `Bearer ${token}` }), ...rest.headers };
    const answer = await fetch(`${at.url}${path}`, { ...rest, method, headers });
    const [plain = "", query = ""] = path.split("?");
    const template = plain.replace(/^(\/v1\/spaces\/)[^/]+/, "$1{name}");
    const operation = resolved(document.paths[template]?.[method.toLowerCase()]);
    const about = `${method} ${path}: ${answer.status}`;
    const described = operation?.responses[answer.status];
    expect(described, about).not.to.equal(undefined);
    seen.push({ operation: operation.operationId, code: answer.status });
    const parameters = resolved([...(document.paths[template].parameters ?? []), ...(operation.parameters ?? [])]);
    const known = parameters.flatMap((one: Json) => (one.in === "query" ? [one.name] : []));
    expect(known, about).to.include.members([...new URLSearchParams(query).keys()]);
    for (const [name, { schema }] of Object.entries<Json>(described.headers ?? {})) {
      const said = answer.headers.get(name);
      fits(schema, schema.type === "integer" ? Number(said) : said, `${about}, ${name}`);
    }
    const body = await answer.clone().text();
    const type = answer.headers.get("content-type")?.split(";")[0] ?? "";
    if (described.content === undefined) expect(body, about).to.equal("");
    else if (type === "application/x-ndjson")
      for (const line of body.trim().split("\n")) fits(described.content[type].schema, JSON.parse(line), about);
    else fits(described.content[type]?.schema, type === "application/json" ? JSON.parse(body) : body, about);
    return answer;
  }

  const json = (body: string): RequestInit => ({ body, headers: { "content-type": "application/json" } });

  it("is served unchanged, and contains all its references", async () => {
    expect(await (await ask("GET", "/openapi.json")).json()).to.deep.equal(document);
    resolved(document);
    expect(() => Object.assign(spaceProviderOpenAPI.info, { title: "mine" }), "it is the same for all").to.throw();
  });

  it("describes the response of each operation", async () => {
    await ask("GET", "/v1/status");
    await ask("GET", "/v1/spaces");
    await ask("PUT", "/v1/spaces/a", json("{}"));
    kept.set("b", { externalName: "else", accessVersion: "2" });
    kept.set("c", { phase: "Initializing", message: "soon" });
    const page: Json = await (await ask("GET", "/v1/spaces?limit=2")).json();
    expect(page).to.have.property("continue");
    await ask("GET", `/v1/spaces?limit=2&continue=${page.continue}`);
    await ask("GET", "/v1/spaces/b");
    await ask("GET", "/v1/spaces/b/kubeconfig?scope=external");
    await ask("DELETE", "/v1/spaces/b");
    await ask("DELETE", "/v1/spaces/b");
  });

  it("describes the errors of invalid requests", async () => {
    await ask("GET", "/v1/spaces?limit=none");
    await ask("GET", "/v1/spaces?continue=none");
    await ask("GET", "/v1/spaces/b/kubeconfig");
    await ask("GET", "/v1/spaces/b", { token: "" });
    await ask("GET", "/v1/status", { token: STRANGER });
    await ask("GET", "/v1/spaces/absent");
    await ask("GET", "/v1/spaces/absent/kubeconfig?scope=incluster");
    await ask("PUT", "/v1/spaces/a", { body: "{}", headers: { "content-type": "text/plain" } });
    await ask("PUT", "/v1/spaces/a", json(JSON.stringify({ parent: "root" })));
    await ask("PUT", "/v1/spaces/a", json(`{"a":"${"a".repeat(64 * 1024)}"}`));
    await ask("GET", "/v1/spaces?parent=root");
  });

  it("describes the errors of a provider that cannot do something", async () => {
    kept.set("c", { phase: "Initializing" });
    await ask("GET", "/v1/spaces/c/kubeconfig?scope=external");
    problem = "it reads what there is";
    expect(await (await ask("GET", "/v1/status")).json()).to.include({ ready: false, message: problem });
    await ask("GET", "/v1/spaces");
    problem = undefined;
    kept.before = () => {
      throw ApiError.tooManyRequests("ten are being made", 3);
    };
    await ask("PUT", "/v1/spaces/d", json("{}"));
    kept.before = () => {
      throw new Error("no room");
    };
    const { message }: Json = await (await ask("PUT", "/v1/spaces/d", json("{}"))).json();
    expect(message).to.equal("Internal error occurred: no room");
    kept.before = (_, signal) => new Promise((resolve) => signal.addEventListener("abort", () => resolve()));
    await ask("GET", "/v1/spaces");
  });

  it("describes the lines of a watch, including the last one", async () => {
    async function* watch() {
      yield { name: "a" };
      yield {};
      throw new Error("it has lost its connection");
    }
    const { list, get, access } = new KeptSpaces();
    await using at = await serve({ list, get, access, watch }, { onError: () => undefined });
    const lines = (await (await ask("GET", "/v1/spaces?watch=1", { at })).text()).trim().split("\n");
    const types = lines.map((line) => JSON.parse(line).type);
    expect([types.shift(), types.pop()]).to.deep.equal(["BOOKMARK", "ERROR"]);
    expect(new Set(types)).to.deep.equal(new Set(["CHANGED"]));
  });

  it("describes no untested response, except those of other servers", () => {
    const all = Object.values<Json>(document.paths).flatMap((path) =>
      ["get", "put", "delete"].flatMap((m) => path[m] ?? []),
    );
    const told = [...new Set(all.flatMap(({ responses }: Json) => Object.keys(responses)))].sort();
    expect(told).to.deep.equal([...new Set(["410", ...seen.map(({ code }) => String(code))])].sort());
    const operations = all.map(({ operationId }: Json) => operationId).sort();
    expect([...new Set(seen.map(({ operation }) => operation))].sort()).to.deep.equal(operations);
  });
});
