// Metrics as scrapers see them: access, formats, and no series that a client can invent.
import {
  allow,
  createServer,
  defineVirtualWorkspace,
  deny,
  type ServerOptions,
  staticTokens,
} from "@virtual-workspaces/framework";
import { type MetricFamily, type Metrics, metrics } from "@virtual-workspaces/framework/server";
import { expect } from "chai";
import { expectFault } from "../_setup/faults.ts";
import { testLog } from "../_setup/log.ts";
import { MEMOS, Memo, VIEW } from "../_support/audited.ts";
import { parseExposition } from "../_support/exposition.ts";
import { createAuthority } from "../_support/server.ts";
import { Wire } from "../_support/wire.ts";

const forScraper: Metrics = metrics({
  authorize: ({ user, path, verb }) =>
    user.name === "scraper" && path === "/metrics" && verb === "get" ? allow() : deny("for the scraper"),
});

async function start(options: Partial<ServerOptions> = {}) {
  const memos = Memo.collection();
  const server = createServer({
    virtualWorkspaces: [
      defineVirtualWorkspace({
        name: "memos",
        path: "/clusters/:cluster",
        authorize: ({ verb }) => {
          if (verb === "deletecollection") throw new Error("the rule is broken");
          return verb === "delete" ? deny("no") : allow();
        },
        resources: [Memo.serve(memos)],
      }),
    ],
    authentication: [staticTokens({ alice: { name: "alice" }, scraper: { name: "scraper" } })],
    log: testLog().log,
    metrics: forScraper,
    ...options,
  });
  const { url, port } = await server.listen({ port: 0 });
  const ask = (path: string, token = "alice", init: RequestInit = {}): Promise<Response> =>
    fetch(url + path, { ...init, headers: { ...init.headers, ...(token && { authorization: `Bearer ${token}` }) } });
  const scrape = async (accept?: string): Promise<Scraped> => {
    const answer = await ask("/metrics", "scraper", accept === undefined ? {} : { headers: { accept } });
    return new Scraped(answer.headers.get("content-type") ?? "", await answer.text());
  };
  const times = async (count: number, path: string, init?: RequestInit): Promise<void> => {
    for (let at = 0; at < count; at++) await (await ask(path, "alice", init)).text();
  };
  return { server, url, port, memos, ask, scrape, times, [Symbol.asyncDispose]: () => server.close() };
}

class Scraped {
  readonly contentType: string;
  readonly text: string;
  readonly lines: readonly string[];

  constructor(contentType: string, text: string) {
    this.contentType = contentType;
    this.text = text;
    this.lines = text.trimEnd().split("\n");
  }

  /** Sum of a metric's series that have all of these labels. */
  value(name: string, labels: Readonly<Record<string, string>> = {}): number {
    const wanted = Object.entries(labels).map(
      ([label, value]) => new RegExp(`[{,]${label}="${value.replace(/[+/]/g, "\\$&")}"`),
    );
    const series = this.lines.filter((line) => new RegExp(`^${name}[{ ]`).test(line));
    const own = series.filter((line) => wanted.every((label) => label.test(line)));
    return own.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" "))), 0);
  }

  /** Number of series. */
  count(name: string): number {
    return this.lines.filter((line) => new RegExp(`^${name}[{ ]`).test(line)).length;
  }
}

describe("metrics", () => {
  it("count lists that the watch cache answers, with the objects read and returned", async () => {
    await using started = await start();
    for (const name of ["a", "b", "c"]) started.memos.in("root", "default").set(name, {});
    const resource = { group: Memo.group, resource: Memo.plural };
    await started.times(2, `${MEMOS}?resourceVersion=0`);
    await started.times(1, `${MEMOS}?fieldSelector=metadata.name%3Db`);
    await started.times(1, `${MEMOS}/a`);
    await started.times(1, `${MEMOS}?limit=x`);
    const scraped = await started.scrape();
    expect(scraped.value("apiserver_cache_list_total", { ...resource, index: "" })).to.equal(3);
    expect(scraped.value("apiserver_cache_list_fetched_objects_total", { ...resource, index: "" })).to.equal(9);
    expect(scraped.value("apiserver_cache_list_returned_objects_total", resource)).to.equal(7);
  });

  it("are forbidden by default, and always for unauthenticated callers", async () => {
    await using server = await start({ metrics: metrics() });
    for (const [token, code] of [
      ["", 401],
      ["wrong", 401],
      ["alice", 403],
      ["scraper", 403],
    ] as const) {
      const answer = await server.ask("/metrics", token);
      expect(answer.status, token).to.equal(code);
      expect(await answer.text()).not.to.include("apiserver_");
    }
    await using without = await start({ metrics: undefined as never });
    expect((await without.ask("/metrics")).status).to.equal(404);
  });

  it("are readable for callers that the rule allows", async () => {
    await using server = await start();
    expect((await server.ask("/metrics")).status).to.equal(403);
    const { contentType, text } = await server.scrape();
    expect(contentType).to.equal("text/plain; version=0.0.4; charset=utf-8");
    expect(text).to.include("# TYPE apiserver_request_total counter");
    expect((await server.ask("/metrics/", "scraper")).status).to.equal(404);
    for (const method of ["HEAD", "POST"])
      expect((await server.ask("/metrics", "scraper", { method })).status, "verbs of their own").to.equal(403);
    await using open = await start({ metrics: metrics({ authorize: () => allow() }) });
    const head = await open.ask("/metrics", "alice", { method: "HEAD" });
    expect([head.status, head.headers.get("content-type")]).to.deep.equal([200, contentType]);
    const post = await open.ask("/metrics", "alice", { method: "POST" });
    expect([post.status, await post.text()].join(" ")).to.match(/^405 .*the metrics are read-only: use GET/);
  });

  it("leave the path to an application when they are off, and are not reachable through its routes", async () => {
    await using server = await start();
    server.server.app.use((_req, res) => void res.end("the application's"));
    expect(await (await server.ask("/other")).text()).to.equal("the application's");
    expect(await (await server.ask("/metrics")).text()).to.include("for the scraper");
    await using without = await start({ metrics: undefined as never });
    without.server.app.get("/metrics", (_req, res) => void res.end("the application's"));
    expect(await (await without.ask("/metrics")).text()).to.equal("the application's");
  });

  it("count requests as Kubernetes does: verbs, resources, scopes, codes, durations and response sizes", async () => {
    await using server = await start();
    server.memos.in("root", "default").set("first", { text: "x" });
    await server.times(3, `${MEMOS}/first`);
    await server.times(2, MEMOS);
    await server.times(1, `${MEMOS}/none`);
    await server.times(1, `${MEMOS}/first`, { method: "DELETE" });
    await server.times(1, `${MEMOS}/first/status`);
    await server.times(1, `${VIEW}/apis`);
    await server.times(1, "/livez");
    const { value } = await server.scrape().then((scraped) => ({ value: scraped.value.bind(scraped) }));
    const memos = { virtual_workspace: "memos", group: "test.dev", version: "v1", resource: "memos" };
    const total = "apiserver_request_total";
    expect(value(total, { ...memos, verb: "GET", scope: "resource", subresource: "", code: "200" })).to.equal(3);
    expect(value(total, { ...memos, verb: "GET", scope: "resource", code: "404" })).to.equal(1);
    expect(value(total, { ...memos, verb: "LIST", scope: "namespace", code: "200" })).to.equal(2);
    expect(value(total, { ...memos, verb: "DELETE", code: "403" })).to.equal(1);
    expect(value(total, { ...memos, subresource: "status", code: "200" })).to.equal(1);
    expect(value(total, { virtual_workspace: "memos", verb: "GET", resource: "", code: "200" })).to.equal(1);
    expect(value(total, { virtual_workspace: "", subresource: "/livez", code: "200" })).to.equal(1);
    expect(value("apiserver_request_duration_seconds_count", { ...memos, verb: "GET", subresource: "" })).to.equal(4);
    expect(value("apiserver_request_duration_seconds_bucket", { ...memos, verb: "LIST", le: "+Inf" })).to.equal(2);
    expect(value("apiserver_response_sizes_sum", { ...memos, verb: "LIST" })).to.be.above(200);
  });

  it("count authentication results and authorization decisions", async () => {
    await using server = await start();
    await server.ask(MEMOS, "wrong");
    await server.times(2, MEMOS);
    await server.times(1, `${MEMOS}/x`, { method: "DELETE" });
    await server.times(1, MEMOS, { method: "DELETE" });
    expectFault(/the rule is broken/);
    const scraped = await server.scrape();
    expect(scraped.value("authentication_attempts", { result: "failure" })).to.equal(1);
    expect(scraped.value("authentication_attempts", { result: "success" })).to.equal(4);
    const attempts = "apiserver_authorization_attempts_total";
    expect(["allowed", "denied", "error"].map((result) => scraped.value(attempts, { result }))).to.deep.equal([
      2, 1, 1,
    ]);
  });

  it("show open requests: watches, their events, the scrape itself", async () => {
    await using server = await start();
    const leave = new AbortController();
    const answer = await server.ask(`${MEMOS}?watch=true&allowWatchBookmarks=true`, "alice", { signal: leave.signal });
    const events = answer.body?.getReader();
    for (const name of ["a", "b"]) {
      server.memos.in("root", "default").set(name, { text: "x" });
      await events?.read();
    }
    const open = await server.scrape();
    expect(open.value("apiserver_longrunning_requests", { verb: "WATCH", resource: "memos" })).to.equal(1);
    expect(open.value("virtual_workspaces_watch_subscribers")).to.equal(1);
    expect(open.value("virtual_workspaces_watch_history_events")).to.equal(2);
    expect(open.value("apiserver_watch_events_total", { resource: "memos" })).to.equal(2);
    expect(open.value("apiserver_current_inflight_requests", { request_kind: "readOnly" })).to.equal(1);
    leave.abort();
    while ((await server.scrape()).value("apiserver_longrunning_requests") > 0);
    expect((await server.scrape()).value("apiserver_request_total", { verb: "WATCH", code: "200" })).to.equal(1);
  });

  it("have labels that clients cannot invent", async () => {
    await using server = await start();
    for (let at = 0; at < 40; at++) {
      await server.times(1, `/services/memos/clusters/c${at}/apis/g${at}.dev/v1/r${at}s`);
      await server.times(1, `/services/memos/clusters/c${at}/apis/test.dev/v1/namespaces/n${at}/memos/m${at}/sub${at}`);
      await server.times(1, `/services/memos/clusters/c${at}/apis/test.dev/v1/namespaces/n${at}/memos/m${at}`);
      await server.times(1, `/services/none${at}/x`);
      await server.times(1, `/own${at}`, { method: at % 2 ? "PROPFIND" : "GET" });
      await (await server.ask(MEMOS, `token${at}`)).text();
    }
    const { text, count } = await server
      .scrape()
      .then((scraped) => ({ text: scraped.text, count: scraped.count.bind(scraped) }));
    expect(count("apiserver_request_total")).to.be.below(10);
    expect(text)
      .not.to.match(/(own|none|sub|token|g|r|c|n|m)\d+s?(\.dev)?"/)
      .and.not.include("alice");
  });

  it("are limited even when a view generates resources", async function () {
    this.timeout(30_000);
    const collection = Memo.collection();
    const kinds = Array.from({ length: 2100 }, (_, at) => ({ ...Memo.serve(collection), at })).map((served, at) => ({
      ...served,
      definition: { ...served.definition, plural: `memos${at}` },
    }));
    const view = defineVirtualWorkspace({
      name: "memos",
      path: "/clusters/:cluster",
      authorize: () => allow(),
      resources: () => kinds,
    });
    await using server = await start({ virtualWorkspaces: [view] });
    for (let at = 0; at < kinds.length; at += 50)
      await Promise.all(
        kinds.slice(at, at + 50).map((_, of) => server.times(1, `${VIEW}/apis/test.dev/v1/memos${at + of}`)),
      );
    const scraped = await server.scrape();
    expect(scraped.count("apiserver_request_duration_seconds_count")).to.equal(2001);
    expect(scraped.value("apiserver_request_total", { resource: "other" })).to.equal(100);
  });

  it("come as OpenMetrics for clients that prefer it, and alternate between formats", async () => {
    await using server = await start();
    await server.times(1, MEMOS);
    const prometheus = "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.4,*/*;q=0.1";
    const open = await server.scrape(prometheus);
    expect(open.contentType).to.equal("application/openmetrics-text; version=1.0.0; charset=utf-8");
    expect(open.text)
      .to.match(/# EOF\n$/)
      .and.include("# TYPE apiserver_request counter\napiserver_request_total{");
    expect(open.text).to.include("# TYPE authentication_attempts counter\nauthentication_attempts_total{");
    expect(open.text).to.include("# TYPE process_cpu_seconds counter\nprocess_cpu_seconds_total ");
    const plain = await server.scrape();
    expect(plain.text).to.include("# TYPE apiserver_request_total counter\napiserver_request_total{");
    expect(plain.text).to.include("# TYPE process_cpu_seconds_total counter\nprocess_cpu_seconds_total ");
    expect(plain.text).to.match(/^nodejs_eventloop_lag_p99_seconds \d/m);
  });

  it("leave the process out when the option is off", async () => {
    await using server = await start({ metrics: metrics({ authorize: () => allow(), process: false }) });
    expect((await server.scrape()).text)
      .to.include("apiserver_")
      .and.not.match(/^(process|nodejs)_/m);
  });

  it("count failed handshakes", async () => {
    const authority = createAuthority();
    await using server = await start({ tls: authority.server });
    using stranger = await Wire.open(server.port);
    stranger.send("this is no handshake");
    await stranger.end();
    using wire = await Wire.open(server.port, { tls: { ca: authority.ca } });
    wire.request("GET /metrics HTTP/1.1", "Host: x", "Authorization: Bearer scraper");
    expect((await wire.answer())?.body).to.include("\napiserver_tls_handshake_errors_total 1\n");
  });

  const counting = (name: string, metrics: () => readonly MetricFamily[]) =>
    defineVirtualWorkspace({ name, path: "/", authorize: () => allow(), handle: (_, res) => void res.end(), metrics });

  it("include metrics of views, merged by name, without those of a failing view", async () => {
    const pots = (kind: string, value: number): readonly MetricFamily[] => [
      { name: "pots", help: "Pots.", type: "gauge", labelNames: ["kind"], samples: [{ labels: [kind], value }] },
    ];
    const { log, records } = testLog();
    const virtualWorkspaces = [
      counting("one", () => pots("tea", 2)),
      counting("two", () => pots("soup", 3)),
      counting("three", () => {
        throw new Error("no pots");
      }),
      counting("four", () => [
        { name: "pots", help: "Others.", type: "counter", labelNames: [], samples: [{ labels: [], value: 9 }] },
      ]),
    ];
    await using server = await start({ virtualWorkspaces, log });
    const { text } = await server.scrape();
    expectFault(/no pots/);
    expect(text.split("\n").filter((line) => line.includes("pots"))).to.deep.equal([
      "# HELP pots Pots.",
      "# TYPE pots gauge",
      'pots{kind="tea"} 2',
      'pots{kind="soup"} 3',
    ]);
    expect(records.some(({ message }) => message === "metrics of a virtual workspace failed")).to.equal(true);
  });

  it("have each series once, added over the views and servers that have it", async () => {
    const meals = (scale: number): readonly MetricFamily[] => [
      {
        name: "meals",
        help: "Meals.",
        type: "counter",
        labelNames: ["at"],
        samples: [{ labels: ["noon"], value: scale }],
      },
      {
        name: "cooking_seconds",
        help: "Duration.",
        type: "histogram",
        labelNames: [],
        bounds: [1, 5],
        samples: [{ labels: [], counts: [scale, 1], count: scale + 2, sum: 20 * scale }],
      },
    ];
    const others: readonly MetricFamily[] = [
      { name: "apiserver_longrunning_requests", help: "None.", type: "counter", labelNames: [], samples: [] },
      {
        name: "cooking_seconds",
        help: "Other buckets.",
        type: "histogram",
        labelNames: [],
        bounds: [2],
        samples: [{ labels: [], counts: [7], count: 7, sum: 7 }],
      },
    ];
    await using server = await start({
      virtualWorkspaces: [
        counting("one", () => meals(1)),
        counting("two", () => meals(10)),
        counting("three", () => others),
      ],
      metrics: metrics({
        authorize: () => allow(),
        families: () => [
          {
            name: "meals",
            help: "Meals.",
            type: "counter",
            labelNames: ["at"],
            samples: [{ labels: ["noon"], value: 100 }],
          },
        ],
      }),
    });
    const families = parseExposition((await server.scrape()).text);
    expect(families.get("apiserver_longrunning_requests")?.type).to.equal("gauge");
    expect([...(families.get("meals")?.series ?? [])]).to.deep.equal([['meals{at="noon"}', 111]]);
    expect([...(families.get("cooking_seconds")?.series ?? [])]).to.deep.equal([
      ['cooking_seconds_bucket{le="1"}', 11],
      ['cooking_seconds_bucket{le="5"}', 13],
      ['cooking_seconds_bucket{le="+Inf"}', 15],
      ["cooking_seconds_sum{}", 220],
      ["cooking_seconds_count{}", 15],
    ]);
  });
});
