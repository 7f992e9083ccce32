// Trace context: what the server accepts from clients, and the spans that OpenTelemetry's own SDK records of requests.
import { context, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { allow, defineVirtualWorkspace } from "@virtual-workspaces/framework";
import type { RequestRecord } from "@virtual-workspaces/framework/server";
import { expect } from "chai";
import { root } from "../../tools/install.mjs";
import { run } from "../../tools/run.mjs";
import { expectFault } from "../_setup/faults.ts";
import { MEMOS, Memo, startAudited, VIEW } from "../_support/audited.ts";
import { Wire } from "../_support/wire.ts";

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const SPAN = "00f067aa0ba902b7";
const PARENT = `00-${TRACE}-${SPAN}-01`;

async function start() {
  const records: RequestRecord[] = [];
  const server = await startAudited({ onRequest: (record) => void records.push(record) });
  /** Returns the traces of a request in the access log and the audit log. */
  const traceOf = async (...lines: readonly string[]): Promise<unknown> => {
    using wire = await Wire.open(server.port);
    wire.request(`GET ${MEMOS} HTTP/1.1`, "Host: x", "Authorization: Bearer alice-token", ...lines);
    expect((await wire.answer())?.status).to.equal(200);
    const event = (await server.until(2)).at(-1);
    const audited = event?.["annotations"]["virtual-workspaces.dev/trace-id"];
    expect(audited).to.equal(records.at(-1)?.traceId);
    return audited;
  };
  return { ...server, records, traceOf, [Symbol.asyncDispose]: () => server.server.close() };
}

describe("traceparent", () => {
  it("sets the trace of a request in every log", async () => {
    await using server = await start();
    expect(await server.traceOf(`traceparent: ${PARENT}`)).to.equal(TRACE);
    expect(await server.traceOf(`Traceparent: cc-${TRACE}-${SPAN}-00-of-the-future`)).to.equal(TRACE);
    expect(await server.traceOf()).to.equal(undefined);
  });

  it("is ignored when it is malformed, duplicate or empty", async () => {
    await using server = await start();
    for (const bad of [
      `00-${TRACE.toUpperCase()}-${SPAN}-01`,
      `00-${"0".repeat(32)}-${SPAN}-01`,
      `00-${TRACE}-${"0".repeat(16)}-01`,
      `00-${TRACE}-${SPAN}-01-more`,
      `ff-${TRACE}-${SPAN}-01`,
      `00-${TRACE}-${SPAN}`,
      `00-${TRACE}-${SPAN}-1`,
      `${PARENT}${"-x".repeat(5000)}`,
      `cc-${TRACE}-${SPAN}-01-${"x".repeat(5000)}`,
      "",
    ])
      expect(await server.traceOf(`traceparent: ${bad}`), bad.slice(0, 60)).to.equal(undefined);
    expect(await server.traceOf(`traceparent: ${PARENT}`, `traceparent: ${PARENT}`)).to.equal(undefined);
  });
});

describe("spans", () => {
  const exporter = new InMemorySpanExporter();

  before(() => {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }));
  });
  afterEach(() => exporter.reset());
  after(() => {
    trace.disable();
    context.disable();
  });

  /** Returns the span of the last request. */
  function last(): ReadableSpan {
    const spans = exporter.getFinishedSpans();
    expect(spans).not.to.deep.equal([]);
    return spans.at(-1) as ReadableSpan;
  }

  it("are recorded for requests: with route and status, without the caller and the object", async () => {
    await using server = await start();
    await server.eventsOf(`${MEMOS}/first?secret=query`, { headers: { traceparent: PARENT, tracestate: "a=1,b=2" } });
    const span = last();
    expect(span.kind).to.equal(SpanKind.SERVER);
    expect(span.name).to.equal(
      "GET /services/memos/clusters/:cluster/apis/test.dev/v1/namespaces/:namespace/memos/:name",
    );
    expect(span.attributes).to.deep.equal({
      "http.request.method": "GET",
      "http.response.status_code": 200,
      "http.route": span.name.slice(4),
      "network.protocol.version": "1.1",
      "url.path": `${MEMOS}/first`,
      "url.scheme": "http",
    });
    expect(span.spanContext().traceId).to.equal(TRACE);
    expect(span.parentSpanContext).to.include({ spanId: SPAN, isRemote: true });
    expect(span.spanContext().traceState?.serialize()).to.equal("a=1,b=2");
    expect(span.status.code).to.equal(SpanStatusCode.UNSET);
  });

  it("begin a trace if the client sends none, or a malformed one", async () => {
    await using server = await start();
    for (const traceparent of [undefined, "nonsense"]) {
      await server.eventsOf(MEMOS, { headers: { tracestate: "a=1", ...(traceparent && { traceparent }) } });
      expect(last().parentSpanContext).to.equal(undefined);
      expect(last().spanContext().traceState).to.equal(undefined);
      expect(server.records.at(-1)?.traceId).to.equal(last().spanContext().traceId);
    }
  });

  it("drop a malformed tracestate, and keep the trace", async () => {
    await using server = await start();
    for (const tracestate of [
      "A=1",
      "a",
      "a=1,a=2",
      `a=${"x".repeat(300)}`,
      "a=b=c",
      Array.from({ length: 33 }, (_, at) => `k${at}=1`).join(),
    ]) {
      await server.eventsOf(MEMOS, { headers: { traceparent: PARENT, tracestate } });
      expect(last().spanContext().traceId).to.equal(TRACE);
      expect(last().spanContext().traceState?.serialize(), tracestate).to.equal(undefined);
    }
  });

  it("record failures", async () => {
    await using server = await start();
    await server.eventsOf(MEMOS, { method: "DELETE" });
    expectFault(/the rule is broken/);
    expect(last().status.code).to.equal(SpanStatusCode.ERROR);
    expect(last().attributes).to.include({ "error.type": "500", "http.response.status_code": 500 });
    expect(JSON.stringify([last().attributes, last().status, last().events])).not.to.include("the rule is broken");
    await server.eventsOf(MEMOS, { token: "wrong" }, 1);
    expect(last().status.code).to.equal(SpanStatusCode.UNSET);
    expect(last().name).to.equal("GET /services/memos/clusters/:cluster");
    await server.eventsOf("/services/none/x", {}, 1);
    expect(last().name).to.equal("GET");
  });

  it("surround calls of hooks", async () => {
    const tracer = trace.getTracer("an author's");
    const { allow, createServer, staticTokens } = await import("@virtual-workspaces/framework");
    const { whoami } = await import("../_support/whoami.ts");
    const authorize = () =>
      tracer.startActiveSpan("lookup", async (span) => {
        await Promise.resolve();
        span.end();
        return allow();
      });
    await using server = createServer({
      virtualWorkspaces: [whoami(authorize)],
      authentication: [staticTokens({ alice: { name: "alice" } })],
    });
    const { url } = await server.listen({ port: 0 });
    const headers = { authorization: "Bearer alice", connection: "close" };
    await Promise.all(Array.from({ length: 5 }, async () => (await fetch(`${url}/services/who/`, { headers })).text()));
    await server.close();
    const spans = exporter.getFinishedSpans();
    const parents = spans.filter(({ kind }) => kind === SpanKind.SERVER).map((span) => span.spanContext().spanId);
    const inner = spans.filter(({ name }) => name === "lookup").map((span) => span.parentSpanContext?.spanId);
    expect(inner).to.have.lengthOf(5).and.to.have.members(parents);
  });

  it("name the prefix of a view that has one of its own", async () => {
    const view = defineVirtualWorkspace({
      name: "own",
      prefix: "/clusters",
      path: "/:cluster",
      locate: () => "root",
      authorize: () => allow(),
      resources: [Memo.serve(Memo.collection())],
    });
    await using server = await startAudited({ virtualWorkspaces: [view] });
    await server.eventsOf("/clusters/root:org/apis/test.dev/v1/memos");
    expect(last().name).to.equal("GET /clusters/:cluster/apis/test.dev/v1/memos");
  });

  it("of a watch end with the watch", async () => {
    await using server = await start();
    const leave = new AbortController();
    await server.ask(`${MEMOS}?watch=true`, { signal: leave.signal });
    await server.until(2);
    expect(exporter.getFinishedSpans()).to.deep.equal([]);
    leave.abort();
    await server.until(1);
    expect(last().attributes["http.route"]).to.match(/\/memos$/);
  });

  it("are optional: OpenTelemetry's API need not be installed", async () => {
    const script = `
      import { registerHooks } from "node:module";
      registerHooks({ resolve: (name, context, next) => {
        if (name === "@opentelemetry/api") throw new Error("not installed");
        return next(name, context);
      } });
      globalThis[Symbol.for("opentelemetry.js.api.1")] = { trace: {} };
      const { allow, createServer, defineVirtualWorkspace, staticTokens } = await import("@virtual-workspaces/framework");
      const view = defineVirtualWorkspace({ name: "v", path: "/", authorize: () => allow(), handle: (_, res) => void res.end() });
      const server = createServer({ tls: false, virtualWorkspaces: [view], authentication: [staticTokens({ t: { name: "a" } })] });
      const { url } = await server.listen({ port: 0 });
      for (let at = 0; at < 2; at++)
        console.log((await fetch(url + "/services/v/x", { headers: { authorization: "Bearer t", connection: "close" } })).status);
      await server.close();
    `;
    const args = ["--conditions=@virtual-workspaces/source", "--input-type=module", "-e", script];
    expect(await run(process.execPath, args, { cwd: root })).to.deep.equal({ ok: true, output: "200\n200" });
  }).timeout(20_000);

  it("are not made in a process that records none", async () => {
    trace.disable();
    await using server = await start();
    await server.eventsOf(`${VIEW}/apis`);
    expect(exporter.getFinishedSpans()).to.deep.equal([]);
    trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }));
    await server.eventsOf(`${VIEW}/apis`); // which loads it
    await server.eventsOf(`${VIEW}/apis`);
    expect(exporter.getFinishedSpans()).to.have.length.within(1, 2);
  });
});
